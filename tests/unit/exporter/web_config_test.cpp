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

TEST(Access, PasswordsFitAndWrongOnesAreLimited) {
  auto web = std::make_shared<WebConfig>();
  web->users["prom"] = kHash;
  Access access(web);
  Access::Clock::time_point now{std::chrono::hours(1)};
  EXPECT_EQ(access.refused_password(kRight, "a", now), 0u);
  EXPECT_EQ(access.refused_password(kUnknown, "a", now), 401u);
  EXPECT_EQ(access.refused_password(kWrong, "a", now), 429u) << "the third hash of this client in a second";
  EXPECT_EQ(access.refused_password(kRight, "a", now), 0u) << "known: no hash";
  EXPECT_EQ(access.refused_password(kWrong, "b", now), 401u) << "another client";
  EXPECT_EQ(access.refused_password(kWrong, "a", now + std::chrono::seconds(1)), 401u);
  for (const char* header : {"", "Basic", "Basic ", "Basic !!!!", "Bearer abc", "Basic cHJvbQ==", "Basic AAAA"})
    EXPECT_EQ(access.refused_password(header, "c", now), 401u) << header;
}

TEST(Access, ManyClientsCannotStopTheExporter) {
  auto web = std::make_shared<WebConfig>();
  web->users["prom"] = kHash;
  Access access(web);
  const Access::Clock::time_point now{std::chrono::hours(1)};
  int hashed = 0;
  for (int i = 0; i < 50; ++i) hashed += access.refused_password(kWrong, std::to_string(i), now) == 401u;
  EXPECT_EQ(hashed, 5);
}

}  // namespace
}  // namespace fabric::exporter
