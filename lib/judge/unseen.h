// SPDX-License-Identifier: Apache-2.0
// Parts that the readings of this host do not show: devices in other network namespaces, traffic that no counter
// counts.
#pragma once

#include <optional>

#include "judge/port_context.h"

namespace fabric {

// The id of the rule about ports whose RDMA traffic is counted only in part, or not at all.
inline constexpr std::string_view kUnseenTrafficId = "unseen-traffic";

// How much of the received RDMA traffic belongs to queue pairs that the RDMA hardware counters count.
struct Observable {
  double bytes = 0;     // received
  double requests = 0;  // received, by the counters
  double ratio = 1;     // of the bytes, at most: each request had no more than kLargestMessage bytes
};
// nullopt: the driver counts all queue pairs alike, or counts no requests, or little arrived (less than kMuchTraffic,
// or less than a tenth of the bytes sent, which are answers).
std::optional<Observable> observable_rdma(const RulePolicy& policy, const Port& port, const Signals& signals);

// RDMA devices that are in other network namespaces: "mlx5_5 (0000:5a:00.2)".
std::vector<std::string> devices_elsewhere(const Node& node);

}  // namespace fabric
