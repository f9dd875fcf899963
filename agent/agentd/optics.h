// SPDX-License-Identifier: Apache-2.0
// Reads the modules in the cages on a thread of their own: this requires CAP_NET_ADMIN, which the exporter lacks.
#pragma once

#include "agentd/messages.h"
#include "node/counter_reader.h"
#include "node/optics_state.h"

namespace fabric::agentd {

// The netdevs among these ports that have a cage of their own.
std::vector<std::string> cages_of(const std::vector<Port>& ports);

// When a cage that could not be read is asked again: as any source that fails, every five minutes in the end. A driver
// that keeps refusing a module (EINVAL: mlx5 before Linux 5.18 any OSFP, QSFP-DD or QSFP with CMIS, with an error in
// the kernel log for each attempt) is asked once an hour, or at once when the port has gained a link.
class Patience {
 public:
  using Clock = Backoff::Clock;
  // `links`: how many times the port has got a link, as text; compared alone.
  [[nodiscard]] bool due(Clock::time_point now, const std::string& links) const;
  void failed(Clock::time_point now, int code, const std::string& links);
  void succeeded() { *this = {}; }

 private:
  Backoff backoff_;
  Clock::time_point asked_{};
  unsigned refusals_ = 0;
  std::string links_;
};

struct OpticsEnvironment {
  std::string directory = "/";  // below it: run/fabric-agent
  Log log = write_journal;
  // One netdev's module; called on the thread, never by two at once.
  std::function<Result<Transceiver>(const std::string& netdev)> read;
  // For Patience.
  std::function<std::string(const std::string& netdev)> links = [](const std::string&) { return std::string(); };
};
// Asks this machine's kernel, by a socket of its own.
OpticsEnvironment real_optics_environment();

// A thread that reads the modules every so often and publishes them in run/fabric-agent/optics.json, all of them
// together. A read that hangs on I2C stalls this thread alone; the file then goes stale, and readers ignore it. A
// module that cannot be read (none in the cage, a driver without the operation) is asked less and less often
// (Patience).
class OpticsWatch {
 public:
  explicit OpticsWatch(OpticsEnvironment environment) : environment_(std::move(environment)) {}
  // Returns at once; a thread that hangs in the kernel is left behind.
  ~OpticsWatch();
  OpticsWatch(const OpticsWatch&) = delete;
  OpticsWatch& operator=(const OpticsWatch&) = delete;

  // Which netdevs from now on, and how often (0: never). Others than before are read at once. The first call with
  // anything to read starts the thread.
  void set(std::vector<std::string> netdevs, std::chrono::milliseconds interval);

  struct Shared;

 private:
  OpticsEnvironment environment_;
  std::shared_ptr<Shared> shared_;
};

}  // namespace fabric::agentd
