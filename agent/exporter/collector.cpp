// SPDX-License-Identifier: Apache-2.0
#include "exporter/collector.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/parse.h"
#include "exporter/collector_threads.h"

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
  std::lock_guard lock(shared_->mutex);
  uint64_t request = shared_->host->asked + 1;
  shared_->each([&](Slot& slot) {
    if (!slot.reading) slot.asked = request;
  });
  call_worker(shared_);
}

void Collector::rescan() {
  std::lock_guard lock(shared_->mutex);
  shared_->rescan_devices();
  shared_->host->rescan = true;
  ++shared_->host->asked;
  call_worker(shared_);
}

void Collector::reread(const std::set<std::string>& netdevs) {
  const auto concerns = [&](const Port& port) {
    return netdevs.count(port.netdev) != 0 || std::any_of(port.gids.begin(), port.gids.end(), [&](const Gid& gid) { return netdevs.count(gid.netdev) != 0; });
  };
  std::lock_guard lock(shared_->mutex);
  for (const auto& [name, slot] : shared_->devices) {
    const auto& ports = slot->shown.ports;
    if (std::none_of(ports.begin(), ports.end(), concerns)) continue;
    slot->rescan = true;
    ++slot->asked;
  }
  call_worker(shared_);
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
      if (shown.is_member()) continue;
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
  const state::Optics& optics = *host.shown.optics;
  into.modules_taken = host.taken - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(host.shown.optics_age));
  for (Port& port : into.node.ports)
    if (const auto module = optics.modules.find(port.netdev); module != optics.modules.end()) port.module = module->second;
}

}  // namespace

Snapshot Collector::snapshot() const {
  std::lock_guard lock(shared_->mutex);
  Snapshot out{shared_->host->shown.node, {}, shared_->host->shown.runs, {}, shared_->news, {}};
  out.node.taken = Clock::now();
  if (!shared_->broken.empty()) out.runs.push_back({"readers", "", false, 0, shared_->broken});
  out.node.ports.clear();
  for (const auto& [name, slot] : shared_->devices) {
    const DeviceReading& shown = slot->shown;
    out.node.ports.insert(out.node.ports.end(), shown.ports.begin(), shown.ports.end());
    out.plan.insert(shown.plan.begin(), shown.plan.end());
    out.runs.insert(out.runs.end(), shown.runs.begin(), shown.runs.end());
    if (slot->taken != Clock::time_point{}) out.ages.push_back({name, slot->taken});
    if (shared_->hangs(*slot)) out.runs.push_back(hanging("reader", name, *slot));
  }
  if (shared_->host->shown.optics) join_modules(*shared_->host, out);
  for (const auto& slot : shared_->parts) {
    const bool taken = slot->taken != Clock::time_point{};
    if (taken) slot->part.join(slot->shown.node, out.node);
    if (shared_->hangs(*slot)) out.runs.push_back(hanging(slot->part.name, "", *slot));
    else if (taken) out.runs.push_back(slot->shown.run);
  }
  std::stable_sort(out.node.ports.begin(), out.node.ports.end(),
                   [](const Port& a, const Port& b) { return natural_less(a.rdma, b.rdma); });
  return out;
}

}  // namespace fabric::exporter
