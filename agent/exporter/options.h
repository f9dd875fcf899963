// SPDX-License-Identifier: Apache-2.0
// The command line of fabric-exporter.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

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

}  // namespace fabric::exporter
