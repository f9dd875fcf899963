// SPDX-License-Identifier: Apache-2.0
// The thread that reads the host: which devices exist, the topology, the agent's state, and the host collectors.
#include "exporter/collect/readers.h"
#include "kernel/rdma/infiniband.h"

namespace fabric::exporter {
namespace {

bool is_for_guests(const Root& root, const std::string& name) {
  const std::string device = std::string(infiniband::kClass) + "/" + name + "/device";
  const auto resolved = root.resolve(device);
  return root.exists(device + "/physfn") || (resolved && resolved->find(".sf.") != std::string::npos);
}

// Each device costs a thread. Functions for guests are left out first: udev numbers them behind their owner, before the
// next NIC. Returns how many were left out.
size_t leave_out(const std::string& directory, std::vector<std::string>& names) {
  if (names.size() <= kMostDevices) return 0;
  std::ranges::sort(names, natural_less);
  if (const auto root = Root::open(directory))
    std::stable_partition(names.begin(), names.end(),
                          [&](const std::string& name) { return !is_for_guests(*root, name); });
  const size_t left = names.size() - kMostDevices;
  names.resize(kMostDevices);
  return left;
}

// The input of the host collectors: the topology and the identity of the ports.
Node known_node(const Collector::Shared& shared) {
  Node out;
  out.topology = shared.host->shown.node.topology;
  for (const auto& [name, device] : shared.devices)
    for (const Port& port : device->shown->ports) {
      out.ports.push_back(port);
      out.ports.back().counters = {};
    }
  return out;
}

}  // namespace

HostThread::HostThread(const CollectorOptions& options) : reader_(options.root, options.topology) {
  for (const HostCollector& each : options.collectors != nullptr ? *options.collectors : host_collectors())
    collected.emplace_back(each);
}

void HostThread::ask_collectors() {
  for (Collected& each : collected) each.asked = true;
  wake.notify_one();
}

bool HostThread::has_collector_due() const {
  return std::ranges::any_of(collected, [](const Collected& each) { return each.is_due(); });
}

Clock::time_point HostThread::due(const Collector::Shared& shared) const {
  if (is_pending()) return {};
  auto out = rescan_due;
  const auto now = Clock::now();
  const bool waits = shared.reads_devices();
  for (const Collected& each : collected) {
    const auto at = each.asked ? now : each.due;
    out = std::min(out, waits ? std::max<Clock::time_point>(at, now + shared.options.stuck) : at);
  }
  return out;
}

void HostThread::work(Collector::Shared& shared, Lock& lock) {
  if (is_read_due()) return read_host(shared, lock);
  // They wait until the devices have been read that do not hang: at the start, and when many devices are added or
  // removed, they run once.
  if (shared.reads_devices()) return;
  if (auto* which = find_where(collected, [](const Collected& each) { return each.is_due(); }))
    collect(*which, shared, lock);
}

// One thread for each of `names`, and for no other.
void HostThread::update_devices(Collector::Shared& shared, const std::vector<std::string>& names) {
  std::erase_if(shared.devices, [&](const auto& device) {
    const bool gone = !contains(names, device.first);
    device.second->retired = gone;
    if (gone) device.second->wake.notify_one();
    return gone;
  });
  for (const std::string& name : names) {
    auto& device = shared.devices[name];
    if (!device) device = std::make_shared<DeviceThread>(shared.options, name);
    else if (device->no_thread.empty()) continue;
    shared.start(device);
  }
  for (const auto& [name, device] : shared.devices)
    device->bursts.pace.allow(shared.options.sampling.cpu_budget / static_cast<double>(shared.devices.size()));
}

void HostThread::read_host(Collector::Shared& shared, Lock& lock) {
  const uint64_t request = asked;
  const auto now = Clock::now();
  const bool asked_to = std::exchange(rescan, false), rescanning = asked_to || now >= rescan_due;
  reading = true;
  current = "agent";
  std::vector<std::string> names;
  if (rescanning) {
    without(lock, [&] {
      names = reader_.devices();
      if (const auto& policy = shared.options.policy)
        std::erase_if(names, [&](const std::string& device) { return matches_any(policy->exclude, device); });
      left_out_ = leave_out(shared.options.root, names);
    });
    if (!shared.stop) update_devices(shared, names);
  }
  HostReading next;
  without(lock, [&] { next = reader_.read(rescanning ? &names : nullptr, asked_to); });
  if (left_out_ > 0)
    next.runs.push_back({"devices", "", false, 0,
                         std::to_string(left_out_) + " RDMA devices beyond the first " + std::to_string(kMostDevices) +
                             " are not read; exclude those of guests ([exporter] exclude)"});
  reading = false;
  done = request;
  if (rescanning) rescan_due = now + shared.options.reread;
  if (next.agent_acted)
    for (const auto& [name, device] : shared.devices) device->ask_rescan();
  const bool new_topology = next.topology_read != shown.topology_read;
  if (new_topology || next.agent_acted) ++shared.generation;
  if (new_topology) ask_collectors();
  shown = std::move(next);
  taken = Clock::now();
  shared.notify_published();
}

void HostThread::collect(Collected& which, Collector::Shared& shared, Lock& lock) {
  Node known = known_node(shared);
  which.asked = false;
  current = which.collector.name;
  HostCollection next;
  without(lock, [&] { next = run_collector(which.collector, shared.options.root, std::move(known)); });
  which.shown = std::move(next);
  which.taken = Clock::now();
  which.due = which.taken + shared.options.*which.collector.every;
  ++shared.generation;
  shared.notify_published();
}

}  // namespace fabric::exporter
