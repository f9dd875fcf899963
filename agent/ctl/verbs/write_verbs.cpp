// SPDX-License-Identifier: Apache-2.0
// plan, apply, restore: the writes of the agent, once, by hand.
#include "ctl/verbs/write_verbs.h"

#include <iterator>
#include <thread>

#include "base/json.h"
#include "base/shell.h"
#include "ctl/output/report_text.h"
#include "ctl/verbs/confirm_verb.h"
#include "ctl/verbs/status_verb.h"
#include "enforce/formats.h"
#include "enforce/restore.h"
#include "enforce/rounds.h"
#include "enforce/selftest.h"
#include "node/netdev_use.h"
#include "node/services.h"
#include "policy/show_config.h"
#include "policy/toml_value.h"

namespace fabric::ctl {

int failure(const Error& error, Output& output, const char* advice) {
  fail(output, kFailure, error.text());
  if (error.code == EPERM || error.code == EACCES) output.errors += advice;
  return kFailure;
}

Node scan_for_writing(Machine& machine) {
  ScanOptions what = ports_only();
  what.serials = what.members = true;
  return scan_machine(machine, what);
}

namespace {

void append(Changes& all, const Changes& more) { all.insert(all.end(), more.begin(), more.end()); }

// Prints the results and returns the exit code. `recorded`: the result of saving the state of restore or --confirm. Its
// failure after a write is kChanges, not kFailure.
int print_changes(const Changes& changes, const std::vector<Port>& ports, const Options& options, Output& output,
                  const Result<void>& recorded) {
  if (!recorded) failure(recorded.error(), output);
  const bool all_good = std::ranges::all_of(changes, [](const Change& change) { return is_done(change.outcome); });
  if (options.json) {
    output.text += json_text(changes_json(changes));
  } else {
    std::string text = changes_text(changes, ports, options.verbose, output);
    if (text.empty()) text = "Nothing to do: " + counted(changes.size(), "setting") + " in sync.\n";
    output.text += text;
  }
  // For root, the change itself names the cause: a missing capability or kernel lockdown.
  if (::geteuid() != 0 && contains(changes, EPERM, &Change::code))
    fail(output, kFailure, "write not permitted (EPERM): requires CAP_NET_ADMIN, run it as root");
  if (!all_good || !recorded) return kChanges;
  return kDone;
}

// The options of a plan that an apply of the same must have, too.
std::string same_options(const Options& options) {
  std::string text;
  if (!options.config.empty()) text += " --config " + shell_word(options.config);
  for (const std::string& port : options.ports) text += " --port " + shell_word(port);
  if (options.disruptive) text += " --disruptive " + std::string(to_text(*options.disruptive));
  return text;
}

// The end of a plan that has something to write: the command that comes next, and why it is another one than apply.
// Asks the same functions as run_apply(), so that apply does not refuse what plan names.
std::string next_step(Machine& machine, const Node& node, const Changes& writes, const Options& options,
                      const Output& output) {
  const std::string sudo = ::geteuid() == 0 ? "" : "sudo ",
                    apply = sudo + "fabric-agentctl apply" + same_options(options), status = "fabric-agentctl status",
                    reload = sudo + "systemctl reload fabric-agent";
  const auto step = [&](std::string why, const std::string& command) {
    if (!why.empty()) why = folded(why + ".\n", output.width);
    return why + "Next: " + command + "\n";
  };
  const bool is_agents_file = options.config.empty() || options.config == Options().config_file();
  if (auto host = must_be_host(options); !host)
    return step(host.error().text(), "fabric-agentctl plan, on the machine itself");
  if (auto allowed = refuse_against_other_config(machine, {}); !allowed)
    return step("fabric-agentd enforces another configuration and would undo an apply",
                is_agents_file ? reload : sudo + "systemctl stop fabric-agent");
  if (auto allowed = Trial::refuse(options); !allowed && allowed.error().code != EACCES) {
    const auto record = confirm::load(options.root);
    const confirm::BootMoment now = confirm::this_moment(machine.kernel.root);
    const bool is_due = record && *record && confirm::is_due(**record, now);
    if (!record) return step(allowed.error().text() + ": repair or remove the file", status);
    if (!is_due) return step(allowed.error().text(), sudo + "fabric-agentctl confirm");
    // apply ends it first.
    if (!confirm::may_end(machine.kernel, scan_for(**record, machine).ports, **record, now,
                          qos::ask_kernel(machine.kernel), front_end_of(machine)))
      return step(allowed.error().text(), status);
  }
  if (auto formats = qos::check_formats(options.root); !formats && formats.error().code != EACCES)
    return step(formats.error().what, status);
  if (auto originals = state::load_originals(options.root); !originals && originals.error().code != EACCES)
    return step(originals.error().text() + ": repair the file, or move it away", status);
  if (::geteuid() == 0 && machine.kernel.root.exists(state::kLockFile))
    if (auto lock = state::take_lock(options.root, std::chrono::seconds(1)); !lock)
      return step(lock.error().text() + "; nothing can be written until it is released", status);

  const bool all_wait =
      std::ranges::all_of(writes, [](const Change& each) { return each.outcome == Outcome::pending; });
  if (all_wait) {
    Options now = options;
    now.disruptive = Disruptive::now;
    Changes left;
    for (const auto& [port, changes] : make_plan(machine, node, now)) append(left, changes);
    if (std::ranges::any_of(left,
                            [](const Change& each) { return is_write(each) && each.outcome != Outcome::pending; }))
      return step("All of them wait. The next command does not, and stops traffic",
                  sudo + "fabric-agentctl apply" + same_options(now));
    if (contains(left, WaitsFor::front_end, &Change::wait))
      return step("They wait for an entry that names the port and has front_end = true", status);
    return step("They wait for settings of RoCE's class of traffic that cannot be written", status);
  }
  const auto agent = state::load_agent_state(machine.kernel.root);
  const bool runs = agent && *agent && (*agent)->running;
  if (is_enforced(machine) && !(*agent)->held.empty())
    return step("Enforcement is suspended: " + (*agent)->held, reload);
  if (is_enforced(machine)) return step("fabric-agentd writes them", status);
  if (!is_agents_file) return step({}, apply);
  // systemctl refuses to reload an agent that does not run.
  const std::string keep = runs ? reload : sudo + "systemctl enable --now fabric-agent";
  if (machine.policy->mode == Mode::audit)
    return step({}, apply + "; or, to keep them: mode = \"enforce\" in the configuration, then " + keep);
  if (runs) return step("fabric-agentd runs in audit mode and has not read this configuration", reload);
  return step({}, apply + "; or, to keep them: " + keep);
}

// The other programs that write PFC or ETS of the ports that have such a write. Empty: none.
std::string other_writers(const Machine& machine, const Node& node, const Changes& writes, const Output& output) {
  std::vector<std::string> netdevs;
  for (const Port& port : node.ports) {
    const auto is_dcb = [&](const Change& each) {
      return each.port == port.id() && (each.setting == SettingId::pfc || each.setting == SettingId::ets);
    };
    if (port.qos.dcbx == Dcbx::host && std::ranges::any_of(writes, is_dcb)) netdevs.push_back(port.netdev);
  }
  if (netdevs.empty()) return {};
  std::string out;
  for (const DcbDaemon& daemon : host::read_services(machine.kernel.root).dcb_daemons) {
    std::vector<std::string> written = netdevs;
    std::erase_if(written, [&](const std::string& netdev) { return daemon.is_disabled_at(netdev); });
    if (written.empty()) continue;
    out += "\n" +
           folded(daemon.text() + " runs and writes PFC and ETS of " + joined(written) +
                      " itself (DCBX of the host): it will overwrite these settings. Stop it before they are "
                      "written: systemctl disable --now " +
                      (daemon.unit.empty() ? daemon.comm : daemon.unit) + "; or remove pfc and ets from the policy.\n",
                  output.width);
  }
  return out;
}

}  // namespace

// After a write that flaps the link, some drivers keep the thresholds of a port without a link. qos::settle() corrects
// them once the carrier is back; the agent may not be running. All ports share one deadline: without a cable the
// carrier never comes.
bool settle_links(Kernel& kernel, const Node& node, const Changes& changes, qos::Unsettled& unsettled, Output& output,
                  const Policy* policy) {
  std::vector<const Port*> ports;  // that lost their carrier by a write, or may have
  for (const Port& port : node.ports) {
    // A step of a class of traffic is written, too, and reported as pending.
    const bool written = unsettled.contains(port) || std::ranges::any_of(changes, [&](const Change& change) {
                           return change.port == port.id() && was_written(change) && change.disruptive;
                         });
    if (written && port.carrier.value_or(false) && (unsettled.contains(port) || !qos::has_carrier(kernel, port)))
      ports.push_back(&port);
  }
  // A driver may report the loss of the carrier late.
  if (std::ranges::any_of(ports, [&](const Port* port) { return qos::has_carrier(kernel, *port); }))
    std::this_thread::sleep_for(qos::kMemberPause);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  bool all_settled = true;
  while (!ports.empty()) {
    std::erase_if(ports, [&](const Port* port) {
      if (!qos::has_carrier(kernel, *port)) return false;
      const PortPolicy* entry = policy != nullptr ? policy_for(*policy, *port) : nullptr;
      const auto settled = qos::settle(kernel, *port, entry != nullptr ? entry->want : Qos());
      if (settled) unsettled.remove(*port);
      else fail(output, kFailure, settled.error().text());
      all_settled = all_settled && settled;
      return true;
    });
    if (ports.empty() || std::chrono::steady_clock::now() >= deadline) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  for (const Port* port : ports) {
    std::string text = port->id() + ": no carrier 10 s after the write";
    const auto now = qos::read(kernel, *port, Keys());
    const PrioSet pfc = now ? now->values.pfc.value_or(PrioSet{}) : PrioSet{};
    if (pfc.bits != 0) {
      // The command with the effect of qos::settle().
      text += "; without a running agent, set PFC again once the link is up: dcb pfc set dev " + port->netdev +
              " prio-pfc all:off";
      for (int prio = 0; prio < kPriorities; ++prio)
        if (pfc.has(prio)) text += " " + std::to_string(prio) + ":on";
    }
    fail(output, kFailure, text);
  }
  return all_settled && ports.empty();
}

Pacing::Pacing(Machine& machine, const Node& node, const std::string& directory, Output& output)
    : unsettled(directory, [&output](const std::string& what) { fail(output, kFailure, what); }),
      turns(machine.kernel, unsettled) {
  turns.note_others(node.ports, std::chrono::steady_clock::now());
}

Result<void> must_be_host(const Options& options) {
  const auto root = Root::open(options.root);
  if (!root) return root.error();
  if (root->path() == options.host) return {};
  return error(0, options.root + " is a captured tree: it cannot be written");
}

Result<Writer> open_writer(const Options& options, Result<Machine> machine) {
  if (!machine) return machine.error();
  if (auto host = must_be_host(options); !host) return host.error();
  Fd lock;
  if (!options.dry_run) {
    auto taken = state::take_lock(options.root, kLockPatience);
    if (!taken) return taken.error();
    lock = std::move(taken).value();
  }
  if (auto formats = qos::check_formats(options.root); !formats) return error(0, formats.error().what);
  auto originals = state::load_originals(options.root);
  if (!originals && originals.error().code == EBADMSG)
    return error(0, originals.error().what +
                        "; nothing was written. Repair the file; or, if the original settings may be lost: "
                        "mv /" +
                        state::kOriginalsFile + " /root/");
  if (!originals) return originals.error();
  Writer writer{std::move(machine).value(), std::move(lock), std::move(originals).value(), {}};
  writer.node = scan_for_writing(writer.machine);
  if (auto known = check_ports(options, writer.node); !known) return known.error();
  return writer;
}

Result<void> refuse_against_other_config(const Machine& machine, std::chrono::milliseconds patience) {
  constexpr std::chrono::milliseconds kPause{100};
  if (!machine.policy) return {};
  const std::string own_digest = confirm::digest(wanted_config(*machine.policy));
  for (auto waited = kPause;; waited += kPause) {
    const auto agent = state::load_agent_state(machine.kernel.root);
    if (!agent || !*agent || !(*agent)->is_enforcing() || !(*agent)->held.empty()) return {};
    if ((*agent)->config.empty() || (*agent)->config == own_digest) return {};
    if (waited > patience) break;
    std::this_thread::sleep_for(kPause);
  }
  return error(
      0,
      "apply: fabric-agentd enforces another configuration and would undo this one; reload it (systemctl reload "
      "fabric-agent) or stop it first (systemctl stop fabric-agent)");
}

bool is_enforced(const Machine& machine) {
  const auto agent = state::load_agent_state(machine.kernel.root);
  return agent && *agent && (*agent)->is_enforcing();
}

int run_plan(const Options& options, Output& output) {
  auto machine = open_configured_machine(options);
  if (!machine) return failure(machine.error(), output);
  if (!machine->kernel.route)
    return failure(
        error(0, options.root + ": no settings of ports in this captured tree; fabric-agentctl capture records them"),
        output);
  Node node = scan_for_writing(*machine);
  if (auto known = check_ports(options, node); !known) return failure(known.error(), output);
  if (::geteuid() != 0)
    node.unseen.emplace_back("settings in debugfs and configfs (DCQCN, rdma_cm): readable by root only");
  Changes all, writes;
  for (const auto& [port, changes] : make_plan(*machine, node, options)) append(all, changes);
  std::ranges::copy_if(all, std::back_inserter(writes), is_write);
  if (options.json) {
    if (options.verbose) output.text += json_text(changes_json(all));
    else output.text += json_text(changes_json(writes));
  } else {
    if (const std::string diff = changes_text(all, node.ports, options.verbose, output); !diff.empty())
      output.text += diff + "\n";
    if (const std::string unmanaged = unmanaged_text(node, *machine->policy, output); !unmanaged.empty())
      output.text += unmanaged + "\n";
    std::string summary = "Nothing to write";
    if (!writes.empty()) summary = counted(writes.size(), "setting") + " to write";
    const auto disruptive = std::ranges::count_if(writes, &Change::disruptive);
    if (disruptive > 0) summary += ", " + std::to_string(disruptive) + " disruptive (stops traffic for a moment)";
    const auto held = std::ranges::count_if(
        writes, [](const Change& change) { return change.outcome == Outcome::pending && !change.detail.empty(); });
    if (held > 0) summary += ", " + std::to_string(held) + " pending for the reason given";
    output.text += folded(summary + ".\n", output.width);
    output.text += other_writers(*machine, node, writes, output);
    // On the netdev of the default route, a larger MTU or a restart of the link can cut off the machine and its
    // operator.
    std::vector<std::string> known, unknown;
    for (const Port& port : node.ports) {
      if (front_end_of(*machine)(port) || !contains(writes, port.id(), &Change::port)) continue;
      const DefaultRoute route = default_route_of(machine->kernel, port);
      if (route) (route.is_unknown ? unknown : known).push_back(port.netdev);
    }
    const std::string rule =
        ": disruptive writes are not made without an entry that names the port and has front_end = true.";
    if (!unknown.empty())
      output.text +=
          "\n" + folded("Whether the default route leaves by " + joined(unknown) + " is unknown" + rule, output.width) +
          "\n";
    if (!known.empty()) {
      std::string text = "The default route leaves by " + joined(known) + rule;
      if (options.root == options.host) text += " If that is the management network, leave it unmanaged:";
      output.text += "\n" + folded(text, output.width) + "\n";
      if (options.root == options.host)
        output.text += "  printf '[[port]]\\nname = \"management\"\\nmatch = { netdev = [" +
                       joined(known, ", ", toml_string) +
                       "] }\\n' | sudo install -D -m 644 /dev/stdin /etc/fabric-agent/conf.d/management.toml\n";
    }
    output.text += unseen_text(node, output);
    if (!writes.empty()) output.text += "\n" + next_step(*machine, node, writes, options, output);
  }
  if (contains(all, Outcome::refused, &Change::outcome)) return kFailure;
  if (!writes.empty()) return kChanges;
  return kDone;
}

int run_apply(const Options& options, Output& output) {
  auto machine = open_configured_machine(options);
  // With --confirm the agent suspends enforcement during the trial, and rereads its file on confirm.
  if (machine && machine->kernel.root.is_host() && !options.confirm)
    if (auto allowed = refuse_against_other_config(*machine, kLockPatience); !allowed)
      return failure(allowed.error(), output);
  auto writer = open_writer(options, std::move(machine));
  if (!writer) return failure(writer.error(), output);
  const Policy& policy = *writer->machine.policy;
  Pacing pacing(writer->machine, writer->node, options.root, output);
  auto ended = Trial::end_overdue(*writer, options, pacing, output);
  if (!ended) return failure(ended.error(), output);
  if (auto allowed = Trial::refuse(options); !allowed) return failure(allowed.error(), output);
  auto tested =
      qos::end_self_test(writer->machine.kernel, writer->node.ports, options.root,
                         qos::ask_kernel(writer->machine.kernel), pacing.turns, front_end_of(writer->machine));
  // A damaged record is no reason to leave the policy unapplied.
  if (!tested && tested.error().code == EBADMSG) {
    output.errors += tested.error().text() + "; a self-test was interrupted, and its settings from before are lost\n";
    tested = Changes{};
  }
  if (!tested) return failure(tested.error(), output);
  if (options.confirm && !std::ranges::all_of(*tested, qos::is_restored))
    return fail(output, kFailure,
                "apply --confirm: a self-test was interrupted, and the settings from before it, which an apply that is "
                "not confirmed would have to restore, wait for an idle port; apply without --confirm replaces them");
  auto trial = Trial::begin(options, policy, output);
  if (!trial) return failure(trial.error(), output);
  qos::Terms terms = apply_terms(writer->machine, writer->node, options);
  terms.original = [&writer](const Port& port) { return state::original_for(writer->originals, port); };
  Changes all = std::move(*ended);
  std::ranges::copy_if(*tested, std::back_inserter(all), was_written);
  bool is_kept = true;
  const auto apply = [&](const Port& port, const qos::Complete& complete) -> Changes {
    const PortPolicy* entry = policy_for(policy, port);
    if (entry == nullptr || !is_chosen(options, port)) return {};
    terms.front_end = entry->front_end;
    terms.derived = entry->derived;
    const qos::SaveOriginal save = [&](const Port& written, const Qos& before) {
      const std::string bond = qos::bond_above(writer->machine.kernel.root, written);
      auto remembered =
          trial->remember(written, before, confirm::keys_changed(written, entry->want, before), bond, entry->front_end);
      if (!remembered) return remembered;
      return state::save_original(options.root, writer->originals, written, before, bond);
    };
    Changes changes = qos::reconcile(writer->machine.kernel, port, entry->want, complete(terms), save).changes;
    Keys set;
    for (const Change& change : changes)
      if (is_done(change.outcome)) set.set(index(change.setting));
    if (auto kept = qos::keep_from_self_test(options.root, port, set); !kept) {
      fail(output, kChanges,
           kept.error().text() + "; the end of an interrupted self-test of " + port.id() + " may undo this apply");
      is_kept = false;
    }
    return changes;
  };
  append(all, qos::write_in_rounds(pacing.turns, writer->node.ports, apply, qos::sleep_for));
  // Settings from before an interrupted self-test that this apply does not set, and that are not back.
  for (const Change& left : *tested) {
    const auto is_same = [&](const Change& each) {
      return each.port == left.port && each.sysctl.empty() && each.setting == left.setting;
    };
    if (qos::is_restored(left) || std::ranges::any_of(all, is_same)) continue;
    all.push_back(left);
    all.back().detail = "from before an interrupted self-test: " + left.detail;
  }
  if (names_host(options)) {
    const qos::SaveSysctl save = [&](const std::string& name, const std::string& before) -> Result<void> {
      if (auto remembered = trial->remember(name, before); !remembered) return remembered;
      auto originals = qos::load_sysctl_originals(options.root);
      if (!originals) return originals.error();
      return qos::save_sysctl_original(options.root, *originals, name, before);
    };
    append(all, qos::reconcile_sysctl(writer->machine.kernel.root, policy.sysctl, save));
  }
  const bool is_settled = settle_links(writer->machine.kernel, writer->node, all, pacing.unsettled, output, &policy);
  const int code = print_changes(all, writer->node.ports, options, output, trial->await(output));
  return is_kept && is_settled ? code : std::max(code, kChanges);
}

int run_restore(const Options& options, Output& output) {
  auto machine = open_machine(options);
  if (!machine) return failure(machine.error(), output);
  if (!options.force && !options.dry_run && is_enforced(*machine))
    return fail(output, kFailure,
                "restore: fabric-agentd runs in enforce mode and would set the policy again; "
                "stop it first (systemctl stop fabric-agent), or use --force");
  auto writer = open_writer(options, std::move(machine));
  if (!writer) return failure(writer.error(), output);
  qos::SysctlValues sysctl_originals;
  if (names_host(options)) {  // read before any port is written: a failure must not leave half a restore
    auto loaded = qos::load_sysctl_originals(options.root);
    if (!loaded) return failure(loaded.error(), output);
    sysctl_originals = std::move(loaded).value();
  }
  qos::Terms terms = write_terms(writer->machine, options, qos::saved_settings(writer->node.ports, writer->originals));
  Pacing pacing(writer->machine, writer->node, options.root, output);
  Result<void> saved;
  Changes all;
  if (!options.dry_run) {
    auto ended = Trial::end_overdue(*writer, options, pacing, output);
    if (!ended) return failure(ended.error(), output);
    if (auto allowed = Trial::refuse(options); !allowed) return failure(allowed.error(), output);
    Kernel& kernel = writer->machine.kernel;
    auto tested = qos::end_self_test(kernel, writer->node.ports, options.root, qos::ask_kernel(kernel), pacing.turns,
                                     front_end_of(writer->machine));
    if (!tested) return failure(tested.error(), output);
    all = std::move(*ended);
    append(all, *tested);
  }
  const auto restore = [&](const Port& port, const qos::Complete& complete) -> Changes {
    if (!is_chosen(options, port) || !saved) return {};
    terms.front_end = front_end_of(writer->machine)(port);
    if (options.dry_run) return qos::plan_restore(writer->machine.kernel, port, writer->originals, terms);
    Changes changes = qos::restore(writer->machine.kernel, port, writer->originals, complete(terms)).changes;
    // Saved after each port: if the program is killed, the restored ports are recorded.
    if (!changes.empty()) saved = state::save_originals(options.root, writer->originals);
    return changes;
  };
  append(all, qos::write_in_rounds(pacing.turns, writer->node.ports, restore,
                                   options.dry_run ? qos::Sleep{} : qos::sleep_for));
  if (saved && options.ports.empty()) append(all, qos::restore_of_absent(writer->originals, writer->node.ports));
  if (saved && !sysctl_originals.empty()) {
    const Root& root = writer->machine.kernel.root;
    const Changes changes =
        options.dry_run ? qos::plan_sysctl(root, sysctl_originals) : qos::write_back_sysctl(root, sysctl_originals);
    append(all, changes);
    for (const Change& change : changes)
      if (change.outcome == Outcome::in_sync || change.outcome == Outcome::applied)
        sysctl_originals.erase(change.sysctl);
    if (!options.dry_run) saved = qos::save_sysctl_originals(options.root, sysctl_originals);
  }
  bool keeps_unknown = false;
  for (const auto& [key, original] : writer->originals)
    if (keys_of(original).none() && original.unknown.none() && !state::is_empty(original)) {
      fail(output, kChanges, key + ": settings that a newer release has saved are kept for it");
      keeps_unknown = true;
    }
  if (all.empty() && !options.json) {
    if (keeps_unknown) return kChanges;
    output.text += "Nothing to restore: no original settings are recorded.\n";
    return kDone;
  }
  const bool is_settled = settle_links(writer->machine.kernel, writer->node, all, pacing.unsettled, output);
  const int code = print_changes(all, writer->node.ports, options, output, saved);
  return keeps_unknown || !is_settled ? std::max(code, kChanges) : code;
}

}  // namespace fabric::ctl
