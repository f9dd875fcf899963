// SPDX-License-Identifier: Apache-2.0
// Error lines of NCCL, RCCL, UCX, libfabric, MPI, rdma-core, inference programs, the kernel and NIC firmware, and what
// they mean. lines/names.h finds the ports that a line names, lines/time.h when it was written.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace fabric::lines {

enum class Cause : uint8_t { host, cable, network, peer, software };
std::string_view to_text(Cause value);

// One message. `patterns` are alternatives, separated by '|'; '*' matches any text. A number before a '*' or at the end
// of a pattern matches a whole number only.
struct LineMessage {
  std::string_view id;
  Cause cause;  // the most likely one
  std::string_view patterns;
  std::string_view meaning;
  std::string_view next;    // a command, with {netdev} {rdma} {port} {pci} {peer}
  std::string_view source;  // project and file that prints it
  unsigned status = 0;      // status of a work completion (enum ibv_wc_status), in any library's notation; 0: none
};
const std::vector<LineMessage>& messages();

// No message is longer, so the rest of a line is not read.
inline constexpr size_t kMaxLine = 16 * 1024;

// The message that the line is; nullptr if it is unknown. Time is linear in the length of the line.
const LineMessage* recognize(std::string_view line);
bool matches(const LineMessage& message, std::string_view line);  // line: at most kMaxLine

// The vendor_err of a work completion, in words. Empty if the line has none, or its meaning is not published.
std::string vendor_error(std::string_view line);

}  // namespace fabric::lines
