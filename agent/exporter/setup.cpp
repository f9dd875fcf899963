// SPDX-License-Identifier: Apache-2.0
#include "exporter/setup.h"

#include <systemd/sd-daemon.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "config/cabling.h"
#include "config/config.h"
#include "exporter/http/http.h"
#include "kernel/capture/root.h"
#include "kernel/kernel.h"

namespace fabric::exporter {

void log(const char* level, const std::string& text) {
  static const bool journal = std::getenv("JOURNAL_STREAM") != nullptr;
  std::fprintf(stderr, "%s%s\n", journal ? level : "", text.c_str());
}

void block_signals() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT, SIGHUP}) ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  ::signal(SIGPIPE, SIG_IGN);
}

Result<Configuration> configure(const Options& options) {
  auto root = Root::open(options.root);
  if (!root) return error(root.error().code, options.root + ": cannot read the machine there");
  // A truncated capture, or one of another version, is refused here: no reading of it would succeed.
  if (!root->is_host())
    if (const auto kernel = open_kernel(options.root); !kernel) return kernel.error();
  std::string file = options.config.value_or(options.root + (options.root.back() == '/' ? "" : "/") + kConfigFile);
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
