// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/device.h"

#include "base/clock.h"
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
      settings_.error = port.unread.front();
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

namespace {

constexpr Metric kInterval{"fabric_sampler_interval_seconds",
                           "Time between two samples of the device for the burst metrics."};
constexpr Metric kThrottled{
    "fabric_sampler_throttled",
    "1 while the device is sampled less often than configured: the CPU budget is spent, or the device answers slowly."};
constexpr Metric kSamplerAge{"fabric_sampler_age_seconds", "Age of the newest sample of the device."};
constexpr Metric kSamplerCpu{"fabric_sampler_cpu_seconds_total", "CPU time spent on sampling the device."};

constexpr std::chrono::hours kWarnAgain{1};  // shortest time between two warnings about a device

Pace::Span thread_cpu() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + Pace::Span(now.tv_nsec);
}

}  // namespace

void DeviceBursts::follow(const std::vector<Port>& ports) {
  std::map<std::string, SampledPort> wanted;
  bool same = true;
  for (const Port& port : ports) {
    const Place place{port.number, port.role, port.netdev, port.kernel_driver};
    const auto before = ports_.find(port.id());
    const bool stays = before != ports_.end() && before->second.place == place;
    same = same && stays;
    BurstMeter meter(port.kernel_driver);
    if (stays) meter = std::move(before->second.meter);
    uint8_t pfc = 0;
    if (port.qos.pfc) pfc = port.qos.pfc->bits;
    meter.describe(port.rate, pfc);
    wanted[port.id()] = {place, std::move(meter)};
  }
  if (!same || wanted.size() != ports_.size()) ++generation_;
  ports_ = std::move(wanted);
}

std::string DeviceBursts::finish(const std::string& device, Clock::time_point now, Span cpu, Span answer,
                                 bool answered) {
  cpu_ += cpu;
  if (answered) taken_ = now;
  if (!pace.sampled(now, cpu, answer) || pace.brake() == Pace::Brake::none) return {};
  if (warned_ != Clock::time_point{} && now - warned_ < kWarnAgain) return {};
  warned_ = now;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(pace.interval()).count();
  std::string why = "the device answers slowly";
  if (pace.brake() == Pace::Brake::cpu) why = "CPU budget reached (sample_cpu_budget)";
  return device + ": sampling slowed down to every " + std::to_string(milliseconds) + " ms: " + why +
         "; fabric_sampler_interval_seconds shows the current interval";
}

SampledDevice DeviceBursts::state(const std::string& device, Clock::time_point now) const {
  SampledDevice out{device, pace.interval(), pace.brake(), in_seconds(cpu_), {}};
  if (taken_ != Clock::time_point{}) out.age = now - taken_;
  return out;
}

void DeviceBursts::append(std::vector<PortBursts>& out) const {
  for (const auto& [id, port] : ports_) out.push_back({id, port.meter.record()});
}

void DeviceSampler::follow(const DeviceBursts& bursts) {
  if (std::exchange(generation_, bursts.generation_) == bursts.generation_) return;
  readings_.clear();
  readers_.clear();
  places_.clear();
  for (const auto& [id, port] : bursts.ports_) places_.emplace_back(id, port.place);
}

// Opens the kernel again as well: a device that was added again requires new descriptors.
void DeviceSampler::open(Pace::Clock::time_point now) {
  if (!readers_.empty() || places_.empty() || !opening_.due(now)) return;
  auto kernel = open_(root_);
  if (!kernel) return opening_.failed(now);
  opening_.succeeded();
  kernel_ = std::make_unique<Kernel>(std::move(*kernel));
  kernel_->route.reset();  // not needed for a sample; each socket has a buffer
  kernel_->generic.reset();
  for (const auto& [id, place] : places_) {
    Port port;
    port.rdma = device_;
    port.number = place.number;
    port.netdev = place.netdev;
    port.kernel_driver = place.driver;
    port.role = place.role;
    readers_.emplace_back(CounterAccess{kernel_->root, kernel_->rdma.get(), kernel_->statistics.get()}, port);
  }
}

void DeviceSampler::read() {
  const auto start = Pace::Clock::now();
  const auto cpu = thread_cpu();
  answered_ = false;
  readings_.clear();
  open(start);
  for (BurstReader& reader : readers_) {
    const PortCounters& counters = readings_.emplace_back(reader.read(start)).counters;
    answered_ = answered_ || !counters.hw.empty() || !counters.pma.empty() || !counters.ethtool.empty();
  }
  cpu_ = thread_cpu() - cpu;
  answer_ = Pace::Clock::now() - start;
}

std::string DeviceSampler::record(DeviceBursts& bursts) {
  for (size_t i = 0; i < readings_.size(); ++i)
    if (auto port = bursts.ports_.find(places_[i].first); port != bursts.ports_.end())
      port->second.meter.take(readings_[i].times, readings_[i].counters);
  return bursts.finish(device_, Pace::Clock::now(), cpu_, answer_, answered_);
}

void add_sampled(FamilySet& families, const std::vector<SampledDevice>& devices, bool timings) {
  for (const SampledDevice& device : devices) {
    const Labels labels{{"device", device.device}};
    families.add(kThrottled, labels, device.brake == Pace::Brake::none ? 0 : 1);
    if (!timings) continue;
    families.add(kInterval, labels, in_seconds(device.interval));
    families.add(kSamplerCpu, labels, device.cpu_seconds);
    if (device.age) families.add(kSamplerAge, labels, in_seconds(*device.age));
  }
}

}  // namespace fabric::exporter
