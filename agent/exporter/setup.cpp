// SPDX-License-Identifier: Apache-2.0
#include "exporter/setup.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include <cstdio>
#include <cstdlib>

#include "base/parse.h"
#include "exporter/http/http.h"
#include "judge/rule.h"
#include "kernel/kernel.h"
#include "policy/cabling.h"
#include "policy/last_good.h"

namespace fabric::exporter {

Result<ExporterOptions> parse_options(const std::vector<std::string>& arguments) {
  using Kind = ExporterOptions::Kind;
  bool is_print = false, is_lldp = false, is_help = false, is_version = false;
  const std::pair<std::string_view, bool*> flags[] = {
      {"--print", &is_print}, {"--lldp", &is_lldp}, {"--help", &is_help}, {"-h", &is_help}, {"--version", &is_version}};
  constexpr std::string_view kWithValue[] = {"--listen", "--root", "--config", "--web.config.file"};
  ExporterOptions options;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument.empty() || argument.front() != '-') return error(0, "unexpected argument '" + argument + "'");
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (const auto* flag = find_where(flags, [&](const auto& each) { return each.first == name; })) {
      if (equals != std::string::npos) return error(0, name + " does not take a value");
      *flag->second = true;
      continue;
    }
    if (!contains(kWithValue, name)) return error(0, "unknown option '" + name + "'");
    std::string value;
    if (equals != std::string::npos) value = argument.substr(equals + 1);
    else if (i + 1 < arguments.size()) value = arguments[++i];
    if (value.empty()) return error(0, name + " needs a value");
    if (name == "--root") options.root = value;
    if (name == "--config") options.config = value;
    if (name == "--web.config.file") options.web_config = value;
    if (name == "--listen") {
      if (auto address = parse_listen_address(value); !address) return address.error();
      options.listen.push_back(value);
    }
  }
  if (is_lldp &&
      (is_print || options.config || options.root != "/" || !options.listen.empty() || !options.web_config.empty()))
    return error(0, "--lldp cannot be combined with other options");
  if (is_print) options.run = Kind::print;
  if (is_lldp) options.run = Kind::lldp;
  options.help = is_help;
  options.version = is_version;
  return options;
}

std::string usage() {
  return "Usage: fabric-exporter [OPTION]...\n"
         "Serve RoCE and RDMA metrics of this node to Prometheus.\n\n"
         "  --listen ADDRESS:PORT  listen here (may be repeated): 127.0.0.1:10479, [::]:10479, :10479 (both families)\n"
         "  --config FILE          configuration (default /etc/fabric-agent/fabric-agent.toml)\n"
         "  --web.config.file FILE TLS and users, as for other Prometheus exporters; see fabric-exporter(8)\n"
         "  --root DIR             read a captured tree instead of this machine\n"
         "  --lldp                 listen for LLDP on the netdevs of RDMA ports and publish the neighbors in\n"
         "                         /run/fabric-lldp, instead of serving metrics (fabric-lldp.service)\n"
         "  --print                print one page and exit\n"
         "  --help, --version\n\n"
         "Without --listen: the sockets that systemd passes, else the configuration's, else port 10479.\n"
         "See fabric-exporter(8).\n";
}

std::string leveled(std::string_view level, std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) out.append(level).append(line).append("\n");
  return out;
}

void log(const char* level, const std::string& text) {
  static const bool is_journal = std::getenv("JOURNAL_STREAM") != nullptr;
  if (!is_journal) level = "";
  std::fputs(leveled(level, text).c_str(), stderr);
}

int failed(const Error& error) {
  log(SD_ERR, error.text());
  return EXIT_FAILURE;
}

Result<Configuration> configure(const ExporterOptions& options, const std::string& state) {
  auto root = Root::open(options.root);
  if (!root) return error(root.error().code, options.root + ": cannot read the machine there");
  // A truncated capture, or one of another version, is refused here: no reading from it would succeed. In a capture the
  // files of the configuration have their names on the captured machine.
  if (!root->is_host()) {
    auto kernel = open_kernel(options.root);
    if (!kernel) return kernel.error();
    root = std::move(kernel->root);
  }
  auto loaded = load_config_in_use(*root, options.config.value_or(""), rule_rows(), state);
  if (loaded) {
    for (const auto& warning : loaded->config.warnings) log(SD_WARNING, warning.where + ": " + warning.what);
    if (loaded->error) log(SD_WARNING, loaded->error->text() + "; the last valid configuration stays in use");
    if (!loaded->error && !state.empty())
      if (auto saved = save_last_good(state, loaded->config, rule_rows(), kOwnLastGood); !saved)
        log(SD_WARNING, saved.error().text() + "; a start with an invalid configuration would fail");
    load_cabling(*root, loaded->config.policy);
    return Configuration{std::make_shared<const Policy>(std::move(loaded->config.policy)), loaded->error};
  }
  if (loaded.error().code == ENOENT && !options.config) return Configuration{nullptr, loaded.error()};
  return loaded.error();
}

// The sockets that systemd passed (sd_listen_fds(3)), if any. A socket that does not listen is an error.
static Result<std::vector<Fd>> inherited_listeners() {
  int count = ::sd_listen_fds(1);
  if (count < 0) return error(-count, "sockets from systemd");
  std::vector<Fd> listeners;
  for (int fd = SD_LISTEN_FDS_START; fd < SD_LISTEN_FDS_START + count; ++fd) listeners.emplace_back(fd);
  for (const Fd& fd : listeners) {
    if (::sd_is_socket(fd.get(), AF_UNSPEC, SOCK_STREAM, 1) <= 0)
      return error(EINVAL, "a socket from systemd does not listen");
    int flags = ::fcntl(fd.get(), F_GETFL);
    if (flags < 0 || ::fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK) < 0) return error(errno, "a socket from systemd");
  }
  return listeners;
}

Result<std::vector<Fd>> listeners(const ExporterOptions& options, const Policy& policy) {
  if (options.listen.empty()) {
    auto inherited = inherited_listeners();
    if (!inherited || !inherited->empty()) return inherited;
  }
  std::vector<std::string> addresses = options.listen;
  if (addresses.empty()) addresses = policy.listen;
  std::vector<Fd> own;
  for (const std::string& text : addresses) {
    auto address = parse_listen_address(text);
    if (!address) return address.error();
    auto fd = listen_on(*address);
    // On a kernel without IPv6 the exporter serves on IPv4, unless --listen requires IPv6.
    if (!fd && fd.error().code == EAFNOSUPPORT && options.listen.empty() && !own.empty()) continue;
    if (!fd) return fd.error();
    own.push_back(std::move(*fd));
  }
  if (own.empty()) return error(0, "nothing to listen on: listen = [] in [exporter]; give an address, or leave it out");
  return own;
}

}  // namespace fabric::exporter
