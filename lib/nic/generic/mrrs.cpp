// SPDX-License-Identifier: Apache-2.0
// PCIe maximum read request size: three bits of Device Control. Reading them requires CAP_SYS_ADMIN, which agentd
// lacks: fabric-agent-pci.service reads and writes them at boot, agentd compares the policy with the values that
// the service published (node/port_settings.cpp). A device does not report its supported sizes: every power of two from
// 128 to 4096 may be written (drivers/pci/pci.c pcie_set_readrq), and the value that it keeps is read back.
#include "kernel/pci/pci_config.h"
#include "nic/driver.h"

namespace fabric {
namespace {

constexpr const char* kPrivileged = "systemctl restart fabric-agent-pci reads and writes it";

void read(const PortIo& io, const Keys& keys, Reading& out) {
  if (!has_key(keys, SettingId::mrrs)) return;
  if (io.pci.empty()) return out.not_offered(SettingId::mrrs, "no PCI function below this port");
  const auto control = pci::read_device_control(io.kernel.root, io.pci);
  if (control) out.values.mrrs = control->mrrs();
  else if (control.error().code == EACCES) out.not_offered(SettingId::mrrs, control.error().what + "; " + kPrivileged);
  else out.not_offered(SettingId::mrrs, control.error().text());
}

Result<void> write(const PortIo& io, const Setting&, const Qos& want, const Reading&) {
  return pci::write_mrrs(io.kernel.root, io.pci, *want.mrrs);
}

std::string impossible(const Setting&, const Qos& want, const Reading&) {
  if (pci::is_mrrs(*want.mrrs)) return {};
  return "one of 128, 256, 512, 1024, 2048 and 4096 bytes";
}

std::string remedy(const Setting&, int code) {
  if (code == EPERM) return "boot without Secure Boot, or set it in the NIC's firmware or the BIOS";
  if (code == EACCES || code == EROFS) return kPrivileged;
  return {};
}

// The value applies to read requests made afterwards (PCI Express Base Specification, Device Control Register).
constexpr SettingOp kOps[] = {
    {SettingId::mrrs, {write, "drivers/pci/pci-sysfs.c pci_write_config()", kHarmless, Reach::itself}},
};

}  // namespace

const Feature kMrrs{.ops = kOps, .read = read, .impossible = impossible, .remedy = remedy};

}  // namespace fabric
