// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/collector.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "exporter/collect/collector_threads.h"

namespace fabric::exporter {
namespace {

CollectorRun hanging(const std::string& collector, const std::string& device, const Slot& slot) {
  return {collector, device, false, std::chrono::duration<double>(Clock::now() - slot.since).count(), "hangs"};
}

}  // namespace

Collector::Collector(CollectorOptions options, int wake) : shared_(std::make_shared<Shared>(std::move(options))) {
  shared_->wake = Fd(::dup(wake));
  std::lock_guard lock(shared_->mutex);
  if (auto started = start_crew(shared_); !started) shared_->broken = started.error().text();
}

Collector::~Collector() {
  std::lock_guard lock(shared_->mutex);
  end_crew(*shared_);
}

void Collector::refresh() {
  std::unique_lock lock(shared_->mutex);
  shared_->ask();
  call_worker(shared_, std::move(lock));
}

bool Collector::read_here() {
  const auto shared = shared_;  // whoever takes over may end this collector
  std::unique_lock lock(shared->mutex);
  shared->ask();
  return exporter::read_here(shared, std::move(lock));
}

void Collector::rescan() {
  std::unique_lock lock(shared_->mutex);
  shared_->rescan_devices();
  shared_->host->rescan = true;
  ++shared_->host->asked;
  call_worker(shared_, std::move(lock));
}

void Collector::reread(const std::set<std::string>& netdevs) {
  const auto concerns = [&](const Port& port) {
    return netdevs.count(port.netdev) != 0 || std::any_of(port.gids.begin(), port.gids.end(), [&](const Gid& gid) {
             return netdevs.count(gid.netdev) != 0;
           });
  };
  std::unique_lock lock(shared_->mutex);
  for (const auto& [name, slot] : shared_->devices) {
    const auto& ports = slot->shown.ports;
    if (std::none_of(ports.begin(), ports.end(), concerns)) continue;
    slot->rescan = true;
    ++slot->asked;
  }
  call_worker(shared_, std::move(lock));
}

bool Collector::fresh(std::chrono::milliseconds age) const {
  std::lock_guard lock(shared_->mutex);
  bool all = true;
  auto oldest = Clock::now() - age;
  shared_->each([&](const Slot& slot) { all = all && (shared_->hangs(slot) || slot.taken >= oldest); });
  return all;
}

bool Collector::busy() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->busy();
}

bool Collector::complete() const {
  std::lock_guard lock(shared_->mutex);
  bool all = true;
  const auto look = [&](const Slot& slot) { all = all && (slot.taken != Clock::time_point{} || shared_->hangs(slot)); };
  shared_->each(look);
  for (const auto& slot : shared_->parts) look(*slot);
  return all;
}

bool Collector::has_all() const {
  std::lock_guard lock(shared_->mutex);
  bool all = true;
  const auto look = [&](const Slot& slot) { all = all && slot.taken != Clock::time_point{}; };
  shared_->each(look);
  for (const auto& slot : shared_->parts) look(*slot);
  return all;
}

uint64_t Collector::version() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->version;
}

uint64_t Collector::news() const {
  std::lock_guard lock(shared_->mutex);
  return shared_->news;
}

std::vector<Port> Collector::ports() const {
  std::vector<Port> out;
  std::lock_guard lock(shared_->mutex);
  for (const auto& [name, slot] : shared_->devices)
    for (const Port& shown : slot->shown.ports) {
      Port& port = out.emplace_back();
      port.rdma = shown.rdma;
      port.number = shown.number;
      port.netdev = shown.netdev;
      port.bond = shown.bond;
      port.kernel_driver = shown.kernel_driver;
      port.rate = shown.rate;
      port.qos.pfc = shown.qos.pfc;
    }
  return out;
}

namespace {

// A virtual function's netdev is not in there, nor a bond's; its members' are.
void join_modules(const HostSlot& host, Snapshot& into) {
  into.modules_taken.reset();
  if (!host.shown.optics) return;
  const state::Optics& optics = *host.shown.optics;
  into.modules_taken =
      host.taken - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(host.shown.optics_age));
  for (Port& port : into.node.ports)
    if (const auto module = optics.modules.find(port.netdev); module != optics.modules.end())
      port.module = module->second;
}

// What belongs to no device: most of it seldom changes, and may be large.
void join_parts(const Collector::Shared& shared, Snapshot& into) {
  std::vector<std::shared_ptr<const Node>> parts{shared.host->shown.node};
  for (const auto& slot : shared.parts) parts.push_back(slot->shown.node);
  if (parts != into.parts) {
    std::vector<Port> ports = std::exchange(into.node.ports, {});
    into.node = parts.front() ? *parts.front() : Node();
    into.node.ports = std::move(ports);
    for (const auto& slot : shared.parts)
      if (slot->shown.node) slot->part.join(*slot->shown.node, into.node);
    into.parts = std::move(parts);
  }
  into.node.neighbors = shared.host->shown.neighbors;
  for (const auto& slot : shared.parts)
    if (slot->part.follow != nullptr && slot->shown.node) slot->part.follow(*slot->shown.node, into.node);
}

// In natural order. A port is copied into the memory of the one that stood at its place.
void join_ports(const Collector::Shared& shared, std::vector<Port>& into) {
  std::vector<const Port*> wanted;
  for (const auto& [name, slot] : shared.devices)
    for (const Port& port : slot->shown.ports) wanted.push_back(&port);
  std::ranges::stable_sort(wanted, [](const Port* a, const Port* b) { return natural_less(a->rdma, b->rdma); });
  into.resize(wanted.size());
  for (size_t i = 0; i < wanted.size(); ++i) into[i] = *wanted[i];
}

void join_plans(const Collector::Shared& shared, Snapshot& into) {
  std::vector<std::shared_ptr<const Plan>> plans;
  for (const auto& [name, slot] : shared.devices) plans.push_back(slot->shown.plan);
  if (plans == into.plans) return;
  into.plan.clear();
  for (const auto& plan : plans) into.plan.insert(plan->begin(), plan->end());
  into.plans = std::move(plans);
}

}  // namespace

Snapshot Collector::snapshot() const {
  Snapshot out;
  snapshot(out);
  return out;
}

void Collector::snapshot(Snapshot& into) const {
  std::lock_guard lock(shared_->mutex);
  join_parts(*shared_, into);
  join_ports(*shared_, into.node.ports);
  join_modules(*shared_->host, into);
  join_plans(*shared_, into);
  into.node.taken = Clock::now();
  into.news = shared_->news;
  into.ages.clear();
  into.runs = shared_->host->shown.runs;
  if (!shared_->broken.empty()) into.runs.push_back({"readers", "", false, 0, shared_->broken});
  for (const auto& [name, slot] : shared_->devices) {
    const DeviceReading& shown = slot->shown;
    into.runs.insert(into.runs.end(), shown.runs.begin(), shown.runs.end());
    if (slot->taken != Clock::time_point{}) into.ages.push_back({name, slot->taken});
    if (shared_->hangs(*slot)) into.runs.push_back(hanging("reader", name, *slot));
  }
  for (const auto& slot : shared_->parts) {
    if (shared_->hangs(*slot)) into.runs.push_back(hanging(slot->part.name, "", *slot));
    else if (slot->taken != Clock::time_point{}) into.runs.push_back(slot->shown.run);
  }
}

}  // namespace fabric::exporter
