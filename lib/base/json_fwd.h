// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace fabric {

using Json = nlohmann::ordered_json;  // members keep the order in which they were added

}  // namespace fabric
