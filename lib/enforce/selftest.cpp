// SPDX-License-Identifier: Apache-2.0
#include "enforce/selftest.h"

#include <algorithm>
#include <iterator>
#include <thread>

#include "base/files.h"
#include "base/find.h"
#include "enforce/restore.h"
#include "enforce/traffic.h"
#include "kernel/netlink/dcbnl.h"
#include "kernel/netlink/ethtool_ioctl.h"
#include "kernel/netlink/rtnl.h"
#include "node/netdev_use.h"
#include "node/state.h"

namespace fabric::qos {
namespace {

using Clock = std::chrono::steady_clock;

// Files that show a setting as well as the interface that writes it; qos/ is from NVIDIA's OFED driver
// (mlx5/core/en_sysfs.c).
struct SettingFile {
  SettingId setting;
  std::string_view file;  // below sys/class/net/NETDEV
};
constexpr SettingFile kSettingFiles[]{
    {SettingId::mtu, "mtu"},
    {SettingId::prio2buffer, "qos/prio2buffer"},
    {SettingId::buffer_size, "qos/buffer_size"},
    {SettingId::maxrate, "qos/maxrate"},
};

// The value from a second interface or a file; empty: there is neither.
std::string read_second(Kernel& kernel, const std::string& netdev, const Driver& driver, SettingId setting) {
  const Root& root = kernel.root;
  // mlx4_en_dcbnl_get_pfc_cfg() returns the PFC of the last CEE write; an IEEE write does not change it.
  if (setting == SettingId::pfc && &driver != &kMlx4)
    if (const auto pfc = dcbnl::cee_pfc(*kernel.route, netdev)) return to_text(*pfc);
  if (setting == SettingId::pause && root.is_host())
    if (const auto pause = ethtool::ioctl_pause(netdev)) return to_text(*pause);
  for (const SettingFile& each : kSettingFiles)
    if (each.setting == setting) return root.line_of("sys/class/net/" + netdev + "/" + std::string(each.file));
  return {};
}

// Waits for the netdev's carrier if it had one; false if the carrier did not return within `patience`.
bool await_carrier(Kernel& kernel, const Port& port, bool had_carrier, std::chrono::milliseconds patience) {
  const auto deadline = Clock::now() + patience;
  for (; had_carrier; std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
    const auto link = rtnl::link(*kernel.route, port.netdev);
    if (link && link->carrier.value_or(false)) return true;
    if (Clock::now() >= deadline) return false;
  }
  return true;
}

SelfTestStep refused(SelfTestStep step, const Error& error) {
  step.outcome = Outcome::refused;
  step.code = error.code;
  step.detail = error.text();
  return step;
}

// Writes one setting of `want`, waits for the carrier, and compares what reads back.
SelfTestStep test_setting(Kernel& kernel, const Port& port, const Driver& driver, SettingId id, const Qos& want,
                          std::chrono::milliseconds patience) {
  const Setting& setting = setting_of(id);
  const Op& op = op_of(driver, id);
  const Keys keys = keys_of(want);
  SelfTestStep step;
  step.setting = id;
  step.to = value_text(setting, want);
  const auto have = read(kernel, port, keys);
  if (!have) return refused(std::move(step), have.error());
  step.disruptive = is_disruptive(op, id, have->notes);
  step.from = value_text(setting, have->values);
  step.detail = why_not(driver, setting, want, *have, port.netdev);
  if (!step.detail.empty()) return step;

  const auto before = rtnl::link(*kernel.route, port.netdev);
  const auto start = Clock::now();
  const auto written = write_setting(op, port_io(kernel, port), setting, want, *have);
  step.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  step.link_back = await_carrier(kernel, port, before && before->carrier.value_or(false), patience);
  const auto after = rtnl::link(*kernel.route, port.netdev);
  if (before && after)
    step.carrier_downs = after->carrier_down_count.value_or(0) - before->carrier_down_count.value_or(0);
  if (!written) return refused(std::move(step), written.error());

  const auto now = read(kernel, port, keys);
  if (!now) return refused(std::move(step), now.error());
  step.read_back = value_text(setting, now->values);
  step.second = read_second(kernel, port.netdev, driver, id);
  if (!same_value(setting, want, now->values)) {
    step.outcome = Outcome::ignored;
  } else if (const auto* doubt = find_in(now->notes.unverified, id)) {
    step.outcome = Outcome::unverified;
    step.detail = *doubt;
  } else {
    step.outcome = Outcome::applied;
  }
  return step;
}

constexpr SettingId kProtections[]{SettingId::pfc, SettingId::pause};

// Global pause or PFC, whichever was on before the test; nullopt: neither, or this driver cannot write it.
std::optional<SettingId> protection_of(const Driver& driver, const Qos& before) {
  for (const SettingId id : kProtections)
    if (is_protection_on(id, before) && op_of(driver, id).write != nullptr) return id;
  return std::nullopt;
}

// Global pause and PFC replace each other, and drivers refuse one beside the other. If the test has ended one of them
// and the other one does not come, RoCE has neither: the first one returns at once, also on a port that a job has begun
// to use. A write that fails is repeated: firmware that restarts the link may be busy. Calls `note` before each write.
// True if it was written; an Error if RoCE still has neither, with code 0 if the driver accepts the write without
// effect.
Result<bool> return_protection(Kernel& kernel, const Port& port, const Driver& driver, const Qos& before,
                               std::chrono::milliseconds patience,
                               const std::function<void(SettingId, bool disruptive)>& note = {}) {
  constexpr int kTries = 3;
  constexpr std::chrono::milliseconds kPause{100};
  const auto lost = protection_of(driver, before);
  if (!lost) return false;
  const Setting& setting = setting_of(*lost);
  const Op& op = op_of(driver, *lost);
  Result<void> written;
  for (int tries = 0;; ++tries) {
    if (tries > 1) std::this_thread::sleep_for(kPause);
    const auto have = read(kernel, port, Keys().set(index(SettingId::pfc)).set(index(SettingId::pause)));
    if (have && std::ranges::any_of(kProtections, [&](SettingId id) { return is_protection_on(id, have->values); }))
      return tries != 0;
    if (!have) written = have.error();
    if (tries == kTries || (!have && have.error().code == ENODEV)) break;
    if (!have) continue;
    Qos value = have->values;
    copy_value(setting, before, value);
    const auto link = rtnl::link(*kernel.route, port.netdev);
    if (note) note(*lost, is_disruptive(op, *lost, have->notes));
    written = write_setting(op, port_io(kernel, port), setting, value, *have);
    (void)await_carrier(kernel, port, link && link->carrier.value_or(false), patience);
  }
  const std::string what = "RoCE has neither global pause nor PFC: " + std::string(setting.key) + " cannot be set to " +
                           value_text(setting, before) + " again";
  if (written) return error(0, what + ": the driver accepts it and shows another value");
  return error(written.error().code, what + ": " + written.error().what);
}

// Whether the write may take the link of the machine's default route, which a port that a job uses may have, too.
bool endangers_route(Kernel& kernel, const Port& port, const Op& op, const Use& use) {
  return use.is_front_end() || (op.disruptive && (use.has_default_route || default_route_of(kernel, port)));
}

// The settings wait for the end of a job, and the job must not run without the protection that it had before the test.
// True if RoCE has it, or the port had none.
bool give_back_protection(Kernel& kernel, const Port& port, const Qos& before, const WriteTerms& terms,
                          Changes& changes) {
  const Driver& driver = driver_for(port.kernel_driver, &kernel.root, port.netdev);
  const auto lost = protection_of(driver, before);
  if (!lost) return true;
  if (!terms.terms().front_end && endangers_route(kernel, port, op_of(driver, *lost), terms.terms().in_use(port)))
    return false;
  const auto& is_held = terms.terms().in_conflict;
  if (is_held && is_held(*lost)) return false;
  const auto back = return_protection(kernel, port, driver, before, {},
                                      [&](SettingId id, bool disruptive) { terms.note_write(port, id, disruptive); });
  Change* change = find_where(changes, [&](const Change& each) { return each.setting == *lost; });
  if (change != nullptr && (!back || *back)) {
    change->outcome = Outcome::applied;
    change->code = 0;
    change->detail.clear();
    if (!back) {
      change->outcome = back.error().code == 0 ? Outcome::ignored : Outcome::refused;
      change->code = back.error().code;
      change->detail = back.error().what;
    }
    change->is_unprotected = change->outcome == Outcome::refused;
    change->wait.reset();
    change->waits_for.reset();
  }
  return back.ok();
}

Result<void> save_record(const std::string& directory, const state::Originals& record) {
  if (!record.empty()) return state::save_originals(directory, record, state::kSelfTestFile);
  return remove_file(directory, state::kSelfTestFile);
}

}  // namespace

bool is_restored(const Change& change) { return is_done(change.outcome) || change.outcome == Outcome::unsupported; }

bool SelfTest::is_restored() const { return std::ranges::all_of(restored, qos::is_restored); }

std::string why_no_self_test(Kernel& kernel, const Port& port, bool route_allowed) {
  if (port.netdev.empty() || !kernel.route) return port.id() + " has no netdev";
  if (const std::string why = why_unmanageable(port); !why.empty())
    return port.id() + " cannot be managed here: " + why;
  if (is_audit_only(port)) return port.id() + " is owned by its DPU, which sets it";
  if (!port.bond.empty() || kernel.root.exists("sys/class/net/" + port.netdev + "/bonding"))
    return port.id() + " is a bond, or a member of one";
  Use use = ask_kernel(kernel)(port);
  if (!use.is_front_end()) return std::move(use.why);
  if (route_allowed) return {};
  return use.why + "; --force tests it anyway";
}

Result<SelfTest> self_test(Kernel& kernel, const Port& port, const Qos& want, const SelfTestOptions& options) {
  const Driver& driver = driver_for(port.kernel_driver, &kernel.root, port.netdev);
  const auto before = read(kernel, port, keys_of(expected_of(driver, want, {})));
  if (!before) return before.error();
  Qos wanted = expected_of(driver, want, *before);
  SelfTest out;
  if (wanted.fec && before->values.fec == kUnknownFec) {
    SelfTestStep& step = out.steps.emplace_back();
    step.setting = SettingId::fec;
    step.to = value_text(setting_of(SettingId::fec), wanted);
    step.detail = "not tested: without a link its mode is unknown, and could not be restored";
    wanted.fec.reset();
  }
  auto record = state::load_originals(options.directory, state::kSelfTestFile);
  if (!record) return record.error();
  // If an earlier test of the port was killed, the record has the settings from before that test.
  const bool is_second = state::find_original(*record, port) != record->end();
  state::Original& entry = state::original_of(*record, port);
  // An earlier test may have ended in part. A setting that its record does not have any more keeps its present value.
  for (const Setting& setting : kSettings)
    if (!has_value(setting, entry)) copy_value(setting, before->values, entry);
  if (entry.fec == kUnknownFec) entry.fec.reset();
  entry.front_end = options.route_allowed || (is_second && entry.front_end);
  entry.may_lack_pause_and_pfc = true;
  if (auto saved = save_record(options.directory, *record); !saved) return saved.error();
  // A class of traffic moves as a whole here, too: a job may start between two writes. So a setting waits for those
  // that protect the traffic which it moves, and one that would release the old priority is written as a step.
  TrafficGuard guard(driver, want, keys_of(wanted) & own_keys(port), [&] { return may_have_tags(kernel, port); });
  std::vector<SettingId> left;
  std::ranges::copy_if(driver.order, std::back_inserter(left),
                       [&](SettingId id) { return has_value(setting_of(id), wanted); });
  // PFC comes as soon as possible after the global pause that it replaces, because the program may be killed between
  // the two: the rest of the class is written before both, except the buffers, which depend on pause.
  if (is_protection_on(SettingId::pause, before->values) && is_protection_on(SettingId::pfc, wanted)) {
    constexpr SettingId kAfterPause[]{SettingId::prio2buffer, SettingId::buffer_size, SettingId::pfc};
    const auto pause = std::ranges::find(left, SettingId::pause), next = std::ranges::find_first_of(left, kAfterPause);
    if (pause < next) std::rotate(pause, pause + 1, next);
  }
  const auto protection = protection_of(driver, before->values);
  bool may_write = true;  // not if the port has got the default route
  for (bool tested = true; tested && out.stopped.empty();) {
    tested = false;
    for (auto id = left.begin(); id != left.end();) {
      if (const Use use = options.in_use(port); use && !(options.route_allowed && use.is_front_end())) {
        out.stopped = "the port has come into use: " + use.why;
        may_write =
            options.route_allowed || !protection || !endangers_route(kernel, port, op_of(driver, *protection), use);
        break;
      }
      const auto have = read(kernel, port, keys_of(wanted));
      if (!have) {
        out.stopped = have.error().text();
        break;
      }
      guard.update(*have, wanted, port.netdev);
      const auto value = guard.next_value(*id);
      if (!value) {
        ++id;
        continue;
      }
      out.steps.push_back(test_setting(kernel, port, driver, *id, *value, options.patience));
      const bool was_pfc = *id == SettingId::pfc;
      id = left.erase(id);
      tested = true;
      if (!was_pfc || contains(left, SettingId::pause)) continue;
      if (auto back = return_protection(kernel, port, driver, before->values, options.patience); !back) {
        out.stopped = back.error().text();
        break;
      }
    }
  }
  if (may_write)  // an error is reported by end_self_test(), which tries again
    (void)return_protection(kernel, port, driver, before->values, options.patience);
  if (out.stopped.empty())
    for (const SettingId id : left) {
      SelfTestStep& step = out.steps.emplace_back();
      step.setting = id;
      step.to = value_text(setting_of(id), wanted);
      step.detail = "not tested: the write alone would leave RoCE's traffic with less protection";
    }
  const bool had_carrier = port.carrier.value_or(false);
  auto ended = end_self_test(kernel, {&port, 1}, options.directory, options.in_use, options.turns);
  if (!ended) return ended.error();
  out.restored = std::move(*ended);
  (void)await_carrier(kernel, port, had_carrier, options.patience);
  out.settled = settle(kernel, port);
  return out;
}

Result<Changes> end_self_test(Kernel& kernel, std::span<const Port> ports, const std::string& directory,
                              const UseCheck& in_use, Turns& turns, const std::function<bool(const Port&)>& front_end,
                              const SelfTestRetries* retries) {
  auto record = state::load_originals(directory, state::kSelfTestFile);
  if (!record) return record.error();
  Changes all;
  const std::string text = state::originals_text(*record);
  for (const Port& port : ports) {
    const auto original = state::original_for(*record, port);
    if (!original) continue;
    // The test did not wait for the maintenance window, so its end does not, either.
    Terms terms{.in_use = in_use,
                .wanted_of = WantedOf::same_policy(),
                .window = Maintenance::open,
                .front_end = original->front_end || (front_end && front_end(port))};
    if (retries != nullptr)
      terms.in_conflict = [&](SettingId id) {
        return retries->failures.is_held(port.id(), key_text(id), retries->now);
      };
    const WriteTerms turn = turns.terms_for(port, terms, Clock::now());
    Changes changes = restore(kernel, port, *record, turn).changes;
    // The next pass must not restore a setting again that the policy has set since.
    const bool is_over = std::ranges::all_of(changes, is_restored);
    if (!is_over && original->may_lack_pause_and_pfc) {
      const bool is_back = give_back_protection(kernel, port, *original, turn, changes);
      if (const auto entry = state::find_original(*record, port); entry != record->end())
        entry->second.may_lack_pause_and_pfc = !is_back;
    }
    if (retries != nullptr)
      for (const Change& change : changes)
        if (change.code != ENODEV && !change.is_lost) retries->failures.observe(change, retries->now, false);
    all.insert(all.end(), changes.begin(), changes.end());
    state::forget(*record, port, is_over ? own_keys(port) : safely_back(kernel, port, changes, is_restored));
  }
  // A file without news would be noticed by agentd, which would come back at once.
  if (state::originals_text(*record) != text)
    if (auto saved = save_record(directory, *record); !saved) return saved.error();
  return all;
}

Result<std::vector<OpenSelfTest>> open_self_tests(const Root& root, const std::vector<Port>& ports) {
  const auto record = state::load_originals(root, state::kSelfTestFile);
  if (!record) return record.error();
  std::vector<OpenSelfTest> out;
  for (const auto& entry : *record) {
    OpenSelfTest& test = out.emplace_back();
    const Port* port = find_where(ports, [&](const Port& each) { return state::is_entry_of(entry, each); });
    test.absent = port == nullptr;
    test.port = test.absent ? entry.first : port->id();
    if (test.absent) continue;
    for (const Setting& setting : kSettings)
      if (has_value(setting, entry.second) && has_value(setting, port->qos) &&
          !same_value(setting, entry.second, port->qos))
        test.differing.set(index(setting.id));
  }
  return out;
}

std::optional<bool> is_writing(const Root& root) {
  if (root.is_locked(state::kLockFile)) return true;
  const auto lock = root.read(state::kLockFile);
  if (!lock && lock.error().code == EACCES) return std::nullopt;
  return false;
}

std::string text_of(const OpenSelfTest& test, std::optional<bool> is_running) {
  if (test.absent)
    return "a self-test of " + test.port + " has not ended; the port is absent or excluded, and its settings are kept";
  std::string text = "a self-test of " + test.port, keys;
  if (!is_running) text += " is running or was interrupted (root sees which)";
  else text += *is_running ? " is running" : " was interrupted";
  for (const Setting& setting : kSettings)
    if (has_key(test.differing, setting.id)) append_item(keys, setting.key, ", ");
  if (keys.empty()) return text + "; its end is not recorded yet";
  return text + "; not as before it: " + keys;
}

Result<void> start_self_test_guard(const std::string& directory, const Port& port, const std::function<void()>& detach,
                                   const confirm::GuardAct& act) {
  return confirm::start_detached("the guard of the self-test", detach, [&] {
    bool has_ended = false;  // the starter, which holds the lock
    auto next = Clock::now();
    for (;; std::this_thread::sleep_for(std::chrono::seconds(1))) {
      if (const auto root = Root::open(directory); !root && root.error().code == ENOENT) return;  // a deleted tree
      has_ended = has_ended || state::take_lock(directory).ok();
      if (!has_ended) continue;
      const auto record = state::load_originals(directory, state::kSelfTestFile);
      if (!record) continue;  // the operator may still repair it
      if (!state::original_for(*record, port)) return;
      if (Clock::now() >= next) next = Clock::now() + act();
    }
  });
}

Result<void> keep_from_self_test(const std::string& directory, const Port& port, const Keys& keys) {
  auto record = state::load_originals(directory, state::kSelfTestFile);
  if (!record && record.error().code == EBADMSG) return {};  // no program can end that test
  if (!record) return record.error();
  if (state::find_original(*record, port) == record->end()) return {};
  state::forget(*record, port, keys);
  return save_record(directory, *record);
}

}  // namespace fabric::qos
