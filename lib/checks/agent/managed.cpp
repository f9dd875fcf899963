// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"

namespace fabric {
namespace {

void ask(const View& view, Findings& findings) {
  if (view.policy == nullptr) return;
  size_t managed = 0;
  for (const Port& port : view.now.ports) {
    const std::string why = why_left_alone(*view.policy, port);
    if (why.empty()) ++managed;
    else findings.push_back(good(port.id(), "unmanaged: " + why, "matches the policy"));
  }
  findings.push_back(
      good("host", std::to_string(managed) + " of " + std::to_string(view.now.ports.size()) + " ports are managed",
           "matches the policy"));
}

}  // namespace

extern const Check kManagedCheck{
    .id = "managed",
    .group = group::agent,
    .title = "Managed and unmanaged ports",
    .meaning =
        "Settings of a virtual function, a subfunction or a representor belong to the physical function; InfiniBand "
        "ports have none of these settings; a netdev in another network namespace belongs to its owner. A port that no "
        "[[port]] entry matches is unmanaged. Listed only.",
    .inspect = "fabric-agentctl status; fabric-agentctl config show",
    .ask = ask,
};

}  // namespace fabric
