// SPDX-License-Identifier: Apache-2.0

#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include <csignal>
#include <cstdlib>

#include "exporter/collect/collector.h"
#include "exporter/collect/health_keeper.h"
#include "exporter/http/page.h"
#include "exporter/http/server.h"
#include "exporter/setup.h"
#include "exporter/uevent.h"
#include "store/report_state.h"

namespace fabric::exporter {
namespace {

constexpr auto kSettle = std::chrono::milliseconds(300);  // a NIC is added or removed with a burst of uevents
constexpr auto kGidsFollow = std::chrono::seconds(1);     // the kernel updates GIDs from addresses in a work queue

uint64_t microseconds(std::chrono::microseconds span) { return static_cast<uint64_t>(span.count()); }

struct FreeLoop {
  void operator()(sd_event* loop) const { ::sd_event_unref(loop); }
};

class Exporter final : public Site {
 public:
  explicit Exporter(const Options& options) : options_(options) {}

  Result<void> start();
  int run();

  bool fresh() override;
  Body metrics(TextFormat format, bool compressed) override { return page(format, false, compressed); }
  Body landing(bool compressed) override { return page(TextFormat::prometheus, true, compressed); }
  bool ready() override { return collector_->complete(); }

 private:
  Body page(TextFormat format, bool landing, bool compressed);
  static int on_wake(sd_event_source*, int fd, uint32_t, void* self);
  static int on_uevent(sd_event_source*, int fd, uint32_t, void* self);
  static int on_address(sd_event_source*, int fd, uint32_t, void* self);
  static int on_gids(sd_event_source*, uint64_t, void* self);
  static int on_settled(sd_event_source*, uint64_t, void* self);
  static int on_health(sd_event_source* source, uint64_t, void* self);
  static int on_reload(sd_event_source*, const signalfd_siginfo*, void* self);

  Result<void> create_loop();
  void watch_machine();
  void use(Configuration configuration);
  void reload();
  Result<std::shared_ptr<const WebConfig>> load_web();
  void reload_web(bool asked);
  void publish_status();
  void start_health();
  void update_health();
  [[nodiscard]] PageContext context() const;

  Options options_;
  Configuration configuration_;
  bool config_valid_ = true, status_published_ = false;
  bool rescan_scheduled_ = false;  // after a uevent
  Fd wake_, uevents_;
  std::optional<AddressWatch> addresses_;
  std::set<std::string> changed_addresses_;  // netdevs whose GIDs are about to be read again
  std::unique_ptr<sd_event, FreeLoop> loop_;
  std::unique_ptr<Collector> collector_;
  std::vector<std::string> web_files_;
  std::string web_state_;  // of web_files_ when they were last read
  HealthKeeper health_{options_.root, state_directory(), lasting_directory()};
  bool health_due_ = true;   // its readings have been requested
  std::string unpublished_;  // why the report could not be written: logged once
  PageCache cache_;
  std::unique_ptr<Server> server_;  // last member: it calls the others, and is destroyed first
};

Result<void> Exporter::start() {
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
  start_health();
  auto server = Server::start(loop_.get(), std::move(*sockets), *this, {}, std::move(*web));
  if (!server) return server.error();
  server_ = std::move(*server);
  return {};
}

Result<void> Exporter::create_loop() {
  sd_event* loop = nullptr;
  if (int failed = ::sd_event_new(&loop); failed < 0) return error(-failed, "event loop");
  loop_.reset(loop);
  ::sd_event_add_signal(loop, nullptr, SIGTERM, nullptr, nullptr);
  ::sd_event_add_signal(loop, nullptr, SIGINT, nullptr, nullptr);
  ::sd_event_add_signal(loop, nullptr, SIGHUP, on_reload, this);
  ::sd_event_set_watchdog(loop, 1);
  if (int failed = ::sd_event_add_io(loop, nullptr, wake_.get(), EPOLLIN, on_wake, this); failed < 0)
    return error(-failed, "event loop");
  if (options_.root == "/") watch_machine();
  return {};
}

// Without these notifications, changes are seen within a minute.
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
Result<std::shared_ptr<const WebConfig>> Exporter::load_web() {
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
void Exporter::reload_web(bool asked) {
  if (options_.web_config.empty() || (!asked && state_of(web_files_) == web_state_)) return;
  auto web = load_web();
  auto used = web ? server_->use(std::move(*web)) : Result<void>(web.error());
  if (!used) log(SD_ERR, used.error().text() + (web ? "" : "\nKeeping the previous TLS settings and users."));
}

void Exporter::start_health() {
  if (auto loaded = health_.load(); !loaded)
    log(SD_WARNING, loaded.error().text() + "\nThe health history in that file is lost.");
  ::sd_event_add_time_relative(loop_.get(), nullptr, CLOCK_MONOTONIC, microseconds(kHealthInterval), 0, on_health,
                               this);
}

// If the readings of the last interval never completed, a device hangs: the others count.
int Exporter::on_health(sd_event_source* source, uint64_t, void* context) {
  auto* self = static_cast<Exporter*>(context);
  if (self->health_due_) self->update_health();
  self->health_due_ = true;
  self->collector_->refresh();
  self->reload_web(false);
  ::sd_event_source_set_time_relative(source, microseconds(kHealthInterval));
  ::sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
  return 0;
}

void Exporter::update_health() {
  health_due_ = false;
  const Snapshot snapshot = collector_->snapshot();
  const Moment now = moment_now();
  if (auto updated = health_.update(snapshot, configuration_.policy.get(), now); !updated)
    log(SD_WARNING, updated.error().text());
  const Report* report = cache_.refresh(*collector_, snapshot, context());
  if (report == nullptr || state_directory().empty()) return;
  auto saved = save_report(state_directory(), {*report, now.boot});
  const std::string fault = saved ? "" : saved.error().text();
  if (std::exchange(unpublished_, fault) != fault && !fault.empty()) log(SD_WARNING, fault);
}

int Exporter::run() {
  ::sd_notify(0, "READY=1\nSTATUS=Reading for the first time.");
  const int status = ::sd_event_loop(loop_.get());
  ::sd_notify(0, "STOPPING=1");
  return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

bool Exporter::fresh() {
  if (collector_->fresh(configuration_.policy ? configuration_.policy->max_age : Policy().max_age)) return true;
  collector_->refresh();
  return false;
}

PageContext Exporter::context() const {
  PageContext out;
  out.policy = configuration_.policy.get();
  out.no_policy = configuration_.no_policy;
  out.config_valid = config_valid_;
  out.health = &health_.health();
  out.wall = moment_now().wall;
  out.acks = health_.acks(out.wall);
  return out;
}

Site::Body Exporter::page(TextFormat format, bool landing, bool compressed) {
  PageContext context = this->context();
  context.format = format;
  context.landing = landing;
  context.http = server_->counts();
  return compressed ? cache_.compressed(*collector_, std::move(context))
                    : cache_.plain(*collector_, std::move(context));
}

int Exporter::on_wake(sd_event_source*, int fd, uint32_t, void* context) {
  auto* self = static_cast<Exporter*>(context);
  uint64_t count = 0;
  [[maybe_unused]] const auto size = ::read(fd, &count, sizeof count);
  const bool busy = self->collector_->busy();
  if (!busy) self->server_->release();
  if (!self->collector_->complete()) return 0;
  if (!self->status_published_) self->publish_status();
  if (self->health_due_ && !busy) self->update_health();
  return 0;
}

void Exporter::publish_status() {
  status_published_ = true;
  const size_t ports = collector_->snapshot().node.ports.size();
  ::sd_notifyf(0, "STATUS=Serving the metrics of %zu RDMA port%s.", ports, ports == 1 ? "" : "s");
}

int Exporter::on_uevent(sd_event_source*, int fd, uint32_t, void* context) {
  auto* self = static_cast<Exporter*>(context);
  if (!drain_uevents(fd) || self->rescan_scheduled_) return 0;
  self->rescan_scheduled_ = ::sd_event_add_time_relative(self->loop_.get(), nullptr, CLOCK_MONOTONIC,
                                                         microseconds(kSettle), 0, on_settled, self) >= 0;
  return 0;
}

int Exporter::on_address(sd_event_source*, int, uint32_t, void* context) {
  auto* self = static_cast<Exporter*>(context);
  const bool waiting = !self->changed_addresses_.empty();
  self->changed_addresses_.merge(self->addresses_->drain());
  if (waiting || self->changed_addresses_.empty()) return 0;
  ::sd_event_add_time_relative(self->loop_.get(), nullptr, CLOCK_MONOTONIC, microseconds(kGidsFollow), 0, on_gids,
                               self);
  return 0;
}

int Exporter::on_gids(sd_event_source*, uint64_t, void* context) {
  auto* self = static_cast<Exporter*>(context);
  self->collector_->reread(std::exchange(self->changed_addresses_, {}));
  return 0;
}

int Exporter::on_settled(sd_event_source*, uint64_t, void* context) {
  auto* self = static_cast<Exporter*>(context);
  self->rescan_scheduled_ = false;
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
  config_valid_ = configuration && (!configuration->policy || configuration->no_policy.empty());
  if (config_valid_) use(std::move(*configuration));
  else
    log(SD_ERR, (configuration ? configuration->no_policy : configuration.error().text()) +
                    "\nKeeping the previous configuration.");
  reload_web(true);
  ::sd_notify(0, "READY=1");
}

}  // namespace

int serve(const Options& options) {
  block_signals();
  Exporter exporter(options);
  if (auto started = exporter.start(); !started) {
    log(SD_ERR, started.error().text());
    return EXIT_FAILURE;
  }
  return exporter.run();
}

}  // namespace fabric::exporter
