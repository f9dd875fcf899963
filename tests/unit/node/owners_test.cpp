// SPDX-License-Identifier: Apache-2.0
#include "node/telemetry.h"
#include "support/sim_rdma.h"
#include "support/test.h"

namespace fabric {
namespace {

using Counts = std::vector<ResourceCount>;
using std::chrono::minutes;
using std::chrono::seconds;

// RDMA netlink with so many objects of each kind, a message each, or an errno.
class Objects final : public Netlink {
 public:
  std::map<std::string, nldev::Owners> have{{"qp", {2, 1}}, {"cq", {1, 1}}, {"mr", {4, 0}}};
  std::map<std::string, int> failure, asked;
  std::chrono::milliseconds takes{0};

  Result<std::vector<Message>> talk(uint16_t, uint16_t, View8) override { return error(EPROTO, "not as a whole"); }
  Result<void> dump(uint16_t type, View8, std::chrono::milliseconds patience, const Take& take) override {
    for (const test::ResourceKind& each : test::kResourceKinds) {
      if (RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, each.command) != type) continue;
      ++asked[each.name];
      EXPECT_GT(patience.count(), 0);
      for (uint64_t i = 0; i < have[each.name].user + have[each.name].kernel; ++i) {
        AttrWriter table, out;
        table.nest(each.entry, test::resource_entry(i < have[each.name].kernel));
        take(type, out.u32(RDMA_NLDEV_ATTR_DEV_INDEX, 4).nest(each.table, table).data());
      }
      if (takes.count() > 0) {
        const auto end = std::chrono::steady_clock::now() + std::min(takes, patience);
        while (std::chrono::steady_clock::now() < end) {
        }
        if (takes > patience) return error(ETIMEDOUT, "simulated");
      }
      return failure[each.name] != 0 ? Result<void>(error(failure[each.name], "simulated")) : Result<void>();
    }
    return error(EINVAL, "simulated");
  }
  // As the summary gives them.
  Counts totals() {
    Counts out{{"ctx", "", 1}};
    for (const test::ResourceKind& each : test::kResourceKinds)
      out.push_back({each.name, "", have[each.name].user + have[each.name].kernel});
    return out;
  }
  int asked_in_all() const {
    int sum = 0;
    for (const auto& [name, times] : asked) sum += times;
    return sum;
  }
};

class Owners : public testing::Test {
 protected:
  // What is shown after a reading at that time from the start; the failure, if any, in `failed`.
  Counts read_at(std::chrono::milliseconds time) {
    Counts counts = rdma.totals();
    auto done = reader.read(rdma, device, counts, start + time);
    failed = done ? 0 : done.error().code;
    const size_t totals = counts.size();
    reader.add_to(counts);
    return {counts.begin() + static_cast<ptrdiff_t>(totals), counts.end()};
  }

  Objects rdma;
  OwnerReader reader;
  uint32_t device = 4;
  int failed = 0;
  const OwnerReader::Clock::time_point start = OwnerReader::Clock::now();
};

const Counts kAll{{"qp", "user", 2},   {"qp", "kernel", 1}, {"cq", "user", 1},
                  {"cq", "kernel", 1}, {"mr", "user", 4},   {"mr", "kernel", 0}};

TEST_F(Owners, StandBesideTheTotals) {
  EXPECT_EQ(read_at(seconds(0)), kAll);
  EXPECT_EQ(failed, 0);
  Counts none;
  reader.add_to(none);
  EXPECT_TRUE(none.empty()) << "without a total there is no part of it";
}

TEST_F(Owners, AreReadAgainWhenTheCountHasChangedAndOnceAMinute) {
  read_at(seconds(0));
  rdma.have["qp"] = {7, 1};
  EXPECT_EQ(read_at(seconds(59)), kAll);
  EXPECT_EQ(rdma.asked_in_all(), 3);
  EXPECT_EQ(read_at(seconds(60)).front(), (ResourceCount{"qp", "user", 7}));
  EXPECT_EQ(rdma.asked, (std::map<std::string, int>{{"qp", 2}, {"cq", 1}, {"mr", 1}})) << "the others are as they were";
  read_at(minutes(9));
  EXPECT_EQ(rdma.asked_in_all(), 4);
  rdma.have["cq"] = {0, 2};
  EXPECT_EQ(read_at(minutes(10))[2], (ResourceCount{"cq", "user", 0}))
      << "one instead of another: seen after ten minutes";
  EXPECT_EQ(rdma.asked, (std::map<std::string, int>{{"qp", 2}, {"cq", 2}, {"mr", 2}}));
}

TEST_F(Owners, WhatTheKernelCannotTellIsAbsentAndNoFailure) {
  for (int code : {EOPNOTSUPP, EINVAL, ETIMEDOUT}) {
    device = static_cast<uint32_t>(code);
    rdma.failure["qp"] = code;
    EXPECT_EQ(read_at(seconds(0)), Counts(kAll.begin() + 2, kAll.end())) << code;
    EXPECT_EQ(failed, 0);
  }
}

TEST_F(Owners, AFailureIsSaidUntilItIsTriedAgain) {
  read_at(seconds(0));
  rdma.have["cq"] = {5, 5};
  rdma.failure["cq"] = EIO;
  std::vector<int> tried;
  for (int time = 1; time <= 60; ++time) {
    const int before = rdma.asked["cq"];
    EXPECT_EQ(read_at(minutes(time)).size(), 4u) << "what was known before is no answer";
    EXPECT_EQ(failed, EIO);
    if (rdma.asked["cq"] > before) tried.push_back(time);
  }
  EXPECT_EQ(tried, (std::vector<int>{1, 2, 4, 8, 16, 26, 36, 46, 56}));
  rdma.failure.clear();
  EXPECT_EQ(read_at(minutes(66))[2], (ResourceCount{"cq", "user", 5}));
  EXPECT_EQ(failed, 0);
}

TEST_F(Owners, OfAnotherDeviceIsReadAtOnce) {
  read_at(seconds(0));
  device = 5;
  read_at(seconds(1));
  EXPECT_EQ(rdma.asked_in_all(), 6);
}

TEST_F(Owners, AReadingWaitsForThemOnlySoLong) {
  rdma.takes = std::chrono::milliseconds(350);
  EXPECT_TRUE(read_at(seconds(0)).empty());
  EXPECT_EQ(rdma.asked_in_all(), 1) << "one used it up";
  EXPECT_EQ(failed, 0);
  rdma.takes = std::chrono::milliseconds(0);
  EXPECT_EQ(read_at(seconds(5)), Counts(kAll.begin() + 2, kAll.end())) << "the others come with the next reading";
  read_at(seconds(59));
  EXPECT_EQ(rdma.asked["qp"], 1);
  EXPECT_EQ(read_at(seconds(60)), kAll);
}

}  // namespace
}  // namespace fabric
