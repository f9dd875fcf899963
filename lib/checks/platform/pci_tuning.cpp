// SPDX-License-Identifier: Apache-2.0
#include <tuple>

#include "checks/check.h"
#include "checks/topology/pairing.h"
#include "judge/platform_view.h"

namespace fabric {

extern const Threshold kLeastMrrs("least_mrrs", 512, "bytes of MRRS of a NIC that serves GPUs",
                                  "the default of NICs; smaller reads need more outstanding requests than they have",
                                  128, 4096);

namespace {

struct Subject {
  const Nic* nic = nullptr;
  const PciSettings* has = nullptr;
  bool for_gpus = false;
};

const PciSettings* settings_of(const Node& node, const std::string& pci) {
  const PciSettings* found = node.pci_settings ? find_in(node.pci_settings->functions, pci) : nullptr;
  return found != nullptr && found->mrrs ? found : nullptr;
}

constexpr size_t kRows = 4;
std::array<std::pair<std::string, std::string>, kRows> values(const PciSettings& has) {
  const auto flag = [](const std::optional<bool>& value) { return !value ? "-" : *value ? "on" : "off"; };
  return {{{"MRRS", std::to_string(*has.mrrs)},
           {"MPS", has.max_payload ? std::to_string(*has.max_payload) : "-"},
           {"relaxed ordering", flag(has.relaxed_ordering)},
           {"10-bit tags", flag(has.ten_bit_tags)}}};
}

// NICs that should be equal: vendor, device, and whether they serve GPUs.
using Kind = std::tuple<uint16_t, uint16_t, bool>;
Kind kind_of(const Subject& subject) { return {subject.nic->vendor, subject.nic->device, subject.for_gpus}; }

// Number of NICs of a kind per value, row by row.
using Tally = std::map<Kind, std::array<std::map<std::string, size_t>, kRows>>;

// A value in the policy is checked as the setting mrrs.
bool policy_gives_mrrs(const View& view, const Nic& nic) {
  return view.policy != nullptr && std::ranges::any_of(view.now.ports, [&](const Port& port) {
           const PortPolicy* entry = port.pci == nic.pci ? policy_for(*view.policy, port) : nullptr;
           return entry != nullptr && entry->want.mrrs;
         });
}

// The smaller payload size of the two ends limits the packets.
std::string payload_note(const Node& node, const Nic& nic, const PciSettings& has) {
  for (const std::string& bridge : nic.bridges) {
    const PciSettings* above = settings_of(node, bridge);
    if (above != nullptr && above->max_payload && has.max_payload && above->max_payload != has.max_payload)
      return " (" + bridge + " above it: MPS " + std::to_string(*above->max_payload) + ")";
  }
  return {};
}

Finding finding_for(const View& view, const Tally& tally, const Subject& subject) {
  std::string observed, odd, expected;
  const auto mine = values(*subject.has);
  const bool mrrs_wanted = policy_gives_mrrs(view, *subject.nic);
  for (size_t row = 0; row < kRows; ++row) {
    const auto& [name, value] = mine[row];
    append_item(observed, name + " " + value);
    const auto others = majority(tally.at(kind_of(subject))[row]);
    if (!others || *others == value || (row == 0 && mrrs_wanted)) continue;
    append_item(odd, name);
    append_item(expected, name + " " + *others);
  }
  observed += payload_note(view.now, *subject.nic, *subject.has);
  const std::string& pci = subject.nic->pci;
  if (!odd.empty())
    return bad(Status::warning, subject.nic->name, observed, expected + ", equal to others of its model",
               "PCIe settings differ from those of the other NICs of this model (" + odd +
                   "): this NIC will be the slow one in a collective.",
               "Set MRRS with mrrs in fabric-agent.toml, relaxed ordering in the NIC firmware, MPS in the firmware "
               "setup (or pci=pcie_bus_safe), then systemctl restart fabric-agent-pci. Compare with lspci -vv -s " +
                   pci);
  if (subject.for_gpus && *subject.has->mrrs < limit_of(view, kLeastMrrs) && !mrrs_wanted)
    return bad(Status::warning, subject.nic->name, observed,
               "MRRS " + number_text(limit_of(view, kLeastMrrs)) + " or more (4096 is common)",
               "Small read requests keep the NIC from reading memory at the rate of the network.",
               "Set mrrs = 4096 for this port in fabric-agent.toml, then systemctl restart fabric-agent-pci");
  return good(subject.nic->name, observed, "equal to others of its model");
}

// fabric-agent-pci.service publishes the values.
void ask(const View& view, Findings& findings) {
  const Node& node = view.now;
  std::vector<Subject> all;
  Tally tally;
  const std::set<std::string> for_gpus = devices_for_gpus(view);
  for (const Nic& nic : node.topology.nics) {
    const PciSettings* has = settings_of(node, nic.pci);
    if (has == nullptr || nic.rdma.empty() || nic.virtual_function || is_given_away(node, nic.pci)) continue;
    all.push_back({&nic, has, for_gpus.contains(nic.rdma.front())});
    const auto mine = values(*has);
    for (size_t row = 0; row < kRows; ++row) ++tally[kind_of(all.back())][row][mine[row].second];
  }
  for (const Subject& subject : all) findings.push_back(finding_for(view, tally, subject));
}

}  // namespace

extern const Check kPciTuningCheck{
    .id = "pci-tuning",
    .group = group::platform,
    .title = "PCIe settings of a NIC are too small or differ from those of equal NICs",
    .meaning =
        "Compares maximum read request (MRRS), maximum payload (MPS), relaxed ordering and 10-bit tags of each RDMA "
        "NIC with those of its model. A NIC that differs is the slow one in a collective. An MRRS below 512 bytes "
        "limits a NIC that serves GPUs. fabric-agent-pci.service publishes the values.",
    .inspect = "lspci -vv -s ADDRESS (DevCtl, DevCtl2); systemctl restart fabric-agent-pci reads again",
    .fix =
        "Set MRRS with mrrs in the policy, relaxed ordering in the NIC firmware (mlxconfig PCI_WR_ORDERING, niccli "
        "pcie_relaxed_ordering), MPS in the firmware setup.",
    .ask = ask,
    .thresholds = {&kLeastMrrs},
};

}  // namespace fabric
