// SPDX-License-Identifier: Apache-2.0
// Receive buffers against what PFC needs of them.
#include <algorithm>

#include "base/parse.h"
#include "config/judge.h"
#include "vendor/generic/headroom.h"

namespace fabric::config {
namespace {

constexpr uint32_t kSlowest = 40'000;  // Mb/s; mlx5 computes with no less
constexpr uint32_t kDefaultMtu = 1'500;

// The fastest link speed that the entry matches, if it matches by speed: a size too small for it is wrong.
headroom::Link link_of(const Judge& judge) {
  headroom::Link link;
  link.speed = kSlowest;
  for (const std::string& speed : judge.entry.port.match.speed)
    link.speed = std::max(link.speed, parse_number<uint32_t>(speed).value_or(0));
  link.mtu = judge.want.mtu.value_or(kDefaultMtu);
  link.cable = judge.want.cable_length.value_or(headroom::kDefaultCable);
  return link;
}

void check_sharing(const Judge& judge, const Eight& prio2buffer) {
  for (size_t buffer = 0; buffer < kPriorities; ++buffer) {
    std::optional<size_t> lossless, lossy;
    for (size_t prio = 0; prio < kPriorities; ++prio)
      if (prio2buffer[prio] == buffer) (judge.lossless().has(static_cast<int>(prio)) ? lossless : lossy) = prio;
    if (lossless && lossy)
      judge.warn(SettingId::prio2buffer,
                 "priority " + std::to_string(*lossless) + " is lossless and shares buffer " + std::to_string(buffer) +
                     " with priority " + std::to_string(*lossy) +
                     ", which is not: the card keeps both without loss, and either fills it; give the "
                     "lossless one a buffer of its own");
  }
}

void check_size(const Judge& judge, size_t prio, size_t buffer) {
  const uint32_t size = judge.want.buffer_size->bytes[buffer];
  const headroom::Link link = link_of(judge);
  const uint64_t least = headroom::minimum(link);
  const bool lossless = judge.lossless().has(static_cast<int>(prio));
  const std::string who = "buffer " + std::to_string(buffer) + " of priority " + std::to_string(prio);
  if (size == 0)
    judge.fail(SettingId::buffer_size, who + " has no bytes: every packet would be lost; write buffer_size = \"auto\"");
  else if (lossless && size < least)
    judge.fail(SettingId::buffer_size, who + " has " + std::to_string(size) + " bytes, and without loss it needs " +
                                           std::to_string(least) + " at " + std::to_string(link.speed / 1000) +
                                           " Gb/s with MTU " + std::to_string(link.mtu) + " and " +
                                           std::to_string(link.cable) +
                                           " m of cable, else the driver refuses it; write buffer_size = \"auto\"");
}

}  // namespace

void check_buffers(const Judge& judge) {
  const Qos& want = judge.want;
  if (!want.prio2buffer) return;
  check_sharing(judge, *want.prio2buffer);
  if (!want.buffer_size || want.buffer_size->automatic) return;
  for (size_t prio = 0; prio < kPriorities; ++prio) check_size(judge, prio, (*want.prio2buffer)[prio]);
}

}  // namespace fabric::config
