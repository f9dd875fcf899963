// SPDX-License-Identifier: Apache-2.0
#include "exporter/lldp/lldp.h"

#include <arpa/inet.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>

#include "base/clock.h"
#include "base/parse.h"
#include "exporter/setup.h"
#include "exporter/uevent.h"
#include "judge/cabling.h"
#include "node/neighbor_state.h"
#include "node/scan.h"
#include "wire/lldp.h"

namespace fabric::exporter {
namespace {

constexpr std::chrono::milliseconds kSettled{300};  // a NIC is added or removed with a burst of messages
constexpr std::chrono::seconds kRescan{60};         // interval of the rescans without a notification
constexpr double kChange = 0.2;                     // seconds until a change is in the file
constexpr double kRefresh = 10;                     // seconds until the file shows another frame of a known neighbor
constexpr int kFramesAtOnce = 16;                   // frames of one netdev, before other netdevs are served

constexpr int kReceivePages = 16;  // bounds the memory under a flood; a driver may use a page per frame

// A nonblocking packet socket for the LLDP frames of one netdev (net/packet/af_packet.c of Linux 6.12). Requires
// CAP_NET_RAW. Joins the three multicast addresses of LLDP and receives only its EtherType, without our own frames.
Result<Fd> open_socket(int ifindex, const std::string& netdev) {
  // Protocol 0: the socket receives nothing until it is bound to the netdev.
  Fd fd(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!fd) return error(errno, netdev + ": open a packet socket");
  const int on = 1;
  // Older kernels also deliver our own frames; receive_frame() skips them.
  (void)::setsockopt(fd.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, &on, sizeof on);
  const int most = kReceivePages * static_cast<int>(::sysconf(_SC_PAGESIZE));
  (void)::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &most, sizeof most);
  // A filter on all frames: a socket for LLDP's EtherType receives nothing below Open vSwitch or a bridge that forwards
  // LLDP (group_fwd_mask), because those consume the frame before it reaches protocols (net/core/dev.c,
  // __netif_receive_skb_core).
  sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_H | BPF_ABS, offsetof(ethhdr, h_proto)),
                          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, lldp::kEtherType, 0, 1),
                          BPF_STMT(BPF_RET | BPF_K, UINT32_MAX), BPF_STMT(BPF_RET | BPF_K, 0)};
  const sock_fprog program{std::size(filter), filter};
  if (::setsockopt(fd.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0)
    return error(errno, netdev + ": listen for LLDP");
  sockaddr_ll address{};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = ifindex;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return error(errno, netdev + ": listen for LLDP");
  for (const auto& destination : lldp::kDestinations) {
    packet_mreq request{};
    request.mr_ifindex = ifindex;
    request.mr_type = PACKET_MR_MULTICAST;
    request.mr_alen = static_cast<unsigned short>(destination.size());
    std::ranges::copy(destination, request.mr_address);
    if (::setsockopt(fd.get(), SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof request) != 0)
      return error(errno, netdev + ": join LLDP's multicast address");
  }
  return fd;
}

// The next frame; nullopt: none is waiting. An Error: ENETDOWN (the netdev is down; the socket works again when the
// netdev is up), ENXIO or ENODEV (the netdev is gone).
Result<std::optional<Bytes>> receive_frame(const Fd& socket) {
  Bytes buffer(lldp::kMaxFrame);
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

std::chrono::microseconds microseconds(double seconds) {
  return std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
}

// The clock of /proc/uptime, which the readers of the file use.
double seconds_since_boot() { return seconds_on(CLOCK_BOOTTIME); }

// The netdevs of the RDMA ports of this machine, with the members of bonds, without virtual functions and InfiniBand.
// Does not read settings, because that sends commands to the firmware.
Result<std::map<int, std::string>> netdevs_of_rdma_ports() {
  auto kernel = open_kernel();
  if (!kernel) return kernel.error();
  std::map<int, std::string> out;
  ScanOptions options;
  options.topology = options.settings = options.counters = options.gids = options.network = options.verbs = false;
  options.members = true;
  for (const Port& port : scan(*kernel, options).ports)
    if (port.ifindex > 0 && has_cable(port)) out.emplace(port.ifindex, port.netdev);
  return out;
}

}  // namespace

// A netdev's packet socket in the loop.
struct LldpListener::Socket {
  int ifindex = 0;
  std::string netdev;
  Fd fd;
  EventSource source;
};

LldpListener::LldpListener(LldpHost host) : host_(std::move(host)) {}

LldpListener::~LldpListener() = default;

Result<void> LldpListener::start(sd_event* loop) {
  loop_ = loop;
  auto links = NotificationSocket::open(NETLINK_ROUTE, {RTNLGRP_LINK});
  if (!links) return links.error();
  links_ = std::make_unique<NotificationSocket>(std::move(*links));
  auto done = rescan_timer_.on_time(loop, CLOCK_BOOTTIME, [this] { rescan(); });
  if (done) done = publish_timer_.on_time(loop, CLOCK_BOOTTIME, [this] { publish(); });
  if (done)
    done = expiry_timer_.on_time(loop, CLOCK_BOOTTIME, [this] {
      if (table_.expire(seconds_since_boot())) publish_within(kChange);
      schedule_expiry();
    });
  if (done)
    done = link_.on_readable(loop, links_->fd(), [this] {
      links_->drain();  // the rescan finds the change
      rescan_soon();
    });
  if (auto devices = open_uevents(); done && devices) {  // an RDMA device may come after its netdev
    devices_ = std::move(*devices);
    done = device_.on_readable(loop, devices_.get(), [this] {
      if (drain_uevents(devices_.get())) rescan_soon();
    });
  }
  if (!done) return done;
  rescan();
  publish();
  return {};
}

// The time counts from the first message of a burst, so that a link that flaps permanently does not postpone the
// rescan.
void LldpListener::rescan_soon() {
  if (std::exchange(rescan_is_near_, true)) return;
  rescan_timer_.after(kSettled);
}

void LldpListener::rescan() {
  rescan_is_near_ = false;
  rescan_timer_.after(kRescan);
  const auto netdevs = host_.netdevs();
  if (!netdevs) return report("netdevs", SD_ERR, netdevs.error().text());
  std::erase_if(sockets_, [&](const auto& socket) { return !netdevs->contains(socket.first) || !socket.second->fd; });
  for (const auto& [ifindex, netdev] : *netdevs) {
    const auto known = sockets_.find(ifindex);
    if (known == sockets_.end()) listen_to(ifindex, netdev);
    else known->second->netdev = netdev;
  }
  // A netdev without a socket cannot have missing neighbors.
  std::map<int, std::string> with_socket;
  for (const auto& [ifindex, socket] : sockets_) with_socket.emplace(ifindex, socket->netdev);
  if (table_.listen(with_socket, seconds_since_boot())) publish_within(kChange);
}

void LldpListener::listen_to(int ifindex, const std::string& netdev) {
  auto fd = open_socket(ifindex, netdev);
  if (!fd) return report("listen on " + netdev, SD_WARNING, fd.error().text());
  auto socket = std::make_unique<Socket>();
  socket->ifindex = ifindex;
  socket->netdev = netdev;
  socket->fd = std::move(*fd);
  auto added = socket->source.on_readable(loop_, socket->fd.get(), [this, at = socket.get()] { on_frames(*at); });
  if (!added) return report("listen on " + netdev, SD_WARNING, netdev + ": " + added.error().text());
  sockets_.emplace(ifindex, std::move(socket));
}

void LldpListener::on_frames(Socket& socket) {
  for (int i = 0; i < kFramesAtOnce; ++i) {
    auto frame = receive_frame(socket.fd);
    if (!frame && frame.error().code == ENETDOWN)
      return;  // reported once by the kernel; the socket works again when the netdev is up
    if (!frame) {
      // The netdev is gone; the rescan removes the socket.
      socket.source.off();
      socket.fd.reset();
      return rescan_soon();
    }
    if (!*frame) return;
    auto neighbor = lldp::parse_frame(**frame);
    if (!neighbor) {
      report("frames of " + socket.netdev, SD_WARNING, socket.netdev + ": malformed frame: " + neighbor.error().text());
      continue;
    }
    neighbor->source = state::kLldpSource;
    if (table_.hear(socket.ifindex, std::move(*neighbor), seconds_since_boot())) publish_within(kChange);
    else publish_within(kRefresh);
    schedule_expiry();
  }
}

void LldpListener::schedule_expiry() {
  if (const auto next = table_.next_expiry())
    expiry_timer_.after(microseconds(std::max(0.0, *next - seconds_since_boot()) + 0.01));
}

void LldpListener::publish_within(double seconds) {
  const double at = seconds_since_boot() + seconds;
  if (publish_at_ != 0 && publish_at_ <= at) return;
  publish_at_ = at;
  publish_timer_.after(microseconds(seconds));
}

void LldpListener::publish() {
  const Neighbors neighbors = table_.neighbors();
  auto saved = state::save_neighbors(host_.directory, neighbors, seconds_since_boot());
  if (!saved) report("publish", SD_ERR, saved.error().text());
  lines_.flush(std::chrono::steady_clock::now());
  ::sd_notifyf(0, "STATUS=Listening on %s, %s.", counted(sockets_.size(), "netdev").c_str(),
               counted(neighbors.heard.size(), "neighbor").c_str());
  publish_at_ = 0;
  publish_within(state::kNeighborHeartbeat);
}

void LldpListener::report(const std::string& subject, const char* level, const std::string& text) {
  lines_.log(subject, {level, text}, std::chrono::steady_clock::now());
}

int listen_for_lldp() {
  block_signals();
  ::signal(SIGHUP, SIG_IGN);  // `pkill -HUP fabric-exporter` is meant for the exporter
  auto loop = open_event_loop();
  if (!loop) return failed(loop.error());
  LldpListener listener({"/", netdevs_of_rdma_ports, log});
  if (auto started = listener.start(loop->get()); !started) return failed(started.error());
  ::sd_notify(0, "READY=1");
  const int status = ::sd_event_loop(loop->get());
  ::sd_notify(0, "STOPPING=1");
  if (status < 0) return EXIT_FAILURE;
  return EXIT_SUCCESS;
}

}  // namespace fabric::exporter
