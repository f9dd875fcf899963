// SPDX-License-Identifier: Apache-2.0
#include "agentd/originals.h"

#include "base/json.h"
#include "enforce/confirm.h"
#include "enforce/formats.h"
#include "enforce/selftest.h"
#include "enforce/sysctl.h"
#include "node/state.h"

namespace fabric::agentd {

// The key in left_ for a record that cannot be read or saved.
constexpr const char* kOfRecord = "";

void OriginalsStore::check() {
  if (environment_.read_only) return;
  const auto originals = state::load_originals(environment_.directory);
  const auto root = Root::open(environment_.directory);
  const std::string aside = std::string(state::kOriginalsFile) + ".corrupt";
  const auto sysctl = qos::load_sysctl_originals(environment_.directory);
  const auto tested = state::load_originals(environment_.directory, state::kSelfTestFile);
  lost_.reset();
  const auto note = [this](const std::string& file, const Error& why) {
    lost_ = {why.text(), "/" + file, why.code == kNewerFormat};
  };
  if (!originals) note(state::kOriginalsFile, originals.error());
  else if (!sysctl) note(qos::kSysctlOriginalsFile, sysctl.error());
  else if (!tested && tested.error().code == kNewerFormat) note(state::kSelfTestFile, tested.error());
  else if (root && root->exists(aside)) note(aside, error(0, "/" + aside + ": it could not be read, and was replaced"));
}

Result<void> OriginalsStore::save(const Port& port, const Qos& before) {
  if (auto formats = qos::check_formats(environment_.directory); !formats) return formats;
  auto originals = state::load_originals(environment_.directory);
  if (!originals && originals.error().code == EBADMSG) {
    auto aside = state::set_originals_aside(environment_.directory);
    if (!aside) return aside.error();
    errors_.once(originals.error().text() + "; renamed to " + *aside + "; the current settings are saved as originals");
    originals = state::Originals{};
    check();
  }
  if (!originals) return originals.error();
  if (!state::original_for(*originals, port))
    for (const auto& [card, other] : *originals)
      if (other.place == state::port_place(port) || card.starts_with(state::port_place(port)))
        environment_.log(port_entry(port.id(), LOG_NOTICE,
                                    "this card replaces " + card + "; the original settings of both are kept"));
  return state::save_original(environment_.directory, *originals, port, before,
                              qos::bond_above(environment_.kernel.root, port));
}

Result<void> OriginalsStore::save_sysctl(const std::string& name, const std::string& before) {
  if (auto formats = qos::check_formats(environment_.directory); !formats) return formats;
  auto originals = qos::load_sysctl_originals(environment_.directory);
  if (!originals) return originals.error();
  return qos::save_sysctl_original(environment_.directory, *originals, name, before);
}

bool OriginalsStore::end_self_test(const Port& port, qos::Turns& turns, bool front_end, qos::Instant now) {
  if (environment_.read_only || port.netdev.empty()) return false;
  const auto root = Root::open(environment_.directory);
  if (!root) return false;
  left_.erase(kOfRecord);
  if (!root->exists(state::kSelfTestFile)) {
    if (left_.erase(port.id()) != 0) refusals_.restart(port.id());
    return false;
  }
  const auto lock = state::take_lock(environment_.directory);
  if (!lock) return false;  // the self-test is still running
  if (const auto trial = confirm::load(environment_.directory); !trial && !confirm::is_lost(trial.error()))
    return false;
  if (const auto formats = qos::check_formats(environment_.directory); !formats) {
    errors_.once(formats.error().text());
    return false;
  }
  const qos::SelfTestRetries retries{refusals_, now};
  const auto ended = qos::end_self_test(
      environment_.kernel, {&port, 1}, environment_.directory, environment_.in_use, turns,
      [front_end](const Port&) { return front_end; }, &retries);
  if (!ended) {
    errors_.once(ended.error().text());
    left_[kOfRecord] = ended.error().text();
    return false;
  }
  left_.erase(port.id());
  if (ended->empty()) return false;
  std::string left, why;
  for (const Change& change : *ended) {
    if (qos::is_restored(change)) continue;
    append_item(left, port.id() + " " + change.key(), ", ");
    if (change.outcome == Outcome::refused || change.outcome == Outcome::ignored)
      append_item(why, change.key() + ": " + change.detail, "; ");
  }
  if (left.empty()) {
    environment_.log(
        port_entry(port.id(), LOG_WARNING, "a self-test was interrupted; the settings from before it are restored"));
  } else {
    if (!why.empty()) why = " (" + why + ")";
    errors_.once(
        "a self-test was interrupted; its settings from before are restored when the port is idle and the "
        "driver accepts them. Left: " +
        left + why);
    left_[port.id()] = std::move(left);
  }
  return std::ranges::any_of(*ended, was_written);
}

std::string OriginalsStore::left_of_self_tests() const {
  std::string out;
  for (const auto& [id, left] : left_) append_item(out, left, ", ");
  return out;
}

}  // namespace fabric::agentd
