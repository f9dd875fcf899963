// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/collector.h"

#include <unistd.h>

#include "exporter/collect/readers.h"

namespace fabric::exporter {

Collector::Collector(CollectorOptions options, int wake) : shared_(std::make_shared<Shared>(std::move(options))) {
  shared_->wake = Fd(::dup(wake));
  const std::lock_guard lock(shared_->mutex);
  shared_->start(shared_->host);
}

Collector::~Collector() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->each([](Reader& reader) { reader.wake.notify_one(); });
}

void Collector::refresh() {
  Lock lock(shared_->mutex);
  std::vector<std::shared_ptr<Reader>> readers{shared_->host};
  for (const auto& [name, device] : shared_->devices) readers.push_back(device);
  for (const auto& reader : readers) reader->ask();
  lock.unlock();  // else each thread wakes to wait for it
  for (const auto& reader : readers) reader->wake.notify_one();
}

void Collector::rescan() {
  const std::lock_guard lock(shared_->mutex);
  shared_->each([](Reader& reader) { reader.ask_rescan(); });
}

void Collector::reread(const std::set<std::string>& netdevs) {
  const auto is_affected = [&](const Port& port) {
    return netdevs.contains(port.netdev) ||
           std::ranges::any_of(port.gids, [&](const Gid& gid) { return netdevs.contains(gid.netdev); });
  };
  const std::lock_guard lock(shared_->mutex);
  for (const auto& [name, device] : shared_->devices)
    if (std::ranges::any_of(device->shown->ports, is_affected)) device->ask_rescan();
}

bool Collector::fresh(std::chrono::milliseconds age) const {
  const std::lock_guard lock(shared_->mutex);
  const auto oldest = Clock::now() - age;
  bool all = true;
  shared_->each([&](const Reader& reader) { all = all && (reader.taken >= oldest || shared_->hangs(reader)); });
  return all;
}

bool Collector::busy() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->is_busy();
}

namespace {

constexpr Clock::time_point kNever{};

bool are_read_once(const Collector::Shared& shared, bool but_those_that_hang) {
  bool all = true;
  shared.each([&](const Reader& reader) {
    all = all && (reader.taken != kNever || (but_those_that_hang && shared.hangs(reader)));
  });
  if (but_those_that_hang && shared.hangs(*shared.host)) return all;
  return all && std::ranges::none_of(shared.host->collected,
                                     [](const HostThread::Collected& each) { return each.taken == kNever; });
}

CollectorRun hanging(const std::string& collector, const Reader& reader) {
  if (!reader.no_thread.empty()) return {collector, reader.rdma, false, 0, reader.no_thread};
  return {collector, reader.rdma, false, seconds_since(*reader.busy_since), "hangs"};
}

void add_host(const Collector::Shared& shared, Snapshot& into) {
  const HostThread& host = *shared.host;
  const bool hangs = shared.hangs(host);
  into.node = host.shown.node;
  into.node.neighbors = host.shown.neighbors;
  for (const CollectorRun& run : host.shown.runs)
    if (!hangs || run.collector != host.current) into.runs.push_back(run);
  for (const HostThread::Collected& each : host.collected) {
    if (each.shown.node) each.collector.copy(*each.shown.node, into.node);
    if (each.taken != kNever && !(hangs && each.collector.name == std::string_view(host.current)))
      into.runs.push_back(each.shown.run);
  }
  if (hangs) into.runs.push_back(hanging(host.no_thread.empty() ? host.current : "readers", host));
}

void add_device(const Collector::Shared& shared, const DeviceThread& device, Snapshot& into) {
  const DeviceReading& shown = *device.shown;
  into.node.ports.insert(into.node.ports.end(), shown.ports.begin(), shown.ports.end());
  into.plan.insert(shown.plan.begin(), shown.plan.end());
  into.runs.insert(into.runs.end(), shown.runs.begin(), shown.runs.end());
  if (device.taken != kNever) into.ages.push_back({device.rdma, device.taken});
  if (shared.hangs(device)) into.runs.push_back(hanging("reader", device));
  if (shared.options.sampling.interval.count() == 0) return;
  into.sampled.push_back(device.bursts.state(device.rdma, Clock::now()));
  device.bursts.append(device.rdma, into.bursts);
}

// A virtual function's netdev has no module here, nor has a bond's; those of its members have.
void add_modules(const HostThread& host, Snapshot& into) {
  if (!host.shown.optics) return;
  const state::Optics& optics = *host.shown.optics;
  into.modules_taken =
      host.taken - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(host.shown.optics_age));
  for (Port& port : into.node.ports)
    if (const auto module = optics.modules.find(port.netdev); module != optics.modules.end())
      port.module = module->second;
}

}  // namespace

bool Collector::complete() const {
  const std::lock_guard lock(shared_->mutex);
  return are_read_once(*shared_, true);
}

bool Collector::has_all() const {
  const std::lock_guard lock(shared_->mutex);
  return are_read_once(*shared_, false);
}

uint64_t Collector::version() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->version;
}

std::map<std::string, DeviceBursts> Collector::bursts() const {
  std::map<std::string, DeviceBursts> out;
  const std::lock_guard lock(shared_->mutex);
  for (const auto& [name, device] : shared_->devices) out.emplace(name, device->bursts);
  return out;
}

Snapshot Collector::snapshot() const {
  Snapshot out;
  const std::lock_guard lock(shared_->mutex);
  add_host(*shared_, out);
  for (const auto& [name, device] : shared_->devices) add_device(*shared_, *device, out);
  add_modules(*shared_->host, out);
  out.node.taken = Clock::now();
  out.generation = shared_->generation;
  return out;
}

}  // namespace fabric::exporter
