// SPDX-License-Identifier: Apache-2.0
// Start of the program: log, signals, configuration, sockets, directories.
#pragma once

#include <memory>

#include "base/fd.h"
#include "base/result.h"
#include "policy/policy.h"

namespace fabric::exporter {

struct Options {
  std::vector<std::string> listen;  // empty: systemd's sockets, else the configuration's
  std::string root = "/";
  std::optional<std::string> config;  // absent: the default file below the root, which need not exist
  std::string web_config;             // --web.config.file; empty: plain HTTP for everybody
  bool lldp = false;                  // listen for LLDP and publish the neighbors, instead of serving metrics
  bool print = false, help = false, version = false;
};

// An Error's text is a sentence for the terminal.
Result<Options> parse_options(const std::vector<std::string>& arguments);
std::string usage();

// Each line of the text with a newline and, in front, its level of sd-daemon(3): the journal takes lines one by one.
std::string leveled(std::string_view level, std::string_view text);
// To the journal, at a level of sd-daemon(3), or to the terminal.
void log(const char* level, const std::string& text);
// Logs the error; EXIT_FAILURE.
int failed(const Error& error);

struct Configuration {
  std::shared_ptr<const Policy> policy;  // null: none
  std::string no_policy{};               // why there is none, or only the last valid one
};
// Loads the configuration and logs its warnings. The default file need not exist.
Result<Configuration> configure(const Options& options);

// The sockets that systemd passes, else those of the options, else of the policy.
Result<std::vector<Fd>> listeners(const Options& options, const Policy& policy);

// Serves until SIGTERM or SIGINT. The exit status.
int serve(const Options& options);
// Reads everything once and prints the page.
int print_page(const Options& options);

}  // namespace fabric::exporter
