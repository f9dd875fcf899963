// SPDX-License-Identifier: Apache-2.0
// Messages of agentd: journal entries with fields, or plain lines on stderr if a person runs it.
#pragma once

#include <syslog.h>

#include <ctime>
#include <mutex>

#include "base/log_limit.h"
#include "base/parse.h"
#include "enforce/drift.h"
#include "enforce/suspect.h"

namespace fabric::agentd {

// One per kind of message, listed in fabric-agentd(8); sd_id128 as 32 hexadecimal digits.
namespace message_id {
inline constexpr std::string_view applied = "7159cee999bb49a6bf4a971d8832f05d";
inline constexpr std::string_view repaired = "4fbe22d2519d4aee95c5673c28df64b3";
inline constexpr std::string_view differs = "cde18fca82924ecabcffd49db3224daa";
inline constexpr std::string_view pending = "945571242d714fb8ae5f2d0b31faa48c";
inline constexpr std::string_view not_set = "631b0af8d7a4455db535cc36548b7477";
inline constexpr std::string_view conflict = "e62df5cd54494a0491e056d5fde8c1cf";
inline constexpr std::string_view in_sync = "a70b00d345b84c8bb6f5c21be7e44b8d";
inline constexpr std::string_view configuration = "31d37db8621a4843be0169db581ea456";
inline constexpr std::string_view port = "28a9a59446d7499b9e645c5b4a06655f";
inline constexpr std::string_view reverted = "0f1d7c3f5b6a4c5e9a2b8d41c7e3f690";
inline constexpr std::string_view trouble = "23f27dd0cc554349a2e7eacde46d785d";
}  // namespace message_id

struct JournalEntry {
  std::string_view id;
  int priority = LOG_INFO;  // syslog(3)
  std::string message;
  std::vector<std::pair<std::string, std::string>> fields{};  // FABRIC_PORT and the like
};
// "PORT: TEXT"
inline JournalEntry port_entry(const std::string& port, int priority, const std::string& text,
                               std::string_view id = message_id::port) {
  return {id, priority, port + ": " + text, {{"FABRIC_PORT", port}}};
}

using JournalSink = std::function<void(const JournalEntry&)>;

// Limits the entries: others decide how often a setting changes, a port comes and goes, or a module is malformed.
// Twenty entries of a kind, port and setting are written at once, or one if the entry has neither; then one a minute.
// May be called by every thread.
class JournalLimit {
 public:
  using Clock = std::chrono::steady_clock;
  explicit JournalLimit(JournalSink write);
  void log(const JournalEntry& entry, Clock::time_point now);
  void flush(Clock::time_point now);

 private:
  std::mutex mutex_;
  LogLimit<JournalEntry> entries_;
};

// Writes to the journal if systemd has connected stderr to it ($JOURNAL_STREAM is set), else a line to stderr; within
// the limit. May be called by every thread.
void write_journal(const JournalEntry& entry);
// Writes the entries that are due; call it at least every minute.
void flush_journal();

// The entry for a change; nullopt: nothing new to report. `before`: the change of the last pass (null: none yet).
// `suspect`: the likely writer, if the setting had been in sync.
std::optional<JournalEntry> message_for(const Change& change, const Change* before, qos::Drift::Transition transition,
                                        const std::optional<qos::Suspect>& suspect);

inline std::string utc_now() { return time_text(std::time(nullptr)); }

// The exit status for an outcome. 0: nothing is left to do. 1: it differs, waits or is unsupported. 2: it failed.
constexpr int severity(Outcome outcome) {
  if (is_done(outcome)) return 0;
  return outcome <= Outcome::unsupported ? 1 : 2;
}

}  // namespace fabric::agentd
