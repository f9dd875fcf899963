// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "checks/check.h"
#include "checks/topology/expect.h"
#include "checks/topology/pairing.h"
#include "health/health.h"
#include "model/finding.h"

namespace fabric {
namespace {

// Rates of the active ports equal to this one, including its own.
std::vector<double> rates_of_twins(const View& view, const Port& port, const std::set<std::string>& for_gpus) {
  std::vector<double> rates;
  for (const Port& other : view.now.ports)
    if (is_active(other) && other.rate && are_twins(port, other) &&
        for_gpus.count(port.rdma) == for_gpus.count(other.rdma))
      rates.push_back(*other.rate);
  return rates;
}

// At least two and at least half of them at one lower rate: two groups by design.
bool is_group(const std::vector<double>& rates, double rate) {
  const double best = *std::ranges::max_element(rates);
  const auto same = std::ranges::count(rates, rate), full = std::ranges::count(rates, best);
  return same >= 2 && same + full == static_cast<long>(rates.size()) && same >= full;
}

std::string show_command(const Port& port) { return fill_names("ethtool {netdev}", &port, port.id()); }

Finding finding_for(const View& view, const Port& port, const std::set<std::string>& for_gpus) {
  if (!port.rate)
    return bad(Status::unknown, port.id(), "-", "a link speed",
               "The speed of this active port could not be read: " + why_unread(port, "rate") + ".",
               show_command(port));
  const std::vector<double> rates = rates_of_twins(view, port, for_gpus);
  const double best = *std::ranges::max_element(rates);
  if (*port.rate >= best) return good(port.id(), rate_text(*port.rate), rate_text(best));
  if (is_group(rates, *port.rate))
    return good(port.id(), rate_text(*port.rate) + ", like at least half of the equal ports", rate_text(best));
  const auto slower = std::ranges::count_if(rates, [&](double rate) { return rate < best; });
  const bool odd_one_out = static_cast<size_t>(slower) * 2 < rates.size();
  return bad(odd_one_out ? Status::critical : Status::warning, port.id(), rate_text(*port.rate),
             rate_text(best) + ", like equal ports",
             "The link is slower than those of equal ports. Every collective runs at the speed of its slowest link.",
             "Configure the same speed and FEC as on the switch port (" + show_command(port) +
                 "). Replace a cable or transceiver that brings up fewer lanes.");
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
