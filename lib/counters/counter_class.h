// SPDX-License-Identifier: Apache-2.0
// Which counters mean trouble when they rise, and of which kind. Names are the kernel drivers' own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fabric {

// Each class has one culprit and one remedy, so a rising counter can be answered with a sentence.
enum class CounterClass : uint8_t {
  loss,      // packets that RDMA sent were lost, reordered or answered too late
  link,      // bits were damaged on the wire or the link went down: cable, optics, connector
  discard,   // a port buffer overran: a frame was thrown away that PFC should have held back
  storm,     // this port sends pause without end
  receiver,  // the receiving host had no buffer posted: the application or its CPU is late
  pcie,      // the slot or the PCIe path cannot take what the port receives
  request,   // one side rejected the other's RDMA request: application or fabric configuration
  ecn,       // congestion is signalled to this sender, which does not react
};
inline constexpr std::array kCounterClasses{CounterClass::loss,    CounterClass::link,     CounterClass::discard,
                                            CounterClass::storm,   CounterClass::receiver, CounterClass::pcie,
                                            CounterClass::request, CounterClass::ecn};
std::string_view to_text(CounterClass value);  // "loss"

struct CounterMeaning {
  CounterClass kind;
  bool severe = false;  // a connection was given up or the link was down, not merely slowed
};

// Of the raw name, as NETLINK_RDMA, ports/N/counters or ethtool -S give it, and of "carrier_down". Nothing for counters
// of traffic, congestion control at work (CNP, ECN marks, pause frames) and names not known: they never mean trouble
// alone.
std::optional<CounterMeaning> classify_counter(std::string_view name);

// By how much a counter grew. Nothing when it did not, or when it was reset (driver reload). mlx5 Q counters are 32
// bits wide in firmware (drivers/infiniband/hw/mlx5/counters.c): a small step over 2^32 counts on.
std::optional<uint64_t> counter_rise(uint64_t before, uint64_t now);

}  // namespace fabric
