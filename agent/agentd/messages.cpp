// SPDX-License-Identifier: Apache-2.0
#include "agentd/messages.h"

#include <sys/uio.h>
#include <systemd/sd-journal.h>

#include <cstdio>
#include <cstdlib>

#include "base/result.h"

namespace fabric::agentd {
namespace {

using qos::Drift;

std::string detailed(std::string text, const std::string& detail) {
  return detail.empty() ? text : text + " (" + detail + ")";
}

using Suspect = std::optional<qos::Suspect>;

std::string by(const Suspect& suspect) { return suspect ? suspect->by : "another process"; }

Entry conflict_entry(const Change& change, const Suspect& suspect) {
  return {message_id::conflict,
          LOG_ERR,
          change.port + ": " + change.key() + " restored to " + change.to + ", repeatedly changed back by " +
              by(suspect) + "; conflict, not written while it is changed. Stop that writer",
          {}};
}

Entry moved_entry(const Change& change) {
  const std::string value = change.port + ": " + change.key() + " is " + change.from;
  if (change.from == change.to) return {message_id::in_sync, LOG_NOTICE, value + " again; conflict, not written", {}};
  return {message_id::differs, LOG_ERR, value + ", want " + change.to + "; conflict, not written", {}};
}

Entry plain_entry(const Change& change) {
  std::string subject = change.port + ": " + change.key() + " ";
  std::string is = "is " + change.from + ", want " + change.to;
  switch (change.outcome) {
    case Outcome::applied:
      return {message_id::applied, LOG_NOTICE, subject + "set: " + change.from + " -> " + change.to, {}};
    case Outcome::unverified:
      return was_written(change)
                 ? Entry{message_id::applied,
                         LOG_NOTICE,
                         detailed(subject + "set: " + change.from + " -> " + change.to + ", unverified", change.detail),
                         {}}
                 : Entry{message_id::in_sync,
                         LOG_INFO,
                         detailed(subject + "is set to " + change.to + ", unverified", change.detail),
                         {}};
    case Outcome::differs: return {message_id::differs, LOG_WARNING, subject + is + "; audit mode, not written", {}};
    case Outcome::pending:
      return {message_id::pending, LOG_NOTICE, detailed(subject + is + "; waits", change.detail), {}};
    case Outcome::refused:
      return {message_id::not_set,
              LOG_ERR,
              detailed(subject + is + "; rejected by the driver (" + errno_name(change.code) + "), will be retried",
                       change.detail),
              {}};
    case Outcome::ignored:
      return {message_id::not_set,
              LOG_ERR,
              detailed(subject + is + "; accepted by the driver without effect, will be retried", change.detail),
              {}};
    case Outcome::unsaved:
      return {
          message_id::not_set, LOG_ERR, detailed(subject + is + "; not written, will be retried", change.detail), {}};
    case Outcome::unsupported:
      return {message_id::not_set, LOG_WARNING, detailed(subject + "cannot be set on this port", change.detail), {}};
    default: return {message_id::in_sync, LOG_INFO, subject + "is in sync: " + change.to, {}};
  }
}

// A changed reading alone is not logged again; a changed outcome is.
bool same_report(const Change& a, const Change& b) {
  bool value_matters = a.outcome == Outcome::differs || a.outcome == Outcome::pending;
  return a.outcome == b.outcome && a.to == b.to && a.code == b.code && (!value_matters || a.from == b.from);
}

void add_fields(Entry& entry, const Change& change, const Suspect& suspect) {
  entry.fields = {{"FABRIC_PORT", change.port},
                  {"FABRIC_SETTING", change.key()},
                  {"FABRIC_OUTCOME", std::string(to_text(change.outcome))},
                  {"FABRIC_FROM", change.from},
                  {"FABRIC_TO", change.to}};
  if (change.code != 0) entry.fields.emplace_back("FABRIC_ERRNO", errno_name(change.code));
  if (!suspect) return;
  entry.fields.emplace_back("FABRIC_CAUSE", std::string(to_text(suspect->cause)));
  entry.fields.emplace_back("FABRIC_SUSPECT", suspect->by);
}

}  // namespace

std::optional<Entry> message_for(const Change& change, const Change* before, Drift::Transition transition,
                                 const Suspect& suspect) {
  std::optional<Entry> entry;
  if (transition == Drift::Transition::conflict) {
    entry = conflict_entry(change, suspect);
  } else if (transition == Drift::Transition::repaired) {
    entry = Entry{message_id::repaired,
                  LOG_NOTICE,
                  change.port + ": " + change.key() + " changed to " + change.from + " by " + by(suspect) +
                      "; restored to " + change.to,
                  {}};
  } else if (transition == Drift::Transition::conflict_moved) {
    entry = moved_entry(change);
  } else if (transition == Drift::Transition::conflict_over) {
    entry = Entry{
        message_id::in_sync, LOG_NOTICE, change.port + ": " + change.key() + ": conflict over; enforcing again", {}};
  } else if (was_written(change)) {
    entry = plain_entry(change);
  } else if (change.outcome == Outcome::conflict || (before != nullptr && same_report(change, *before))) {
    return std::nullopt;
  } else if (change.outcome == Outcome::in_sync && (before == nullptr || before->outcome == Outcome::applied)) {
    return std::nullopt;
  } else {
    entry = plain_entry(change);
  }
  const bool says_who = transition == Drift::Transition::conflict || transition == Drift::Transition::repaired;
  if (suspect && !says_who) entry->message += "; changed by " + suspect->by;
  add_fields(*entry, change, suspect);
  return entry;
}

void write_journal(const Entry& entry) {
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

}  // namespace fabric::agentd
