// SPDX-License-Identifier: Apache-2.0
// Versions of firmware and drivers: those that the policy allows, or those of equal NICs.
#include "judge/finding.h"
#include "judge/port_state.h"
#include "judge/rule.h"
#include "nic/capabilities.h"

namespace fabric {

namespace {

const std::vector<std::string>* allowed_by_name(const Versions& versions, const std::string& name) {
  if (name.empty()) return nullptr;
  if (const auto* exact = find_in(versions, name)) return exact;
  for (const auto& [pattern, list] : versions)
    if (glob_match(pattern, name)) return &list;
  return nullptr;
}

// Firmware is made for a board, whichever of its functions has the port. Without a board id, the model is used.
std::string firmware_target_of(const Port& port) { return port.board_id.empty() ? port.pci_id : port.board_id; }

Fix update_of(const Port& port) {
  std::string tool(capabilities_of(port.kernel_driver).firmware_update);
  replace_all(tool, "{pci}", port.pci);
  if (tool.empty()) tool = "with the vendor's tool";
  return {{Work::ends_jobs | Work::when_idle,
           "Update the firmware while no job runs (" + tool + "), then reset the NIC or reboot."}};
}

Finding firmware_finding(const View& view, const Port& port) {
  Fix fix = update_of(port);
  if (const std::string place = place_of_physical(view, port); !place.empty())
    fix = place + ": update the firmware of its NIC. Nothing in this guest or pod changes it.";
  const std::string board = firmware_target_of(port);
  std::string observed = port.firmware;
  if (!board.empty()) observed += " on board " + board;
  // The policy lists versions by board id, else by PCI id, else by driver.
  const std::vector<std::string>* allowed = nullptr;
  for (const std::string* name : {&port.board_id, &port.pci_id, &port.kernel_driver})
    if (view.policy != nullptr && allowed == nullptr) allowed = allowed_by_name(view.policy->firmware, *name);
  if (allowed != nullptr) {
    if (matches_any(*allowed, port.firmware)) return good(port.rdma, observed, joined(*allowed, " or "));
    return bad(Status::warning, port.rdma, observed, joined(*allowed, " or ") + ", from [firmware]",
               "The site does not allow this firmware: it may lack fixes and behave differently.", std::move(fix));
  }
  std::map<std::string, std::set<std::string>> cards;  // with this board, by version
  if (!board.empty())
    for (const Port& other : view.now.ports)
      if (is_own_device(other) && firmware_target_of(other) == board && other.kernel_driver == port.kernel_driver &&
          !other.firmware.empty())
        cards[other.firmware].insert(card_of(other.pci));
  std::string usual = port.firmware;  // of most NICs; on a tie the newest
  if (!cards.empty())
    usual = std::ranges::max_element(cards, [](const auto& a, const auto& b) {
              if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
              return natural_less(a.first, b.first);
            })->first;
  if (port.firmware == usual) return good(port.rdma, observed, usual);
  return bad(Status::warning, port.rdma, observed, usual + ", like equal NICs",
             "Firmware versions differ in defaults, limits and bugs: one rail may be slow or behave differently.",
             std::move(fix));
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
      {{Work::ends_jobs | Work::when_idle, "Reboot, or reload the driver while no job runs. "},
       "Installed version: modinfo " + port.kernel_driver}));
}

// One finding per card. Software devices have no firmware.
void ask_firmware(const View& view, Findings& findings) {
  std::set<std::string> cards, drivers;
  for (const Port& port : view.now.ports) {
    if (!is_own_device(port)) continue;
    if (!port.kernel_driver.empty() && drivers.insert(port.kernel_driver).second)
      add_driver_finding(view, port, findings);
    if (port.firmware.empty() || port.pci.empty() || !cards.insert(card_of(port.pci)).second) continue;
    findings.push_back(firmware_finding(view, port));
  }
}

constexpr Rule kFirmware{
    .id = "firmware",
    .group = group::network,
    .title = "The firmware of a NIC is not allowed or differs from that of equal NICs",
    .meaning =
        "Without [firmware] in fabric-agent.toml, NICs with the same board id are compared with each other and the "
        "minority is reported. With [firmware], each version must be listed for its board id, PCI id or driver. "
        "[driver_version] does the same for drivers.",
    .inspect = "cat /sys/class/infiniband/*/fw_ver (as [firmware] names it); ethtool -i NETDEV; devlink dev info",
    .fix = "Update the firmware with the vendor's tool while no job runs, and reset the NIC or reboot.",
    .ask = ask_firmware,
};

}  // namespace

constexpr Rule kTable[]{kFirmware};
const std::span<const Rule> kFirmwareRules = kTable;

}  // namespace fabric
