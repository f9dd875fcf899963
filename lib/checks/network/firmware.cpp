// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"

namespace fabric {
namespace {

const std::vector<std::string>* allowed_by_name(const Versions& versions, const std::string& name) {
  if (name.empty()) return nullptr;
  if (const auto* exact = find_in(versions, name)) return exact;
  for (const auto& [pattern, list] : versions)
    if (glob_match(pattern, name)) return &list;
  return nullptr;
}

std::string board_of(const Port& port) { return port.board_id.empty() ? port.pci_id : port.board_id; }

// The version of most NICs with this board; on a tie the newest.
std::string usual_version(const View& view, const Port& port) {
  std::map<std::string, std::set<std::string>> cards;
  for (const Port& other : view.now.ports)
    if (!board_of(port).empty() && board_of(port) == board_of(other) && port.kernel_driver == other.kernel_driver &&
        is_judged(other) && !other.firmware.empty())
      cards[other.firmware].insert(card_of(other.pci));
  const auto best = std::ranges::max_element(cards, [](const auto& a, const auto& b) {
    return a.second.size() != b.second.size() ? a.second.size() < b.second.size() : natural_less(a.first, b.first);
  });
  return best == cards.end() ? port.firmware : best->first;
}

constexpr const char* kUpdate =
    "Update the firmware while no job runs (mlxfwmanager or mstflint -d ADDRESS, niccli, nvmupdate, nicctl), then "
    "reset the NIC or reboot.";

Finding firmware_finding(const View& view, const Port& port) {
  const std::string observed = port.firmware + (board_of(port).empty() ? "" : " on board " + board_of(port));
  // By board id, else by PCI id, else by driver.
  const std::vector<std::string>* allowed = nullptr;
  for (const std::string* name : {&port.board_id, &port.pci_id, &port.kernel_driver})
    if (view.policy != nullptr && allowed == nullptr) allowed = allowed_by_name(view.policy->firmware, *name);
  if (allowed != nullptr) {
    if (matches_any(*allowed, port.firmware)) return good(port.rdma, observed, joined(*allowed, " or "));
    return bad(Status::warning, port.rdma, observed, joined(*allowed, " or ") + ", from [firmware]",
               "The site does not allow this firmware: it may lack fixes and behave differently.", kUpdate);
  }
  const std::string usual = usual_version(view, port);
  if (port.firmware == usual) return good(port.rdma, observed, usual);
  return bad(Status::warning, port.rdma, observed, usual + ", like equal NICs",
             "Firmware versions differ in defaults, limits and bugs: one rail may be slow or behave differently.",
             kUpdate);
}

void add_driver_finding(const View& view, const Port& port, Findings& findings) {
  if (view.policy == nullptr || port.driver_version.empty()) return;
  const auto* allowed = allowed_by_name(view.policy->driver_version, port.kernel_driver);
  if (allowed == nullptr) return;
  if (matches_any(*allowed, port.driver_version))
    return findings.push_back(good(port.kernel_driver, port.driver_version, joined(*allowed, " or ")));
  findings.push_back(bad(
      Status::warning, port.kernel_driver, port.driver_version, joined(*allowed, " or ") + ", from [driver_version]",
      "The site does not allow the loaded driver. An installed update is loaded only after a reboot.",
      "Reboot, or reload the driver while no job runs. Installed version: modinfo " + port.kernel_driver));
}

// One finding per card. Software devices have no firmware.
void ask(const View& view, Findings& findings) {
  std::set<std::string> cards, drivers;
  for (const Port& port : view.now.ports) {
    if (!is_judged(port)) continue;
    if (!port.kernel_driver.empty() && drivers.insert(port.kernel_driver).second)
      add_driver_finding(view, port, findings);
    if (port.firmware.empty() || port.pci.empty() || !cards.insert(card_of(port.pci)).second) continue;
    findings.push_back(firmware_finding(view, port));
  }
}

}  // namespace

extern const Check kFirmwareCheck{
    .id = "firmware",
    .group = group::network,
    .title = "The firmware of a NIC is not allowed or differs from that of equal NICs",
    .meaning =
        "Without [firmware] in fabric-agent.toml, NICs with the same board id are compared with each other and the "
        "minority is reported. With [firmware], each version must be listed for its board id, PCI id or driver. "
        "[driver_version] does the same for drivers.",
    .inspect = "cat /sys/class/infiniband/*/fw_ver (as [firmware] names it); ethtool -i NETDEV; devlink dev info",
    .fix = "Update the firmware with the vendor's tool while no job runs, and reset the NIC or reboot.",
    .ask = ask,
};

}  // namespace fabric
