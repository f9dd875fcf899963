// SPDX-License-Identifier: Apache-2.0
#include "kernel/rdma/nldev.h"

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include "kernel/netlink/newer_uapi.h"

namespace fabric::nldev {
namespace {

constexpr uint16_t message_type(uint16_t command) {
  return static_cast<uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command));
}

// "queue pairs of RDMA device 2 port 1"
std::string subject(const char* what, uint32_t device, uint32_t port) {
  return std::string(what) + " of RDMA device " + std::to_string(device) + " port " + std::to_string(port);
}

AttrWriter address(uint32_t device, uint32_t port) {
  return AttrWriter().u32(RDMA_NLDEV_ATTR_DEV_INDEX, device).u32(RDMA_NLDEV_ATTR_PORT_INDEX, port);
}

// Sends a request and parses its answer.
template <class Parse>
auto get(Netlink& rdma, uint16_t command, const AttrWriter& request, const std::string& subject, Parse* parse) {
  return ask(rdma, message_type(command), message_type(command), request, subject, parse);
}

// The attributes; nullopt: the payload has other bytes as well (parse_attributes() drops a malformed rest).
std::optional<std::vector<Attr>> all_attributes(View8 payload) {
  auto attributes = parse_attributes(payload);
  size_t size = 0;
  for (const Attr& each : attributes) size += NLA_HDRLEN + NLA_ALIGN(each.value.size());
  if (size < payload.size()) return std::nullopt;
  return attributes;
}

// The attributes of each `entry` in the message's `table`.
std::vector<std::vector<Attr>> entries(View8 payload, uint16_t table, uint16_t entry) {
  std::vector<std::vector<Attr>> out;
  for (const Attr& item : parse_nested(parse_attributes(payload), table))
    if (item.type == entry) out.push_back(parse_attributes(item.value));
  return out;
}

struct Dump {
  const char* what;
  uint16_t command, table, entry;
};
// The dumps by Object.
constexpr std::array kDumps{
    Dump{"queue pairs", RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY},
    Dump{"completion queues", RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY},
    Dump{"memory regions", RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY}};

}  // namespace

Result<Device> parse_device(View8 payload) {
  auto attributes = parse_attributes(payload);
  const auto index = value_of<uint32_t>(attributes, RDMA_NLDEV_ATTR_DEV_INDEX);
  Device device;
  device.name = text_of(attributes, RDMA_NLDEV_ATTR_DEV_NAME);
  if (!index || device.name.empty()) return error(EBADMSG, "RDMA netlink device");
  device.index = *index;
  device.firmware = text_of(attributes, RDMA_NLDEV_ATTR_FW_VERSION);
  device.protocol = text_of(attributes, RDMA_NLDEV_ATTR_DEV_PROTOCOL);
  device.smi = value_of<uint8_t>(attributes, uapi::kRdmaDevType) == uapi::kRdmaDeviceSmi;
  device.parent = text_of(attributes, uapi::kRdmaParentName);
  return device;
}

Result<PortLink> parse_port(View8 payload) {
  auto attributes = parse_attributes(payload);
  const auto number = value_of<uint32_t>(attributes, RDMA_NLDEV_ATTR_PORT_INDEX);
  if (!number) return error(EBADMSG, "RDMA netlink port");
  return PortLink{*number, value_of<uint8_t>(attributes, RDMA_NLDEV_ATTR_PORT_STATE),
                  value_of<uint8_t>(attributes, RDMA_NLDEV_ATTR_PORT_PHYS_STATE),
                  text_of(attributes, RDMA_NLDEV_ATTR_NDEV_NAME)};
}

std::vector<Counter> parse_statistics(View8 payload) {
  std::vector<Counter> counters;
  for (const auto& entry : entries(payload, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY))
    if (const Attr* name = find(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
        name != nullptr && !name->raw_text().empty())
      if (const auto value = value_of<uint64_t>(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE))
        counters.push_back({name->raw_text(), *value});
  return counters;
}

std::vector<CounterStatus> parse_counter_status(View8 payload) {
  std::vector<CounterStatus> out;
  for (const auto& entry : entries(payload, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY)) {
    const auto index = value_of<uint32_t>(entry, uapi::kRdmaStatHwcounterIndex);
    CounterStatus status{.name = text_of(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME)};
    if (!index || status.name.empty()) continue;
    status.index = *index;
    if (const auto on = value_of<uint8_t>(entry, uapi::kRdmaStatHwcounterDynamic)) status.optional_on = *on != 0;
    out.push_back(std::move(status));
  }
  return out;
}

std::vector<ResourceCount> parse_resources(View8 payload) {
  std::vector<ResourceCount> out;
  for (const auto& entry : entries(payload, RDMA_NLDEV_ATTR_RES_SUMMARY, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY)) {
    std::string kind = text_of(entry, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME);
    const auto count = value_of<uint64_t>(entry, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR);
    if (kind.empty() || !count) continue;
    // fill_res_info() of Linux 7.3: the limits of ib_device_attr, which are ints; 0 or absent: the kind has none. A
    // driver's unsigned number that does not fit becomes negative, and here a huge one.
    auto most = value_of<uint64_t>(entry, uapi::kRdmaResSummaryEntryMax);
    if (most == 0U || most > uint64_t{INT32_MAX}) most.reset();
    out.push_back({std::move(kind), {}, *count, most});
  }
  return out;
}

Result<Owners> parse_owners(View8 payload, Object kind, std::optional<uint32_t> port) {
  constexpr uint8_t kReliable = 2;  // IB_QPT_RC (include/rdma/ib_verbs.h)
  const Dump& dump = kDumps.at(static_cast<size_t>(kind));
  const Error cut = error(EBADMSG, std::string("RDMA netlink ") + dump.what);
  const auto top = all_attributes(payload);
  if (!top) return cut;
  const Attr* table = find(*top, dump.table);
  if (table == nullptr) return cut;
  const auto items = all_attributes(table->value);
  if (!items) return cut;
  Owners out;
  for (const Attr& item : *items) {
    if (item.type != dump.entry) continue;
    const auto attributes = all_attributes(item.value);
    if (!attributes) return cut;
    const std::vector<Attr>& object = *attributes;
    if (port && value_of<uint32_t>(object, RDMA_NLDEV_ATTR_PORT_INDEX).value_or(*port) != *port) continue;
    if (find(object, RDMA_NLDEV_ATTR_RES_KERN_NAME) == nullptr) {
      ++out.user;
      continue;
    }
    ++out.kernel;
    if (kind == Object::qp && value_of<uint8_t>(object, RDMA_NLDEV_ATTR_RES_TYPE) == kReliable) ++out.connections;
  }
  return out;
}

Result<std::vector<Device>> devices(Netlink& rdma) {
  auto replies = rdma.talk(message_type(RDMA_NLDEV_CMD_GET), NLM_F_DUMP, {});
  if (!replies) return error_about("RDMA devices", replies.error());
  std::vector<Device> found;
  for (const auto& reply : *replies) {
    if (reply.type != message_type(RDMA_NLDEV_CMD_GET)) continue;
    if (auto device = parse_device(reply.payload)) found.push_back(std::move(*device));
  }
  return found;
}

Result<PortLink> port(Netlink& rdma, uint32_t device, uint32_t port) {
  return get(rdma, RDMA_NLDEV_CMD_PORT_GET, address(device, port), subject("port", device, port), parse_port);
}

Result<std::vector<Counter>> statistics(Netlink& rdma, uint32_t device, uint32_t port) {
  return get(rdma, RDMA_NLDEV_CMD_STAT_GET, address(device, port), subject("statistics", device, port),
             parse_statistics);
}

Result<std::vector<CounterStatus>> counter_status(Netlink& rdma, uint32_t device, uint32_t port) {
  return get(rdma, uapi::kRdmaStatGetStatus, address(device, port), subject("counters", device, port),
             parse_counter_status);
}

Result<void> set_optional_counters(Netlink& rdma, uint32_t device, uint32_t port, std::span<const uint32_t> indices) {
  AttrWriter table;
  for (uint32_t index : indices) table.u32(uapi::kRdmaStatHwcounterIndex, index);
  const auto request = address(device, port).nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, table);
  return request_change(rdma, message_type(RDMA_NLDEV_CMD_STAT_SET), request,
                        subject("set optional counters", device, port));
}

Result<uint64_t> queue_pairs_in_use(Netlink& rdma, uint32_t device, uint32_t port) {
  // Without PORT_INDEX: the kernel's own filter would leave out a queue pair that has no port yet (RESET), whose owner
  // is about to use it.
  const auto request = AttrWriter().u32(RDMA_NLDEV_ATTR_DEV_INDEX, device);
  auto replies = rdma.talk(message_type(RDMA_NLDEV_CMD_RES_QP_GET), NLM_F_DUMP, request.data());
  if (!replies) return error_about(subject("queue pairs", device, port), replies.error());
  uint64_t total = 0;
  for (const auto& reply : *replies) {
    if (reply.type != message_type(RDMA_NLDEV_CMD_RES_QP_GET)) continue;
    const auto some = parse_owners(reply.payload, Object::qp, port);
    if (!some) return some.error();
    total += some->user + some->connections;
  }
  return total;
}

Result<std::vector<ResourceCount>> resources(Netlink& rdma, uint32_t device) {
  return get(rdma, RDMA_NLDEV_CMD_RES_GET, AttrWriter().u32(RDMA_NLDEV_ATTR_DEV_INDEX, device),
             "resources of RDMA device " + std::to_string(device), parse_resources);
}

Result<Owners> owners(Netlink& rdma, uint32_t device, Object kind, std::chrono::milliseconds patience) {
  const Dump& dump = kDumps.at(static_cast<size_t>(kind));
  const auto request = AttrWriter().u32(RDMA_NLDEV_ATTR_DEV_INDEX, device);
  Owners total;
  std::optional<Error> failure;
  auto done = rdma.dump(message_type(dump.command), request.data(), patience, [&](uint16_t type, View8 payload) {
    if (type != message_type(dump.command)) return true;
    const auto some = parse_owners(payload, kind);
    if (!some) {
      failure = some.error();
      return true;
    }
    total.user += some->user;
    total.kernel += some->kernel;
    return true;
  });
  if (!done) failure = done.error();
  if (failure) return error_about(std::string(dump.what) + " of RDMA device " + std::to_string(device), *failure);
  return total;
}

}  // namespace fabric::nldev
