// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/confirm_verb.h"

#include <syslog.h>
#include <systemd/sd-bus.h>

#include "base/json.h"
#include "policy/show_config.h"

namespace fabric::ctl {
namespace {

constexpr const char* kAsRoot = "Requires root: sudo fabric-agentctl confirm\n";

// Runs in the guard after the deadline; returns the pause before the next call.
std::chrono::seconds revert(Options options, confirm::RetryPause& pause) {
  constexpr std::chrono::seconds kRetry{1};
  options.config.clear();  // the applied file may be gone; the record has the previous settings
  auto lock = state::take_lock(options.root, kLockPatience);
  auto record = confirm::load(options.root);
  auto machine = open_machine(options);
  if (!lock || !record || !machine) return kRetry;
  // An apply that took longer than its time has set a later deadline meanwhile.
  if (!*record || !confirm::is_due(**record, confirm::this_moment(machine->kernel.root))) return kRetry;
  const Node node = scan_for(**record, *machine);
  Output unread;  // the starter has ended
  Pacing pacing(*machine, node, options.root, unread);
  const auto changes = confirm::lapse(options.root, machine->kernel, node.ports, **record,
                                      {.in_use = qos::ask_kernel(machine->kernel),
                                       .turns = pacing.turns,
                                       .sleep = qos::sleep_for,
                                       .front_end = front_end_of(*machine)});
  if (!changes) return kRetry;
  settle_links(machine->kernel, node, *changes, pacing.unsettled, unread);
  if (is_pending(**record)) return pause.after(*changes);
  ::openlog("fabric-agentctl", LOG_PID, LOG_DAEMON);
  for (const Change& change : *changes)
    if (!is_done(change.outcome))
      ::syslog(LOG_ERR, "%s: %s not restored to %s: %s", change.port.c_str(), change.key().c_str(), change.to.c_str(),
               change.detail.c_str());
  std::string what = "apply not confirmed in time: previous settings restored";
  if (const std::string left = confirm::left_text(**record); !left.empty())
    what = "apply not confirmed in time; not restored: " + left;
  ::syslog(LOG_WARNING, "%s", what.c_str());
  return kRetry;
}

}  // namespace

void leave_session(const std::string& what, const char* description) {
  sd_bus* bus = nullptr;
  if (sd_bus_open_system(&bus) < 0) return;
  const std::string name = "fabric-agent-" + what + "-" + std::to_string(::getpid()) + ".scope";
  (void)sd_bus_call_method(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                           "org.freedesktop.systemd1.Manager", "StartTransientUnit", nullptr, nullptr,
                           "ssa(sv)a(sa(sv))", name.c_str(), "fail", 2, "PIDs", "au", 1,
                           static_cast<uint32_t>(::getpid()), "Description", "s", description, 0);
  sd_bus_flush_close_unref(bus);
}

Node scan_for(const confirm::Record& record, Machine& machine) {
  Node node = scan_for_writing(machine);
  if (!machine.policy) return node;
  const auto scan = [&](const Policy& all) {
    const Policy own = std::exchange(*machine.policy, all);
    std::vector<Port> found = scan_for_writing(machine).ports;
    machine.policy = own;
    return found;
  };
  node.ports = confirm::with_excluded(record, std::move(node.ports), *machine.policy, scan);
  return node;
}

Result<void> Trial::refuse(const Options& options) {
  auto record = confirm::load(options.root);
  if (!record) return record.error();
  if (!*record || !is_pending(**record)) return {};
  const auto root = Root::open(options.root);
  if (root && confirm::is_due(**record, confirm::this_moment(*root)))
    return error(0, "an apply was not confirmed by " + (*record)->until +
                        ": its previous settings are restored when the ports are idle and present (left: " +
                        confirm::left_text(**record) + ")");
  return error(0, "an apply awaits confirmation until " + (*record)->until +
                      ": run fabric-agentctl confirm to keep it, or wait until it is reverted");
}

Result<Changes> Trial::end_overdue(Writer& writer, const Options& options, Pacing& pacing, Output& output) {
  Kernel& kernel = writer.machine.kernel;
  auto record = confirm::load(options.root);
  if (!record) return record.error();
  if (!*record || !confirm::has_work(**record, confirm::this_moment(kernel.root))) return Changes();
  const std::string before = confirm::left_text(**record);
  const Node node = scan_for(**record, writer.machine);
  auto changes = confirm::lapse(options.root, kernel, node.ports, **record,
                                {.in_use = qos::ask_kernel(kernel),
                                 .turns = pacing.turns,
                                 .sleep = qos::sleep_for,
                                 .front_end = front_end_of(writer.machine)});
  if (!changes) return changes;
  const std::string left = confirm::left_text(**record);
  std::string what = "its previous settings were restored";
  if (before.empty()) what = "it had written nothing";
  else if (left == before) what = "not restored: " + left;
  else if (!left.empty()) what += ", except " + left;
  if (!is_pending(**record)) output.errors += "An apply was not confirmed by " + (*record)->until + ": " + what + ".\n";
  std::erase_if(*changes, [](const Change& change) { return change.outcome == Outcome::in_sync; });
  return changes;
}

Result<Trial> Trial::begin(const Options& options, const Policy& policy, Output& output) {
  if (auto allowed = refuse(options); !allowed) return allowed.error();
  const auto lapsed = confirm::load(options.root);
  Trial trial(options.root, options.confirm);
  if (!options.confirm) {
    if (lapsed && *lapsed) {
      if (auto dropped = confirm::remove(options.root); !dropped) return dropped.error();
      if (!(*lapsed)->is_restored())
        output.errors += "This apply replaces the one that was not confirmed; not restored any more: " +
                         confirm::left_text(**lapsed) + "\n";
    }
    return trial;
  }
  auto root = Root::open(options.root);
  if (!root) return root.error();
  trial.record_ =
      confirm::begin(confirm::this_moment(*root), *options.confirm, policy, confirm::digest(wanted_config(policy)));
  if (options.disruptive) trial.record_.disruptive = *options.disruptive;
  if (lapsed && *lapsed) {  // its values are older than those that this apply finds
    trial.record_.before = (*lapsed)->before;
    trial.record_.sysctl = (*lapsed)->sysctl;
    trial.record_.front_end = (*lapsed)->front_end;
  }
  if (auto saved = confirm::save(options.root, trial.record_); !saved) return saved.error();
  auto started = confirm::start_guard(
      options.root, trial.record_.id,
      [] { leave_session("confirm", "Restores the settings unless fabric-agentctl confirm is called"); },
      [options, pause = confirm::RetryPause()]() mutable { return revert(options, pause); });
  if (!started) {
    if (lapsed && *lapsed) (void)confirm::save(options.root, **lapsed);
    else (void)confirm::remove(options.root);
    return started.error();
  }
  return trial;
}

Result<void> Trial::remember(const Port& port, const Qos& before, const Keys& keys, const std::string& bond,
                             bool front_end) {
  if (!patience_) return {};
  confirm::remember(record_, port, before, keys, bond);
  if (front_end) confirm::allow_front_end(record_, port);
  return confirm::save(root_, record_);
}

Result<void> Trial::remember(const std::string& sysctl, const std::string& before) {
  if (!patience_) return {};
  record_.sysctl.try_emplace(sysctl, before);
  return confirm::save(root_, record_);
}

Result<void> Trial::await(Output& output) {
  if (!patience_) return {};
  if (record_.before.empty() && record_.sysctl.empty()) {
    output.errors += "Nothing was written; nothing to confirm.\n";
    return confirm::remove(root_);
  }
  auto root = Root::open(root_);
  if (!root) return root.error();
  confirm::set_deadline(record_, confirm::this_moment(*root), *patience_);
  output.errors += "Not confirmed: reverted at " + record_.until + ". To keep the settings: fabric-agentctl confirm\n";
  return confirm::save(root_, record_);
}

int run_confirm(const Options& options, Output& output) {
  auto root = Root::open(options.root);
  if (!root) return failure(root.error(), output, kAsRoot);
  if (auto host = must_be_host(options); !host) return failure(host.error(), output, kAsRoot);
  auto lock = state::take_lock(options.root, kLockPatience);
  if (!lock) return failure(lock.error(), output, kAsRoot);
  auto record = confirm::load(options.root);
  if (!record) return failure(record.error(), output, kAsRoot);
  if (!*record) return fail(output, kChanges, "confirm: no apply awaits confirmation");
  if (!is_pending(**record)) {
    std::string what = "confirm: too late: reverted at " + (*record)->reverted;
    if (!(*record)->is_restored()) what += ", except " + confirm::left_text(**record);
    return fail(output, kChanges, what);
  }
  if (confirm::is_due(**record, confirm::this_moment(*root)))
    return fail(output, kChanges,
                "confirm: too late: the time ended at " + (*record)->until +
                    "; the previous settings are restored now, or by the next apply or restore");
  if (auto removed = confirm::remove(options.root); !removed) return failure(removed.error(), output, kAsRoot);
  if (options.json) output.text += json_text({{"confirmed", true}});
  else output.text += "Confirmed. A running agent reloads its configuration.\n";
  return kDone;
}

}  // namespace fabric::ctl
