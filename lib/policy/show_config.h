// SPDX-License-Identifier: Apache-2.0
// Policy -> TOML.
#pragma once

#include "policy/policy.h"

namespace fabric {

// The merged policy as TOML, each value with its origin as a comment. Values of a profile appear as the entry's own,
// and settings derived from traffic and cnp as comments, so that parse_config() reads the same policy back without any
// other file.
std::string show_config(const Policy& policy, RuleRows rules = {});

// The part of the policy that is enforced, as TOML: mode, exclude, ports and sysctl, without their origins. The same
// configuration has the same text, independent of the path and of the reader.
std::string wanted_config(const Policy& policy);

}  // namespace fabric
