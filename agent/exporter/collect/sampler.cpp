// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/sampler.h"

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/parse.h"
#include "counters/reader.h"
#include "counters/sample_reader.h"

namespace fabric::exporter {
namespace {

using Clock = Pace::Clock;
using Span = Pace::Span;

constexpr MetricKind kGauge = MetricKind::gauge;
constexpr Metric kInterval{"fabric_sampler_interval_seconds",
                           "Time between two samples of the device for the burst metrics.", kGauge};
constexpr Metric kThrottled{
    "fabric_sampler_throttled",
    "1 while the device is sampled less often than asked for: the CPU budget is spent, or the device answers slowly.",
    kGauge};
constexpr Metric kAge{"fabric_sampler_age_seconds", "Age of the newest sample of the device.", kGauge};
constexpr Metric kCpu{"fabric_sampler_cpu_seconds_total", "CPU time spent on sampling the device."};

constexpr std::chrono::hours kSilence{1};  // between two words on one device that is slow again and again

// What of a port decides how it is read.
struct Place {
  unsigned number = 1;
  std::string netdev, driver, bond;
  bool operator==(const Place&) const = default;
  [[nodiscard]] std::string member() const { return bond.empty() || bond == netdev ? std::string() : netdev; }
};

struct Sampled {
  Place place;
  BurstMeter meter;
};

struct Slot {
  explicit Slot(Pace with) : pace(with) {}
  std::map<std::string, Sampled> ports;  // by id
  uint64_t generation = 1;               // grows when a place is another
  bool retired = false;
  Pace pace;
  Span cpu{};
  Clock::time_point taken{}, told{};
};

Span thread_cpu() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + Span(now.tv_nsec);
}

}  // namespace

struct Sampler::Shared {
  SamplerOptions options;
  mutable std::mutex mutex;
  std::condition_variable work;
  bool stop = false;
  std::map<std::string, std::shared_ptr<Slot>> devices;

  [[nodiscard]] bool runs() const { return options.interval.count() > 0; }
  // Each thread has an equal share.
  void share_budget() {
    for (auto& [name, slot] : devices) slot->pace.allow(options.cpu_budget / static_cast<double>(devices.size()));
  }
};

namespace {

using Shared = Sampler::Shared;

// The device as its thread sees it.
class DeviceSampler {
 public:
  DeviceSampler(std::shared_ptr<Shared> shared, std::shared_ptr<Slot> slot, std::string device)
      : shared_(std::move(shared)), slot_(std::move(slot)), device_(std::move(device)) {}

  void run() {
    Span spent = thread_cpu();
    while (wait()) {
      const auto start = Clock::now();
      sample(start);
      const auto now = Clock::now();
      const Span total = thread_cpu();
      finish(now, total - std::exchange(spent, total), now - start);
    }
  }

 private:
  // Until the next multiple of the interval, so that all devices' threads wake together. False: end.
  bool wait() {
    std::unique_lock lock(shared_->mutex);
    const Span interval = slot_->pace.interval(), now = Clock::now().time_since_epoch();
    const Clock::time_point due(now - now % interval + interval);
    shared_->work.wait_until(lock, due,
                             [&] { return shared_->stop || slot_->retired || slot_->pace.interval() != interval; });
    if (shared_->stop || slot_->retired) return false;
    if (std::exchange(generation_, slot_->generation) != slot_->generation) {
      readers_.clear();
      places_.clear();
      for (const auto& [id, port] : slot_->ports) places_.emplace_back(id, port.place);
    }
    return true;
  }

  // Opens what is not open. The kernel first: a device that came back is behind other descriptors.
  void open(Clock::time_point now) {
    if (!readers_.empty() || !opening_.due(now)) return;
    auto kernel = shared_->options.open(shared_->options.root);
    if (!kernel) return opening_.failed(now);
    opening_.succeeded();
    kernel_ = std::make_unique<Kernel>(std::move(*kernel));
    kernel_->route.reset();  // their buffers are most of what a thread holds
    kernel_->generic.reset();
    for (const auto& [id, place] : places_) {
      Port port;
      port.rdma = device_;
      port.number = place.number;
      port.netdev = place.netdev;
      port.kernel_driver = place.driver;
      port.bond = place.bond;
      readers_.emplace_back(CounterAccess{kernel_->root, kernel_->rdma.get(), kernel_->statistics.get()}, port);
    }
  }

  void sample(Clock::time_point start) {
    answered_ = false;
    open(start);
    for (size_t i = 0; i < readers_.size(); ++i) {
      const PortCounters& counters = readers_[i].read(start);
      answered_ = answered_ || !counters.hw.empty() || !counters.pma.empty() || !counters.ethtool.empty();
      std::lock_guard lock(shared_->mutex);
      if (auto port = slot_->ports.find(places_[i].first); port != slot_->ports.end())
        port->second.meter.take(readers_[i].times(), counters);
    }
  }

  void finish(Clock::time_point now, Span cpu, Span answer) {
    std::string line;
    {
      std::lock_guard lock(shared_->mutex);
      slot_->cpu += cpu;
      if (answered_) slot_->taken = now;
      if (slot_->pace.sampled(now, cpu, answer)) line = news(now);
    }
    if (!line.empty() && shared_->options.tell) shared_->options.tell(line);
  }

  // What the operator should hear of a change of pace: the first step, once in a while.
  std::string news(Clock::time_point now) {
    const Pace& pace = slot_->pace;
    if (pace.brake() == Pace::Brake::none || (slot_->told != Clock::time_point{} && now - slot_->told < kSilence))
      return {};
    slot_->told = now;
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(pace.interval()).count();
    return device_ + ": sampled every " + std::to_string(milliseconds) +
           " ms only, and less often if that does not do: " +
           (pace.brake() == Pace::Brake::cpu ? "more would take more CPU time than sample_cpu_budget allows"
                                             : "the device takes long to answer") +
           " (fabric_sampler_interval_seconds shows the interval)";
  }

  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Slot> slot_;
  std::string device_;
  uint64_t generation_ = 0;
  std::vector<std::pair<std::string, Place>> places_;
  Backoff opening_;
  std::unique_ptr<Kernel> kernel_;  // stays where it is: the readers refer to it
  std::vector<SampleReader> readers_;
  bool answered_ = false;  // anything was read
};

// Where the system has no more threads, the device is known and never sampled: it has no age.
void start(const std::shared_ptr<Shared>& shared, const std::string& device, std::map<std::string, Sampled> ports) {
  auto slot = std::make_shared<Slot>(Pace(shared->options.interval, shared->options.cpu_budget));
  slot->ports = std::move(ports);
  shared->devices.emplace(device, slot);
  try {
    std::thread([shared, slot, device] { DeviceSampler(shared, slot, device).run(); }).detach();
  } catch (const std::system_error& failed) {
    if (shared->options.tell)
      shared->options.tell(device + ": not sampled: no thread for it: " + failed.code().message());
  }
}

// Puts the ports in the place of those before; the meters of those that stay go on.
void replace(Slot& slot, std::map<std::string, Sampled> ports) {
  bool same = slot.ports.size() == ports.size();
  for (auto& [id, port] : ports) {
    auto before = slot.ports.find(id);
    const bool stays = before != slot.ports.end() && before->second.place == port.place;
    same = same && stays;
    if (stays) port.meter = std::move(before->second.meter);
  }
  slot.ports = std::move(ports);
  if (!same) ++slot.generation;
}

void retire(Shared& shared, const std::function<bool(const std::string&)>& gone) {
  const size_t before = shared.devices.size();
  for (auto slot = shared.devices.begin(); slot != shared.devices.end();) {
    slot->second->retired = gone(slot->first);
    slot = slot->second->retired ? shared.devices.erase(slot) : std::next(slot);
  }
  if (shared.devices.size() != before) shared.work.notify_all();
}

}  // namespace

Sampler::Sampler(SamplerOptions options) : shared_(std::make_shared<Shared>()) {
  shared_->options = std::move(options);
}

Sampler::~Sampler() {
  std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->work.notify_all();
}

void Sampler::follow(const std::vector<Port>& ports) {
  std::map<std::string, std::map<std::string, Sampled>> wanted;
  std::lock_guard lock(shared_->mutex);
  if (!shared_->runs()) return;
  for (const Port& port : ports)
    wanted[port.rdma].emplace(
        port.id(), Sampled{{port.number, port.netdev, port.kernel_driver, port.bond}, BurstMeter(port.kernel_driver)});
  retire(*shared_, [&](const std::string& device) { return !wanted.contains(device); });
  for (auto& [device, its_ports] : wanted) {
    if (auto slot = shared_->devices.find(device); slot != shared_->devices.end())
      replace(*slot->second, std::move(its_ports));
    else start(shared_, device, std::move(its_ports));
  }
  for (const Port& port : ports)
    shared_->devices.at(port.rdma)->ports.at(port.id()).meter.describe(port.rate,
                                                                       port.qos.pfc ? port.qos.pfc->bits : uint8_t{0});
  shared_->share_budget();
}

void Sampler::set(std::chrono::milliseconds interval, double cpu_budget) {
  std::lock_guard lock(shared_->mutex);
  shared_->options.interval = interval;
  shared_->options.cpu_budget = cpu_budget;
  if (!shared_->runs()) retire(*shared_, [](const std::string&) { return true; });
  for (auto& [device, slot] : shared_->devices) slot->pace = Pace(interval, cpu_budget);
  shared_->share_budget();
  shared_->work.notify_all();
}

std::vector<PortBursts> Sampler::bursts() const {
  std::vector<PortBursts> out;
  std::lock_guard lock(shared_->mutex);
  std::vector<std::pair<std::string_view, const Slot*>> devices;  // records are large: none of them is moved
  for (const auto& [device, slot] : shared_->devices) devices.emplace_back(device, slot.get());
  std::sort(devices.begin(), devices.end(),
            [](const auto& a, const auto& b) { return natural_less(a.first, b.first); });
  out.reserve(devices.size());
  for (const auto& [device, slot] : devices)
    for (const auto& [id, port] : slot->ports)
      out.push_back({std::string(device), port.place.number, port.meter.record(), port.place.member()});
  return out;
}

std::vector<SampledDevice> Sampler::devices() const {
  std::vector<SampledDevice> out;
  std::lock_guard lock(shared_->mutex);
  for (const auto& [device, slot] : shared_->devices) {
    SampledDevice one{
        device, slot->pace.interval(), slot->pace.brake(), std::chrono::duration<double>(slot->cpu).count(), {}};
    if (slot->taken != Clock::time_point{}) one.age = Clock::now() - slot->taken;
    out.push_back(std::move(one));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return natural_less(a.device, b.device); });
  return out;
}

void add_sampler(FamilySet& families, const Sampler& sampler) {
  auto seconds = [](Span span) { return std::chrono::duration<double>(span).count(); };
  for (const SampledDevice& device : sampler.devices()) {
    const Labels labels{{"device", device.device}};
    families.add(kInterval, labels, seconds(device.interval));
    families.add(kThrottled, labels, device.brake == Pace::Brake::none ? 0 : 1);
    families.add(kCpu, labels, device.cpu_seconds);
    if (device.age) families.add(kAge, labels, seconds(*device.age));
  }
}

}  // namespace fabric::exporter
