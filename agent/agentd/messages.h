// SPDX-License-Identifier: Apache-2.0
// Journal entries for the outcome of a setting.
#pragma once

#include <optional>
#include <string>

#include "agentd/journal.h"
#include "model/change.h"
#include "settings/drift.h"
#include "settings/writer.h"

namespace fabric::agentd {

// The entry for a change, compared with the one before it (null: none yet); nullopt: nothing new to report.
// `suspect`: the likely writer, if the setting had been in sync.
std::optional<Entry> message_for(const Change& change, const Change* before, qos::Drift::Transition transition,
                                 const std::optional<qos::Suspect>& suspect);

std::string utc_now();  // RFC 3339

}  // namespace fabric::agentd
