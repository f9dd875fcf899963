// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fabric::lines {

// When a line was written, in seconds since 1970: ISO 8601, syslog, ctime(3), glog, "[seconds]" of the kernel (since
// boot) and of UCX. Without a zone it is local time, without a year the past one nearest to `now`. nullopt: no time.
std::optional<int64_t> time_of(std::string_view line, int64_t now, double uptime);

}  // namespace fabric::lines
