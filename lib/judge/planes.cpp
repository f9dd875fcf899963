// SPDX-License-Identifier: Apache-2.0
#include "judge/planes.h"

#include <cmath>

#include "judge/cabling.h"
#include "judge/platform_view.h"
#include "judge/port_state.h"
#include "node/endpoints.h"
#include "node/signals.h"
#include "node/topology.h"
#include "topology/built.h"

namespace fabric {

// How many planes [cabling] planes names.
static size_t declared_planes(const View& view) {
  std::set<std::string> names;
  if (view.policy != nullptr)
    for (const auto& [pattern, name] : view.policy->cabling.planes) names.insert(name);
  return names.size();
}

std::vector<GpuPlanes> planes_of_gpus(const View& view) {
  const auto built = built_of(view);
  const Topology& topology = built->topology;
  std::map<std::vector<size_t>, std::string> gpus;  // by their NICs
  for (size_t g = 0; g < std::min(built->gpus, built->pairing.pairs.size()); ++g)
    if (const auto& nics = built->pairing.pairs[g].nics; !nics.empty())
      append_item(gpus[nics], topology.gpus[g].name, " and ");
  std::vector<GpuPlanes> out;
  for (const auto& [nics, names] : gpus) {
    GpuPlanes each{names, {}, {}};
    std::set<std::string> cards, planes, slots;
    std::vector<size_t> lost;
    bool has_functions = false;
    for (const size_t index : nics) {
      const Nic& nic = topology.nics[index];
      if (built->lost.contains(index)) {
        lost.push_back(index);
        continue;
      }
      cards.insert(card_of(nic));
      slots.insert(card_of(nic.pci));
      for (const Port& port : view.now.ports) {
        if (!contains(nic.rdma, port.rdma) || !is_own_device(port) || why_unused(view, port)) continue;
        if (is_virtual(port) && belongs_elsewhere(view.now, port)) continue;  // of another pod
        each.ports.push_back(&port);
        has_functions = has_functions || is_virtual(port);
        planes.insert(rail_place(view.now, view.policy, port).plane);
      }
    }
    if (each.ports.empty()) continue;
    // The pairing leaves out ports that nothing uses, and so a plane without a link at any GPU. The policy knows it.
    if (planes.size() == each.ports.size() && !planes.contains(""))
      for (const Port& port : view.now.ports) {
        if (!is_judged(port) || port.state != kPortDown || !slots.contains(card_of(port.pci))) continue;
        if (contains(each.ports, &port)) continue;
        const std::string plane = rail_place(view.now, view.policy, port).plane;
        if (!plane.empty() && planes.insert(plane).second) each.ports.push_back(&port);
      }
    const bool are_declared = planes.size() == each.ports.size() && !planes.contains("");
    // Functions of a guest or pod on one card may be of one port: only the policy knows their planes.
    const bool is_one_card = cards.size() == 1 && !has_functions;
    for (const size_t index : lost) {
      const std::string& pci = topology.nics[index].pci;
      const bool is_plane = (is_one_card && slots.contains(card_of(pci))) ||
                            (are_declared && each.ports.size() + each.lost.size() < declared_planes(view));
      if (pci.empty() || !is_plane) continue;
      std::string place = pci;
      if (place.ends_with(kUnknownAddress)) place = "below " + place.substr(0, place.size() - kUnknownAddress.size());
      each.lost.push_back(std::move(place) + (index < built->nics ? " (no RDMA device)" : " (missing)"));
    }
    if (each.ports.size() + each.lost.size() > 1 && (is_one_card || are_declared)) out.push_back(std::move(each));
  }
  return out;
}

bool is_lost_plane(const std::vector<GpuPlanes>& all, const Port& port) {
  if (is_active(port) || !port.state) return false;
  return std::ranges::any_of(all, [&](const GpuPlanes& gpu) {
    return contains(gpu.ports, &port) &&
           std::ranges::any_of(gpu.ports, [](const Port* other) { return is_active(*other); });
  });
}

// "plane B is in maintenance", if [cabling] maintenance lists the port's plane; else empty. The plane is named by
// [cabling] planes, or numbered as in fabric_rail_info.
static std::string maintenance_of(const View& view, const Port& port) {
  if (view.policy == nullptr || view.policy->cabling.maintenance.empty()) return {};
  const std::string plane =
      rail_place(view.now, view.policy, port, rails_of(view.now.topology, view.now.ports, recorded_in(view.now))).plane;
  if (plane.empty() || !contains(view.policy->cabling.maintenance, plane)) return {};
  return "plane " + plane + " is in maintenance";
}

void mark_maintenance(const View& view, Report& report) {
  std::map<std::string, std::string> reasons;  // by port
  for (const Port& port : view.now.ports)
    if (std::string reason = maintenance_of(view, port); !reason.empty()) reasons.emplace(port.id(), std::move(reason));
  for (Finding& finding : report.findings) {
    const std::string* reason = find_in(reasons, finding.subject);
    if (reason == nullptr || finding.status == Status::ok) continue;
    const std::string_view of = find_rule(finding.id)->group;
    if (of != group::link && of != group::counters && of != group::cabling && of != group::network &&
        of != group::diagnosis)
      continue;
    finding.acknowledged = true;
    finding.acknowledgement = "by the policy: " + *reason;
  }
}

namespace {

constexpr Limit kCriticalShare{"planes", "critical", 50, "% of a GPU's bandwidth left, or less, is critical",
                               "ours",   0,          100};

// The share of the bandwidth that the ACTIVE ports have. A port that is down or lost counts as much as the fastest.
double share_left(const GpuPlanes& gpu) {
  double best = 0, left = 0, all = 0;
  for (const Port* port : gpu.ports) best = std::max(best, is_active(*port) ? port->rate.value_or(0) : 0);
  for (const Port* port : gpu.ports) {
    const double rate = is_active(*port) && port->rate ? *port->rate : best;
    all += best > 0 ? rate : 1;
    if (is_active(*port)) left += best > 0 ? rate : 1;
  }
  all += static_cast<double>(gpu.lost.size()) * (best > 0 ? best : 1);
  return left / all;
}

Finding planes_finding(const View& view, const GpuPlanes& gpu) {
  std::string lost, maintained;
  std::vector<std::string> ports;  // those in `lost`
  Fix fix;
  size_t active = 0;
  for (const Port* port : gpu.ports) {
    if (is_active(*port)) {
      ++active;
      continue;
    }
    if (const std::string reason = maintenance_of(view, *port); !reason.empty()) {
      append_item(maintained, port->id() + " (" + reason + ")");
      continue;
    }
    append_item(lost, port->id() + " (" + link_state_text(*port) + ")");
    ports.push_back(port->id());
    if (!fix.empty()) continue;
    View of_port = view;
    of_port.named.insert(port->id());  // also if nothing but the policy says that the port is used
    fix = fix_of_state(of_port, *port);
  }
  const double share = share_left(gpu);
  const std::string expected = std::to_string(gpu.ports.size() + gpu.lost.size()) + " planes",
                    observed = std::to_string(active) + " of " + expected + ", " +
                               number_text(std::round(share * 100)) + " % of its bandwidth";
  std::string planes = lost;
  if (!maintained.empty()) append_item(planes, maintained);
  for (const std::string& each : gpu.lost) append_item(planes, each);  // symmetry, inventory or pairing reports it
  if (lost.empty()) return good(gpu.gpus, planes.empty() ? observed : observed + ": " + planes, expected);
  const bool is_critical = share * 100 <= limit_of(view, kCriticalShare);
  Finding out = bad(is_critical ? Status::critical : Status::warning, gpu.gpus, observed + ": " + planes, expected,
                    "The traffic of this GPU is divided among its planes, and it has lost a part of them. Every "
                    "collective runs at the pace of the GPU with the least bandwidth.",
                    fix);
  out.ports = std::move(ports);
  return out;
}

// The planes in maintenance on which no port of this machine is known to be. A policy is for many machines: one without
// planes is no fault, unless no machine can have a plane of the name.
std::optional<Finding> maintenance_finding(const View& view) {
  if (view.policy == nullptr || view.policy->cabling.maintenance.empty()) return std::nullopt;
  const Cabling& cabling = view.policy->cabling;
  const auto rails = rails_of(view.now.topology, view.now.ports, recorded_in(view.now));
  std::set<std::string> here;
  std::string unplaced;  // ports whose plane may follow from their switch
  for (const Port& port : view.now.ports) {
    if (!is_own_device(port) || belongs_elsewhere(view.now, port)) continue;
    const RailPlace place = rail_place(view.now, view.policy, port, rails);
    if (!place.plane.empty()) here.insert(place.plane);
    else if (place.leaf.empty()) append_item(unplaced, port.id());
  }
  std::string unknown;
  for (const std::string& plane : cabling.maintenance) {
    const bool is_declared =
        std::ranges::any_of(cabling.planes, [&](const auto& each) { return each.second == plane; });
    if (!here.contains(plane) && (here.size() > 1 || (!is_declared && !parse_number<unsigned>(plane))))
      append_item(unknown, plane);
  }
  if (unknown.empty()) return std::nullopt;
  std::string meaning =
      "[cabling] maintenance names a plane on which no port of this machine is known to be: by this name "
      "no finding is acknowledged.";
  if (!unplaced.empty())
    meaning += " The switch of " + unplaced + " is not known: without LLDP, only the cable plan names it.";
  std::string planes = "none";
  if (!here.empty()) planes = joined(here);
  return bad(Status::warning, kHostSubject, "in maintenance: " + unknown, "planes of this machine: " + planes,
             std::move(meaning),
             {"Correct the name in [cabling] maintenance, or the patterns of [cabling] planes",
              {Work::service, ", then systemctl reload fabric-agent fabric-exporter"},
              "; fabric-agentctl neighbors has the switches."});
}

void ask_planes(const View& view, Findings& findings) {
  if (auto finding = maintenance_finding(view)) findings.push_back(std::move(*finding));
  for (const GpuPlanes& gpu : planes_of_gpus(view))
    if (std::ranges::any_of(gpu.ports, [](const Port* port) { return is_active(*port); }))
      findings.push_back(planes_finding(view, gpu));  // without any, port-state reports each
}

// -- Failback

// Bytes per second, both ways.
std::optional<double> traffic_of(const View& view, const Port& port) {
  const Signals* signals = signals_of_port(view, port);
  if (signals == nullptr || signals->seconds <= 0 || (!signals->rx_bytes && !signals->tx_bytes)) return std::nullopt;
  return (signals->rx_bytes.value_or(0) + signals->tx_bytes.value_or(0)) / signals->seconds;
}

// Evidence that the link of the port was down while those of the other planes were up; empty: none.
std::string link_down_text(const View& view, const GpuPlanes& gpu, const Port& port) {
  if (view.health != nullptr)
    if (const HealthState* flaps = view.health->find("link_flap", port.id()); flaps != nullptr)
      for (auto part = flaps->parts.rbegin(); part != flaps->parts.rend(); ++part)
        if (part->amount > 0) return "last link down at about " + time_text(wall_of(*view.health, part->from));
  if (const Signals* signals = signals_of_port(view, port); signals != nullptr && signals->link_downs.value_or(0) > 0)
    return "its link was just down";
  if (const Port* before = port_before(view, port); before != nullptr && !is_active(*before))
    return "it was not ACTIVE before";
  std::optional<uint64_t> fewest;
  for (const Port* other : gpu.ports)
    if (other != &port && other->counters.carrier_down)
      fewest = std::min<uint64_t>(fewest.value_or(*other->counters.carrier_down), *other->counters.carrier_down);
  if (!fewest || !port.counters.carrier_down || *port.counters.carrier_down <= *fewest) return {};
  return "its link was down " + counted(*port.counters.carrier_down - *fewest, "time") + " more than those";
}

constexpr Limit kBusyPlane{
    "failback", "busy_share", 0.01, "of the link's rate, both ways, from which on the planes are busy",
    "ours",     0.0001,       2};
constexpr Limit kIdlePlane{
    "failback", "idle_share", 0.01, "of the traffic of the busiest plane, below which a plane is idle", "ours", 0, 1};

void read_failback(const View& view, const RuleWindow&, MeasuredList& out) {
  const double busy = limit_of(view, kBusyPlane), idle = limit_of(view, kIdlePlane);
  for (const GpuPlanes& gpu : planes_of_gpus(view)) {
    double most = 0;
    const Port* busiest = nullptr;
    for (const Port* port : gpu.ports)
      if (const auto traffic = traffic_of(view, *port); traffic && *traffic > most) {
        most = *traffic;
        busiest = port;
      }
    if (busiest == nullptr || most < busy * busiest->rate.value_or(0)) continue;
    for (const Port* port : gpu.ports) {
      const auto traffic = traffic_of(view, *port);
      if (!is_active(*port) || !traffic) continue;
      Measured reading{port->id(), 0, 0, "carries traffic, as the other planes do"};
      if (*traffic < idle * most)
        if (const std::string down = link_down_text(view, gpu, *port); !down.empty()) {
          reading.amount = 1;
          reading.evidence =
              "ACTIVE, and no traffic while " + busiest->id() + " carries " + rate_text(most) + "; " + down;
        }
      out.push_back(std::move(reading));
    }
  }
}

constexpr Measurement kFailbackWindows[]{
    {.window = {"failback", Measure::level, WindowLimits{1, kNever, 0, kMinute, kMinute},
                "1: ACTIVE after its link was down, and idle while another plane is busy", "ours",
                "traffic on every plane"},
     .meaning = "The port is ACTIVE again, and no traffic returned while the other planes of its GPU are busy: the job "
                "did not return to it and runs with less bandwidth.",
     .remedy = "Restart the job, or its communicators, when it can stop: connections that moved to other planes stay "
               "there. Libraries that return by themselves: the Spectrum-X NCCL plugin, NCCL 2.30 with "
               "NCCL_IB_RESILIENCY_PORT_RECOVERY=1. First rule out that the link is still unstable: fabric-agentctl "
               "check --only link-flap",
     .read = read_failback},
};

}  // namespace

constexpr Rule kPlanes{
    .id = "planes",
    .group = group::topology,
    .title = "A GPU has lost planes of its network",
    .meaning =
        "Counts the ports of a GPU that are ACTIVE: those of one card, or the NICs that [cabling] planes names as "
        "different planes, also the functions of a guest or pod. A lost plane costs its share of the GPU's bandwidth; "
        "port-state does not report it as well. "
        "Planes in [cabling] maintenance are listed and do not count; a name there on which a machine with several "
        "planes has "
        "no port is a warning. A plane whose function is missing or has no RDMA "
        "device is listed; symmetry, inventory or pairing reports it. A GPU without any plane is reported by "
        "port-state.",
    .inspect = "rdma link show; fabric-agentctl topo; ethtool NETDEV",
    .fix = "Restore the link of the plane: enable the switch port, reseat or replace cable and module.",
    .limits = {&kCriticalShare},
    .ask = ask_planes,
};

constexpr Rule kFailback{
    .id = "failback",
    .group = group::counters,
    .title = "The job did not return to a plane that is ACTIVE again",
    .meaning =
        "Compares the traffic of the planes of a GPU. A plane whose link was down, is ACTIVE again and carries nothing "
        "while the others are busy was left by the job. A plane that was never down is not reported: a job may use "
        "fewer planes by choice.",
    .inspect = "fabric-agentctl counters --watch; the job's log: which devices it uses",
    .fix = "Restart the job, or use a library that returns to the plane by itself.",
    .limits = {&kBusyPlane, &kIdlePlane},
    .windows = kFailbackWindows,
};

constexpr Rule kTable[]{kPlanes, kFailback};
const std::span<const Rule> kPlanesRules = kTable;

}  // namespace fabric
