// SPDX-License-Identifier: Apache-2.0
// HTTP by libmicrohttpd without a separate thread: its epoll descriptor is a source of the caller's sd-event loop.
#pragma once

#include <climits>
#include <map>

#include "base/event.h"
#include "exporter/http/access.h"
#include "exporter/http/connections.h"
#include "exporter/http/http.h"
#include "metrics/text.h"

namespace fabric::exporter {

struct ServerLimits {
  unsigned connections = 1024;  // one more closes the oldest
  unsigned per_client = 256;    // one more closes the client's oldest
  unsigned requests = 100;      // per client and second; more get status 429
  // TLS handshakes, each of which costs the server's thread a signature, 1 ms with RSA 2048 and 6 ms with RSA 4096.
  unsigned handshakes = 40;                   // per client and second; more are closed
  unsigned all_handshakes = 100;              // per second; as many again for clients that have had none (PerSecond)
  unsigned greeting = 32;                     // per client, under way; one more closes the client's oldest
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
  // `state`: a folder that survives a restart; empty: none.
  Server(sd_event* loop, Site& site, const ServerLimits& limits = {}, std::shared_ptr<const WebConfig> web = {},
         std::string state = {})
      : loop_(loop),
        site_(site),
        limits_(limits),
        rate_(limits.requests, UINT_MAX),
        handshakes_(limits.handshakes, limits.all_handshakes),
        access_(std::move(web), std::move(state)),
        connections_(limits.connections, limits.per_client, limits.greeting, limits.request) {}
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
  struct Request {
    MHD_Connection* connection = nullptr;
    uint64_t number = 0;               // never used again
    size_t target_size = 0;            // RequestLine
    bool is_odd = false;               // RequestLine
    bool begun = false;                // its headers are known
    bool counted = false;              // by the limit of requests
    bool waited = false;               // for readings
    std::optional<unsigned> access{};  // Access::refused(), when it is known
  };

  static MHD_Result on_accept(void* server, const sockaddr* address, socklen_t size);
  static void* on_uri(void* server, const char* uri, MHD_Connection* connection);
  static MHD_Result on_request(void* context, MHD_Connection* connection, const char* path, const char* method,
                               const char* version, const char* upload, size_t* upload_size, void** request);
  static void on_connection(void* server, MHD_Connection* connection, void** known,
                            MHD_ConnectionNotificationCode code);
  static void on_completed(void* server, MHD_Connection* connection, void** request, MHD_RequestTerminationCode code);

  Result<void> add(Fd listener);
  MHD_Result answer(Request& request, std::string_view path);
  void on_checked(uint64_t number, unsigned status);
  MHD_Result reply(MHD_Connection* connection, const Response& response);
  void close_some();
  void resume_waiting();
  void resume_all();
  static void run(Daemon& daemon);

  sd_event* loop_;
  Site& site_;
  ServerLimits limits_;
  std::map<unsigned, uint64_t> requests_;
  std::vector<MHD_Connection*> waiting_;   // for readings
  std::map<uint64_t, Request*> checking_;  // by number: they wait for the hash of their password
  uint64_t numbers_ = 0;
  EventSource patience_, deadline_, resumed_;
  PerSecond rate_, handshakes_;
  Access access_;
  Connections connections_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
};

}  // namespace fabric::exporter
