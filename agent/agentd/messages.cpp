// SPDX-License-Identifier: Apache-2.0
#include "agentd/messages.h"

#include <sys/uio.h>
#include <systemd/sd-journal.h>

#include <cstdio>
#include <cstdlib>

namespace fabric::agentd {
namespace {

using qos::Drift;

// The text for a setting's outcome.
JournalEntry outcome_entry(const Change& change) {
  const std::string subject = change.port + ": " + change.key() + " ";
  const std::string is = subject + "is " + change.from + ", want " + change.to;
  const std::string set = subject + "set: " + change.from + " -> " + change.to;
  std::string detail;
  if (!change.detail.empty()) detail = " (" + change.detail + ")";
  switch (change.outcome) {
    case Outcome::applied: return {message_id::applied, LOG_NOTICE, set};
    case Outcome::unverified:
      if (was_written(change)) return {message_id::applied, LOG_NOTICE, set + ", unverified" + detail};
      return {message_id::in_sync, LOG_INFO, subject + "is set to " + change.to + ", unverified" + detail};
    case Outcome::differs: return {message_id::differs, LOG_WARNING, is + "; audit mode, not written"};
    case Outcome::pending: return {message_id::pending, LOG_NOTICE, is + "; waits" + detail};
    case Outcome::refused:
      // Without a reading it is unknown whether reading or writing failed.
      if (!was_read(change))
        return {message_id::not_set, LOG_ERR,
                subject + "cannot be read or set (" + errno_name(change.code) + "), want " + change.to +
                    "; will be retried" + detail};
      return {message_id::not_set, LOG_ERR,
              is + "; rejected by the driver (" + errno_name(change.code) + "), will be retried" + detail};
    case Outcome::ignored:
      return {message_id::not_set, LOG_ERR, is + "; accepted by the driver without effect, will be retried" + detail};
    case Outcome::unsaved: return {message_id::not_set, LOG_ERR, is + "; not written, will be retried" + detail};
    case Outcome::unsupported: {
      std::string where = "port";
      if (!change.sysctl.empty()) where = kHostSubject;
      return {message_id::not_set, LOG_WARNING, subject + "cannot be set on this " + where + detail};
    }
    case Outcome::in_sync:
    case Outcome::conflict: break;
  }
  return {message_id::in_sync, LOG_INFO, subject + "is in sync: " + change.to};
}

// True if the outcome of the last pass has been logged already and this one is the same. A changed value alone counts
// only if it is the reason for the message.
bool is_known(const Change& change, const Change* before) {
  if (was_written(change)) return false;
  if (change.outcome == Outcome::conflict) return true;
  if (before == nullptr) return change.outcome == Outcome::in_sync;
  if (change.outcome == Outcome::in_sync && before->outcome == Outcome::applied) return true;
  const bool value_matters = change.outcome == Outcome::differs || change.outcome == Outcome::pending;
  return change.outcome == before->outcome && change.to == before->to && change.code == before->code &&
         (!value_matters || change.from == before->from);
}

// Logs the entry without a limit.
void send(const JournalEntry& entry) {
  static const bool to_journal = std::getenv("JOURNAL_STREAM") != nullptr;
  if (!to_journal) {
    std::fprintf(stderr, "%s\n", entry.message.c_str());
    return;
  }
  std::vector<std::string> lines{"MESSAGE=" + entry.message, "PRIORITY=" + std::to_string(entry.priority),
                                 "MESSAGE_ID=" + std::string(entry.id), "SYSLOG_IDENTIFIER=fabric-agentd"};
  for (const auto& [name, value] : entry.fields) lines.push_back(name + "=" + value);
  std::vector<iovec> parts;
  for (std::string& line : lines) parts.push_back({line.data(), line.size()});
  if (sd_journal_sendv(parts.data(), static_cast<int>(parts.size())) < 0)
    std::fprintf(stderr, "%s\n", entry.message.c_str());
}

// The limit of this process.
JournalLimit& journal_limit() {
  static JournalLimit limit{send};
  return limit;
}

}  // namespace

std::optional<JournalEntry> message_for(const Change& change, const Change* before, Drift::Transition transition,
                                        const std::optional<qos::Suspect>& suspect) {
  const std::string subject = change.port + ": " + change.key();
  std::string writer(qos::kUnknownWriter);
  if (suspect) writer = suspect->by;
  JournalEntry entry;
  switch (transition) {
    case Drift::Transition::conflict:
      entry = {message_id::conflict, LOG_ERR,
               subject + " restored to " + change.to + ", repeatedly changed back by " + writer +
                   "; conflict, not written while it is changed. Stop that writer"};
      break;
    case Drift::Transition::repaired:
      entry = {message_id::repaired, LOG_NOTICE,
               subject + " changed to " + change.from + " by " + writer + "; restored to " + change.to};
      break;
    case Drift::Transition::conflict_moved:
      if (change.from == change.to)
        entry = {message_id::in_sync, LOG_NOTICE, subject + " is " + change.from + " again; conflict, not written"};
      else
        entry = {message_id::differs, LOG_ERR,
                 subject + " is " + change.from + ", want " + change.to + "; conflict, not written"};
      break;
    case Drift::Transition::conflict_over:
      entry = {message_id::in_sync, LOG_NOTICE, subject + ": conflict over; enforcing again"};
      break;
    case Drift::Transition::nothing:
      if (is_known(change, before)) return std::nullopt;
      entry = outcome_entry(change);
      break;
  }
  const bool names_writer = transition == Drift::Transition::conflict || transition == Drift::Transition::repaired;
  if (suspect && !names_writer) entry.message += "; changed by " + suspect->by;

  entry.fields = {{"FABRIC_PORT", change.port},
                  {"FABRIC_SETTING", change.key()},
                  {"FABRIC_OUTCOME", std::string(to_text(change.outcome))},
                  {"FABRIC_FROM", change.from},
                  {"FABRIC_TO", change.to}};
  if (change.code != 0) entry.fields.emplace_back("FABRIC_ERRNO", errno_name(change.code));
  if (suspect) {
    entry.fields.emplace_back("FABRIC_CAUSE", std::string(to_text(suspect->cause)));
    entry.fields.emplace_back("FABRIC_SUSPECT", suspect->by);
  }
  return entry;
}

JournalLimit::JournalLimit(JournalSink write)
    : entries_([write = std::move(write)](const JournalEntry& entry, uint64_t more) {
        JournalEntry shown = entry;
        shown.message = with_more(std::move(shown.message), more);
        write(shown);
      }) {}

void JournalLimit::log(const JournalEntry& entry, Clock::time_point now) {
  std::string subject;
  for (const auto& [name, value] : entry.fields)
    if (name == "FABRIC_PORT" || name == "FABRIC_SETTING" || name == "FABRIC_NETDEV") subject += " " + value;
  unsigned burst = 20;
  if (subject.empty()) {
    subject = " " + entry.message;
    burst = 1;
  }
  const std::lock_guard lock(mutex_);
  entries_.log(std::string(entry.id) + subject, entry, now, burst);
}

void JournalLimit::flush(Clock::time_point now) {
  const std::lock_guard lock(mutex_);
  entries_.flush(now);
}

void write_journal(const JournalEntry& entry) { journal_limit().log(entry, JournalLimit::Clock::now()); }

void flush_journal() { journal_limit().flush(JournalLimit::Clock::now()); }

}  // namespace fabric::agentd
