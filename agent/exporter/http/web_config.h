// SPDX-License-Identifier: Apache-2.0
// TLS and users of the listener, in the file format of Prometheus' exporters (exporter-toolkit's web-config), and who
// may read the pages by it.
#pragma once

#include <gnutls/gnutls.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>

#include "base/result.h"
#include "exporter/http/connections.h"

struct MHD_Connection;

namespace fabric::exporter {

enum class ClientCertificate : uint8_t { none, if_given, required };

struct WebConfig {
  bool tls = false;
  std::string certificate, key, client_ca;  // PEM
  ClientCertificate client = ClientCertificate::none;
  bool only_tls13 = false;
  std::map<std::string, std::string, std::less<>> users;  // name -> bcrypt hash; empty: no password
  std::vector<std::string> files;                         // that it was read from
};

// An Error names the file, the line and the key. Certificate and key must fit and be valid now.
Result<WebConfig> load_web_config(const std::string& file);

// The same bytes for GnuTLS, which does not change them.
gnutls_datum_t datum(std::string_view text);

// Changes if one of the files does.
std::string state_of(const std::vector<std::string>& files);

class Access {
 public:
  using Clock = std::chrono::steady_clock;
  explicit Access(std::shared_ptr<const WebConfig> web) : web_(std::move(web)) {}

  [[nodiscard]] const WebConfig* web() const { return web_.get(); }
  // 0: permitted; else 401, 403 (certificate) or 429 (too many wrong passwords).
  unsigned refused(MHD_Connection* connection);
  // The password alone. A right one costs a hash once, so that a scrape does not; a wrong one costs it each time, and
  // these are limited: 2 a second of one client, 5 of all.
  unsigned refused_password(std::string_view authorization, const std::string& client, Clock::time_point now);

 private:
  std::shared_ptr<const WebConfig> web_;
  std::set<std::string> known_;  // digests of names, hashes and passwords that fit
  PerSecond tries_{2, 5};        // of passwords
};

}  // namespace fabric::exporter
