// SPDX-License-Identifier: Apache-2.0
#include "agentd/suspension.h"

#include "node/state.h"

namespace fabric::agentd {

static constexpr std::chrono::milliseconds kRetry{1'000};
// The deadline is a time of CLOCK_BOOTTIME, which goes on while the machine is suspended; the event loop's clock does
// not.
static constexpr std::chrono::milliseconds kLongestWait{60'000};

bool Suspension::refresh(const std::string& config) {
  if (environment_.read_only) return false;
  until_reload_.clear();
  auto record = confirm::load(environment_.directory);
  if (!record && !confirm::is_lost(record.error())) {
    is_unread_ = true;
    errors_.once(record.error().text() + "; nothing is enforced until this file can be read");
    const std::string before = std::exchange(reason_, "an apply may await confirmation: " + record.error().text());
    return reason_ != before;
  }
  if (!record) {
    errors_.once(record.error().text() + "; the pending apply is ignored");
    record = std::optional<confirm::Record>{};
  }
  const bool is_pending = *record && confirm::is_pending(**record);
  if (is_pending) state_ = State::awaiting;
  else if (state_ == State::awaiting) state_ = State::ended;
  const std::string before = std::exchange(reason_, {});
  if (is_pending && confirm::is_due(**record, confirm::this_moment(environment_.kernel.root))) {
    reason_ = "an apply was not confirmed by " + (*record)->until +
              ": its previous settings are restored when the ports are idle and present";
  } else if (is_pending) {
    reason_ = "an apply awaits confirmation until " + (*record)->until + ": fabric-agentctl confirm";
  } else if (*record && (*record)->policy == config) {
    until_reload_ = "reverted at " + (*record)->reverted + ": not confirmed";
    if (!(*record)->is_restored()) until_reload_ += ", and not restored: " + confirm::left_text(**record);
    reason_ = until_reload_ + kEnforceAnyway;
  } else if (state_ == State::ended && !*record) {
    reason_ = "an apply was confirmed";  // until watch() has had the configuration read again
  }
  return reason_ != before;
}

Suspension::NextSteps Suspension::watch(const std::string& config, const Ports& ports, qos::Turns& turns) {
  NextSteps next;
  const bool was_unread = std::exchange(is_unread_, false);
  next.changed = refresh(config);
  if (environment_.read_only) return next;
  // Passes in between may have found the record readable: the ports that they did not include are checked now.
  next.changed = next.changed || (was_unread && !is_unread_);
  if (removal_ != Removal::none && remove_reverted({})) {
    refresh(config);
    next.changed = true;
  }
  if (must_watch()) next.again = kRetry;
  if (is_unread_) return next;
  if (state_ == State::ended) {
    const auto record = confirm::load(environment_.directory);
    if (!record && !confirm::is_lost(record.error())) return again_unread(next);
    state_ = State::none;
    next.confirmed = record && !*record;
    next.changed = true;  // a pass of one port may have seen the end first
    refresh(config);
  }
  auto record = confirm::load(environment_.directory);
  if (!record && !confirm::is_lost(record.error())) return again_unread(next);
  if (state_ == State::none && record && !*record) return next;
  auto lock = state::take_lock(environment_.directory);
  record = confirm::load(environment_.directory);
  if (!record && !confirm::is_lost(record.error())) return again_unread(next);
  const bool is_pending = record && *record && confirm::is_pending(**record);
  const confirm::BootMoment now = confirm::this_moment(environment_.kernel.root);
  if (!lock || !record || !*record || !confirm::has_work(**record, now)) {
    if (state_ == State::awaiting || (!lock && record && *record)) next.again = kRetry;
    if (is_pending && confirm::is_of_this_boot(**record, now) && (*record)->deadline > now.milliseconds)
      next.again = std::min(kLongestWait, std::chrono::milliseconds((*record)->deadline - now.milliseconds));
    return next;
  }
  if (const auto pause = revert(**record, ports, turns, next)) next.again = pause;
  next.changed = refresh(config) || next.changed;
  return next;
}

Suspension::NextSteps Suspension::again_unread(NextSteps next) {
  is_unread_ = true;
  next.again = kRetry;
  return next;
}

void Suspension::end_reverted() {
  removal_ = Removal::none;
  if (environment_.read_only) return;
  const auto record = confirm::load(environment_.directory);
  if (!record && confirm::is_lost(record.error())) return;
  if (record && (!*record || confirm::is_pending(**record))) return;
  removal_ = Removal::any;
  if (record) {
    removal_ = Removal::named;
    removed_ = (*record)->id;
  }
  auto done = remove_reverted(kRetry);
  if (!done && record)  // an unreadable record is logged by refresh()
    environment_.log(
        {message_id::trouble, LOG_WARNING,
         done.error().text() +
             "; the configuration is not enforced until the record of the reverted apply is removed; trying again each "
             "second"});
}

Result<void> Suspension::remove_reverted(std::chrono::milliseconds patience) {
  auto lock = state::take_lock(environment_.directory, patience);
  if (!lock) return lock.error();
  const auto record = confirm::load(environment_.directory);
  if (!record) return record.error();
  const bool is_same =
      *record && !confirm::is_pending(**record) && (removal_ == Removal::any || removed_ == (*record)->id);
  if (is_same) {
    if (auto removed = confirm::remove(environment_.directory); !removed) return removed.error();
    if (!(*record)->is_restored())
      environment_.log(
          {message_id::reverted, LOG_WARNING,
           "the configuration is confirmed by the reload; not restored any more: " + confirm::left_text(**record)});
    reason_.clear();
    until_reload_.clear();
  }
  removal_ = Removal::none;
  return {};
}

std::optional<std::chrono::milliseconds> Suspension::revert(confirm::Record& record, const Ports& ports,
                                                            qos::Turns& turns, NextSteps& next) {
  const bool was_pending = confirm::is_pending(record);
  // Does not sleep while the link of a member of a bond restarts: the event loop goes on, and watch() is called again.
  const auto changes =
      confirm::lapse(environment_.directory, environment_.kernel, ports.present(record), record,
                     {.in_use = environment_.in_use, .turns = turns, .sleep = {}, .front_end = ports.front_end});
  if (!changes) {
    errors_.once(changes.error().text());
    return kRetry;  // the file still has settings that `record` lacks
  }
  const auto written = std::ranges::count_if(*changes, was_written);
  for (const Change& change : *changes)
    if (was_written(change) && change.sysctl.empty()) next.written.insert(change.port);
  const std::string count = counted(static_cast<size_t>(written), "setting") + " written";
  const std::string left = confirm::left_text(record);
  if (confirm::is_pending(record)) {
    if (written != 0 || errors_.is_empty())
      errors_.once(
          "an apply was not confirmed in time; to be restored by a process with the privilege, or when the "
          "port is idle or present: " +
          left);
  } else if (was_pending) {
    for (const Change& change : *changes)
      if (!is_done(change.outcome))
        environment_.log(
            {message_id::not_set,
             LOG_ERR,
             change.port + ": " + change.key() + " could not be restored to " + change.to + ": " + change.detail,
             {{"FABRIC_PORT", change.port}, {"FABRIC_SETTING", change.key()}}});
    std::string what = "an apply was not confirmed in time; the previous settings are restored (" + count + ")";
    if (!left.empty()) what += ", except " + left + ", which are tried again";
    environment_.log({message_id::reverted, LOG_WARNING, what});
  } else if (written != 0) {
    environment_.log({message_id::reverted, LOG_NOTICE,
                      "restored after all from an apply that was not confirmed: " + count +
                          (left.empty() ? "" : "; left: " + left)});
  }
  // An apply that awaits confirmation must end in time. After it was reverted, its remaining settings may take longer.
  using confirm::RetryPause;
  const auto pause = pause_.after(*changes, confirm::is_pending(record) ? RetryPause::kMinute : RetryPause::kHour);
  if (confirm::is_pending(record) || !record.is_restored()) return pause;
  return std::nullopt;
}

}  // namespace fabric::agentd
