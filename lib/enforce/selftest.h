// SPDX-License-Identifier: Apache-2.0
// Writes each setting of a policy once on an idle port, and then restores the previous settings.
#pragma once

#include "enforce/confirm.h"

namespace fabric::qos {

struct SelfTestStep {
  SettingId setting{};
  Outcome outcome = Outcome::unsupported;  // applied: written and read back equal; unverified, ignored, refused
  int code = 0;                            // errno for refused
  std::string from, to, read_back;         // value_text
  std::string second;                      // the value from a second interface or a file; empty: there is neither
  std::string detail;                      // why it is unsupported, unverified or refused
  bool disruptive = false;                 // the driver's table says that the write may stop traffic
  std::chrono::milliseconds took{};        // the write
  uint32_t carrier_downs = 0;              // from the write until the carrier was back
  bool link_back = true;                   // false: the carrier did not return in time
};

// Whether the setting is as before the test, or not offered by the port any more: it cannot come back by waiting.
bool is_restored(const Change& change);

struct SelfTest {
  std::vector<SelfTestStep> steps;
  std::string stopped{};  // why the remaining settings were not tested; empty: all were
  Changes restored;
  Result<void> settled{};  // of settle(), which an Error leaves to be called again
  [[nodiscard]] bool is_restored() const;
};

struct SelfTestOptions {
  // The record of the test (state::kSelfTestFile) is below it, from before the first write until the settings are
  // restored. If the program is killed, its guard restores them (start_self_test_guard()), or agentd, or the program
  // that writes next (end_self_test()).
  std::string directory = "/";
  // Called before each write; a port in use ends the test, also one with the default route unless `route_allowed`.
  UseCheck in_use;
  Turns& turns;                                // for the restore of the settings
  std::chrono::milliseconds patience{15'000};  // for the carrier after a write
  bool route_allowed = false;                  // the record says so, too
};

// Why the port must not be tested: it is in use, a bond, or has the default route (unless `route_allowed`). Empty: it
// may be tested.
std::string why_no_self_test(Kernel& kernel, const Port& port, bool route_allowed);

// An Error is from the first reading, from saving it, or from the record at the end; in the first two cases nothing was
// written.
Result<SelfTest> self_test(Kernel& kernel, const Port& port, const Qos& want, const SelfTestOptions& options);

// For a program that ends a self-test again and again. A setting that the driver has refused, or accepted without
// effect, is held as one of the policy is (Drift): it is tried again after a pause that grows up to an hour, because a
// try may restart the link of a job. Refused global pause or PFC without which RoCE has neither is tried again sooner
// (Drift).
struct SelfTestRetries {
  Drift& failures;
  Instant now;
};

// Restores the settings of these ports if a self-test was killed. The caller holds the lock state::kLockFile. Ports
// that are in use or absent keep their record; one that is in use gets its global pause or PFC back at once if the test
// has ended it and the other one is not on, unless that may take the link of the default route. Returns nothing if
// there is no record. A port whose link the restore takes down must be settled (settle()) by the caller, or by a later
// program of this boot (Unsettled). A port with the default route is written disruptively only if it was during the
// test (route_allowed), or for a port of which `front_end` is true, because an entry names it. `retries` null: every
// setting is tried.
Result<Changes> end_self_test(Kernel& kernel, std::span<const Port> ports, const std::string& directory,
                              const UseCheck& in_use, Turns& turns,
                              const std::function<bool(const Port&)>& front_end = {},
                              const SelfTestRetries* retries = nullptr);

// A self-test that is running, or was killed and has not been ended.
struct OpenSelfTest {
  std::string port{};   // its id; of a card that is absent, its key in the record
  Keys differing{};     // the settings that the port shows, and not as before the test
  bool absent = false;  // no port has the settings
};
// Writes nothing. The settings of `ports` must have been read.
Result<std::vector<OpenSelfTest>> open_self_tests(const Root& root, const std::vector<Port>& ports);
// Whether a program writes now, so that the self-test may be running. nullopt: only root may open the lock.
std::optional<bool> is_writing(const Root& root);
// "a self-test of mlx5_0/1 was interrupted; not as before it: pause, pfc". `is_running`: is_writing().
std::string text_of(const OpenSelfTest& test, std::optional<bool> is_running);

// Starts a process (confirm::start_detached()) that ends the self-test of the port if its program is killed. As soon as
// the lock state::kLockFile, which the caller holds, is free, and as long as the record has the port, it calls `act`,
// which returns the pause before its next call. Not while the record is damaged.
Result<void> start_self_test_guard(const std::string& directory, const Port& port, const std::function<void()>& detach,
                                   const confirm::GuardAct& act);

// An apply has set these settings of the port: a self-test that was killed is not ended for them any more. The caller
// holds the lock.
Result<void> keep_from_self_test(const std::string& directory, const Port& port, const Keys& keys);

}  // namespace fabric::qos
