// SPDX-License-Identifier: Apache-2.0
#include "agentd/messages.h"

#include <sys/uio.h>
#include <systemd/sd-journal.h>

#include <cstdio>
#include <cstdlib>

namespace fabric::agentd {
namespace {

using qos::Drift;

using Suspect = std::optional<qos::Suspect>;

std::string by(const Suspect& suspect) { return suspect ? suspect->by : "another process"; }

Entry moved_entry(const Change& change, const std::string& subject) {
  const std::string value = subject + "is " + change.from;
  if (change.from == change.to) return {message_id::in_sync, LOG_NOTICE, value + " again; conflict, not written"};
  return {message_id::differs, LOG_ERR, value + ", want " + change.to + "; conflict, not written"};
}

Entry plain_entry(const Change& change, const std::string& subject) {
  const std::string set = subject + "set: " + change.from + " -> " + change.to;
  const std::string is = subject + "is " + change.from + ", want " + change.to;
  const auto detailed = [&](std::string_view id, int priority, const std::string& text) {
    return Entry{id, priority, change.detail.empty() ? text : text + " (" + change.detail + ")"};
  };
  switch (change.outcome) {
    case Outcome::applied: return {message_id::applied, LOG_NOTICE, set};
    case Outcome::unverified:
      if (was_written(change)) return detailed(message_id::applied, LOG_NOTICE, set + ", unverified");
      return detailed(message_id::in_sync, LOG_INFO, subject + "is set to " + change.to + ", unverified");
    case Outcome::differs: return {message_id::differs, LOG_WARNING, is + "; audit mode, not written"};
    case Outcome::pending: return detailed(message_id::pending, LOG_NOTICE, is + "; waits");
    case Outcome::refused:
      // Without a reading it is not known which of the two failed.
      if (change.from == "-")
        return detailed(message_id::not_set, LOG_ERR,
                        subject + "cannot be read or set (" + errno_name(change.code) + "), want " + change.to +
                            "; will be retried");
      return detailed(message_id::not_set, LOG_ERR,
                      is + "; rejected by the driver (" + errno_name(change.code) + "), will be retried");
    case Outcome::ignored:
      return detailed(message_id::not_set, LOG_ERR, is + "; accepted by the driver without effect, will be retried");
    case Outcome::unsaved: return detailed(message_id::not_set, LOG_ERR, is + "; not written, will be retried");
    case Outcome::unsupported:
      return detailed(message_id::not_set, LOG_WARNING,
                      subject + "cannot be set on this " + (change.sysctl.empty() ? "port" : "host"));
    default: return {message_id::in_sync, LOG_INFO, subject + "is in sync: " + change.to};
  }
}

// A changed reading alone is not logged again; a changed outcome is.
bool same_report(const Change& a, const Change& b) {
  bool value_matters = a.outcome == Outcome::differs || a.outcome == Outcome::pending;
  return a.outcome == b.outcome && a.to == b.to && a.code == b.code && (!value_matters || a.from == b.from);
}

// nullopt: nothing new to report.
std::optional<Entry> entry_for(const Change& change, const Change* before, Drift::Transition transition,
                               const Suspect& suspect) {
  using Transition = Drift::Transition;
  const std::string subject = change.port + ": " + change.key() + " ";
  if (transition == Transition::conflict)
    return Entry{message_id::conflict, LOG_ERR,
                 subject + "restored to " + change.to + ", repeatedly changed back by " + by(suspect) +
                     "; conflict, not written while it is changed. Stop that writer"};
  if (transition == Transition::repaired)
    return Entry{message_id::repaired, LOG_NOTICE,
                 subject + "changed to " + change.from + " by " + by(suspect) + "; restored to " + change.to};
  if (transition == Transition::conflict_moved) return moved_entry(change, subject);
  if (transition == Transition::conflict_over)
    return Entry{message_id::in_sync, LOG_NOTICE,
                 change.port + ": " + change.key() + ": conflict over; enforcing again"};
  const bool is_known =
      change.outcome == Outcome::conflict || (before != nullptr && same_report(change, *before)) ||
      (change.outcome == Outcome::in_sync && (before == nullptr || before->outcome == Outcome::applied));
  if (is_known && !was_written(change)) return std::nullopt;
  return plain_entry(change, subject);
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
  auto entry = entry_for(change, before, transition, suspect);
  if (!entry) return entry;
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
