// SPDX-License-Identifier: Apache-2.0
#include "node/published.h"

#include "base/parse.h"

namespace fabric::state {

std::optional<double> uptime(const Root& root) {
  const std::string line = root.line_of("proc/uptime");
  const auto fields = words(line);
  if (fields.empty()) return std::nullopt;
  return parse_double(fields.front());
}

}  // namespace fabric::state
