// SPDX-License-Identifier: Apache-2.0
// What became of a setting, in words and journal fields.
#pragma once

#include <optional>
#include <string>

#include "agentd/journal.h"
#include "model/change.h"
#include "qos/drift.h"
#include "sys/root.h"

namespace fabric::agentd {

// The entry for a change that differs from the one told before it (null: none yet); nothing where there is no news.
// `suspect`: who may have moved it, empty when unknown.
std::optional<Entry> message_for(const Change& change, const Change* before, qos::Drift::News news, const std::string& suspect);

// Who may be writing the setting behind our back: "lldpad", "the NIC's firmware (DCBX)", "NetworkManager"; empty when
// nothing points to anybody. Looks at proc/PID/comm.
std::string suspect(const Root& root, const Qos& have, std::string_view key);

}  // namespace fabric::agentd
