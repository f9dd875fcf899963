// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "checks/agent/expect.h"
#include "checks/checks.h"
#include "checks/topology/pairing.h"
#include "model/finding.h"

namespace fabric {
namespace {

// The rates of the active twins of a port, its own among them.
std::vector<double> rates_of_twins(const View& view, const Port& port, const std::set<std::string>& for_gpus) {
  std::vector<double> rates;
  for (const Port& other : view.now.ports)
    if (is_active(other) && other.rate && are_twins(port, other) &&
        for_gpus.count(port.rdma) == for_gpus.count(other.rdma))
      rates.push_back(*other.rate);
  return rates;
}

// Half of them or more, two at least, at one lower rate: two groups on purpose.
bool is_group(const std::vector<double>& rates, double rate) {
  const double best = *std::max_element(rates.begin(), rates.end());
  const auto same = std::count(rates.begin(), rates.end(), rate), full = std::count(rates.begin(), rates.end(), best);
  return same >= 2 && same + full == static_cast<long>(rates.size()) && same >= full;
}

Finding judge(const View& view, const Port& port, const std::set<std::string>& for_gpus) {
  if (!port.rate)
    return bad(Status::unknown, port.id(), "-", "a link speed",
               "The port is active and its speed is not known: " + why_unread(port, "rate") + ".",
               "Ask the driver: ethtool of the port's netdev, rdma link show.");
  const std::vector<double> rates = rates_of_twins(view, port, for_gpus);
  const double best = *std::max_element(rates.begin(), rates.end());
  if (*port.rate >= best) return good(port.id(), rate_text(*port.rate), rate_text(best));
  if (is_group(rates, *port.rate))
    return good(port.id(), rate_text(*port.rate) + ", as half of its twins or more", rate_text(best));
  const auto slower = std::count_if(rates.begin(), rates.end(), [&](double rate) { return rate < best; });
  const bool odd_one_out = static_cast<size_t>(slower) * 2 < rates.size();
  return bad(odd_one_out ? Status::critical : Status::warning, port.id(), rate_text(*port.rate),
             rate_text(best) + ", as its twins",
             "The link runs slower than those of the same adapters beside it, and every collective runs at the slowest "
             "link's speed.",
             "Compare speed, lanes and FEC with the switch port (ethtool " +
                 (port.netdev.empty() ? "DEVICE" : port.netdev) +
                 "); replace a cable or transceiver that gives fewer lanes.");
}

}  // namespace

// No table of models: what the machine's other ports of the same kind reach is what this one should reach.
void ask_rate(const View& view, Findings& findings) {
  const std::set<std::string> for_gpus = devices_for_gpus(view.now);
  for (const Port& port : view.now.ports)
    if (is_judged(port) && is_active(port) && !misses_speed(view, port, for_gpus))
      findings.push_back(judge(view, port, for_gpus));
}

}  // namespace fabric
