// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/host_collectors.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "scan/scan.h"

namespace fabric::exporter {
namespace {

void read_platform(Kernel& kernel, Node& node) { scanning::read_platform(kernel.root, node); }
void copy_platform(const Node& from, Node& into) {
  into.platform = from.platform;
  into.pci_settings = from.pci_settings;
}

void read_host(Kernel& kernel, Node& node) { scanning::read_host(kernel.root, node); }
void copy_host(const Node& from, Node& into) {
  into.host = from.host;
  if (into.topology.hypervisor.empty()) into.topology.hypervisor = from.topology.hypervisor;
}

// The listener's file is newer and wins over the neighbors that the NIC's firmware keeps.
void copy_network(const Node& from, Node& into) {
  into.network = from.network;
  auto& heard = into.neighbors.heard;
  const auto is_heard = [&](const std::string& netdev) {
    return std::any_of(heard.begin(), heard.end(), [&](const Neighbor& each) { return each.netdev == netdev; });
  };
  for (const Neighbor& each : from.neighbors.heard)
    if (each.source == "firmware" && !is_heard(each.netdev)) heard.push_back(each);
  for (auto& [netdev, interface] : into.network.interfaces) {
    interface.peer_max_frame.reset();
    for (const Neighbor& each : heard)
      if (each.netdev == netdev && each.max_frame) interface.peer_max_frame = each.max_frame;
  }
}

}  // namespace

const std::vector<HostCollector>& host_collectors() {
  static const std::vector<HostCollector> all{
      {"network", &CollectorOptions::reread, scanning::read_network, copy_network, true},
      {"platform", &CollectorOptions::reread, read_platform, copy_platform, true},
      {"host", &CollectorOptions::host, read_host, copy_host, false},  // limits of other users' processes are hidden
  };
  return all;
}

HostCollection run_collector(const HostCollector& collector, const std::string& root, Node known) {
  const auto start = Clock::now();
  HostCollection out{nullptr, {collector.name, "", true, 0, {}}};
  if (auto kernel = open_kernel(root)) {
    collector.read(*kernel, known);
    if (collector.is_partial_failure && !known.unseen.empty()) out.run.error = known.unseen.front();
  } else {
    out.run.error = kernel.error().text();
  }
  known.ports.clear();  // they were input; the device threads publish them
  known.ports.shrink_to_fit();
  out.node = std::make_shared<const Node>(std::move(known));
  out.run.success = out.run.error.empty();
  out.run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return out;
}

bool are_same_subjects(const std::vector<Port>& a, const std::vector<Port>& b) {
  const auto netdevs = [](const Port& port) {
    std::set<std::string> names{port.netdev};
    for (const Gid& gid : port.gids) names.insert(gid.netdev);
    return names;
  };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](const Port& one, const Port& other) {
    return one.id() == other.id() && one.pci == other.pci && one.numa == other.numa && netdevs(one) == netdevs(other);
  });
}

}  // namespace fabric::exporter
