// SPDX-License-Identifier: Apache-2.0
#include "health/health_ports.h"

#include <algorithm>
#include <cmath>

#include "model/finding.h"
#include "topology/platform.h"

namespace fabric {
namespace {

// The priority that was held for longest, or all of them by global pause.
void read_pause(const View& view, Rise PrioritySignals::*member, Rise Signals::*global, const std::string& who,
                HealthReadings& out) {
  for (const Port& port : view.now.ports) {
    const Signals* signals = signals_of_port(view, port);
    if (signals == nullptr || !is_watched(port) || signals->seconds <= 0) continue;
    std::optional<double> most;
    std::string where;
    for (size_t i = 0; i < signals->priority.size(); ++i) {
      const Rise rise = signals->priority[i].*member;
      if (!rise || (most && *rise <= *most)) continue;
      most = rise;
      where = "priority " + std::to_string(i);
    }
    if (const Rise& all = signals->*global; all && (!most || *all > *most))
      most = all, where = "all priorities by global pause";
    if (!most) continue;
    const double share = std::min(1.0, *most / signals->seconds);
    out.push_back({port.id(), share * signals->seconds, signals->seconds,
                   who + " on " + where + " for " + number_text(std::round(share * 1000) / 10) + " % of " +
                       (share > 0 ? number_text(std::round(signals->seconds * 10) / 10) + " s" : "the time")});
  }
}

double count_of(const std::vector<Counter>& before, const std::vector<Counter>& now, bool& moved) {
  double counters = 0;
  for (const Counter& counter : now) {
    const auto old =
        std::find_if(before.begin(), before.end(), [&](const Counter& other) { return other.name == counter.name; });
    if (old == before.end()) continue;
    ++counters;
    moved = moved || old->value != counter.value;
  }
  return counters;
}

// Bytes of the lossless priorities, which are RoCE's, as the port itself counts them. By 0 goes all that nobody sorts.
double lossless_bytes(const Port& port, const Signals& signals) {
  double sum = 0;
  for (size_t i = 1; port.qos.pfc && i < signals.priority.size(); ++i)
    if (port.qos.pfc->has(static_cast<int>(i)))
      sum += signals.priority[i].rx_bytes.value_or(0) + signals.priority[i].tx_bytes.value_or(0);
  return sum;
}

// A function of the NIC that counts its own RDMA, while the wire counts that of all: a virtual one, a subfunction, or
// (socket direct, multi-host) one of the same card in another slot; those that a guest sees are its hypervisor's.
bool shares_its_wire(const View& view, const Port& port) {
  const auto& nics = view.now.topology.nics;
  const auto own = std::find_if(nics.begin(), nics.end(), [&](const Nic& nic) { return nic.pci == port.pci; });
  const bool real = view.now.topology.hypervisor.empty();
  const auto shares = [&](const Nic& nic) {
    const bool is_guests = nic.virtual_function && nic.root == own->root && nic.bridges == own->bridges;
    return is_guests || (real && !nic.card.empty() && nic.card == own->card && card_of(nic.pci) != card_of(own->pci));
  };
  if (own != nics.end() && (own->subfunctions || std::any_of(nics.begin(), nics.end(), shares))) return true;
  return std::any_of(view.now.ports.begin(), view.now.ports.end(), [&](const Port& other) {
    return other.virtual_function && !port.pci.empty() && other.pci == port.pci;
  });
}

const Gid* gid_at(const Port& port, unsigned index) {
  const auto found =
      std::find_if(port.gids.begin(), port.gids.end(), [&](const Gid& gid) { return gid.index == index; });
  return found == port.gids.end() ? nullptr : &*found;
}

}  // namespace

bool is_own(const View& view, const Port& port, const Gid& gid) {
  if (gid.netdev.empty() || gid.above || gid.netdev == port.netdev || gid.netdev.starts_with(port.netdev + "."))
    return true;
  return std::any_of(view.now.ports.begin(), view.now.ports.end(),
                     [&](const Port& other) { return other.netdev == gid.netdev; });
}

void read_tx_pause(const View& view, HealthReadings& out) {
  read_pause(view, &PrioritySignals::tx_pause_seconds, &Signals::tx_global_pause_seconds, "it holds the network", out);
}
void read_rx_pause(const View& view, HealthReadings& out) {
  read_pause(view, &PrioritySignals::rx_pause_seconds, &Signals::rx_global_pause_seconds, "the network holds it", out);
}

void read_lossless_discards(const View& view, HealthReadings& out) {
  for (const Port& port : view.now.ports) {
    const Signals* signals = signals_of_port(view, port);
    if (signals == nullptr || !is_watched(port) || !port.qos.pfc) continue;
    HealthReading reading{port.id(), 0, signals->seconds, "", std::nullopt, std::nullopt};
    bool any = false;
    for (size_t i = 0; i < signals->priority.size(); ++i) {
      const Rise rise = signals->priority[i].discards;
      if (!rise || !port.qos.pfc->has(static_cast<int>(i))) continue;
      any = true;
      reading.amount += *rise;
      if (*rise > 0)
        reading.evidence += (reading.evidence.empty() ? "" : ", ") + number_text(*rise) +
                            " discards on lossless priority " + std::to_string(i);
    }
    if (reading.evidence.empty()) reading.evidence = "no discards on lossless priorities";
    if (any) out.push_back(std::move(reading));
  }
}

// RDMA traffic passes the port and not one of its RDMA counters moves: what they say is worth nothing.
void read_frozen_counters(const View& view, HealthReadings& out) {
  constexpr double kMuch = 100e6, kEnough = 4;  // bytes in the window; counters
  for (const Port& port : view.now.ports) {
    const Signals* signals = signals_of_port(view, port);
    const Port* before = port_before(view, port);
    if (signals == nullptr || before == nullptr || !is_judged(port) || shares_its_wire(view, port)) continue;
    bool moved = false;
    const double counters = count_of(before->counters.hw, port.counters.hw, moved) +
                            count_of(before->counters.pma, port.counters.pma, moved);
    const bool counts_traffic = signals->rx_bytes || signals->tx_bytes;
    if (counters < kEnough || !counts_traffic) continue;
    const double bytes = lossless_bytes(port, *signals);
    const bool frozen = !moved && bytes >= kMuch;
    out.push_back({port.id(), frozen ? 1.0 : 0.0, 0,
                   frozen ? number_text(bytes / 1e6) + " MB on lossless priorities, and none of " +
                                number_text(counters) + " RDMA counters moved"
                          : number_text(counters) + " RDMA counters live"});
  }
}

void read_stale_readings(const View& view, HealthReadings& out) {
  if (view.health == nullptr) return;
  for (const auto& [port, age] : view.health->ages)
    out.push_back({port, age, 0, "counters could not be read for " + number_text(std::round(age)) + " s"});
}

// A GID that is another one now, or gone, where a table is there at both times.
void read_gid_changed(const View& view, HealthReadings& out) {
  for (const Port& port : view.now.ports) {
    const Port* before = port_before(view, port);
    if (before == nullptr || !is_judged(port) || !is_roce(port) || port.gids.empty() || before->gids.empty()) continue;
    HealthReading reading{port.id(), 0, window_of(view), "", std::nullopt, std::nullopt};
    for (const Gid& old : before->gids) {
      if (!is_own(view, port, old)) continue;
      const Gid* now = gid_at(port, old.index);
      const bool same = now != nullptr && now->gid == old.gid;
      if (same && (now->type == old.type || now->type.empty() || old.type.empty()))
        continue;  // a type may be unreadable
      ++reading.amount;
      reading.evidence += (reading.evidence.empty() ? "index " : ", index ") + std::to_string(old.index) + ": " +
                          (same ? old.gid + " " + old.type : old.gid) + " -> " +
                          (now == nullptr ? "gone"
                           : same         ? now->type
                                          : now->gid);
    }
    if (reading.evidence.empty()) reading.evidence = std::to_string(port.gids.size()) + " GIDs as they were";
    out.push_back(std::move(reading));
  }
}

void read_device_errors(const View& view, HealthReadings& out) {
  for (const Port& port : view.now.ports) {
    const Port* before = port_before(view, port);
    if (before == nullptr || !is_judged(port) || port.reporters.empty()) continue;
    HealthReading reading{port.id(), 0, window_of(view), "", std::nullopt, std::nullopt};
    for (const HealthReporter& now : port.reporters)
      for (const HealthReporter& old : before->reporters)
        if (old.name == now.name && now.errors > old.errors) {
          reading.amount += static_cast<double>(now.errors - old.errors);
          reading.evidence += (reading.evidence.empty() ? "" : ", ") + now.name + ": " +
                              std::to_string(now.errors - old.errors) + " new errors, " +
                              std::to_string(now.recoveries - std::min(old.recoveries, now.recoveries)) + " recoveries";
        }
    if (reading.evidence.empty())
      reading.evidence = "no new errors of " + std::to_string(port.reporters.size()) + " reporters";
    out.push_back(std::move(reading));
  }
}

void read_device_state(const View& view, HealthReadings& out) {
  for (const Port& port : view.now.ports) {
    if (!is_judged(port) || port.reporters.empty()) continue;
    HealthReading reading{port.id(), 0, 0, "", std::nullopt, std::nullopt};
    for (const HealthReporter& reporter : port.reporters)
      if (!reporter.healthy) {
        reading.amount = 1;
        reading.evidence += (reading.evidence.empty() ? "in error: " : ", ") + reporter.name;
      }
    if (reading.evidence.empty()) reading.evidence = std::to_string(port.reporters.size()) + " reporters healthy";
    out.push_back(std::move(reading));
  }
}

// Of GPUs, NICs and the bridges above them. Errors start at 0 again when a device is added anew.
void read_pcie_replays(const View& view, HealthReadings& out) {
  const double seconds = window_of(view);
  if (view.before == nullptr || seconds <= 0) return;
  for (const auto& [pci, now] : view.now.platform.functions) {
    const PlatformFunction* before = function_of(*view.before, pci);
    if (before == nullptr || !now.correctable.total || !before->correctable.total ||
        *now.correctable.total < *before->correctable.total)
      continue;
    const double bits = now.link.speed.value_or(0) * 1e9 * now.link.width.value_or(0) * seconds;
    if (bits <= 0) continue;
    const auto count = static_cast<double>(*now.correctable.total - *before->correctable.total);
    out.push_back({pci, count, bits, number_text(count) + " correctable errors"});
  }
}

}  // namespace fabric
