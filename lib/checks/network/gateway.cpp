// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>

#include "checks/checks.h"
#include "checks/network/network.h"
#include "model/finding.h"

namespace fabric {
namespace {

Finding unanswered(const Port& port, const std::string& netdev, const Neighbour& gateway) {
  const std::string address = to_text(gateway.ip);
  const bool failed = gateway.state == "FAILED";
  return bad(
      failed ? Status::critical : Status::warning, port.id(), address + " is " + gateway.state + " on " + netdev,
      "an answer",
      failed
          ? "The gateway did not answer when the kernel last asked for its MAC address: nothing that is not in this "
            "port's own subnet can be reached over it."
          : "The kernel asks for the gateway's MAC address and has no answer yet: if this stays, nothing beyond this "
            "port's subnet can be reached.",
      "Ask once more (" + std::string(gateway.ip.v6 ? "ping -6" : "ping") + " -c 3 -I " + netdev + " " + address +
          "; ip neighbour show dev " + netdev +
          "). If it stays, compare VLAN, address and prefix with the switch port, and look whether the gateway is "
          "configured there.");
}

}  // namespace

// As far as the kernel has asked: without traffic there is no entry, and nothing to say.
void ask_gateway(const View& view, Findings& findings) {
  for (const Port& port : view.now.ports) {
    if (!is_judged(port) || !is_active(port) || !is_roce(port)) continue;
    const Neighbour* worst = nullptr;
    std::string on, good_ones;
    for (const NamedInterface& each : interfaces_of(view.now, port))
      for (const Neighbour& gateway : each.interface->gateways) {
        const bool silent = gateway.state == "FAILED" || gateway.state == "INCOMPLETE";
        if (!silent) good_ones += (good_ones.empty() ? "" : ", ") + to_text(gateway.ip) + " " + gateway.state;
        else if (worst == nullptr || gateway.state == "FAILED") worst = &gateway, on = each.netdev;
      }
    if (worst != nullptr) findings.push_back(unanswered(port, on, *worst));
    else if (!good_ones.empty()) findings.push_back(good(port.id(), good_ones, "an answer"));
  }
}

}  // namespace fabric
