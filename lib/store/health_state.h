// SPDX-License-Identifier: Apache-2.0
// The health states as the exporter keeps them over a restart.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "model/health.h"

namespace fabric {

inline constexpr const char* kHealthFile = "run/fabric-exporter/health.toml";
inline constexpr const char* kHealthName = "health.toml";
inline constexpr const char* kSpentName = "acks.toml";  // acknowledgements that are over, in the same form

// Omits rules that are ok with an empty window.
std::string health_toml(const HealthMemory& memory);
// An Error has code EBADMSG, and the text says where it is wrong. Rules that are not known are left out.
Result<HealthMemory> parse_health(std::string_view text, const std::string& name);

// The last state that the exporter wrote. nullopt: no file. ESTALE: it was written longer than a minute ago, by an
// exporter that is gone or hangs.
Result<std::optional<HealthMemory>> load_health(const Root& root);

}  // namespace fabric
