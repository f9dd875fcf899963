// SPDX-License-Identifier: Apache-2.0
// Who runs the exporter's event loop while a reading hangs: a real loop with a real HTTP server, and NICs that hang on
// demand.
#include "exporter/loop_turn.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "exporter/collect/collector.h"
#include "exporter/http/listen.h"
#include "exporter/http/page.h"
#include "exporter/http/server.h"
#include "support/slow_nics.h"

namespace fabric::exporter {
namespace {

using namespace std::chrono_literals;

struct FreeLoop {
  void operator()(sd_event* loop) const { ::sd_event_unref(loop); }
};
std::unique_ptr<sd_event, FreeLoop> new_loop() {
  sd_event* loop = nullptr;
  EXPECT_GE(::sd_event_new(&loop), 0);
  return std::unique_ptr<sd_event, FreeLoop>(loop);
}

bool eventually(const std::function<bool()>& done) {
  for (const auto end = Clock::now() + 20s; Clock::now() < end; std::this_thread::sleep_for(2ms))
    if (done()) return true;
  return false;
}

TEST(LoopTurn, AReadingThatIsAskedForByWhatAnotherBroughtNeedsNoEvent) {
  auto loop = new_loop();
  Fd wake(::eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));  // one event, and no other
  sd_event_source* source = nullptr;
  ASSERT_GE(
      ::sd_event_add_io(
          loop.get(), &source, wake.get(), EPOLLIN,
          [](sd_event_source* self, int, uint32_t, void*) { return ::sd_event_source_set_enabled(self, SD_EVENT_OFF); },
          nullptr),
      0);
  int left = 3, read = 0;
  const auto read_once = [&] {
    ++read;
    return true;
  };
  const auto done = [&] {
    if (--left == 0) ::sd_event_exit(loop.get(), 7);
  };
  const auto turn =
      std::make_shared<LoopTurn>(loop.get(), LoopTurn::Steps{[&] { return left > 0; }, read_once, done}, wake.get());
  EXPECT_EQ(turn->run(), 7);
  EXPECT_EQ(read, 3);
  ::sd_event_source_unref(source);
}

// As the exporter: a page of two NICs, read anew for each scrape.
class Serving : public Site {
 public:
  explicit Serving(const test::SlowNics& nics)
      : loop_(new_loop()),
        wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    add_source(wake_, on_wake);
    add_source(stop_, on_stop);
    turn_ = std::make_shared<LoopTurn>(
        loop_.get(),
        LoopTurn::Steps{[this] { return std::exchange(asked_, false); }, [this] { return read(); }, [this] { done(); }},
        wake_.get());
    CollectorOptions options;
    options.root = nics.tree.path();
    options.stuck = 200ms;
    options.open = nics.open();
    options.overdue = [turn = turn_] { turn->overdue(); };
    collector_ = std::make_unique<Collector>(std::move(options), wake_.get());
    auto listener = listen_on(*parse_address("127.0.0.1:0"));
    sockaddr_in address{};
    socklen_t size = sizeof address;
    ::getsockname(listener->get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
    std::vector<Fd> listeners;
    listeners.push_back(std::move(*listener));
    Limits limits;
    limits.patience = 1s;
    server_ = std::move(*Server::start(loop_.get(), std::move(listeners), *this, limits));
  }
  int run() {
    first_ = std::this_thread::get_id();
    return turn_->run();
  }
  void stop() const {
    const uint64_t one = 1;
    ASSERT_EQ(::write(stop_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }

  bool fresh() override {
    asked_ = true;
    return false;
  }
  Body metrics(bool) override {
    if (std::this_thread::get_id() == first_) ++by_first;
    else ++by_others;
    return cache_.plain(*collector_, {});
  }
  bool ready() override { return collector_->complete(); }

  [[nodiscard]] std::string get(const std::string& path) const {
    Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const auto address = parse_address("127.0.0.1:" + std::to_string(port_));
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address->storage), address->size), 0);
    const std::string request = "GET " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    EXPECT_EQ(::send(fd.get(), request.data(), request.size(), MSG_NOSIGNAL), static_cast<ssize_t>(request.size()));
    std::string out;
    std::array<char, 65536> buffer{};
    for (pollfd waiting{fd.get(), POLLIN, 0}; ::poll(&waiting, 1, 20'000) > 0;) {
      const ssize_t size = ::recv(fd.get(), buffer.data(), buffer.size(), 0);
      if (size <= 0) break;
      out.append(buffer.data(), static_cast<size_t>(size));
    }
    return out;
  }
  std::atomic<int> by_first{0}, by_others{0}, whole{0};

 private:
  void add_source(const Fd& fd, sd_event_io_handler_t handler) {
    EXPECT_GE(::sd_event_add_io(loop_.get(), nullptr, fd.get(), EPOLLIN, handler, this), 0);
  }
  static int on_wake(sd_event_source*, int fd, uint32_t, void* self) {
    uint64_t count = 0;
    EXPECT_GT(::read(fd, &count, sizeof count), 0);
    static_cast<Serving*>(self)->done();
    return 0;
  }
  static int on_stop(sd_event_source*, int, uint32_t, void* self) {
    return ::sd_event_exit(static_cast<Serving*>(self)->loop_.get(), 0);
  }
  bool read() {
    const bool all = collector_->read_here();
    whole += all ? 1 : 0;
    return all;
  }
  void done() {
    if (!collector_->busy()) server_->release();
  }

  std::unique_ptr<sd_event, FreeLoop> loop_;
  Fd wake_, stop_;
  std::shared_ptr<LoopTurn> turn_;
  std::unique_ptr<Collector> collector_;
  bool asked_ = false;
  std::atomic<std::thread::id> first_{};
  PageCache cache_;
  uint16_t port_ = 0;
  std::unique_ptr<Server> server_;
};

void say_cnps(test::SlowNics& nics, int count) {
  for (const char* device : {"mlx5_0", "mlx5_1"})
    nics.tree.file(std::string("sys/class/infiniband/") + device + "/ports/1/hw_counters/np_cnp_sent",
                   std::to_string(count) + "\n");
}
bool shows(const std::string& page, int device, int cnps) {
  return page.find("\nfabric_rdma_cnp_sent_total{device=\"mlx5_" + std::to_string(device) + "\",port=\"1\"} " +
                   std::to_string(cnps) + "\n") != std::string::npos;
}

// Hangs mlx5_1 in a reading of the loop's thread; the page of then, empty where it could not be had. A NIC that was
// slow before, on a busy machine, is read by a thread of its own, and trusted again.
std::string page_while_it_hangs(test::SlowNics& nics, Serving& serving, int& cnps) {
  for (int i = 0; i < 20; ++i) {
    const int whole = serving.whole, others = serving.by_others;
    if (!eventually([&] { return (void)serving.get("/metrics"), serving.whole > whole; })) return {};
    nics.statistics->hang("eth3");
    say_cnps(nics, ++cnps);
    std::string page = serving.get("/metrics");
    if (serving.by_others > others && nics.statistics->is_waiting("eth3")) return page;
    nics.statistics->answer("eth3");
    if (!eventually([&] { return shows(serving.get("/metrics"), 1, cnps); })) return {};
  }
  return {};
}

// Ends what it serves, whatever a test found.
class Running {
 public:
  explicit Running(test::SlowNics& nics) : nics_(nics), serving_(nics), thread_([this] { serving_.run(); }) {
    EXPECT_TRUE(eventually([&] { return serving_.get("/-/ready").starts_with("HTTP/1.1 200"); }));
    EXPECT_TRUE(eventually([&] { return (void)serving_.get("/metrics"), serving_.whole > 0; }))
        << "quick NICs are read by the thread of the loop";
  }
  ~Running() {
    for (const char* netdev : {"eth2", "eth3"}) nics_.statistics->answer(netdev);
    serving_.stop();
    thread_.join();
  }
  Serving& serving() { return serving_; }

 private:
  test::SlowNics& nics_;
  Serving serving_;
  std::thread thread_;
};

TEST(LoopTurn, WhatHangsLosesTheLoopAndNobodyWaitsForIt) {
  test::SlowNics nics;
  Running running(nics);
  Serving& serving = running.serving();
  int cnps = 17;
  const std::string page = page_while_it_hangs(nics, serving, cnps);
  ASSERT_NE(page, "") << "another thread has answered";
  EXPECT_TRUE(shows(page, 0, cnps)) << "the other is read";
  EXPECT_TRUE(shows(page, 1, cnps - 1)) << "what was known of it stands";
  EXPECT_TRUE(serving.get("/-/healthy").starts_with("HTTP/1.1 200"));

  nics.statistics->hang("eth2");  // the next thread goes the same way
  EXPECT_TRUE(shows(serving.get("/metrics"), 0, cnps));
  EXPECT_TRUE(nics.statistics->is_waiting("eth2"));
  EXPECT_TRUE(serving.get("/-/healthy").starts_with("HTTP/1.1 200"));

  say_cnps(nics, ++cnps);
  for (const char* netdev : {"eth2", "eth3"}) nics.statistics->answer(netdev);
  EXPECT_TRUE(eventually([&] {
    const std::string now = serving.get("/metrics");
    return shows(now, 0, cnps) && shows(now, 1, cnps);
  }));
  const int before = serving.whole;  // whole: read by the loop's thread
  EXPECT_TRUE(eventually([&] { return (void)serving.get("/metrics"), serving.whole > before; }))
      << "and they are trusted again";
}

TEST(LoopTurn, WhatEndedInAnotherThreadIsTheEndOfTheFirstAsWell) {
  test::SlowNics nics;
  {
    Running running(nics);
    int cnps = 17;
    ASSERT_NE(page_while_it_hangs(nics, running.serving(), cnps), "");
    nics.statistics->answer("eth3");
    ASSERT_TRUE(eventually([&] { return !nics.statistics->is_waiting("eth3"); }));
  }  // joins the first thread
}

TEST(LoopTurn, TheProgramEndsAlthoughItsFirstThreadHangs) {
  const auto end_while_it_hangs = [] {
    test::SlowNics nics;
    Serving serving(nics);
    bool late = false;  // a machine so slow that another thread had the loop before
    std::thread client([&] {
      if (!eventually([&] { return serving.get("/-/ready").starts_with("HTTP/1.1 200"); })) ::_exit(2);
      if (!eventually([&] { return (void)serving.get("/metrics"), serving.whole > 0; })) ::_exit(2);
      late = serving.by_others > 0;
      int cnps = 17;
      if (page_while_it_hangs(nics, serving, cnps).empty()) ::_exit(3);
      serving.stop();
    });
    client.detach();
    serving.run();
    ::_exit(late ? 0 : 4);
  };
  EXPECT_EXIT(end_while_it_hangs(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace fabric::exporter
