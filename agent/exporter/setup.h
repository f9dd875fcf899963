// SPDX-License-Identifier: Apache-2.0
// Start of the program: options, log, configuration, sockets.
#pragma once

#include <memory>

#include "base/fd.h"
#include "base/result.h"
#include "policy/policy.h"

namespace fabric::exporter {

struct ExporterOptions {
  std::vector<std::string> listen;  // empty: systemd's sockets, else the configuration's
  std::string root = "/";
  std::optional<std::string> config;  // nullopt: the default file below the root, which need not exist
  std::string web_config;             // --web.config.file; empty: plain HTTP without passwords
  enum class Kind : uint8_t {
    serve,
    print,  // the page, once
    lldp,   // listen for LLDP and publish the neighbors
  } run = Kind::serve;
  bool help = false, version = false;
};

// The text of an Error is for the terminal.
Result<ExporterOptions> parse_options(const std::vector<std::string>& arguments);
std::string usage();

// Each line of the text with its level of sd-daemon(3) in front and a newline: the journal treats every line as a
// message.
std::string leveled(std::string_view level, std::string_view text);
// Logs to the journal, at a level of sd-daemon(3), or to the terminal.
void log(const char* level, const std::string& text);
// Logs the error and returns EXIT_FAILURE.
int failed(const Error& error);

struct Configuration {
  std::shared_ptr<const Policy> policy;  // null: none
  std::optional<Error> no_policy{};      // the reason if there is no policy, or only the last valid one
};
// Loads the configuration and logs its warnings. The default file need not exist. Keeps a copy of a valid one in the
// folder `state`, for a start with an invalid one on a node without an agent; empty: keeps none.
Result<Configuration> configure(const ExporterOptions& options, const std::string& state = {});

// The sockets that systemd passes, else those of the options, else of the policy.
Result<std::vector<Fd>> listeners(const ExporterOptions& options, const Policy& policy);

}  // namespace fabric::exporter
