// SPDX-License-Identifier: Apache-2.0
// The acknowledgements, as `fabric-agentctl ack` writes them: everybody may read them, root writes.
#pragma once

#include "base/result.h"
#include "kernel/capture/root.h"
#include "model/health.h"

namespace fabric {

inline constexpr const char* kAckFile = "var/lib/fabric-agent/acks.toml";

std::string acks_toml(const std::vector<Ack>& acks);
// An Error has code EBADMSG, and the text says where it is wrong.
Result<std::vector<Ack>> parse_acks(std::string_view text, const std::string& name);

// No file: none.
Result<std::vector<Ack>> load_acks(const Root& root);
// Written whole and renamed into place. `directory`: the root below which the file lies.
Result<void> save_acks(const std::string& directory, const std::vector<Ack>& acks);

}  // namespace fabric
