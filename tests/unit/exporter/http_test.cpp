// SPDX-License-Identifier: Apache-2.0
// The HTTP side: input of strangers, validated by pure functions, and the real server on loopback. The file of TLS
// settings and users; certificates are tested in tests/integration/tls.
#include "exporter/http/http.h"

#include <crypt.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <zlib.h>

#include "exporter/http/access.h"
#include "exporter/http/connections.h"
#include "exporter/http/page.h"
#include "exporter/http/server.h"
#include "support/tcp.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::exporter {
namespace {

using test::has;
using test::receive;
using test::send_text;
using test::Tree;

// -- Requests, and the server

TEST(Endpoint, PathsAreExact) {
  EXPECT_EQ(endpoint_of("/metrics"), Endpoint::metrics);
  EXPECT_EQ(endpoint_of("/"), Endpoint::landing);
  EXPECT_EQ(endpoint_of("/-/healthy"), Endpoint::healthy);
  EXPECT_EQ(endpoint_of("/-/ready"), Endpoint::ready);
  EXPECT_EQ(endpoint_of("http://node7:10479/metrics"), Endpoint::metrics);
  EXPECT_EQ(endpoint_of("http://[::1]:10479"), Endpoint::landing);
  EXPECT_EQ(endpoint_of("http://node7:10479/metrics/x"), Endpoint::not_found);
  for (const char* path : {"/metrics/", "/metrics/x", "/Metrics", "//metrics", "/../../etc/passwd", "", "/-/"})
    EXPECT_EQ(endpoint_of(path), Endpoint::not_found) << path;
}

TEST(AcceptEncoding, IsReadAsTheStandardSays) {
  for (const char* yes :
       {"gzip", "gzip, deflate", "deflate;q=0.5, GZIP;q=0.3", "*", "x-gzip", "br;q=1.0, gzip;q=0.001", " gzip ; q=1 "})
    EXPECT_TRUE(accepts_gzip(yes)) << yes;
  for (const char* no :
       {"", "identity", "gzip;q=0", "gzip;q=0.000, *", "*;q=0", "deflate, br, zstd", "notgzip", "gzip2", ",;,=,"})
    EXPECT_FALSE(accepts_gzip(no)) << no;
}

TEST(Address, FamiliesAndFaults) {
  EXPECT_EQ(parse_listen_address("127.0.0.1:10479")->storage.ss_family, AF_INET);
  EXPECT_EQ(parse_listen_address("[::1]:0")->storage.ss_family, AF_INET6);
  EXPECT_EQ(parse_listen_address(":10479")->storage.ss_family, AF_INET6);
  for (const char* wrong : {"", "10479", "localhost:10479", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "::1:80",
                            "[::1:80", "[]:1", "[127.0.0.1]:1"})
    EXPECT_FALSE(parse_listen_address(wrong)) << wrong;
}

// From now on this process is on a kernel that was booted with ipv6.disable=1.
bool forget_ipv6() {
  constexpr auto kCall = offsetof(seccomp_data, nr), kFamily = offsetof(seccomp_data, args);
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kCall),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 3),
                          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFamily),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EAFNOSUPPORT),
                          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program{std::size(filter), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Address, BothFamiliesOfAKernelWithoutIpv6) {
  enum Outcome { kWell, kNotForgotten, kNoBoth, kSix };
  const pid_t child = ::fork();
  if (child == 0) {
    if (!forget_ipv6()) ::_exit(kNotForgotten);
    const auto both = listen_on(*parse_listen_address(":0")), six = listen_on(*parse_listen_address("[::]:0"));
    if (!both) ::_exit(kNoBoth);
    ::_exit(six || six.error().code != EAFNOSUPPORT ? kSix : kWell);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  if (WEXITSTATUS(status) == kNotForgotten) GTEST_SKIP() << "no seccomp filter here";
  EXPECT_EQ(WEXITSTATUS(status), kWell);
}

std::string gunzip(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  std::string out(1 << 20, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(inflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  inflateEnd(&stream);
  return out;
}

TEST(Gzip, UnpacksToTheSameText) {
  std::string text;
  for (int i = 0; i < 5000; ++i) text += "fabric_rdma_hw_counters_total{device=\"mlx5_" + std::to_string(i) + "\"} 0\n";
  std::string packed = gzip(text);
  EXPECT_LT(packed.size(), text.size() / 4);
  EXPECT_EQ(gunzip(packed), text);
}

TEST(Gzip, WhatCannotBePackedIsWholeToo) {
  std::string text;
  for (uint32_t i = 1, state = 1; i < 50'000; ++i)
    text += static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
  for (const size_t size : {size_t{0}, size_t{1}, size_t{100}, text.size()})
    EXPECT_EQ(gunzip(gzip(text.substr(0, size))), text.substr(0, size)) << size;
}

// A page and a switch: scrapes wait while `is_fresh` is false.
class SmallSite : public Site {
 public:
  bool fresh() override { return is_fresh; }
  Body metrics(TextFormat format, bool compressed) override {
    if (format == TextFormat::openmetrics) return open;
    return compressed ? packed : page;
  }
  Body landing(bool compressed) override { return compressed ? packed : people; }
  bool ready() override { return is_ready; }
  std::atomic<bool> is_fresh{true}, is_ready{true};
  Body page = std::make_shared<const std::string>(std::string(100'000, 'x') + "\nend\n");
  Body people = std::make_shared<const std::string>("<!DOCTYPE html>");
  Body open = std::make_shared<const std::string>("# EOF\n");
  Body packed = std::make_shared<const std::string>(gzip(*page));
};

// The server on its own loop and thread, listening on loopback.
class ServerTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_GE(sd_event_new(&loop_), 0);
    auto v4 = parse_listen_address("127.0.0.1:0");
    auto first = listen_on(*v4);
    ASSERT_TRUE(first) << first.error().text();
    port_ = test::port_of(*first);
    std::vector<Fd> listeners;
    listeners.push_back(std::move(*first));
    if (auto second = listen_on(*parse_listen_address("[::1]:0"))) {
      port6_ = test::port_of(*second);
      listeners.push_back(std::move(*second));
    }
    server_.emplace(loop_, site_, limits_, web_);
    const auto started = server_->start(std::move(listeners));
    ASSERT_TRUE(started) << started.error().text();
    thread_ = std::thread([this] {
      while (!stop_) sd_event_run(loop_, nap_);
      server_.reset();
    });
  }
  void TearDown() override {
    stop_ = true;
    thread_.join();
    sd_event_unref(loop_);
  }

  // `from`: the client's own address.
  Fd connect(bool v6 = false, const std::string& from = "") const {
    const std::string host = v6 ? "[::1]:" + std::to_string(port6_) : "127.0.0.1:" + std::to_string(port_);
    Fd fd = test::connect_to(host, from);
    EXPECT_TRUE(fd);
    return fd;
  }
  static std::string receive_some(const Fd& fd) {
    std::array<char, 65536> buffer;
    pollfd waiting{fd.get(), POLLIN, 0};
    ssize_t size = ::poll(&waiting, 1, 5000) > 0 ? ::recv(fd.get(), buffer.data(), buffer.size(), 0) : -1;
    EXPECT_GT(size, 0);
    return {buffer.data(), static_cast<size_t>(std::max<ssize_t>(size, 0))};
  }
  std::string ask(const std::string& method, const std::string& path, const std::string& headers = "", bool v6 = false,
                  const std::string& from = "") const {
    Fd fd = connect(v6, from);
    send_text(fd, method + " " + path + " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + headers + "\r\n");
    return receive(fd);
  }
  static std::string body(const std::string& reply) {
    return reply.substr(std::min(reply.size(), reply.find("\r\n\r\n") + 4));
  }

  SmallSite site_;
  ServerLimits limits_{.requests = 100'000, .idle_seconds = 2};
  std::shared_ptr<WebConfig> web_;
  sd_event* loop_ = nullptr;
  std::optional<Server> server_;
  std::thread thread_;
  std::atomic<bool> stop_{false};
  std::atomic<uint64_t> nap_{10'000};  // microseconds; each time the loop wakes, timers that may be late are not
  uint16_t port_ = 0, port6_ = 0;
};

TEST_F(ServerTest, GetHeadAndTheOthers) {
  std::string get = ask("GET", "/metrics");
  EXPECT_TRUE(get.starts_with("HTTP/1.1 200")) << get.substr(0, 200);
  EXPECT_TRUE(has(get, "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"));
  EXPECT_EQ(body(get), *site_.page);
  std::string head = ask("HEAD", "/metrics");
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(has(head, "Content-Length: " + std::to_string(site_.page->size())));
  EXPECT_EQ(body(head), "");
  for (const char* method : {"PUT", "DELETE", "OPTIONS", "PATCH"}) {
    std::string reply = ask(method, "/metrics");
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 405")) << method << reply.substr(0, 100);
    EXPECT_TRUE(has(reply, "Allow: GET, HEAD"));
  }
  EXPECT_TRUE(ask("POST", "/metrics", "Content-Length: 3\r\n").starts_with("HTTP/1.1 405"));
  EXPECT_TRUE(ask("GET", "/metrics/x").starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(ask("GET", "/-/healthy").starts_with("HTTP/1.1 200"));
  EXPECT_TRUE(ask("GET", "/metrics?name=x").starts_with("HTTP/1.1 200"));
}

const std::string kPolicy = "Content-Security-Policy: default-src 'none'; style-src 'sha256-";

TEST_F(ServerTest, ThePageForPeopleAndItsHeaders) {
  const std::string reply = ask("GET", "/");
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 200")) << reply;
  EXPECT_EQ(body(reply), *site_.people);
  const std::string same[] = {"X-Content-Type-Options: nosniff\r\n", "Referrer-Policy: no-referrer\r\n",
                              "Cache-Control: no-store\r\n", kPolicy};
  EXPECT_TRUE(has(reply, "Content-Type: text/html; charset=utf-8\r\n"));
  for (const char* path : {"/", "/metrics", "/-/healthy", "/none"})
    for (const std::string& header : same) EXPECT_TRUE(has(ask("GET", path), header)) << path << ' ' << header;
  EXPECT_EQ(gunzip(body(ask("GET", "/", "Accept-Encoding: gzip\r\n"))), *site_.page);
  EXPECT_EQ(body(ask("HEAD", "/")), "");
  EXPECT_TRUE(ask("POST", "/", "Content-Length: 3\r\n").starts_with("HTTP/1.1 405"));
}

TEST_F(ServerTest, ThePageForPeopleWaitsForNewerReadingsToo) {
  site_.is_fresh = false;
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(body(ask("GET", "/")), *site_.people);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, limits_.patience);
}

class LockedServer : public ServerTest {
 protected:
  LockedServer() {
    web_ = std::make_shared<WebConfig>();
    web_->users["prom"] = "$2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u";  // of "secret"
  }
};

TEST_F(LockedServer, ThePageForPeopleNeedsThePassword) {
  for (const char* path : {"/", "/metrics"}) {
    const std::string reply = ask("GET", path);
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 401")) << path;
    EXPECT_EQ(body(reply), "Name and password required.\n");
    EXPECT_TRUE(has(reply, kPolicy));
  }
  EXPECT_EQ(body(ask("GET", "/", "Authorization: Basic cHJvbTpzZWNyZXQ=\r\n")), *site_.people);
}

TEST_F(LockedServer, KeepsAConnectionWhosePasswordWasHashed) {
  const Fd fd = connect();
  for (const char* credentials : {"cHJvbTp3cm9uZw==", "cHJvbTpzZWNyZXQ=", "cHJvbTpzZWNyZXQ="}) {
    send_text(fd,
              std::string("GET /-/healthy HTTP/1.1\r\nHost: a\r\nAuthorization: Basic ") + credentials + "\r\n\r\n");
    std::string reply;
    while (!has(reply, "\r\n\r\n")) {
      const std::string more = receive_some(fd);
      ASSERT_NE(more, "");
      reply += more;
    }
    const char* expected = has(credentials, "cHJvbTp3") ? "HTTP/1.1 401" : "HTTP/1.1 200";
    EXPECT_TRUE(reply.starts_with(expected)) << reply;
  }
}

// Bcrypt at the highest permitted cost: a third of a second for each password.
class GuessedServer : public ServerTest {
 protected:
  GuessedServer() {
    crypt_data data{};
    web_ = std::make_shared<WebConfig>();
    web_->users["prom"] = ::crypt_r("secret", "$2b$12$abcdefghijklmnopqrstuu", &data);
  }
  void TearDown() override {
    enough_ = true;
    for (std::thread& guesser : guessers_) guesser.join();
    ServerTest::TearDown();
  }
  // Clients that each send one wrong password after the other, three at a time.
  void guess(const std::vector<std::string>& addresses) {
    for (const std::string& address : addresses)
      guessers_.emplace_back([this, address] {
        for (int tries = 0; !enough_; ++tries) {
          std::vector<Fd> connections;
          for (int i = 0; i < 3; ++i) {
            connections.push_back(address == "::1" ? connect(true) : connect(false, address));
            send_text(connections.back(),
                      "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Basic " +
                          wrong_password(tries * 3 + i) + "\r\n\r\n");
          }
          for (const Fd& each : connections) {
            pollfd answered{each.get(), POLLIN, 0};
            while (!enough_ && ::poll(&answered, 1, 100) == 0) continue;
            if (!enough_ && receive(each).starts_with("HTTP/1.1 401")) ++wrong_;
          }
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
        }
      });
  }
  // "prom:wrongNNNN" in base64.
  static std::string wrong_password(int number) {
    std::string digits = std::to_string(1000 + number % 9000);
    const std::string text = "prom:wrong" + digits + "x";
    gnutls_datum_t out{};
    const gnutls_datum_t in = datum(text);
    ::gnutls_base64_encode2(&in, &out);
    std::string encoded(reinterpret_cast<const char*>(out.data), out.size);
    ::gnutls_free(out.data);
    return encoded;
  }
  static constexpr const char* kRight = "Authorization: Basic cHJvbTpzZWNyZXQ=\r\n";
  std::vector<std::thread> guessers_;
  std::atomic<bool> enough_{false};
  std::atomic<int> wrong_{0};
};

const std::vector<std::string> kGuessers{"127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5", "127.0.0.6", "127.0.0.7"};

TEST_F(GuessedServer, AKnownScraperIsAnsweredAtOnce) {
  using Clock = std::chrono::steady_clock;
  ASSERT_TRUE(ask("GET", "/metrics", kRight).starts_with("HTTP/1.1 200"));
  guess(kGuessers);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  std::vector<Clock::duration> times;
  for (int i = 0; i < 21; ++i) {
    const auto asked = Clock::now();
    const std::string reply = ask("GET", "/metrics", kRight, false, i % 2 == 0 ? "" : "127.0.0.2");
    times.push_back(Clock::now() - asked);
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 200")) << reply.substr(0, 100);
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  std::ranges::sort(times);
  EXPECT_LT(times[10], std::chrono::milliseconds(150)) << "less than a hash takes";
}

TEST_F(GuessedServer, ANewScraperIsAnswered) {
  guess(kGuessers);
  if (port6_ != 0) guess({"::1"});
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (wrong_ < 6 && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const std::string reply = ask("GET", "/metrics", kRight, false, "127.0.1.1");
  EXPECT_TRUE(reply.starts_with("HTTP/1.1 200")) << reply.substr(0, 100);
}

TEST_F(GuessedServer, StopsWhileAPasswordIsHashed) {
  for (int i = 0; i < 5; ++i)
    send_text(connect(), "GET /metrics HTTP/1.1\r\nHost: a\r\nAuthorization: Basic " + wrong_password(i) + "\r\n\r\n");
  const Fd fd = connect();
  send_text(fd, std::string("GET /metrics HTTP/1.1\r\nHost: a\r\n") + kRight + "\r\n");
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  // TearDown stops the server with suspended connections.
}

// Requests that a proxy may understand differently, as two or with another length: each gets one refusal, and nothing
// after it is taken for another request.
TEST_F(ServerTest, RequestsThatAProxyUnderstandsDifferentlyAreRefused) {
  using namespace std::string_literals;
  const std::string line = "GET /metrics HTTP/1.1\r\n", host = "Host: a\r\n", start = line + host;
  std::vector<std::string> refused = {line,
                                      start + host,
                                      line + "Host : a\r\n",
                                      line + " " + host,
                                      "GET /metrics\0/x HTTP/1.1\r\n"s + host,
                                      "GET  /metrics HTTP/1.1\r\n" + host,
                                      "GET /metrics%00 HTTP/1.1\r\n" + host,
                                      "GET /metrics%00/x?a HTTP/1.1\r\n" + host,
                                      "GET /metrics?a\rX:b HTTP/1.1\r\n" + host,
                                      "GET /metrics?\x7f HTTP/1.1\r\n" + host,
                                      "GET /metrics x HTTP/1.1\r\n" + host,
                                      "GET /metrics HTTP/1.1\n" + host,
                                      "GET /metrics\r\n" + host,
                                      line + " Content-Length: 54\r\n" + host,
                                      line + "\tX: y\r\n" + host};
  for (const std::string& headers : {"Content-Length: 0\r\nContent-Length: 5"s,
                                     "Content-Length: 5\r\ncontent-length: 5"s,
                                     "Transfer-Encoding: chunked\r\nContent-Length: 5"s,
                                     "Content-Length: 5\r\nTransfer-Encoding: chunked"s,
                                     "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"s,
                                     "Transfer-Encoding: chunked"s,
                                     "Transfer-Encoding: xchunked"s,
                                     "Transfer-Encoding: gzip, chunked"s,
                                     "Transfer-Encoding: identity"s,
                                     "Transfer-Encoding : chunked\r\nContent-Length: 5"s,
                                     "Transfer-Encoding:\r\n chunked\r\nContent-Length: 0"s,
                                     "Content-Length: 54"s,
                                     "Content-Length : 54"s,
                                     "Content-Length\t: 54"s,
                                     "Content-Length:\r\n 54"s,
                                     "Content-Length: 0\r\n 54"s,
                                     "X: y\r\n Content-Length: 54"s,
                                     "X: y\r\n\tContent-Length: 54"s,
                                     "X: y\r\n  "s,
                                     "X:\r\n z"s,
                                     "Content-Length: 5\0"s,
                                     "Content-Length: 0\0"s,
                                     "Content-Length: 0\0 54"s,
                                     "X: a\0b"s,
                                     "X\0: a"s,
                                     "X\0Y: a"s,
                                     "X: a\nContent-Length: 54"s,
                                     "X: a\nY: b"s,
                                     "X: a\rb"s,
                                     "X: a\rContent-Length: 54"s,
                                     "X: \r"s,
                                     "(X): a"s,
                                     ": a"s,
                                     "X\xc3\xa9: a"s})
    refused.insert(refused.end(), {start + headers + "\r\n", line + headers + "\r\n" + host});
  for (const std::string& request : refused) {
    const Fd fd = connect();
    send_text(fd, request + "\r\nGET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n");
    const std::string reply = receive(fd);
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 400")) << request << reply.substr(0, 300);
    EXPECT_EQ(reply.find("HTTP/1.", 1), std::string::npos) << request << reply;
  }
  for (const std::string& request :
       {"GET /metrics?a=%20b%00 HTTP/1.1\r\n" + host, "GET /%6detrics HTTP/1.1\r\n" + host,
        "GET /metrics HTTP/1.0\r\n"s, "\r\n" + start, start + "Content-Length: 0\r\n", start + "X: \t b \t\r\n",
        start + "X:\r\n", start + "Cookie: a=b; c=\"d e\"\r\nAuthorization: Basic eDp5\r\n",
        start + "X: " + std::string(9000, 'x') + "\r\n"}) {
    const Fd fd = connect();
    for (const char letter : request.substr(0, 100)) send_text(fd, std::string(1, letter));
    send_text(fd, request.substr(std::min<size_t>(100, request.size())) + "Connection: close\r\n\r\n");
    EXPECT_TRUE(receive(fd).starts_with("HTTP/1.1 200")) << request;
  }
  EXPECT_TRUE(has(ask("POST", "/metrics", "Content-Length: 3\r\n"), "Connection: close"));
}

TEST_F(ServerTest, EveryLongRequestIsAnswered) {
  std::string arguments = "?a0=1", bare = "?";
  for (int i = 1; i < 400; ++i) arguments += "&a" + std::to_string(i) + "=1";
  for (int i = 0; i < 3500; ++i) bare += "a&";
  EXPECT_EQ(body(ask("GET", "/metrics" + arguments)), *site_.page);
  EXPECT_EQ(body(ask("GET", "/metrics" + bare)), *site_.page);
  EXPECT_EQ(body(ask("GET", "/metrics?" + std::string(7000, '%'))), *site_.page);
  for (const size_t count : {50u, 400u, 4000u}) {
    std::string headers;
    for (size_t i = 0; i < count; ++i) headers += "a: b\r\n";
    const std::string reply = ask("GET", "/metrics", headers);
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 ")) << count << " headers: " << reply.substr(0, 100);
  }
  for (const size_t size : {8'000u, 14'000u, 20'000u, 100'000u}) {
    const std::string reply = ask("GET", "/" + std::string(size, 'x'));
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 4")) << size << ": " << reply.substr(0, 100);
  }
}

TEST_F(ServerTest, ReadyOnlyWhenItIs) {
  site_.is_ready = false;
  EXPECT_TRUE(ask("GET", "/-/ready").starts_with("HTTP/1.1 503"));
  site_.is_ready = true;
  EXPECT_TRUE(ask("GET", "/-/ready").starts_with("HTTP/1.1 200"));
}

TEST_F(ServerTest, GzipWhenAskedFor) {
  std::string packed = ask("GET", "/metrics", "Accept-Encoding: br\r\nAccept-Encoding: gzip\r\n");
  EXPECT_TRUE(has(packed, "Content-Encoding: gzip\r\n"));
  EXPECT_EQ(gunzip(body(packed)), *site_.page);
  std::string refused = ask("GET", "/metrics", "Accept-Encoding: gzip;q=0\r\n");
  EXPECT_FALSE(has(refused, "Content-Encoding"));
  EXPECT_EQ(body(refused), *site_.page);
}

TEST_F(ServerTest, OpenMetricsWhenAskedFor) {
  const std::string reply =
      ask("GET", "/metrics", "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5\r\n");
  EXPECT_TRUE(has(reply, "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n"))
      << reply.substr(0, 300);
  EXPECT_TRUE(has(reply, "Vary: Accept, Accept-Encoding\r\n"));
  EXPECT_EQ(body(reply), *site_.open);
  EXPECT_EQ(body(ask("GET", "/metrics", "Accept: text/plain\r\n")), *site_.page);
}

TEST_F(ServerTest, SpeaksIPv6) {
  if (port6_ == 0) GTEST_SKIP() << "no IPv6 on this machine";
  EXPECT_TRUE(ask("GET", "/metrics", "", true).starts_with("HTTP/1.1 200"));
}

TEST_F(ServerTest, KeepsAConnectionForTheNextScrape) {
  Fd fd = connect();
  for (int i = 0; i < 3; ++i) {
    send_text(fd, "GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n");
    std::string reply, more;
    for (; !reply.ends_with("\r\n\r\nhealthy\n"); reply += more) ASSERT_NE(more = receive_some(fd), "") << i;
    EXPECT_TRUE(reply.starts_with("HTTP/1.1 200")) << i;
  }
}

TEST_F(ServerTest, SurvivesWhatIsNoRequest) {
  for (const std::string& garbage :
       {std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9), std::string("GARBAGE\r\n\r\n"),
        std::string("GET /metrics HTTP/9.9\r\n\r\n"), std::string(100'000, 'A'),
        std::string("GET /metrics HTTP/1.1\r\nContent-Length: -5\r\n\r\n"),
        std::string("GET /metrics HTTP/1.1\r\nX: ") + std::string(1'000'000, 'x') + "\r\n\r\n"}) {
    Fd fd = connect();
    send_text(fd, garbage);
    ::shutdown(fd.get(), SHUT_WR);
    std::string reply = receive(fd);
    EXPECT_FALSE(reply.starts_with("HTTP/1.1 200")) << garbage.substr(0, 40);
  }
  EXPECT_TRUE(ask("GET", "/metrics").starts_with("HTTP/1.1 200"));
}

TEST_F(ServerTest, SilentAndHalfRequestsStallNobody) {
  std::vector<Fd> idle;
  for (int i = 0; i < 200; ++i) {
    idle.push_back(connect());
    if (i % 2 == 0) send_text(idle.back(), "GET /metrics HTTP/1.1\r\nHos");
  }
  EXPECT_EQ(body(ask("GET", "/metrics")), *site_.page);
  EXPECT_EQ(receive(idle[0], 10'000).rfind("HTTP/1.1 200", 0), std::string::npos)
      << "closed after the time-out, unanswered";
}

TEST_F(ServerTest, AScrapeWaitsForNewerReadingsButNotForEver) {
  site_.is_fresh = false;
  std::vector<Fd> scrapes;
  for (int i = 0; i < 20; ++i) {
    scrapes.push_back(connect());
    send_text(scrapes.back(), "GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  }
  EXPECT_TRUE(ask("GET", "/-/healthy").starts_with("HTTP/1.1 200")) << "others are served meanwhile";
  for (const Fd& scrape : scrapes) EXPECT_EQ(body(receive(scrape)), *site_.page) << "what there is, after the patience";
}

TEST_F(ServerTest, AConnectionWhoseScrapeHasWaitedHearsTheNextAtOnce) {
  using Clock = std::chrono::steady_clock;
  nap_ = 1'000'000;
  site_.is_fresh = false;
  Fd fd = connect();
  auto quickest = Clock::duration::max();
  for (int i = 0; i < 3; ++i) {
    send_text(fd, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    for (std::string page, more; !page.ends_with("\nend\n"); page += more) ASSERT_NE(more = receive_some(fd), "");
    const auto asked = Clock::now();
    send_text(fd, "GET /-/healthy HTTP/1.1\r\nHost: a\r\n\r\n");
    ASSERT_TRUE(receive_some(fd).starts_with("HTTP/1.1 200"));
    quickest = std::min(quickest, Clock::now() - asked);
  }
  EXPECT_LT(quickest, std::chrono::milliseconds(200)) << "not the 250 ms and more of a timer that may be late";
}

TEST_F(ServerTest, ClientsThatLeaveWhileTheyWaitDoNoHarm) {
  site_.is_fresh = false;
  for (int i = 0; i < 20; ++i) send_text(connect(), "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  site_.is_fresh = true;
  EXPECT_EQ(body(ask("GET", "/metrics")), *site_.page);
}

class SmallServer : public ServerTest {
 protected:
  SmallServer() {
    limits_ = {.connections = 40, .per_client = 30, .idle_seconds = 60, .request = std::chrono::seconds(60)};
  }
};

TEST_F(SmallServer, TheOldestOfTooManyGiveWay) {
  std::vector<Fd> half;
  for (int i = 0; i < 300; ++i) {
    half.push_back(connect(false, i % 2 == 0 ? "127.0.0.2" : "127.0.0.3"));
    send_text(half.back(), "GET /metrics HTTP/1.1\r\nX: ");
  }
  EXPECT_EQ(body(ask("GET", "/metrics")), *site_.page);
  EXPECT_EQ(receive(half.front()), "") << "closed";
  EXPECT_TRUE(ask("GET", "/-/healthy", "", false, "127.0.0.2").starts_with("HTTP/1.1 200"))
      << "a client beside a bad one";
}

TEST_F(SmallServer, ThoseThatDoNotReadGiveWayToo) {
  site_.page = std::make_shared<const std::string>(std::string(16'000'000, 'x'));
  std::vector<Fd> deaf;
  for (int i = 0; i < 100; ++i) {
    deaf.push_back(connect(false, "127.0.0." + std::to_string(2 + i % 4)));
    send_text(deaf.back(), "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  }
  EXPECT_TRUE(ask("GET", "/-/healthy").starts_with("HTTP/1.1 200"));
  EXPECT_LT(receive(deaf.front()).size(), site_.page->size()) << "closed in the middle";
}

class StrictServer : public ServerTest {
 protected:
  StrictServer() { limits_ = {.requests = 3}; }
};

TEST_F(StrictServer, AClientThatAsksTooOftenGets429) {
  unsigned answered = 0;
  for (int i = 0; i < 5; ++i) answered += ask("GET", "/-/healthy").starts_with("HTTP/1.1 200");
  EXPECT_EQ(answered, 3u);
  EXPECT_TRUE(ask("GET", "/metrics").starts_with("HTTP/1.1 429"));
  EXPECT_TRUE(ask("GET", "/-/healthy", "", false, "127.0.0.2").starts_with("HTTP/1.1 200"));
}

TEST(PerSecond, EachClientHasItsOwnAndAllTogetherTheirs) {
  PerSecond limit(2, 3);
  const PerSecond::Clock::time_point now{std::chrono::seconds(100)};
  EXPECT_TRUE(limit.take("a", now) && limit.take("a", now));
  EXPECT_FALSE(limit.take("a", now));
  EXPECT_TRUE(limit.take("b", now));
  EXPECT_FALSE(limit.take("b", now)) << "three of all";
  EXPECT_TRUE(limit.take("c", now) && limit.take("d", now) && limit.take("e", now)) << "who has had none";
  EXPECT_FALSE(limit.take("f", now)) << "three of these";
  EXPECT_TRUE(limit.take("a", now + std::chrono::seconds(1)));
}

TEST(Connections, WhoHasTheMostGivesWay) {
  Connections open(8, 6, 6, std::chrono::seconds(30));
  const Connections::Clock::time_point now{std::chrono::seconds(100)};
  open.add(1, "scraper", false, now);
  for (int fd = 2; fd < 7; ++fd) open.add(fd, "a", false, now);
  open.add(7, "b", false, now);
  open.add(8, "b", false, now);
  EXPECT_EQ(open.to_close(now), std::vector<int>{});
  open.add(9, "b", false, now);
  EXPECT_EQ(open.to_close(now), std::vector<int>{2}) << "the oldest of a, not the scraper, which is older";
}

TEST(Connections, HandshakesUnderWayAreLimited) {
  Connections open(100, 50, 2, std::chrono::seconds(30));
  const Connections::Clock::time_point now{std::chrono::seconds(100)};
  auto* first = open.add(1, "a", true, now);
  open.add(2, "a", true, now);
  open.has_greeted(first);
  open.add(3, "a", true, now);
  EXPECT_EQ(open.to_close(now), std::vector<int>{});
  open.add(4, "b", true, now);
  EXPECT_EQ(open.to_close(now), std::vector<int>{});
  open.add(5, "a", true, now);
  EXPECT_EQ(open.to_close(now), std::vector<int>{2}) << "not 1, which has sent a request";
}

class HastyServer : public ServerTest {
 protected:
  HastyServer() { limits_ = {.idle_seconds = 60, .request = std::chrono::seconds(1)}; }
};

TEST_F(HastyServer, AByteNowAndThenIsNotARequest) {
  const Fd fd = connect();
  send_text(fd, "GET /metrics HTTP/1.1\r\nX: ");
  pollfd ended{fd.get(), POLLIN | POLLRDHUP, 0};
  for (int i = 0; i < 200 && ::poll(&ended, 1, 100) == 0; ++i) send_text(fd, "x");
  EXPECT_NE(ended.revents, 0);
}

TEST_F(HastyServer, AnAnswerThatIsNotReadEnds) {
  site_.page = std::make_shared<const std::string>(std::string(64'000'000, 'x'));
  const Fd fd = connect();
  send_text(fd, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  pollfd ended{fd.get(), POLLRDHUP, 0};
  EXPECT_EQ(::poll(&ended, 1, 20'000), 1);
  EXPECT_LT(receive(fd).size(), site_.page->size());
}

TEST(Connections, MappedAndPrivateAddresses) {
  const auto client = [](const char* text) {
    return client_of(reinterpret_cast<const sockaddr*>(&parse_listen_address(text)->storage));
  };
  EXPECT_EQ(client("10.0.0.1:1"), client("[::ffff:10.0.0.1]:2"));
  EXPECT_NE(client("10.0.0.1:1"), client("10.0.0.2:1"));
  EXPECT_EQ(client("[2001:db8:0:1::1]:1"), client("[2001:db8:0:1:ffff::2]:2"));
  EXPECT_NE(client("[2001:db8:0:1::1]:1"), client("[2001:db8:0:2::1]:1"));
}

TEST_F(ServerTest, StopsWhileAScrapeWaits) {
  site_.is_fresh = false;
  Fd fd = connect();
  send_text(fd, "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
  // TearDown stops the server with the connection suspended.
}

// -- The file of TLS settings and users

constexpr const char* kHash = "$2b$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u";  // of "secret"

// The error of the file "web.yml" with this text, without the folder.
std::string error_of(const std::string& text, mode_t mode = 0600) {
  Tree tree;
  tree.file("web.yml", text);
  const std::string file = tree.path() + "/web.yml";
  ::chmod(file.c_str(), mode);
  const auto loaded = load_web_config(file);
  return loaded ? "" : loaded.error().text().substr(tree.path().size() + 1);
}

TEST(WebConfig, ErrorsNameLineAndKey) {
  const std::string users = std::string("basic_auth_users:\n  prom: ") + kHash + "\n";
  EXPECT_EQ(error_of(users), "");
  EXPECT_EQ(error_of(users + "http_server_config:\n"),
            "web.yml:3: unknown key http_server_config; known here: tls_server_config, basic_auth_users");
  EXPECT_EQ(error_of(users + "  prom: x\n"), "web.yml:3: prom: twice");
  EXPECT_EQ(error_of("tls_server_config:\n  cert_file: a\n"), "web.yml:1: tls_server_config: key_file is missing");
  EXPECT_EQ(error_of("tls_server_config:\n  ciphers: a\n"),
            "web.yml:2: unknown key tls_server_config.ciphers; known here: cert_file, key_file, client_auth_type, "
            "client_ca_file, min_version");
  EXPECT_TRUE(error_of("tls_server_config:\n  cert_file: [a]\n").starts_with("web.yml:2: cert_file: expected a text"));
  EXPECT_TRUE(error_of("- a\n").find("expected a mapping") != std::string::npos);
  EXPECT_TRUE(error_of("a: [\n").starts_with("web.yml:2: "));
  EXPECT_EQ(error_of(""), "web.yml: empty");
  EXPECT_TRUE(error_of("basic_auth_users:\n").find("nothing is protected") != std::string::npos);
  EXPECT_TRUE(error_of("basic_auth_users:\n  a: $2b$31$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u\n")
                  .starts_with("web.yml:2: user a: cost above 12"));
  EXPECT_TRUE(error_of("basic_auth_users:\n  a: secret\n").starts_with("web.yml:2: user a: expected a bcrypt hash"));
  EXPECT_TRUE(error_of(users, 0644).find("unsafe permissions") != std::string::npos);
  EXPECT_TRUE(error_of(users, 0620).find("unsafe permissions") != std::string::npos);
  EXPECT_EQ(error_of(users, 0640), "");
}

TEST(WebConfig, ANewFileIsAnotherState) {
  Tree tree;
  tree.file("a", "1");
  const std::string before = state_of({tree.path() + "/a", tree.path() + "/b"});
  EXPECT_EQ(before, state_of({tree.path() + "/a", tree.path() + "/b"}));
  tree.file("b", "");
  EXPECT_NE(before, state_of({tree.path() + "/a", tree.path() + "/b"}));
}

// Basic and "NAME:PASSWORD" in base64.
constexpr std::string_view kRight = "Basic cHJvbTpzZWNyZXQ=", kWrong = "Basic cHJvbTp3cm9uZw==",
                           kUnknown = "Basic bm9ib2R5OnNlY3JldA==";

class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    web_->users["prom"] = kHash;
    EXPECT_GE(sd_event_new(&loop_), 0);
    access_ = std::make_unique<Access>(web_);
    EXPECT_TRUE(access_->start(loop_, [this](uint64_t request, unsigned status) { done_[request] = status; }));
  }
  ~AccessTest() override {
    access_.reset();
    sd_event_unref(loop_);
  }
  unsigned asked(std::string_view header, const std::string& client) {
    return access_->refused_password(header, client, ++request_, Access::Clock::now());
  }
  // With its hash, if it needs one.
  unsigned status(std::string_view header, const std::string& client) {
    const unsigned first = asked(header, client);
    if (first != Access::kWaits) return first;
    const uint64_t request = request_;
    for (int i = 0; i < 100 && !done_.contains(request); ++i) sd_event_run(loop_, 100'000);
    return done_[request];
  }

  std::shared_ptr<WebConfig> web_ = std::make_shared<WebConfig>();
  sd_event* loop_ = nullptr;
  std::map<uint64_t, unsigned> done_;
  uint64_t request_ = 0;
  std::unique_ptr<Access> access_;
};

TEST_F(AccessTest, PasswordsFit) {
  EXPECT_EQ(asked(kRight, "a"), Access::kWaits) << "the loop does not hash";
  EXPECT_EQ(status(kRight, "b"), 0u);
  EXPECT_EQ(status(kUnknown, "a"), 401u);
  EXPECT_EQ(status(kWrong, "a"), 401u);
  EXPECT_EQ(asked(kRight, "c"), 0u) << "known, for every client: no hash";
  for (const char* header : {"", "Basic", "Basic ", "Basic !!!!", "Bearer abc", "Basic cHJvbQ==", "Basic AAAA"})
    EXPECT_EQ(asked(header, "c"), 401u) << header;
}

TEST_F(AccessTest, WhoGuessesIsRefusedAndNobodyElse) {
  std::map<unsigned, int> counts;
  for (const char* wrong : {"MQ==", "Mg==", "Mw==", "NA==", "NQ==", "Ng==", "Nw==", "OA==", "OQ=="}) {
    const std::string header = std::string("Basic cHJvbTp3") + wrong;  // prom:w1 to prom:w9
    EXPECT_EQ(asked(header, "a"), Access::kWaits);
  }
  for (int i = 0; i < 200 && done_.size() < 9; ++i) sd_event_run(loop_, 100'000);
  for (const auto& [request, status] : done_) ++counts[status];
  EXPECT_GE(counts[401], 4);
  EXPECT_GE(counts[429], 3);
  EXPECT_EQ(counts[401] + counts[429], 9);
  EXPECT_EQ(status(kWrong, "b"), 401u) << "another client";
  EXPECT_EQ(status(kRight, "c"), 0u);
  EXPECT_EQ(asked(kRight, "a"), 0u) << "a known password, from the same address";
}

TEST_F(AccessTest, AReloadKeepsWhatIsUnchanged) {
  EXPECT_EQ(status(kRight, "a"), 0u);
  access_->use(std::make_shared<WebConfig>(*web_));
  EXPECT_EQ(asked(kRight, "a"), 0u);
  auto other = std::make_shared<WebConfig>(*web_);
  other->users["prom"] = "$2b$10$bbcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u";
  access_->use(other);
  EXPECT_EQ(status(kRight, "a"), 401u) << "another hash";
  access_->use(web_);
  EXPECT_EQ(asked(kRight, "b"), Access::kWaits) << "it is not known any more";
}

TEST_F(AccessTest, AReloadDropsWhoWaits) {
  EXPECT_EQ(asked(kRight, "a"), Access::kWaits);
  access_->use(std::make_shared<WebConfig>(*web_));
  for (int i = 0; i < 100 && asked(kRight, "b") == Access::kWaits; ++i) sd_event_run(loop_, 100'000);
  EXPECT_FALSE(done_.contains(1));
  EXPECT_EQ(asked(kRight, "c"), 0u) << "its hash was correct";
}

// -- The order of the hashes

constexpr PasswordQueue::Clock::time_point kNow{std::chrono::hours(1)};
using std::chrono::milliseconds;

PasswordCheck check_of(const std::string& client, const std::string& password) {
  return {client, "prom", kHash, password, password};
}

// Hashes the next one; empty: none is due.
std::string serve(PasswordQueue& queue, bool is_correct, PasswordQueue::Clock::time_point now) {
  const PasswordCheck* next = queue.start(now);
  if (next == nullptr) return "";
  const std::string client = next->client;
  PasswordQueue::Dropped dropped;
  queue.finished(is_correct, milliseconds(100), now, dropped);
  return client;
}

TEST(PasswordQueue, WhoHasNotFailedIsFirst) {
  PasswordQueue queue;
  uint64_t request = 0;
  for (const char* client : {"a", "b", "c"}) {
    EXPECT_TRUE(queue.add(check_of(client, "x"), ++request, kNow).empty());
    EXPECT_EQ(serve(queue, false, kNow), client);
  }
  for (const char* client : {"c", "b", "a", "new"}) queue.add(check_of(client, "y"), ++request, kNow);
  EXPECT_EQ(serve(queue, true, kNow), "new");
  auto now = kNow;
  for (const char* client : {"a", "b", "c"}) {
    EXPECT_EQ(serve(queue, false, now), client) << "in turn, in any order of requests";
    EXPECT_EQ(serve(queue, false, now + milliseconds(299)), "") << "a quarter of a CPU";
    now += milliseconds(300);
  }
}

TEST(PasswordQueue, ThousandsWhoGuessDoNotKeepANewClientOut) {
  PasswordQueue queue;
  uint64_t request = 0;
  auto now = kNow;
  for (int i = 0; i < 1000; ++i, now += milliseconds(100)) {
    queue.add(check_of(std::to_string(i), "x"), ++request, now);
    serve(queue, false, now);
  }
  for (int i = 0; i < 1000; ++i) queue.add(check_of(std::to_string(i), "y"), ++request, now);
  const auto dropped = queue.add(check_of("new", "right"), ++request, now);
  EXPECT_TRUE(std::ranges::none_of(dropped, [&](const auto& each) { return each.first == request; }));
  EXPECT_EQ(dropped.size(), 1u) << "one who has failed gives way";
  EXPECT_EQ(serve(queue, true, now), "new");
}

// After a start nobody has failed yet, and hundreds who guess fill the queue.
TEST(PasswordQueue, WhoHadTheRightPasswordBeforeIsFirst) {
  PasswordQueue queue;
  EXPECT_TRUE(queue.trust("scraper"));
  EXPECT_FALSE(queue.trust("scraper"));
  for (uint64_t request = 1; request <= 400; ++request)
    queue.add(check_of(std::to_string(request), "x"), request, kNow);
  const auto dropped = queue.add(check_of("scraper", "right"), 500, kNow);
  ASSERT_EQ(dropped.size(), 1u);
  EXPECT_NE(dropped[0].first, 500u);
  EXPECT_EQ(serve(queue, false, kNow), "scraper");
  queue.add(check_of("scraper", "wrong"), 501, kNow);
  EXPECT_NE(serve(queue, false, kNow), "scraper") << "one that has failed since is not";
  for (int i = 0; i < 200; ++i) queue.trust("client " + std::to_string(i));
  EXPECT_EQ(queue.trusted().size(), PasswordLimits().trusted);
}

TEST_F(LockedServer, KnowsItsClientsAfterARestart) {
  Tree state;
  const std::string file = state.path() + "/clients";
  const std::string right = "Basic cHJvbTpzZWNyZXQ=", client = "\x7f\x01\x02\x03";
  sd_event* loop = nullptr;
  ASSERT_GE(sd_event_new(&loop), 0);
  {
    Access access(web_, state.path());
    unsigned status = Access::kWaits;
    ASSERT_TRUE(access.start(loop, [&](uint64_t, unsigned said) { status = said; }));
    EXPECT_EQ(access.refused_password(right, client, 1, Access::Clock::now()), Access::kWaits);
    while (status == Access::kWaits) sd_event_run(loop, 1'000'000);
    EXPECT_EQ(status, 0u);
    EXPECT_EQ(access.refused_password(right, "\x0a\x0a\x0a\x0a", 2, Access::Clock::now()), 0u) << "a known password";
  }
  EXPECT_EQ(test::slurp(file), "0a0a0a0a\n7f010203\n");
  Access access(web_, state.path());
  std::map<uint64_t, unsigned> ended;
  ASSERT_TRUE(access.start(loop, [&](uint64_t request, unsigned said) { ended[request] = said; }));
  for (uint64_t i = 0; i < 400; ++i) {
    const std::string other{1, 2, static_cast<char>(i >> 8), static_cast<char>(i)};
    (void)access.refused_password("Basic cHJvbTp3cm9uZw==", other, i, Access::Clock::now());
  }
  EXPECT_EQ(access.refused_password(right, client, 1000, Access::Clock::now()), Access::kWaits);
  while (!ended.contains(1000)) sd_event_run(loop, 1'000'000);
  EXPECT_EQ(ended[1000], 0u);
  EXPECT_LE(ended.size(), 4u) << "the one that was being hashed, and the one that gave way";
  for (const char* text : {"", "x\nzz\n\n7f\n", "\xff\xff"}) {
    state.file("clients", text);
    const Access odd(web_, state.path());
  }
  sd_event_unref(loop);
}

TEST(PasswordQueue, ManyAtOnceFromOneGiveWayToo) {
  PasswordQueue queue;
  uint64_t request = 0;
  size_t refused = 0;
  for (int i = 0; i < 1000; ++i) refused += queue.add(check_of("a", std::to_string(i)), ++request, kNow).size();
  EXPECT_EQ(refused, 1000 - PasswordLimits().waiting);
  EXPECT_EQ(queue.start(kNow)->client, "a");
  EXPECT_EQ(queue.add(check_of("b", "x"), ++request, kNow).size(), 0u) << "the one that is hashed has left room";
  EXPECT_EQ(queue.add(check_of("c", "x"), ++request, kNow).size(), 1u) << "one of a's";
  PasswordQueue::Dropped dropped;
  queue.finished(false, milliseconds(100), kNow, dropped);
  EXPECT_GE(dropped.size(), 50u) << "beyond a's budget";
  EXPECT_EQ(serve(queue, true, kNow), "b");
  EXPECT_EQ(serve(queue, true, kNow), "c");
}

TEST(PasswordQueue, OnePasswordIsHashedOnceForAllItsRequests) {
  PasswordQueue queue;
  for (uint64_t request = 1; request <= 3; ++request) queue.add(check_of("a", "x"), request, kNow);
  EXPECT_NE(queue.start(kNow), nullptr);
  queue.add(check_of("a", "x"), 4, kNow);
  PasswordQueue::Dropped dropped;
  EXPECT_EQ(queue.finished(true, milliseconds(100), kNow, dropped).requests, (std::vector<uint64_t>{1, 2, 3, 4}));
  EXPECT_EQ(queue.start(kNow), nullptr);
}

TEST(PasswordQueue, AFailureIsForgotten) {
  PasswordQueue queue({.failures = 1});
  queue.add(check_of("a", "x"), 1, kNow);
  serve(queue, false, kNow);
  EXPECT_EQ(queue.add(check_of("a", "y"), 2, kNow).size(), 1u);
  EXPECT_EQ(queue.add(check_of("a", "y"), 3, kNow + milliseconds(500)).size(), 0u);
  EXPECT_EQ(serve(queue, true, kNow + milliseconds(500)), "a") << "correct";
  for (uint64_t request = 4; request < 10; ++request)
    EXPECT_EQ(queue.add(check_of("a", std::to_string(request)), request, kNow + milliseconds(500)).size(), 0u);
}

}  // namespace
}  // namespace fabric::exporter
