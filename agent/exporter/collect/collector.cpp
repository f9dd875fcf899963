// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/collector.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/parse.h"
#include "exporter/collect/host.h"
#include "kernel/rdma/infiniband.h"

namespace fabric::exporter {

using Lock = std::unique_lock<std::mutex>;

// A thread that reads one device or the host. Every member is guarded by Collector::Shared::mutex, except what a
// derived class calls its own.
struct ReaderThread {
  explicit ReaderThread(std::string device = {}) : rdma(std::move(device)) {}
  virtual ~ReaderThread() = default;
  // When there is work next.
  [[nodiscard]] virtual Clock::time_point due(const Collector::Shared& shared) const = 0;
  // Reads without the lock, publishes with it.
  virtual void work(Collector::Shared& shared, Lock& lock) = 0;

  // Does not wake the thread. A reading in progress answers the request.
  void ask() { asked += reading ? 0 : 1; }
  void ask_rescan() {
    rescan = true;
    ++asked;
    wake.notify_one();
  }
  // `what` may hang in the kernel.
  void without(Lock& lock, auto&& what) {
    busy_since = Clock::now();
    lock.unlock();
    what();
    lock.lock();
    busy_since.reset();
  }
  [[nodiscard]] bool is_pending() const { return asked > done; }
  [[nodiscard]] bool is_read_due() const { return is_pending() || Clock::now() >= rescan_due; }

  const std::string rdma;        // the device; empty: the host
  uint64_t asked = 1, done = 0;  // requests to read
  bool rescan = true;            // the next reading includes what rarely changes
  bool reading = false;          // a request is being answered
  bool retired = false;          // the device is gone
  Clock::time_point rescan_due{};
  Clock::time_point taken{};                    // the newest reading
  std::optional<Clock::time_point> busy_since;  // the thread is outside the lock, in the kernel
  std::string no_thread;                        // why it could not be started
  std::condition_variable wake;
};

struct DeviceThread final : ReaderThread {
  DeviceThread(const CollectorOptions& options, const std::string& device);
  [[nodiscard]] Clock::time_point due(const Collector::Shared& shared) const override;
  void work(Collector::Shared& shared, Lock& lock) override;

  std::shared_ptr<const DeviceReading> shown = std::make_shared<const DeviceReading>();
  DeviceBursts bursts;

 private:
  void sample(Collector::Shared& shared, Lock& lock);
  void read(Collector::Shared& shared, Lock& lock);

  const Sampling sampling_;
  Clock::time_point sampled_{};
  DeviceReader reader_;    // the thread's own
  DeviceSampler sampler_;  // the thread's own
};

struct HostThread final : ReaderThread {
  explicit HostThread(const CollectorOptions& options);
  [[nodiscard]] Clock::time_point due(const Collector::Shared& shared) const override;
  void work(Collector::Shared& shared, Lock& lock) override;
  // The ports or the topology, which the collectors depend on, have changed.
  void ask_collectors();
  [[nodiscard]] bool has_collector_due() const;

  // One of host_collectors().
  struct Collected {
    explicit Collected(const HostCollector& which) : collector(which) {}
    HostCollector collector;
    [[nodiscard]] bool is_due() const { return asked || Clock::now() >= due; }
    bool asked = false;
    Clock::time_point due = Clock::time_point::max(), taken{};
    HostCollection shown;
  };
  std::shared_ptr<const HostReading> shown = std::make_shared<const HostReading>();
  std::vector<Collected> collected;
  const char* current = "agent";  // the collector that is reading now, if any

 private:
  void read_host(Collector::Shared& shared, Lock& lock);
  void collect(Collected& which, Collector::Shared& shared, Lock& lock);
  void update_devices(Collector::Shared& shared, const std::vector<std::string>& names);

  HostReader reader_;    // the thread's own
  size_t left_out_ = 0;  // devices beyond kMostDevices
};

struct Collector::Shared : std::enable_shared_from_this<Collector::Shared> {
  explicit Shared(CollectorOptions how) : options(std::move(how)), host(std::make_shared<HostThread>(options)) {}

  const CollectorOptions options;
  Fd wake;
  mutable std::mutex mutex;
  bool stop = false;
  uint64_t version = 0, generation = 0;
  const std::shared_ptr<HostThread> host;
  std::map<std::string, std::shared_ptr<DeviceThread>, decltype(&natural_less)> devices{natural_less};

  // With the mutex, all of these.
  void start(const std::shared_ptr<ReaderThread>& reader);
  void notify_published();
  void each(const auto& with) const {
    with(static_cast<ReaderThread&>(*host));
    for (const auto& [name, device] : devices) with(static_cast<ReaderThread&>(*device));
  }
  [[nodiscard]] bool hangs(const ReaderThread& reader) const;
  [[nodiscard]] bool is_busy() const;
  [[nodiscard]] bool reads_devices() const;
};

// RDMA devices that are read; each has a thread (fabric-exporter.service, TasksMax=).
inline constexpr size_t kMostDevices = 128;

// What all threads have in common.

namespace {

// The thread keeps both alive: it may hang in the kernel when the collector is long gone.
void run(const std::shared_ptr<Collector::Shared>& shared, const std::shared_ptr<ReaderThread>& reader) {
  Lock lock(shared->mutex);
  while (!shared->stop && !reader->retired) {
    if (const auto due = reader->due(*shared); due > Clock::now()) reader->wake.wait_until(lock, due);
    else reader->work(*shared, lock);
  }
}

}  // namespace

void Collector::Shared::start(const std::shared_ptr<ReaderThread>& reader) {
  try {
    std::thread([shared = shared_from_this(), reader] { run(shared, reader); }).detach();
    reader->no_thread.clear();
  } catch (const std::system_error& failed) {
    reader->no_thread = error(failed.code().value(), "start a thread").text();
  }
}

// The loop may be waiting for the last of the readings.
void Collector::Shared::notify_published() {
  ++version;
  if (is_busy()) return;
  const uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake.get(), &one, sizeof one);  // fails only at 2^64-1 unread wake-ups
}

bool Collector::Shared::hangs(const ReaderThread& reader) const {
  return !reader.no_thread.empty() || (reader.busy_since && Clock::now() - *reader.busy_since > options.stuck);
}

bool Collector::Shared::reads_devices() const {
  return std::ranges::any_of(devices,
                             [&](const auto& device) { return device.second->is_pending() && !hangs(*device.second); });
}

bool Collector::Shared::is_busy() const {
  if (reads_devices()) return true;
  const bool collects =
      std::ranges::any_of(host->collected, [](const HostThread::Collected& each) { return each.asked; });
  return (host->is_pending() || collects) && !hangs(*host);
}

// The thread of a device.

DeviceThread::DeviceThread(const CollectorOptions& options, const std::string& device)
    : ReaderThread(device),
      sampling_(options.sampling),
      reader_(options.root, device, options.policy, options.open),
      sampler_(options.root, device, options.open) {
  if (const auto before = options.bursts.find(device); before != options.bursts.end()) bursts = before->second;
  bursts.pace = Pace(sampling_.interval, sampling_.cpu_budget);
}

Clock::time_point DeviceThread::due(const Collector::Shared&) const {
  if (is_pending()) return {};
  if (sampling_.interval.count() == 0) return rescan_due;
  // The next multiple of the interval, so that the threads of all devices wake together.
  const auto interval = bursts.pace.interval(), last = sampled_.time_since_epoch();
  return std::min(rescan_due, Clock::time_point(last - last % interval + interval));
}

void DeviceThread::work(Collector::Shared& shared, Lock& lock) {
  if (is_read_due()) read(shared, lock);
  else sample(shared, lock);
}

void DeviceThread::sample(Collector::Shared& shared, Lock& lock) {
  sampled_ = Clock::now();
  sampler_.follow(bursts);
  without(lock, [&] { sampler_.read(); });
  if (shared.stop) return;
  const std::string line = sampler_.record(bursts);
  if (line.empty() || !sampling_.warn) return;
  lock.unlock();
  sampling_.warn(line);
  lock.lock();
}

void DeviceThread::read(Collector::Shared& shared, Lock& lock) {
  const uint64_t request = asked;
  const auto now = Clock::now();
  const bool rescanning = std::exchange(rescan, false) || now >= rescan_due;
  reading = true;
  std::shared_ptr<const DeviceReading> next;
  without(lock, [&] {
    if (rescanning) reader_.rescan();
    next = std::make_shared<const DeviceReading>(reader_.read());
  });
  reading = false;
  done = request;
  if (rescanning) rescan_due = now + shared.options.reread;
  const auto before = std::exchange(shown, std::move(next));
  if (shown->scans != before->scans) {
    ++shared.generation;
    bursts.follow(shown->ports);
    if (!are_same_subjects(shown->ports, before->ports)) shared.host->ask_collectors();
  }
  taken = Clock::now();
  shared.notify_published();
  if (shared.host->has_collector_due()) shared.host->wake.notify_one();  // it may wait for the devices
}

// The thread of the host: which devices exist, the topology, the agent's state, and the host collectors.

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
  const bool new_topology = next.topology_read != shown->topology_read;
  if (new_topology || next.agent_acted) ++shared.generation;
  if (new_topology) ask_collectors();
  shown = std::make_shared<const HostReading>(std::move(next));
  taken = Clock::now();
  shared.notify_published();
}

void HostThread::collect(Collected& which, Collector::Shared& shared, Lock& lock) {
  which.asked = false;
  current = which.collector.name;
  std::vector<std::shared_ptr<const DeviceReading>> devices;
  for (const auto& [name, device] : shared.devices) devices.push_back(device->shown);
  HostCollection next;
  without(lock, [&, host = shown] {
    Node known;  // the topology and the identity of the ports
    known.topology = host->node.topology;
    for (const auto& device : devices)
      for (const Port& port : device->ports) {
        known.ports.push_back(port);
        known.ports.back().counters = {};
      }
    next = run_collector(which.collector, shared.options.root, std::move(known));
  });
  which.shown = std::move(next);
  which.taken = Clock::now();
  which.due = which.taken + shared.options.*which.collector.every;
  ++shared.generation;
  shared.notify_published();
}

// The collector.

Collector::Collector(CollectorOptions options, int wake) : shared_(std::make_shared<Shared>(std::move(options))) {
  shared_->wake = Fd(::dup(wake));
  const std::lock_guard lock(shared_->mutex);
  shared_->start(shared_->host);
}

Collector::~Collector() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->each([](ReaderThread& reader) { reader.wake.notify_one(); });
}

void Collector::refresh() {
  Lock lock(shared_->mutex);
  std::vector<std::shared_ptr<ReaderThread>> readers{shared_->host};
  for (const auto& [name, device] : shared_->devices) readers.push_back(device);
  for (const auto& reader : readers) reader->ask();
  lock.unlock();  // else each thread wakes to wait for it
  for (const auto& reader : readers) reader->wake.notify_one();
}

void Collector::rescan() {
  const std::lock_guard lock(shared_->mutex);
  shared_->each([](ReaderThread& reader) { reader.ask_rescan(); });
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
  shared_->each([&](const ReaderThread& reader) { all = all && (reader.taken >= oldest || shared_->hangs(reader)); });
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
  shared.each([&](const ReaderThread& reader) {
    all = all && (reader.taken != kNever || (but_those_that_hang && shared.hangs(reader)));
  });
  if (but_those_that_hang && shared.hangs(*shared.host)) return all;
  return all && std::ranges::none_of(shared.host->collected,
                                     [](const HostThread::Collected& each) { return each.taken == kNever; });
}

CollectorRun hanging(const std::string& collector, const ReaderThread& reader) {
  if (!reader.no_thread.empty()) return {collector, reader.rdma, false, 0, reader.no_thread};
  return {collector, reader.rdma, false, seconds_since(*reader.busy_since), "hangs"};
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

// The lock is held for the pointers to the readings and the few words about how they went; the node is put together
// without it.
Snapshot Collector::snapshot() const {
  Snapshot out;
  std::vector<std::shared_ptr<const DeviceReading>> devices;
  std::vector<std::pair<const HostCollector*, std::shared_ptr<const Node>>> collected;

  Lock lock(shared_->mutex);
  const HostThread& host = *shared_->host;
  const std::shared_ptr<const HostReading> of_host = host.shown;
  const auto host_taken = host.taken;
  const bool hangs = shared_->hangs(host);
  for (const CollectorRun& run : of_host->runs)
    if (!hangs || run.collector != host.current) out.runs.push_back(run);
  for (const HostThread::Collected& each : host.collected) {
    if (each.shown.node) collected.emplace_back(&each.collector, each.shown.node);
    if (each.taken != kNever && !(hangs && each.collector.name == std::string_view(host.current)))
      out.runs.push_back(each.shown.run);
  }
  if (hangs) out.runs.push_back(hanging(host.no_thread.empty() ? host.current : "readers", host));
  for (const auto& [name, device] : shared_->devices) {
    devices.push_back(device->shown);
    out.runs.insert(out.runs.end(), device->shown->runs.begin(), device->shown->runs.end());
    if (device->taken != kNever) out.ages.push_back({name, device->taken});
    if (shared_->hangs(*device)) out.runs.push_back(hanging("reader", *device));
    if (shared_->options.sampling.interval.count() == 0) continue;
    out.sampled.push_back(device->bursts.state(name, Clock::now()));
    device->bursts.append(name, out.bursts);
  }
  out.generation = shared_->generation;
  lock.unlock();

  out.node = of_host->node;
  out.node.neighbors = of_host->neighbors;
  for (const auto& [collector, node] : collected) collector->copy(*node, out.node);
  for (const auto& device : devices) {
    out.node.ports.insert(out.node.ports.end(), device->ports.begin(), device->ports.end());
    out.plan.insert(device->plan.begin(), device->plan.end());
  }
  if (of_host->optics) {
    const auto age = std::chrono::duration<double>(of_host->optics_age);
    out.modules_taken = host_taken - std::chrono::duration_cast<Clock::duration>(age);
    // A virtual function's netdev has no module here, nor has a bond's; those of its members have.
    for (Port& port : out.node.ports)
      if (const auto module = of_host->optics->modules.find(port.netdev); module != of_host->optics->modules.end())
        port.module = module->second;
  }
  out.node.taken = Clock::now();
  return out;
}

}  // namespace fabric::exporter
