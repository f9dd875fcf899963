// SPDX-License-Identifier: Apache-2.0
// The daemon: runs the PortManager on kernel notifications, uevents, timers and signals.
#pragma once

#include <systemd/sd-device.h>

#include "agentd/monitor.h"
#include "agentd/optics.h"
#include "agentd/port_manager.h"
#include "agentd/schedule.h"
#include "agentd/vnic.h"
#include "base/event.h"
#include "kernel/host/sandbox.h"

namespace fabric::agentd {

class Agent {
 public:
  Agent(Kernel& kernel, PortManager& manager, std::string config_file);

  // Call before open(). Limits this process to writing in the folders of settings and state. Does nothing on a captured
  // tree.
  Result<void> confine() { return kernel_.root.is_host() ? sandbox_.confine() : Result<void>(); }
  // Opens the event sources. SIGHUP, SIGTERM and SIGINT must be blocked.
  Result<void> open();
  // Reconciles all ports, sends READY=1 to systemd, and runs until SIGTERM or SIGINT.
  Result<void> run();

 private:
  void on_timer();
  static int on_device(sd_device_monitor*, sd_device* device, void* self);
  static int on_record(sd_event_source*, const struct inotify_event*, void* self);

  // A socket for kernel notifications of one kind.
  struct NotificationSource {
    std::optional<NotificationSocket> socket{};
    EventSource readable{};
  };
  using Parse = std::function<Notification(const Message&)>;
  Result<void> listen(NotificationSource& source, Result<NotificationSocket> socket, Parse parse);
  void drain(NotificationSocket& socket, const Parse& parse);
  Result<void> open_devices();
  void open_record();
  void handle_notification(const Notification& note);
  void schedule_check(const std::string& id);  // checks a port after the burst of notifications
  void do_task(const Task& task);
  void rescan();
  void reconcile_port(const std::string& id);
  void reconcile_host();
  void reconcile_all();
  void settle(const std::string& id);
  void watch_confirm();
  void watch_self_test();
  void reload();
  void publish_status();  // writes the state file and STATUS=, and sends READY=1 once udev is done
  void arm_timer();

  Kernel& kernel_;
  PortManager& manager_;
  std::string config_file_;
  EventLoop event_;
  NotificationSource route_, ethtool_;
  EventSource timer_, hangup_;
  std::unique_ptr<sd_event_source, EventUnref> record_;
  std::unique_ptr<sd_device_monitor, decltype(&sd_device_monitor_unref)> devices_{nullptr, sd_device_monitor_unref};
  Fd record_folder_;
  OpticsWatch optics_{real_optics_environment()};
  VnicWatch vnic_{real_vnic_environment()};
  Sandbox sandbox_;
  Schedule schedule_;
  qos::Instant ready_by_{};  // READY=1 waits for udev's coldplug until this time
  bool ready_ = false;
};

}  // namespace fabric::agentd
