// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/topology/pairing.h"
#include "health/health.h"

namespace fabric {
namespace {

Finding finding_for(const View& view, const Port& port, const std::set<std::string>& for_gpus) {
  const std::string show = fill_names("ethtool {netdev}", &port, port.id());
  if (!port.rate)
    return bad(Status::unknown, port.id(), "-", "a link speed",
               "The speed of this active port could not be read: " + why_unread(port, "rate") + ".", show);
  std::vector<double> rates;  // of the active ports equal to this one, including its own
  for (const Port& other : view.now.ports)
    if (is_active(other) && other.rate && are_twins(port, other) &&
        for_gpus.contains(port.rdma) == for_gpus.contains(other.rdma))
      rates.push_back(*other.rate);
  const double best = *std::ranges::max_element(rates);
  if (*port.rate >= best) return good(port.id(), rate_text(*port.rate), rate_text(best));
  // At least two and at least half of them at one lower rate: two groups by design.
  const auto same = std::ranges::count(rates, *port.rate), full = std::ranges::count(rates, best);
  if (same >= 2 && same >= full && same + full == static_cast<long>(rates.size()))
    return good(port.id(), rate_text(*port.rate) + ", like at least half of the equal ports", rate_text(best));
  std::string remedy = "Configure the same speed and FEC as on the switch port (" + show +
                       "). Replace a cable or transceiver that brings up fewer lanes.";
  for (const Port& member : view.now.ports)
    if (member.is_member() && member.bond == port.netdev && member.carrier == false)
      remedy = "Restore the link of " + member.netdev + ": a bond is as fast as its members that have one.";
  const bool odd_one_out = static_cast<size_t>(full) * 2 > rates.size();
  return bad(odd_one_out ? Status::critical : Status::warning, port.id(), rate_text(*port.rate),
             rate_text(best) + ", like equal ports",
             "The link is slower than those of equal ports. Every collective runs at the speed of its slowest link.",
             std::move(remedy));
}

// The reference is the rate of equal ports, not a table of models.
void ask(const View& view, Findings& findings) {
  const std::set<std::string> for_gpus = devices_for_gpus(view);
  for (const Port& port : view.now.ports)
    if (is_judged(port) && is_active(port) && !misses_speed(view, port, for_gpus))
      findings.push_back(finding_for(view, port, for_gpus));
}

}  // namespace

extern const Check kRateCheck{
    .id = "rate",
    .group = group::link,
    .title = "A port is slower than equal ports",
    .meaning =
        "Compares ports of the same NIC model in the same position. A slower port has lost lanes or negotiated a lower "
        "speed, and every collective runs at the speed of its slowest link.",
    .inspect = "ethtool NETDEV; ethtool --show-fec NETDEV; the speed and FEC of the switch port",
    .fix = "Configure the same speed and FEC at both ends. Replace a cable or transceiver that brings up fewer lanes.",
    .ask = ask,
};

}  // namespace fabric
