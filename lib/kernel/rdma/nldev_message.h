// SPDX-License-Identifier: Apache-2.0
// Parts of RDMA netlink's messages, for nldev*.cpp.
#pragma once

#include <rdma/rdma_netlink.h>

#include "kernel/rdma/nldev.h"

namespace fabric::nldev {

constexpr uint16_t message_type(uint16_t command) {
  return static_cast<uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
}

// "WHAT of RDMA device 2 port 1".
std::string subject(const char* what, uint32_t device, uint32_t port);

AttrWriter address(uint32_t device, uint32_t port);

// `parse` of the one answer to a request.
template <class Parsed, class Parse>
Result<Parsed> get(Netlink& rdma, uint16_t command, const AttrWriter& request, const std::string& subject,
                   Parse&& parse) {
  auto reply = ask(rdma, message_type(command), message_type(command), request, subject);
  if (!reply) return reply.error();
  return parse(reply->payload);
}

// The attributes, where there is nothing in the payload but these (parse_attributes() drops a malformed rest).
std::optional<std::vector<Attr>> all_attributes(View8 payload);

// Calls `with(attributes of the entry)` for each `entry` of the table, until it returns false. Is all of it whole, and
// well?
template <class Function>
bool for_each_whole(View8 table, uint16_t entry, Function&& with) {
  const auto items = all_attributes(table);
  if (!items) return false;
  for (const Attr& item : *items) {
    if (item.type != entry) continue;
    const auto inside = all_attributes(item.value);
    if (!inside || !with(*inside)) return false;
  }
  return true;
}

// One entry of a table of hardware counters.
void take_counter(const std::vector<Attr>& entry, std::vector<Counter>& out);

}  // namespace fabric::nldev
