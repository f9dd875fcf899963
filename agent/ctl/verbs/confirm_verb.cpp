// SPDX-License-Identifier: Apache-2.0
#include <syslog.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "config/config.h"
#include "ctl/verbs/confirm.h"
#include "ctl/world.h"

namespace fabric::ctl {
namespace {

constexpr std::chrono::seconds kPatience{5};

// A scope of its own (org.freedesktop.systemd1(5)): a session that is killed with its cgroup does not take the guard
// along. Without systemd there is no such killing.
void leave_session() {
  sd_bus* bus = nullptr;
  if (sd_bus_open_system(&bus) < 0) return;
  const std::string name = "fabric-agent-confirm-" + std::to_string(::getpid()) + ".scope";
  (void)sd_bus_call_method(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                           "org.freedesktop.systemd1.Manager", "StartTransientUnit", nullptr, nullptr,
                           "ssa(sv)a(sa(sv))", name.c_str(), "fail", 2, "PIDs", "au", 1,
                           static_cast<uint32_t>(::getpid()), "Description", "s",
                           "Puts settings back unless fabric-agentctl confirm follows", 0);
  sd_bus_flush_close_unref(bus);
}

void tell_log(const Changes& changes, const confirm::Record& record) {
  ::openlog("fabric-agentctl", LOG_PID, LOG_DAEMON);
  for (const Change& change : changes)
    if (change.outcome == Outcome::refused || change.outcome == Outcome::ignored)
      ::syslog(LOG_ERR, "%s: %s could not be put back to %s: %s", change.port.c_str(), change.key().c_str(),
               change.to.c_str(), change.detail.c_str());
  if (!is_pending(record)) ::syslog(LOG_WARNING, "an apply was not confirmed in time: what stood before it is back");
}

// In the guard, overdue: true when nothing is left to do.
bool put_back(Options options) {
  options.config.clear();  // the file that was applied may be gone; the record says what stood
  auto lock = state::take_lock(options.root, kPatience);
  auto record = confirm::load(options.root);
  auto world = open_world(options);
  if (!lock || !record || !world) return false;
  if (!*record || !confirm::is_due(**record, confirm::this_moment(world->kernel.root))) return true;
  Node node = look(*world, {.topology = false,
                            .settings = false,
                            .counters = false,
                            .gids = false,
                            .network = false,
                            .verbs = false,
                            .members = true});
  const auto changes =
      confirm::lapse(options.root, world->kernel, node.ports, **record, reconcile_options(*world, options));
  if (!changes) return false;
  tell_log(*changes, **record);
  return !is_pending(**record);
}

int failure(const Error& error, Output& output) {
  output.errors += "fabric-agentctl: " + error.text() + "\n";
  if (error.code == EPERM || error.code == EACCES) output.errors += "It takes root: sudo fabric-agentctl confirm.\n";
  return kFailure;
}

int nothing(const std::string& what, Output& output) {
  output.errors += "fabric-agentctl: confirm: " + what + "\n";
  return kChanges;
}

}  // namespace

Result<void> Trial::refuse(const Options& options) {
  auto record = confirm::load(options.root);
  if (!record) return record.error();
  if (!*record || !is_pending(**record)) return {};
  return error(0, "an apply awaits confirmation until " + (*record)->until +
                      ": fabric-agentctl confirm keeps it; else wait until what stood before is back");
}

Result<Trial> Trial::begin(const Options& options, const Policy& policy) {
  if (auto free = refuse(options); !free) return free.error();
  if (const auto lapsed = confirm::load(options.root); lapsed && *lapsed)
    if (auto dropped = confirm::remove(options.root); !dropped) return dropped.error();
  Trial trial(options.root, options.confirm);
  if (!options.confirm) return trial;
  auto root = Root::open(options.root);
  if (!root) return root.error();
  trial.record_ =
      confirm::begin(confirm::this_moment(*root), *options.confirm, policy, confirm::digest(wanted_config(policy)));
  if (options.disruptive) trial.record_.disruptive = *options.disruptive;
  if (auto saved = confirm::save(options.root, trial.record_); !saved) return saved.error();
  if (auto stands =
          confirm::start_guard(options.root, trial.record_.id, leave_session, [options] { return put_back(options); });
      !stands) {
    (void)confirm::remove(options.root);
    return stands.error();
  }
  return trial;
}

Result<void> Trial::remember(const Port& port, const Qos& before, const Keys& keys) {
  if (!patience_) return {};
  confirm::remember(record_, port, before, keys);
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
    output.errors += "Nothing was written: there is nothing to confirm.\n";
    return confirm::remove(root_);
  }
  auto root = Root::open(root_);
  if (!root) return root.error();
  confirm::set_deadline(record_, confirm::this_moment(*root), *patience_);
  output.errors +=
      "Not confirmed yet: at " + record_.until + " what stood before returns. To keep it: fabric-agentctl confirm\n";
  return confirm::save(root_, record_);
}

int run_confirm(const Options& options, Output& output) {
  auto root = Root::open(options.root);
  if (!root) return failure(root.error(), output);
  if (!root->is_host())
    return failure(error(0, options.root + " is a captured tree: nothing is applied to it"), output);
  auto lock = state::take_lock(options.root, kPatience);
  if (!lock) return failure(lock.error(), output);
  auto record = confirm::load(options.root);
  if (!record) return failure(record.error(), output);
  if (!*record) return nothing("no apply awaits confirmation", output);
  if (!is_pending(**record))
    return nothing("too late: what stood before the apply is back since " + (*record)->reverted, output);
  if (confirm::is_due(**record, confirm::this_moment(*root)))
    return nothing("too late: the time ended at " + (*record)->until + ", and what stood before is being put back",
                   output);
  if (auto removed = confirm::remove(options.root); !removed) return failure(removed.error(), output);
  if (!options.json) output.text += "Confirmed: the settings stay. A running agent reads its configuration again.\n";
  else output.text += Json::object().put("confirmed", true).dump() + "\n";
  return kDone;
}

}  // namespace fabric::ctl
