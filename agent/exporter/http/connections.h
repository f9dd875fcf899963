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
    bool waits = false;       // the request waits for readings: the delay is the server's, not the client's
    bool closing = false;
    std::list<Connection>::iterator self;
  };

  // At most `all` connections, and `of_one` from a client. A request and its answer may take `patience`.
  Connections(size_t all, size_t of_one, Clock::duration patience) : all_(all), of_one_(of_one), patience_(patience) {}

  Connection* add(int fd, std::string client, Clock::time_point now);
  void remove(Connection* connection);
  // Called when the answer is sent.
  void begin_again(Connection* connection, Clock::time_point now);
  // The descriptors to shut down, each once: overdue connections; the oldest connections of the client of the newest
  // connection, if it has too many; the oldest of all connections, if there are too many.
  std::vector<int> to_close(Clock::time_point now);
  // When the next connection is overdue.
  [[nodiscard]] std::optional<Clock::time_point> next_deadline() const;

 private:
  void close(Connection& connection, std::vector<int>& out);
  void close_oldest(const std::string* client, std::vector<int>& out);
  void forget(const Connection& connection);
  size_t all_, of_one_;
  Clock::duration patience_;
  std::list<Connection> connections_;      // ordered by `since`
  std::map<std::string, size_t> clients_;  // open connections of each client, without those that are closing
  size_t open_ = 0;                        // the sum of clients_
};

// Limits the number of actions of clients in a second.
class PerSecond {
 public:
  using Clock = std::chrono::steady_clock;
  PerSecond(unsigned of_one, unsigned of_all) : of_one_(of_one), of_all_(of_all) {}

  // Counts one more action of this client. False: the client, or all clients together, have reached the limit.
  bool take(const std::string& client, Clock::time_point now) {
    if (now - window_ >= std::chrono::seconds(1)) {
      window_ = now;
      taken_.clear();
      all_ = 0;
    }
    if (all_ >= of_all_ || taken_[client] >= of_one_) return false;
    ++taken_[client];
    ++all_;
    return true;
  }

 private:
  unsigned of_one_, of_all_, all_ = 0;
  std::map<std::string, unsigned> taken_;
  Clock::time_point window_{};
};

}  // namespace fabric::exporter
