// SPDX-License-Identifier: Apache-2.0
#include "exporter/exporter.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "exporter/collect/collector.h"
#include "exporter/collect/health.h"
#include "exporter/collect/sampler.h"
#include "exporter/http/addresses.h"
#include "exporter/http/page.h"
#include "exporter/http/server.h"
#include "exporter/loop_turn.h"
#include "exporter/resident.h"
#include "exporter/setup.h"
#include "exporter/uevent.h"

namespace fabric::exporter {
namespace {

constexpr auto kSettle = std::chrono::milliseconds(300);  // a NIC comes and goes with a burst of uevents
constexpr auto kGidsFollow = std::chrono::seconds(1);     // the kernel makes GIDs of addresses in a queue of its own
constexpr auto kFirstPage = std::chrono::seconds(3);

struct FreeLoop {
  void operator()(sd_event* loop) const { ::sd_event_unref(loop); }
};

class Exporter final : public Site {
 public:
  explicit Exporter(const Options& options) : options_(options) {}

  Result<void> start();
  int run();

  bool fresh() override;  // if not, the loop's next turn reads
  Body metrics(bool compressed) override;
  bool ready() override { return collector_->complete(); }

 private:
  static int on_wake(sd_event_source*, int fd, uint32_t, void* self);
  static int on_uevent(sd_event_source*, int fd, uint32_t, void* self);
  static int on_address(sd_event_source*, int fd, uint32_t, void* self);
  static int on_gids(sd_event_source*, uint64_t, void* self);
  static int on_settled(sd_event_source*, uint64_t, void* self);
  static int on_health(sd_event_source* source, uint64_t, void* self);
  static int on_reload(sd_event_source*, const signalfd_siginfo*, void* self);

  Result<void> watch();
  void watch_machine();
  void use(Configuration configuration);
  void on_read();
  void reload();
  void tell_status();
  void watch_health();
  void take_health();

  Options options_;
  Configuration configuration_;
  bool config_valid_ = true, told_ = false;
  bool asked_ = false;     // somebody wants newer readings
  uint64_t followed_ = 0;  // Collector::news() when the sampler was told of the ports
  bool settling_ = false;  // a uevent was heard: a rescan is on its way
  Fd wake_, uevents_;
  std::optional<AddressWatch> addresses_;
  std::set<std::string> readdressed_;  // netdevs whose GIDs are read anew in a moment
  std::unique_ptr<sd_event, FreeLoop> loop_;
  std::shared_ptr<LoopTurn> turn_;
  std::unique_ptr<Collector> collector_;
  std::unique_ptr<Sampler> sampler_;  // outlives a reload: what it has counted goes on
  HealthKeeper health_{options_.root, state_directory(), lasting_directory()};
  bool health_due_ = true;  // readings for it have been asked for; the first ones are what later ones are compared with
  PageCache cache_;
  std::unique_ptr<Server> server_;  // ends first: it calls the others
};

Result<void> Exporter::start() {
  auto configuration = configure(options_);
  if (!configuration) return configuration.error();
  auto sockets = listeners(options_, configuration->policy ? *configuration->policy : Policy());
  if (!sockets) return sockets.error();
  wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) return error(errno, "eventfd");
  if (auto watched = watch(); !watched) return watched;
  use(std::move(*configuration));
  watch_health();
  auto server = Server::start(loop_.get(), std::move(*sockets), *this);
  if (!server) return server.error();
  server_ = std::move(*server);
  return {};
}

Result<void> Exporter::watch() {
  sd_event* loop = nullptr;
  if (int failed = ::sd_event_new(&loop); failed < 0) return error(-failed, "event loop");
  loop_.reset(loop);
  turn_ = std::make_shared<LoopTurn>(loop,
                                     LoopTurn::Steps{[this] { return std::exchange(asked_, false); },
                                                     [this] { return collector_->read_here(); }, [this] { on_read(); }},
                                     wake_.get());
  ::sd_event_add_signal(loop, nullptr, SIGTERM, nullptr, nullptr);
  ::sd_event_add_signal(loop, nullptr, SIGINT, nullptr, nullptr);
  ::sd_event_add_signal(loop, nullptr, SIGHUP, on_reload, this);
  ::sd_event_set_watchdog(loop, 1);
  if (int failed = ::sd_event_add_io(loop, nullptr, wake_.get(), EPOLLIN, on_wake, this); failed < 0)
    return error(-failed, "event loop");
  if (options_.root == "/") watch_machine();
  return {};
}

// Without these, what has changed is seen within a minute.
void Exporter::watch_machine() {
  if (auto uevents = open_uevents()) {
    uevents_ = std::move(*uevents);
    ::sd_event_add_io(loop_.get(), nullptr, uevents_.get(), EPOLLIN, on_uevent, this);
  }
  if (auto addresses = AddressWatch::open()) {
    addresses_ = std::move(*addresses);
    ::sd_event_add_io(loop_.get(), nullptr, addresses_->fd(), EPOLLIN, on_address, this);
  }
}

void Exporter::use(Configuration configuration) {
  configuration_ = std::move(configuration);
  CollectorOptions collecting;
  collecting.root = options_.root;
  collecting.policy = configuration_.policy;
  collecting.overdue = [turn = turn_] { turn->overdue(); };
  collector_ = std::make_unique<Collector>(std::move(collecting), wake_.get());
  const Policy policy = configuration_.policy ? *configuration_.policy : Policy();
  if (!sampler_)
    sampler_ = std::make_unique<Sampler>(
        SamplerOptions{.root = options_.root, .tell = [](const std::string& line) { say(SD_WARNING, line); }});
  sampler_->set(policy.sample_interval, policy.sample_cpu_budget);
  cache_.start_anew();
  told_ = false;
  followed_ = 0;
}

void Exporter::watch_health() {
  if (auto loaded = health_.load(); !loaded)
    say(SD_WARNING, loaded.error().text() + "\nWhat was kept there begins anew.");
  const auto pace = static_cast<uint64_t>(std::chrono::microseconds(kHealthPace).count());
  ::sd_event_add_time_relative(loop_.get(), nullptr, CLOCK_MONOTONIC, pace, 0, on_health, this);
}

// The readings that were asked for last time never came whole: a device hangs, the others count.
int Exporter::on_health(sd_event_source* source, uint64_t, void* context) {
  auto* self = static_cast<Exporter*>(context);
  if (self->health_due_) self->take_health();
  self->health_due_ = true;
  self->asked_ = true;
  ::sd_event_source_set_time_relative(source, static_cast<uint64_t>(std::chrono::microseconds(kHealthPace).count()));
  ::sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
  return 0;
}

void Exporter::take_health() {
  health_due_ = false;
  cache_.judge_anew();
  const Snapshot snapshot = collector_->snapshot();
  if (cache_.has_page()) cache_.keep_up(*collector_, snapshot.node);  // the first page is what the second compares with
  if (auto taken = health_.take(snapshot, configuration_.policy.get(), moment_now()); !taken)
    say(SD_WARNING, taken.error().text());
}

int Exporter::run() {
  ::sd_notify(0, "READY=1\nSTATUS=Reading for the first time.");
  const int status = turn_->run();
  ::sd_notify(0, "STOPPING=1");
  return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

bool Exporter::fresh() {
  auto age = configuration_.policy ? configuration_.policy->max_age : Policy().max_age;
  if (collector_->fresh(age)) return true;
  asked_ = true;
  return false;
}

Site::Body Exporter::metrics(bool compressed) {
  PageContext context;
  context.policy = configuration_.policy.get();
  context.no_policy = configuration_.why_none;
  context.config_valid = config_valid_;
  context.http = server_->counts();
  context.sampler = sampler_.get();
  context.health = &health_.health();
  context.wall = moment_now().wall;
  context.acks = health_.acks(context.wall);
  return compressed ? cache_.compressed(*collector_, std::move(context))
                    : cache_.plain(*collector_, std::move(context));
}

int Exporter::on_wake(sd_event_source*, int fd, uint32_t, void* context) {
  uint64_t count = 0;
  [[maybe_unused]] auto size = ::read(fd, &count, sizeof count);
  static_cast<Exporter*>(context)->on_read();
  return 0;
}

void Exporter::on_read() {
  if (!collector_->busy()) server_->release();
  if (!collector_->complete()) return;
  if (const uint64_t news = collector_->news(); news != std::exchange(followed_, news))
    sampler_->follow(collector_->ports());
  if (!told_) tell_status();
  if (health_due_ && !collector_->busy()) take_health();
}

void Exporter::tell_status() {
  told_ = true;
  forget_start();
  auto ports = collector_->snapshot().node.ports.size();
  ::sd_notifyf(0, "STATUS=Serving the metrics of %zu RDMA port%s.", ports, ports == 1 ? "" : "s");
}

int Exporter::on_uevent(sd_event_source*, int fd, uint32_t, void* context) {
  auto* self = static_cast<Exporter*>(context);
  if (!drain_uevents(fd)) return 0;
  if (self->settling_) return 0;
  auto wait = static_cast<uint64_t>(std::chrono::microseconds(kSettle).count());
  self->settling_ =
      ::sd_event_add_time_relative(self->loop_.get(), nullptr, CLOCK_MONOTONIC, wait, 0, on_settled, self) >= 0;
  return 0;
}

int Exporter::on_address(sd_event_source*, int, uint32_t, void* context) {
  auto* self = static_cast<Exporter*>(context);
  const bool waiting = !self->readdressed_.empty();
  self->readdressed_.merge(self->addresses_->drain());
  if (waiting || self->readdressed_.empty()) return 0;
  auto wait = static_cast<uint64_t>(std::chrono::microseconds(kGidsFollow).count());
  ::sd_event_add_time_relative(self->loop_.get(), nullptr, CLOCK_MONOTONIC, wait, 0, on_gids, self);
  return 0;
}

int Exporter::on_gids(sd_event_source*, uint64_t, void* context) {
  auto* self = static_cast<Exporter*>(context);
  self->collector_->reread(std::exchange(self->readdressed_, {}));
  return 0;
}

int Exporter::on_settled(sd_event_source*, uint64_t, void* context) {
  auto* self = static_cast<Exporter*>(context);
  self->settling_ = false;
  self->collector_->rescan();
  return 0;
}

int Exporter::on_reload(sd_event_source*, const signalfd_siginfo*, void* context) {
  static_cast<Exporter*>(context)->reload();
  return 0;
}

void Exporter::reload() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  ::sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld",
               static_cast<long long>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000);
  auto configuration = configure(options_);
  config_valid_ = configuration.ok();
  if (configuration) use(std::move(*configuration));
  else say(SD_ERR, configuration.error().text() + "\nKeeping the configuration as it was.");
  ::sd_notify(0, "READY=1");
}

}  // namespace

int serve(const Options& options) {
  block_signals();
  Exporter exporter(options);
  if (auto started = exporter.start(); !started) {
    say(SD_ERR, started.error().text());
    return EXIT_FAILURE;
  }
  return exporter.run();
}

int print_page(const Options& options) {
  auto configuration = configure(options);
  if (!configuration) return say(SD_ERR, configuration.error().text()), EXIT_FAILURE;
  Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  CollectorOptions collecting;
  collecting.root = options.root;
  collecting.policy = configuration->policy;
  Collector collector(std::move(collecting), wake.get());
  for (auto end = Clock::now() + kFirstPage; !collector.complete() && Clock::now() < end;) {
    pollfd waiting{wake.get(), POLLIN, 0};
    ::poll(&waiting, 1, 100);
    uint64_t count = 0;
    [[maybe_unused]] auto size = ::read(wake.get(), &count, sizeof count);
  }
  PageContext context;
  context.policy = configuration->policy.get();
  context.no_policy = configuration->why_none;
  std::string page = render_page(collector.snapshot(), context);
  if (std::fwrite(page.data(), 1, page.size(), stdout) == page.size() && std::fflush(stdout) == 0) return EXIT_SUCCESS;
  say(SD_ERR, error(errno, "standard output").text());
  return EXIT_FAILURE;
}

}  // namespace fabric::exporter
