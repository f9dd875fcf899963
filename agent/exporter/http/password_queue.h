// SPDX-License-Identifier: Apache-2.0
// Chooses the password to hash next. A hash takes up to a third of a second, and anyone who reaches the port can ask
// for one: clients that guess must not delay others. No I/O, no clock.
#pragma once

#include <chrono>
#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace fabric::exporter {

struct PasswordCheck {
  std::string client;  // client_of()
  std::string user, hash, password;
  std::string digest;                // of user, hash and password
  std::vector<uint64_t> requests{};  // that wait for the result
};

struct PasswordLimits {
  size_t waiting = 64;                      // passwords of all clients; at 0.06 s each, the last one waits four seconds
  unsigned failures = 4;                    // wrong passwords of a client at once,
  std::chrono::milliseconds recovery{500};  // and one more after each of these times
  std::chrono::minutes memory{10};          // for so long a client counts as one that has failed
  double share = 0.25;                      // of a CPU, for hashes of all clients that have failed
  size_t clients = 10'000;                  // that have failed; the oldest is forgotten
  size_t trusted = 64;                      // clients whose password was right; further ones are not noted
};

// Clients whose password was right once come first, then those that have not failed, in the order of their requests.
// The others are served in turn after them; each has a budget, and together they have a part of a CPU.
class PasswordQueue {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Refused : uint8_t { budget, full };
  // The requests that are not served, and why.
  using Dropped = std::vector<std::pair<uint64_t, Refused>>;

  explicit PasswordQueue(PasswordLimits limits = {}) : limits_(limits) {}

  // Adds the check for one request. A request for a password that this client waits for already shares its result.
  // Returns the requests that are refused: maybe this one, or if there are too many those of a client that has failed
  // or has more waiting passwords.
  Dropped add(PasswordCheck check, uint64_t request, Clock::time_point now);
  // The next one to hash, and after that finished(). nullptr: none is waiting, one is being hashed, or the clients that
  // have failed must wait until next_time().
  const PasswordCheck* start(Clock::time_point now);
  [[nodiscard]] std::optional<Clock::time_point> next_time() const;
  [[nodiscard]] const PasswordCheck* running() const;
  // It could not be hashed now, and is the next one again.
  void put_back();
  // Returns the requests that waited for it; `dropped`: further requests of this client beyond its budget.
  PasswordCheck finished(bool is_correct, Clock::duration took, Clock::time_point now, Dropped& dropped);
  // Notes that a password of the client was right, in an earlier run as well. False: it is noted, or too many are.
  bool trust(const std::string& client);
  [[nodiscard]] const std::set<std::string>& trusted() const { return trusted_; }
  // Forgets the requests that wait, not the failures.
  void clear();

 private:
  struct Failures {
    double left = 0;  // of the budget, at `last`
    Clock::time_point last{};
    uint64_t turn = 0;  // when this client was last served
  };
  [[nodiscard]] const Failures* failures_of(const std::string& client, Clock::time_point now) const;
  enum class Standing : uint8_t { trusted, unknown, failed };
  [[nodiscard]] Standing standing(const std::string& client, Clock::time_point now) const;
  [[nodiscard]] double budget(const std::string& client, Clock::time_point now) const;
  [[nodiscard]] size_t waiting_of(const std::string& client) const;
  void drop(std::list<PasswordCheck>::iterator check, Refused why, Dropped& dropped);

  PasswordLimits limits_;
  std::list<PasswordCheck> waiting_;
  std::optional<PasswordCheck> running_;
  std::map<std::string, Failures> failed_;
  std::set<std::string> trusted_;
  Clock::time_point failed_from_{};  // the next hash for a client that has failed
  uint64_t turns_ = 0;
};

}  // namespace fabric::exporter
