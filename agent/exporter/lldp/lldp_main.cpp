// SPDX-License-Identifier: Apache-2.0
#include <systemd/sd-daemon.h>
#include <systemd/sd-event.h>

#include <csignal>
#include <cstdlib>

#include "exporter/lldp/lldp.h"
#include "exporter/setup.h"
#include "scan/scan.h"

namespace fabric::exporter {
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
