// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "checks/checks.h"
#include "checks/host/host.h"
#include "model/finding.h"

namespace fabric {

// A site's choice (Secure Boot); it explains why some settings cannot be read or kept.
void ask_lockdown(const View& view, Findings& findings) {
  const auto& host = view.now.host;
  if (!host || host->lockdown.empty() || !has_rdma(view)) return;
  std::string observed = host->lockdown;
  if (observed != "none")
    observed +=
        ": debugfs files that are root's alone cannot be opened (mlx5 congestion control), PCI configuration space "
        "cannot be "
        "written (mrrs, ACS), nor may vendor tools reach the card's firmware over it";
  findings.push_back(good(kHostSubject, std::move(observed), "any"));
}

}  // namespace fabric
