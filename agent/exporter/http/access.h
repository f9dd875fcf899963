// SPDX-License-Identifier: Apache-2.0
// Access to the pages: client certificates, and users with passwords.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>

#include "base/event.h"
#include "base/fd.h"
#include "exporter/http/password_queue.h"
#include "exporter/http/web_config.h"

struct MHD_Connection;

namespace fabric::exporter {

// Hashes one password at a time on a thread of its own.
class PasswordHasher {
 public:
  struct Hashed {
    bool is_correct = false;
    std::chrono::steady_clock::duration took{};
  };
  PasswordHasher();
  ~PasswordHasher();
  PasswordHasher(const PasswordHasher&) = delete;
  PasswordHasher& operator=(const PasswordHasher&) = delete;

  // Readable when a password has been hashed; -1 if there is none.
  [[nodiscard]] int fd() const { return done_.get(); }
  // Call it again only after take(). An Error: the thread could not be started.
  Result<void> begin(std::string password, std::string hash);
  // nullopt: not yet.
  std::optional<Hashed> take();

 private:
  struct HashWorker;
  Fd done_;
  std::unique_ptr<HashWorker> shared_;
};

class Access {
 public:
  using Clock = std::chrono::steady_clock;
  // The status of a request that waits for its password's hash. `Done` has the final one.
  static constexpr unsigned kWaits = 1;
  // The number of the request, and 0 or the status 401, 429 (too many wrong passwords), 503 (too many waiting
  // passwords). May be called while another request is examined.
  using Done = std::function<void(uint64_t request, unsigned status)>;

  // `state`: a folder that survives a restart, for the addresses of clients whose password was right; empty: none.
  explicit Access(std::shared_ptr<const WebConfig> web, std::string state = {}, PasswordLimits limits = {});

  Result<void> start(sd_event* loop, Done done);
  // Replaces the settings and drops the requests that wait, without a call of `Done`. Correct passwords stay known if
  // their hash is the same, and failures are remembered.
  void use(std::shared_ptr<const WebConfig> web);

  [[nodiscard]] const WebConfig* web() const { return web_.get(); }
  // 0: permitted; kWaits; 401, 403 (certificate), 429, 503.
  unsigned refused(MHD_Connection* connection, uint64_t request);
  // Checks only the password. A correct one is hashed once for all clients.
  unsigned refused_password(std::string_view authorization, const std::string& client, uint64_t request,
                            Clock::time_point now);

 private:
  [[nodiscard]] std::string digest(const PasswordCheck& check) const;
  void trust(const std::string& client);
  void serve_queue();
  void on_hashed();
  void refuse(const PasswordQueue::Dropped& dropped);

  std::shared_ptr<const WebConfig> web_;
  // The correct password of a user: its digest under a random key, with the hash in it, never the password.
  std::map<std::string, std::string> known_;
  std::array<char, 32> key_{};
  std::string state_;
  PasswordQueue queue_;
  PasswordHasher hasher_;
  EventSource hashed_, turn_;
  Done done_;
};

}  // namespace fabric::exporter
