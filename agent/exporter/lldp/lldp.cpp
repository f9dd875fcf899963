// SPDX-License-Identifier: Apache-2.0
#include "exporter/lldp/lldp.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <systemd/sd-daemon.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "checks/cabling/peer.h"
#include "exporter/lldp/lldp_socket.h"
#include "exporter/setup.h"
#include "exporter/uevent.h"
#include "scan/scan.h"
#include "store/neighbor_state.h"
#include "wire/lldp.h"

namespace fabric::exporter {
namespace {

constexpr std::chrono::milliseconds kSettle{300};  // a NIC is added or removed with a burst of messages
constexpr std::chrono::seconds kRescan{60};        // without a notification
constexpr double kChange = 0.2;                    // until a change is in the file
constexpr double kRefresh = 10;                    // until the file shows that a neighbor was heard again
constexpr int kFramesAtOnce = 16;                  // of one netdev, before the others are served

std::chrono::microseconds microseconds(double seconds) {
  return std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6));
}

// The clock of /proc/uptime, which the file's readers use.
double seconds_since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

// A netdev's packet socket in the loop.
struct LldpListener::Socket {
  int ifindex = 0;
  std::string netdev;
  Fd fd;
  EventSource source;
  std::string reported;  // the last malformed frame: logged once
};

LldpListener::LldpListener(LldpWorld world) : world_(std::move(world)) {}

LldpListener::~LldpListener() = default;

Result<void> LldpListener::start(sd_event* loop) {
  loop_ = loop;
  auto links = NotificationSocket::open(NETLINK_ROUTE, {RTNLGRP_LINK});
  if (!links) return links.error();
  links_ = std::make_unique<NotificationSocket>(std::move(*links));
  auto done = rescan_timer_.on_time(loop, CLOCK_BOOTTIME, [this] { rescan(); });
  if (done) done = publish_timer_.on_time(loop, CLOCK_BOOTTIME, [this] { publish(); });
  if (done) done = expiry_timer_.on_time(loop, CLOCK_BOOTTIME, [this] { on_expiry(); });
  if (done)
    done = link_.on_readable(loop, links_->fd(), [this] {
      links_->drain();  // the scan finds the link
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

void LldpListener::on_expiry() {
  if (table_.expire(seconds_since_boot())) publish_within(kChange);
  schedule_expiry();
}

// Counted from the first message of a burst: a link that flaps forever does not postpone it.
void LldpListener::rescan_soon() {
  if (std::exchange(rescan_is_near_, true)) return;
  rescan_timer_.after(kSettle);
}

void LldpListener::rescan() {
  rescan_is_near_ = false;
  const std::map<int, std::string> netdevs = world_.netdevs();
  std::erase_if(sockets_, [&](const auto& socket) { return !netdevs.contains(socket.first) || !socket.second->fd; });
  for (const auto& [ifindex, netdev] : netdevs) {
    const auto known = sockets_.find(ifindex);
    if (known == sockets_.end()) listen_to(ifindex, netdev);
    else known->second->netdev = netdev;
  }
  // A netdev without a socket cannot have missing neighbors.
  std::map<int, std::string> heard;
  for (const auto& [ifindex, socket] : sockets_)
    if (socket->fd) heard.emplace(ifindex, socket->netdev);
  if (table_.listen(heard, seconds_since_boot())) publish_within(kChange);
  rescan_timer_.after(kRescan);
}

void LldpListener::listen_to(int ifindex, const std::string& netdev) {
  auto fd = lldp::open_socket(ifindex, netdev);
  if (!fd) return world_.log(SD_WARNING, fd.error().text());
  auto socket = std::make_unique<Socket>();
  socket->ifindex = ifindex;
  socket->netdev = netdev;
  socket->fd = std::move(*fd);
  auto added = socket->source.on_readable(loop_, socket->fd.get(), [this, at = socket.get()] { on_frames(*at); });
  if (!added) return world_.log(SD_WARNING, netdev + ": " + added.error().text());
  sockets_.emplace(ifindex, std::move(socket));
}

void LldpListener::on_frames(Socket& socket) {
  for (int i = 0; i < kFramesAtOnce; ++i) {
    auto frame = lldp::receive(socket.fd);
    if (!frame && frame.error().code == ENETDOWN)
      return;  // reported once by the kernel; the socket works again when the netdev is up
    if (!frame) {
      // The netdev is gone; the rescan removes its socket.
      socket.source.off();
      socket.fd.reset();
      return rescan_soon();
    }
    if (!*frame) return;
    receive(socket, **frame);
  }
}

void LldpListener::receive(Socket& socket, const Bytes& frame) {
  auto neighbor = lldp::parse_frame(frame);
  if (!neighbor) {
    if (std::exchange(socket.reported, neighbor.error().text()) != neighbor.error().text())
      world_.log(SD_WARNING, socket.netdev + ": malformed frame: " + neighbor.error().text());
    return;
  }
  neighbor->source = state::kLldpSource;
  const bool changed = table_.hear(socket.ifindex, std::move(*neighbor), seconds_since_boot());
  publish_within(changed ? kChange : kRefresh);
  schedule_expiry();
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
  auto saved = state::save_neighbors(world_.directory, neighbors, seconds_since_boot());
  const std::string fault = saved ? "" : saved.error().text();
  if (std::exchange(reported_, fault) != fault && !fault.empty()) world_.log(SD_ERR, fault);
  ::sd_notifyf(0, "STATUS=Listening on %zu netdev%s, %zu neighbor%s.", sockets_.size(), sockets_.size() == 1 ? "" : "s",
               neighbors.heard.size(), neighbors.heard.size() == 1 ? "" : "s");
  publish_at_ = 0;
  publish_within(state::kNeighborHeartbeat);
}

namespace {

// Reads no settings: no firmware commands.
std::map<int, std::string> netdevs_of_rdma_ports() {
  std::map<int, std::string> out;
  auto kernel = open_kernel();
  if (!kernel) {
    log(SD_ERR, kernel.error().text());
    return out;
  }
  ScanOptions options;
  options.topology = options.settings = options.counters = options.gids = options.network = options.verbs = false;
  options.members = true;
  for (const Port& port : scan(*kernel, options).ports)
    if (port.ifindex > 0 && has_cable(port)) out.emplace(port.ifindex, port.netdev);
  return out;
}

}  // namespace

LldpWorld real_lldp_world() { return {"/", netdevs_of_rdma_ports, log}; }

int listen_for_lldp() {
  block_signals();
  ::signal(SIGHUP, SIG_IGN);  // `pkill -HUP fabric-exporter` is meant for the exporter
  auto loop = open_event_loop();
  if (!loop) {
    log(SD_ERR, loop.error().text());
    return EXIT_FAILURE;
  }
  LldpListener listener(real_lldp_world());
  if (auto started = listener.start(loop->get()); !started) {
    log(SD_ERR, started.error().text());
    return EXIT_FAILURE;
  }
  ::sd_notify(0, "READY=1");
  const int status = ::sd_event_loop(loop->get());
  ::sd_notify(0, "STOPPING=1");
  return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace fabric::exporter
