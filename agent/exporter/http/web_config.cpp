// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/web_config.h"

#include <fcntl.h>
#include <gnutls/x509.h>
#include <sys/stat.h>
#include <yaml.h>

#include <ctime>
#include <memory>

#include "base/fd.h"
#include "base/find.h"
#include "base/parse.h"

namespace fabric::exporter {

gnutls_datum_t datum(std::string_view text) {
  return {reinterpret_cast<unsigned char*>(const_cast<char*>(text.data())), static_cast<unsigned>(text.size())};
}

namespace {

constexpr size_t kMaxFile = 256 * 1024;
constexpr unsigned kMaxCost = 12;  // 2^12 rounds block the only thread for 0.3 s

// Requires that only the owner can write the file, and that others cannot read a secret file.
Result<std::string> read_file(const std::string& name, bool secret) {
  Fd fd(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return error(errno, name);
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return error(errno, name);
  if (!S_ISREG(status.st_mode)) return error(0, name + ": not a regular file");
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) return error(0, name + ": unsafe owner: chown root " + name);
  if (secret && (status.st_mode & 027U) != 0) return error(0, name + ": unsafe permissions: chmod o=,g-w " + name);
  if ((status.st_mode & 022U) != 0) return error(0, name + ": unsafe permissions: chmod go-w " + name);
  auto text = read_all(fd.get(), kMaxFile);
  if (!text) return error(text.error().code, name);
  return text;
}

class Document {
 public:
  explicit Document(const std::string& text, const std::string& name) : name_(name) {
    ::yaml_parser_initialize(&parser_);
    ::yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
    loaded_ = ::yaml_parser_load(&parser_, &document_) == 1;
  }
  ~Document() {
    if (loaded_) ::yaml_document_delete(&document_);
    ::yaml_parser_delete(&parser_);
  }
  Document(const Document&) = delete;
  Document& operator=(const Document&) = delete;

  Result<void> ok() const {
    if (loaded_) return {};
    const char* problem = parser_.problem;
    if (problem == nullptr) problem = "not YAML";
    return error(0, name_ + ":" + std::to_string(parser_.problem_mark.line + 1) + ": " + problem);
  }
  yaml_node_t* root() { return ::yaml_document_get_root_node(&document_); }
  Error at(const yaml_node_t& node, const std::string& what) const {
    return error(0, name_ + ":" + std::to_string(node.start_mark.line + 1) + ": " + what);
  }
  static std::string text(const yaml_node_t& node) {
    if (node.type != YAML_SCALAR_NODE) return "";
    return {reinterpret_cast<const char*>(node.data.scalar.value), node.data.scalar.length};
  }
  struct KeyValue {
    std::string name;  // the text of the key
    const yaml_node_t *key, *value;
  };
  // The pairs of a mapping. A repeated name is an error.
  Result<std::vector<KeyValue>> pairs(const yaml_node_t& mapping, const std::string& where) {
    std::vector<KeyValue> out;
    if (mapping.type == YAML_SCALAR_NODE && text(mapping).empty()) return out;  // "basic_auth_users:" without users
    if (mapping.type != YAML_MAPPING_NODE) return at(mapping, where + ": expected a mapping");
    for (const auto* pair = mapping.data.mapping.pairs.start; pair < mapping.data.mapping.pairs.top; ++pair) {
      const yaml_node_t* key = ::yaml_document_get_node(&document_, pair->key);
      const std::string name = text(*key);
      if (name.empty()) return at(*key, where + ": a key is not a text");
      if (contains(out, name, &KeyValue::name)) return at(*key, name + ": twice");
      out.push_back({name, key, ::yaml_document_get_node(&document_, pair->value)});
    }
    return out;
  }

 private:
  std::string name_;
  yaml_parser_t parser_{};
  yaml_document_t document_{};
  bool loaded_ = false;
};

Result<void> read_users(Document& document, const yaml_node_t& mapping, WebConfig& out) {
  const auto users = document.pairs(mapping, "basic_auth_users");
  if (!users) return users.error();
  for (const Document::KeyValue& user : *users) {
    const std::string hash = Document::text(*user.value), who = "user " + clean_text(user.name);
    if (user.name.find(':') != std::string::npos) return document.at(*user.key, who + ": ':' in a name");
    // bcrypt: "$2b$10$", then 53 characters; 10 is the cost.
    if (hash.size() != 60 || hash[0] != '$' || hash[1] != '2' || hash[3] != '$' || hash[6] != '$' ||
        std::string_view("aby").find(hash[2]) == std::string_view::npos)
      return document.at(*user.value, who + ": expected a bcrypt hash (htpasswd -nBC 10 NAME)");
    if (parse_number<unsigned>(hash.substr(4, 2)).value_or(99) > kMaxCost)
      return document.at(*user.value, who + ": cost above " + std::to_string(kMaxCost) +
                                          ": a login would stop the exporter for seconds");
    out.users[user.name] = hash;
  }
  return {};
}

Result<void> check_time(const std::string& name, const std::string& pem) {
  const gnutls_datum_t data = datum(pem);
  gnutls_x509_crt_t* list = nullptr;
  unsigned count = 0;
  if (const int failed = ::gnutls_x509_crt_list_import2(&list, &count, &data, GNUTLS_X509_FMT_PEM, 0); failed < 0)
    return error(0, name + ": no certificate: " + ::gnutls_strerror(failed));
  const std::time_t now = std::time(nullptr), from = ::gnutls_x509_crt_get_activation_time(list[0]),
                    until = ::gnutls_x509_crt_get_expiration_time(list[0]);
  for (unsigned i = 0; i < count; ++i) ::gnutls_x509_crt_deinit(list[i]);
  ::gnutls_free(list);
  if (until < now) return error(0, name + ": the certificate expired at " + time_text(until));
  if (from > now) return error(0, name + ": the certificate is not valid before " + time_text(from));
  return {};
}

// Does the same as libmicrohttpd at its start, so that the reason of a failure can be reported.
Result<void> check_pair(const WebConfig& web) {
  gnutls_certificate_credentials_t raw = nullptr;
  if (::gnutls_certificate_allocate_credentials(&raw) < 0) return error(ENOMEM, "TLS");
  const std::unique_ptr<void, void (*)(void*)> owner(raw, [](void* credentials) {
    ::gnutls_certificate_free_credentials(static_cast<gnutls_certificate_credentials_t>(credentials));
  });
  const gnutls_datum_t certificate = datum(web.certificate), key = datum(web.key), ca = datum(web.client_ca);
  if (const int failed = ::gnutls_certificate_set_x509_key_mem(raw, &certificate, &key, GNUTLS_X509_FMT_PEM);
      failed < 0)
    return error(0, web.files[2] + ": not the key of " + web.files[1] + ": " + ::gnutls_strerror(failed));
  if (!web.client_ca.empty() && ::gnutls_certificate_set_x509_trust_mem(raw, &ca, GNUTLS_X509_FMT_PEM) <= 0)
    return error(0, web.files[3] + ": no certificate");
  return {};
}

Result<void> read_tls(Document& document, const yaml_node_t& section, const yaml_node_t& mapping,
                      const std::string& file, WebConfig& out) {
  constexpr std::string_view kKnown[] = {"cert_file", "key_file", "client_auth_type", "client_ca_file", "min_version"};
  const auto pairs = document.pairs(mapping, "tls_server_config");
  if (!pairs) return pairs.error();
  std::map<std::string, std::pair<std::string, const yaml_node_t*>> given;  // key -> text and place of the value
  for (const Document::KeyValue& pair : *pairs) {
    if (!contains(kKnown, pair.name))
      return document.at(*pair.key,
                         "unknown key tls_server_config." + clean_text(pair.name) + "; known here: " + joined(kKnown));
    std::string text = Document::text(*pair.value);
    if (text.empty()) return document.at(*pair.value, pair.name + ": expected a text");
    given[pair.name] = {std::move(text), pair.value};
  }
  for (const char* key : {"cert_file", "key_file"})
    if (!given.contains(key)) return document.at(section, std::string("tls_server_config: ") + key + " is missing");

  const auto& [type, type_at] = given["client_auth_type"];
  if (type == "RequireAndVerifyClientCert") out.client = ClientCertificate::required;
  else if (type == "VerifyClientCertIfGiven") out.client = ClientCertificate::if_given;
  else if (!type.empty() && type != "NoClientCert")
    return document.at(
        *type_at, "client_auth_type: expected NoClientCert, VerifyClientCertIfGiven or RequireAndVerifyClientCert");
  const auto& [version, version_at] = given["min_version"];
  if (!version.empty() && version != "TLS12" && version != "TLS13")
    return document.at(*version_at, "min_version: expected TLS12 or TLS13");
  out.only_tls13 = version == "TLS13";
  const bool has_ca = given.contains("client_ca_file");
  if (has_ca != (out.client != ClientCertificate::none))
    return document.at(section, "tls_server_config: client_ca_file and client_auth_type require each other");

  for (const auto& [key, pem] :
       {std::pair{"cert_file", &out.certificate}, {"key_file", &out.key}, {"client_ca_file", &out.client_ca}}) {
    if (!given.contains(key)) continue;
    const auto& [name, name_at] = given[key];
    // Paths are relative to the file, as in exporter-toolkit.
    std::string path = name;
    if (!path.starts_with('/')) path.insert(0, file, 0, file.rfind('/') + 1);
    auto text = read_file(path, pem == &out.key);
    if (!text) return document.at(*name_at, std::string(key) + ": " + text.error().text());
    *pem = std::move(*text);
    out.files.push_back(std::move(path));
  }
  out.tls = true;
  if (auto valid = check_time(out.files[1], out.certificate); !valid) return valid;
  return check_pair(out);
}

}  // namespace

Result<WebConfig> load_web_config(const std::string& file) {
  const auto text = read_file(file, true);
  if (!text) return text.error();
  WebConfig out;
  out.files = {file};
  Document document(*text, file);
  if (auto ok = document.ok(); !ok) return ok.error();
  if (document.root() == nullptr) return error(0, file + ": empty");
  const auto sections = document.pairs(*document.root(), file);
  if (!sections) return sections.error();
  for (const Document::KeyValue& section : *sections) {
    Result<void> read;
    if (section.name == "basic_auth_users") read = read_users(document, *section.value, out);
    else if (section.name == "tls_server_config") read = read_tls(document, *section.key, *section.value, file, out);
    else
      read = document.at(*section.key, "unknown key " + clean_text(section.name) +
                                           "; known here: tls_server_config, basic_auth_users");
    if (!read) return read.error();
  }
  if (!out.tls && out.users.empty())
    return error(0, file + ": neither tls_server_config nor basic_auth_users: nothing is protected");
  return out;
}

std::string state_of(const std::vector<std::string>& files) {
  std::string out;
  for (const std::string& name : files) {
    struct stat status {};  // stays 0 if the file is absent
    (void)::stat(name.c_str(), &status);
    for (const auto number : {int64_t(status.st_ino), int64_t(status.st_size), int64_t(status.st_mode),
                              int64_t(status.st_mtim.tv_sec), int64_t(status.st_mtim.tv_nsec)})
      out += std::to_string(number) + " ";
  }
  return out;
}

}  // namespace fabric::exporter
