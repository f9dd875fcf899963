// SPDX-License-Identifier: Apache-2.0
#include "exporter/setup.h"

#include <systemd/sd-daemon.h>

#include <cstdio>
#include <cstdlib>

#include "config/cabling.h"
#include "config/config.h"
#include "exporter/http/http.h"
#include "kernel/capture/root.h"
#include "kernel/kernel.h"

namespace fabric::exporter {
namespace {

// "--name=value" in two, "--name value" taken together.
struct Reader {
  const std::vector<std::string>& arguments;
  size_t at = 0;

  Result<std::string> value(const std::string& name, std::optional<std::string> attached) {
    if (!attached && at < arguments.size()) attached = arguments[at++];
    if (!attached || attached->empty()) return error(0, name + " needs a value");
    return std::move(*attached);
  }
};

Result<void> take(Options& options, Reader& reader, const std::string& name, std::optional<std::string> attached) {
  if (name == "--print" || name == "--lldp" || name == "--help" || name == "-h" || name == "--version") {
    if (attached) return error(0, name + " does not take a value");
    (name == "--print"     ? options.print
     : name == "--lldp"    ? options.lldp
     : name == "--version" ? options.version
                           : options.help) = true;
    return {};
  }
  if (name != "--listen" && name != "--root" && name != "--config" && name != "--web.config.file")
    return error(0, "unknown option '" + name + "'");
  auto value = reader.value(name, std::move(attached));
  if (!value) return value.error();
  if (name == "--root") options.root = *value;
  if (name == "--config") options.config = *value;
  if (name == "--web.config.file") options.web_config = *value;
  if (name == "--listen") {
    if (auto address = parse_address(*value); !address) return address.error();
    options.listen.push_back(*value);
  }
  return {};
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  Options options;
  Reader reader{arguments};
  while (reader.at < arguments.size()) {
    const std::string& argument = arguments[reader.at++];
    if (argument.empty() || argument.front() != '-') return error(0, "unexpected argument '" + argument + "'");
    size_t equals = argument.find('=');
    std::optional<std::string> attached;
    if (equals != std::string::npos) attached = argument.substr(equals + 1);
    if (auto taken = take(options, reader, argument.substr(0, equals), std::move(attached)); !taken)
      return taken.error();
  }
  if (options.lldp && (options.print || options.config || options.root != "/" || !options.listen.empty() ||
                       !options.web_config.empty()))
    return error(0, "--lldp cannot be combined with other options");
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

void log(const char* level, const std::string& text) {
  static const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
  std::fprintf(stderr, "%s%s\n", journal ? level : "", text.c_str());
}

Result<Configuration> configure(const Options& options) {
  auto root = Root::open(options.root);
  if (!root) return error(root.error().code, options.root + ": cannot read the machine there");
  // A truncated capture, or one of another version, is refused here: no reading of it would succeed.
  if (!root->is_host())
    if (const auto kernel = open_kernel(options.root); !kernel) return kernel.error();
  const std::string file = options.config.value_or(config_file_below(options.root));
  auto loaded = load_config_in_use(options.root, file);
  if (loaded) {
    for (const auto& warning : loaded->config.warnings) log(SD_WARNING, warning.where + ": " + warning.what);
    if (!loaded->error.empty()) log(SD_CRIT, loaded->error + "; the last valid configuration stays in use");
    load_cabling(*root, loaded->config.policy);
    return Configuration{std::make_shared<const Policy>(std::move(loaded->config.policy)), loaded->error};
  }
  if (loaded.error().code == ENOENT && !options.config) return Configuration{nullptr, loaded.error().text()};
  return loaded.error();
}

Result<std::vector<Fd>> listeners(const Options& options, const Policy& policy) {
  if (options.listen.empty()) {
    auto inherited = inherited_listeners();
    if (!inherited || !inherited->empty()) return inherited;
  }
  std::vector<Fd> own;
  for (const std::string& text : options.listen.empty() ? policy.listen : options.listen) {
    auto address = parse_address(text);
    if (!address) return address.error();
    auto fd = listen_on(*address);
    // Without IPv6 it serves on IPv4, unless --listen requires IPv6.
    if (!fd && fd.error().code == EAFNOSUPPORT && options.listen.empty() && !own.empty()) continue;
    if (!fd) return fd.error();
    own.push_back(std::move(*fd));
  }
  if (own.empty()) return error(0, "nothing to listen on: listen = [] in [exporter]; give an address, or leave it out");
  return own;
}

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

}  // namespace

std::string state_directory() { return environment("RUNTIME_DIRECTORY"); }
std::string lasting_directory() { return environment("STATE_DIRECTORY"); }

}  // namespace fabric::exporter
