// SPDX-License-Identifier: Apache-2.0
#include "exporter/lldp/lldp.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/epoll.h>
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "exporter/lldp/lldp_socket.h"
#include "exporter/setup.h"
#include "exporter/uevent.h"
#include "scan/scan.h"
#include "store/neighbor_state.h"
#include "wire/lldp.h"

namespace fabric::exporter {
namespace {

constexpr double kSettle = 0.3;              // a NIC is added or removed with a burst of messages
constexpr double kRescan = 60;               // without a notification
constexpr double kChange = 0.2;              // until a change is in the file
constexpr double kRefresh = 10;              // until the file shows that a neighbor was heard again
constexpr int kFramesAtOnce = 16;            // of one netdev, before the others are served
constexpr uint64_t kTimerAccuracy = 50'000;  // microseconds

uint64_t microseconds(double seconds) { return static_cast<uint64_t>(seconds * 1e6); }

// The clock of /proc/uptime, which the file's readers use.
double seconds_since_boot() {
  timespec now{};
  ::clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

// A netdev's packet socket in the loop.
struct LldpListener::Socket {
  LldpListener* listener = nullptr;
  int ifindex = 0;
  std::string netdev;
  Fd fd;
  sd_event_source* source = nullptr;
  std::string reported;  // the last malformed frame: logged once
  ~Socket() { ::sd_event_source_disable_unref(source); }
};

LldpListener::LldpListener(LldpWorld world) : world_(std::move(world)) {}

LldpListener::~LldpListener() {
  sockets_.clear();
  for (sd_event_source* timer : {rescan_timer_, publish_timer_, expiry_timer_}) ::sd_event_source_disable_unref(timer);
}

Result<void> LldpListener::start(sd_event* loop) {
  loop_ = loop;
  auto links = NotificationSocket::open(NETLINK_ROUTE, {RTNLGRP_LINK});
  if (!links) return links.error();
  links_ = std::make_unique<NotificationSocket>(std::move(*links));
  if (int failed = ::sd_event_add_io(loop, nullptr, links_->fd(), EPOLLIN, on_links, this); failed < 0)
    return error(-failed, "event loop");
  if (auto devices = open_uevents()) {  // an RDMA device may come after its netdev
    devices_ = std::move(*devices);
    ::sd_event_add_io(loop, nullptr, devices_.get(), EPOLLIN, on_devices, this);
  }
  rescan();
  publish();
  return {};
}

void LldpListener::set_timer(sd_event_source*& timer, double seconds, int (*run)(sd_event_source*, uint64_t, void*)) {
  ::sd_event_source_disable_unref(std::exchange(timer, nullptr));
  ::sd_event_add_time_relative(loop_, &timer, CLOCK_BOOTTIME, microseconds(seconds), kTimerAccuracy, run, this);
}

int LldpListener::on_links(sd_event_source*, int, uint32_t, void* context) {
  auto* self = static_cast<LldpListener*>(context);
  self->links_->drain();  // the scan finds the link
  self->rescan_soon();
  return 0;
}

int LldpListener::on_devices(sd_event_source*, int fd, uint32_t, void* context) {
  auto* self = static_cast<LldpListener*>(context);
  if (drain_uevents(fd)) self->rescan_soon();
  return 0;
}

int LldpListener::on_rescan(sd_event_source*, uint64_t, void* context) {
  static_cast<LldpListener*>(context)->rescan();
  return 0;
}

int LldpListener::on_publish(sd_event_source*, uint64_t, void* context) {
  static_cast<LldpListener*>(context)->publish();
  return 0;
}

int LldpListener::on_expiry(sd_event_source*, uint64_t, void* context) {
  auto* self = static_cast<LldpListener*>(context);
  if (self->table_.expire(seconds_since_boot())) self->publish_within(kChange);
  self->schedule_expiry();
  return 0;
}

// Counted from the first message of a burst: a link that flaps forever does not postpone it.
void LldpListener::rescan_soon() {
  if (std::exchange(rescan_is_near_, true)) return;
  set_timer(rescan_timer_, kSettle, on_rescan);
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
  set_timer(rescan_timer_, kRescan, on_rescan);
}

void LldpListener::listen_to(int ifindex, const std::string& netdev) {
  auto fd = lldp::open_socket(ifindex, netdev);
  if (!fd) return world_.log(SD_WARNING, fd.error().text());
  auto socket = std::make_unique<Socket>();
  socket->listener = this;
  socket->ifindex = ifindex;
  socket->netdev = netdev;
  socket->fd = std::move(*fd);
  if (int failed = ::sd_event_add_io(loop_, &socket->source, socket->fd.get(), EPOLLIN, on_frames, socket.get());
      failed < 0)
    return world_.log(SD_WARNING, error(-failed, netdev + ": event loop").text());
  sockets_.emplace(ifindex, std::move(socket));
}

int LldpListener::on_frames(sd_event_source*, int, uint32_t, void* context) {
  auto* socket = static_cast<Socket*>(context);
  LldpListener* self = socket->listener;
  for (int i = 0; i < kFramesAtOnce; ++i) {
    auto frame = lldp::receive(socket->fd);
    if (!frame && frame.error().code == ENETDOWN)
      return 0;  // reported once by the kernel; the socket works again when the netdev is up
    if (!frame) {
      // The netdev is gone; the rescan removes its socket.
      ::sd_event_source_set_enabled(socket->source, SD_EVENT_OFF);
      socket->fd.reset();
      self->rescan_soon();
      return 0;
    }
    if (!*frame) return 0;
    self->receive(*socket, **frame);
  }
  return 0;
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
    set_timer(expiry_timer_, std::max(0.0, *next - seconds_since_boot()) + 0.01, on_expiry);
}

void LldpListener::publish_within(double seconds) {
  const double at = seconds_since_boot() + seconds;
  if (publish_at_ != 0 && publish_at_ <= at) return;
  publish_at_ = at;
  set_timer(publish_timer_, seconds, on_publish);
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

struct FreeLoop {
  void operator()(sd_event* loop) const { ::sd_event_unref(loop); }
};

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
    if (port.ifindex > 0 && !port.netdev.empty() && !port.virtual_function &&
        port.link_layer != LinkLayer::infiniband && port.bond != port.netdev)
      out.emplace(port.ifindex, port.netdev);
  return out;
}

}  // namespace

LldpWorld real_lldp_world() { return {"/", netdevs_of_rdma_ports, log}; }

int listen_for_lldp() {
  sd_event* created = nullptr;
  if (int failed = ::sd_event_new(&created); failed < 0) {
    log(SD_ERR, error(-failed, "event loop").text());
    return EXIT_FAILURE;
  }
  const std::unique_ptr<sd_event, FreeLoop> loop(created);
  sigset_t signals;
  ::sigemptyset(&signals);
  for (int signal : {SIGTERM, SIGINT}) ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  for (int signal : {SIGTERM, SIGINT}) ::sd_event_add_signal(loop.get(), nullptr, signal, nullptr, nullptr);
  ::signal(SIGHUP, SIG_IGN);  // `pkill -HUP fabric-exporter` is meant for the exporter
  ::sd_event_set_watchdog(loop.get(), 1);
  LldpListener listener(real_lldp_world());
  if (auto started = listener.start(loop.get()); !started) {
    log(SD_ERR, started.error().text());
    return EXIT_FAILURE;
  }
  ::sd_notify(0, "READY=1");
  const int status = ::sd_event_loop(loop.get());
  ::sd_notify(0, "STOPPING=1");
  return status < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}

}  // namespace fabric::exporter
