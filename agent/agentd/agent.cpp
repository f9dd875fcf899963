// SPDX-License-Identifier: Apache-2.0
#include "agentd/agent.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/inotify.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <csignal>

#include "agentd/inventory.h"
#include "base/files.h"
#include "judge/rule.h"
#include "policy/last_good.h"
#include "setting/sysctl.h"

namespace fabric::agentd {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// One `dcb` or `ip` command causes several messages: the port is checked once, after the burst.
constexpr milliseconds kBurst{5};
// A port in conflict is checked at most once a second, however often it is written.
constexpr milliseconds kConflictPause{1'000};
constexpr milliseconds kLockRetry{50};
constexpr milliseconds kRescanDelay{100};
// No event announces that the last queue pair was closed.
constexpr milliseconds kIdlePoll{1'000};
// Drivers report link speed and firmware state a little after the carrier.
constexpr milliseconds kSettleDelay{1'000};
constexpr milliseconds kRecordPoll{2'000};
constexpr milliseconds kRecordRetry{1'000};
// The inventory is taken once the drivers are up.
constexpr milliseconds kInventoryDelay{30'000};
constexpr milliseconds kUdevPoll{100};
// mlx5 probes one function after the other, and waits up to two minutes for firmware that starts
// (MLX5_TO_FW_PRE_INIT_TIMEOUT_MS, lib/tout.c). A job that starts before READY=1 keeps disruptive settings pending.
constexpr milliseconds kUdevPatience{60'000};
// The window opens at a full minute of the clock; the check comes safely after it.
constexpr milliseconds kWindowSlack{1'000};

qos::Instant now() { return std::chrono::steady_clock::now(); }

Agent& agent(void* self) { return *static_cast<Agent*>(self); }

Result<void> checked(int result, const char* what) {
  if (result < 0) return error(-result, what);
  return {};
}

}  // namespace

Agent::Agent(Kernel& kernel, PortManager& manager, std::string config_file)
    : kernel_(kernel), manager_(manager), config_file_(std::move(config_file)) {}

Result<void> Agent::open() {
  auto loop = open_event_loop();
  if (!loop) return loop.error();
  event_ = std::move(*loop);
  auto added = listen(route_, NotificationSocket::open(NETLINK_ROUTE, {RTNLGRP_LINK, RTNLGRP_DCB}),
                      [](const Message& message) { return parse_rtnetlink(message.type, message.payload); });
  if (added && kernel_.ethtool && kernel_.ethtool->monitor_group != 0)
    added = listen(ethtool_, NotificationSocket::open(NETLINK_GENERIC, {kernel_.ethtool->monitor_group}),
                   [](const Message& message) { return parse_ethtool(message.payload); });
  if (added) added = timer_.on_time(event_.get(), CLOCK_MONOTONIC, [this] { on_timer(); });
  if (added) added = hangup_.on_signal(event_.get(), SIGHUP, [this] { reload(); });
  if (!added) return added;
  open_record();
  return open_devices();
}

Result<void> Agent::listen(NotificationSource& source, Result<NotificationSocket> socket, Parse parse) {
  if (!socket) return socket.error();
  source.socket = std::move(*socket);
  return source.readable.on_readable(event_.get(), source.socket->fd(),
                                     [this, &source, parse = std::move(parse)] { drain(*source.socket, parse); });
}

// Watches the folder in which the records of an `apply --confirm` and of a self-test appear, are replaced, and are
// removed.
void Agent::open_record() {
  if (!kernel_.root.is_host()) return;
  auto folder = make_directory_of(manager_.directory(), confirm::kFile);
  if (!folder) return;  // the first write of a setting needs the folder, too, and reports the error
  record_folder_ = std::move(*folder);
  const std::string path =
      "/proc/self/fd/" + std::to_string(record_folder_.get());  // libsystemd 249 accepts only paths
  sd_event_source* source = nullptr;                            // without a reference it would leak (libsystemd 252)
  auto added = checked(
      sd_event_add_inotify(event_.get(), &source, path.c_str(), IN_MOVED_TO | IN_DELETE, on_record, this), "inotify");
  record_.reset(source);
  // Without inotify, watch_confirm() polls for both. kubelet and others can use up root's
  // fs.inotify.max_user_instances.
  if (!added)
    write_journal({message_id::trouble, LOG_WARNING,
                   added.error().text() + "; polling for the record of apply --confirm instead"});
}

Result<void> Agent::open_devices() {
  sd_device_monitor* monitor = nullptr;
  if (int r = sd_device_monitor_new(&monitor); r < 0) return error(-r, "device monitor");
  devices_.reset(monitor);
  auto added = checked(sd_device_monitor_attach_event(monitor, event_.get()), "device monitor");
  // pci: when a GPU appears or disappears, the role of NICs changes (match.role).
  for (const char* subsystem : {"infiniband", "net", "pci"})
    if (added)
      added =
          checked(sd_device_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nullptr), "device monitor");
  if (added) added = checked(sd_device_monitor_start(monitor, on_device, this), "device monitor");
  return added;
}

Result<void> Agent::run() {
  ready_by_ = now() + kUdevPatience;
  rescan();
  watch_confirm();
  reconcile_all();
  schedule_.at({TaskKind::watch_self_test}, now());
  schedule_.at({TaskKind::reread}, now() + manager_.policy().reread);
  schedule_.at({TaskKind::record_inventory}, now() + kInventoryDelay);
  publish_status();
  arm_timer();
  const int ended = sd_event_loop(event_.get());
  sd_notify(0, "STOPPING=1");
  if (ended < 0) return error(-ended, "event loop");
  if (const auto folder = sandbox_.outgrown())
    return error(EROFS, *folder + ": created after the start; fabric-agentd restarts to be able to write there");
  return {};
}

int Agent::on_record(sd_event_source*, const struct inotify_event* event, void* self) {
  if (event->len == 0) return 0;
  const std::string name = std::string("/") + event->name;
  if (std::string_view(confirm::kFile).ends_with(name)) {
    agent(self).schedule_.at({TaskKind::watch_confirm}, now());
  } else if (std::string_view(state::kSelfTestFile).ends_with(name)) {
    agent(self).manager_.note_self_test();
    agent(self).schedule_.at({TaskKind::watch_self_test}, now());
  } else {
    return 0;
  }
  agent(self).arm_timer();
  return 0;
}

// Called when udev has finished with the device: its name is final (rdma-core renames RDMA devices).
int Agent::on_device(sd_device_monitor*, sd_device* device, void* self) {
  const char *subsystem = nullptr, *path = nullptr;
  if (sd_device_get_subsystem(device, &subsystem) < 0 || sd_device_get_syspath(device, &path) < 0) return 0;
  // Containers create and remove virtual links, which have no RDMA device.
  if (std::strcmp(subsystem, "net") == 0 && std::strstr(path, "/devices/virtual/") != nullptr) return 0;
  agent(self).schedule_.at({TaskKind::rescan}, now() + kRescanDelay);
  agent(self).arm_timer();
  return 0;
}

void Agent::on_timer() {
  const auto tasks = schedule_.take(now());
  for (const Task& task : tasks) do_task(task);
  if (!tasks.empty()) publish_status();
  arm_timer();
}

void Agent::arm_timer() {
  if (manager_.must_watch_confirm()) schedule_.at({TaskKind::watch_confirm}, now() + kRecordRetry);
  if (const auto next = schedule_.next()) timer_.at(std::chrono::duration_cast<microseconds>(next->time_since_epoch()));
  else timer_.off();
}

void Agent::drain(NotificationSocket& socket, const Parse& parse) {
  const auto received = socket.drain();
  for (const Message& message : received.messages) handle_notification(parse(message));
  if (received.lost) {
    write_journal({message_id::trouble, LOG_NOTICE, "kernel notifications were lost; reading all ports again"});
    schedule_.at({TaskKind::rescan}, now());
    for (const std::string& id : manager_.table().ids()) schedule_check(id);
  }
  arm_timer();
}

// Our own writes cause notifications, too. The check that follows finds the port in sync and neither writes nor logs.
// (The sequence number of a message cannot identify the sender: every library starts with the current time.)
void Agent::handle_notification(const Notification& note) {
  const std::vector<std::string> ids = manager_.table().ids_on(note.link.ifindex, note.link.name);
  if (note.gone) {
    if (!ids.empty()) schedule_.at({TaskKind::rescan}, now() + kRescanDelay);
    return;
  }
  const Policy& policy = manager_.policy();
  const std::string& netdev = note.link.name;
  if (!netdev.empty() &&
      std::ranges::any_of(policy.sysctl, [&](const auto& each) { return qos::is_sysctl_of(each.first, netdev); }))
    schedule_.at({TaskKind::reconcile_host}, now() + kBurst);
  PortTable::LinkEvents events;
  if (note.how == NotificationKind::link) events = manager_.link_changed(note.link);
  if (events.rescan) schedule_.at({TaskKind::rescan}, now());
  for (const std::string& id : ids) {
    manager_.on_notification(id, note.how);
    schedule_check(id);
    if (!events.carrier_up) continue;
    schedule_.cancel({TaskKind::settle, id});  // the delay counts from the last carrier-up
    schedule_.at({TaskKind::settle, id}, now() + kSettleDelay);
  }
}

void Agent::schedule_check(const std::string& id) {
  const milliseconds pause = manager_.is_in_conflict(id) ? kConflictPause : kBurst;
  schedule_.at({TaskKind::reconcile_port, id}, now() + pause);
}

void Agent::rescan() {
  if (sandbox_.outgrown()) {
    sd_event_exit(event_.get(), 0);  // run() says why
    return;
  }
  // RDMA netlink is loaded with the first RDMA device, maybe after our start.
  if (kernel_.rdma == nullptr)
    if (auto rdma = open_netlink(NETLINK_RDMA)) kernel_.rdma = std::move(*rdma);
  for (const std::string& id : manager_.rescan()) schedule_.at({TaskKind::reconcile_port, id}, now());
  if (const auto again = manager_.rescan_after()) schedule_.at({TaskKind::rescan}, now() + *again);
  schedule_.at({TaskKind::reconcile_host}, now());  // the sysctls of an interface exist as long as the interface does
  for (const std::string& id : manager_.links_recovered()) schedule_.at({TaskKind::settle, id}, now() + kSettleDelay);
  if (!kernel_.root.is_host()) return;
  optics_.set(cages_of(manager_.table().ports()), manager_.policy().optics);
  vnic_.set(functions_of(manager_.table().ports()), kVnicInterval);
}

void Agent::reconcile_port(const std::string& id) {
  schedule_.cancel({TaskKind::reconcile_port, id});
  // The watchdog and the start timeout begin again with each port: with dead firmware each command takes a minute.
  if (ready_) sd_notify(0, "WATCHDOG=1");
  else sd_notify(0, "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=180000000");
  const qos::Instant start = now();
  auto done = manager_.reconcile_port(id, start);
  if (!done && done.error().code == EWOULDBLOCK) schedule_.at({TaskKind::reconcile_port, id}, now() + kLockRetry);
  else if (!done) schedule_.at({TaskKind::rescan}, now() + kRescanDelay);
  if (done)
    for (const std::string& other : manager_.waiting_for(id)) schedule_check(other);
  // Dead firmware costs seconds with each pass, which the other ports must not wait for all the time.
  if (const auto again = manager_.retry_after(id))
    schedule_.at({TaskKind::reconcile_port, id},
                 now() + std::max<qos::Instant::duration>(*again, 10 * (now() - start)));
  if (const auto again = manager_.settle_after(id)) schedule_.at({TaskKind::settle, id}, now() + *again);
  if (manager_.is_in_conflict(id)) schedule_.at({TaskKind::reconcile_port, id}, now() + kConflictReread);
  if (manager_.waits_for_member(id)) schedule_.at({TaskKind::reconcile_port, id}, now() + kIdlePoll);
  if (manager_.waits_for_idle(id)) schedule_.at({TaskKind::poll_idle, id}, now() + kIdlePoll);
  if (auto opens = manager_.until_window()) schedule_.at({TaskKind::window}, now() + *opens + kWindowSlack);
}

void Agent::reconcile_host() {
  if (auto done = manager_.reconcile_host(now()); !done && done.error().code == EWOULDBLOCK)
    schedule_.at({TaskKind::reconcile_host}, now() + kLockRetry);
  if (manager_.is_in_conflict(kHostSubject)) schedule_.at({TaskKind::reconcile_host}, now() + kConflictReread);
}

void Agent::reconcile_all() {
  for (const std::string& id : manager_.table().ids()) reconcile_port(id);
  reconcile_host();
}

void Agent::watch_confirm() {
  const Suspension::NextSteps next = manager_.watch_confirm();
  if (next.again) schedule_.at({TaskKind::watch_confirm}, now() + *next.again);
  if (!record_) {  // no inotify
    schedule_.at({TaskKind::watch_confirm}, now() + kRecordPoll);
    schedule_.at({TaskKind::watch_self_test}, now());
  }
  if (next.confirmed) return reload();  // the files have the confirmed configuration
  if (next.changed) reconcile_all();
}

void Agent::watch_self_test() {
  const auto due = manager_.ports_of_killed_self_test(now());
  if (!due) return;
  for (const std::string& id : *due) reconcile_port(id);
  schedule_.at({TaskKind::watch_self_test}, now() + kRecordRetry);
}

void Agent::settle(const std::string& id) {
  auto done = manager_.settle(id);
  if (!done && done.error().code == EWOULDBLOCK) return schedule_.at({TaskKind::settle, id}, now() + kLockRetry);
  if (const auto again = manager_.settle_after(id)) schedule_.at({TaskKind::settle, id}, now() + *again);
  // Ports are matched again, because the link has a speed now. A rescan that was due at this time would not do: an
  // earlier one takes its place.
  if (std::ranges::any_of(manager_.policy().ports, [](const PortPolicy& entry) { return !entry.match.speed.empty(); }))
    schedule_.at({TaskKind::rescan}, now());
  schedule_check(id);
}

void Agent::do_task(const Task& task) {
  switch (task.kind) {
    case TaskKind::rescan: return rescan();
    case TaskKind::reread:
      rescan();
      reconcile_all();
      schedule_.at({TaskKind::record_inventory}, now());
      return schedule_.at({TaskKind::reread}, now() + manager_.policy().reread);
    case TaskKind::window: return reconcile_all();
    case TaskKind::reconcile_port: return reconcile_port(task.port);
    case TaskKind::reconcile_host: return reconcile_host();
    case TaskKind::settle: return settle(task.port);
    case TaskKind::poll_idle:
      if (!manager_.waits_for_idle(task.port)) return;
      if (manager_.is_idle(task.port)) return reconcile_port(task.port);
      return schedule_.at(task, now() + kIdlePoll);
    case TaskKind::watch_confirm: return watch_confirm();
    case TaskKind::watch_self_test: return watch_self_test();
    case TaskKind::record_inventory: {
      if (!kernel_.root.is_host()) return;
      const auto recorded = record_inventory(kernel_, manager_.directory());
      if (!recorded) write_journal({message_id::trouble, LOG_WARNING, recorded.error().text()});
      else if (!recorded->empty()) write_journal({message_id::port, LOG_INFO, *recorded});
      return;
    }
    case TaskKind::publish: return;
  }
}

void Agent::reload() {
  auto since = std::chrono::duration_cast<microseconds>(now().time_since_epoch()).count();
  sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", static_cast<long long>(since));
  auto loaded = load_config_in_use(manager_.directory(), config_file_, rule_rows());
  if (!loaded) {
    manager_.note_config({{}, loaded.error()});
  } else if (loaded->error) {
    manager_.note_config(*loaded);  // it is in use
  } else {
    for (const ConfigWarning& warning : loaded->config.warnings)
      write_journal({message_id::configuration, LOG_WARNING, warning.where + ": " + warning.what});
    manager_.set_policy(loaded->config.policy);
    manager_.note_config(*loaded);
    write_journal({message_id::configuration, LOG_NOTICE, "configuration reloaded; checking all ports"});
  }
  rescan();
  reconcile_all();
  schedule_.cancel({TaskKind::reread});
  schedule_.at({TaskKind::reread}, now() + manager_.policy().reread);
  ready_ = true;
  sd_notify(0, "READY=1");
  publish_status();
  arm_timer();
}

void Agent::publish_status() {
  manager_.publish();
  flush_journal();
  sd_notifyf(0, "STATUS=%s", service_status(manager_.view()).c_str());
  if (ready_) return;
  // Jobs start after READY=1, so it is sent once udev has handled the devices that were present at boot.
  if (now() < ready_by_ && kernel_.root.exists("run/udev/queue")) {
    schedule_.at({TaskKind::publish}, now() + kUdevPoll);
    return;
  }
  ready_ = true;
  sd_notify(0, "READY=1");
}

}  // namespace fabric::agentd
