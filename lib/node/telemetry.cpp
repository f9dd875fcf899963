// SPDX-License-Identifier: Apache-2.0
#include "node/telemetry.h"

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "kernel/netlink/ethtool_link.h"
#include "kernel/rdma/nldev.h"
#include "nic/vnic.h"
#include "node/vnic_state.h"
#include "wire/transceiver.h"

namespace fabric {
namespace {

constexpr std::chrono::milliseconds kPatience{300};  // for the owners; a whole reading may take 0.5 s
constexpr std::chrono::minutes kAge{1}, kAgeUnchanged{10};
constexpr std::chrono::seconds kReportersAge{60};

constexpr std::array<std::string_view, 3> kKinds{"qp", "cq", "mr"};  // by nldev::Object

const ResourceCount* find_total(const std::vector<ResourceCount>& counts, std::string_view kind) {
  return find_where(counts, [&](const ResourceCount& each) { return each.kind == kind && each.owner.empty(); });
}

}  // namespace

Result<void> OwnerReader::read(Netlink& rdma, uint32_t device, const std::vector<ResourceCount>& counts,
                               Clock::time_point now) {
  if (std::exchange(device_, device) != device) known_ = {};
  const auto end = Clock::now() + kPatience;
  std::optional<Error> failure;
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    KnownOwners& known = known_.at(kind);
    const ResourceCount* total = find_total(counts, kKinds.at(kind));
    if (total == nullptr) continue;
    const bool due = now >= known.due || (now >= known.changed_due && total->count != known.count);
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (due && left.count() > 0) {  // without time left, the next reading does it
      known.count = total->count;
      read(known, rdma, static_cast<nldev::Object>(kind), left, now);
    }
    if (known.failure && !failure) failure = known.failure;
  }
  if (failure) return *failure;
  return {};
}

void OwnerReader::read(KnownOwners& known, Netlink& rdma, nldev::Object kind, std::chrono::milliseconds patience,
                       Clock::time_point now) const {
  known.owners.reset();
  known.failure.reset();
  const auto owners = nldev::owners(rdma, device_, kind, patience);
  if (owners) {
    known.owners = *owners;
    known.pause = {};
    known.due = now + kAgeUnchanged;
    known.changed_due = now + kAge;
    return;
  }
  known.pause = std::clamp(2 * known.pause, kAge, kAgeUnchanged);
  known.due = known.changed_due = now + known.pause;
  const int code = owners.error().code;
  if (!is_unsupported(code) && code != ETIMEDOUT) known.failure = owners.error();
}

void OwnerReader::add_to(std::vector<ResourceCount>& counts) const {
  for (size_t kind = 0; kind < kKinds.size(); ++kind) {
    const std::string name(kKinds.at(kind));
    const auto& owners = known_.at(kind).owners;
    if (!owners || find_total(counts, name) == nullptr) continue;
    counts.push_back({name, "user", owners->user});
    counts.push_back({name, "kernel", owners->kernel});
  }
}

Result<void> diagnose_vnic(Netlink& generic, uint16_t family, const devlink::Handle& of,
                           std::vector<HealthReporter>& reporters) {
  const auto by_name = [&](std::string_view name) {
    return find_where(reporters, [&](const HealthReporter& each) { return each.name == name; });
  };
  HealthReporter* vnic = by_name(kVnicReporter);
  const HealthReporter* fatal = by_name("fw_fatal");
  if (vnic == nullptr || (fatal != nullptr && !fatal->healthy)) return {};
  auto diagnosis = devlink::read_diagnosis(generic, family, of, vnic->name);
  if (!diagnosis) return diagnosis.error();
  vnic->diagnosis = std::move(*diagnosis);
  return {};
}

TelemetryReader::TelemetryReader(const TelemetryAccess& access, const Port& port)
    : access_(access), netdev_(port.netdev) {
  link_.there = fec_.there = access_.generic != nullptr && access_.ethtool && !netdev_.empty();
  if (port.is_member()) return;  // the bond has the objects and the device's reports
  if (const auto device = find_device(access_.rdma, port.rdma)) {
    device_ = *device;
    resources_.there = true;
  }
  const std::string& function = state::devlink_device(port);
  if (access_.generic != nullptr && !function.empty()) {
    if (auto family = ethtool::resolve(*access_.generic, "devlink")) {
      devlink_ = family->id;
      handles_ = devlink::handles_of(access_.root, function);
      reporters_.there = true;
    }
  }
}

void TelemetryReader::resume(const TelemetryBackoffs& waiting) {
  link_.backoff = waiting.link;
  fec_.backoff = waiting.fec;
  resources_.backoff = waiting.resources;
  reporters_.backoff = waiting.reporters;
}

Attempt TelemetryReader::read(Port& port) {
  Attempt attempt{"telemetry", true, 0, {}};
  const auto start = Clock::now();
  port.link_status.reset();
  link_.ask(attempt, start, [&] {
    return move_answer(ethtool::get_link_status(*access_.generic, *access_.ethtool, netdev_), port.link_status);
  });
  // The kernel asks a driver for its reason only while the netdev is up (net/ethtool/linkstate.c of Linux 6.12), so
  // this reason cannot contradict the driver's. Old kernels and captured trees have the flags alone.
  const bool has_link = port.link_status ? port.link_status->up.value_or(true) : is_up(port);
  if (!has_link && !netdev_.empty() && (!port.link_status || port.link_status->reason.empty())) {
    constexpr unsigned kUp = 1;  // IFF_UP (linux/if.h)
    const auto flags = parse_number<unsigned>(access_.root.line_of("sys/class/net/" + netdev_ + "/flags"), 16);
    if (flags && (*flags & kUp) == 0) {
      if (!port.link_status) port.link_status = LinkStatus{.up = false};
      port.link_status->reason = kSwitchedOff;
    }
  }
  port.fec.reset();
  fec_.ask(attempt, start,
           [&] { return move_answer(ethtool::get_fec_status(*access_.generic, *access_.ethtool, netdev_), port.fec); });
  port.resources.clear();
  resources_.ask(attempt, start, [&] { return move_answer(nldev::resources(*access_.rdma, device_), port.resources); });
  if (access_.owners != nullptr && !port.resources.empty()) {
    if (auto done = access_.owners->read(*access_.rdma, device_, port.resources, Clock::now()); !done)
      attempt.fail(done.error().text());
    access_.owners->add_to(port.resources);
  }
  reporters_.ask(attempt, start, [&] { return start < reporters_due_ ? Result<void>() : read_reporters(); });
  port.reporters = reported_;
  attempt.seconds = seconds_since(start);
  return attempt;
}

// A missing devlink instance is not a failure: only some functions have one.
Result<void> TelemetryReader::read_reporters() {
  reported_.clear();
  for (const devlink::Handle& handle : handles_) {
    auto found = devlink::health_reporters(*access_.generic, devlink_, handle);
    if (!found && found.error().code == ENODEV) continue;
    if (!found) return found.error();
    if (may_diagnose_) {
      const auto done = diagnose_vnic(*access_.generic, devlink_, handle, *found);
      may_diagnose_ = done || done.error().code != EPERM;
    }
    reported_.insert(reported_.end(), found->begin(), found->end());
  }
  reporters_due_ = Clock::now() + kReportersAge;
  return {};
}

}  // namespace fabric
