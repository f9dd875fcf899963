// SPDX-License-Identifier: Apache-2.0
// HTTP by libmicrohttpd without a separate thread: its epoll descriptor is a source of the caller's sd-event loop.
#pragma once

#include <climits>

#include "base/event.h"
#include "exporter/http/access.h"
#include "exporter/http/http.h"
#include "metrics/text.h"

namespace fabric::exporter {

struct ServerLimits {
  unsigned connections = 1024;                // one more closes the oldest
  unsigned per_client = 256;                  // one more closes the client's oldest
  unsigned requests = 100;                    // per client and second; more get status 429
  unsigned idle_seconds = 10;                 // a silent connection is closed after this
  std::chrono::milliseconds request{30'000};  // a connection is closed if a request and its answer take longer
  size_t connection_memory = 16 * 1024;       // request line and headers; longer ones are refused
  std::chrono::milliseconds patience{500};    // the longest a scrape waits for newer readings
};

// The content of the pages. Its functions are called on the loop's thread and must not block.
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
  Server(sd_event* loop, Site& site, const ServerLimits& limits = {}, std::shared_ptr<const WebConfig> web = {})
      : loop_(loop),
        site_(site),
        limits_(limits),
        rate_(limits.requests, UINT_MAX),
        access_(std::move(web)),
        connections_(limits.connections, limits.per_client, limits.request) {}
  ~Server() { resume_all(); }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  Result<void> start(std::vector<Fd> listeners);
  // Replaces the TLS settings and the users. Closes open connections.
  Result<void> use(std::shared_ptr<const WebConfig> web);
  // Answers the waiting scrapes.
  void release();
  [[nodiscard]] HttpCounts counts() const;

 private:
  // One listener, one daemon.
  struct Daemon {
    Server* server = nullptr;
    EventSource io, timer;
    std::unique_ptr<MHD_Daemon, decltype(&::MHD_stop_daemon)> handle{nullptr, ::MHD_stop_daemon};  // destroyed first
  };
  // The state of a request, in MHD's con_cls.
  enum class Stage : uintptr_t { none = 0, begun, waited };

  static MHD_Result on_request(void* context, MHD_Connection* connection, const char* path, const char* method,
                               const char* version, const char* upload, size_t* upload_size, void** stage);
  static void on_connection(void* server, MHD_Connection* connection, void** known,
                            MHD_ConnectionNotificationCode code);
  static void on_completed(void* server, MHD_Connection* connection, void** stage, MHD_RequestTerminationCode code);

  Result<void> add(Fd listener);
  MHD_Result answer(MHD_Connection* connection, std::string_view path, void** stage);
  MHD_Result reply(MHD_Connection* connection, const Response& response);
  void close_some();
  void resume_all();
  static void run(Daemon& daemon);

  sd_event* loop_;
  Site& site_;
  ServerLimits limits_;
  std::map<unsigned, uint64_t> requests_;
  std::vector<MHD_Connection*> waiting_;
  EventSource patience_, deadline_;
  PerSecond rate_;
  Access access_;
  Connections connections_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
};

}  // namespace fabric::exporter
