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
  return IN6_IS_ADDR_V4MAPPED(&v6->sin6_addr) ? bytes.substr(12) : bytes.substr(0, kNetwork);
}

Connections::Entry* Connections::add(int fd, std::string client, Clock::time_point now) {
  Entry& entry = entries_.emplace_back();
  entry.fd = fd;
  entry.client = std::move(client);
  entry.since = now;
  entry.place = std::prev(entries_.end());
  ++clients_[entry.client];
  ++open_;
  return &entry;
}

void Connections::begin_again(Entry* entry, Clock::time_point now) {
  entry->since = now;
  entry->waits = false;
  entries_.splice(entries_.end(), entries_, entry->place);
}

void Connections::remove(Entry* entry) {
  if (!entry->closing) forget(*entry);
  entries_.erase(entry->place);
}

void Connections::forget(const Entry& entry) {
  --open_;
  const auto count = clients_.find(entry.client);
  if (--count->second == 0) clients_.erase(count);
}

void Connections::close(Entry& entry, std::vector<int>& out) {
  forget(entry);
  entry.closing = true;
  out.push_back(entry.fd);
}

// Those that wait for readings come last.
void Connections::close_oldest(const std::string* client, std::vector<int>& out) {
  for (const bool waits : {false, true})
    for (Entry& entry : entries_)
      if (!entry.closing && entry.waits == waits && (client == nullptr || entry.client == *client))
        return close(entry, out);
}

std::vector<int> Connections::to_close(Clock::time_point now) {
  std::vector<int> out;
  for (Entry& entry : entries_) {
    if (entry.since + patience_ > now) break;
    if (!entry.closing) close(entry, out);
  }
  if (entries_.empty() || entries_.back().closing) return out;
  const std::string newest = entries_.back().client;
  while (clients_[newest] > of_one_) close_oldest(&newest, out);
  while (open_ > all_) close_oldest(nullptr, out);
  return out;
}

std::optional<Connections::Clock::time_point> Connections::next_deadline() const {
  for (const Entry& entry : entries_)
    if (!entry.closing) return entry.since + patience_;
  return std::nullopt;
}

}  // namespace fabric::exporter
