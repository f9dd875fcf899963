// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "health/health.h"
#include "health/rule.h"
#include "judge/platform_view.h"
#include "node/locality.h"

namespace fabric {
namespace {

// "mlx5_0 (0000:24:00.0)", or the address alone for a bridge.
std::string function_text(const Topology& topology, const std::string& pci) {
  for (const Gpu& gpu : topology.gpus)
    if (gpu.pci == pci) return gpu.name + " (" + pci + ")";
  for (const Nic& nic : topology.nics)
    if (nic.pci == pci && nic.name != pci) return nic.name + " (" + pci + ")";
  return pci;
}

// The names of the GPUs and NICs at the address or below the bridge.
std::vector<std::string> devices_below(const Topology& topology, const std::string& pci) {
  std::vector<std::string> names;
  const auto add = [&](const auto& devices) {
    for (const auto& device : devices)
      if (device.pci == pci || contains(device.bridges, pci)) names.push_back(device.name);
  };
  add(topology.gpus);
  add(topology.nics);
  return names;
}

// Lower end -> upper end of every known link, and back.
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
  bool refused = false;  // by the receiver, and nothing else
};

// Detected by the receiving end of a link; repeated by the sending end (PCIe 6.0, 6.2.7; drivers/pci/pcie/aer.c).
constexpr std::string_view kReceived[] = {"RxErr", "BadTLP", "BadDLLP", "ECRC", "MalfTLP", "RxOF"};
constexpr std::string_view kSent[] = {"Rollover", "Timeout"};

// The link delivered these requests, and the receiver refused them (PCIe 6.0, 6.2.7).
constexpr std::string_view kRefused[] = {"UnsupReq",   "CmpltAbrt",       "ACSViol",
                                         "BlockedTLP", "AtomicOpBlocked", "TLPBlockedErr"};

Rise rise(const AerCounts& now, const AerCounts& before) {
  Rise out;
  out.count = rise_of(before, now).value_or(0);
  if (out.count == 0) return out;
  bool others = false;
  for (const auto& [kind, count] : now.kinds) {
    const uint64_t* had = find_in(before.kinds, kind);
    const uint64_t more = count - std::min(count, had == nullptr ? 0 : *had);
    if (more == 0) continue;
    append_item(out.kinds, kind + " +" + std::to_string(more), " ");
    out.received = out.received || contains(kReceived, kind);
    out.sent = out.sent || contains(kSent, kind);
    others = others || !contains(kRefused, kind);
  }
  out.refused = !others && !out.kinds.empty();
  if (out.kinds.empty()) out.kinds = "+" + std::to_string(out.count);
  return out;
}

std::string direction(const Topology& topology, const Links& links, const std::string& pci, const Rise& rise) {
  const std::string *up = find_in(links.upper, pci), *down = find_in(links.lower, pci);
  if (up == nullptr && down == nullptr) return {};
  const std::string end = up != nullptr ? *up : function_text(topology, *down);
  if (rise.received == rise.sent) return " on its link with " + end;
  return rise.received ? ": packets from " + end + " arrive damaged" : ": packets to " + end + " are repeated";
}

std::string rate(const View& view, uint64_t count) {
  const double seconds = window_of(view);
  return seconds > 0 ? " (" + number_text(static_cast<double>(count) / seconds) + "/s)" : std::string{};
}

struct Advice {
  std::string meaning, remedy;
};

Advice advice(const std::string& pci, Status status, const Rise& rise, const std::string& below) {
  if (rise.refused)
    return {
        "The receiver refused requests, whose data are lost; the link is sound. A driver or firmware addressed what "
        "is not there or not allowed, or the device was being reset: " +
            below + ".",
        "journalctl -k -g AER: the TLP header in the log names the requester. Update the driver and firmware of the "
        "requester and of " +
            pci + "."};
  return {
      status == Status::critical
          ? "An uncorrectable PCIe error lost data or the link: " + below + " may be reset or gone."
          : "The link repeats damaged packets: " + below + " lose throughput, and uncorrectable errors may follow.",
      "Reseat device, riser and cable of this link, and replace the part that the errors follow. Log: journalctl -k "
      "-g AER"};
}

Finding rising(const View& view, const Links& links, const std::string& pci, const char* kind, Status status,
               const Rise& rise) {
  const auto [meaning, remedy] = advice(pci, status, rise, joined(devices_below(view.now.topology, pci)));
  return bad(
      status, pci,
      std::string(kind) + " " + rise.kinds + rate(view, rise.count) + direction(view.now.topology, links, pci, rise),
      "no new errors", meaning, remedy);
}

// All three classes of one function: at most one finding, the worst.
bool add_rising(const View& view, const Links& links, const std::string& pci, const PlatformFunction& now,
                Findings& findings) {
  const PlatformFunction* before = function_of(*view.before, pci);
  if (before == nullptr) return false;
  // `status`: of the health rule; nullopt: switched off.
  const auto ask = [&](const char* kind, std::optional<Status> status, Status otherwise, const AerCounts& have,
                       const AerCounts& had) {
    Rise found = rise(have, had);
    const Status known = status.value_or(found.count > 0 ? otherwise : Status::ok);
    if (known == Status::ok) return false;
    if (found.count == 0) found.kinds = "earlier, none in this reading";
    findings.push_back(rising(view, links, pci, kind, known, found));
    return true;
  };
  if (ask("fatal", health_status(view, "pcie_fatal", pci), Status::critical, now.fatal, before->fatal) ||
      ask("non-fatal", health_status(view, "pcie_nonfatal", pci), Status::critical, now.nonfatal, before->nonfatal))
    return true;
  // A link may repeat a few of many bits.
  const auto fast = health_status(view, "pcie_replays", pci), slow = health_status(view, "pcie_replays_slow", pci);
  const auto replays = !fast || (slow && rank(*slow) < rank(*fast)) ? slow : fast;
  if (ask("correctable", replays, Status::warning, of_link(now.correctable), of_link(before->correctable))) return true;
  const Rise all = rise(now.correctable, before->correctable);
  const bool of_the_link = rise_of(of_link(before->correctable), of_link(now.correctable)).value_or(0) > 0;
  if (all.count > 0)
    findings.push_back(good(pci,
                            "correctable " + all.kinds + rate(view, all.count) +
                                (of_the_link ? ": within the limit of the link" : ": no errors of the link"),
                            "no new errors"));
  return all.count > 0;
}

// Errors since the device came up may be old: shown as a fact, because the operator cannot clear them.
bool add_past(const Topology& topology, const std::string& pci, const PlatformFunction& function, Findings& findings) {
  const uint64_t fatal = function.fatal.total.value_or(0), nonfatal = function.nonfatal.total.value_or(0);
  if (fatal == 0 && nonfatal == 0) return false;
  findings.push_back(good(pci,
                          std::to_string(fatal) + " fatal and " + std::to_string(nonfatal) + " non-fatal since " +
                              function_text(topology, pci) + " came up",
                          "no new errors"));
  return true;
}

// GPUs, NICs and the bridges above them, if they count errors.
void ask(const View& view, Findings& findings) {
  size_t silent = 0;
  const Links links = links_of(view.now.topology);
  for (const auto& [pci, function] : view.now.platform.functions) {
    if (!function.correctable.total && !function.nonfatal.total && !function.fatal.total) continue;
    if (view.before != nullptr && add_rising(view, links, pci, function, findings)) continue;
    if (!add_past(view.now.topology, pci, function, findings)) ++silent;
  }
  if (silent > 0)
    findings.push_back(
        good("host", std::to_string(silent) + " functions without new or uncorrectable errors", "no new errors"));
}

}  // namespace

extern const Check kAerCheck{
    .id = "aer",
    .group = group::platform,
    .title = "New PCIe errors on the path to a GPU or NIC",
    .meaning =
        "The kernel counts PCIe errors per function. Correctable errors (BadTLP, RxErr, Rollover) are repeated by the "
        "link, cost throughput and precede worse ones. A non-fatal error lost a transaction, a fatal error lost the "
        "link. The reported function detected the error: damaged packets that it received were sent by the other end "
        "of its link. Errors before the first reading are shown without a warning. If the firmware owns error "
        "reporting, there are no counters (pcie_ports=native enables them). Correctable errors that are not of the "
        "link (NonFatalErr, CorrIntErr, HeaderOF) are listed only.",
    .inspect = "grep . /sys/bus/pci/devices/ADDRESS/aer_dev_*; journalctl -k -g AER",
    .fix =
        "Reseat the device, the riser and the cable. Move the device to another slot: the error follows the device or "
        "stays with the slot. Replace the part that it follows.",
    .ask = ask,
};

}  // namespace fabric
