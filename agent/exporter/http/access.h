// SPDX-License-Identifier: Apache-2.0
// Who may read the pages: clients with a certificate, users with a password.
#pragma once

#include <memory>
#include <set>

#include "exporter/http/connections.h"
#include "exporter/http/web_config.h"

struct MHD_Connection;

namespace fabric::exporter {

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
