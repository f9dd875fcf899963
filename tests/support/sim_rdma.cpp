// SPDX-License-Identifier: Apache-2.0
#include "support/sim_rdma.h"

#include <linux/netlink.h>

#include <iterator>

#include "kernel/netlink/newer_uapi.h"

namespace fabric::test {
namespace {

AttrWriter device_attributes(uint32_t index, const SimRdmaDevice& device) {
  AttrWriter out;
  out.u32(RDMA_NLDEV_ATTR_DEV_INDEX, index).text(RDMA_NLDEV_ATTR_DEV_NAME, device.name);
  return out;
}

Bytes device_message(uint32_t index, const SimRdmaDevice& device) {
  AttrWriter out = device_attributes(index, device);
  out.u32(RDMA_NLDEV_ATTR_PORT_INDEX, static_cast<uint32_t>(device.ports.size()));
  if (!device.firmware.empty()) out.text(RDMA_NLDEV_ATTR_FW_VERSION, device.firmware);
  if (!device.parent.empty())
    out.u8(uapi::kRdmaDevType, uapi::kRdmaDeviceSmi).text(uapi::kRdmaParentName, device.parent);
  out.text(RDMA_NLDEV_ATTR_DEV_PROTOCOL, device.protocol);
  return out.data();
}

Bytes port_message(AttrWriter out, uint32_t number, const SimRdmaPort& port) {
  out.u32(RDMA_NLDEV_ATTR_PORT_INDEX, number);
  out.u8(RDMA_NLDEV_ATTR_PORT_STATE, port.state).u8(RDMA_NLDEV_ATTR_PORT_PHYS_STATE, port.phys_state);
  if (!port.netdev.empty()) out.u32(RDMA_NLDEV_ATTR_NDEV_INDEX, 7).text(RDMA_NLDEV_ATTR_NDEV_NAME, port.netdev);
  return out.data();
}

// stat_get_doit_default_counter(): optional counters that are off are left out.
Bytes statistics_message(AttrWriter out, uint32_t number, const SimRdmaPort& port) {
  std::vector<Counter> shown = port.counters;
  for (const auto& [name, on] : port.optional)
    if (const auto count = port.optional_counts.find(name); on)
      shown.push_back({name, count == port.optional_counts.end() ? 0 : count->second});
  AttrWriter table;
  for (const Counter& counter : shown) {
    AttrWriter entry;
    entry.text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, counter.name);
    entry.u64(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, counter.value);
    table.nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, entry);
  }
  out.u32(RDMA_NLDEV_ATTR_PORT_INDEX, number).nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, table);
  return out.data();
}

Bytes status_message(AttrWriter out, uint32_t number, const SimRdmaPort& port) {
  AttrWriter table;
  uint32_t index = 0;
  auto entry = [&](std::string_view name) {
    return AttrWriter()
        .text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name)
        .u32(uapi::kRdmaStatHwcounterIndex, index++);
  };
  for (const Counter& counter : port.counters) table.nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, entry(counter.name));
  for (const auto& [name, on] : port.optional)
    table.nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, entry(name).u8(uapi::kRdmaStatHwcounterDynamic, on));
  out.u32(RDMA_NLDEV_ATTR_PORT_INDEX, number).nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, table);
  return out.data();
}

// nldev_stat_set_counter_dynamic_doit(): every attribute of the nest is an index, whatever its type. The driver is
// asked about the counters that change, in the order of their indexes, until it refuses one (rdma_counter_modify()).
int set_optional(SimRdmaPort& port, const std::vector<Attr>& request) {
  const Attr* table = find(request, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
  if (table == nullptr) return EINVAL;
  std::map<std::string, bool> next;
  for (const auto& [name, on] : port.optional) next[name] = false;
  std::string text;
  for (const Attr& each : parse_attributes(table->value)) {
    const size_t index = each.u32().value_or(0);
    if (index < port.counters.size() || index >= port.counters.size() + next.size()) return EINVAL;
    auto counter = std::next(next.begin(), static_cast<long>(index - port.counters.size()));
    counter->second = true;
    text += (text.empty() ? "" : ",") + counter->first;
  }
  if (port.optional_errno != 0) return port.optional_errno;
  for (const auto& [name, on] : next) {
    if (port.optional[name] == on) continue;
    if (const auto refused_one = port.optional_refused.find(name); refused_one != port.optional_refused.end())
      return refused_one->second;
    port.optional[name] = on;
    port.optional_counts[name] = 0;
  }
  port.optional_log.push_back(text);
  return 0;
}

// fill_res_info()
Bytes summary_message(AttrWriter out, const SimRdmaDevice& device) {
  AttrWriter table;
  for (const auto& [kind, count] : device.resources) {
    AttrWriter entry;
    entry.text(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME, kind)
        .bytes(0, {})
        .u64(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, count);
    if (const auto most = device.limits.find(kind); most != device.limits.end())
      entry.bytes(0, {}).u64(uapi::kRdmaResSummaryEntryMax, most->second);
    table.nest(RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, entry);
  }
  return out.nest(RDMA_NLDEV_ATTR_RES_SUMMARY, table).data();
}

Error refused(int code) { return error(code, "simulated RDMA netlink"); }

}  // namespace

AttrWriter resource_entry(bool of_kernel) {
  return of_kernel ? AttrWriter().text(RDMA_NLDEV_ATTR_RES_KERN_NAME, "ib_core")
                   : AttrWriter().u32(RDMA_NLDEV_ATTR_RES_PID, 7);
}

Result<std::vector<Message>> SimRdma::dump_owners(uint16_t type, AttrWriter head, const SimRdmaDevice& device) {
  ++owner_dumps;
  for (const ResourceKind& kind : kResourceKinds) {
    const auto known = device.owners.find(kind.name);
    if (kind.command != (type & 0xff) || known == device.owners.end()) continue;
    if (const auto failed = owners_errno.find(kind.name); failed != owners_errno.end()) return refused(failed->second);
    AttrWriter table;
    for (uint64_t i = 0; i < known->second.kernel + known->second.user; ++i)
      table.nest(kind.entry, resource_entry(i < known->second.kernel));
    return std::vector{Message{type, head.nest(kind.table, table).data()}};
  }
  return refused(EOPNOTSUPP);
}

Result<std::vector<Message>> SimRdma::talk(uint16_t type, uint16_t flags, View8 payload) {
  ++requests;
  if (failure != 0) return refused(failure);
  const int command = type & 0xff;
  if (command == RDMA_NLDEV_CMD_GET && (flags & NLM_F_DUMP) != 0) {
    std::vector<Message> replies;
    for (const auto& [index, device] : devices) replies.push_back({type, device_message(index, device)});
    return replies;
  }
  const auto request = parse_attributes(payload);
  const auto device = devices.find(value_of<uint32_t>(request, RDMA_NLDEV_ATTR_DEV_INDEX).value_or(UINT32_MAX));
  if (device == devices.end()) return refused(EINVAL);
  const AttrWriter head = device_attributes(device->first, device->second);
  if (command == RDMA_NLDEV_CMD_RES_GET) {
    if (const int code = device->second.resources_errno; code != 0) return refused(code);
    return std::vector{Message{type, summary_message(head, device->second)}};
  }
  if ((flags & NLM_F_DUMP) != 0) return dump_owners(type, head, device->second);
  return talk_of_port(type, head, request, device->second);
}

Result<std::vector<Message>> SimRdma::talk_of_port(uint16_t type, const AttrWriter& head,
                                                   const std::vector<Attr>& request, SimRdmaDevice& device) {
  const auto port = device.ports.find(value_of<uint32_t>(request, RDMA_NLDEV_ATTR_PORT_INDEX).value_or(0));
  if (port == device.ports.end()) return refused(EINVAL);
  switch (type & 0xff) {
    case RDMA_NLDEV_CMD_PORT_GET: return std::vector{Message{type, port_message(head, port->first, port->second)}};
    case RDMA_NLDEV_CMD_STAT_SET:
      if (int code = set_optional(port->second, request); code != 0) return refused(code);
      return std::vector<Message>{};
    case RDMA_NLDEV_CMD_STAT_GET:
    case uapi::kRdmaStatGetStatus: {
      if (port->second.statistics_errno != 0) return refused(port->second.statistics_errno);
      const bool status = (type & 0xff) == uapi::kRdmaStatGetStatus;
      return std::vector{Message{type, status ? status_message(head, port->first, port->second)
                                              : statistics_message(head, port->first, port->second)}};
    }
    default: return refused(EOPNOTSUPP);
  }
}

}  // namespace fabric::test
