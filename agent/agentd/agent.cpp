// SPDX-License-Identifier: Apache-2.0
#include "agentd/agent.h"
#include "judge/rule.h"

#include <linux/netlink.h>
#include <sys/inotify.h>
#include <systemd/sd-daemon.h>

namespace fabric::agentd {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// Several messages follow one `dcb` or `ip` command: look once, after the burst.
constexpr milliseconds kBurst{5};
// A port in conflict is checked once a second, however often it is written.
constexpr milliseconds kConflictPause{1'000};
// And at least this often: the other writer may be gone.
constexpr milliseconds kConflictReread{60'000};
constexpr milliseconds kLockRetry{50};
constexpr milliseconds kRescanDelay{100};
// The last queue pair closes without an event.
constexpr milliseconds kIdlePoll{1'000};
// Link speed and firmware state are reported a little after the carrier.
constexpr milliseconds kSettleDelay{1'000};
constexpr milliseconds kRecordPoll{2'000};
// Not while the drivers come up.
constexpr milliseconds kPartsDelay{30'000};
constexpr milliseconds kUdevPoll{100};
// mlx5 probes one function after the other, and waits up to two minutes for firmware that starts
// (MLX5_TO_FW_PRE_INIT_TIMEOUT_MS, lib/tout.c); a job that is there first keeps disruptive settings pending.
constexpr milliseconds kUdevPatience{60'000};
// After a full minute of the clock, not in its last second.
constexpr milliseconds kWindowSlack{1'000};

// Tasks of the schedule beside "keep ID", "settle ID" and "idle ID".
constexpr const char* kRescan = "rescan";
constexpr const char* kReread = "reread";
constexpr const char* kReady = "ready";
constexpr const char* kConfirm = "confirm";  // an apply that awaits confirmation
constexpr const char* kParts = "parts";      // the inventory
constexpr const char* kWindow = "window";    // the maintenance window opens

qos::Instant now() { return std::chrono::steady_clock::now(); }

Agent& agent(void* self) { return *static_cast<Agent*>(self); }

}  // namespace

Agent::Agent(Kernel& kernel, PortManager& manager, std::string config_file)
    : kernel_(kernel), manager_(manager), config_file_(std::move(config_file)) {}

Result<void> Agent::run() {
  ready_by_ = now() + kUdevPatience;
  rescan();
  watch_confirm();
  keep_all();
  schedule_.at(kReread, now() + manager_.policy().reread);
  schedule_.at(kParts, now() + kPartsDelay);
  publish_status();
  arm();
  const int ended = sd_event_loop(event_.get());
  sd_notify(0, "STOPPING=1");
  if (ended < 0) return error(-ended, "event loop");
  if (const auto folder = sandbox_.outgrown())
    return error(EROFS, *folder + ": new since the start; fabric-agentd restarts to write there");
  return {};
}

int Agent::on_record(sd_event_source*, const struct inotify_event* event, void* self) {
  if (event->len == 0 || !std::string_view(confirm::kFile).ends_with(std::string("/") + event->name)) return 0;
  agent(self).schedule_.at(kConfirm, now());
  agent(self).arm();
  return 0;
}

// udev has finished with the device: its name is final (rdma-core renames RDMA devices).
int Agent::on_device(sd_device_monitor*, sd_device* device, void* self) {
  const char *subsystem = nullptr, *path = nullptr;
  if (sd_device_get_subsystem(device, &subsystem) < 0 || sd_device_get_syspath(device, &path) < 0) return 0;
  // Containers come and go with virtual links that carry no RDMA device of their own.
  if (std::strcmp(subsystem, "net") == 0 && std::strstr(path, "/devices/virtual/") != nullptr) return 0;
  agent(self).schedule_.at(kRescan, now() + kRescanDelay);
  agent(self).arm();
  return 0;
}

void Agent::on_timer() {
  auto tasks = schedule_.take(now());
  for (const std::string& task : tasks) do_task(task);
  if (!tasks.empty()) publish_status();
  arm();
}

void Agent::arm() {
  if (const auto next = schedule_.next()) timer_.at(std::chrono::duration_cast<microseconds>(next->time_since_epoch()));
  else timer_.off();
}

void Agent::drain(NotificationSocket& socket, const Parse& parse) {
  const auto heard = socket.drain();
  for (const Message& message : heard.messages) handle_notification(parse(message));
  if (heard.lost) {
    write_journal({message_id::trouble, LOG_NOTICE, "kernel notifications were lost; all ports are read again"});
    schedule_.at(kRescan, now());
    for (const std::string& id : manager_.ids()) schedule_check(id);
  }
  arm();
}

// Our own writes notify, too. After one of them the port reads in sync, so nothing is written or logged. (The sequence
// number of the message cannot identify the sender: every library begins with the time.)
void Agent::handle_notification(const Notification& note) {
  const std::vector<std::string> ids = manager_.ports_on(note.link.ifindex, note.link.name);
  if (note.gone) {
    if (!ids.empty()) schedule_.at(kRescan, now() + kRescanDelay);
    return;
  }
  if (manager_.has_sysctl_of(note.link.name)) schedule_.at(kHostSubject, now() + kBurst);
  PortManager::LinkEvents events;
  if (note.how == qos::NotificationKind::link) events = manager_.link_changed(note.link);
  if (events.rescan) schedule_.at(kRescan, now());
  if (events.speed) schedule_.at(kRescan, now() + kSettleDelay);
  for (const std::string& id : ids) {
    manager_.on_notification(id, note.how);
    schedule_check(id);
    if (events.carrier_up) schedule_.at("settle " + id, now() + kSettleDelay);
  }
}

void Agent::schedule_check(const std::string& id) {
  schedule_.at("keep " + id, now() + (manager_.in_conflict(id) ? kConflictPause : kBurst));
}

void Agent::rescan() {
  if (sandbox_.outgrown()) {
    sd_event_exit(event_.get(), 0);  // run() says why
    return;
  }
  // Loaded after our start, with the first RDMA device.
  if (kernel_.rdma == nullptr)
    if (auto rdma = open_netlink(NETLINK_RDMA)) kernel_.rdma = std::move(*rdma);
  for (const std::string& id : manager_.rescan()) schedule_.at("keep " + id, now());
  schedule_.at(kHostSubject, now());  // sysctls of an interface come and go with it
  for (const std::string& id : manager_.links_recovered()) schedule_.at("settle " + id, now() + kSettleDelay);
  if (kernel_.root.is_host()) optics_.set(cages_of(manager_.ports()), manager_.policy().optics);
}

void Agent::keep(const std::string& id) {
  schedule_.cancel("keep " + id);
  // Each port has the watchdog's time, and the start's, for itself: one whose firmware is dead costs a minute a
  // command.
  sd_notify(0, ready_ ? "WATCHDOG=1" : "WATCHDOG=1\nEXTEND_TIMEOUT_USEC=180000000");
  auto done = manager_.keep(id, now());
  if (!done && done.error().code == EWOULDBLOCK) schedule_.at("keep " + id, now() + kLockRetry);
  else if (!done) schedule_.at(kRescan, now() + kRescanDelay);
  if (manager_.in_conflict(id)) schedule_.at("keep " + id, now() + kConflictReread);
  if (manager_.waits_for_idle(id)) schedule_.at("idle " + id, now() + kIdlePoll);
  if (auto opens = manager_.until_window()) schedule_.at(kWindow, now() + *opens + kWindowSlack);
}

void Agent::keep_host() {
  if (auto done = manager_.keep_host(now()); !done && done.error().code == EWOULDBLOCK)
    schedule_.at(kHostSubject, now() + kLockRetry);
}

void Agent::keep_all() {
  for (const std::string& id : manager_.ids()) keep(id);
  keep_host();
}

void Agent::watch_confirm() {
  const PortManager::Watch watch = manager_.watch_confirm();
  if (watch.again) schedule_.at(kConfirm, now() + *watch.again);
  if (!record_) schedule_.at(kConfirm, now() + kRecordPoll);  // no inotify
  if (watch.confirmed) return reload();                       // the applied configuration is on disk
  if (watch.changed) keep_all();
}

void Agent::settle(const std::string& id) {
  auto done = manager_.settle(id);
  if (!done && done.error().code == EWOULDBLOCK) return schedule_.at("settle " + id, now() + kLockRetry);
  if (!done)
    write_journal({message_id::trouble,
                   LOG_WARNING,
                   done.error().text() + "; retried after the next carrier-up",
                   {{"FABRIC_PORT", id}}});
  schedule_check(id);
}

void Agent::do_task(const std::string& task) {
  std::string id = task.substr(std::min(task.find(' ') + 1, task.size()));
  if (task == kRescan) return rescan();
  if (task == kHostSubject) return keep_host();
  if (task == kConfirm) return watch_confirm();
  if (task == kWindow) return keep_all();
  if (task == kParts) return record_parts();
  if (task == kReread) {
    rescan();
    keep_all();
    schedule_.at(kParts, now());
    schedule_.at(kReread, now() + manager_.policy().reread);
  } else if (task.starts_with("keep ")) {
    keep(id);
  } else if (task.starts_with("settle ")) {
    settle(id);
  } else if (task.starts_with("idle ") && manager_.waits_for_idle(id)) {
    if (manager_.is_idle(id)) keep(id);
    else schedule_.at(task, now() + kIdlePoll);
  }
}

void Agent::reload() {
  auto since = std::chrono::duration_cast<microseconds>(now().time_since_epoch()).count();
  sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", static_cast<long long>(since));
  if (auto loaded = load_config(kernel_.root, config_file_, rule_rows())) {
    for (const ConfigWarning& warning : loaded->warnings)
      write_journal({message_id::configuration, LOG_WARNING, warning.where + ": " + warning.what});
    manager_.set_policy(loaded->policy);
    manager_.note_config({std::move(*loaded)});
    write_journal({message_id::configuration, LOG_NOTICE, "configuration reloaded; all ports are checked"});
  } else {
    manager_.note_config({{}, loaded.error().text()});
  }
  rescan();
  keep_all();
  schedule_.cancel(kReread);
  schedule_.at(kReread, now() + manager_.policy().reread);
  ready_ = true;
  sd_notify(0, "READY=1");
  publish_status();
  arm();
}

void Agent::publish_status() {
  manager_.publish();
  sd_notifyf(0, "STATUS=%s", manager_.status().c_str());
  if (ready_) return;
  // Jobs start after READY=1: not before udev has found the devices that were there at boot.
  if (now() < ready_by_ && kernel_.root.exists("run/udev/queue")) {
    schedule_.at(kReady, now() + kUdevPoll);
    return;
  }
  ready_ = true;
  sd_notify(0, "READY=1");
}

}  // namespace fabric::agentd
