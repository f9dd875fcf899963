// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/access.h"

#include <crypt.h>
#include <gnutls/crypto.h>
#include <gnutls/x509.h>
#include <strings.h>

#include <array>

#include "exporter/http/http.h"

namespace fabric::exporter {
namespace {

constexpr size_t kMaxKnown = 100;

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

}  // namespace

unsigned Access::refused(MHD_Connection* connection) {
  if (!web_) return 0;
  if (web_->client != ClientCertificate::none && !has_certificate(connection, web_->client)) return MHD_HTTP_FORBIDDEN;
  if (web_->users.empty()) return 0;
  std::string client;
  if (const auto* info = ::MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS))
    client = client_of(info->client_addr);
  return refused_password(request_header(connection, MHD_HTTP_HEADER_AUTHORIZATION), client, Clock::now());
}

unsigned Access::refused_password(std::string_view authorization, const std::string& client, Clock::time_point now) {
  const auto credentials = parse_credentials(authorization);
  if (!credentials) return MHD_HTTP_UNAUTHORIZED;
  const auto& [name, password] = *credentials;
  // An unknown name takes the same time as a known one.
  auto user = web_->users.find(name);
  const bool is_known = user != web_->users.end();
  if (!is_known) user = web_->users.begin();
  const std::string& hash = user->second;

  const std::string text = name + '\0' + hash + '\0' + password;
  std::array<char, 32> bytes{};
  ::gnutls_hash_fast(GNUTLS_DIG_SHA256, text.data(), text.size(), bytes.data());
  const std::string digest(bytes.data(), bytes.size());
  if (known_.contains(digest)) return 0;

  if (!tries_.take(client, now)) return MHD_HTTP_TOO_MANY_REQUESTS;
  const auto data = std::make_unique<crypt_data>();
  const char* result = ::crypt_r(password.c_str(), hash.c_str(), data.get());
  const bool is_correct = result != nullptr && std::string_view(result).size() == hash.size() &&
                          ::gnutls_memcmp(result, hash.data(), hash.size()) == 0;
  if (!is_correct || !is_known) return MHD_HTTP_UNAUTHORIZED;
  if (known_.size() >= kMaxKnown) known_.clear();
  known_.insert(digest);
  return 0;
}

}  // namespace fabric::exporter
