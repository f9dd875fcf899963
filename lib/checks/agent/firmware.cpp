// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/parse.h"
#include "checks/checks.h"
#include "model/finding.h"

namespace fabric {
namespace {

const std::vector<std::string>* allowed_by_name(const Versions& versions, const std::string& name) {
  if (name.empty()) return nullptr;
  if (const auto exact = versions.find(name); exact != versions.end()) return &exact->second;
  for (const auto& [pattern, list] : versions)
    if (glob_match(pattern, name)) return &list;
  return nullptr;
}

// What is nearest to the card counts: its board id, then its PCI id, then its driver.
const std::vector<std::string>* allowed_firmware(const View& view, const Port& port) {
  if (view.policy == nullptr) return nullptr;
  for (const std::string* name : {&port.board_id, &port.pci_id, &port.kernel_driver})
    if (const auto* list = allowed_by_name(view.policy->firmware, *name)) return list;
  return nullptr;
}

bool is_allowed(const std::vector<std::string>& patterns, const std::string& version) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return glob_match(pattern, version); });
}

std::string choice(const std::vector<std::string>& patterns) {
  std::string out;
  for (const std::string& pattern : patterns) out += (out.empty() ? "" : " or ") + pattern;
  return out;
}

std::string board_of(const Port& port) { return port.board_id.empty() ? port.pci_id : port.board_id; }

bool same_board(const Port& a, const Port& b) {
  return !board_of(a).empty() && board_of(a) == board_of(b) && a.kernel_driver == b.kernel_driver && is_judged(b) &&
         !b.firmware.empty();
}

// The version that most cards of its board have; of those that are as frequent, the newest.
std::string usual_version(const View& view, const Port& port) {
  std::map<std::string, std::set<std::string>> cards;
  for (const Port& other : view.now.ports)
    if (same_board(port, other)) cards[other.firmware].insert(card_of(other.pci));
  const auto best = std::max_element(cards.begin(), cards.end(), [](const auto& a, const auto& b) {
    return a.second.size() != b.second.size() ? a.second.size() < b.second.size() : natural_less(a.first, b.first);
  });
  return best == cards.end() ? port.firmware : best->first;
}

constexpr std::string_view kUpdate =
    "Update the firmware with the vendor's tool (mlxfwmanager or mstflint -d PCI, niccli, nvmupdate) while no job "
    "runs, and reset the "
    "card or reboot.";

Finding judge_firmware(const View& view, const Port& port) {
  const std::string observed = port.firmware + (board_of(port).empty() ? "" : " on board " + board_of(port));
  if (const auto* allowed = allowed_firmware(view, port)) {
    if (is_allowed(*allowed, port.firmware)) return good(port.rdma, observed, choice(*allowed));
    return bad(Status::warning, port.rdma, observed, choice(*allowed) + ", as [firmware]",
               "This card's firmware is none that the site allows: it may lack fixes that the others have, and behave "
               "unlike them.",
               std::string(kUpdate));
  }
  const std::string usual = usual_version(view, port);
  if (port.firmware == usual) return good(port.rdma, observed, usual);
  return bad(Status::warning, port.rdma, observed, usual + ", as the cards of its kind",
             "Cards of one kind with different firmware differ in defaults, limits and faults, which shows as one slow "
             "or odd rail.",
             std::string(kUpdate));
}

void judge_driver(const View& view, const Port& port, Findings& findings) {
  if (view.policy == nullptr || port.driver_version.empty()) return;
  const auto* allowed = allowed_by_name(view.policy->driver_version, port.kernel_driver);
  if (allowed == nullptr) return;
  if (is_allowed(*allowed, port.driver_version))
    return findings.push_back(good(port.kernel_driver, port.driver_version, choice(*allowed)));
  findings.push_back(bad(Status::warning, port.kernel_driver, port.driver_version,
                         choice(*allowed) + ", as [driver_version]",
                         "The driver that is loaded is none that the site allows; an update that was installed is "
                         "loaded only after a reboot.",
                         "See modinfo " + port.kernel_driver +
                             " for the installed one, and reboot or load the driver again while no job runs."));
}

}  // namespace

// One finding a card, whatever number of functions it has; software devices have no firmware.
void ask_firmware(const View& view, Findings& findings) {
  std::set<std::string> cards, drivers;
  for (const Port& port : view.now.ports) {
    if (!is_judged(port)) continue;
    if (!port.kernel_driver.empty() && drivers.insert(port.kernel_driver).second) judge_driver(view, port, findings);
    if (port.firmware.empty() || port.pci.empty() || !cards.insert(card_of(port.pci)).second) continue;
    findings.push_back(judge_firmware(view, port));
  }
}

}  // namespace fabric
