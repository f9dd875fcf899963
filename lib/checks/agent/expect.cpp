// SPDX-License-Identifier: Apache-2.0
#include "checks/agent/expect.h"

#include <algorithm>
#include <string>

#include "checks/checks.h"
#include "model/finding.h"

namespace fabric {
namespace {

constexpr const char* kNode = "node";

// Nothing of the topology could be read: a count of 0 would be a lie.
bool is_topology_known(const Node& node) {
  return !node.topology.gpus.empty() || !node.topology.nics.empty() ||
         std::none_of(node.unseen.begin(), node.unseen.end(),
                      [](const std::string& reason) { return reason.starts_with("GPUs and NICs"); });
}

std::string counted(size_t number, const std::string& what) {
  return to_text(static_cast<unsigned>(number)) + " " + what;
}

// Ports that nobody uses count or do not, as the site meant it: those whose switch is off look the same. Of a card
// without any link nothing tells for what it was built in.
size_t count_compute(const Node& node, const Placement& placed, size_t wanted) {
  const auto all = compute_nics(node.topology, node.ports, true);
  std::vector<std::optional<double>> rates;
  for (const size_t nic : all) rates.push_back(likely_rate(node.topology, node.topology.nics[nic], node.ports));
  const auto best = rates.empty() ? std::nullopt : *std::max_element(rates.begin(), rates.end());
  size_t fast = 0, used = 0, unknown = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    unknown += rates[i] ? 0 : 1;
    if (!rates[i] || rates[i] != best) continue;
    ++fast;
    used += is_in_use(node.topology, node.topology.nics[all[i]], node.ports) ? 1 : 0;
  }
  const auto fits = [&](size_t sure) { return sure <= wanted && wanted <= sure + unknown; };
  const size_t have = placed.compute.size();
  if (have == wanted || all.size() == wanted || fits(used) || fits(fast)) return wanted;
  return have > wanted && used + unknown < wanted ? used + unknown : have;  // slower ones stand in for what is missing
}

// Both counts in one finding: a report has one for each id and subject.
void judge_counts(const View& view, const Placement& placed, const Expect& expect, Findings& findings) {
  const Topology& topology = view.now.topology;
  std::string observed, expected;
  bool wrong = false, few = false;
  const auto look = [&](const std::optional<unsigned>& wanted, size_t have, const std::string& what) {
    if (!wanted) return;
    observed += (observed.empty() ? "" : ", ") + counted(have, what);
    expected += (expected.empty() ? "" : ", ") + counted(*wanted, what);
    wrong = wrong || have != *wanted;
    few = few || have < *wanted;
  };
  look(expect.gpus, topology.gpus.size(), "GPUs");
  look(expect.compute_nics, expect.compute_nics ? count_compute(view.now, placed, *expect.compute_nics) : 0,
       "compute NICs");
  if (expected.empty()) return;
  if (!is_topology_known(view.now))
    return findings.push_back(bad(Status::unknown, kNode, "-", expected,
                                  "The PCI devices of this machine could not be read.",
                                  "See what fabric-agentctl check lists as unread."));
  if (!wrong) return findings.push_back(good(kNode, observed, expected));
  findings.push_back(bad(
      few ? Status::critical : Status::warning, kNode, observed, expected,
      few ? "A device that the site counts on is not there: it fell off the bus, has no driver, or was never fitted."
          : "There are more devices than the site's configuration says: it may be another machine's.",
      few ? "Look for it: lspci -nn, the kernel's log (dmesg | grep -i -e pcie -e xid), its seat and power, whether a "
            "driver is "
            "bound; fabric-agentctl topo shows what is there."
          : "Compare [expect] in fabric-agent.toml with this machine: fabric-agentctl topo."));
}

void judge_class(const View& view, const Placement& placed, PathClass wanted, Findings& findings) {
  const Topology& topology = view.now.topology;
  for (size_t gpu = 0; gpu < placed.pairing.pairs.size(); ++gpu) {
    const std::string expected = std::string(to_text(wanted)) + " or nearer, as [expect] class";
    const auto path = placed.path(gpu);
    const std::string observed = path ? std::string(to_text(*path)) : "no NIC";
    if (misses_class(view, placed, gpu))
      findings.push_back(bad(Status::critical, topology.gpus[gpu].name, observed, expected,
                             "The nearest compute NIC of this GPU is farther away than the site's machines have it, "
                             "and the slowest pair sets the "
                             "pace of a collective.",
                             "See fabric-agentctl topo: a NIC is missing, or a card sits in the wrong slot."));
    else if (path) findings.push_back(good(topology.gpus[gpu].name, observed, expected));
  }
}

void judge_speed(const View& view, uint32_t wanted, Findings& findings) {
  const auto for_gpus = devices_for_gpus(view.now);
  for (const Port& port : view.now.ports) {
    if (!is_judged(port) || !is_active(port) || !port.speed || for_gpus.count(port.rdma) == 0) continue;
    const std::string expected = to_text(wanted) + " Mb/s, as [expect] speed";
    if (misses_speed(view, port, for_gpus))
      findings.push_back(bad(Status::critical, port.id(), to_text(*port.speed) + " Mb/s", expected,
                             "The link runs at another speed than the site's compute ports, and every collective runs "
                             "at the slowest link's speed.",
                             "Compare speed, lanes and FEC with the switch port (ethtool " + port.netdev +
                                 "); replace a cable or transceiver that gives fewer lanes."));
    else findings.push_back(good(port.id(), to_text(*port.speed) + " Mb/s", expected));
  }
}

}  // namespace

bool misses_speed(const View& view, const Port& port, const std::set<std::string>& for_gpus) {
  return view.policy != nullptr && view.policy->expect.speed && port.speed && for_gpus.count(port.rdma) != 0 &&
         *port.speed != *view.policy->expect.speed;
}

// Without any NIC there is no class: pairing and the count of NICs tell of it.
bool misses_class(const View& view, const Placement& placed, size_t gpu) {
  const auto wanted = view.policy == nullptr ? std::nullopt : view.policy->expect.path_class;
  return wanted && placed.path(gpu) && *placed.path(gpu) > *wanted;
}

// [expect] gid_index is gid-index's.
void ask_expect(const View& view, Findings& findings) {
  if (view.policy == nullptr) return;
  const Expect& expect = view.policy->expect;
  const Placement placed = placement(view.now);
  judge_counts(view, placed, expect, findings);
  if (expect.path_class) judge_class(view, placed, *expect.path_class, findings);
  if (expect.speed) judge_speed(view, *expect.speed, findings);
}

}  // namespace fabric
