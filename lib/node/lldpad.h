// SPDX-License-Identifier: Apache-2.0
// The configuration of lldpad (openlldp): on which ports it exchanges LLDP, and so DCBX.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "kernel/capture/root.h"

namespace fabric::host {

// adminStatus of each port in lldpad.conf (config.c get_config_setting(): lldp.NETDEV.adminStatus, else
// lldp.common.adminStatus), by netdev, and that of "common". The format is libconfig's. nullopt: another format.
std::optional<std::map<std::string, int>> parse_lldpad(std::string_view text);

// Whether the arguments, each ended by NUL, name another configuration file than the default one.
bool names_another_file(std::string_view command_line);

// The ports of the running lldpad. Empty: it has another file (-f), or its file is absent, unreadable or damaged.
std::map<std::string, int> read_lldpad(const Root& root, unsigned pid);

}  // namespace fabric::host
