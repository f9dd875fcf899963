// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <string>

#include "checks/checks.h"
#include "checks/host/host.h"
#include "model/finding.h"

namespace fabric {
namespace {

// The firmware's word for so many NUMA nodes of one package. AMD's go to NPS4; more are its "L3 cache as NUMA domain".
std::string firmware_word(const std::string& vendor, unsigned nodes) {
  const std::string number = std::to_string(nodes);
  if (vendor == "GenuineIntel") return "SNC" + number;
  if (vendor == "AuthenticAMD" || vendor == "HygonGenuine")
    return nodes <= 4 ? "NPS" + number : "L3 cache as NUMA domain";
  return {};
}

}  // namespace

// A choice of the site, never a fault; but NODE and SYS mean something else with it.
void ask_snc(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  if (!view.now.host || topology.numa_socket.empty()) return;
  std::map<int, unsigned> nodes;  // by package
  for (const auto& [node, socket] : topology.numa_socket) ++nodes[socket];
  unsigned most = 0;
  for (const auto& [socket, count] : nodes) most = std::max(most, count);
  std::string observed = std::to_string(most) + " NUMA node" + (most == 1 ? "" : "s") + " per package";
  if (most > 1) {
    const std::string word = firmware_word(view.now.host->cpu.vendor, most);
    observed +=
        (word.empty() ? "" : " (" + word + ")") + std::string(
                                                      ": NODE is within one of them, SYS includes the others of the "
                                                      "same package, so a SYS pair may be as near as "
                                                      "a NODE pair without it; processes get the CPUs of one of them");
  }
  findings.push_back(good(kHostSubject, std::move(observed), "any"));
}

}  // namespace fabric
