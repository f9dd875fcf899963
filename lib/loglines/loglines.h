// SPDX-License-Identifier: Apache-2.0
// Error messages of NCCL, RCCL, UCX, libfabric, MPI, rdma-core, inference, the kernel and NIC firmware: what they mean,
// and which port they name. Pure.
#pragma once

#include <span>

#include "node/node.h"

namespace fabric::loglines {

enum class Cause : uint8_t { host, cable, network, peer, software };
std::string_view to_text(Cause value);

// One message. `patterns` are alternatives between '|'; '*' stands for any text in between. A number that ends a part
// is a whole number.
struct Message {
  std::string_view id;
  Cause cause;  // the likeliest one
  std::string_view patterns;
  std::string_view meaning;
  std::string_view next;    // a command, with {netdev} {rdma} {port} {pci} {peer}
  std::string_view source;  // project and file that prints it
  unsigned status = 0;      // of a work completion (enum ibv_wc_status) in the notation of any library; 0: none
};
std::span<const Message> messages();

// No message is longer: the rest of a line is not read.
inline constexpr size_t kMaxLine = 16 * 1024;

// nullptr: unknown. Time is linear in the length of the line.
const Message* recognize(std::string_view line);
bool matches(const Message& message, std::string_view line);  // line: at most kMaxLine

// The vendor_err of a work completion, in words; empty: the line has none, or its meaning is not published.
std::string vendor_error(std::string_view line);

// When a line was written, in seconds since 1970: ISO 8601, syslog, ctime(3), glog, "[seconds]" of the kernel (since
// boot) and of UCX. Without a zone it is local time, without a year the past one nearest to `now`. nullopt: no time.
std::optional<int64_t> time_of(std::string_view line, int64_t now, double uptime);

// InfiniBand ports of a node by their LIDs.
using Lids = std::map<unsigned, const Port*>;

// What a line names, resolved on a node.
struct Named {
  std::vector<const Port*> ports;  // of this node, in the order of the line
  std::vector<std::string> by;     // how each is named: "GID ::ffff:10.1.0.1"
  std::string peer;                // address or GID of the other end; empty: not named
  std::string peer_lid;            // "LID 12"; empty: not named, or of this node
  std::string elsewhere;           // a device, local GID or LID that this node does not have
};
Named names_in(std::string_view line, const Node& node, const Lids& lids = {});

}  // namespace fabric::loglines
