// SPDX-License-Identifier: Apache-2.0
// The TCP sessions of this network namespace: sock_diag(7) (linux/inet_diag.h, net/ipv4/inet_diag.c of Linux 6.12).
#pragma once

#include <memory>

#include "base/ip.h"
#include "kernel/netlink/netlink.h"

namespace fabric::sock_diag {

struct Session {
  Ip local, remote;
  int device = 0;  // ifindex to which the socket is bound; 0: to none
  bool operator==(const Session&) const = default;
};

// Parses an answer to SOCK_DIAG_BY_FAMILY. An IPv4 address in an IPv6 socket becomes IPv4. EBADMSG: shorter than
// inet_diag_msg; EAFNOSUPPORT: another family. No I/O.
Result<Session> parse_session(View8 payload);
// Parses a file /proc/net/tcp or tcp6; skips lines in other states and malformed ones. These files do not show the
// bound device.
std::vector<Session> parse_proc_tcp(std::string_view text);

Result<std::unique_ptr<Netlink>> open();

// The established sessions of both families, of user processes and of the kernel (NFS, iSCSI). Requires no privilege.
// ENOENT: the kernel has no tcp_diag.
Result<std::vector<Session>> established(Netlink& diag);

}  // namespace fabric::sock_diag
