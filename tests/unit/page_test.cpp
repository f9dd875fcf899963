// SPDX-License-Identifier: Apache-2.0
// What a page is made of anew each time, and what is kept from the one before.
#include "exporter/page.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>

#include "support/slow_nics.h"

namespace fabric::exporter {
namespace {

using namespace std::chrono_literals;

class Paging {
 public:
  Paging() : wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), collector_(collecting(), wake_.get()) { settle(); }

  // As it is shown when all has been read again.
  std::string page(const PageContext& context = {}) {
    collector_.refresh();
    settle();
    return *cache_.plain(collector_, context);
  }
  test::SlowNics nics;
  PageCache& cache() { return cache_; }
  Collector& collector() { return collector_; }
  void settle() {
    const auto end = Clock::now() + 20s;
    while ((!collector_.complete() || collector_.busy()) && Clock::now() < end) {
      pollfd waiting{wake_.get(), POLLIN, 0};
      ::poll(&waiting, 1, 10);
    }
    ASSERT_TRUE(collector_.complete() && !collector_.busy());
  }

 private:
  CollectorOptions collecting() const {
    CollectorOptions out;
    out.root = nics.tree.path();
    out.stuck = 30s;  // a slow machine is not a stuck device
    out.open = nics.open();
    return out;
  }
  Fd wake_;
  Collector collector_;
  PageCache cache_;
};

bool has(const std::string& page, const std::string& text) { return page.find(text) != std::string::npos; }

const std::string kDown = "fabric_check_status{check=\"port-state\",subject=\"mlx5_0/1\"} 1\n";  // its twin is up

TEST(Page, WhatWasFoundIsKeptUntilThereIsAReason) {
  Paging paging;
  paging.nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  (void)paging.page();
  ASSERT_TRUE(has(paging.page(), kDown));
  PageContext acknowledged;
  acknowledged.acks = {{"port-state", "mlx5_0/*", 0, 1000, "", ""}};
  acknowledged.wall = 10;
  const std::string mark = "fabric_check_acknowledged{check=\"port-state\"";
  EXPECT_FALSE(has(paging.page(acknowledged), mark)) << "not judged anew with each page";
  paging.cache().judge_anew();
  EXPECT_TRUE(has(paging.page(acknowledged), mark));
}

TEST(Page, CountersAreNewWhateverIsKept) {
  Paging paging;
  (void)paging.page();
  (void)paging.page();
  paging.nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent", "18\n");
  EXPECT_TRUE(has(paging.page(), "fabric_rdma_cnp_sent_total{device=\"mlx5_0\",port=\"1\"} 18\n"));
}

TEST(Page, ALinkThatGoesDownIsJudgedWithTheNextPage) {
  Paging paging;
  (void)paging.page();
  ASSERT_FALSE(has(paging.page(), kDown));
  paging.nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  EXPECT_TRUE(has(paging.page(), kDown));
}

TEST(Page, WhatTheAgentDidIsJudgedWithTheNextPage) {
  Paging paging;
  const std::string fault = "fabric_check_status{check=\"agent\",subject=\"host\"} 1\n";
  (void)paging.page();
  ASSERT_FALSE(has(paging.page(), fault));
  paging.nics.tree.file("run/fabric-agent/state.toml", "mode = \"enforce\"\nupdated = \"2026-11-21T10:00:00Z\"\n");
  EXPECT_TRUE(has(paging.page(), fault)) << "it does not run";
}

TEST(Page, TheSecondPageKnowsWhatRoseSinceTheFirst) {
  Paging paging;
  EXPECT_FALSE(has(paging.page(), "fabric_diagnosis{"));
  EXPECT_TRUE(has(paging.page(), "fabric_diagnosis{device=\"mlx5_0\""));
}

TEST(Page, ADeviceThatIsReadAnewOrGoneIsNews) {
  Paging paging;
  const uint64_t before = paging.collector().snapshot().news;
  paging.collector().refresh();
  paging.settle();
  EXPECT_EQ(paging.collector().snapshot().news, before) << "counters are none";
  paging.collector().rescan();
  paging.settle();
  EXPECT_GE(paging.collector().snapshot().news, before + 2) << "two devices";
}

}  // namespace
}  // namespace fabric::exporter
