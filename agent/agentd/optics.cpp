// SPDX-License-Identifier: Apache-2.0
#include "agentd/optics.h"

#include <linux/netlink.h>

#include <condition_variable>
#include <mutex>
#include <thread>

#include "base/clock.h"
#include "judge/finding.h"
#include "kernel/netlink/ethtool_link.h"

namespace fabric::agentd {

struct OpticsWatch::Shared {
  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  uint64_t asked = 0;  // grows with every change
  std::vector<std::string> netdevs;
  std::chrono::milliseconds interval{0};
};

namespace {

using Shared = OpticsWatch::Shared;
using Clock = Patience::Clock;

constexpr unsigned kRefusals = 6;  // in a row: not a module that starts, nor firmware that does
constexpr std::chrono::hours kRefused{1};

class Reader {
 public:
  explicit Reader(OpticsEnvironment environment) : environment_(std::move(environment)) {}

  void read(const std::vector<std::string>& netdevs, std::chrono::milliseconds interval) {
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
      } else {
        patience.failed(Clock::now(), module.error().code, links);
        if (module.error().code == EBADMSG && said_.insert(module.error().text()).second)
          environment_.log({message_id::trouble, LOG_WARNING, module.error().text() + "; the module is not published"});
      }
    }
    publish(found);
  }

 private:
  void publish(const state::Optics& found) {
    std::string trouble;
    const auto root = Root::open("/");
    if (const auto now = root ? state::uptime(*root) : std::nullopt) {
      if (auto saved = state::save_optics(environment_.directory, found, *now); !saved) trouble = saved.error().text();
    } else {
      trouble = error(ENOENT, "/proc/uptime").text();
    }
    if (!trouble.empty() && trouble != last_error_)
      environment_.log({message_id::trouble, LOG_WARNING, trouble + "; modules are not published"});
    last_error_ = trouble;
  }

  OpticsEnvironment environment_;
  std::map<std::string, Patience> patiences_;
  std::set<std::string> said_;  // of memories that make no sense
  std::string last_error_;
};

void run(const std::shared_ptr<Shared>& shared, OpticsEnvironment environment) {
  Reader reader(std::move(environment));
  uint64_t answered = 0;
  std::unique_lock lock(shared->mutex);
  for (;;) {
    const auto is_idle = [&] { return shared->netdevs.empty() || shared->interval.count() == 0; };
    const auto is_woken = [&] { return shared->stop || shared->asked != answered; };
    if (is_idle()) shared->changed.wait(lock, is_woken);
    else shared->changed.wait_for(lock, shared->interval, is_woken);
    if (shared->stop) return;
    answered = shared->asked;
    if (is_idle()) continue;
    const auto netdevs = shared->netdevs;
    const auto interval = shared->interval;
    lock.unlock();
    reader.read(netdevs, interval);
    lock.lock();
  }
}

// Opened when the first module is read.
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
  return refusals_ < kRefusals ? backoff_.due(now) : now >= asked_ + kRefused;
}

void Patience::failed(Clock::time_point now, int code, const std::string& links) {
  backoff_.failed(now);
  asked_ = now;
  links_ = links;
  refusals_ = code == EINVAL ? refusals_ + 1 : 0;
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
    shared_ = std::make_shared<Shared>();
    std::thread(run, shared_, environment_).detach();
  }
  std::lock_guard lock(shared_->mutex);
  if (shared_->netdevs == netdevs && shared_->interval == interval) return;
  shared_->netdevs = std::move(netdevs);
  shared_->interval = interval;
  ++shared_->asked;
  shared_->changed.notify_all();
}

}  // namespace fabric::agentd
