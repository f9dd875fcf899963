// SPDX-License-Identifier: Apache-2.0
#include "model/host.h"

#include <algorithm>

#include "model/network.h"

namespace fabric {
namespace {

std::string pair_text(const ResourceLimit& limit, std::string (*text)(uint64_t)) {
  return limit.soft == limit.hard ? text(limit.soft) : text(limit.soft) + " (hard: " + text(limit.hard) + ")";
}

}  // namespace

std::string bytes_text(uint64_t bytes) {
  if (bytes == kNoLimit) return "unlimited";
  constexpr const char* kUnits[] = {" bytes", " KiB", " MiB", " GiB", " TiB"};
  size_t unit = 0;
  while (bytes != 0 && bytes % 1024 == 0 && unit + 1 < std::size(kUnits)) {
    bytes /= 1024;
    ++unit;
  }
  return std::to_string(bytes) + kUnits[unit];
}

std::string memory_text(const ResourceLimit& limit) { return pair_text(limit, bytes_text); }

std::string count_text(const ResourceLimit& limit) {
  return pair_text(limit,
                   [](uint64_t count) { return count == kNoLimit ? std::string("unlimited") : std::to_string(count); });
}

std::string FileLine::text() const { return line == 0 ? file : file + ":" + std::to_string(line); }

std::optional<unsigned> ConfValue::effective() const {
  if (!all || !own) return std::nullopt;
  return std::max(*all, *own);
}

}  // namespace fabric
