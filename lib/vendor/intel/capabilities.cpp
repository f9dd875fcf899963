// SPDX-License-Identifier: Apache-2.0
#include "vendor/capabilities.h"

namespace fabric {

constinit const DriverFacts kIceFacts{
    "ice", {.lldp_agent_off = "ethtool --set-priv-flags NETDEV fw-lldp-agent off, or fw_lldp = false in the policy"}};
constinit const DriverFacts kI40eFacts{
    "i40e", {.lldp_agent_off = "ethtool --set-priv-flags NETDEV disable-fw-lldp on, or fw_lldp = false in the policy"}};

}  // namespace fabric
