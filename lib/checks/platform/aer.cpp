// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "checks/checks.h"
#include "health/health.h"
#include "model/finding.h"
#include "topology/pcie_path.h"
#include "topology/platform.h"

namespace fabric {
namespace {

// lower end -> upper end of every link that is known, and back.
struct Links {
  std::map<std::string, std::string> upper, lower;
};

Links links_of(const Topology& topology) {
  Links out;
  const auto add = [&](const PciDevice& device) {
    for (const PcieHop& hop : hops_above(device)) {
      out.upper[hop.lower] = hop.upper;
      out.lower[hop.upper] = hop.lower;
    }
  };
  for (const Gpu& gpu : topology.gpus) add(gpu);
  for (const Nic& nic : topology.nics) add(nic);
  return out;
}

struct Rise {
  uint64_t count = 0;
  std::string kinds;  // "BadTLP +3 RxErr +1"
  bool received = false, sent = false;
};

// What the receiving end of a link finds wrong, and what the sending end had to repeat (PCI Express base
// specification 6.0, 6.2.7; the kernel's names in drivers/pci/pcie/aer.c).
bool is_received(const std::string& kind) {
  return kind == "RxErr" || kind == "BadTLP" || kind == "BadDLLP" || kind == "ECRC" || kind == "MalfTLP" ||
         kind == "RxOF";
}
bool is_sent(const std::string& kind) { return kind == "Rollover" || kind == "Timeout"; }

// Counters start again when a device is added anew.
Rise rise(const AerCounts& now, const AerCounts& before) {
  Rise out;
  if (!now.total || !before.total || *now.total <= *before.total) return out;
  out.count = *now.total - *before.total;
  for (const auto& [kind, count] : now.kinds) {
    const auto had = before.kinds.find(kind);
    const uint64_t more = count - std::min(count, had == before.kinds.end() ? 0 : had->second);
    if (more == 0) continue;
    out.kinds += (out.kinds.empty() ? "" : " ") + kind + " +" + std::to_string(more);
    out.received = out.received || is_received(kind);
    out.sent = out.sent || is_sent(kind);
  }
  if (out.kinds.empty()) out.kinds = "+" + std::to_string(out.count);
  return out;
}

std::string other_end(const Topology& topology, const Links& links, const std::string& pci) {
  const auto up = links.upper.find(pci), down = links.lower.find(pci);
  if (up != links.upper.end()) return up->second;
  return down != links.lower.end() ? function_text(topology, down->second) : std::string{};
}

std::string direction(const Topology& topology, const Links& links, const std::string& pci, const Rise& rise) {
  const std::string end = other_end(topology, links, pci);
  if (end.empty() || rise.received == rise.sent) return end.empty() ? "" : " on its link with " + end;
  return rise.received ? ": what " + end + " sends arrives damaged"
                       : ": what it sends to " + end + " has to be sent again";
}

std::string rate(const View& view, uint64_t count) {
  const double seconds = std::chrono::duration<double>(view.now.taken - view.before->taken).count();
  return seconds > 0 ? " (" + number_text(static_cast<double>(count) / seconds) + "/s)" : std::string{};
}

Finding rising(const View& view, const Links& links, const std::string& pci, const char* kind, Status status,
               const Rise& rise) {
  const bool severe = status == Status::critical;
  const std::vector<std::string> below = devices_below(view.now.topology, pci);
  return bad(
      status, pci,
      std::string(kind) + " " + rise.kinds + rate(view, rise.count) + direction(view.now.topology, links, pci, rise),
      "no new errors",
      severe
          ? "An uncorrectable PCIe error lost data or took the link down: " + joined(below) + " may be reset or gone."
          : "The link repeats what was damaged: " + joined(below) +
                " lose throughput, and uncorrectable errors follow.",
      "Look at the kernel's log (journalctl -k -g AER), reseat card, riser and cable between the two ends of this "
      "link, "
      "and replace what the errors follow.");
}

// All three classes of one function; at most one finding, the worst.
bool judge(const View& view, const Links& links, const std::string& pci, const PlatformFunction& now,
           Findings& findings) {
  const PlatformFunction* before = function_of(*view.before, pci);
  if (before == nullptr) return false;
  const auto ask = [&](const char* kind, Status status, const AerCounts& have, const AerCounts& had) {
    const Rise found = rise(have, had);
    if (found.count > 0) findings.push_back(rising(view, links, pci, kind, status, found));
    return found.count > 0;
  };
  if (ask("fatal", Status::critical, now.fatal, before->fatal) ||
      ask("non-fatal", Status::critical, now.nonfatal, before->nonfatal))
    return true;
  // A few of many bits are what a link is allowed to repeat.
  const Status replays = health_status(view, "pcie_replays", pci).value_or(Status::warning);
  if (replays != Status::ok) return ask("correctable", replays, now.correctable, before->correctable);
  const Rise few = rise(now.correctable, before->correctable);
  if (few.count > 0)
    findings.push_back(good(pci,
                            "correctable " + few.kinds + rate(view, few.count) + ": no more than the link may repeat",
                            "no new errors"));
  return few.count > 0;
}

// Since the device came up, which may be long ago: evidence, and no alarm that nobody can clear.
bool tell_past(const Topology& topology, const std::string& pci, const PlatformFunction& function, Findings& findings) {
  const uint64_t fatal = function.fatal.total.value_or(0), nonfatal = function.nonfatal.total.value_or(0);
  if (fatal == 0 && nonfatal == 0) return false;
  findings.push_back(good(pci,
                          std::to_string(fatal) + " fatal and " + std::to_string(nonfatal) + " non-fatal since " +
                              function_text(topology, pci) + " came up",
                          "no new errors"));
  return true;
}

}  // namespace

// Every GPU, NIC and bridge above them that counts errors.
void ask_aer(const View& view, Findings& findings) {
  size_t silent = 0;
  const Links links = links_of(view.now.topology);
  for (const auto& [pci, function] : view.now.platform.functions) {
    if (!function.correctable.total && !function.nonfatal.total && !function.fatal.total) continue;
    if (view.before != nullptr && judge(view, links, pci, function, findings)) continue;
    if (!tell_past(view.now.topology, pci, function, findings)) ++silent;
  }
  if (silent > 0)
    findings.push_back(
        good("host", std::to_string(silent) + " functions without new or uncorrectable errors", "no new errors"));
}

}  // namespace fabric
