// SPDX-License-Identifier: Apache-2.0
#include "exporter/collect/collector.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>

#include "base/parse.h"
#include "base/thread.h"
#include "exporter/collect/host.h"
#include "node/port_role.h"

namespace fabric::exporter {

using Lock = std::unique_lock<std::mutex>;

// A thread that reads one device or the host. Collector::Shared::mutex guards every member, except those that a derived
// class marks as the thread's own.
struct ReaderThread {
  enum class State : uint8_t {
    idle,              // no reading is requested: waits for the next periodic one, samples, or runs a host collector
    requested,         // a reading is requested
    rescan_requested,  // the same, with the values that rarely change
    answering,         // reads on request, and answers further requests
    rereading,         // reads because rescan_due has passed, and answers requests; no page waits for it
    outdated,          // reads, but a rescan was requested meanwhile: another reading follows
    retired,           // the device is gone: the thread ends
  };

  explicit ReaderThread(std::string device = {}) : rdma(std::move(device)) {}
  virtual ~ReaderThread() = default;
  // The time of the next work.
  [[nodiscard]] virtual Clock::time_point due(const Collector::Shared& shared) const = 0;
  // Reads without the lock, publishes with it.
  virtual void work(Collector::Shared& shared, Lock& lock) = 0;

  // Does not wake the thread. A reading in progress answers the request.
  void request_read() {
    if (state == State::idle) state = State::requested;
  }
  void request_rescan() {
    if (state == State::idle || state == State::requested) state = State::rescan_requested;
    else if (state == State::answering || state == State::rereading) state = State::outdated;
    wake.notify_one();
  }
  // True if a rescan was requested.
  [[nodiscard]] bool begin_reading() {
    return std::exchange(state, state == State::idle ? State::rereading : State::answering) == State::rescan_requested;
  }
  void end_reading() {
    if (state == State::outdated) state = State::rescan_requested;
    else if (state != State::retired) state = State::idle;
  }
  // Calls `what`, which may hang in the kernel, without the lock.
  void unlocked(Lock& lock, auto&& what) {
    busy_since = Clock::now();
    lock.unlock();
    what();
    lock.lock();
    busy_since.reset();
  }
  [[nodiscard]] bool is_pending() const {
    return state != State::idle && state != State::rereading && state != State::retired;
  }
  [[nodiscard]] bool is_read_due() const { return is_pending() || Clock::now() >= rescan_due; }

  const std::string rdma;  // the device; empty: the host
  State state = State::rescan_requested;
  Clock::time_point rescan_due{};
  Clock::time_point taken{};                    // time of the newest reading
  std::optional<Clock::time_point> busy_since;  // when unlocked() was entered; nullopt: the thread is not in it
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
  // Called when the ports or the topology have changed: the collectors depend on them.
  void request_collectors();
  [[nodiscard]] bool has_collector_due() const;

  // A member of host_collectors(), with its last result.
  struct Collected {
    explicit Collected(const HostCollector& which) : collector(which) {}
    HostCollector collector;
    [[nodiscard]] bool is_due() const { return requested || Clock::now() >= due; }
    bool requested = false;
    Clock::time_point due = Clock::time_point::max(), taken{};
    std::shared_ptr<const HostCollection> shown = std::make_shared<const HostCollection>();
  };
  std::shared_ptr<const HostReading> shown = std::make_shared<const HostReading>();
  std::vector<Collected> collected;
  const char* current = "agent";  // the collector that is reading now, if any

 private:
  void read_host(Collector::Shared& shared, Lock& lock);
  void collect(Collected& which, Collector::Shared& shared, Lock& lock);
  void update_devices(Collector::Shared& shared, const std::vector<std::string>& names);

  HostReader reader_;     // the thread's own
  size_t dropped_ = 0;    // number of devices beyond kMaxDevices
  std::string unlisted_;  // why the RDMA devices could not be listed; empty: they were
};

struct Collector::Shared : std::enable_shared_from_this<Collector::Shared> {
  explicit Shared(CollectorOptions how) : options(std::move(how)), host(std::make_shared<HostThread>(options)) {}

  const CollectorOptions options;
  Fd wake;
  mutable std::mutex mutex;
  bool stop = false;
  uint64_t version = 0, generation = 0;
  const std::shared_ptr<HostThread> host;
  std::map<std::string, std::shared_ptr<DeviceThread>, NaturalLess> devices;

  // The caller holds the mutex.
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

// The RDMA devices that are read; each has a thread (fabric-exporter.service, TasksMax=).
inline constexpr size_t kMaxDevices = 128;

// All threads.

namespace {

// The thread keeps both objects alive: it may still hang in the kernel after the collector is destroyed.
void run(const std::shared_ptr<Collector::Shared>& shared, const std::shared_ptr<ReaderThread>& reader) {
  Lock lock(shared->mutex);
  while (!shared->stop && reader->state != ReaderThread::State::retired) {
    if (const auto due = reader->due(*shared); due > Clock::now()) reader->wake.wait_until(lock, due);
    else reader->work(*shared, lock);
  }
}

}  // namespace

void Collector::Shared::start(const std::shared_ptr<ReaderThread>& reader) {
  const auto started = run_detached([shared = shared_from_this(), reader] { run(shared, reader); });
  reader->no_thread.clear();
  if (!started) reader->no_thread = started.error().text();
}

// Wakes the event loop when the last requested reading is done.
void Collector::Shared::notify_published() {
  ++version;
  if (is_busy()) return;
  const uint64_t count = 1;
  // Fails only at 2^64-1 unread wake-ups.
  [[maybe_unused]] const auto written = ::write(wake.get(), &count, sizeof count);
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
      std::ranges::any_of(host->collected, [](const HostThread::Collected& each) { return each.requested; });
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
  unlocked(lock, [&] { sampler_.read(); });
  if (shared.stop) return;
  const std::string line = sampler_.record(bursts);
  if (line.empty() || !sampling_.warn) return;
  lock.unlock();
  sampling_.warn(line);
  lock.lock();
}

void DeviceThread::read(Collector::Shared& shared, Lock& lock) {
  const auto now = Clock::now();
  const bool rescanning = begin_reading() || now >= rescan_due;
  std::shared_ptr<const DeviceReading> next;
  unlocked(lock, [&] {
    if (rescanning) reader_.rescan();
    next = std::make_shared<const DeviceReading>(reader_.read());
  });
  end_reading();
  if (rescanning) rescan_due = now + shared.options.reread;
  const auto before = std::exchange(shown, std::move(next));
  if (shown->scans != before->scans) {
    ++shared.generation;
    bursts.follow(shown->ports);
    if (!are_same_subjects(shown->ports, before->ports)) shared.host->request_collectors();
  }
  taken = Clock::now();
  shared.notify_published();
  if (shared.host->has_collector_due()) shared.host->wake.notify_one();  // the host thread may wait for the devices
}

// The thread of the host: which devices exist, the topology, the agent's state, and the host collectors.

namespace {

// Keeps at most kMaxDevices, since each device has a thread. Functions for guests are dropped first: udev numbers them
// after their owner and before the next NIC. Returns the number of dropped devices.
size_t drop_excess_devices(const std::string& directory, std::vector<std::string>& names) {
  if (names.size() <= kMaxDevices) return 0;
  std::ranges::sort(names, natural_less);
  if (const auto root = Root::open(directory))
    std::stable_partition(names.begin(), names.end(),
                          [&](const std::string& name) { return !scanning::is_for_guests(*root, name); });
  const size_t dropped = names.size() - kMaxDevices;
  names.resize(kMaxDevices);
  return dropped;
}

}  // namespace

HostThread::HostThread(const CollectorOptions& options) : reader_(options.root, options.topology) {
  const std::vector<HostCollector>* collectors = options.collectors;
  if (collectors == nullptr) collectors = &host_collectors();
  for (const HostCollector& collector : *collectors) collected.emplace_back(collector);
}

void HostThread::request_collectors() {
  for (Collected& each : collected) each.requested = true;
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
    auto at = each.due;
    if (each.requested) at = now;
    if (waits) at = std::max<Clock::time_point>(at, now + shared.options.stuck);
    out = std::min(out, at);
  }
  return out;
}

void HostThread::work(Collector::Shared& shared, Lock& lock) {
  if (is_read_due()) return read_host(shared, lock);
  // The collectors wait until every device that does not hang has been read, so that they run once at the start and
  // once when many devices are added or removed.
  if (shared.reads_devices()) return;
  if (auto* which = find_where(collected, [](const Collected& each) { return each.is_due(); }))
    collect(*which, shared, lock);
}

// Starts a thread for each new name, and ends the threads of the devices that are not in `names`.
void HostThread::update_devices(Collector::Shared& shared, const std::vector<std::string>& names) {
  std::erase_if(shared.devices, [&](const auto& device) {
    const bool is_gone = !contains(names, device.first);
    if (is_gone) {
      device.second->state = State::retired;
      device.second->wake.notify_one();
    }
    return is_gone;
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
  const auto now = Clock::now();
  const bool was_requested = begin_reading(), rescanning = was_requested || now >= rescan_due;
  current = "agent";
  std::vector<std::string> names;
  if (rescanning) {
    unlocked(lock, [&] {
      auto devices = reader_.devices();
      unlisted_.clear();
      if (!devices) {
        unlisted_ = devices.error().text();
        return;
      }
      names = std::move(*devices);
      if (const auto& policy = shared.options.policy)
        std::erase_if(names, [&](const std::string& device) { return matches_any(policy->exclude, device); });
      dropped_ = drop_excess_devices(shared.options.root, names);
    });
    // Devices that cannot be listed now are not gone.
    if (!unlisted_.empty())
      for (const auto& [name, device] : shared.devices) names.push_back(name);
    else if (!shared.stop) update_devices(shared, names);
  }
  const std::vector<std::string>* listed = nullptr;
  if (rescanning) listed = &names;
  HostReading next;
  unlocked(lock, [&] { next = reader_.read(listed, was_requested); });
  if (!unlisted_.empty()) next.runs.push_back({"devices", "", false, 0, unlisted_});
  else if (dropped_ > 0)
    next.runs.push_back({"devices", "", false, 0,
                         counted(dropped_, "RDMA device") + " beyond the first " + std::to_string(kMaxDevices) +
                             ", not read; exclude those of guests ([exporter] exclude)"});
  end_reading();
  if (rescanning) rescan_due = now + shared.options.reread;
  if (!unlisted_.empty()) rescan_due = std::min<Clock::time_point>(rescan_due, now + std::chrono::seconds(10));
  if (next.agent_acted)
    for (const auto& [name, device] : shared.devices) device->request_rescan();
  const bool new_topology = next.topology_read != shown->topology_read;
  const bool other_devices = next.node.rdma_unread != shown->node.rdma_unread;
  if (new_topology || next.agent_acted || other_devices) ++shared.generation;
  if (new_topology) request_collectors();
  shown = std::make_shared<const HostReading>(std::move(next));
  taken = Clock::now();
  shared.notify_published();
}

void HostThread::collect(Collected& which, Collector::Shared& shared, Lock& lock) {
  which.requested = false;
  current = which.collector.name;
  std::vector<std::shared_ptr<const DeviceReading>> devices;
  for (const auto& [name, device] : shared.devices) devices.push_back(device->shown);
  HostCollection next;
  unlocked(lock, [&, host = shown] {
    Node known;  // the topology and the identity of the ports
    known.topology = host->node.topology;
    for (const auto& device : devices)
      for (const Port& port : device->ports) {
        known.ports.push_back(port);
        known.ports.back().counters = {};
      }
    next = run_collector(which.collector, shared.options.root, std::move(known));
  });
  which.shown = std::make_shared<const HostCollection>(std::move(next));
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
  for (const auto& reader : readers) reader->request_read();
  lock.unlock();  // otherwise each thread would wake up and wait for the lock
  for (const auto& reader : readers) reader->wake.notify_one();
}

void Collector::rescan() {
  const std::lock_guard lock(shared_->mutex);
  shared_->each([](ReaderThread& reader) { reader.request_rescan(); });
}

void Collector::reread(const std::set<std::string>& netdevs) {
  const auto is_affected = [&](const Port& port) {
    return netdevs.contains(port.netdev) ||
           std::ranges::any_of(port.gids, [&](const Gid& gid) { return netdevs.contains(gid.netdev); });
  };
  const std::lock_guard lock(shared_->mutex);
  for (const auto& [name, device] : shared_->devices)
    if (std::ranges::any_of(device->shown->ports, is_affected)) device->request_rescan();
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

bool are_read_once(const Collector::Shared& shared, bool except_hanging) {
  bool all = true;
  shared.each([&](const ReaderThread& reader) {
    all = all && (reader.taken != kNever || (except_hanging && shared.hangs(reader)));
  });
  if (except_hanging && shared.hangs(*shared.host)) return all;
  return all && std::ranges::none_of(shared.host->collected,
                                     [](const HostThread::Collected& each) { return each.taken == kNever; });
}

CollectorRun hanging_run(const std::string& collector, const ReaderThread& reader) {
  if (!reader.no_thread.empty()) return {collector, reader.rdma, false, 0, reader.no_thread, true};
  return {collector, reader.rdma, false, seconds_since(*reader.busy_since), "hangs", true};
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

// Holds the lock while it copies the pointers to the readings, and the records of bursts, which change with each
// sample. Assembles the runs and the node without the lock.
Snapshot Collector::snapshot() const {
  Snapshot out;
  struct ShownDevice {
    std::shared_ptr<const DeviceReading> reading;
    std::optional<CollectorRun> hanging;
  };
  struct ShownCollector {
    const HostCollector* collector;
    std::shared_ptr<const HostCollection> collection;
    bool has_run;
  };
  std::vector<ShownDevice> devices;
  std::vector<ShownCollector> collectors;

  Lock lock(shared_->mutex);
  const HostThread& host = *shared_->host;
  const std::shared_ptr<const HostReading> host_reading = host.shown;
  const auto host_taken = host.taken;
  std::string_view stuck;  // the collector in which the host's thread hangs
  std::optional<CollectorRun> host_hanging;
  if (shared_->hangs(host)) {
    stuck = host.current;
    host_hanging = hanging_run(host.no_thread.empty() ? host.current : "readers", host);
  }
  for (const HostThread::Collected& each : host.collected)
    collectors.push_back({&each.collector, each.shown, each.taken != kNever && each.collector.name != stuck});
  for (const auto& [name, device] : shared_->devices) {
    devices.push_back({device->shown, {}});
    if (shared_->hangs(*device)) devices.back().hanging = hanging_run("reader", *device);
    if (device->taken != kNever) out.ages.push_back({name, device->taken});
    if (shared_->options.sampling.interval.count() == 0) continue;
    out.sampled.push_back(device->bursts.state(name, Clock::now()));
    device->bursts.append(out.bursts);
  }
  out.generation = shared_->generation;
  lock.unlock();

  out.node = host_reading->node;
  out.node.neighbors = host_reading->neighbors;
  for (const CollectorRun& run : host_reading->runs)
    if (run.collector != stuck) out.runs.push_back(run);
  for (const auto& [collector, collection, has_run] : collectors) {
    if (collection->node) collector->copy(*collection->node, out.node);
    if (has_run) out.runs.push_back(collection->run);
    out.runs.insert(out.runs.end(), collection->failed.begin(), collection->failed.end());
  }
  if (host_hanging) out.runs.push_back(std::move(*host_hanging));
  for (auto& [device, hanging] : devices) {
    out.node.ports.insert(out.node.ports.end(), device->ports.begin(), device->ports.end());
    out.plan.insert(device->plan.begin(), device->plan.end());
    out.runs.insert(out.runs.end(), device->runs.begin(), device->runs.end());
    if (hanging) out.runs.push_back(std::move(*hanging));
  }
  const auto taken = [&](double age) {
    return host_taken - std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(age));
  };
  if (const auto& optics = host_reading->optics; optics.readings) {
    out.modules_taken = taken(optics.age);
    // The netdevs of virtual functions and bonds have no module; those of a bond's members have one.
    const auto& modules = optics.readings->modules;
    for (Port& port : out.node.ports)
      if (const auto module = modules.find(port.netdev); module != modules.end()) port.module = module->second;
  }
  if (const auto& vnic = host_reading->vnic; vnic.readings && !vnic.readings->functions.empty()) {
    out.vnic_taken = taken(vnic.age);
    for (Port& port : out.node.ports) state::add_vnic(port, *vnic.readings);
  }
  out.node.taken = Clock::now();
  return out;
}

}  // namespace fabric::exporter
