// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/sampler.h"

#include <ctime>

#include "base/clock.h"

namespace fabric::exporter {
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
  const auto now = Pace::Clock::now();
  Pace& pace = bursts.pace;
  bursts.cpu_ += cpu_;
  if (answered_) bursts.taken_ = now;
  if (!pace.sampled(now, cpu_, answer_) || pace.brake() == Pace::Brake::none) return {};
  if (bursts.warned_ != Pace::Clock::time_point{} && now - bursts.warned_ < kWarnAgain) return {};
  bursts.warned_ = now;
  const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(pace.interval()).count();
  std::string why = "the device answers slowly";
  if (pace.brake() == Pace::Brake::cpu) why = "CPU budget reached (sample_cpu_budget)";
  return device_ + ": sampling slowed down to every " + std::to_string(milliseconds) + " ms: " + why +
         "; fabric_sampler_interval_seconds shows the current interval";
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
