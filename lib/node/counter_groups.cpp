// SPDX-License-Identifier: Apache-2.0
#include "node/counter_groups.h"

#include "base/parse.h"
#include "kernel/netlink/ethtool_link.h"
#include "kernel/rdma/nldev.h"
#include "wire/transceiver.h"

namespace fabric {
namespace {

constexpr std::chrono::seconds kReportersAge{60};

// sysfs-class-net, "flags". The kernel asks a driver for its reason only while the netdev is up
// (net/ethtool/linkstate.c of Linux 6.12), so it cannot contradict this one.
void name_switched_off(const Root& root, const std::string& netdev, LinkStatus& link) {
  constexpr unsigned kUp = 1;  // IFF_UP (linux/if.h)
  if (link.up.value_or(true) || !link.reason.empty()) return;
  const auto flags = parse_number<unsigned>(root.line_of("sys/class/net/" + netdev + "/flags"), 16);
  if (flags && (*flags & kUp) == 0) link.reason = kSwitchedOff;
}

}  // namespace

TelemetryReader::TelemetryReader(const TelemetryAccess& access, const Port& port)
    : access_(access), netdev_(port.netdev) {
  link_.there = fec_.there = access_.generic != nullptr && access_.ethtool && !netdev_.empty();
  if (port.is_member()) return;  // the bond has the objects and the device's reports
  if (const auto device = find_device(access_.rdma, port.rdma)) device_ = *device, resources_.there = true;
  if (access_.generic != nullptr && !port.pci.empty()) {
    if (auto family = ethtool::resolve(*access_.generic, "devlink")) {
      devlink_ = family->id;
      handles_ = devlink::handles_of(access_.root, port.pci);
      reporters_.there = true;
    }
  }
}

void TelemetryReader::resume(const Waiting& waiting) {
  link_.backoff = waiting.link;
  fec_.backoff = waiting.fec;
  resources_.backoff = waiting.resources;
  reporters_.backoff = waiting.reporters;
}

void TelemetryReader::read_owners(Port& port, Attempt& attempt) const {
  if (access_.owners == nullptr || port.resources.empty()) return;
  if (auto done = access_.owners->read(*access_.rdma, device_, port.resources, Clock::now()); !done)
    attempt.fail(done.error().text());
  access_.owners->add_to(port.resources);
}

Attempt TelemetryReader::read(Port& port) {
  Attempt attempt{"telemetry", true, 0, {}};
  const auto start = Clock::now();
  port.link_status.reset();
  link_.ask(attempt, start, [&] {
    return take(ethtool::get_link_status(*access_.generic, *access_.ethtool, netdev_), port.link_status);
  });
  if (port.link_status) name_switched_off(access_.root, netdev_, *port.link_status);
  port.fec.reset();
  fec_.ask(attempt, start,
           [&] { return take(ethtool::get_fec_status(*access_.generic, *access_.ethtool, netdev_), port.fec); });
  port.resources.clear();
  resources_.ask(attempt, start, [&] { return take(nldev::resources(*access_.rdma, device_), port.resources); });
  read_owners(port, attempt);
  reporters_.ask(attempt, start, [&] { return start < reporters_due_ ? Result<void>() : read_reporters(); });
  port.reporters = reported_;
  attempt.seconds = seconds_since(start);
  return attempt;
}

// A missing instance is not a failure: only some functions have one.
Result<void> TelemetryReader::read_reporters() {
  reported_.clear();
  for (const devlink::Handle& handle : handles_) {
    auto found = devlink::health_reporters(*access_.generic, devlink_, handle);
    if (!found && found.error().code == ENODEV) continue;
    if (!found) return found.error();
    reported_.insert(reported_.end(), found->begin(), found->end());
  }
  reporters_due_ = Clock::now() + kReportersAge;
  return {};
}

}  // namespace fabric
