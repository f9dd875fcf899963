// SPDX-License-Identifier: Apache-2.0
// Defaults of rdma_cm connections: drivers/infiniband/core/cma_configfs.c of Linux 6.12. The values are in the kernel's
// cma_device, not in the directory: they survive its removal, and are lost when the RDMA device is registered again
// (driver reload); a directory that outlives its device answers ENODEV until it is created again.
#include "kernel/rdma/infiniband.h"
#include "nic/driver.h"
#include "nic/generic/configfs_item.h"
#include "nic/generic/file_settings.h"

namespace fabric {
namespace {

constexpr const char* kFolder = "sys/kernel/config/rdma_cm";
constexpr std::string_view kV1 = "IB/RoCE v1", kV2 = "RoCE v2";  // gid_type_str[], drivers/infiniband/core/cache.c

// Calls `act(folder of the port)` while the device's directory exists. Removes the directory only if it was created
// here.
template <class Act>
Result<void> in_port(const PortIo& io, Act&& act) {
  const Root& root = io.kernel.root;
  const std::string device = std::string(kFolder) + "/" + io.rdma;
  const std::string port = device + "/ports/" + std::to_string(io.port);
  const bool existed = root.exists(device);
  Result<void> done;
  for (int tries = 1; tries <= ConfigfsItem::kTries; ++tries) {
    auto item = ConfigfsItem::open(root, device);
    if (!item) return item.error();
    done = act(port);
    if (done || item->exists()) break;
  }
  if (done || done.error().code != ENODEV || !existed) return done;
  if (auto gone = root.remove_directory(device); !gone) return gone;
  if (auto made = root.make_directory(device); !made) return made;
  return act(port);
}

Result<void> read_port(const PortIo& io, const Keys& keys, const std::string& folder, Qos& out) {
  const Root& root = io.kernel.root;
  if (has_key(keys, SettingId::roce_mode)) {
    auto mode = root.read_line(folder + "/default_roce_mode");
    if (!mode) return mode.error();
    if (*mode == kV1) out.roce_mode = RoceMode::v1;
    if (*mode == kV2) out.roce_mode = RoceMode::v2;
  }
  if (has_key(keys, SettingId::roce_tos)) {
    auto tos = root.read_line(folder + "/default_roce_tos");
    if (!tos) return tos.error();
    out.roce_tos = file_settings::number(*tos);
  }
  return {};
}

// RDMA_NODE_RNIC (rdma/ib_verbs.h): rdma_cm has these files for iWARP devices as well, and refuses v2
// (roce_gid_type_mask_support()).
bool is_iwarp(const PortIo& io) {
  return io.kernel.root.line_of(infiniband::device_folder(io.rdma) + "/node_type").starts_with("4:");
}

std::string why_not(const PortIo& io, const Error& failure) {
  if (io.rdma.empty()) return "no RDMA device on this port";
  if (is_iwarp(io)) return io.rdma + " speaks iWARP, which runs over TCP, not RoCE";
  if (std::string why = file_settings::closed(io, kFolder); !why.empty()) return why;
  if (!io.kernel.root.exists(kFolder)) return "the module rdma_cm is not loaded: modprobe rdma_cm";
  switch (failure.code) {
    case EACCES:
    case EPERM: return "only root may create /" + std::string(kFolder) + "/" + io.rdma + ", which reading requires";
    case EROFS: return "/sys/kernel/config is read-only here (a container, or ProtectKernelTunables= of the service)";
    case ENODEV: return "rdma_cm does not know the device " + io.rdma;
    default: return failure.text();
  }
}

void read(const PortIo& io, const Keys& keys, Reading& out) {
  if (!has_key(keys, SettingId::roce_mode) && !has_key(keys, SettingId::roce_tos)) return;
  Result<void> done = error(ENODEV, io.netdev);
  if (!io.rdma.empty() && !is_iwarp(io))
    done = in_port(io, [&](const std::string& folder) { return read_port(io, keys, folder, out.values); });
  if (done) return;
  for (SettingId setting : {SettingId::roce_mode, SettingId::roce_tos})
    if (has_key(keys, setting)) out.not_offered(setting, why_not(io, done.error()));
}

Result<void> write(const PortIo& io, const Setting& setting, const Qos& want, const Reading&) {
  std::string file = "/default_roce_tos", text = std::to_string(want.roce_tos.value_or(0));
  if (setting.id == SettingId::roce_mode) {
    file = "/default_roce_mode";
    text = want.roce_mode == RoceMode::v1 ? kV1 : kV2;
  }
  return in_port(io, [&](const std::string& folder) -> Result<void> {
    // cma_configfs.c looks the device up by its name with each access.
    if (auto same = check_rdma_name(io); !same) return same;
    return io.kernel.root.write(folder + file, text + "\n");
  });
}

std::string remedy(const Setting& setting, int code) {
  if (code == EINVAL && setting.id == SettingId::roce_mode) return "the device does not offer this RoCE version";
  if (code == EACCES || code == EPERM || code == EROFS) return "needs root and a writable /sys/kernel/config";
  return {};
}

// The values apply to connections made afterwards (cma_configfs.c).
constexpr SettingOp kOps[] = {
    {SettingId::roce_mode,
     {write, "drivers/infiniband/core/cma_configfs.c default_roce_mode_store()", kHarmless, Reach::itself}},
    {SettingId::roce_tos,
     {write, "drivers/infiniband/core/cma_configfs.c default_roce_tos_store()", kHarmless, Reach::itself}},
};

}  // namespace

const Feature kRdmaCm{.ops = kOps, .read = read, .remedy = remedy};

}  // namespace fabric
