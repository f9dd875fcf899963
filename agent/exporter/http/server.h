// SPDX-License-Identifier: Apache-2.0
// HTTP by libmicrohttpd, without a thread of its own: its epoll descriptor is a source of the caller's sd-event loop.
#pragma once

#include <systemd/sd-event.h>

#include "base/fd.h"
#include "base/result.h"
#include "exporter/collect/self.h"
#include "exporter/http/web_config.h"
#include "metrics/text.h"

namespace fabric::exporter {

struct Limits {
  unsigned connections = 1024;                // one more closes the oldest
  unsigned per_client = 256;                  // one more closes this client's oldest
  unsigned requests = 100;                    // of one client in a second; more get status 429
  unsigned idle_seconds = 10;                 // a silent connection is closed after this
  std::chrono::milliseconds request{30'000};  // a connection is closed if a request and its answer take longer
  size_t connection_memory = 16 * 1024;       // request line and headers; longer ones are refused
  std::chrono::milliseconds patience{500};    // the longest a scrape waits for newer readings
};

// The content. Called on the loop's thread; must not block.
class Site {
 public:
  using Body = std::shared_ptr<const std::string>;
  virtual ~Site() = default;
  // True: /metrics and / are answered at once. False: newer readings have been requested, and Server::release()
  // follows.
  virtual bool fresh() = 0;
  virtual Body metrics(TextFormat format, bool compressed) = 0;
  virtual Body landing(bool compressed) = 0;
  virtual bool ready() = 0;
};

class Server {
 public:
  static Result<std::unique_ptr<Server>> start(sd_event* loop, std::vector<Fd> listeners, Site& site,
                                               const Limits& limits = {}, std::shared_ptr<const WebConfig> web = {});
  virtual ~Server() = default;
  // Serves with another TLS and other users from now on. Open connections are closed.
  virtual Result<void> use(std::shared_ptr<const WebConfig> web) = 0;
  // Answers the waiting scrapes.
  virtual void release() = 0;
  [[nodiscard]] virtual HttpCounts counts() const = 0;
};

}  // namespace fabric::exporter
