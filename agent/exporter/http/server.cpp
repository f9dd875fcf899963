// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/server.h"

#include <cstring>
#include <utility>

namespace fabric::exporter {
namespace {

// Connections beyond our own limit, for those that are being closed: at its own limit MHD would accept no connection.
constexpr unsigned kClosing = 128;

Connections::Connection* known_connection(MHD_Connection* connection) {
  const MHD_ConnectionInfo* info = ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  if (info == nullptr) return nullptr;
  return static_cast<Connections::Connection*>(info->socket_context);
}

}  // namespace

Result<void> Server::add(Fd listener) {
  auto daemon = std::make_unique<Daemon>();
  daemon->server = this;
  unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME;
  MHD_AcceptPolicyCallback accept = nullptr;
  std::vector<MHD_OptionItem> options;  // libmicrohttpd keeps the pointers in it while the daemon runs
  // The strict mode of 0.9 accepts too much: request_fault() refuses the rest.
  if (!is_lenient_library()) options.push_back({MHD_OPTION_STRICT_FOR_CLIENT, 1, nullptr});
  if (const WebConfig* web = access_.web(); web != nullptr && web->tls) {
    flags |= MHD_USE_TLS;
    accept = &Server::on_accept;
    const char* versions = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
    if (web->only_tls13) versions = "NORMAL:-VERS-ALL:+VERS-TLS1.3";
    options.push_back({MHD_OPTION_HTTPS_MEM_KEY, 0, const_cast<char*>(web->key.c_str())});
    options.push_back({MHD_OPTION_HTTPS_MEM_CERT, 0, const_cast<char*>(web->certificate.c_str())});
    if (!web->client_ca.empty())
      options.push_back({MHD_OPTION_HTTPS_MEM_TRUST, 0, const_cast<char*>(web->client_ca.c_str())});
    options.push_back({MHD_OPTION_HTTPS_PRIORITIES, 0, const_cast<char*>(versions)});
  }
  options.push_back({MHD_OPTION_END, 0, nullptr});
  daemon->handle.reset(::MHD_start_daemon(
      flags, 0, accept, this, &Server::on_request, daemon.get(), MHD_OPTION_LISTEN_SOCKET, listener.get(),
      MHD_OPTION_CONNECTION_LIMIT, limits_.connections + kClosing, MHD_OPTION_CONNECTION_TIMEOUT, limits_.idle_seconds,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, limits_.connection_memory, MHD_OPTION_URI_LOG_CALLBACK, &Server::on_uri, this,
      MHD_OPTION_NOTIFY_CONNECTION, &Server::on_connection, this, MHD_OPTION_NOTIFY_COMPLETED, &Server::on_completed,
      this, MHD_OPTION_ARRAY, options.data(), MHD_OPTION_END));
  if (!daemon->handle) return error(errno != 0 ? errno : EINVAL, "HTTP server");
  listener.release();  // MHD_stop_daemon closes it
  const MHD_DaemonInfo* info = ::MHD_get_daemon_info(daemon->handle.get(), MHD_DAEMON_INFO_EPOLL_FD);
  if (!info || info->epoll_fd < 0) return error(EINVAL, "HTTP server: no epoll descriptor");
  auto done = daemon->io.on_readable(loop_, info->epoll_fd, [at = daemon.get()] { run(*at); });
  if (done) done = daemon->timer.on_time(loop_, CLOCK_MONOTONIC, [at = daemon.get()] { run(*at); });
  if (done) daemons_.push_back(std::move(daemon));
  return done;
}

Result<void> Server::start(std::vector<Fd> listeners) {
  auto done = patience_.on_time(loop_, CLOCK_MONOTONIC, [this] { release(); });
  if (done) done = deadline_.on_time(loop_, CLOCK_MONOTONIC, [this] { close_some(); });
  if (done)
    done = resumed_.on_time(loop_, CLOCK_MONOTONIC, [this] {
      for (auto& daemon : daemons_) run(*daemon);
    });
  if (done) done = access_.start(loop_, [this](uint64_t number, unsigned status) { on_checked(number, status); });
  for (Fd& listener : listeners)
    if (done) done = add(std::move(listener));
  return done;
}

Result<void> Server::use(std::shared_ptr<const WebConfig> web) {
  resume_all();
  std::vector<Fd> listeners;
  for (auto& daemon : daemons_) listeners.emplace_back(::MHD_quiesce_daemon(daemon->handle.get()));
  daemons_.clear();
  access_.use(std::move(web));
  for (Fd& listener : listeners)
    if (auto added = add(std::move(listener)); !added) return added;
  return {};
}

// Runs MHD and arms the timer for its next time-out. A zero time-out is handled here, without a timer.
void Server::run(Daemon& daemon) {
  constexpr int kTimes = 4;
  MHD_UNSIGNED_LONG_LONG milliseconds = 0;
  bool any = true;
  for (int times = 0; times < kTimes && any && milliseconds == 0; ++times) {
    ::MHD_run(daemon.handle.get());
    any = ::MHD_get_timeout(daemon.handle.get(), &milliseconds) == MHD_YES;
  }
  if (any) daemon.timer.after(std::chrono::milliseconds(milliseconds));
  else daemon.timer.off();
}

// A connection is closed before its TLS handshake if its client has had too many.
MHD_Result Server::on_accept(void* server, const sockaddr* address, socklen_t) {
  if (static_cast<Server*>(server)->handshakes_.take(client_of(address), PerSecond::Clock::now())) return MHD_YES;
  return MHD_NO;
}

// Called when the first line of a request has been read, before it is parsed further; `uri` is in the memory of the
// connection. The query is cut off: no page depends on it, and libmicrohttpd 0.9 sends no answer if its arguments
// exceed that memory.
void* Server::on_uri(void* server, const char* uri, MHD_Connection* connection) {
  auto* request = new Request{connection, ++static_cast<Server*>(server)->numbers_};
  if (uri == nullptr) return request;
  request->target_size = std::strcspn(uri, " ");
  request->is_odd = is_odd_target({uri, request->target_size});
  if (const char* query = std::strchr(uri, '?')) const_cast<char*>(query)[1] = '\0';
  return request;
}

MHD_Result Server::on_request(void* context, MHD_Connection* connection, const char* path, const char* method,
                              const char* version, const char*, size_t*, void** state) {
  Server& server = *static_cast<Daemon*>(context)->server;
  auto* request = static_cast<Request*>(*state);
  if (!std::exchange(request->begun,
                     true)) {  // only the headers are known; the request is answered when it is complete
    if (auto* known = known_connection(connection)) server.connections_.has_greeted(known);
    const std::string fault = request_fault(connection, {method, path, request->target_size, version, request->is_odd});
    if (!fault.empty()) return server.reply(connection, text_response(MHD_HTTP_BAD_REQUEST, fault.c_str()));
    const std::string_view verb = method;
    if (verb != MHD_HTTP_METHOD_GET && verb != MHD_HTTP_METHOD_HEAD)
      return server.reply(connection, text_response(MHD_HTTP_METHOD_NOT_ALLOWED, "Only GET and HEAD.\n"));
    return MHD_YES;
  }
  return server.answer(*request, path);
}

MHD_Result Server::answer(Request& request, std::string_view path) {
  MHD_Connection* connection = request.connection;
  auto* known = known_connection(connection);
  if (!std::exchange(request.counted, true) && known != nullptr && !rate_.take(known->client, PerSecond::Clock::now()))
    return reply(connection, text_response(MHD_HTTP_TOO_MANY_REQUESTS, "Too many requests.\n"));
  if (!request.access) {
    const unsigned status = access_.refused(connection, request.number);
    if (status == Access::kWaits) {
      checking_.emplace(request.number, &request);
      if (known != nullptr) known->waits = true;
      ::MHD_suspend_connection(connection);
      return MHD_YES;
    }
    request.access = status;
  }
  switch (*request.access) {
    case 0: break;
    case MHD_HTTP_UNAUTHORIZED:
      return reply(connection, text_response(*request.access, "Name and password required.\n"));
    case MHD_HTTP_FORBIDDEN:
      return reply(connection, text_response(*request.access, "A valid client certificate is required.\n"));
    case MHD_HTTP_TOO_MANY_REQUESTS:
      return reply(connection, text_response(*request.access, "Too many wrong passwords.\n"));
    default: return reply(connection, text_response(*request.access, "Too many passwords wait for their check.\n"));
  }
  const Endpoint endpoint = endpoint_of(path);
  switch (endpoint) {
    case Endpoint::healthy: return reply(connection, text_response(MHD_HTTP_OK, "healthy\n"));
    case Endpoint::ready:
      if (site_.ready()) return reply(connection, text_response(MHD_HTTP_OK, "ready\n"));
      return reply(connection, text_response(MHD_HTTP_SERVICE_UNAVAILABLE, "The first reading is under way.\n"));
    case Endpoint::not_found: return reply(connection, text_response(MHD_HTTP_NOT_FOUND, "Not found; see /metrics.\n"));
    case Endpoint::landing:
    case Endpoint::metrics: break;
  }
  if (!request.waited && !site_.fresh()) {
    request.waited = true;
    if (known != nullptr) known->waits = true;
    ::MHD_suspend_connection(connection);
    waiting_.push_back(connection);
    if (!patience_.is_on()) patience_.after(limits_.patience);
    return MHD_YES;
  }
  if (known != nullptr) known->waits = false;
  const bool compressed = accepts_gzip(request_header(connection, MHD_HTTP_HEADER_ACCEPT_ENCODING));
  if (endpoint == Endpoint::landing)
    return reply(connection, {MHD_HTTP_OK, "text/html; charset=utf-8", site_.landing(compressed), compressed, true});
  const TextFormat format = negotiate(request_header(connection, MHD_HTTP_HEADER_ACCEPT));
  return reply(connection,
               {MHD_HTTP_OK, std::string(content_type(format)), site_.metrics(format, compressed), compressed, true});
}

MHD_Result Server::reply(MHD_Connection* connection, const Response& response) {
  ++requests_[response.status];
  return send_response(connection, response);
}

void Server::on_connection(void* context, MHD_Connection* connection, void** known,
                           MHD_ConnectionNotificationCode code) {
  auto* server = static_cast<Server*>(context);
  if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
    if (*known != nullptr) server->connections_.remove(static_cast<Connections::Connection*>(*known));
    *known = nullptr;
    return;
  }
  // Since libmicrohttpd 1.0, the result is valid only until the next call.
  const MHD_ConnectionInfo* info = ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  if (info == nullptr) return;
  const int fd = info->connect_fd;
  info = ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
  std::string client;
  if (info != nullptr) client = client_of(info->client_addr);  // the peer of a Unix socket may have no address
  const WebConfig* web = server->access_.web();
  const bool greets = web != nullptr && web->tls;
  *known = server->connections_.add(fd, std::move(client), greets, Connections::Clock::now());
  server->close_some();
}

void Server::on_completed(void* context, MHD_Connection* connection, void** request, MHD_RequestTerminationCode) {
  if (auto* ended = static_cast<Request*>(*request)) {
    static_cast<Server*>(context)->checking_.erase(ended->number);
    delete ended;
  }
  *request = nullptr;
  if (auto* known = known_connection(connection))
    static_cast<Server*>(context)->connections_.begin_again(known, Connections::Clock::now());
}

// Shuts the connections down; MHD then closes them. MHD's own timeouts are not sufficient, since they count from the
// last byte. Without lingering, the kernel drops the data that a client does not read.
void Server::close_some() {
  for (const int fd : connections_.to_close(Connections::Clock::now())) {
    const linger reset{1, 0};
    ::setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    ::shutdown(fd, SHUT_RDWR);
  }
  const auto next = connections_.next_deadline();
  if (next && !deadline_.is_on())
    deadline_.at(std::chrono::duration_cast<std::chrono::microseconds>(next->time_since_epoch()));
}

// Called for a request of any daemon, and while another request is examined.
void Server::on_checked(uint64_t number, unsigned status) {
  const auto found = checking_.find(number);
  if (found == checking_.end()) return;
  Request& request = *found->second;
  checking_.erase(found);
  request.access = status;
  if (auto* known = known_connection(request.connection)) known->waits = false;
  ::MHD_resume_connection(request.connection);
  resumed_.after(std::chrono::microseconds(0));
}

void Server::resume_waiting() {
  patience_.off();
  for (MHD_Connection* connection : waiting_) ::MHD_resume_connection(connection);
  waiting_.clear();
}

void Server::resume_all() {
  resume_waiting();
  for (const auto& [number, request] : checking_) ::MHD_resume_connection(request->connection);
  checking_.clear();
}

void Server::release() {
  if (waiting_.empty()) return;
  resume_waiting();
  for (auto& daemon : daemons_) run(*daemon);
}

HttpCounts Server::counts() const {
  HttpCounts counts{requests_, 0};
  for (const auto& daemon : daemons_) {
    const MHD_DaemonInfo* info = ::MHD_get_daemon_info(daemon->handle.get(), MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    if (info) counts.connections += info->num_connections;
  }
  return counts;
}

}  // namespace fabric::exporter
