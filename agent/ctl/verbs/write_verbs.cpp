// SPDX-License-Identifier: Apache-2.0
// plan, apply, restore: the write line, once, by hand.
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <thread>

#include "config/config.h"
#include "ctl/output/report_text.h"
#include "ctl/verbs.h"
#include "ctl/verbs/confirm.h"
#include "ctl/world.h"
#include "kernel/netlink/rtnl.h"
#include "model/bond.h"
#include "settings/restore.h"
#include "store/state.h"

namespace fabric::ctl {
namespace {

// The agent holds the lock while it writes one port.
constexpr std::chrono::seconds kPatience{5};

const ScanOptions kPortsOnly{.topology = false,
                             .settings = false,
                             .counters = false,
                             .gids = false,
                             .network = false,
                             .verbs = false,
                             .members = true};

int failure(const Error& error, Output& output) {
  output.errors += "fabric-agentctl: " + error.text() + "\n";
  if (error.code == EPERM || error.code == EACCES)
    output.errors += "Writing needs CAP_NET_ADMIN: run it as root (sudo fabric-agentctl ...).\n";
  return kFailure;
}

bool any_of(const Changes& changes, Outcome outcome) {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) { return change.outcome == outcome; });
}

bool is_as_wanted(const Change& change) {
  return change.outcome == Outcome::in_sync || change.outcome == Outcome::applied;
}

Changes flat(const Plan& plan) {
  Changes all;
  for (const auto& [port, changes] : plan) all.insert(all.end(), changes.begin(), changes.end());
  return all;
}

// What was done to the ports, and what that means for the exit code. `recorded`: could what is put back, or on trial,
// be written down? After a write, a failure is not one "before anything was written".
int tell(const Changes& changes, const Options& options, Output& output, const Result<void>& recorded) {
  if (!recorded) (void)failure(recorded.error(), output);
  const bool all_good = std::all_of(changes.begin(), changes.end(), is_as_wanted);
  if (options.json) {
    output.text += changes_json(changes).dump() + "\n";
  } else {
    const std::string table = changes_text(changes, options.verbose, output);
    output.text +=
        table.empty() ? "Nothing to do: " + std::to_string(changes.size()) + " settings are as wanted.\n" : table;
  }
  if (std::any_of(changes.begin(), changes.end(), [](const Change& change) { return change.code == EPERM; }))
    output.errors +=
        "fabric-agentctl: the kernel did not permit the write (EPERM); it needs CAP_NET_ADMIN: run it as root.\n";
  return all_good && recorded ? kDone : kChanges;
}

bool has_carrier(Kernel& kernel, const Port& port) {
  const auto link = rtnl::link(*kernel.route, port.netdev);
  return link && link->carrier.value_or(false);
}

// A write that flapped the link leaves some drivers with thresholds for no link: once carrier is back, qos::settle()
// puts them right. No agent may be there to do it. `ports` share one deadline: without a cable there is nothing to wait
// for.
void settle(Kernel& kernel, std::vector<const Port*> ports, Output& output) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!ports.empty()) {
    std::erase_if(ports, [&](const Port* port) {
      if (!has_carrier(kernel, *port)) return false;
      if (auto settled = qos::settle(kernel, *port); !settled)
        output.errors += "fabric-agentctl: " + settled.error().text() + "\n";
      return true;
    });
    if (ports.empty() || std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (const Port* port : ports)
    output.errors +=
        "fabric-agentctl: " + port->id() + ": no carrier 10 s after the write; run apply again when the link is up\n";
}

// The ports that a write has left without carrier.
std::vector<const Port*> without_carrier(Kernel& kernel, const std::vector<Port>& ports, const Changes& changes) {
  std::vector<const Port*> down;
  for (const Port& port : ports) {
    const bool written = std::any_of(changes.begin(), changes.end(), [&](const Change& change) {
      return change.port == port.id() && change.outcome == Outcome::applied && change.disruptive;
    });
    if (written && port.carrier.value_or(false) && !has_carrier(kernel, port)) down.push_back(&port);
  }
  return down;
}

struct Writer {
  World world;
  Fd lock;
  state::Originals originals;
  Node node;
};

// All that can be refused is refused before anything is written.
Result<Writer> open_writer(const Options& options, Result<World> world) {
  if (!world) return world.error();
  if (!world->kernel.root.is_host())
    return error(0, options.root + " is a captured tree: there is nothing to write to; use plan");
  auto lock = state::take_lock(options.root, kPatience);
  if (!lock) return lock.error();
  auto originals = state::load_originals(options.root);
  if (!originals && originals.error().code == EBADMSG)
    return error(0, originals.error().what + "; nothing is written: move the file away, and what stood before is lost");
  if (!originals) return originals.error();
  Writer writer{std::move(world).value(), std::move(lock).value(), std::move(originals).value(), {}};
  writer.node = look(writer.world, kPortsOnly);
  if (auto known = check_ports(options, writer.node); !known) return known.error();
  return writer;
}

Result<void> refuse_against_agent(const World& world, const Options& options) {
  if (options.force) return {};
  const auto agent = state::load_agent_state(world.kernel.root);
  if (!agent || !*agent || !(*agent)->running || (*agent)->mode != to_text(Mode::enforce)) return {};
  return error(0,
               "restore: fabric-agentd runs in enforce mode and would set the ports as the policy says again; "
               "stop it first (systemctl stop fabric-agent), or use --force");
}

Changes apply_host(Writer& writer, const Options& options, Trial& trial) {
  if (!names_host(options)) return {};
  return host_changes(writer.world, false, [&](const std::string& name, const std::string& before) -> Result<void> {
    if (auto kept = trial.remember(name, before); !kept) return kept;
    auto originals = qos::load_sysctl_originals(options.root);
    if (!originals) return originals.error();
    return qos::save_sysctl_original(options.root, *originals, name, before);
  });
}

// Puts back what stood of the host's settings; those that are back are forgotten.
Changes restore_host(Writer& writer, const Options& options, qos::SysctlValues originals, Result<void>& saved) {
  Changes changes;
  if (originals.empty()) return changes;
  for (qos::SysctlChange& one : qos::reconcile_sysctl(writer.world.kernel.root, originals, {})) {
    if (one.outcome == Outcome::in_sync || one.outcome == Outcome::applied) originals.erase(one.name);
    changes.push_back({kHost, {}, one.outcome, one.code, false, one.from, one.to, one.detail, one.name});
  }
  saved = qos::save_sysctl_originals(options.root, originals);
  return changes;
}

}  // namespace

int run_plan(const Options& options, Output& output) {
  auto world = open_configured_world(options);
  if (!world) return failure(world.error(), output);
  if (!world->kernel.route)
    return failure(error(0, options.root + ": the settings of a captured tree cannot be read"), output);
  Node node = look(*world, kPortsOnly);
  if (auto known = check_ports(options, node); !known) return failure(known.error(), output);
  const Changes all = flat(make_plan(*world, node, options));
  Changes writes;
  std::copy_if(all.begin(), all.end(), std::back_inserter(writes), is_write);
  if (options.json) {
    output.text += changes_json(options.verbose ? all : writes).dump() + "\n";
  } else {
    const std::string table = changes_text(all, options.verbose, output);
    output.text += table + left_alone_text(node, *world->policy);
    output.text += writes.empty()
                       ? "Nothing to write.\n"
                       : std::to_string(writes.size()) + " to write: fabric-agentctl apply, or mode = \"enforce\".\n";
    output.text += unseen_text(node);
  }
  if (any_of(all, Outcome::refused)) return kFailure;
  return writes.empty() ? kDone : kChanges;
}

int run_apply(const Options& options, Output& output) {
  auto world = open_configured_world(options);
  if (world && world->kernel.root.is_host() &&
      !options.confirm)  // on trial, the agent holds still, and reads its file again when it is confirmed
    if (auto free = refuse_against_other_config(*world, kPatience); !free) return failure(free.error(), output);
  auto writer = open_writer(options, std::move(world));
  if (!writer) return failure(writer.error(), output);
  const Policy& policy = *writer->world.policy;
  auto trial = Trial::begin(options, policy);
  if (!trial) return failure(trial.error(), output);
  qos::Options how = reconcile_options(writer->world, options);
  how.settle = true;
  Changes all;
  for (Port& port : writer->node.ports) {
    const PortPolicy* entry = policy_for(policy, port);
    if (entry == nullptr || !is_chosen(options, port)) continue;
    how.save_original = [&](const Port& written, const Qos& before) {
      if (auto kept = trial->remember(written, before, keys_of(entry->want)); !kept) return kept;
      return state::save_original(options.root, writer->originals, written, before);
    };
    const Changes changes = qos::reconcile(writer->world.kernel, port, entry->want, port_options(how, port, *entry));
    all.insert(all.end(), changes.begin(), changes.end());
  }
  const Changes host = apply_host(*writer, options, *trial);
  all.insert(all.end(), host.begin(), host.end());
  settle(writer->world.kernel, without_carrier(writer->world.kernel, writer->node.ports, all), output);
  return tell(all, options, output, trial->await(output));
}

int run_restore(const Options& options, Output& output) {
  auto world = open_world(options);
  if (!world) return failure(world.error(), output);
  if (auto free = refuse_against_agent(*world, options); !free) return failure(free.error(), output);
  auto writer = open_writer(options, std::move(world));
  if (!writer) return failure(writer.error(), output);
  if (auto free = Trial::refuse(options); !free) return failure(free.error(), output);
  const auto stood = names_host(options) ? qos::load_sysctl_originals(options.root) : qos::SysctlValues{};
  if (!stood) return failure(stood.error(), output);  // before any port is written
  qos::Options how = reconcile_options(writer->world, options);
  Result<void> saved;
  Changes all;
  for (Port& port : writer->node.ports) {
    if (!is_chosen(options, port)) continue;
    how.only = qos::own_keys(port);
    const Changes changes = qos::restore(writer->world.kernel, port, writer->originals, how);
    all.insert(all.end(), changes.begin(), changes.end());
    // After each port: killed here, what is put back is known to be put back.
    if (!changes.empty()) saved = state::save_originals(options.root, writer->originals);
    if (!saved) break;
  }
  if (saved && options.ports.empty()) {
    const Changes absent = qos::restore_of_absent(writer->originals, writer->node.ports);
    all.insert(all.end(), absent.begin(), absent.end());
  }
  const Changes host = saved ? restore_host(*writer, options, *stood, saved) : Changes();
  all.insert(all.end(), host.begin(), host.end());
  if (all.empty() && !options.json) {
    output.text += "Nothing to put back: no first write is recorded.\n";
    return kDone;
  }
  settle(writer->world.kernel, without_carrier(writer->world.kernel, writer->node.ports, all), output);
  return tell(all, options, output, saved);
}

}  // namespace fabric::ctl
