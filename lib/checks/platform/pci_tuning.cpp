// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/parse.h"
#include "checks/check.h"
#include "checks/topology/pairing.h"
#include "model/finding.h"
#include "model/view.h"
#include "topology/platform.h"

namespace fabric {

extern const Threshold kLeastMrrs{"least_mrrs",
                                  512,
                                  "bytes of MRRS of a NIC that serves GPUs",
                                  "the default of NICs; smaller reads need more outstanding requests than they have",
                                  128,
                                  4096};

namespace {

struct Subject {
  const Nic* nic = nullptr;
  const PciSettings* has = nullptr;
  bool for_gpus = false;
};

const PciSettings* settings_of(const Node& node, const std::string& pci) {
  if (!node.pci_settings) return nullptr;
  const auto found = node.pci_settings->functions.find(pci);
  return found == node.pci_settings->functions.end() || !found->second.mrrs ? nullptr : &found->second;
}

std::vector<Subject> subjects(const View& view) {
  const Node& node = view.now;
  std::vector<Subject> out;
  const std::set<std::string> for_gpus = devices_for_gpus(view);
  for (const Nic& nic : node.topology.nics)
    if (!nic.rdma.empty() && !nic.virtual_function && !is_given_away(node, nic.pci))
      if (const PciSettings* has = settings_of(node, nic.pci))
        out.push_back({&nic, has, for_gpus.count(nic.rdma.front()) != 0});
  return out;
}

std::string flag(const std::optional<bool>& value) { return !value ? "-" : *value ? "on" : "off"; }

constexpr size_t kRows = 4;
std::array<std::pair<std::string_view, std::string>, kRows> values(const PciSettings& has) {
  return {{{"MRRS", has.mrrs ? std::to_string(*has.mrrs) : "-"},
           {"MPS", has.max_payload ? std::to_string(*has.max_payload) : "-"},
           {"relaxed ordering", flag(has.relaxed_ordering)},
           {"10-bit tags", flag(has.ten_bit_tags)}}};
}

// NICs that should be equal: vendor, device, and whether they serve GPUs.
using Kind = std::tuple<uint16_t, uint16_t, bool>;
Kind kind_of(const Subject& subject) { return {subject.nic->vendor, subject.nic->device, subject.for_gpus}; }

// Number of NICs of a kind per value, row by row.
using Tally = std::map<Kind, std::array<std::map<std::string, size_t>, kRows>>;

Tally count(const std::vector<Subject>& all) {
  Tally out;
  for (const Subject& subject : all) {
    const auto mine = values(*subject.has);
    for (size_t row = 0; row < kRows; ++row) ++out[kind_of(subject)][row][mine[row].second];
  }
  return out;
}

// The value of more than half of them.
std::optional<std::string> usual(const std::map<std::string, size_t>& tally) {
  size_t all = 0;
  for (const auto& [value, times] : tally) all += times;
  for (const auto& [value, times] : tally)
    if (times * 2 > all) return value;
  return std::nullopt;
}

// A value in the policy is checked as the setting mrrs.
bool policy_gives_mrrs(const View& view, const Nic& nic) {
  for (const Port& port : view.now.ports) {
    if (port.pci != nic.pci || view.policy == nullptr) continue;
    if (const PortPolicy* entry = policy_for(*view.policy, port); entry != nullptr && entry->want.mrrs) return true;
  }
  return false;
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
    observed.append(observed.empty() ? "" : ", ").append(mine[row].first).append(" " + mine[row].second);
    const auto others = usual(tally.at(kind_of(subject))[row]);
    if (!others || *others == mine[row].second || (row == 0 && mrrs_wanted)) continue;
    append_item(odd, mine[row].first);
    expected.append(expected.empty() ? "" : ", ").append(mine[row].first).append(" " + *others);
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
  const std::vector<Subject> all = subjects(view);
  const Tally tally = count(all);
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
        "Set MRRS with mrrs in the policy, relaxed ordering in the NIC firmware (mlxconfig PCI_WR_ORDERING), MPS in "
        "the firmware setup.",
    .ask = ask,
    .thresholds = {&kLeastMrrs},
};

}  // namespace fabric
