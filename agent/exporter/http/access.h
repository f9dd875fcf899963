// SPDX-License-Identifier: Apache-2.0
// Access to the pages: client certificates, and users with passwords.
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
  // 0: permitted; else the status 401, 403 (certificate) or 429 (too many wrong passwords).
  unsigned refused(MHD_Connection* connection);
  // Checks only the password. A correct password requires an expensive hash only the first time, so that scrapes are
  // cheap. A wrong password requires it each time, so these are limited: 2 per second for a client, 5 for all clients.
  unsigned refused_password(std::string_view authorization, const std::string& client, Clock::time_point now);

 private:
  std::shared_ptr<const WebConfig> web_;
  std::set<std::string> known_;  // digests of names, hashes and correct passwords
  PerSecond tries_{2, 5};        // limits the tries of passwords
};

}  // namespace fabric::exporter
