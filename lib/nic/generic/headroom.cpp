// SPDX-License-Identifier: Apache-2.0
#include "nic/generic/headroom.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace fabric::headroom {
namespace {

constexpr uint64_t kGrain = 2304;      // bytes: whole cells of 128, 144, 256 and 288
constexpr uint64_t kSlowest = 40'000;  // Mb/s

uint64_t largest_frame(const LinkProperties& link) { return std::max<uint64_t>(link.max_mtu, 9216); }

uint64_t round_up(uint64_t bytes) { return (bytes + kGrain - 1) / kGrain * kGrain; }

std::string text(const LinkProperties& link) {
  std::string speed = "a link that is down (counted as 40000 Mb/s)";
  if (link.speed != 0) speed = std::to_string(link.speed) + " Mb/s";
  return speed + ", " + std::to_string(link.cable) + " m, MTU " + std::to_string(link.mtu);
}

uint64_t sum(const Buffers& sizes) { return std::accumulate(sizes.bytes.begin(), sizes.bytes.end(), uint64_t{0}); }

// The fewest bytes for a buffer of each kind, and the number of buffers.
struct BufferShares {
  uint64_t lossless, lossy;
  uint64_t lossless_count, lossy_count;
  [[nodiscard]] uint64_t all() const { return lossless * lossless_count + lossy * lossy_count; }
};

BufferShares shares(const BufferUse& use, PrioSet lossless, PrioSet lossy, uint64_t slack) {
  return {round_up(minimum(use.link, kLargestCell) + slack), round_up(largest_frame(use.link) + slack),
          static_cast<uint64_t>(std::popcount(lossless.bits)), static_cast<uint64_t>(std::popcount(lossy.bits))};
}

}  // namespace

PrioSet buffers_of(PrioSet priorities, const Eight& prio2buffer) {
  PrioSet out;
  for (int prio = 0; prio < kPriorities; ++prio)
    if (priorities.has(prio))
      out.bits = static_cast<uint8_t>(out.bits | 1u << (prio2buffer[static_cast<size_t>(prio)] & 7));
  return out;
}

uint64_t xoff(const LinkProperties& link) {
  const uint64_t speed = std::max<uint64_t>(link.speed, kSlowest);
  return (301 + uint64_t{216} * link.cable / 100) * speed / 1000 + uint64_t{272} * link.mtu / 100;
}

uint64_t minimum(const LinkProperties& link, uint32_t cell) { return xoff(link) + largest_frame(link) + cell; }

std::string objection(const BufferUse& use, const Buffers& sizes) {
  const PrioSet lossless = buffers_of(use.lossless, use.prio2buffer);
  const uint64_t least = minimum(use.link);
  for (size_t b = 0; b < sizes.bytes.size(); ++b)
    if (lossless.has(static_cast<int>(b)) && sizes.bytes[b] < least)
      return "buffer " + std::to_string(b) + " needs " + std::to_string(least) + " bytes for " + text(use.link) + "; " +
             std::to_string(sizes.bytes[b]) + " are too few (buffer_size = \"auto\" in the policy gives it enough)";
  for (size_t prio = 0; prio < use.prio2buffer.size(); ++prio)
    if (sizes.bytes[use.prio2buffer[prio] & 7] == 0)
      return "priority " + std::to_string(prio) + " maps to buffer " + std::to_string(use.prio2buffer[prio] & 7) +
             ", which has no bytes: all its frames would be lost";
  if (use.total && sum(sizes) > *use.total)
    return "the buffers take " + std::to_string(sum(sizes)) + " bytes together, the port has " +
           std::to_string(*use.total);
  return {};
}

Result<Buffers> automatic(const BufferUse& use, const Buffers& now) {
  if (use.link.speed == 0) return error(0, "the link is down: its speed, which determines the headroom, is unknown");
  const PrioSet lossless = buffers_of(use.lossless, use.prio2buffer);
  const PrioSet lossy{static_cast<uint8_t>(buffers_of(PrioSet{0xff}, use.prio2buffer).bits & ~lossless.bits)};
  BufferShares least = shares(use, lossless, lossy, largest_frame(use.link));
  if (use.total && least.all() > *use.total) least = shares(use, lossless, lossy, 0);
  if (use.total && least.all() > *use.total)
    return error(0, "the buffers need " + std::to_string(least.all()) + " bytes for " + text(use.link) + " (" +
                        std::to_string(least.lossless_count) + " lossless of " + std::to_string(least.lossless) +
                        "), the port has " + std::to_string(*use.total));
  const uint64_t budget = std::max(least.all(), std::min(sum(now), use.total ? uint64_t{*use.total} : UINT64_MAX));
  if (least.lossy_count > 0)
    least.lossy = (budget - least.lossless * least.lossless_count) / least.lossy_count / kGrain * kGrain;
  Buffers out;
  for (int b = 0; b < kPriorities; ++b) {
    if (lossless.has(b)) out.bytes[static_cast<size_t>(b)] = static_cast<uint32_t>(least.lossless);
    if (lossy.has(b)) out.bytes[static_cast<size_t>(b)] = static_cast<uint32_t>(least.lossy);
  }
  return out;
}

}  // namespace fabric::headroom
