// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/host/host.h"
#include "judge/platform_view.h"

namespace fabric {

extern const Threshold kHugePages("huge_pages_share", 0.5, "of the memory reserved as huge pages",
                                  "ours: what a site needs depends on its jobs", 0.01, 1);

namespace {

// Guests and DPDK run in huge pages: most of the memory by design.
bool gives_devices_away(const Node& node) {
  const auto is_given = [&](const PciDevice& device) { return is_given_away(node, device.pci); };
  return std::ranges::any_of(node.topology.gpus, is_given) || std::ranges::any_of(node.topology.nics, is_given);
}

std::optional<Finding> ask_host(const View& view) {
  const auto& host = view.now.host;
  if (!host || !has_rdma(view)) return std::nullopt;
  std::string observed;
  uint64_t sum = 0;
  for (const auto& [size, pages] : host->huge_pages.reserved) {
    append_item(observed, std::to_string(pages) + " of " + bytes_text(size));
    sum += pages > kNoLimit / size ? kNoLimit / 4 : pages * size / 4;  // quarters, so that the sum does not overflow
  }
  if (!host->huge_pages.transparent.empty())
    append_item(observed, "transparent: " + host->huge_pages.transparent, "; ");
  if (observed.empty()) return std::nullopt;
  const double most = limit_of(view, kHugePages);
  if (host->memory != 0 && !gives_devices_away(view.now) &&
      static_cast<double>(sum) > most / 4 * static_cast<double>(host->memory))
    return bad(Status::warning, kHostSubject, observed, "at most " + number_text(100 * most) + " % of the memory",
               "Only programs that ask for huge pages can use them. Jobs find too little of the " +
                   std::to_string(host->memory >> 30) + " GiB of memory free and are killed.",
               "Lower vm.nr_hugepages in /etc/sysctl.d, or hugepages= on the kernel command line.");
  return good(kHostSubject, std::move(observed), "any");
}

}  // namespace

extern const Check kHugePagesCheck{
    .id = "hugepages",
    .group = group::host,
    .title = "Huge pages reserve too much memory",
    .meaning =
        "Memory reserved as huge pages is unavailable to everything that does not ask for huge pages. Not reported "
        "where guests or DPDK have devices of this machine (vfio-pci): they use huge pages.",
    .inspect = "grep Huge /proc/meminfo; sysctl vm.nr_hugepages",
    .fix = "Lower vm.nr_hugepages in /etc/sysctl.d, or hugepages= on the kernel command line.",
    .ask_host = ask_host,
    .thresholds = {&kHugePages},
};

}  // namespace fabric
