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
  explicit Reader(OpticsWorld world) : world_(std::move(world)) {}

  void read(const std::vector<std::string>& netdevs, std::chrono::milliseconds interval) {
    state::Optics found;
    found.interval = in_seconds(interval);
    std::erase_if(patiences_, [&](const auto& known) { return !contains(netdevs, known.first); });
    for (const std::string& netdev : netdevs) {
      Patience& patience = patiences_[netdev];
      const std::string links = world_.links(netdev);
      if (!patience.due(Clock::now(), links)) continue;
      auto module = world_.read(netdev);
      if (module) {
        patience.succeeded();
        found.modules.emplace(netdev, std::move(*module));
      } else {
        patience.failed(Clock::now(), module.error().code, links);
        if (module.error().code == EBADMSG && said_.insert(module.error().text()).second)
          world_.log({message_id::trouble, LOG_WARNING, module.error().text() + "; the module is not published"});
      }
    }
    publish(found);
  }

 private:
  void publish(const state::Optics& found) {
    auto root = Root::open("/");
    const auto now = root ? state::uptime(*root) : std::nullopt;
    auto saved = now ? state::save_optics(world_.directory, found, *now) : Result<void>(error(ENOENT, "/proc/uptime"));
    const std::string trouble = saved ? std::string() : saved.error().text();
    if (!trouble.empty() && trouble != last_error_)
      world_.log({message_id::trouble, LOG_WARNING, trouble + "; modules are not published"});
    last_error_ = trouble;
  }

  OpticsWorld world_;
  std::map<std::string, Patience> patiences_;
  std::set<std::string> said_;  // of memories that make no sense
  std::string last_error_;
};

void run(const std::shared_ptr<Shared>& shared, OpticsWorld world) {
  Reader reader(std::move(world));
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

OpticsWorld real_optics_world() {
  OpticsWorld world;
  world.read = [cages = std::make_shared<Cages>()](const std::string& netdev) { return cages->read(netdev); };
  world.links = [](const std::string& netdev) {
    auto root = Root::open("/");
    auto count =
        root ? root->read_line("sys/class/net/" + netdev + "/carrier_up_count") : Result<std::string>(root.error());
    return count ? std::move(count).value() : std::string();
  };
  return world;
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
    std::thread(run, shared_, world_).detach();
  }
  std::lock_guard lock(shared_->mutex);
  if (shared_->netdevs == netdevs && shared_->interval == interval) return;
  shared_->netdevs = std::move(netdevs);
  shared_->interval = interval;
  ++shared_->asked;
  shared_->changed.notify_all();
}

}  // namespace fabric::agentd
