// SPDX-License-Identifier: Apache-2.0
#include "agentd/optics.h"

#include <linux/netlink.h>

#include <condition_variable>
#include <mutex>

#include "base/clock.h"
#include "base/thread.h"
#include "judge/finding.h"
#include "kernel/netlink/ethtool_link.h"

namespace fabric::agentd {

struct OpticsWatch::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  uint64_t requests = 0;  // calls of set() that changed something
  std::vector<std::string> netdevs;
  std::chrono::milliseconds interval{0};
};

namespace {

using Shared = OpticsWatch::Shared;
using Clock = Patience::Clock;

// This many refusals in a row do not come from a module or a firmware that is still starting.
constexpr unsigned kRefusals = 6;
constexpr std::chrono::hours kRefusedPause{1};

// Reads the modules that are due, and publishes them.
class ModulePublisher {
 public:
  explicit ModulePublisher(OpticsEnvironment environment) : environment_(std::move(environment)) {}

  void run(const std::vector<std::string>& netdevs, std::chrono::milliseconds interval) {
    state::Optics found;
    found.interval = in_seconds(interval);
    std::erase_if(patiences_, [&](const auto& known) { return !contains(netdevs, known.first); });
    for (const std::string& netdev : netdevs) {
      Patience& patience = patiences_[netdev];
      const std::string links = environment_.links(netdev);
      if (!patience.due(Clock::now(), links)) continue;
      auto module = environment_.read(netdev);
      if (module) {
        patience.succeeded();
        found.modules.emplace(netdev, std::move(*module));
        continue;
      }
      patience.failed(Clock::now(), module.error().code, links);
      const std::string fault = module.error().text();
      if (module.error().code == EBADMSG && std::exchange(reported_[netdev], fault) != fault)
        environment_.log(
            {message_id::trouble, LOG_WARNING, fault + "; the module is not published", {{"FABRIC_NETDEV", netdev}}});
    }

    std::string failure;
    std::optional<double> uptime;
    if (const auto root = Root::open("/")) uptime = state::uptime(*root);
    if (!uptime) failure = error(ENOENT, "/proc/uptime").text();
    else if (auto saved = state::save_optics(environment_.directory, found, *uptime); !saved)
      failure = saved.error().text();
    if (!failure.empty() && failure != last_failure_)
      environment_.log({message_id::trouble, LOG_WARNING, failure + "; modules are not published"});
    last_failure_ = failure;
  }

 private:
  OpticsEnvironment environment_;
  std::map<std::string, Patience> patiences_;
  std::map<std::string, std::string> reported_;  // netdev -> the last error of a module with malformed memory
  std::string last_failure_;
};

// The thread: publishes at once after each set(), and every interval.
void run(const std::shared_ptr<Shared>& shared, OpticsEnvironment environment) {
  ModulePublisher publisher(std::move(environment));
  std::unique_lock lock(shared->mutex);
  while (!shared->stop) {
    const uint64_t served = shared->requests;
    const auto netdevs = shared->netdevs;
    const auto interval = shared->interval;
    const bool is_off = netdevs.empty() || interval.count() == 0;
    if (!is_off) {
      lock.unlock();
      publisher.run(netdevs, interval);
      lock.lock();
    }
    const auto is_woken = [&] { return shared->stop || shared->requests != served; };
    if (is_off) shared->changed.wait(lock, is_woken);
    else shared->changed.wait_for(lock, interval, is_woken);
  }
}

// Reads modules over a netlink socket that is opened for the first one.
class Cages {
 public:
  Result<Transceiver> read(const std::string& netdev) {
    if (!family_) {
      auto generic = open_netlink(NETLINK_GENERIC);
      if (!generic) return generic.error();
      auto family = ethtool::resolve(**generic);
      if (!family) return family.error();
      generic_ = std::move(*generic);
      family_ = *family;
    }
    return reader_.read(*generic_, *family_, netdev);
  }

 private:
  std::unique_ptr<Netlink> generic_;
  std::optional<ethtool::Family> family_;
  ethtool::ModuleReader reader_{state::decode_apart};
};

}  // namespace

bool Patience::due(Clock::time_point now, const std::string& links) const {
  if (links != links_) return true;
  if (refusals_ >= kRefusals) return now >= last_try_ + kRefusedPause;
  return backoff_.due(now);
}

void Patience::failed(Clock::time_point now, int code, const std::string& links) {
  backoff_.failed(now);
  last_try_ = now;
  links_ = links;
  if (code == EINVAL) ++refusals_;
  else refusals_ = 0;
}

std::vector<std::string> cages_of(const std::vector<Port>& ports) {
  std::vector<std::string> out;
  for (const Port& port : ports)
    if (has_cage(port)) out.push_back(port.netdev);
  std::ranges::sort(out);
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

OpticsEnvironment real_optics_environment() {
  OpticsEnvironment environment;
  environment.read = [cages = std::make_shared<Cages>()](const std::string& netdev) { return cages->read(netdev); };
  environment.links = [](const std::string& netdev) {
    const auto root = Root::open("/");
    if (!root) return std::string();
    return root->line_of("sys/class/net/" + netdev + "/carrier_up_count");
  };
  return environment;
}

OpticsWatch::~OpticsWatch() {
  if (!shared_) return;
  std::lock_guard lock(shared_->mutex);
  shared_->stop = true;
  shared_->changed.notify_all();
}

void OpticsWatch::set(std::vector<std::string> netdevs, std::chrono::milliseconds interval) {
  if (!shared_) {
    if (netdevs.empty() || interval.count() == 0) return;
    auto shared = std::make_shared<Shared>();
    if (auto started = run_detached([shared, environment = environment_] { run(shared, environment); }); !started)
      return environment_.log(
          {message_id::trouble, LOG_WARNING, started.error().text() + "; modules are not read until the next scan"});
    shared_ = std::move(shared);
  }
  std::lock_guard lock(shared_->mutex);
  if (shared_->netdevs == netdevs && shared_->interval == interval) return;
  shared_->netdevs = std::move(netdevs);
  shared_->interval = interval;
  ++shared_->requests;
  shared_->changed.notify_all();
}

}  // namespace fabric::agentd
