// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/access.h"

#include <crypt.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <condition_variable>
#include <fstream>
#include <mutex>
#include <system_error>
#include <thread>

#include "base/files.h"
#include "base/parse.h"
#include "exporter/http/connections.h"
#include "exporter/http/http.h"

namespace fabric::exporter {
namespace {

// "Basic bmFtZTpwYXNzd29yZA==" -> name and password.
std::optional<std::pair<std::string, std::string>> parse_credentials(std::string_view header) {
  constexpr std::string_view kScheme = "Basic ";
  if (header.size() <= kScheme.size() || ::strncasecmp(header.data(), kScheme.data(), kScheme.size()) != 0) return {};
  const gnutls_datum_t encoded = datum(header.substr(kScheme.size()));
  gnutls_datum_t decoded{};
  if (::gnutls_base64_decode2(&encoded, &decoded) < 0) return {};
  const std::string text(reinterpret_cast<const char*>(decoded.data), decoded.size);
  ::gnutls_free(decoded.data);
  const size_t colon = text.find(':');
  if (colon == std::string::npos || text.find('\0') != std::string::npos) return {};
  return std::pair(text.substr(0, colon), text.substr(colon + 1));
}

bool has_certificate(MHD_Connection* connection, ClientCertificate wanted) {
  const MHD_ConnectionInfo* info = ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION);
  if (info == nullptr) return false;
  auto* session = static_cast<gnutls_session_t>(info->tls_session);
  unsigned count = 0, status = 0;
  if (::gnutls_certificate_get_peers(session, &count) == nullptr || count == 0)
    return wanted == ClientCertificate::if_given;
  std::string purpose = GNUTLS_KP_TLS_WWW_CLIENT;
  gnutls_typed_vdata_st data{GNUTLS_DT_KEY_PURPOSE_OID, reinterpret_cast<unsigned char*>(purpose.data()), 0};
  return ::gnutls_certificate_verify_peers(session, &data, 1, &status) == 0 && status == 0;
}

unsigned status_of(PasswordQueue::Refused why) {
  if (why == PasswordQueue::Refused::budget) return MHD_HTTP_TOO_MANY_REQUESTS;
  return MHD_HTTP_SERVICE_UNAVAILABLE;
}

bool fits(const std::string& password, const std::string& hash) {
  const auto data = std::make_unique<crypt_data>();
  const char* result = ::crypt_r(password.c_str(), hash.c_str(), data.get());
  return result != nullptr && std::string_view(result).size() == hash.size() &&
         ::gnutls_memcmp(result, hash.data(), hash.size()) == 0;
}

}  // namespace

struct PasswordHasher::HashWorker {
  std::mutex mutex;
  std::condition_variable changed;
  bool stop = false;
  std::optional<std::pair<std::string, std::string>> work;  // password, hash
  std::optional<Hashed> result;
  std::thread thread;
};

PasswordHasher::PasswordHasher() : done_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), shared_(new HashWorker) {}

PasswordHasher::~PasswordHasher() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->stop = true;
    shared_->changed.notify_all();
  }
  if (shared_->thread.joinable()) shared_->thread.join();
}

Result<void> PasswordHasher::begin(std::string password, std::string hash) {
  const std::lock_guard lock(shared_->mutex);
  if (!shared_->thread.joinable()) {
    const auto run = [shared = shared_.get(), done = done_.get()] {
      std::unique_lock held(shared->mutex);
      for (;;) {
        shared->changed.wait(held, [&] { return shared->stop || shared->work; });
        if (shared->stop) return;
        const auto [own, wanted] = std::move(*shared->work);
        shared->work.reset();
        held.unlock();
        const auto begun = std::chrono::steady_clock::now();
        const bool is_correct = fits(own, wanted);
        held.lock();
        shared->result = {is_correct, std::chrono::steady_clock::now() - begun};
        const uint64_t one = 1;
        [[maybe_unused]] const auto written = ::write(done, &one, sizeof one);
      }
    };
    try {
      shared_->thread = std::thread(run);
    } catch (const std::system_error& failed) {
      return error(failed.code().value(), "thread that hashes passwords");
    }
  }
  shared_->work = {std::move(password), std::move(hash)};
  shared_->changed.notify_all();
  return {};
}

std::optional<PasswordHasher::Hashed> PasswordHasher::take() {
  uint64_t count = 0;
  [[maybe_unused]] const auto size = ::read(done_.get(), &count, sizeof count);
  const std::lock_guard lock(shared_->mutex);
  return std::exchange(shared_->result, std::nullopt);
}

// The clients whose password was right, one hexadecimal number in a line: client_of().
constexpr const char* kClientsFile = "clients";

Access::Access(std::shared_ptr<const WebConfig> web, std::string state, PasswordLimits limits)
    : web_(std::move(web)), state_(std::move(state)), queue_(limits) {
  ::gnutls_rnd(GNUTLS_RND_KEY, key_.data(), key_.size());
  if (state_.empty()) return;
  std::ifstream file(state_ + "/" + kClientsFile);
  for (std::string line; queue_.trusted().size() < limits.trusted && std::getline(file, line);) {
    std::string client;
    for (size_t at = 0; at + 1 < line.size(); at += 2)
      client += static_cast<char>(parse_number<uint8_t>(line.substr(at, 2), 16).value_or(0));
    queue_.trust(client);
  }
}

// If the file cannot be written, the next start knows fewer clients.
void Access::trust(const std::string& client) {
  if (!queue_.trust(client) || state_.empty()) return;
  (void)replace_file(state_, kClientsFile,
                     joined(queue_.trusted(), "", [](const std::string& each) { return hex_digits(each) + "\n"; }));
}

Result<void> Access::start(sd_event* loop, Done done) {
  done_ = std::move(done);
  if (hasher_.fd() < 0) return error(EMFILE, "eventfd");
  auto added = hashed_.on_readable(loop, hasher_.fd(), [this] { on_hashed(); });
  if (added) added = turn_.on_time(loop, CLOCK_MONOTONIC, [this] { serve_queue(); });
  return added;
}

void Access::use(std::shared_ptr<const WebConfig> web) {
  queue_.clear();
  const auto is_changed = [&](const auto& known) {
    if (!web_ || !web) return true;
    const auto before = web_->users.find(known.first), now = web->users.find(known.first);
    return before == web_->users.end() || now == web->users.end() || before->second != now->second;
  };
  std::erase_if(known_, is_changed);
  web_ = std::move(web);
}

unsigned Access::refused(MHD_Connection* connection, uint64_t request) {
  if (!web_) return 0;
  if (web_->client != ClientCertificate::none && !has_certificate(connection, web_->client)) return MHD_HTTP_FORBIDDEN;
  if (web_->users.empty()) return 0;
  std::string client;
  if (const auto* info = ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS))
    client = client_of(info->client_addr);
  return refused_password(request_header(connection, MHD_HTTP_HEADER_AUTHORIZATION), client, request, Clock::now());
}

// Under a random key: a reader of the memory of this process gets no fast hash to guess with.
std::string Access::digest(const PasswordCheck& check) const {
  const std::string text = check.user + '\0' + check.hash + '\0' + check.password;
  std::string out(32, '\0');
  ::gnutls_hmac_fast(GNUTLS_MAC_SHA256, key_.data(), key_.size(), text.data(), text.size(), out.data());
  return out;
}

unsigned Access::refused_password(std::string_view authorization, const std::string& client, uint64_t request,
                                  Clock::time_point now) {
  const auto credentials = parse_credentials(authorization);
  if (!credentials) return MHD_HTTP_UNAUTHORIZED;
  PasswordCheck check{client, credentials->first, {}, credentials->second, {}};
  // An unknown name takes the same time as a known one.
  auto user = web_->users.find(check.user);
  if (user == web_->users.end()) user = web_->users.begin();
  check.hash = user->second;
  check.digest = digest(check);
  if (const auto known = known_.find(check.user);
      known != known_.end() && known->second.size() == check.digest.size() &&
      ::gnutls_memcmp(known->second.data(), check.digest.data(), check.digest.size()) == 0) {
    trust(client);
    return 0;
  }
  auto dropped = queue_.add(std::move(check), request, now);
  unsigned own = kWaits;
  std::erase_if(dropped, [&](const auto& each) {
    if (each.first == request) own = status_of(each.second);
    return each.first == request;
  });
  refuse(dropped);
  serve_queue();
  return own;
}

void Access::refuse(const PasswordQueue::Dropped& dropped) {
  for (const auto& [request, why] : dropped) done_(request, status_of(why));
}

// Hashes the next password, now or when it is due.
void Access::serve_queue() {
  const PasswordCheck* next = queue_.start(Clock::now());
  if (next == nullptr) {
    if (const auto at = queue_.next_time())
      turn_.at(std::chrono::duration_cast<std::chrono::microseconds>(at->time_since_epoch()) +
               std::chrono::microseconds(1));
    return;
  }
  if (auto begun = hasher_.begin(next->password, next->hash); !begun) {  // no more threads: tried again
    queue_.put_back();
    turn_.after(std::chrono::seconds(1));
  }
}

void Access::on_hashed() {
  const auto hashed = hasher_.take();
  const PasswordCheck* running = queue_.running();
  if (!hashed || running == nullptr) return;
  bool is_correct = false;
  if (web_ && hashed->is_correct) {  // the user may be unknown, and the settings may have changed meanwhile
    const auto user = web_->users.find(running->user);
    is_correct = user != web_->users.end() && user->second == running->hash;
  }
  PasswordQueue::Dropped dropped;
  const PasswordCheck check = queue_.finished(is_correct, hashed->took, Clock::now(), dropped);
  if (is_correct) {
    known_[check.user] = check.digest;
    trust(check.client);
  }
  unsigned status = MHD_HTTP_UNAUTHORIZED;
  if (is_correct) status = 0;
  refuse(dropped);
  for (uint64_t request : check.requests) done_(request, status);
  serve_queue();
}

}  // namespace fabric::exporter
