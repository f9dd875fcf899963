// SPDX-License-Identifier: Apache-2.0
#include "nic/generic/headroom.h"

#include <numeric>

#include "support/test.h"

namespace fabric::headroom {
namespace {

constexpr uint32_t kMaxMtu = 9978;  // of usual cards

// Computed by hand from mlx5/core/en/port_buffer.c, in its integers.
struct Known {
  LinkProperties link;
  uint64_t xoff, minimum;
};
const Known kKnown[]{
    {{100'000, 7, 4200, kMaxMtu}, 43'024, 53'130},     {{100'000, 7, 9000, kMaxMtu}, 56'080, 66'186},
    {{100'000, 100, 9000, kMaxMtu}, 76'180, 86'286},   {{200'000, 30, 4200, kMaxMtu}, 84'424, 94'530},
    {{400'000, 7, 4200, kMaxMtu}, 137'824, 147'930},   {{400'000, 30, 9000, kMaxMtu}, 170'480, 180'586},
    {{400'000, 100, 9000, kMaxMtu}, 231'280, 241'386}, {{800'000, 30, 9000, kMaxMtu}, 316'480, 326'586},
};

TEST(Headroom, IsTheDriversFormula) {
  for (const Known& known : kKnown) {
    EXPECT_EQ(xoff(known.link), known.xoff) << known.link.speed << " " << known.link.cable << " " << known.link.mtu;
    EXPECT_EQ(minimum(known.link), known.minimum)
        << known.link.speed << " " << known.link.cable << " " << known.link.mtu;
  }
}

TEST(Headroom, AtLeast40GbitCount) {
  const LinkProperties slow{25'000, 7, 4200, kMaxMtu}, forty{40'000, 7, 4200, kMaxMtu}, down{0, 7, 4200, kMaxMtu};
  EXPECT_EQ(minimum(slow), minimum(forty));
  EXPECT_EQ(minimum(down), minimum(forty));
  EXPECT_LT(minimum(forty), minimum({50'000, 7, 4200, kMaxMtu}));
}

TEST(Headroom, AFrameOf9216CountsWhereTheCardSaysLess) {
  EXPECT_EQ(minimum({100'000, 7, 4200, 1500}), minimum({100'000, 7, 4200, 9216}));
  EXPECT_EQ(minimum({100'000, 7, 4200, 10'000}) - minimum({100'000, 7, 4200, 9216}), 784u);
}

TEST(Headroom, TheLongestCableAtTheHighestSpeedDoesNotOverflow) {
  EXPECT_EQ(xoff({3'200'000, 999, 65'535, kMaxMtu}), 2458ull * 3'200'000 / 1000 + 178'255);
}

// Priority 3 without loss in buffer 1.
Use use(uint32_t speed, std::optional<uint32_t> total) {
  Use out;
  out.link = {speed, 30, 9000, kMaxMtu};
  out.prio2buffer[3] = 1;
  out.lossless = PrioSet{0x08};
  out.total = total;
  return out;
}

uint64_t sum(const Buffers& sizes) { return std::accumulate(sizes.bytes.begin(), sizes.bytes.end(), uint64_t{0}); }

TEST(Objection, NamesTheBufferAndWhatItNeeds) {
  const Use roce = use(400'000, 524'032);
  EXPECT_EQ(objection(roce, {.bytes = {100'000, 180'586}}), "");
  EXPECT_EQ(objection(roce, {.bytes = {100'000, 180'585}}),
            "buffer 1 needs 180586 bytes for 400000 Mb/s, 30 m, MTU 9000; 180585 are too few");
  EXPECT_TRUE(test::has(objection(use(0, {}), {.bytes = {100'000, 30'000}}), "down"));
}

TEST(Objection, APriorityInABufferWithoutBytesWouldLoseAll) {
  EXPECT_EQ(objection(use(100'000, {}), {.bytes = {0, 200'000}}),
            "priority 0 maps to buffer 0, which has no bytes: all its frames would be lost");
}

TEST(Objection, AllTogetherMustFit) {
  EXPECT_EQ(objection(use(100'000, 300'000), {.bytes = {100'000, 200'000}}), "");
  EXPECT_EQ(objection(use(100'000, 300'000), {.bytes = {100'001, 200'000}}),
            "the buffers take 300001 bytes together, the port has 300000");
}

TEST(Automatic, TheLosslessGetTheirMinimumAndTheOthersTheRest) {
  for (uint32_t speed : {100'000u, 200'000u, 400'000u}) {
    const Use roce = use(speed, 524'032);
    auto sizes = automatic(roce, {.bytes = {524'032}});
    ASSERT_TRUE(sizes.ok()) << sizes.error().text();
    EXPECT_GE(sizes->bytes[1], minimum(roce.link));
    EXPECT_LE(sizes->bytes[1], minimum(roce.link) + 3 * kMaxMtu) << "no more than it needs";
    EXPECT_LE(sum(*sizes), 524'032u);
    EXPECT_GT(sum(*sizes), 520'000u) << "nothing lies idle";
    EXPECT_EQ(sizes->bytes[2], 0u) << "no priority maps there";
    EXPECT_FALSE(sizes->automatic);
  }
}

// Newer cards keep most of it in a pool outside of the eight.
TEST(Automatic, WhatStandsOutsideOfTheBuffersStaysThere) {
  const Use roce = use(100'000, 1'027'728);
  const Buffers shipped{.bytes = {20'016, 156'096}};
  auto sizes = automatic(roce, shipped);
  ASSERT_TRUE(sizes.ok());
  EXPECT_LE(sum(*sizes), sum(shipped));
  const Use fast = use(800'000, 1'027'728);
  sizes = automatic(fast, shipped);
  ASSERT_TRUE(sizes.ok());
  EXPECT_GT(sizes->bytes[1], minimum(fast.link)) << "taken from there where it must be";
  EXPECT_LT(sum(*sizes), 400'000u);
}

TEST(Automatic, SaysWithNumbersWhatDoesNotFit) {
  auto sizes = automatic(use(800'000, 262'016), {.bytes = {262'016}});
  ASSERT_FALSE(sizes.ok());
  EXPECT_EQ(sizes.error().code, 0);
  for (const char* number : {"800000 Mb/s, 30 m, MTU 9000", "1 lossless", "262016"})
    EXPECT_TRUE(test::has(sizes.error().what, number));
  sizes = automatic(use(0, 524'032), {});
  ASSERT_FALSE(sizes.ok());
  EXPECT_TRUE(test::has(sizes.error().what, "link is down"));
}

// Any port: what comes out is never objected to, needs no rounding on cells of 128, 144 or 288 bytes, and is the answer
// again when it is what stands.
TEST(Automatic, IsAcceptableAndItsOwnAnswer) {
  std::mt19937 random(3);
  auto pick = [&](unsigned count) { return static_cast<uint32_t>(random() % count); };
  unsigned fitted = 0;
  for (int i = 0; i < 2000; ++i) {
    Use port;
    constexpr uint32_t kSpeeds[]{10'000, 25'000, 100'000, 200'000, 400'000, 800'000};
    port.link = {kSpeeds[pick(6)], 1 + pick(300), 1500 + pick(8000), 9000 + pick(2000)};
    for (auto& buffer : port.prio2buffer) buffer = static_cast<uint8_t>(pick(8));
    port.lossless = PrioSet{static_cast<uint8_t>(random())};
    if (pick(4)) port.total = 200'000 + pick(3'000'000);
    Buffers now;
    for (auto& bytes : now.bytes) bytes = pick(port.total.value_or(1'000'000) / 8);
    auto sizes = automatic(port, now);
    if (!sizes) continue;
    ++fitted;
    EXPECT_EQ(objection(port, *sizes), "");
    for (uint32_t bytes : sizes->bytes) EXPECT_TRUE(bytes % 128 == 0 && bytes % 288 == 0) << bytes;
    auto again = automatic(port, *sizes);
    ASSERT_TRUE(again.ok());
    EXPECT_EQ(again->bytes, sizes->bytes);
  }
  EXPECT_GT(fitted, 500u);
}

}  // namespace
}  // namespace fabric::headroom
