// SPDX-License-Identifier: Apache-2.0
// RDMA counters that cost the NIC some performance and are therefore off by default (mlx5's cc_*, rdma_*):
// drivers/infiniband/core/nldev.c of Linux 6.12, since 5.16. They are off again after a driver reload.

#include "kernel/rdma/nldev.h"
#include "nic/driver.h"

namespace fabric {
namespace {

bool is_all(const Names& names) { return names.names.contains("*"); }

Result<uint32_t> device_index(const PortIo& io) {
  if (!io.kernel.rdma) return error(EPROTONOSUPPORT, "no RDMA netlink: the module ib_core is not loaded");
  auto devices = nldev::devices(*io.kernel.rdma);
  if (!devices) return devices.error();
  for (const nldev::Device& device : *devices)
    if (device.name == io.rdma) return device.index;
  return error(ENODEV, "RDMA netlink: no device " + (io.rdma.empty() ? io.netdev : io.rdma));
}

Result<std::vector<nldev::CounterStatus>> status(const PortIo& io, uint32_t device) {
  return nldev::counter_status(*io.kernel.rdma, device, io.port);
}

void read(const PortIo& io, const Keys& keys, Reading& out) {
  constexpr SettingId kId = SettingId::optional_counters;
  if (!has_key(keys, kId)) return;
  const auto device = device_index(io);
  if (!device && is_transient(device.error())) {
    out.lost = device.error();
    return;
  }
  if (!device) return out.not_offered(kId, device.error().text());
  const auto counters = status(io, *device);
  // For an unknown command RDMA netlink answers EINVAL, as for a port without counters.
  if (!counters && counters.error().code == EINVAL)
    return out.not_offered(kId, "the driver has no RDMA counters of the port, or the kernel is older than 5.16");
  if (!counters && is_transient(counters.error())) {
    out.lost = counters.error();
    return;
  }
  if (!counters) return out.not_offered(kId, counters.error().text());
  Names on;
  for (const auto& counter : *counters) {
    if (!counter.optional_on) continue;
    out.capacity.optional_counters.push_back(counter.name);
    if (*counter.optional_on) on.names.insert(counter.name);
  }
  if (out.capacity.optional_counters.empty()) return out.not_offered(kId, "the driver has no optional counters");
  out.values.optional_counters = std::move(on);
}

// The kernel needs the whole list: it switches off counters that are not listed.
Result<void> write(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  auto device = device_index(io);
  if (!device) return device.error();
  auto counters = status(io, *device);
  if (!counters) return counters.error();
  std::vector<uint32_t> indices;
  for (const auto& counter : *counters)
    if (counter.optional_on &&
        (is_all(*want.optional_counters) || want.optional_counters->names.contains(counter.name)))
      indices.push_back(counter.index);
  // The index was looked up by the name: the name is still the device's, and the index stays its own.
  if (auto same = check_rdma_name(io); !same) return same;
  return nldev::set_optional_counters(*io.kernel.rdma, *device, io.port, indices);
}

void expected(Qos& want, const Reading& have) {
  const auto& known = have.capacity.optional_counters;
  if (want.optional_counters && is_all(*want.optional_counters) && !known.empty())
    want.optional_counters->names = {known.begin(), known.end()};
}

std::string impossible(const Setting&, const Qos& want, const Reading& have) {
  const auto& known = have.capacity.optional_counters;
  for (const std::string& name : want.optional_counters->names) {
    if (contains(known, name)) continue;
    Names all;
    all.names = {known.begin(), known.end()};
    return "the driver has no optional counter \"" + name + "\"; it has " + to_text(all);
  }
  return {};
}

std::string remedy(const Setting&, int code) {
  if (code == EOPNOTSUPP || code == EINVAL)
    return "the NIC's firmware does not count this (it needs flow steering for RDMA)";
  return {};
}

// mlx5 adds counting steering rules (mlx5_ib_modify_stat()).
constexpr SettingOp kOps[] = {
    {SettingId::optional_counters,
     {write, "drivers/infiniband/core/nldev.c nldev_stat_set_counter_dynamic_doit()", kHarmless, Reach::itself}},
};

}  // namespace

const Feature kOptionalCounters{
    .ops = kOps, .read = read, .expected = expected, .impossible = impossible, .remedy = remedy};

}  // namespace fabric
