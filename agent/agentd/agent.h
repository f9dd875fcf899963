// SPDX-License-Identifier: Apache-2.0
// The daemon: kernel notifications, uevents, timers and signals drive the PortManager.
#pragma once

#include <systemd/sd-device.h>
#include <systemd/sd-event.h>

#include "agentd/monitor.h"
#include "agentd/optics.h"
#include "agentd/port_manager.h"
#include "agentd/schedule.h"
#include "kernel/host/sandbox.h"
#include "kernel/kernel.h"

namespace fabric::agentd {

struct EventUnref {
  void operator()(sd_event* event) const { sd_event_unref(event); }
  void operator()(sd_event_source* source) const { sd_event_source_disable_unref(source); }
  void operator()(sd_device_monitor* monitor) const { sd_device_monitor_unref(monitor); }
};

class Agent {
 public:
  Agent(Kernel& kernel, PortManager& manager, std::string config_file);

  // Opens the event sources. SIGHUP, SIGTERM and SIGINT must be blocked.
  Result<void> open();
  // Reconciles all ports, sends READY=1 to systemd, and runs until SIGTERM or SIGINT.
  Result<void> run();

 private:
  static int on_route(sd_event_source*, int fd, uint32_t events, void* self);
  static int on_ethtool(sd_event_source*, int fd, uint32_t events, void* self);
  static int on_timer(sd_event_source*, uint64_t now, void* self);
  static int on_hangup(sd_event_source*, const struct signalfd_siginfo*, void* self);
  static int on_device(sd_device_monitor*, sd_device* device, void* self);

  static int on_record(sd_event_source*, const struct inotify_event*, void* self);

  Result<void> open_devices();
  void open_record();
  void drain(Monitor& monitor);
  void handle_notification(const Notification& note);
  void schedule_check(const std::string& id);  // a port was touched: look after the burst
  void rescan();
  void keep(const std::string& id);
  void keep_host();
  void keep_all();
  void record_parts();
  void watch_confirm();
  void settle(const std::string& id);
  void poll_idle(const std::string& id);
  void do_task(const std::string& task);
  void reload();
  void publish_status();  // state file, STATUS=, READY=1 when it is time
  void arm();

  Kernel& kernel_;
  PortManager& manager_;
  std::string config_file_;
  std::unique_ptr<sd_event, EventUnref> event_;
  std::unique_ptr<sd_event_source, EventUnref> timer_, record_;
  std::unique_ptr<sd_device_monitor, EventUnref> devices_;
  std::optional<Monitor> route_, ethtool_;
  Fd record_folder_;
  OpticsWatch optics_{real_optics_world()};
  Sandbox sandbox_;
  Schedule schedule_;
  qos::Instant ready_by_{};  // READY=1 waits for udev's coldplug till then
  bool ready_ = false;
};

// Scans, and writes the inventory if it is new or has grown, no check of the node's parts complains, and nothing in it
// is gone. Returns a line for the journal; empty: there was nothing to write. A file that cannot be read is kept: the
// check `inventory` reports it.
Result<std::string> keep_inventory(Kernel& kernel, const std::string& directory);

}  // namespace fabric::agentd
