// SPDX-License-Identifier: Apache-2.0
// What the requests and parsers of nldev.h share. For the nldev*.cpp files only.
#pragma once

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernel/netlink/netlink.h"

namespace fabric::nldev {

constexpr uint16_t message_type(uint16_t command) {
  return static_cast<uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
}

// "RDMA netlink <what> of device 2 port 1".
std::string subject(const char* what, uint32_t device, uint32_t port);
AttrWriter address(uint32_t device, uint32_t port);
// One request, its one answer; its errors name the subject.
Result<Message> ask_one(Netlink& rdma, uint16_t command, const AttrWriter& request, const std::string& subject);

// The first such attribute's text; empty: none.
std::string text_of(const std::vector<Attr>& attributes, uint16_t type);
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

}  // namespace fabric::nldev
