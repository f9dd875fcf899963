// SPDX-License-Identifier: Apache-2.0
// The file of TLS settings and users; certificates are tested in tests/integration/tls.
#include <sys/stat.h>

#include "exporter/http/access.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::exporter {
namespace {

using test::Tree;

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

// ---- the order of the hashes

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
    EXPECT_EQ(serve(queue, false, now), client) << "in turn, whoever asked first";
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
