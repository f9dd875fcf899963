// SPDX-License-Identifier: Apache-2.0
// The text that log collectors put around a line: docker (json-file), CRI, journalctl -o json, syslog, terminal colors.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fabric::lines {

// With its envelope a line of kMaxLine is not longer, if few of its characters are escaped.
inline constexpr size_t kMaxRaw = 64 * 1024;

// The mark of the form around a line: a level of syslog (warning or worse; notice or less, of the kernel only, because
// services print errors with it, too), or a level in words.
enum class LineLevel : uint8_t { none, problem, information };

struct Unwrapped {
  std::string text;             // the line as the program printed it
  std::optional<int64_t> time;  // of the envelope, in seconds since 1970
  bool is_part = false;         // the next entry of the same stream continues the line
  LineLevel level = LineLevel::none;
};
// The formats: docker's json-file ("log", "stream", "time"), Kubernetes' CRI ("TIME stdout F TEXT"), journalctl -o json
// (systemd.journal-fields(7): MESSAGE is a list of bytes if it has control characters), JSON objects with "message" or
// "msg", and the priority of syslog (RFC 3164, 5424). Other lines are returned without colors.
Unwrapped unwrap(std::string_view line);

// Why a file with this beginning cannot be read as text, and the command that reads it: "compressed (gzip): zcat FILE |
// fabric-agentctl explain -". Empty: it is text.
std::string not_text(std::string_view beginning);

}  // namespace fabric::lines
