// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/device_reader.h"

#include "enforce/reconcile.h"
#include "node/node.h"
#include "node/scan.h"

namespace fabric::exporter {
namespace {

// One run per collector and device, for all its ports.
void merge(std::vector<CollectorRun>& runs, const std::string& device, const Attempt& attempt) {
  auto run = std::ranges::find_if(runs, [&](const CollectorRun& r) { return r.collector == attempt.collector; });
  if (run == runs.end()) {
    runs.push_back({std::string(attempt.collector), device, attempt.success, attempt.seconds, attempt.error});
    return;
  }
  run->seconds += attempt.seconds;
  if (run->success && !attempt.success) run->error = attempt.error;
  run->success = run->success && attempt.success;
}

bool link_differs(const PortReading& reading, const Port& port) {
  auto differs = [](const auto& now, const auto& before) { return now && now != before; };
  return differs(reading.state, port.state) || differs(reading.phys_state, port.phys_state) ||
         differs(reading.carrier, port.carrier);
}

}  // namespace

void DeviceReader::rescan() {
  auto start = Clock::now();
  ++reading_.scans;
  for (size_t i = 0; i < readers_.size(); ++i)
    waiting_[reading_.ports[i].id()] = {reading_.ports[i].ifindex, readers_[i].waiting(), telemetry_[i].waiting()};
  readers_.clear();
  telemetry_.clear();
  reading_.plan.clear();
  settings_ = {"settings", device_, true, 0, {}};
  auto kernel = open_(root_);
  if (!kernel) {
    reading_.ports.clear();
    settings_.success = false;
    settings_.error = kernel.error().text();
    return;
  }
  kernel_ = std::make_unique<Kernel>(std::move(*kernel));
  ScanOptions options;
  options.topology = policy_ && asks_for_role(*policy_);
  options.keys =
      policy_ ? wanted_keys(*policy_) : Keys();  // settings that cost firmware commands are read only if checked
  options.counters = options.network = false;
  options.members = true;
  options.only = device_;
  if (policy_) options.exclude = policy_->exclude;
  Node node = scan(*kernel_, options);
  reading_.ports = std::move(node.ports);
  plan_ports();
  kernel_->route.reset();  // only the scan needs it
  open_readers();
  for (const Port& port : reading_.ports)
    if (!port.unread.empty() && settings_.success) {
      settings_.success = false;
      settings_.error = port.unread.front();
    }
  settings_.seconds = seconds_since(start);
}

// A failing source is left alone across a rescan, unless its netdev is a new one (the driver was reloaded).
void DeviceReader::open_readers() {
  OwnerReader* owners = &owners_;
  const std::span<const std::string> asked = policy_ ? std::span(policy_->ethtool) : std::span<const std::string>();
  for (const Port& port : reading_.ports) {
    readers_.emplace_back(CounterAccess{kernel_->root, kernel_->rdma.get(), kernel_->statistics.get(), asked}, port);
    telemetry_.emplace_back(
        TelemetryAccess{kernel_->root, kernel_->generic.get(), kernel_->ethtool, kernel_->rdma.get(),
                        port.is_member() ? nullptr : std::exchange(owners, nullptr)},
        port);
    const auto before = waiting_.find(port.id());
    if (before != waiting_.end() && before->second.ifindex != port.ifindex)
      wideners_.erase(port.id());  // its counters restarted at zero: no wrap
    wideners_.try_emplace(port.id(), port.kernel_driver);
    if (before == waiting_.end() || port.ifindex == 0 || before->second.ifindex != port.ifindex) continue;
    readers_.back().resume(before->second.counters);
    telemetry_.back().resume(before->second.telemetry);
  }
}

void DeviceReader::plan_ports() {
  if (!policy_) return;
  for (Port& port : reading_.ports)
    if (const PortPolicy* wanted = policy_for(*policy_, port))
      reading_.plan.emplace(port.id(),
                            qos::plan_on_idle_port(*kernel_, port, wanted->want, policy_->disruptive, wanted->derived));
}

std::vector<PortReading> DeviceReader::read_ports() {
  std::vector<PortReading> readings;
  for (PortReader& reader : readers_) readings.push_back(reader.read());
  return readings;
}

void DeviceReader::apply(size_t port, PortReading reading) {
  Port& shown = reading_.ports[port];
  for (const Attempt& attempt : reading.attempts) merge(reading_.runs, device_, attempt);
  fabric::apply(std::move(reading), shown);
  wideners_.at(shown.id()).widen(shown.counters);
  if (telemetry_[port].any()) merge(reading_.runs, device_, telemetry_[port].read(shown));
}

const DeviceReading& DeviceReader::read() {
  auto readings = read_ports();
  bool changed = false;
  for (size_t i = 0; i < reading_.ports.size(); ++i) changed = changed || link_differs(readings[i], reading_.ports[i]);
  if (changed) {
    rescan();
    readings = read_ports();
  }
  reading_.runs.clear();
  for (size_t i = 0; i < reading_.ports.size(); ++i) apply(i, std::move(readings[i]));
  reading_.runs.push_back(settings_);
  return reading_;
}

}  // namespace fabric::exporter
