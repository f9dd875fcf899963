// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/host.h"

#include "base/json.h"
#include "exporter/collect/collector.h"
#include "kernel/rdma/infiniband.h"
#include "node/published.h"
#include "node/scan.h"

namespace fabric::exporter {

template <class Readings>
FromAgent<Readings> AgentFile<Readings>::read(const Root* root) {
  std::string text;
  if (root != nullptr)
    if (auto read = root->read_foreign(file_)) text = std::move(*read);
  if (text != text_) {
    readings_.reset();
    if (auto parsed = parse_(text, std::string("/") + file_, {}))
      readings_ = std::make_shared<const Readings>(std::move(*parsed));
    text_ = std::move(text);
  }
  FromAgent<Readings> out{readings_, 0};
  if (!out.readings || root == nullptr) return out;
  if (const auto now = state::uptime(*root)) out.age = std::max(0.0, *now - readings_->read);
  if (out.age > state::longest_age(readings_->interval)) out.readings.reset();
  return out;
}

Result<std::vector<std::string>> HostReader::devices() {
  const auto root = Root::open(root_);
  if (!root) return root.error();
  auto names = infiniband::devices(*root);
  node_.rdma_unread.clear();
  if (!names) node_.rdma_unread = names.error().text();
  return names;
}

HostReading HostReader::read(const std::vector<std::string>* devices, bool topology_changed) {
  if (devices) {
    const bool changed = topology_changed || known_ != *devices;
    known_ = *devices;
    opened_.reset();  // another file system may have been mounted at the root
    if (changed || topology_taken_ == Clock::time_point{} || Clock::now() - topology_taken_ >= topology_age_)
      read_topology();
  }
  if (!opened_)
    if (auto opened = Root::open(root_)) opened_ = std::move(*opened);
  const Root* root = nullptr;
  if (opened_) root = &*opened_;

  const auto start = Clock::now();
  CollectorRun run{"agent", "", true, 0, {}};
  node_.agent_is_newer = false;
  std::shared_ptr<const AgentState> state;
  if (root != nullptr) {
    if (auto loaded = agent_state_.load(*root)) {
      state = std::move(*loaded);
    } else {
      run.success = false;
      run.error = loaded.error().text();
      node_.agent_is_newer = loaded.error().code == kNewerFormat;
    }
  }
  run.seconds = seconds_since(start);
  const bool agent_acted = state != state_;
  state_ = std::move(state);
  node_.agent.reset();
  if (state_) node_.agent = *state_;
  node_.agent_unread = run.error;

  Neighbors neighbors;
  if (root != nullptr) {
    auto published = neighbors_.load(*root);
    if (!published) neighbors.why_none = published.error().text();
    else if (!*published) neighbors.why_none = "fabric-lldp is not running";
    else neighbors = std::move(**published);
  }

  return {node_,           std::move(neighbors), {topology_, std::move(run)},
          agent_acted,     topology_read_,       optics_.read(root),
          vnic_.read(root)};
}

void HostReader::read_topology() {
  auto start = Clock::now();
  topology_ = {kTopologyCollector, "", true, 0, {}};
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

namespace {

void read_platform(Kernel& kernel, Node& node) { scanning::read_platform(kernel.root, node); }
void copy_platform(const Node& from, Node& into) {
  into.platform = from.platform;
  into.pci_settings = from.pci_settings;
}

void read_host(Kernel& kernel, Node& node) { scanning::read_host(kernel.root, node); }
void copy_host(const Node& from, Node& into) { into.host = from.host; }

// The neighbors of the listener's file are newer and replace those of the NIC's firmware.
void copy_network(const Node& from, Node& into) {
  into.network = from.network;
  auto& neighbors = into.neighbors.heard;
  for (const Neighbor& neighbor : from.neighbors.heard)
    if (neighbor.source == kFirmwareSource && !contains(neighbors, neighbor.netdev, &Neighbor::netdev))
      neighbors.push_back(neighbor);
  for (auto& [netdev, interface] : into.network.interfaces)
    interface.peer_max_frame = announced_frame(neighbors, netdev);
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
  for (Port& port : known.ports) port.unread.clear();  // of the device threads
  if (auto kernel = open_kernel(root)) {
    collector.read(*kernel, known);
    if (collector.is_partial_failure && !known.unseen.empty()) out.run.error = known.unseen.front();
  } else {
    out.run.error = kernel.error().text();
  }
  for (const Port& port : known.ports)
    if (!port.unread.empty() && !contains(out.failed, port.rdma, &CollectorRun::device))
      out.failed.push_back({collector.name, port.rdma, false, 0, port.unread.front().why});
  known.ports.clear();  // the ports were input; the device threads publish them
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
  return std::ranges::equal(a, b, [&](const Port& left, const Port& right) {
    return left.id() == right.id() && left.pci == right.pci && left.numa == right.numa &&
           netdevs(left) == netdevs(right);
  });
}

}  // namespace fabric::exporter
