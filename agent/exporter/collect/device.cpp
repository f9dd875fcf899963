// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/device.h"

#include "enforce/rounds.h"
#include "judge/rule.h"
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
  options.topology = options.counters = options.network = false;
  options.keys = judged_settings();
  if (policy_) {
    options.topology = matches_by_role(*policy_);
    options.keys |= wanted_keys(*policy_);  // settings that cost firmware commands are read only if they are checked
    options.exclude = policy_->exclude;
  }
  options.members = true;
  options.only = device_;
  Node node = scan(*kernel_, options);
  reading_.ports = std::move(node.ports);
  if (policy_) {
    const qos::WantedOf wanted_of = qos::wanted_by(*policy_, reading_.ports);
    for (const Port& port : reading_.ports)
      if (const PortPolicy* entry = policy_for(*policy_, port)) {
        const qos::Terms as_if_idle{.in_use = [](const Port&) { return false; },
                                    .wanted_of = wanted_of,
                                    .disruptive = policy_->disruptive,
                                    .window = qos::Maintenance::open,
                                    .front_end = entry->front_end,
                                    .derived = entry->derived};
        reading_.plan.emplace(port.id(), qos::plan(*kernel_, port, entry->want, as_if_idle).changes);
      }
  }
  kernel_->route.reset();  // only the scan and the plan need it
  open_readers();
  for (const Port& port : reading_.ports)
    if (!port.unread.empty() && settings_.success) {
      settings_.success = false;
      settings_.error = port.unread.front().why;
    }
  settings_.seconds = seconds_since(start);
}

// A source that has failed keeps its waiting time across a rescan, unless its netdev is new (the driver was reloaded).
void DeviceReader::open_readers() {
  std::span<const std::string> ethtool_names;
  if (policy_) ethtool_names = policy_->ethtool;
  OwnerReader* owners = &owners_;  // the first port that is no member of a bond reads the owners of the whole device
  for (const Port& port : reading_.ports) {
    readers_.emplace_back(CounterAccess{kernel_->root, kernel_->rdma.get(), kernel_->statistics.get()}, port,
                          PortReader::CounterOptions{.asked = ethtool_names});
    OwnerReader* own = nullptr;
    if (!port.is_member()) own = std::exchange(owners, nullptr);
    telemetry_.emplace_back(
        TelemetryAccess{kernel_->root, kernel_->generic.get(), kernel_->ethtool, kernel_->rdma.get(), own}, port);
    const auto before = waiting_.find(port.id());
    if (before != waiting_.end() && before->second.ifindex != port.ifindex)
      wideners_.erase(port.id());  // its counters restarted at zero: no wrap
    wideners_.try_emplace(port.id());
    if (before == waiting_.end() || port.ifindex == 0 || before->second.ifindex != port.ifindex) continue;
    readers_.back().resume(before->second.counters);
    telemetry_.back().resume(before->second.telemetry);
  }
}

std::vector<PortReading> DeviceReader::read_ports() {
  std::vector<PortReading> readings;
  for (PortReader& reader : readers_) readings.push_back(reader.read());
  return readings;
}

const DeviceReading& DeviceReader::read() {
  auto readings = read_ports();
  bool has_link_changed = false;
  for (size_t i = 0; i < reading_.ports.size(); ++i) {
    const PortReading& now = readings[i];
    const Port& before = reading_.ports[i];
    if (now.state && now.state != before.state) has_link_changed = true;
    if (now.phys_state && now.phys_state != before.phys_state) has_link_changed = true;
    if (now.carrier && now.carrier != before.carrier) has_link_changed = true;
  }
  if (has_link_changed) {
    rescan();
    readings = read_ports();
  }
  reading_.runs.clear();
  for (size_t i = 0; i < reading_.ports.size(); ++i) {
    Port& port = reading_.ports[i];
    for (const Attempt& attempt : readings[i].attempts) merge(reading_.runs, device_, attempt);
    apply(std::move(readings[i]), port);
    wideners_.at(port.id()).widen(port.counters);
    if (telemetry_[i].any()) merge(reading_.runs, device_, telemetry_[i].read(port));
  }
  reading_.runs.push_back(settings_);
  return reading_;
}

}  // namespace fabric::exporter
