// SPDX-License-Identifier: Apache-2.0
#include "exporter/exporter.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/clock.h"
#include "base/log_limit.h"
#include "base/parse.h"
#include "exporter/collect/health_keeper.h"
#include "exporter/http/page.h"
#include "exporter/http/server.h"
#include "exporter/uevent.h"
#include "judge/health_state.h"

namespace fabric::exporter {
namespace {

constexpr auto kSettle = std::chrono::milliseconds(300);  // a NIC is added or removed with a burst of uevents
constexpr auto kGidsFollow = std::chrono::seconds(1);     // the kernel updates GIDs from addresses in a work queue
constexpr auto kFirstPage = std::chrono::seconds(3);      // maximum wait of --print

// The value of the environment variable; empty: not set.
std::string environment(const char* name) {
  if (const char* value = std::getenv(name)) return value;
  return {};
}

Moment moment_now() { return {seconds_on(CLOCK_BOOTTIME), static_cast<int64_t>(std::time(nullptr))}; }

void clear_wake_up(const Fd& wake) {
  uint64_t count = 0;
  [[maybe_unused]] const auto size = ::read(wake.get(), &count, sizeof count);
}

const Policy& policy_or_default(const Configuration& configuration) {
  static const Policy kDefaults;
  return configuration.policy ? *configuration.policy : kDefaults;
}

class Exporter final : public Site {
 public:
  explicit Exporter(const ExporterOptions& options) : options_(options) {}

  Result<void> start() {
    auto configuration = configure(options_, state_);
    if (!configuration) return configuration.error();
    auto web = load_web();
    if (!web) return web.error();
    auto sockets = listeners(options_, policy_or_default(*configuration));
    if (!sockets) return sockets.error();
    wake_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!wake_) return error(errno, "eventfd");

    auto loop = open_event_loop();
    if (!loop) return loop.error();
    loop_ = std::move(*loop);
    auto done = hangup_.on_signal(loop_.get(), SIGHUP, [this] { reload(); });
    if (done) done = woken_.on_readable(loop_.get(), wake_.get(), [this] { on_wake(); });
    if (done) done = health_timer_.on_time(loop_.get(), CLOCK_MONOTONIC, [this] { on_health(); });
    if (done && options_.root == "/") done = watch_machine();
    if (!done) return done;

    config_valid_ = !configuration->policy || !configuration->no_policy;
    use(std::move(*configuration));
    if (auto loaded = health_.load(); !loaded)
      log(SD_WARNING, loaded.error().text() + "\nThe health history in that file is lost.");
    health_timer_.after(kHealthInterval);
    server_.emplace(loop_.get(), *this, ServerLimits(), std::move(*web), state_);
    return server_->start(std::move(*sockets));
  }

  int run() {
    ::sd_notify(0, "READY=1\nSTATUS=Reading for the first time.");
    const int status = ::sd_event_loop(loop_.get());
    ::sd_notify(0, "STOPPING=1");
    if (status < 0) return EXIT_FAILURE;
    return EXIT_SUCCESS;
  }

  bool fresh() override {
    if (collector_->fresh(policy_or_default(configuration_).max_age)) return true;
    collector_->refresh();
    return false;
  }
  Body metrics(TextFormat format, bool compressed) override { return page(format, false, compressed); }
  Body landing(bool compressed) override { return page(TextFormat::prometheus, true, compressed); }
  bool ready() override { return collector_->complete(); }

 private:
  // Subscribes to notifications. Without them, changes are noticed within a minute.
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
    const Policy& policy = policy_or_default(configuration_);
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

  // Reloads the TLS settings and users if their files have changed, or if `forced` (SIGHUP). An invalid file changes
  // nothing.
  void reload_web(bool forced) {
    if (options_.web_config.empty() || (!forced && state_of(web_files_) == web_state_)) return;
    auto web = load_web();
    if (!web) {
      log(SD_ERR, web.error().text() + "\nKeeping the previous TLS settings and users.");
      return;
    }
    if (auto used = server_->use(std::move(*web)); !used) log(SD_ERR, used.error().text());
  }

  // If the readings of the last interval have not completed by now, a device hangs, and health is updated without it.
  void on_health() {
    if (health_due_) update_health();
    warnings_.flush(Clock::now());
    health_due_ = true;
    collector_->refresh();
    reload_web(false);
    health_timer_.after(kHealthInterval);
  }

  void update_health() {
    health_due_ = false;
    const Snapshot snapshot = collector_->snapshot();
    const Moment now = moment_now();
    const Report* report = nullptr;
    const auto judge = [&] { return report = cache_.refresh(*collector_, snapshot, context()); };
    if (auto updated = health_.update(snapshot, configuration_.policy.get(), now, judge); !updated)
      warnings_.log("health", updated.error().text(), Clock::now());
    if (report == nullptr || directory_.empty()) return;
    std::string fault;
    if (auto saved = save_report(directory_, {*report, now.boot}); !saved) fault = saved.error().text();
    if (std::exchange(save_fault_, fault) != fault && !fault.empty()) warnings_.log("report", fault, Clock::now());
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
    clear_wake_up(wake_);
    const bool busy = collector_->busy();
    if (!busy) server_->release();
    if (!collector_->complete()) return;
    if (!std::exchange(status_published_, true)) {
      const size_t ports = collector_->snapshot().node.ports.size();
      ::sd_notifyf(0, "STATUS=Serving the metrics of %s.", counted(ports, "RDMA port").c_str());
    }
    if (health_due_ && !busy) update_health();
  }

  void reload() {
    const auto now = std::chrono::duration_cast<std::chrono::microseconds>(Clock::now().time_since_epoch());
    ::sd_notifyf(0, "RELOADING=1\nMONOTONIC_USEC=%lld", static_cast<long long>(now.count()));
    auto configuration = configure(options_, state_);
    config_valid_ = configuration && (!configuration->policy || !configuration->no_policy);
    if (config_valid_) {
      use(std::move(*configuration));
    } else {
      std::string fault;
      if (configuration) fault = configuration->no_policy->text();
      else fault = configuration.error().text();
      log(SD_ERR, fault + "\nKeeping the previous configuration.");
    }
    reload_web(true);
    ::sd_notify(0, "READY=1");
  }

  ExporterOptions options_;
  Configuration configuration_;
  bool config_valid_ = true, status_published_ = false;
  Fd wake_, uevents_;
  std::optional<AddressWatch> addresses_;
  std::set<std::string> changed_addresses_;  // netdevs; the GIDs of their ports are about to be read again
  EventLoop loop_;
  EventSource woken_, hangup_, uevent_, address_;
  EventSource rescan_, gids_, health_timer_;
  std::unique_ptr<Collector> collector_;
  std::vector<std::string> web_files_;
  std::string web_state_;                                           // state_of() web_files_ when they were last read
  const std::string directory_ = environment("RUNTIME_DIRECTORY");  // survives a restart
  const std::string state_ = environment("STATE_DIRECTORY");        // survives a reboot
  HealthKeeper health_{options_.root, directory_, state_};
  bool health_due_ = true;  // the readings for the next update of health have been requested
  std::string save_fault_;  // why the report could not be saved: logged once
  // Other programs decide how often their files change.
  LogLimit<std::string> warnings_{
      [](const std::string& text, uint64_t more) { log(SD_WARNING, with_more(text, more)); }};
  PageCache cache_;
  std::optional<Server> server_;  // the last member, so that it is destroyed first: it uses the others
};

}  // namespace

int serve(const ExporterOptions& options) {
  block_signals();
  Exporter exporter(options);
  if (auto started = exporter.start(); !started) return failed(started.error());
  return exporter.run();
}

int print_page(const ExporterOptions& options) {
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
    clear_wake_up(wake);
  }
  PageContext context;
  context.policy = configuration->policy.get();
  context.no_policy = configuration->no_policy;
  context.wall = moment_now().wall;
  std::string page = render_page(collector.snapshot(), context);
  if (std::fwrite(page.data(), 1, page.size(), stdout) == page.size() && std::fflush(stdout) == 0) return EXIT_SUCCESS;
  return failed(error(errno, "standard output"));
}

}  // namespace fabric::exporter
