// SPDX-License-Identifier: Apache-2.0
#include "agentd/optics.h"

#include <linux/netlink.h>

#include "base/clock.h"
#include "base/files.h"
#include "kernel/netlink/ethtool_link.h"
#include "node/optics_state.h"

namespace fabric::agentd {
namespace {

using Clock = Patience::Clock;

// This many refusals in a row do not come from a module or a firmware that is still starting.
constexpr unsigned kRefusals = 6;
constexpr std::chrono::hours kRefusedPause{1};

// Reads the modules that are due, and publishes them.
class ModulePublisher {
 public:
  explicit ModulePublisher(OpticsEnvironment environment) : environment_(std::move(environment)) {}

  Result<void> run(const std::vector<std::string>& netdevs, std::chrono::milliseconds interval) {
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

    const auto read = published_time();
    if (!read) return read.error();
    return replace_file(environment_.directory, state::kOpticsFile, state::optics_text(found, *read));
  }

 private:
  OpticsEnvironment environment_;
  std::map<std::string, Patience> patiences_;
  std::map<std::string, std::string> reported_;  // netdev -> the last error of a module with malformed memory
};

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

OpticsWatch::OpticsWatch(OpticsEnvironment environment)
    : PublishingThread(
          "modules",
          [publisher = std::make_shared<ModulePublisher>(environment)](const std::vector<std::string>& netdevs,
                                                                       std::chrono::milliseconds interval) {
            return publisher->run(netdevs, interval);
          },
          environment.log) {}

}  // namespace fabric::agentd
