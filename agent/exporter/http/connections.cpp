// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/connections.h"

#include <netinet/in.h>

#include <iterator>

namespace fabric::exporter {

std::string client_of(const sockaddr* address) {
  constexpr size_t kNetwork = 8;  // bytes of a /64
  if (address == nullptr) return {};
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    return {reinterpret_cast<const char*>(&v4->sin_addr), sizeof v4->sin_addr};
  }
  if (address->sa_family != AF_INET6) return {};
  const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
  const std::string bytes(reinterpret_cast<const char*>(&v6->sin6_addr), sizeof v6->sin6_addr);
  if (IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr)) return bytes.substr(12);
  return bytes.substr(0, kNetwork);
}

Connections::Connection* Connections::add(int fd, std::string client, Clock::time_point now) {
  Connection& connection = connections_.emplace_back();
  connection.fd = fd;
  connection.client = std::move(client);
  connection.since = now;
  connection.self = std::prev(connections_.end());
  ++clients_[connection.client];
  ++open_;
  return &connection;
}

void Connections::begin_again(Connection* connection, Clock::time_point now) {
  connection->since = now;
  connection->waits = false;
  connections_.splice(connections_.end(), connections_, connection->self);
}

void Connections::remove(Connection* connection) {
  if (!connection->closing) forget(*connection);
  connections_.erase(connection->self);
}

void Connections::forget(const Connection& connection) {
  --open_;
  const auto count = clients_.find(connection.client);
  if (--count->second == 0) clients_.erase(count);
}

void Connections::close(Connection& connection, std::vector<int>& out) {
  forget(connection);
  connection.closing = true;
  out.push_back(connection.fd);
}

// Connections that wait for readings are closed last.
void Connections::close_oldest(const std::string* client, std::vector<int>& out) {
  for (const bool waits : {false, true})
    for (Connection& connection : connections_)
      if (!connection.closing && connection.waits == waits && (client == nullptr || connection.client == *client))
        return close(connection, out);
}

std::vector<int> Connections::to_close(Clock::time_point now) {
  std::vector<int> out;
  for (Connection& connection : connections_) {
    if (connection.since + patience_ > now) break;
    if (!connection.closing) close(connection, out);
  }
  if (connections_.empty() || connections_.back().closing) return out;
  const std::string newest = connections_.back().client;
  while (clients_[newest] > of_one_) close_oldest(&newest, out);
  while (open_ > all_) close_oldest(nullptr, out);
  return out;
}

std::optional<Connections::Clock::time_point> Connections::next_deadline() const {
  for (const Connection& connection : connections_)
    if (!connection.closing) return connection.since + patience_;
  return std::nullopt;
}

}  // namespace fabric::exporter
