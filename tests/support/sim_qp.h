// SPDX-License-Identifier: Apache-2.0
// RDMA netlink of one device as drivers/infiniband/core/nldev.c of Linux 6.12 answers about counters of queue pairs.
#pragma once

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kernel/netlink/netlink.h"

namespace fabric::test {

class SimQp : public Netlink {
 public:
  struct Set {
    uint32_t mode = RDMA_COUNTER_MODE_AUTO;
    std::optional<uint8_t> type{};  // IB_QPT_*
    std::optional<uint32_t> pid{};
    std::vector<std::pair<std::string, uint64_t>> counters{};
    unsigned queue_pairs = 1;
    uint32_t port = 1;
  };
  uint32_t index = 3;
  std::map<uint32_t, std::pair<uint32_t, uint32_t>> ports{
      {1, {RDMA_COUNTER_MODE_AUTO, RDMA_COUNTER_MASK_QP_TYPE}}};  // mode, mask
  std::vector<Set> sets{};
  int mode_failure = 0, dump_failure = 0;  // errno
  int modes = 0, dumps = 0, queries = 0;   // so often asked; queries: commands to the firmware

  Result<std::vector<Message>> talk(uint16_t type, uint16_t flags, View8 payload) override {
    if (type == kind(RDMA_NLDEV_CMD_GET)) return std::vector{Message{type, head().data()}};
    const auto port = port_of(payload);
    if (type != kind(RDMA_NLDEV_CMD_STAT_GET) || (flags & NLM_F_DUMP) != 0 || !port ||
        find(parse_attributes(payload), RDMA_NLDEV_ATTR_STAT_MODE) == nullptr)
      return error(EINVAL, "simulated");
    ++modes;
    if (mode_failure != 0) return error(mode_failure, "simulated");
    const auto [mode, mask] = ports.at(*port);
    AttrWriter out = head();
    out.u32(RDMA_NLDEV_ATTR_PORT_INDEX, *port).u32(RDMA_NLDEV_ATTR_STAT_MODE, mode);
    if (mode == RDMA_COUNTER_MODE_AUTO) out.u32(RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK, mask);
    return std::vector{Message{type, out.data()}};
  }

  // res_get_common_dumpit(): a message for as many sets as fit, and empty ones for ever where the next fits into none.
  Result<void> dump(uint16_t type, View8 payload, std::chrono::milliseconds patience, const Take& take) override {
    const auto port = port_of(payload);
    if (type != kind(RDMA_NLDEV_CMD_STAT_GET) || !port || patience.count() <= 0) return error(EINVAL, "simulated");
    ++dumps;
    for (size_t next = 0, messages = 0; next < sets.size(); ++messages) {
      if (messages > 1000) return error(ETIMEDOUT, "simulated");
      AttrWriter table, out = head();
      for (; next < sets.size(); ++next) {
        if (sets[next].port != *port) continue;
        ++queries;
        const AttrWriter one = entry(sets[next]);
        if (table.data().size() + one.data().size() > kRoom) break;
        table.nest(RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY, one);
      }
      if (!take(type, out.nest(RDMA_NLDEV_ATTR_STAT_COUNTER, table).data())) return error(ECANCELED, "simulated");
    }
    return dump_failure != 0 ? Result<void>(error(dump_failure, "simulated")) : Result<void>();
  }

 private:
  static constexpr size_t kRoom = 32 * 1024 - 200;  // net/netlink/af_netlink.c: the most that a dump fills at once

  static uint16_t kind(uint16_t command) { return static_cast<uint16_t>(RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command)); }

  AttrWriter head() const {
    AttrWriter out;
    out.u32(RDMA_NLDEV_ATTR_DEV_INDEX, index).text(RDMA_NLDEV_ATTR_DEV_NAME, "mlx5_0");
    return out;
  }

  // Of a request for counters of queue pairs on a port that the device has.
  std::optional<uint32_t> port_of(View8 payload) const {
    const auto asked = parse_attributes(payload);
    const Attr *device = find(asked, RDMA_NLDEV_ATTR_DEV_INDEX), *port = find(asked, RDMA_NLDEV_ATTR_PORT_INDEX),
               *object = find(asked, RDMA_NLDEV_ATTR_STAT_RES);
    if (device == nullptr || device->u32() != index || port == nullptr || object == nullptr ||
        object->u32() != uint32_t{RDMA_NLDEV_ATTR_RES_QP})
      return std::nullopt;
    return port->u32() && ports.contains(*port->u32()) ? port->u32() : std::nullopt;
  }

  // fill_res_counter_entry().
  static AttrWriter entry(const Set& set) {
    AttrWriter out, pairs, counters;
    out.u32(RDMA_NLDEV_ATTR_PORT_INDEX, set.port)
        .u32(RDMA_NLDEV_ATTR_STAT_COUNTER_ID, 4)
        .u32(RDMA_NLDEV_ATTR_STAT_MODE, set.mode);
    if (set.type) out.u8(RDMA_NLDEV_ATTR_RES_TYPE, *set.type);
    if (set.pid) out.u32(RDMA_NLDEV_ATTR_RES_PID, *set.pid);
    for (unsigned i = 0; i < set.queue_pairs; ++i)
      pairs.nest(RDMA_NLDEV_ATTR_RES_QP_ENTRY, AttrWriter().u32(RDMA_NLDEV_ATTR_RES_LQPN, 178 + i));
    for (const auto& [name, value] : set.counters)
      counters.nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, AttrWriter()
                                                              .text(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME, name)
                                                              .u64(RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE, value));
    out.nest(RDMA_NLDEV_ATTR_RES_QP, pairs).nest(RDMA_NLDEV_ATTR_STAT_HWCOUNTERS, counters);
    return out;
  }
};

}  // namespace fabric::test
