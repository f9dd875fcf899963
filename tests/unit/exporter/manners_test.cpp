// SPDX-License-Identifier: Apache-2.0
// How the exporter behaves towards the machine and its scrapers: what is excluded is not touched, what hangs stalls
// itself alone, what refuses is left in peace, what is not known is not zero, and a page has an end.
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>

#include "support/running_collector.h"

namespace fabric::exporter {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using test::RunningCollector;

constexpr std::chrono::milliseconds kSampled = 10ms;

// Of the two NICs; with `interval`, sampled as often.
CollectorOptions options_of(const test::SlowNics& nics, std::shared_ptr<const Policy> policy = nullptr,
                            std::chrono::milliseconds interval = 0ms) {
  CollectorOptions out = test::collector_options(nics);
  out.policy = std::move(policy);
  out.sampling = {interval, 1, {}};
  return out;
}

TEST(Manners, APageOfHalfTheMachineIsNotWhatLaterOnesAreComparedWith) {
  test::SlowNics nics;
  nics.statistics->hang("eth3");
  RunningCollector exporting(options_of(nics), false);
  PageCache cache;
  exporting.settle([&] { return nics.statistics->is_waiting("eth3") && !exporting.node().ports.empty(); });
  ASSERT_EQ(cache.page(*exporting, {})->find("device=\"mlx5_1\",port"), std::string::npos);
  nics.statistics->answer("eth3");
  for (int page = 0; page < 2; ++page) {
    exporting.settle();
    (void)cache.page(*exporting, {});
    exporting->refresh();
  }
  exporting.settle();
  const std::string page = *cache.page(*exporting, {});
  EXPECT_TRUE(test::has(page, "fabric_diagnosis{device=\"mlx5_0\""));
  EXPECT_TRUE(test::has(page, "fabric_diagnosis{device=\"mlx5_1\""));
}

// Every opening and reading below a folder from now on, as the kernel tells.
class Watched {
 public:
  explicit Watched(const fs::path& folder) : fd_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    watch(folder);
    for (const auto& entry : fs::recursive_directory_iterator(folder))
      if (entry.is_directory() && !entry.is_symlink()) watch(entry.path());
    touched();  // by this walk
  }
  std::vector<std::string> touched() {
    std::vector<std::string> names;
    alignas(inotify_event) std::array<char, 64 * (sizeof(inotify_event) + NAME_MAX + 1)> buffer;
    for (ssize_t size = 0; (size = ::read(fd_.get(), buffer.data(), buffer.size())) > 0;)
      for (ssize_t at = 0; at < size;) {
        const auto* event = reinterpret_cast<const inotify_event*>(buffer.data() + at);
        names.push_back(folders_[event->wd] + "/" + (event->len > 0 ? event->name : ""));
        at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
      }
    return names;
  }

 private:
  void watch(const fs::path& folder) {
    folders_[::inotify_add_watch(fd_.get(), folder.c_str(), IN_OPEN | IN_ACCESS)] = folder.string();
  }
  Fd fd_;
  std::map<int, std::string> folders_;
};

TEST(Manners, AnExcludedDeviceIsNeverOpened) {
  test::SlowNics nics;
  auto policy = std::make_shared<Policy>();
  policy->exclude = {"mlx5_1*"};
  const fs::path pci = fs::path(nics.tree.path()) / "sys/devices/pci0000:16/0000:16:01.0";
  Watched excluded(pci / "0000:17:00.1/infiniband/mlx5_1"), other(pci / "0000:17:00.0/infiniband/mlx5_0");
  RunningCollector exporting(options_of(nics, policy, kSampled));
  exporting.refresh();
  exporting.rescan();
  exporting.settle([&] { return exporting->snapshot().sampled.at(0).age.has_value(); });
  EXPECT_EQ(exporting->snapshot().sampled.size(), 1u);
  EXPECT_FALSE(other.touched().empty()) << "this sees what is opened";
  EXPECT_EQ(excluded.touched(), std::vector<std::string>{});
  EXPECT_EQ(nics.statistics->asked("eth3"), 0u);
  EXPECT_FALSE(test::has(exporting.page(), "mlx5_1"));
  EXPECT_TRUE(test::has(exporting.page(), "mlx5_0"));
}

TEST(Manners, ADeviceThatHangsStallsNeitherTheScrapeNorTheOthers) {
  test::SlowNics nics;
  CollectorOptions options = options_of(nics);
  options.stuck = 100ms;
  RunningCollector exporting(std::move(options));
  const std::string age0 = "fabric_snapshot_age_seconds{device=\"mlx5_0\"}",
                    age1 = "fabric_snapshot_age_seconds{device=\"mlx5_1\"}";
  const std::string cnp0 = "fabric_rdma_cnp_sent_total{device=\"mlx5_0\",port=\"1\"}",
                    cnp1 = "fabric_rdma_cnp_sent_total{device=\"mlx5_1\",port=\"1\"}";
  ASSERT_EQ(exporting.value(cnp0), 17);
  nics.statistics->hang("eth2");
  for (const char* device : {"mlx5_0", "mlx5_1"})
    nics.tree.file(std::string("sys/class/infiniband/") + device + "/ports/1/hw_counters/np_cnp_sent", "18\n");
  exporting.refresh();
  EXPECT_TRUE(nics.statistics->is_waiting("eth2"));
  EXPECT_EQ(exporting.value(cnp1), 18) << "the other is read";
  EXPECT_EQ(exporting.value(cnp0), 17) << "what was known of it stands";
  EXPECT_EQ(exporting.value("fabric_collector_success{collector=\"reader\",device=\"mlx5_0\"}"), 0);
  exporting.refresh();
  const auto older = exporting.value(age0), younger = exporting.value(age1);
  ASSERT_TRUE(older && younger);
  EXPECT_GT(*older, *younger) << "and its age says how old that is";
  EXPECT_GE(*older, 0.1);
  nics.statistics->answer("eth2");
  exporting.settle([&] { return exporting.value(cnp0) == 18; });
  EXPECT_FALSE(exporting.value("fabric_collector_success{collector=\"reader\",device=\"mlx5_0\"}"));
}

// What is left of the program when the system gives it no more threads: nobody's limit counts those of all his
// processes.
bool can_start_no_thread() {
  const rlimit none{0, 0};
  return ::setrlimit(RLIMIT_NPROC, &none) == 0 && ::setresuid(65534, 65534, 65534) == 0;
}

TEST(Manners, WithoutThreadsItSaysSo) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to become somebody else";
  test::SlowNics nics;
  const auto without_threads = [&] {
    if (!can_start_no_thread()) return 2;
    Fd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    CollectorOptions options;
    options.root = nics.tree.path();
    const Collector collector(std::move(options), wake.get());
    const auto runs = collector.snapshot().runs;
    if (runs.size() != 1 || runs[0].collector != "readers" || runs[0].success ||
        runs[0].error.find("EAGAIN") == std::string::npos)
      return 3;
    return 0;
  };
  EXPECT_EXIT(::_exit(without_threads()), ::testing::ExitedWithCode(0), "");
}

TEST(Manners, AFifoAmongTheCountersIsNotWaitedFor) {
  test::SlowNics nics;
  const std::string folder = nics.tree.path() + "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/";
  ASSERT_EQ(::mkfifo((folder + "rp_cnp_handled").c_str(), 0644), 0);
  RunningCollector exporting(options_of(nics));
  exporting.refresh();
  EXPECT_EQ(exporting.value("fabric_rdma_cnp_sent_total{device=\"mlx5_0\",port=\"1\"}"), 17);
  EXPECT_FALSE(exporting.value("fabric_rdma_cnp_handled_total{device=\"mlx5_0\",port=\"1\"}"));
}

TEST(Manners, DescriptorsAreLeftForScrapers) {
  test::SlowNics nics;
  for (int i = 0; i < 400; ++i)
    nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/vendor_" + std::to_string(i), "1\n");
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{256, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  RunningCollector exporting(options_of(nics));
  exporting.refresh();
  std::vector<Fd> connections;
  for (int i = 0; i < 40; ++i) connections.emplace_back(::eventfd(0, EFD_CLOEXEC));
  EXPECT_TRUE(connections.back()) << "a scraper can connect";
  EXPECT_EQ(exporting.value("fabric_collector_success{collector=\"rdma\",device=\"mlx5_0\"}"), 1)
      << "files without a descriptor are opened for each reading";
  EXPECT_EQ(exporting.value("fabric_rdma_cnp_sent_total{device=\"mlx5_0\",port=\"1\"}"), 17);
  EXPECT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST(Manners, WhatRefusesIsLeftAloneForAWhileAndIsAbsent) {
  for (int code : {EPERM, EIO, ETIMEDOUT}) {
    test::SlowNics nics;
    nics.statistics->fail("eth2", code);
    RunningCollector exporting(options_of(nics));
    const unsigned asked = nics.statistics->asked("eth2");
    EXPECT_EQ(asked, 1u);
    for (int i = 0; i < 3; ++i) exporting.refresh();
    EXPECT_EQ(nics.statistics->asked("eth2"), asked) << code;
    exporting.rescan();
    exporting.refresh();
    EXPECT_EQ(nics.statistics->asked("eth2"), asked)
        << code << ": nor is it asked once a minute, when all else is read anew";
    EXPECT_EQ(exporting.value("fabric_collector_success{collector=\"ethtool\",device=\"mlx5_0\"}"), 0);
    EXPECT_EQ(exporting.value("fabric_collector_success{collector=\"ethtool\",device=\"mlx5_1\"}"), 1);
    EXPECT_FALSE(exporting.value("fabric_phy_discarded_packets_total{device=\"mlx5_0\",port=\"1\",direction=\"rx\"}"))
        << "absent, not zero";
    EXPECT_EQ(exporting.value("fabric_phy_discarded_packets_total{device=\"mlx5_1\",port=\"1\",direction=\"rx\"}"), 0);
    EXPECT_EQ(exporting.value("fabric_rdma_cnp_sent_total{device=\"mlx5_0\",port=\"1\"}"), 17) << "the rest is read";
  }
}

TEST(Manners, APageHasNoMoreSeriesThanItMay) {
  test::SlowNics nics;
  for (int i = 0; i < 200; ++i)
    nics.tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/vendor_" + std::to_string(i), "1\n");
  auto policy = std::make_shared<Policy>();
  policy->series_limit = 100;
  RunningCollector exporting(options_of(nics, policy));
  std::istringstream page(exporting.page());
  size_t series = 0;
  for (std::string line; std::getline(page, line);) series += line.front() == '#' ? 0 : 1;
  EXPECT_EQ(series, 100u) << "three of them say so";
  EXPECT_GT(exporting.value("fabric_series_dropped{reason=\"limit\"}").value_or(0), 100);
  EXPECT_TRUE(exporting.value("fabric_port_up{device=\"mlx5_1\",port=\"1\"}")) << "what matters most is there";
}

// Two scrapers at once: each sees the same peak, and the page is whole.
TEST(Manners, NoScraperTakesAPeakFromAnother) {
  test::SlowNics nics;
  auto policy = std::make_shared<Policy>();
  policy->published.groups = {SeriesGroup::bursts};
  RunningCollector exporting(options_of(nics, policy, kSampled));
  const std::string peak = "fabric_burst_events_per_second_peak{device=\"mlx5_0\",port=\"1\",event=\"rx_discards\"}";
  exporting.settle([&] {
    const auto bursts = exporting->snapshot().bursts;
    return bursts.size() == 2 && bursts[0].record.events[static_cast<size_t>(BurstEvent::rx_discards)].seen;
  });
  EXPECT_FALSE(exporting.value(peak));
  nics.statistics->set("eth2", "rx_discards_phy", 1'000'000);
  exporting.settle([&] { return exporting.value(peak).has_value(); });
  const auto first = exporting.value(peak), second = exporting.value(peak);
  EXPECT_GT(first.value_or(0), 0);
  EXPECT_EQ(first, second);
}

}  // namespace
}  // namespace fabric::exporter
