// SPDX-License-Identifier: Apache-2.0
// TLS and users of the listener, in the file format of Prometheus' exporters (exporter-toolkit's web-config).
#pragma once

#include <gnutls/gnutls.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fabric::exporter {

enum class ClientCertificate : uint8_t { none, if_given, required };

struct WebConfig {
  bool tls = false;
  std::string certificate, key, client_ca;  // PEM
  ClientCertificate client = ClientCertificate::none;
  bool only_tls13 = false;
  std::map<std::string, std::string, std::less<>> users;  // name -> bcrypt hash; empty: no password
  std::vector<std::string> files;                         // the file itself, then those that it names
};

// An Error names the file, the line and the key. The key must match the certificate, which must be valid now.
Result<WebConfig> load_web_config(const std::string& file);

// Refers to the bytes of `text`, which GnuTLS does not change.
gnutls_datum_t datum(std::string_view text);

// A text that changes if one of the files changes.
std::string state_of(const std::vector<std::string>& files);

}  // namespace fabric::exporter
