// SPDX-License-Identifier: Apache-2.0
// What a page is made of anew each time, and what is kept from the one before.
#include "exporter/http/page.h"

#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>

#include "exporter/http/self.h"
#include "support/running_collector.h"

namespace fabric::exporter {
namespace {

using test::has;
using test::RunningCollector;

using namespace std::chrono_literals;

// What a scraper or a person sees.
class Paging {
 public:
  // As it is shown when all has been read again.
  std::string page(const PageContext& context = {}) {
    running.refresh();
    return *cache.page(*running, context);
  }
  void take_down() { nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n"); }

  test::SlowNics nics;
  RunningCollector running{test::collector_options(nics)};
  PageCache cache;
};

// The value of the series without labels.
double value_of(const std::string& page, const std::string& name) {
  return test::value(page, name).value_or(std::nan(""));
}

// Of /proc/self/status, in kB.
double status_of(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ':')) return std::strtod(line.c_str() + field.size() + 1, nullptr);
  return std::nan("");
}

TEST(Page, TellsWhatTheProcessCosts) {
  Paging paging;
  const std::string first = paging.page();
  EXPECT_NEAR(value_of(first, "process_resident_memory_bytes"), status_of("VmRSS") * 1024, 16 << 20);
  EXPECT_NEAR(value_of(first, "process_virtual_memory_bytes"), status_of("VmSize") * 1024, 64 << 20);
  struct stat born {};
  ASSERT_EQ(::stat("/proc/self", &born), 0);
  EXPECT_NEAR(value_of(first, "process_start_time_seconds"), static_cast<double>(born.st_ctime), 60);
  EXPECT_LE(value_of(first, "process_start_time_seconds"), static_cast<double>(::time(nullptr)) + 1);
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_EQ(value_of(first, "process_max_fds"), static_cast<double>(limit.rlim_cur));
  std::vector<Fd> held;
  for (int i = 0; i < 100; ++i) held.emplace_back(::dup(0));
  const auto used = [] { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; };
  const double until = used() + 0.05;
  while (used() < until) {
  }
  const std::string second = paging.page();
  EXPECT_NEAR(value_of(second, "process_open_fds") - value_of(first, "process_open_fds"), 100, 8)
      << "readers hold some";
  EXPECT_GE(value_of(second, "process_cpu_seconds_total"), value_of(first, "process_cpu_seconds_total") + 0.05);
  EXPECT_LE(value_of(second, "process_cpu_seconds_total"), used() + 0.001);
}

const std::string kDown = "fabric_check_status{check=\"port-state\",subject=\"mlx5_0/1\"} 1\n";  // its twin is up

// Somebody knows of the port that is down.
PageContext acknowledging() {
  PageContext out;
  out.acks = {{"port-state", "mlx5_0/*", 0, 1000, "", ""}};
  out.wall = 10;
  return out;
}

TEST(Page, WhatWasFoundIsKeptUntilThereIsAReason) {
  Paging paging;
  paging.take_down();
  (void)paging.page();
  ASSERT_TRUE(has(paging.page(), kDown));
  const PageContext acknowledged = acknowledging();
  const std::string mark = "fabric_check_acknowledged{check=\"port-state\"";
  EXPECT_FALSE(has(paging.page(acknowledged), mark)) << "not judged anew with each page";
  paging.cache.drop_findings();
  EXPECT_TRUE(has(paging.page(acknowledged), mark));
}

// fabric-exporter publishes it every ten seconds.
TEST(Page, AReportIsThereWithoutAScrape) {
  Paging paging;
  paging.take_down();
  const PageContext context = acknowledging();
  (void)paging.page();
  const Report* report = paging.cache.refresh(*paging.running, paging.running->snapshot(), context);
  ASSERT_NE(report, nullptr);
  const auto down = std::ranges::find(report->findings, "port-state", &Finding::id);
  ASSERT_NE(down, report->findings.end());
  EXPECT_TRUE(down->acknowledged) << "computed anew";
  EXPECT_NE(down->observed, "");
}

// An alert looks for it: without it, what somebody knows of would page him on the largest machines.
TEST(Page, AnAcknowledgementIsNotLeftOutForWantOfRoom) {
  Paging paging;
  paging.take_down();
  Policy policy;
  PageContext context = acknowledging();
  context.policy = &policy;
  const double all = value_of(paging.page(context), "fabric_series");
  policy.series_limit = static_cast<unsigned>(all + double{kSeriesOfSeries}) - 1;
  const std::string page = paging.page(context);
  EXPECT_GE(value_of(page, "fabric_series_dropped{reason=\"limit\"}"), 1);
  EXPECT_TRUE(has(page, "fabric_check_acknowledged{check=\"port-state\""));
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
  paging.take_down();
  EXPECT_TRUE(has(paging.page(), kDown));
}

TEST(Page, WhatTheAgentDidIsJudgedWithTheNextPage) {
  Paging paging;
  const std::string fault = "fabric_check_status{check=\"agent\",subject=\"host\"} 1\n";
  (void)paging.page();
  ASSERT_FALSE(has(paging.page(), fault));
  paging.nics.tree.file("run/fabric-agent/state.json",
                        R"({"format":1,"mode":"enforce","updated":"2026-11-21T10:00:00Z"})");
  EXPECT_TRUE(has(paging.page(), fault)) << "it does not run";
}

TEST(Page, ThePageForPeopleIsOfTheNewestReading) {
  Paging paging;
  const PageContext people{.landing = true};
  EXPECT_TRUE(has(paging.page(people), "<!DOCTYPE html>"));
  EXPECT_FALSE(has(paging.page(people), "DOWN"));
  paging.take_down();
  EXPECT_TRUE(has(paging.page(people), "DOWN"));
  EXPECT_TRUE(has(paging.page(people), "port-state")) << "with the check's text";
  EXPECT_TRUE(has(paging.page(), kDown)) << "beside the metrics";
  EXPECT_TRUE(has(paging.page(people), "<!DOCTYPE html>"));
}

// Otherwise an open browser would shorten the window of the scrapes, which then miss what was between.
TEST(Page, APersonWhoLooksIsNoScrape) {
  Paging paging;
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(has(paging.page({.landing = true}), "Not known yet: it compares"));
  EXPECT_FALSE(has(paging.page(), "fabric_diagnosis{"));
  EXPECT_FALSE(has(paging.page({.landing = true}), "Not known yet: it compares"));
}

TEST(Page, TheSecondPageKnowsWhatRoseSinceTheFirst) {
  Paging paging;
  EXPECT_FALSE(has(paging.page(), "fabric_diagnosis{"));
  EXPECT_TRUE(has(paging.page(), "fabric_diagnosis{device=\"mlx5_0\""));
}

// Prometheus was away for three hours: what was over two hours ago is no news, and what came just now is not thinned by
// them.
TEST(Page, WhatIsLongOverIsNotDiagnosedWhenScrapesComeAgain) {
  Paging paging;
  paging.nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/req_transport_retries_exceeded", "5\n");
  paging.running.rescan();
  const auto reading = [&](std::chrono::minutes ago, uint64_t given_up) {
    Node out = paging.running->snapshot().node;
    out.taken -= ago;
    for (Port& port : out.ports)
      for (Counter& counter : port.counters.hw)
        if (counter.name == "req_transport_retries_exceeded") counter.value = given_up;
    return out;
  };
  const auto culprit = [&](PageCache& cache) {
    paging.running.refresh();
    const std::string page = *cache.page(*paging.running, {}),
                      series = "fabric_diagnosis{device=\"mlx5_0\",port=\"1\",culprit=\"";
    const size_t at = page.find(series);
    return at == std::string::npos
               ? ""
               : page.substr(at + series.size(), page.find('"', at + series.size()) - at - series.size());
  };
  PageCache late;
  late.keep_up(*paging.running, reading(180min, 0));
  for (const auto ago : {120min, 60min, 8min, 4min}) late.keep_up(*paging.running, reading(ago, 5));
  EXPECT_EQ(culprit(late), "none");
  PageCache soon;
  for (const auto ago : {180min, 120min, 8min, 4min}) soon.keep_up(*paging.running, reading(ago, 0));
  EXPECT_NE(culprit(soon), "none") << "who comes every five minutes still sees all";
  EXPECT_NE(culprit(soon), "");
}

CollectorOptions soon_stuck(const test::SlowNics& nics) {
  CollectorOptions options = test::collector_options(nics);
  options.stuck = 1ms;
  return options;
}

// The GPUs would seem to have no NIC but those that were read first.
TEST(Page, HalfAMachineIsNotJudged) {
  test::SlowNics nics;
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n");
  nics.statistics->hang("eth2");
  RunningCollector collector(soon_stuck(nics));  // nobody waits for the other NIC any more
  const auto half = [&](const RunningCollector& of) {
    return nics.statistics->is_waiting("eth2") && of.node().ports.size() == 1;
  };
  collector.settle([&] { return half(collector); });
  PageCache cache;
  EXPECT_FALSE(has(*cache.page(*collector, {}), "fabric_check_status{"));
  nics.statistics->answer("eth2");
  collector.settle([&] { return collector->has_all(); });
  EXPECT_TRUE(has(*cache.page(*collector, {}), kDown));

  nics.statistics->hang("eth2");
  RunningCollector next(soon_stuck(nics));
  next.settle([&] { return half(next); });
  cache.restart();
  EXPECT_TRUE(has(*cache.page(*next, {}), kDown)) << "what was found before a reload stands";
  nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  nics.statistics->answer("eth2");
  next.settle([&] { return next->has_all(); });
  next->rescan();
  next.settle([&] { return !has(*cache.page(*next, {}), kDown); });
}

// Its firmware is dead: nobody knows whether it has symptoms.
TEST(Page, ADeviceThatHangsIsNotSaidToHaveNoSymptom) {
  test::SlowNics nics;
  RunningCollector collector(soon_stuck(nics));
  collector.settle([&] { return collector->has_all(); });
  nics.statistics->hang("eth2");
  collector->refresh();
  collector.settle([&] { return nics.statistics->is_waiting("eth2") && !collector->busy(); });
  PageCache cache;
  (void)cache.page(*collector, {});
  const auto seen = collector->version();
  std::string page;
  collector.settle([&] {  // on a busy machine the device that works may be late as well
    collector->refresh();
    page = *cache.page(*collector, {});
    return collector->version() > seen && has(page, "fabric_diagnosis{device=\"mlx5_1\",port=\"1\",culprit=\"none\"");
  });
  EXPECT_FALSE(has(page, "fabric_diagnosis{device=\"mlx5_0\""));
  nics.statistics->answer("eth2");
  collector.settle([&] {
    collector->refresh();
    cache.drop_findings();
    return has(*cache.page(*collector, {}), "fabric_diagnosis{device=\"mlx5_0\"");
  });
}

TEST(Page, ADeviceThatIsReadAnewOrGoneIsNews) {
  Paging paging;
  const uint64_t before = paging.running->snapshot().generation;
  paging.running.refresh();
  EXPECT_EQ(paging.running->snapshot().generation, before) << "counters are none";
  paging.running.rescan();
  EXPECT_GE(paging.running->snapshot().generation, before + 2) << "two devices";
}

}  // namespace
}  // namespace fabric::exporter
