// SPDX-License-Identifier: Apache-2.0
// What became of a setting, in words and journal fields.
#pragma once

#include <optional>
#include <string>

#include "agentd/journal.h"
#include "model/change.h"
#include "settings/drift.h"
#include "settings/writer.h"

namespace fabric::agentd {

// The entry for a change that differs from the one told before it (null: none yet); nothing where there is no news.
// `suspect`: who has likely moved it, where it had been as wanted.
std::optional<Entry> message_for(const Change& change, const Change* before, qos::Drift::News news,
                                 const std::optional<qos::Suspect>& suspect);

std::string utc_now();  // RFC 3339

}  // namespace fabric::agentd
