// SPDX-License-Identifier: Apache-2.0
// The daemon: kernel notifications, uevents, timers and signals drive the PortManager.
#pragma once

#include <systemd/sd-device.h>

#include "agentd/monitor.h"
#include "agentd/optics.h"
#include "agentd/port_manager.h"
#include "agentd/schedule.h"
#include "base/event.h"
#include "kernel/host/sandbox.h"

namespace fabric::agentd {

class Agent {
 public:
  Agent(Kernel& kernel, PortManager& manager, std::string config_file);

  // Before open(): from now on it writes only where settings are (of a captured tree: nothing is confined).
  Result<void> confine() { return kernel_.root.is_host() ? sandbox_.confine() : Result<void>(); }
  // Opens the event sources. SIGHUP, SIGTERM and SIGINT must be blocked.
  Result<void> open();
  // Reconciles all ports, sends READY=1 to systemd, and runs until SIGTERM or SIGINT.
  Result<void> run();

 private:
  void on_timer();
  static int on_device(sd_device_monitor*, sd_device* device, void* self);
  static int on_record(sd_event_source*, const struct inotify_event*, void* self);

  // Kernel notifications of one kind: their socket, and what a message means.
  struct Ear {
    std::optional<NotificationSocket> socket{};
    EventSource source{};
  };
  using Parse = std::function<Notification(const Message&)>;
  Result<void> listen(Ear& ear, Result<NotificationSocket> socket, Parse parse);
  void drain(NotificationSocket& socket, const Parse& parse);
  Result<void> open_devices();
  void open_record();
  void handle_notification(const Notification& note);
  void schedule_check(const std::string& id);  // a port was touched: look after the burst
  void rescan();
  void keep(const std::string& id);
  void keep_host();
  void keep_all();
  void record_parts();  // keep_inventory()
  void watch_confirm();
  void settle(const std::string& id);
  void do_task(const std::string& task);
  void reload();
  void publish_status();  // state file, STATUS=, READY=1 when it is time
  void arm();

  Kernel& kernel_;
  PortManager& manager_;
  std::string config_file_;
  EventLoop event_;
  Ear route_, ethtool_;
  EventSource timer_, hangup_;
  std::unique_ptr<sd_event_source, EventUnref> record_;
  std::unique_ptr<sd_device_monitor, decltype(&sd_device_monitor_unref)> devices_{nullptr, sd_device_monitor_unref};
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
