// SPDX-License-Identifier: Apache-2.0
#include "kernel/rdma/nldev.h"

#include <array>
#include <utility>

#include "kernel/netlink/newer_uapi.h"
#include "kernel/netlink/nlattr.h"
#include "kernel/rdma/nldev_message.h"

namespace fabric::nldev {
namespace {

// One request about a port, its one answer.
Result<Message> ask(Netlink& rdma, uint16_t command, const char* what, uint32_t device, uint32_t port) {
  return ask_one(rdma, command, address(device, port), subject(what, device, port));
}

// Calls `with(attributes of the entry)` for each `entry` in the message's `table`.
template <class Function>
void for_each_entry(View8 payload, uint16_t table, uint16_t entry, Function&& with) {
  auto top = parse_attributes(payload);
  const Attr* list = find(top, table);
  if (!list) return;
  std::vector<Attr> inside;
  for (const Attr& item : parse_attributes(list->value)) {
    if (item.type != entry) continue;
    parse_attributes(item.value, 0, inside);
    with(inside);
  }
}

struct Dump {
  const char* what;
  uint16_t command, table, entry;
};
// By Object.
constexpr std::array kDumps{
    Dump{"queue pairs", RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY},
    Dump{"completion queues", RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY},
    Dump{"memory regions", RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY}};

}  // namespace

std::string subject(const char* what, uint32_t device, uint32_t port) {
  return std::string("RDMA netlink ") + what + " of device " + std::to_string(device) + " port " + std::to_string(port);
}

AttrWriter address(uint32_t device, uint32_t port) {
  AttrWriter request;
  request.u32(RDMA_NLDEV_ATTR_DEV_INDEX, device).u32(RDMA_NLDEV_ATTR_PORT_INDEX, port);
  return request;
}

Result<Message> ask_one(Netlink& rdma, uint16_t command, const AttrWriter& request, const std::string& subject) {
  auto replies = rdma.talk(message_type(command), 0, request.data());
  if (!replies) return error(replies.error().code, subject);
  for (auto& reply : *replies)
    if (reply.type == message_type(command)) return std::move(reply);
  return error(ENODATA, subject);
}

std::string text_of(const std::vector<Attr>& attributes, uint16_t type) {
  const Attr* attribute = find(attributes, type);
  return attribute ? attribute->text() : std::string();
}

std::optional<std::vector<Attr>> all_attributes(View8 payload) {
  auto attributes = parse_attributes(payload);
  size_t size = 0;
  for (const Attr& each : attributes) size += NLA_HDRLEN + NLA_ALIGN(each.value.size());
  if (size < payload.size()) return std::nullopt;
  return attributes;
}

Result<Device> parse_device(View8 payload) {
  auto attributes = parse_attributes(payload);
  const Attr* index = find(attributes, RDMA_NLDEV_ATTR_DEV_INDEX);
  Device device;
  device.name = text_of(attributes, RDMA_NLDEV_ATTR_DEV_NAME);
  if (!index || !index->u32() || device.name.empty()) return error(EBADMSG, "RDMA netlink device");
  device.index = *index->u32();
  if (const Attr* last = find(attributes, RDMA_NLDEV_ATTR_PORT_INDEX)) device.last_port = last->u32().value_or(0);
  device.firmware = text_of(attributes, RDMA_NLDEV_ATTR_FW_VERSION);
  device.protocol = text_of(attributes, RDMA_NLDEV_ATTR_DEV_PROTOCOL);
  return device;
}

Result<PortLink> parse_port(View8 payload) {
  auto attributes = parse_attributes(payload);
  const Attr* number = find(attributes, RDMA_NLDEV_ATTR_PORT_INDEX);
  if (!number || !number->u32()) return error(EBADMSG, "RDMA netlink port");
  PortLink link;
  link.port = *number->u32();
  if (const Attr* state = find(attributes, RDMA_NLDEV_ATTR_PORT_STATE)) link.state = state->u8();
  if (const Attr* phys = find(attributes, RDMA_NLDEV_ATTR_PORT_PHYS_STATE)) link.phys_state = phys->u8();
  if (const Attr* ndev = find(attributes, RDMA_NLDEV_ATTR_NDEV_INDEX)) link.netdev_index = ndev->u32();
  link.netdev = text_of(attributes, RDMA_NLDEV_ATTR_NDEV_NAME);
  return link;
}

std::vector<Counter> parse_statistics(View8 payload) {
  std::vector<Counter> counters;
  for_each_entry(payload, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY,
                 [&](const auto& entry) {
                   const Attr* name = find(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
                   const Attr* value = find(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
                   if (name && !text_in(*name).empty() && value && value->u64())
                     counters.push_back({text_in(*name), *value->u64()});
                 });
  return counters;
}

std::vector<CounterStatus> parse_counter_status(View8 payload) {
  std::vector<CounterStatus> out;
  for_each_entry(payload, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY,
                 [&](const auto& entry) {
                   const Attr* index = find(entry, uapi::kRdmaStatHwcounterIndex);
                   CounterStatus counter;
                   counter.name = text_of(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
                   if (index == nullptr || !index->u32() || counter.name.empty()) return;
                   counter.index = *index->u32();
                   if (const Attr* on = find(entry, uapi::kRdmaStatHwcounterDynamic); on && on->u8())
                     counter.optional_on = *on->u8() != 0;
                   out.push_back(std::move(counter));
                 });
  return out;
}

QueuePairs parse_queue_pairs(View8 payload, uint32_t port) {
  QueuePairs count;
  for_each_entry(payload, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY, [&](const auto& entry) {
    const Attr* on = find(entry, RDMA_NLDEV_ATTR_PORT_INDEX);
    if (on && on->u32() && *on->u32() != port) return;
    ++(find(entry, RDMA_NLDEV_ATTR_RES_KERN_NAME) ? count.kernel : count.user);
  });
  return count;
}

std::vector<ResourceCount> parse_resources(View8 payload) {
  std::vector<ResourceCount> out;
  for_each_entry(payload, RDMA_NLDEV_ATTR_RES_SUMMARY, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, [&](const auto& entry) {
    std::string kind = text_of(entry, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME);
    const Attr* count = find(entry, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR);
    if (!kind.empty() && count && count->u64()) out.push_back({std::move(kind), {}, *count->u64()});
  });
  return out;
}

Result<Owners> parse_owners(View8 payload, Object kind) {
  const Dump& dump = kDumps.at(static_cast<size_t>(kind));
  const Error cut = error(EBADMSG, std::string("RDMA netlink ") + dump.what);
  const auto top = all_attributes(payload);
  const Attr* list = top ? find(*top, dump.table) : nullptr;
  if (list == nullptr) return cut;
  Owners count;
  const bool whole = for_each_whole(list->value, dump.entry, [&](const auto& entry) {
    ++(find(entry, RDMA_NLDEV_ATTR_RES_KERN_NAME) != nullptr ? count.kernel : count.user);
    return true;
  });
  return whole ? Result<Owners>(count) : cut;
}

Result<std::vector<Device>> devices(Netlink& rdma) {
  auto replies = rdma.talk(message_type(RDMA_NLDEV_CMD_GET), NLM_F_DUMP, {});
  if (!replies) return error(replies.error().code, "RDMA netlink devices");
  std::vector<Device> found;
  for (const auto& reply : *replies) {
    if (reply.type != message_type(RDMA_NLDEV_CMD_GET)) continue;
    if (auto device = parse_device(reply.payload)) found.push_back(std::move(*device));
  }
  return found;
}

Result<PortLink> port(Netlink& rdma, uint32_t device, uint32_t port) {
  auto reply = ask(rdma, RDMA_NLDEV_CMD_PORT_GET, "port", device, port);
  if (!reply) return reply.error();
  return parse_port(reply->payload);
}

Result<std::vector<Counter>> statistics(Netlink& rdma, uint32_t device, uint32_t port) {
  auto reply = ask(rdma, RDMA_NLDEV_CMD_STAT_GET, "statistics", device, port);
  if (!reply) return reply.error();
  return parse_statistics(reply->payload);
}

Result<std::vector<CounterStatus>> counter_status(Netlink& rdma, uint32_t device, uint32_t port) {
  auto reply = ask(rdma, uapi::kRdmaStatGetStatus, "counters", device, port);
  if (!reply) return reply.error();
  return parse_counter_status(reply->payload);
}

Result<void> set_optional_counters(Netlink& rdma, uint32_t device, uint32_t port, std::span<const uint32_t> indices) {
  AttrWriter table;
  for (uint32_t index : indices) table.u32(uapi::kRdmaStatHwcounterIndex, index);
  AttrWriter request = address(device, port);
  request.nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, table);
  auto replies = rdma.talk(message_type(RDMA_NLDEV_CMD_STAT_SET), 0, request.data());
  if (!replies) return error(replies.error().code, subject("set optional counters", device, port));
  return {};
}

Result<unsigned> user_queue_pairs(Netlink& rdma, uint32_t device, uint32_t port) {
  // Asked without PORT_INDEX: the kernel's own filter would leave out a queue pair that has no port yet (RESET), and
  // that one's owner is about to use it.
  AttrWriter request;
  request.u32(RDMA_NLDEV_ATTR_DEV_INDEX, device);
  auto replies = rdma.talk(message_type(RDMA_NLDEV_CMD_RES_QP_GET), NLM_F_DUMP, request.data());
  if (!replies) return error(replies.error().code, subject("queue pairs", device, port));
  unsigned total = 0;
  for (const auto& reply : *replies)
    if (reply.type == message_type(RDMA_NLDEV_CMD_RES_QP_GET)) total += parse_queue_pairs(reply.payload, port).user;
  return total;
}

Result<std::vector<ResourceCount>> resources(Netlink& rdma, uint32_t device) {
  AttrWriter request;
  request.u32(RDMA_NLDEV_ATTR_DEV_INDEX, device);
  auto replies = rdma.talk(message_type(RDMA_NLDEV_CMD_RES_GET), 0, request.data());
  if (!replies) return error(replies.error().code, "RDMA netlink resources of device " + std::to_string(device));
  for (const auto& reply : *replies)
    if (reply.type == message_type(RDMA_NLDEV_CMD_RES_GET)) return parse_resources(reply.payload);
  return error(ENODATA, "RDMA netlink resources of device " + std::to_string(device));
}

Result<Owners> owners(Netlink& rdma, uint32_t device, Object kind, std::chrono::milliseconds patience) {
  const Dump& dump = kDumps.at(static_cast<size_t>(kind));
  AttrWriter request;
  request.u32(RDMA_NLDEV_ATTR_DEV_INDEX, device);
  Owners total;
  std::optional<Error> wrong;
  auto done = rdma.dump(message_type(dump.command), request.data(), patience, [&](uint16_t type, View8 payload) {
    if (type != message_type(dump.command)) return true;
    const auto some = parse_owners(payload, kind);
    if (!some) wrong = some.error();
    else total.user += some->user, total.kernel += some->kernel;
    return true;
  });
  if (done && !wrong) return total;
  return error(done ? wrong->code : done.error().code,
               std::string("RDMA netlink ") + dump.what + " of device " + std::to_string(device));
}

}  // namespace fabric::nldev
