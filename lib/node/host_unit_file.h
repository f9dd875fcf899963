// SPDX-License-Identifier: Apache-2.0
// The syntax of systemd's unit and configuration files (systemd.syntax(7); src/shared/conf-parser.c of systemd 252),
// and of its resource limits (systemd.exec(5); src/basic/rlimit-util.c and parse_size() of src/basic/parse-util.c).
#pragma once

#include <string_view>

#include "node/host.h"

namespace fabric::unit_file {

struct Assignment {
  std::string section, key, value;
  unsigned line = 0;  // the first of a continued one
};

// In file order. Leaves out everything that systemd ignores: comments, assignments outside of a section, lines without
// "=", and everything after a malformed section header, where systemd stops reading.
std::vector<Assignment> parse(std::string_view text);

// "infinity", "8M", "1G 512M", "1.5G", "64K:infinity" (soft:hard), in bytes; nothing where systemd ignores the line: an
// empty value, a soft limit above the hard one, a specifier.
std::optional<ResourceLimit> parse_memory_limit(std::string_view text);
// The same of a plain number: "1024:524288".
std::optional<ResourceLimit> parse_count_limit(std::string_view text);

}  // namespace fabric::unit_file
