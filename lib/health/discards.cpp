// SPDX-License-Identifier: Apache-2.0
// Health of the port's buffers: discarded frames and overruns.
#include "health/rule.h"

namespace fabric {
namespace {

using enum HealthMeasure;
using S = Signals;

std::optional<HealthReading> read_lossless_discards(const View& view, const HealthRule&, const Port& port) {
  const Signals* signals = signals_of_port(view, port);
  if (signals == nullptr || !port.qos.pfc) return std::nullopt;
  HealthReading reading{port.id(), 0, signals->seconds};
  bool any = false;
  for (size_t i = 0; i < signals->priority.size(); ++i) {
    const Rise rise = signals->priority[i].discards;
    if (!rise || !port.qos.pfc->has(i)) continue;
    any = true;
    reading.amount += *rise;
    if (*rise > 0)
      append_item(reading.evidence, number_text(*rise) + " discards on lossless priority " + std::to_string(i));
  }
  if (reading.evidence.empty()) reading.evidence = "no discards on lossless priorities";
  return any ? std::optional(std::move(reading)) : std::nullopt;
}

constexpr HealthRow kRules[]{
    {.check = "discards",
     .window = {"lossless_discards", count, HealthLimits{10, kNever, kMinute, 0, kMinute}, "frames",
                "IEEE 802.1Qbb: priorities with PFC lose nothing; a few at link up are ignored (ours)",
                "none on lossless priorities"},
     .meaning = "A receive buffer overran although PFC protects the priority.",
     .remedy = "Compare PFC of both ends: fabric-agentctl neighbors. Check cable_length and buffer_size: "
               "fabric-agentctl show --port {netdev}",
     .read_port = read_lossless_discards},
    {.check = "discards",
     .window = {"port_discards", ratio, HealthLimits{10, kNever, kMinute, 0, kMinute}, "packets per second",
                "a tenth (ours) of NVSentinel's limit of port_xmit_discards and AWS's of rx_drops, 100 a second",
                "below 10 a second", 10},
     .meaning = "The port discards packets because its buffers are full, and they are sent again.",
     .remedy = "Check that RoCE uses a lossless priority at both ends (trust, DSCP map, PFC): fabric-agentctl plan "
               "--port {netdev}; fabric-agentctl neighbors",
     .elsewhere = "Find the cause: fabric-agentctl diagnose {netdev}. Compare with the other hosts of the job.",
     .sum = {{{{"discards received", &S::rx_discards}, {"discards sent", &S::tx_discards}}}}},
    {.check = "discards",
     .window = {"buffer_overruns", count, HealthLimits{1, kNever, kMinute, 0, kMinute}, "overruns (InfiniBand)",
                "NVSentinel: any excessive_buffer_overrun_errors is fatal; a link with credits cannot overrun", "none"},
     .meaning = "The receive buffer of an InfiniBand link overran, which its credits should prevent.",
     .remedy = "Replace the cable, then compare the firmware of both ends: fabric-agentctl check --only firmware",
     .sum = {{{{"buffer overruns", &S::buffer_overruns}}}}},
};

}  // namespace

std::span<const HealthRow> discard_health_rules() { return kRules; }

extern const Check kDiscardsCheck{
    .id = "discards",
    .group = group::counters,
    .title = "A port buffer overran",
    .meaning = "A buffer overran that PFC should have protected.",
    .inspect =
        "ethtool -S NETDEV | grep -iE 'discard|drop'; dcb pfc show dev NETDEV; dcb buffer show dev NETDEV; "
        "fabric-agentctl check --only peer-pfc",
    .fix = "Enable PFC for the priority at both ends. Raise cable_length or the headroom in the policy.",
};

}  // namespace fabric
