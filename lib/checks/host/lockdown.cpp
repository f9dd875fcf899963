// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/host/host.h"

namespace fabric {
namespace {

std::optional<Finding> ask_host(const View& view) {
  const auto& host = view.now.host;
  if (!host || host->lockdown.empty() || !has_rdma(view)) return std::nullopt;
  std::string observed = host->lockdown;
  if (observed != "none")
    observed +=
        ": denies opening root-only debugfs files (mlx5 congestion control), and writes to PCI configuration space "
        "(mrrs, ACS, vendor firmware tools)";
  return good(kHostSubject, std::move(observed), "any");
}

}  // namespace

extern const Check kLockdownCheck{
    .id = "lockdown",
    .group = group::host,
    .title = "Kernel lockdown mode",
    .meaning =
        "Under lockdown (Secure Boot) the kernel denies root some debugfs files and writes to PCI configuration space. "
        "Listed only, because it explains why some settings cannot be read or applied.",
    .inspect = "cat /sys/kernel/security/lockdown",
    .ask_host = ask_host,
};

}  // namespace fabric
