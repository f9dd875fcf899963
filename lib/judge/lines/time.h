// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fabric::lines {

// When a line was written, in seconds since 1970. Knows ISO 8601, syslog, ctime(3), glog, and "[seconds]" of the kernel
// (since boot) and of UCX. Assumes local time if there is no zone, and the latest past time if there is no year.
// nullopt: the line has no time.
std::optional<int64_t> time_of(std::string_view line, int64_t now, double uptime);

}  // namespace fabric::lines
