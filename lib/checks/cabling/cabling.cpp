// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "checks/cabling/peer.h"
#include "checks/checks.h"
#include "model/finding.h"

namespace fabric {
namespace {

// Two of the intervals at which LLDP is sent by default (802.1AB 9.2.5.7 msgTxInterval: 30 s).
constexpr double kPatience = 60;

using Cables = std::vector<const Cable*>;
using Heard = std::vector<const Neighbor*>;

const Cable* cable_to(const Cables& cables, const Neighbor& neighbor) {
  const auto found =
      std::find_if(cables.begin(), cables.end(), [&](const Cable* each) { return is_end(neighbor, each->peer); });
  return found != cables.end() ? *found : nullptr;
}

std::string planned_text(const Cables& cables) {
  std::string text;
  for (const Cable* cable : cables) text += (text.empty() ? "" : " or ") + peer_text(cable->peer);
  return text + " (" + cables.front()->where + ")";
}

class Judge {
 public:
  explicit Judge(const View& view) : view_(view), node_(view.now) {}

  std::optional<Finding> port(const Port& port) const {
    if (!has_cable(port) || port.carrier == false)
      return std::nullopt;  // without a link nobody is heard: port-state says so
    const Heard heard = named_neighbors(node_, port);
    const Cables cables = planned_cables(view_.policy, port);
    if (heard.empty()) return silent(port, cables);
    if (cables.empty()) return good(port.id(), peer_text(*heard.front()), "any: no cable of it is planned");
    for (const Neighbor* each : heard)
      if (cable_to(cables, *each) != nullptr) return good(port.id(), peer_text(*each), planned_text(cables));
    return wrong(port, *heard.front(), cables);
  }

 private:
  // A link, and nobody on it who says who he is.
  std::optional<Finding> silent(const Port& port, const Cables& cables) const {
    const auto listening = node_.neighbors.listening.find(port.netdev);
    if (listening == node_.neighbors.listening.end() || listening->second < kPatience) return std::nullopt;
    const std::string observed = "no LLDP for " + number_text(std::floor(listening->second)) + " s";
    const std::string remedy =
        "Look at the switch port (show lldp neighbors), and whether the NIC's firmware keeps the frames to itself: "
        "ethtool --show-priv-flags " +
        port.netdev + ".";
    if (!cables.empty())
      return bad(
          Status::warning, port.id(), observed, planned_text(cables),
          "The link is up, and who is at its other end does not say so: this cable cannot be compared with the plan.",
          remedy);
    if (hears_of_a_twin(port))
      return bad(Status::warning, port.id(), observed, "a neighbour, as its twins have",
                 "The same NICs beside this one hear their switch: this port is wired to something else, or LLDP is "
                 "off on its switch port.",
                 remedy);
    return bad(Status::unknown, port.id(), observed, "a frame every 30 s",
               "The link is up and nobody speaks LLDP on it: LLDP is off on the switch, or the NIC's firmware consumes "
               "the frames.",
               remedy);
  }

  bool hears_of_a_twin(const Port& port) const {
    return std::any_of(node_.ports.begin(), node_.ports.end(), [&](const Port& other) {
      return other.netdev != port.netdev && are_twins(port, other) && !named_neighbors(node_, other).empty();
    });
  }

  // The port whose place in the plan this neighbour is.
  const Port* owner_of(const Neighbor& neighbor) const {
    for (const Port& other : node_.ports)
      if (has_cable(other) && cable_to(planned_cables(view_.policy, other), neighbor) != nullptr) return &other;
    return nullptr;
  }

  Finding wrong(const Port& port, const Neighbor& neighbor, const Cables& cables) const {
    const std::string where = cables.front()->where;
    const Port* owner = owner_of(neighbor);
    if (owner != nullptr) {
      const Heard theirs = named_neighbors(node_, *owner);
      if (std::any_of(theirs.begin(), theirs.end(),
                      [&](const Neighbor* each) { return cable_to(cables, *each) != nullptr; }))
        return bad(Status::critical, port.id(), peer_text(neighbor) + ", which belongs to " + owner->id(),
                   planned_text(cables),
                   "The cables of " + port.id() + " (" + port.netdev + ") and " + owner->id() + " (" + owner->netdev +
                       ") are swapped: each port talks to the other's switch port, so rails are mixed and traffic "
                       "takes an extra hop.",
                   "Swap the two cables at this end, or correct the plan (" + where + ").");
    }
    const std::string whose = owner != nullptr ? ", which belongs to " + owner->id() : "";
    const bool same_switch =
        std::any_of(cables.begin(), cables.end(), [&](const Cable* each) { return is_device(neighbor, each->peer); });
    if (same_switch)
      return bad(Status::warning, port.id(), peer_text(neighbor) + whose, planned_text(cables),
                 "The cable ends on another port of the right switch: what is set on the planned port does not hold "
                 "for this link.",
                 "Put it into the planned port, or correct the plan (" + where + ").");
    return bad(Status::critical, port.id(), peer_text(neighbor) + whose, planned_text(cables),
               "The cable ends on another switch than planned: the port is on the wrong rail or in the wrong network.",
               "Put it where the plan says, or correct the plan (" + where + ").");
  }

  const View& view_;
  const Node& node_;
};

// What concerns the host as a whole: at most one.
std::optional<Finding> judge_host(const View& view) {
  if (view.policy == nullptr || view.policy->cabling.file.empty()) return std::nullopt;
  const Cabling& plan = view.policy->cabling;
  if (!plan.problem.empty())
    return bad(Status::unknown, "host", "-", "the cables of " + plan.host,
               "The plan of cables could not be read: " + plan.problem + ".",
               "Correct " + plan.file + ", or name another in [cabling] file.");
  if (plan.cables.empty())
    return bad(Status::warning, "host", "not in " + plan.file, "the cables of " + plan.host,
               "The plan has no cable of this host, so none can be compared.",
               "Export it anew, or write the name under which the host stands in it: [cabling] host = \"NAME\".");
  if (!view.now.neighbors.source.empty()) return std::nullopt;
  return bad(Status::unknown, "host", "-", "the neighbour of each port",
             "There is a plan of cables, and nobody to hear who is at their ends: " + view.now.neighbors.why_none + ".",
             "Listen for LLDP: systemctl enable --now fabric-lldp.");
}

}  // namespace

void ask_cabling(const View& view, Findings& findings) {
  if (auto finding = judge_host(view)) findings.push_back(std::move(*finding));
  if (view.now.neighbors.source.empty()) return;
  const Judge judge(view);
  for (const Port& port : view.now.ports)
    if (auto finding = judge.port(port)) findings.push_back(std::move(*finding));
}

}  // namespace fabric
