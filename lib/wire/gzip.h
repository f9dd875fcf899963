// SPDX-License-Identifier: Apache-2.0
// Compressed files of the kernel: /proc/config.gz.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace fabric {

// The text of a gzip file with one member (RFC 1952). nullopt: it is damaged, or its text is longer than `most`.
std::optional<std::string> gunzip(std::string_view file, size_t most);

}  // namespace fabric
