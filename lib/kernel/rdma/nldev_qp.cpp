// SPDX-License-Identifier: Apache-2.0
// Hardware counters of queue pairs: what `rdma statistic qp` shows.
#include "kernel/rdma/nldev.h"
#include "kernel/rdma/nldev_message.h"

namespace fabric::nldev {
namespace {

constexpr size_t kMostBytes = 1 << 20, kMostMessages = 256;  // of one dump

AttrWriter statistic_of_qps(uint32_t device, uint32_t port) {
  AttrWriter request = address(device, port);
  request.u32(RDMA_NLDEV_ATTR_STAT_RES, RDMA_NLDEV_ATTR_RES_QP);
  return request;
}

bool read_set(const std::vector<Attr>& attributes, QpSet& out) {
  const Attr *mode = find(attributes, RDMA_NLDEV_ATTR_STAT_MODE),
             *counters = find(attributes, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
  if (mode == nullptr || !mode->u32() || counters == nullptr) return false;
  out.automatic = *mode->u32() == RDMA_COUNTER_MODE_AUTO;
  out.by_pid = find(attributes, RDMA_NLDEV_ATTR_RES_PID) != nullptr;
  if (const Attr* type = find(attributes, RDMA_NLDEV_ATTR_RES_TYPE)) out.type = type->u8();
  return for_each_whole(counters->value, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY, [&](const auto& entry) {
    std::string name = text_of(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_NAME);
    const Attr* value = find(entry, RDMA_NLDEV_ATTR_STAT_HWCOUNTER_ENTRY_VALUE);
    if (!name.empty() && value != nullptr && value->u64()) out.counters.push_back({std::move(name), *value->u64()});
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
  const Attr *mode = find(top, RDMA_NLDEV_ATTR_STAT_MODE), *mask = find(top, RDMA_NLDEV_ATTR_STAT_AUTO_MODE_MASK);
  if (mode == nullptr || mode->u32().value_or(RDMA_COUNTER_MODE_MAX) >= RDMA_COUNTER_MODE_MAX)
    return error(EBADMSG, "RDMA netlink mode of queue pair counters");
  const uint32_t by = mask != nullptr ? mask->u32().value_or(0) : 0;
  return QpMode{static_cast<QpStatistics::Mode>(*mode->u32()), (by & RDMA_COUNTER_MASK_QP_TYPE) != 0,
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
  auto reply = ask_one(rdma, RDMA_NLDEV_CMD_STAT_GET, request, subject("mode of queue pair counters", device, port));
  if (!reply) return reply.error();
  return parse_qp_mode(reply->payload);
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
