// SPDX-License-Identifier: Apache-2.0
#include "agentd/suspension.h"

#include "node/state.h"

namespace fabric::agentd {

static constexpr std::chrono::milliseconds kRetry{1'000};

bool Suspension::refresh(const std::string& config) {
  if (environment_.read_only) return false;
  auto record = confirm::load(environment_.directory);
  if (!record) {
    errors_.once(record.error().text() + "; the pending apply is ignored");
    record = std::optional<confirm::Record>{};
  }
  const bool is_pending = *record && confirm::is_pending(**record);
  if (is_pending) state_ = State::awaiting;
  else if (state_ == State::awaiting) state_ = State::ended;
  const std::string before = std::exchange(reason_, {});
  if (is_pending && confirm::is_due(**record, confirm::this_moment(environment_.kernel.root)))
    reason_ = "an apply was not confirmed by " + (*record)->until +
              ": its previous settings are restored when the ports are idle and present";
  else if (is_pending) reason_ = "an apply awaits confirmation until " + (*record)->until + ": fabric-agentctl confirm";
  else if (*record && (*record)->policy == config)
    reason_ =
        "reverted at " + (*record)->reverted + ": not confirmed; to enforce it anyway: systemctl reload fabric-agent";
  else if (state_ == State::ended && !*record)
    reason_ = "an apply was confirmed";  // until watch() has had the configuration read again
  return reason_ != before;
}

Suspension::Watch Suspension::watch(const std::string& config, std::vector<Port> present) {
  Watch watch;
  watch.changed = refresh(config);
  if (state_ == State::none) return watch;
  if (state_ == State::ended) {
    state_ = State::none;
    const auto record = confirm::load(environment_.directory);
    watch.confirmed = record && !*record;
    refresh(config);
    return watch;
  }
  auto lock = state::take_lock(environment_.directory);
  auto record = confirm::load(environment_.directory);
  const confirm::BootMoment now = confirm::this_moment(environment_.kernel.root);
  if (!lock || !record || !*record || !confirm::is_due(**record, now)) {
    watch.again = kRetry;
    if (record && *record && (*record)->boot_id == now.boot_id && (*record)->deadline > now.milliseconds)
      watch.again = std::chrono::milliseconds((*record)->deadline - now.milliseconds);
    return watch;
  }
  revert(**record, present);
  if (confirm::is_pending(**record)) watch.again = kRetry;
  watch.changed = refresh(config) || watch.changed;
  return watch;
}

void Suspension::drop_reverted() {
  if (environment_.read_only) return;
  auto lock = state::take_lock(environment_.directory, kRetry);
  const auto record = confirm::load(environment_.directory);
  if (!lock || !record || !*record || confirm::is_pending(**record)) return;
  if (auto removed = confirm::remove(environment_.directory); !removed) return errors_.once(removed.error().text());
  reason_.clear();
}

void Suspension::revert(confirm::Record& record, std::vector<Port>& present) {
  const auto changes =
      confirm::lapse(environment_.directory, environment_.kernel, present, record, environment_.in_use);
  if (!changes) return errors_.once(changes.error().text());
  for (const Change& change : *changes)
    if (change.outcome == Outcome::refused || change.outcome == Outcome::ignored)
      environment_.log(
          {message_id::not_set,
           LOG_ERR,
           change.port + ": " + change.key() + " could not be restored to " + change.to + ": " + change.detail,
           {{"FABRIC_PORT", change.port}, {"FABRIC_SETTING", change.key()}}});
  const auto written = std::ranges::count_if(*changes, was_written);
  if (!confirm::is_pending(record))
    return environment_.log({message_id::reverted, LOG_WARNING,
                             "an apply was not confirmed in time; the previous settings are restored (" +
                                 std::to_string(written) + " settings written)"});
  if (written != 0 || errors_.is_empty())
    errors_.once("an apply was not confirmed in time; " + std::to_string(record.before.size()) +
                 " ports will be restored when they are idle or present");
}

}  // namespace fabric::agentd
