// SPDX-License-Identifier: Apache-2.0
// The event sources of the agent.
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/inotify.h>

#include <csignal>

#include "agentd/agent.h"
#include "base/files.h"

namespace fabric::agentd {
namespace {

Result<void> checked(int result, const char* what) {
  if (result < 0) return error(-result, what);
  return {};
}

}  // namespace

Result<void> Agent::open() {
  auto loop = open_event_loop();
  if (!loop) return loop.error();
  event_ = std::move(*loop);
  auto added = listen(route_, NotificationSocket::open(NETLINK_ROUTE, {RTNLGRP_LINK, RTNLGRP_DCB}),
                      [](const Message& message) { return parse_route(message.type, message.payload); });
  if (added && kernel_.ethtool && kernel_.ethtool->monitor_group != 0)
    added = listen(ethtool_, NotificationSocket::open(NETLINK_GENERIC, {kernel_.ethtool->monitor_group}),
                   [](const Message& message) { return parse_ethtool(message.payload); });
  if (added) added = timer_.on_time(event_.get(), CLOCK_MONOTONIC, [this] { on_timer(); });
  if (added) added = hangup_.on_signal(event_.get(), SIGHUP, [this] { reload(); });
  if (!added) return added;
  open_record();
  return open_devices();
}

Result<void> Agent::listen(Ear& ear, Result<NotificationSocket> socket, Parse parse) {
  if (!socket) return socket.error();
  ear.socket = std::move(*socket);
  return ear.source.on_readable(event_.get(), ear.socket->fd(),
                                [this, &ear, parse = std::move(parse)] { drain(*ear.socket, parse); });
}

// Its folder: the record of an `apply --confirm` appears in it, is replaced, and goes.
void Agent::open_record() {
  if (!kernel_.root.is_host()) return;
  auto folder = make_directory_of(manager_.directory(), confirm::kFile);
  if (!folder) return;  // reported with the first write, which needs it
  record_folder_ = std::move(*folder);
  const std::string path =
      "/proc/self/fd/" + std::to_string(record_folder_.get());  // libsystemd 249 takes no descriptor
  sd_event_source* source = nullptr;                            // unreferenced, it would leak (libsystemd 252)
  auto added = checked(
      sd_event_add_inotify(event_.get(), &source, path.c_str(), IN_MOVED_TO | IN_DELETE, on_record, this), "inotify");
  record_.reset(source);
  // kubelet and others can exhaust root's instances (fs.inotify.max_user_instances); polling is good enough.
  if (!added)
    write_journal({message_id::trouble, LOG_WARNING, added.error().text() + "; polling for apply --confirm instead"});
}

Result<void> Agent::open_devices() {
  sd_device_monitor* monitor = nullptr;
  if (int r = sd_device_monitor_new(&monitor); r < 0) return error(-r, "device monitor");
  devices_.reset(monitor);
  auto added = checked(sd_device_monitor_attach_event(monitor, event_.get()), "device monitor");
  // pci: a GPU that comes or goes makes NICs compute NICs, or host NICs again (match.role).
  for (const char* subsystem : {"infiniband", "net", "pci"})
    if (added)
      added =
          checked(sd_device_monitor_filter_add_match_subsystem_devtype(monitor, subsystem, nullptr), "device monitor");
  if (added) added = checked(sd_device_monitor_start(monitor, on_device, this), "device monitor");
  return added;
}

}  // namespace fabric::agentd
