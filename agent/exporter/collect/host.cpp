// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/host.h"

#include "exporter/collect/collector.h"
#include "kernel/rdma/infiniband.h"
#include "node/scan.h"

namespace fabric::exporter {

std::vector<std::string> HostReader::devices() const {
  const auto root = Root::open(root_);
  return root ? infiniband::devices(*root) : std::vector<std::string>();
}

HostReading HostReader::read(const std::vector<std::string>* devices, bool topology_changed) {
  if (devices) {
    const bool changed = topology_changed || known_ != *devices;
    known_ = *devices;
    opened_.reset();  // another file system may have been mounted there
    if (changed || topology_taken_ == Clock::time_point{} || Clock::now() - topology_taken_ >= topology_age_)
      read_topology();
  }
  if (!opened_)
    if (auto opened = Root::open(root_)) opened_ = std::move(*opened);
  const Root* root = opened_ ? &*opened_ : nullptr;
  const bool acted = read_agent(root);
  node_.agent = state_ ? std::optional(*state_) : std::nullopt;
  node_.agent_unread = agent_.error;
  Neighbors neighbors = read_neighbors(root);
  read_optics(root);
  const bool is_old = optics_ && optics_age_ > state::longest_age(optics_->interval);
  return {node_,          std::move(neighbors),       {topology_, agent_}, acted,
          topology_read_, is_old ? nullptr : optics_, optics_age_};
}

void HostReader::read_topology() {
  auto start = Clock::now();
  topology_ = {"topology", "", true, 0, {}};
  topology_taken_ = start;
  ++topology_read_;
  auto kernel = open_kernel(root_);
  if (kernel) {
    ScanOptions options;
    options.platform = options.settings = options.counters = options.gids = options.network = false;
    options.exclude = {"*"};
    node_ = scan(*kernel, options);
    node_.ports.clear();
  } else {
    topology_.success = false;
    topology_.error = kernel.error().text();
  }
  topology_.seconds = seconds_since(start);
}

Neighbors HostReader::read_neighbors(const Root* root) {
  Neighbors out;
  if (root == nullptr) return out;
  auto heard = neighbors_.load(*root);
  if (heard && *heard) out = std::move(**heard);
  else out.why_none = heard ? "fabric-lldp is not running" : heard.error().text();
  return out;
}

// Published once a minute; parsed only when it has changed.
void HostReader::read_optics(const Root* root) {
  auto text = root != nullptr ? root->read_foreign(state::kOpticsFile) : Result<std::string>(error(ENOENT, root_));
  if (!text) {
    optics_.reset();
    optics_text_.clear();
    return;
  }
  if (*text != optics_text_) {
    auto optics = state::parse_optics(*text, std::string("/") + state::kOpticsFile, {});
    optics_ = optics ? std::make_shared<const state::Optics>(std::move(*optics)) : nullptr;
    optics_text_ = std::move(*text);
  }
  const auto now = state::uptime(*root);
  optics_age_ = optics_ && now ? std::max(0.0, *now - optics_->read) : 0;
}

bool HostReader::read_agent(const Root* root) {
  auto start = Clock::now();
  agent_ = {"agent", "", true, 0, {}};
  auto state = root != nullptr ? agent_state_.load(*root) : Result<std::shared_ptr<const AgentState>>(nullptr);
  if (!state) {
    agent_.success = false;
    agent_.error = state.error().text();
  }
  agent_.seconds = seconds_since(start);
  const auto before = std::exchange(state_, state ? std::move(*state) : nullptr);
  return before != state_;
}

namespace {

void read_platform(Kernel& kernel, Node& node) { scanning::read_platform(kernel.root, node); }
void copy_platform(const Node& from, Node& into) {
  into.platform = from.platform;
  into.pci_settings = from.pci_settings;
}

void read_host(Kernel& kernel, Node& node) { scanning::read_host(kernel.root, node); }
void copy_host(const Node& from, Node& into) { into.host = from.host; }

// The listener's file is newer and wins over the neighbors that the NIC's firmware keeps.
void copy_network(const Node& from, Node& into) {
  into.network = from.network;
  auto& heard = into.neighbors.heard;
  for (const Neighbor& each : from.neighbors.heard)
    if (each.source == "firmware" && !contains(heard, each.netdev, &Neighbor::netdev)) heard.push_back(each);
  for (auto& [netdev, interface] : into.network.interfaces) interface.peer_max_frame = announced_frame(heard, netdev);
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
  out.run.seconds = seconds_since(start);
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
