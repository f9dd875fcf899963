// SPDX-License-Identifier: Apache-2.0
// Hardware counters of queue pairs: what `rdma statistic qp` shows.
#include "kernel/rdma/nldev_message.h"

namespace fabric::nldev {
namespace {

constexpr size_t kMostBytes = 1 << 20, kMostMessages = 256;  // of one dump

AttrWriter statistic_of_qps(uint32_t device, uint32_t port) {
  return address(device, port).u32(RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
}

bool read_set(const std::vector<Attr>& attributes, QpSet& out) {
  const auto mode = value_of<uint32_t>(attributes, RDMA_NLDEV_ATTR_STAT_MODE);
  const Attr* counters = find(attributes, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
  if (!mode || counters == nullptr) return false;
  out.automatic = *mode == RDMA_COUNTER_MODE_AUTO;
  out.by_pid = find(attributes, RDMA_NLDEV_ATTR_RES_PID) != nullptr;
  out.type = value_of<uint8_t>(attributes, RDMA_NLDEV_ATTR_RES_TYPE);
  return for_each_whole(counters->value, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, [&](const auto& entry) {
    take_counter(entry, out.counters);
    return true;
  });
}

// A dump as it comes.
struct Gathered {
  std::vector<QpSet> sets{};
  size_t bytes = 0, messages = 0, empty = 0;  // empty: so many at the end without a set
  std::optional<int> wrong{};

  bool take(View8 payload) {
    auto some = parse_qp_sets(payload);
    if (!some) wrong = some.error().code;
    else {
      // One may be: where all that is left belongs to other ports.
      empty = some->empty() ? empty + 1 : 0;
      for (QpSet& set : *some) sets.push_back(std::move(set));
    }
    if ((bytes += payload.size()) > kMostBytes || ++messages > kMostMessages || empty > 1) wrong = EOVERFLOW;
    return !wrong;
  }
};

}  // namespace

Result<QpMode> parse_qp_mode(View8 payload) {
  const auto top = parse_attributes(payload);
  const auto mode = value_of<uint32_t>(top, RDMA_NLDEV_ATTR_STAT_MODE);
  if (mode.value_or(RDMA_COUNTER_MODE_MAX) >= RDMA_COUNTER_MODE_MAX)
    return error(EBADMSG, "RDMA netlink mode of queue pair counters");
  const uint32_t by = value_of<uint32_t>(top, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK).value_or(0);
  return QpMode{static_cast<QpStatistics::Mode>(*mode), (by & RDMA_COUNTER_MASK_QP_TYPE) != 0,
                (by & RDMA_COUNTER_MASK_PID) != 0};
}

Result<std::vector<QpSet>> parse_qp_sets(View8 payload) {
  const auto top = all_attributes(payload);
  const Attr* table = top ? find(*top, RDMA_NLDEV_ATTR_STAT_COUNTER) : nullptr;
  std::vector<QpSet> sets;
  const bool whole =
      table != nullptr && for_each_whole(table->value, RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY,
                                         [&](const auto& entry) { return read_set(entry, sets.emplace_back()); });
  if (!whole) return error(EBADMSG, "RDMA netlink queue pair counters");
  return sets;
}

Result<QpMode> qp_mode(Netlink& rdma, uint32_t device, uint32_t port) {
  AttrWriter request = statistic_of_qps(device, port);
  request.u32(RDMA_NLDEV_ATTR_STAT_MODE, RDMA_COUNTER_MODE_MANUAL);  // any value: that it is there asks for the mode
  return get<QpMode>(rdma, RDMA_NLDEV_CMD_STAT_GET, request, subject("mode of queue pair counters", device, port),
                     parse_qp_mode);
}

Result<std::vector<QpSet>> qp_sets(Netlink& rdma, uint32_t device, uint32_t port, std::chrono::milliseconds patience) {
  Gathered all;
  auto done = rdma.dump(
      message_type(RDMA_NLDEV_CMD_STAT_GET), statistic_of_qps(device, port).data(), patience,
      [&](uint16_t type, View8 payload) { return type != message_type(RDMA_NLDEV_CMD_STAT_GET) || all.take(payload); });
  if (all.wrong || !done)
    return error(all.wrong ? *all.wrong : done.error().code, subject("queue pair counters", device, port));
  return std::move(all.sets);
}

}  // namespace fabric::nldev
