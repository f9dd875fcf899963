// SPDX-License-Identifier: Apache-2.0
// The mode of the agent, and the outcome of one setting of one port in one reconciliation.
#pragma once

#include <cerrno>
#include <chrono>

#include "base/parse.h"
#include "setting/setting_table.h"

namespace fabric {

// Whether settings that differ from the policy are written.
enum class Mode : uint8_t { audit, enforce };
template <>
inline constexpr std::string_view kEnumWords<Mode>[] { "audit", "enforce" };

enum class Outcome : uint8_t {
  in_sync,      // read, equal, nothing written
  applied,      // written and read back equal
  unverified,   // matches the policy, or was written, but the driver's answer does not show what the NIC does
  differs,      // audit mode or a plan: enforcement would write it now
  pending,      // differs; the write would stop traffic and has to wait (busy port, disruptive = "never")
  unsupported,  // this driver does not have the setting
  refused,      // rejected by the driver; `code` is its errno
  ignored,      // accepted by the driver, but it reads back as another value
  unsaved,      // not written: the original settings could not be saved
  conflict,     // another writer keeps changing it back; we no longer write it
};
template <>
inline constexpr std::string_view kEnumWords<Outcome>[] {
  "in_sync", "applied", "unverified", "differs", "pending", "unsupported", "refused", "ignored", "unsaved", "conflict"
};
// True if nothing is left to do: in_sync, applied, unverified.
constexpr bool is_done(Outcome value) { return value <= Outcome::unverified; }

// The reason why a write is pending: a label of metrics. Change::detail has it as a sentence.
enum class WaitsFor : uint8_t {
  idle_port,      // a process, session or mount uses the port
  front_end,      // the port may carry the machine's default route, and its entry does not allow it
  disruptive,     // the policy has disruptive = "never"
  maintenance,    // the maintenance window
  other_setting,  // of the same class of traffic
  confirmation,   // enforcement is suspended by apply --confirm
};
template <>
inline constexpr std::string_view kEnumWords<WaitsFor>[] {
  "idle_port", "front_end", "disruptive", "maintenance", "other_setting", "confirmation"
};

// The subject of host settings ([sysctl]) and of findings about the host, in place of a port.
inline constexpr const char* kHostSubject = "host";

struct Change {
  std::string port;  // "mlx5_0/1"
  SettingId setting{};
  Outcome outcome = Outcome::in_sync;
  int code = 0;             // errno of `refused`
  bool disruptive = false;  // the write stops traffic on this driver
  std::string from, to;     // value_text() of the current and the wanted value
  std::string detail;       // one sentence: why, and what to do if there is a remedy
  std::string sysctl{};     // name of the sysctl; empty: a setting of a port
  // If pending: the setting of the same class of traffic that has to be written before or with this one.
  std::optional<SettingId> waits_for{};
  std::optional<WaitsFor> wait{};  // if pending
  // If refused: the port's settings are unknown, because an answer of the kernel was lost (is_transient()). The driver
  // has refused nothing, and another pass can succeed at once.
  bool is_lost = false;
  // If refused: it is the PFC or the global pause that the policy, or an original, wants, and the other one of them is
  // off, so that RoCE lacks protection. It is tried again soon: see keeps_link().
  bool is_unprotected = false;
  [[nodiscard]] std::string key() const {
    if (!sysctl.empty()) return sysctl;
    return std::string(key_text(setting));
  }
  bool operator==(const Change&) const = default;
};
using Changes = std::vector<Change>;
// Whether `from` is a value that was read. value_text() of an absent one is "-".
inline bool was_read(const Change& change) { return change.from != "-"; }
// Port id -> the changes that its policy would make.
using Plan = std::map<std::string, Changes, NaturalLess>;
// Whether the write succeeded, even if the reading does not prove it.
inline bool was_written(const Change& change) {
  return change.outcome == Outcome::applied ||
         (change.outcome == Outcome::unverified && change.from != change.to && was_read(change));
}
// Whether the write waits for something that ends by itself: a job, the maintenance window, the firmware. One that
// waits for another setting of its class waits for what that one waits for; if that one was refused, for ever.
inline bool waits_by_itself(const Change& change) {
  return change.outcome == Outcome::pending && change.wait != WaitsFor::other_setting;
}
// Whether a refusal leaves the link as it is. With PFC, mlx5 restarts it before it judges the buffers, ice and bnxt_en
// before their firmware can refuse.
inline bool keeps_link(const Change& refused) { return refused.setting != SettingId::pfc; }
// The longest pause between tries of a refused PFC that leaves RoCE unprotected.
inline constexpr std::chrono::minutes kLongestWithoutPfc{10};
// Whether the write must be tried again, because the port was busy or gone.
inline bool is_left_to_do(const Change& change) { return change.outcome == Outcome::pending || change.code == ENODEV; }

}  // namespace fabric
