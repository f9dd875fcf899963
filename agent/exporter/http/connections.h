// SPDX-License-Identifier: Apache-2.0
// The open connections, and the choice of those that are closed so that others are served. No I/O, no clock.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace fabric::exporter {

// The identity of a client for the limits: its IPv4 address, or the /64 network of its IPv6 address, since a machine
// can use every address of its network.
std::string client_of(const sockaddr* address);

class Connections {
 public:
  using Clock = std::chrono::steady_clock;
  struct Connection {
    int fd = -1;
    std::string client;
    Clock::time_point since;  // when the present request began: connection opened, or previous answer sent
    bool waits = false;       // the request waits for readings or its password's hash: the delay is the server's
    bool greets = false;      // the TLS handshake is under way: there has been no request yet
    bool closing = false;
    std::list<Connection>::iterator self;
  };

  // At most `all` connections, `of_one` from a client, and `greeting` of these with a TLS handshake under way. A
  // request and its answer may take `patience`.
  Connections(size_t all, size_t of_one, size_t greeting, Clock::duration patience)
      : all_(all), of_one_(of_one), greeting_(greeting), patience_(patience) {}

  Connection* add(int fd, std::string client, bool greets, Clock::time_point now);
  void remove(Connection* connection);
  // Called with the first request.
  void has_greeted(Connection* connection);
  // Called when the answer is sent.
  void begin_again(Connection* connection, Clock::time_point now);
  // The descriptors to shut down, each once: overdue connections; the oldest connections of the client of the newest
  // connection, if it has too many; if all together are too many, the oldest of the client with the most.
  std::vector<int> to_close(Clock::time_point now);
  // When the next connection is overdue.
  [[nodiscard]] std::optional<Clock::time_point> next_deadline() const;

 private:
  // The open connections of a client, without those that are closing.
  struct Count {
    size_t open = 0, greeting = 0;
  };
  void close(Connection& connection, std::vector<int>& out);
  template <class Choose>
  void close_oldest(Choose&& is_chosen, std::vector<int>& out);
  void forget(const Connection& connection);
  size_t all_, of_one_, greeting_;
  Clock::duration patience_;
  std::list<Connection> connections_;  // ordered by `since`
  std::map<std::string, Count> clients_;
  size_t open_ = 0;  // the sum of clients_
};

// Limits the number of actions of clients in a second. Beyond the limit of all clients together, as many clients again
// have their first action: the few clients that act often leave room for those that act now and then.
class PerSecond {
 public:
  using Clock = std::chrono::steady_clock;
  PerSecond(unsigned of_one, unsigned of_all) : of_one_(of_one), of_all_(of_all) {}

  // Counts one more action of this client. False: a limit is reached.
  bool take(const std::string& client, Clock::time_point now) {
    if (now - window_ >= std::chrono::seconds(1)) {
      window_ = now;
      taken_.clear();
      all_ = firsts_ = 0;
    }
    const auto known = taken_.find(client);
    if (known == taken_.end() && all_ >= of_all_ && firsts_ >= of_all_) return false;
    if (known != taken_.end() && (all_ >= of_all_ || known->second >= of_one_)) return false;
    if (all_ < of_all_) ++all_;
    else ++firsts_;
    ++taken_[client];
    return true;
  }

 private:
  unsigned of_one_, of_all_;
  unsigned all_ = 0, firsts_ = 0;  // firsts_: of clients that had none, beyond the limit
  std::map<std::string, unsigned> taken_;
  Clock::time_point window_{};
};

}  // namespace fabric::exporter
