// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/parts.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

#include "scan/host.h"
#include "scan/network.h"
#include "scan/platform.h"

namespace fabric::exporter {
namespace {

void read_platform(Kernel& kernel, Node& node) { scanning::read_platform(kernel.root, node); }
void join_platform(const Node& from, Node& into) {
  into.platform = from.platform;
  into.pci_settings = from.pci_settings;
}

void read_host(Kernel& kernel, Node& node) { scanning::read_host(kernel.root, node); }
void join_host(const Node& from, Node& into) {
  into.host = from.host;
  if (into.topology.hypervisor.empty()) into.topology.hypervisor = from.topology.hypervisor;
}

bool is_heard(const Node& node, const std::string& netdev) {
  return std::any_of(node.neighbors.heard.begin(), node.neighbors.heard.end(),
                     [&](const Neighbor& each) { return each.netdev == netdev; });
}

void join_network(const Node& from, Node& into) { into.network = from.network; }

// The listener's file is read with every page, and wins; firmware's agents are asked with the addresses.
void follow_neighbors(const Node& from, Node& into) {
  for (const Neighbor& each : from.neighbors.heard)
    if (each.source == "firmware" && !is_heard(into, each.netdev)) into.neighbors.heard.push_back(each);
  for (auto& [netdev, interface] : into.network.interfaces) {
    interface.peer_max_frame.reset();
    for (const Neighbor& each : into.neighbors.heard)
      if (each.netdev == netdev && each.max_frame) interface.peer_max_frame = each.max_frame;
  }
}

}  // namespace

const std::vector<Part>& parts() {
  static const std::vector<Part> all{
      {"network", &CollectorOptions::reread, scanning::read_network, join_network, true, follow_neighbors},
      {"platform", &CollectorOptions::reread, read_platform, join_platform, true},
      {"host", &CollectorOptions::host, read_host, join_host, false},  // the limits of others' processes are hidden
  };
  return all;
}

PartReading read_part(const Part& part, const std::string& root, Node known) {
  const auto start = Clock::now();
  PartReading out{nullptr, {part.name, "", true, 0, {}}};
  if (auto kernel = open_kernel(root)) {
    part.read(*kernel, known);
    if (part.whole && !known.unseen.empty()) out.run.error = known.unseen.front();
  } else {
    out.run.error = kernel.error().text();
  }
  std::vector<Port>().swap(known.ports);  // they were asked about, not read here: the devices' readers have them
  out.node = std::make_shared<const Node>(std::move(known));
  out.run.success = out.run.error.empty();
  out.run.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  ::malloc_trim(0);  // the tables of a machine with many processes or routes are gone again
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
