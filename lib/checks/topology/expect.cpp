// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/topology/pairing.h"
#include "health/health.h"
#include "judge/platform_view.h"
#include "topology/compute_nics.h"

namespace fabric {
namespace {

// Unused ports look like ports whose switch is off, and the purpose of a card without any link is unknown: any count
// that fits `wanted` is accepted.
size_t count_compute(const Node& node, const Placement& placed, size_t wanted) {
  const auto all = compute_nics(node.topology, node.ports, true);
  std::vector<std::optional<double>> rates;
  for (const size_t nic : all) rates.push_back(likely_rate(node.topology, node.topology.nics[nic], node.ports));
  const auto best = rates.empty() ? std::nullopt : *std::ranges::max_element(rates);
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
  return have > wanted && used + unknown < wanted ? used + unknown : have;  // slower NICs do not replace missing ones
}

// A virtual function is given to a guest as a rule.
std::string given_away_text(const Node& node) {
  std::string nics;
  for (const Nic& nic : node.topology.nics)
    if (!nic.virtual_function && is_given_away(node, nic.pci))
      append_item(nics, nic.pci + " (" + function_of(node, nic.pci)->kernel_driver + ")");
  return nics.empty() ? nics : " Not counted: " + nics + "; if a guest or DPDK is to have them, correct [expect].";
}

// Both counts in one finding: a report has one for each id and subject.
void check_counts(const View& view, const Placement& placed, const Expect& expect, Findings& findings) {
  const Topology& topology = view.now.topology;
  std::string observed, expected;
  bool wrong = false, few = false;
  const auto look = [&](const std::optional<unsigned>& wanted, size_t have, const std::string& what) {
    if (!wanted) return;
    append_item(observed, std::to_string(have) + " " + what);
    append_item(expected, std::to_string(*wanted) + " " + what);
    wrong = wrong || have != *wanted;
    few = few || have < *wanted;
  };
  look(expect.gpus, topology.gpus.size(), "GPUs");
  look(expect.compute_nics, expect.compute_nics ? count_compute(view.now, placed, *expect.compute_nics) : 0,
       "compute NICs");
  if (expected.empty()) return;
  const auto is_topology = [](const std::string& reason) { return reason.starts_with("GPUs and NICs"); };
  if (topology.gpus.empty() && topology.nics.empty() && std::ranges::any_of(view.now.unseen, is_topology))
    return findings.push_back(bad(Status::unknown, "node", "-", expected,
                                  "The PCI devices of this machine could not be read.",
                                  "Run the check as root. fabric-agentctl check lists the reason below its findings."));
  if (!wrong) return findings.push_back(good("node", observed, expected));
  findings.push_back(
      bad(few ? Status::critical : Status::warning, "node", observed, expected,
          few ? "A device is missing: it left the PCI bus, has no driver, or was never installed." +
                    given_away_text(view.now)
              : "There are more devices than [expect] pins: the configuration may belong to another machine.",
          few ? "lspci -nn; journalctl -k -g 'pcie|xid'; then reseat the missing device, check its power, or load its "
                "driver."
              : "Correct [expect] in fabric-agent.toml: fabric-agentctl topo"));
}

void check_class(const View& view, const Placement& placed, PathClass wanted, Findings& findings) {
  const Topology& topology = view.now.topology;
  const std::string expected = std::string(to_text(wanted)) + " or nearer, [expect] class";
  for (size_t gpu = 0; gpu < placed.pairing.pairs.size(); ++gpu) {
    if (!placed.path(gpu)) continue;
    const std::string observed(to_text(*placed.path(gpu)));
    if (misses_class(view, placed, gpu))
      findings.push_back(bad(Status::critical, topology.gpus[gpu].name, observed, expected,
                             "The nearest compute NIC of this GPU is farther away than [expect] class. The slowest "
                             "pair sets the pace of a collective.",
                             "fabric-agentctl topo; then restore the missing NIC, or move the NIC to the right slot."));
    else findings.push_back(good(topology.gpus[gpu].name, observed, expected));
  }
}

void check_speed(const View& view, uint32_t wanted, Findings& findings) {
  const auto for_gpus = devices_for_gpus(view);
  for (const Port& port : view.now.ports) {
    if (!is_judged(port) || !is_active(port) || !port.speed || !for_gpus.contains(port.rdma)) continue;
    const std::string expected = to_text(wanted) + " Mb/s, [expect] speed";
    if (misses_speed(view, port, for_gpus))
      findings.push_back(bad(Status::critical, port.id(), to_text(*port.speed) + " Mb/s", expected,
                             "The speed of the link differs from that of the site. Every collective runs at the speed "
                             "of its slowest link.",
                             "Configure the same speed and FEC as on the switch port (" +
                                 fill_names("ethtool {netdev}", &port, port.id()) +
                                 "). Replace a cable or transceiver that brings up fewer lanes."));
    else findings.push_back(good(port.id(), to_text(*port.speed) + " Mb/s", expected));
  }
}

// `gid-index` checks [expect] gid_index.
void ask(const View& view, Findings& findings) {
  if (view.policy == nullptr) return;
  const Expect& expect = view.policy->expect;
  const Placement placed = placement(view);
  check_counts(view, placed, expect, findings);
  if (expect.path_class) check_class(view, placed, *expect.path_class, findings);
  if (expect.speed) check_speed(view, *expect.speed, findings);
}

}  // namespace

bool misses_speed(const View& view, const Port& port, const std::set<std::string>& for_gpus) {
  return view.policy != nullptr && view.policy->expect.speed && port.speed && for_gpus.contains(port.rdma) &&
         *port.speed != *view.policy->expect.speed;
}

// Without a NIC the class is unknown: pairing and the count of NICs report it.
bool misses_class(const View& view, const Placement& placed, size_t gpu) {
  const auto wanted = view.policy == nullptr ? std::nullopt : view.policy->expect.path_class;
  return wanted && placed.path(gpu) && *placed.path(gpu) > *wanted;
}

extern const Check kExpectCheck{
    .id = "expect",
    .group = group::topology,
    .title = "The machine differs from [expect] in fabric-agent.toml",
    .meaning =
        "The site pins the number of GPUs and compute NICs, the worst path class between a GPU and its NIC (PIX PXB "
        "PHB NODE SYS), and the speed of compute ports. Nothing is checked without a pin.",
    .inspect = "fabric-agentctl topo; lspci -nn; journalctl -k",
    .fix = "Restore the missing hardware. If the machine is correct, change [expect] in fabric-agent.toml.",
    .ask = ask,
};

}  // namespace fabric
