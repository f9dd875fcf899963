// SPDX-License-Identifier: Apache-2.0
// The rows of the table of checks, by group; check.cpp puts them together.
#pragma once

#include <span>
#include <string_view>

#include "checks/check.h"

namespace fabric {

namespace group {
inline constexpr std::string_view link = "link", settings = "settings", topology = "topology", platform = "platform",
                                  network = "network", cabling = "cabling", host = "host", agent = "agent";
}  // namespace group

std::span<const Check> link_rows();
std::span<const Check> settings_rows();  // beside those of kSettings
std::span<const Check> topology_rows();
std::span<const Check> platform_rows();
std::span<const Check> cabling_rows();
std::span<const Check> host_rows();
std::span<const Check> network_rows();

}  // namespace fabric
