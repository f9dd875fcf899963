// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "exporter/collect/health_keeper.h"
#include "exporter/http/page.h"
#include "exporter/http/server.h"
#include "exporter/setup.h"
#include "exporter/uevent.h"
#include "judge/health_state.h"

namespace fabric::exporter {
namespace {

constexpr auto kSettle = std::chrono::milliseconds(300);  // a NIC is added or removed with a burst of uevents
constexpr auto kGidsFollow = std::chrono::seconds(1);     // the kernel updates GIDs from addresses in a work queue
constexpr auto kFirstPage = std::chrono::seconds(3);      // --print waits this long

// RUNTIME_DIRECTORY survives a restart, STATE_DIRECTORY a reboot; empty: not set.
std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

void take_wake_up(const Fd& wake) {
  uint64_t count = 0;
  [[maybe_unused]] const auto size = ::read(wake.get(), &count, sizeof count);
}

class Exporter final : public Site {
 public:
  explicit Exporter(const Options& options) : options_(options) {}

  Result<void> start() {
    auto configuration = configure(options_);
    if (!configuration) return configuration.error();
    auto web = load_web();
    if (!web) return web.error();
    auto sockets = listeners(options_, configuration->policy ? *configuration->policy : Policy());
    if (!sockets) return sockets.error();
    wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_) return error(errno, "eventfd");
    if (auto created = create_loop(); !created) return created;
    config_valid_ = !configuration->policy || configuration->no_policy.empty();
    use(std::move(*configuration));
    if (auto loaded = health_.load(); !loaded)
      log(SD_WARNING, loaded.error().text() + "\nThe health history in that file is lost.");
    health_timer_.after(kHealthInterval);
    server_.emplace(loop_.get(), *this, Limits(), std::move(*web));
    return server_->start(std::move(*sockets));
  }

  int run() {
    ::sd_notify(0, "READY=1\nSTATUS=Reading for the first time.");
    const int status = ::sd_event_loop(loop_.get());
    ::sd_notify(0, "STOPPING=1");
    return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
  }

  bool fresh() override {
    if (collector_->fresh(configuration_.policy ? configuration_.policy->max_age : Policy().max_age)) return true;
    collector_->refresh();
    return false;
  }
  Body metrics(TextFormat format, bool compressed) override { return page(format, false, compressed); }
  Body landing(bool compressed) override { return page(TextFormat::prometheus, true, compressed); }
  bool ready() override { return collector_->complete(); }

 private:
  Result<void> create_loop() {
    auto loop = open_event_loop();
    if (!loop) return loop.error();
    loop_ = std::move(*loop);
    auto done = hangup_.on_signal(loop_.get(), SIGHUP, [this] { reload(); });
    if (done) done = woken_.on_readable(loop_.get(), wake_.get(), [this] { on_wake(); });
    if (done) done = health_timer_.on_time(loop_.get(), CLOCK_MONOTONIC, [this] { on_health(); });
    if (done && options_.root == "/") done = watch_machine();
    return done;
  }

  // Without these notifications, changes are seen within a minute.
  Result<void> watch_machine() {
    auto done = rescan_.on_time(loop_.get(), CLOCK_MONOTONIC, [this] { collector_->rescan(); });
    if (done)
      done = gids_.on_time(loop_.get(), CLOCK_MONOTONIC,
                           [this] { collector_->reread(std::exchange(changed_addresses_, {})); });
    if (auto uevents = open_uevents(); done && uevents) {
      uevents_ = std::move(*uevents);
      done = uevent_.on_readable(loop_.get(), uevents_.get(), [this] {
        if (drain_uevents(uevents_.get()) && !rescan_.is_on()) rescan_.after(kSettle);
      });
    }
    if (auto addresses = AddressWatch::open(); done && addresses) {
      addresses_ = std::move(*addresses);
      done = address_.on_readable(loop_.get(), addresses_->fd(), [this] {
        changed_addresses_.merge(addresses_->drain());
        if (!changed_addresses_.empty() && !gids_.is_on()) gids_.after(kGidsFollow);
      });
    }
    return done;
  }

  void use(Configuration configuration) {
    configuration_ = std::move(configuration);
    const Policy policy = configuration_.policy ? *configuration_.policy : Policy();
    CollectorOptions collecting;
    collecting.root = options_.root;
    collecting.policy = configuration_.policy;
    collecting.sampling = {policy.sample_interval, policy.sample_cpu_budget,
                           [](const std::string& line) { log(SD_WARNING, line); }};
    if (collector_) collecting.bursts = collector_->bursts();
    collector_ = std::make_unique<Collector>(std::move(collecting), wake_.get());
    cache_.restart();
    status_published_ = false;
  }

  // nullptr: plain HTTP, because no file was given.
  Result<std::shared_ptr<const WebConfig>> load_web() {
    if (options_.web_config.empty()) return std::shared_ptr<const WebConfig>();
    if (web_files_.empty()) web_files_ = {options_.web_config};
    web_state_ = state_of(web_files_);
    auto loaded = load_web_config(options_.web_config);
    if (!loaded) return loaded.error();
    web_files_ = loaded->files;
    web_state_ = state_of(web_files_);
    return std::make_shared<const WebConfig>(std::move(*loaded));
  }

  // If its files have changed, or after SIGHUP. An invalid file changes nothing.
  void reload_web(bool asked) {
    if (options_.web_config.empty() || (!asked && state_of(web_files_) == web_state_)) return;
    auto web = load_web();
    auto used = web ? server_->use(std::move(*web)) : Result<void>(web.error());
    if (!used) log(SD_ERR, used.error().text() + (web ? "" : "\nKeeping the previous TLS settings and users."));
  }

  // If the readings of the last interval never completed, a device hangs: the others count.
  void on_health() {
    if (health_due_) update_health();
    health_due_ = true;
    collector_->refresh();
    reload_web(false);
    health_timer_.after(kHealthInterval);
  }

  void update_health() {
    health_due_ = false;
    const Snapshot snapshot = collector_->snapshot();
    const Moment now = moment_now();
    if (auto updated = health_.update(snapshot, configuration_.policy.get(), now); !updated)
      log(SD_WARNING, updated.error().text());
    const Report* report = cache_.refresh(*collector_, snapshot, context());
    if (report == nullptr || directory_.empty()) return;
    auto saved = save_report(directory_, {*report, now.boot});
    const std::string fault = saved ? "" : saved.error().text();
    if (std::exchange(unpublished_, fault) != fault && !fault.empty()) log(SD_WARNING, fault);
  }

  [[nodiscard]] PageContext context() const {
    PageContext out;
    out.policy = configuration_.policy.get();
    out.no_policy = configuration_.no_policy;
    out.config_valid = config_valid_;
    out.health = &health_.health();
    out.wall = moment_now().wall;
    out.acks = health_.acks(out.wall);
    return out;
  }

  Body page(TextFormat format, bool landing, bool compressed) {
    PageContext context = this->context();
    context.format = format;
    context.landing = landing;
    context.http = server_->counts();
    return cache_.page(*collector_, std::move(context), compressed);
  }

  void on_wake() {
    take_wake_up(wake_);
    const bool busy = collector_->busy();
    if (!busy) server_->release();
    if (!collector_->complete()) return;
    if (!std::exchange(status_published_, true)) {
      const size_t ports = collector_->snapshot().node.ports.size();
      ::sd_notifyf(0, "STATUS=Serving the metrics of %zu RDMA port%s.", ports, ports == 1 ? "" : "s");
    }
    if (health_due_ && !busy) update_health();
  }

  void reload() {
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch());
    ::sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", static_cast<long long>(now.count()));
    auto configuration = configure(options_);
    config_valid_ = configuration && (!configuration->policy || configuration->no_policy.empty());
    if (config_valid_) use(std::move(*configuration));
    else
      log(SD_ERR, (configuration ? configuration->no_policy : configuration.error().text()) +
                      "\nKeeping the previous configuration.");
    reload_web(true);
    ::sd_notify(0, "READY=1");
  }

  Options options_;
  Configuration configuration_;
  bool config_valid_ = true, status_published_ = false;
  Fd wake_, uevents_;
  std::optional<AddressWatch> addresses_;
  std::set<std::string> changed_addresses_;  // netdevs whose GIDs are about to be read again
  EventLoop loop_;
  EventSource woken_, hangup_, uevent_, address_;
  EventSource rescan_, gids_, health_timer_;
  std::unique_ptr<Collector> collector_;
  std::vector<std::string> web_files_;
  std::string web_state_;  // of web_files_ when they were last read
  const std::string directory_ = environment("RUNTIME_DIRECTORY");
  HealthKeeper health_{options_.root, directory_, environment("STATE_DIRECTORY")};
  bool health_due_ = true;   // its readings have been requested
  std::string unpublished_;  // why the report could not be written: logged once
  PageCache cache_;
  std::optional<Server> server_;  // last member: it calls the others, and is destroyed first
};

}  // namespace

int serve(const Options& options) {
  block_signals();
  Exporter exporter(options);
  if (auto started = exporter.start(); !started) return failed(started.error());
  return exporter.run();
}

int print_page(const Options& options) {
  auto configuration = configure(options);
  if (!configuration) return failed(configuration.error());
  Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  CollectorOptions collecting;
  collecting.root = options.root;
  collecting.policy = configuration->policy;
  Collector collector(std::move(collecting), wake.get());
  for (auto end = Clock::now() + kFirstPage; !collector.complete() && Clock::now() < end;) {
    pollfd waiting{wake.get(), POLLIN, 0};
    ::poll(&waiting, 1, 100);
    take_wake_up(wake);
  }
  PageContext context;
  context.policy = configuration->policy.get();
  context.no_policy = configuration->no_policy;
  std::string page = render_page(collector.snapshot(), context);
  if (std::fwrite(page.data(), 1, page.size(), stdout) == page.size() && std::fflush(stdout) == 0) return EXIT_SUCCESS;
  return failed(error(errno, "standard output"));
}

}  // namespace fabric::exporter
