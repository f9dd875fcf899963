// SPDX-License-Identifier: Apache-2.0
#include "agentd/vnic.h"

#include <linux/netlink.h>

#include <set>

#include "base/clock.h"
#include "base/files.h"
#include "base/find.h"
#include "kernel/netlink/devlink.h"
#include "kernel/netlink/ethtool.h"
#include "node/source.h"
#include "node/telemetry.h"
#include "node/vnic_state.h"

namespace fabric::agentd {
namespace {

// Reads the functions that are due, and publishes their counters.
class VnicPublisher {
 public:
  explicit VnicPublisher(VnicEnvironment environment) : environment_(std::move(environment)) {}

  Result<void> run(const std::vector<std::string>& functions, std::chrono::milliseconds interval) {
    state::Vnic found;
    found.interval = in_seconds(interval);
    std::erase_if(waiting_, [&](const auto& known) { return !contains(functions, known.first); });
    for (const std::string& function : functions) {
      Backoff& backoff = waiting_[function];
      if (!backoff.due(Backoff::Clock::now())) continue;
      auto counters = environment_.read(function);
      if (!counters) {
        backoff.failed(Backoff::Clock::now());
        continue;
      }
      backoff.succeeded();
      if (!counters->empty()) found.functions.emplace(function, std::move(*counters));
    }
    const auto read = published_time();
    if (!read) return read.error();
    return replace_file(environment_.directory, state::kVnicFile, state::vnic_text(found, *read));
  }

 private:
  VnicEnvironment environment_;
  std::map<std::string, Backoff> waiting_;  // by function
};

// Reads reporters over a netlink socket that is opened for the first one.
class Reporters {
 public:
  Result<std::map<std::string, uint64_t>> read(const std::string& function) {
    if (!generic_) {
      auto generic = open_netlink(NETLINK_GENERIC);
      if (!generic) return generic.error();
      const auto family = ethtool::resolve(**generic, "devlink");
      if (!family) return family.error();
      generic_ = std::move(*generic);
      family_ = family->id;
    }
    const devlink::Handle handle = devlink::handle_of(function);
    auto reporters = devlink::health_reporters(*generic_, family_, handle);
    if (!reporters) return reporters.error();
    if (auto done = diagnose_vnic(*generic_, family_, handle, *reporters); !done) return done.error();
    std::map<std::string, uint64_t> out;
    for (HealthReporter& reporter : *reporters) out.merge(reporter.diagnosis);
    return out;
  }

 private:
  std::unique_ptr<Netlink> generic_;
  uint16_t family_ = 0;
};

}  // namespace

std::vector<std::string> functions_of(const std::vector<Port>& ports) {
  std::set<std::string> out;
  for (const Port& port : ports)
    if (const std::string& device = state::devlink_device(port); state::has_counted_queues(port) && !device.empty())
      out.insert(device);
  return {out.begin(), out.end()};
}

VnicEnvironment real_vnic_environment() {
  VnicEnvironment environment;
  environment.read = [reporters = std::make_shared<Reporters>()](const std::string& function) {
    return reporters->read(function);
  };
  return environment;
}

VnicWatch::VnicWatch(VnicEnvironment environment)
    : PublishingThread(
          "the counters of devlink's health reporter vnic",
          [publisher = std::make_shared<VnicPublisher>(environment)](const std::vector<std::string>& functions,
                                                                     std::chrono::milliseconds interval) {
            return publisher->run(functions, interval);
          },
          environment.log) {}

}  // namespace fabric::agentd
