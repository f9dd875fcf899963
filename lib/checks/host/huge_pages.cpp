// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "checks/checks.h"
#include "checks/host/host.h"
#include "model/finding.h"

namespace fabric {

// Reported: what a site needs depends on its jobs. More than half of the memory in them is nobody's need.
void ask_huge_pages(const View& view, Findings& findings) {
  const auto& host = view.now.host;
  if (!host || !has_rdma(view)) return;
  std::string observed;
  uint64_t sum = 0;
  for (const auto& [size, pages] : host->huge_pages.reserved) {
    observed += (observed.empty() ? "" : ", ") + std::to_string(pages) + " of " + bytes_text(size);
    sum +=
        pages > kNoLimit / size ? kNoLimit / 4 : pages * size / 4;  // quarters: a sum of several sizes stays in range
  }
  if (!host->huge_pages.transparent.empty())
    observed += (observed.empty() ? "" : "; ") + std::string("transparent: ") + host->huge_pages.transparent;
  if (observed.empty()) return;
  if (host->memory != 0 && sum > host->memory / 8)
    return findings.push_back(
        bad(Status::warning, kHostSubject, observed, "less than half of the memory",
            "Reserved huge pages are lost to everything that does not ask for them by name: jobs find that little of "
            "the " +
                std::to_string(host->memory >> 30) + " GiB of memory is free, and are killed for want of it.",
            "Lower vm.nr_hugepages (sysctl, /etc/sysctl.d) or hugepages= on the kernel's command line."));
  findings.push_back(good(kHostSubject, std::move(observed), "any"));
}

}  // namespace fabric
