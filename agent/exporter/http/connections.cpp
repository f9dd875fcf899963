// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/connections.h"

#include <netinet/in.h>

#include <algorithm>
#include <iterator>
#include <utility>

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

Connections::Connection* Connections::add(int fd, std::string client, bool greets, Clock::time_point now) {
  Connection& connection = connections_.emplace_back();
  connection.fd = fd;
  connection.client = std::move(client);
  connection.since = now;
  connection.self = std::prev(connections_.end());
  connection.greets = greets;
  Count& count = clients_[connection.client];
  ++count.open;
  count.greeting += static_cast<size_t>(greets);
  ++open_;
  return &connection;
}

void Connections::has_greeted(Connection* connection) {
  if (!std::exchange(connection->greets, false) || connection->closing) return;
  --clients_[connection->client].greeting;
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
  count->second.greeting -= static_cast<size_t>(connection.greets);
  if (--count->second.open == 0) clients_.erase(count);
}

void Connections::close(Connection& connection, std::vector<int>& out) {
  forget(connection);
  connection.closing = true;
  out.push_back(connection.fd);
}

// Connections that wait for us are closed last.
template <class Choose>
void Connections::close_oldest(Choose&& is_chosen, std::vector<int>& out) {
  for (const bool waits : {false, true})
    for (Connection& connection : connections_)
      if (!connection.closing && connection.waits == waits && is_chosen(connection)) return close(connection, out);
}

std::vector<int> Connections::to_close(Clock::time_point now) {
  std::vector<int> out;
  for (Connection& connection : connections_) {
    if (connection.since + patience_ > now) break;
    if (!connection.closing) close(connection, out);
  }
  if (connections_.empty() || connections_.back().closing) return out;
  const std::string newest = connections_.back().client;
  while (clients_[newest].greeting > greeting_)
    close_oldest([&](const Connection& each) { return each.greets && each.client == newest; }, out);
  while (clients_[newest].open > of_one_)
    close_oldest([&](const Connection& each) { return each.client == newest; }, out);
  while (open_ > all_) {
    size_t most = 0;
    for (const auto& [client, count] : clients_) most = std::max(most, count.open);
    close_oldest([&](const Connection& each) { return clients_[each.client].open == most; }, out);
  }
  return out;
}

std::optional<Connections::Clock::time_point> Connections::next_deadline() const {
  for (const Connection& connection : connections_)
    if (!connection.closing) return connection.since + patience_;
  return std::nullopt;
}

}  // namespace fabric::exporter
