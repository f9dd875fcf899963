// SPDX-License-Identifier: Apache-2.0
#include "exporter/lldp/lldp_socket.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <sys/socket.h>

#include <algorithm>
#include <iterator>

#include "wire/lldp.h"

namespace fabric::lldp {
namespace {

constexpr uint16_t kEtherType = 0x88cc;
constexpr int kIgnoreOutgoing = 23;    // PACKET_IGNORE_OUTGOING, Linux 4.20; newer than some headers
constexpr int kReceiveBuffer = 65536;  // a few dozen frames: bounds the memory under a flood

bool join(int fd, int ifindex, const std::array<uint8_t, 6>& address) {
  packet_mreq request{};
  request.mr_ifindex = ifindex;
  request.mr_type = PACKET_MR_MULTICAST;
  request.mr_alen = static_cast<unsigned short>(address.size());
  std::copy(address.begin(), address.end(), request.mr_address);
  return ::setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request) == 0;
}

// A filter on all frames: a socket for LLDP's EtherType receives nothing below Open vSwitch or a bridge that forwards
// LLDP (group_fwd_mask), because those consume the frame before it reaches protocols (net/core/dev.c,
// __netif_receive_skb_core).
bool filter_lldp(int fd) {
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_H | BPF_ABS, offsetof(ethhdr, h_proto)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kEtherType, 0, 1), BPF_STMT(BPF_RET | BPF_K, UINT32_MAX),
                          BPF_STMT(BPF_RET | BPF_K, 0)};
  const sock_fprog program{std::size(filter), filter};
  return ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

}  // namespace

Result<Fd> open_socket(int ifindex, const std::string& netdev) {
  // Protocol 0: receives nothing until it is bound to the netdev.
  Fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return error(errno, netdev + ": open a packet socket");
  const int on = 1;
  // Older kernels deliver our own frames too; receive() skips them.
  (void)::setsockopt(fd.get(), SOL_PACKET, kIgnoreOutgoing, &on, sizeof on);
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &kReceiveBuffer, sizeof kReceiveBuffer);
  if (!filter_lldp(fd.get())) return error(errno, netdev + ": listen for LLDP");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = ifindex;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return error(errno, netdev + ": listen for LLDP");
  for (const auto& destination : kDestinations)
    if (!join(fd.get(), ifindex, destination)) return error(errno, netdev + ": join LLDP's multicast address");
  return fd;
}

Result<std::optional<Bytes>> receive(const Fd& socket) {
  Bytes buffer(kMaxFrame);
  for (;;) {
    sockaddr_ll from{};
    socklen_t length = sizeof from;
    const ssize_t size =
        ::recvfrom(socket.get(), buffer.data(), buffer.size(), MSG_TRUNC, reinterpret_cast<sockaddr*>(&from), &length);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return std::optional<Bytes>{};
    if (size < 0) return error(errno, "receive LLDP");
    if (from.sll_pkttype == PACKET_OUTGOING || static_cast<size_t>(size) > buffer.size()) continue;
    buffer.resize(static_cast<size_t>(size));
    return std::optional(std::move(buffer));
  }
}

}  // namespace fabric::lldp
