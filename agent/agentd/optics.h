// SPDX-License-Identifier: Apache-2.0
// Reads the modules in the cages, on a thread of its own. agentd does it because the exporter lacks CAP_NET_ADMIN.
#pragma once

#include "agentd/messages.h"
#include "agentd/publishing_thread.h"
#include "node/counter_reader.h"
#include "wire/transceiver.h"

namespace fabric::agentd {

// The netdevs of the ports that have a cage of their own.
std::vector<std::string> cages_of(const std::vector<Port>& ports);

// Decides when to retry a cage that could not be read: after the pauses of Backoff, which grow to five minutes. If a
// driver keeps refusing a module, it is retried once an hour, or as soon as the port has gained a link: mlx5 before
// Linux 5.18 returns EINVAL for any OSFP, QSFP-DD or QSFP with CMIS, and writes an error to the kernel log each time.
class Patience {
 public:
  using Clock = Backoff::Clock;
  // `links`: how many times the port has gained a link, as text; only compared for equality.
  [[nodiscard]] bool due(Clock::time_point now, const std::string& links) const;
  void failed(Clock::time_point now, int code, const std::string& links);
  void succeeded() { *this = {}; }

 private:
  Backoff backoff_;
  Clock::time_point last_try_{};
  unsigned refusals_ = 0;
  std::string links_;
};

struct OpticsEnvironment {
  std::string directory = "/";  // below it: run/fabric-agent
  JournalSink log = write_journal;
  // Reads one netdev's module. Called only on the thread.
  std::function<Result<Transceiver>(const std::string& netdev)> read;
  // How many times the port has gained a link, as text: for Patience.
  std::function<std::string(const std::string& netdev)> links = [](const std::string&) { return std::string(); };
};
// Reads the modules of this machine over a netlink socket of its own.
OpticsEnvironment real_optics_environment();

// Reads the modules and publishes all of them in run/fabric-agent/optics.json. A module that cannot be read (none in
// the cage, a driver without the operation) is retried at growing pauses (Patience).
class OpticsWatch : public PublishingThread {
 public:
  explicit OpticsWatch(OpticsEnvironment environment);
};

}  // namespace fabric::agentd
