// SPDX-License-Identifier: Apache-2.0
// PCI Express: width and speed of links, errors (AER), stalls, and the path between a NIC and its GPUs.
#include "judge/pcie.h"

#include <cmath>
#include <map>

#include "base/parse.h"
#include "judge/engine.h"
#include "judge/platform_view.h"
#include "judge/port_context.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "node/gpu.h"
#include "node/inventory.h"
#include "node/topology.h"

namespace fabric {

namespace {

// Payload of a link in bytes per second: 8b/10b coding up to 5 GT/s, 128b/130b up to 32 GT/s, FLIT mode above (PCI
// Express base specification 6.0, chapter 4.2). Without packet headers, so this is an upper limit.
double bytes_per_second(double speed, unsigned width) {
  double coding = 242.0 / 256.0;
  if (speed <= 5) coding = 0.8;
  else if (speed <= 32) coding = 128.0 / 130.0;
  return speed * 1e9 / 8 * coding * width;
}

// "x16 at 32 GT/s"
std::string link_text(std::optional<double> speed, std::optional<unsigned> width) {
  const std::string lanes = width ? std::to_string(*width) : "?";
  const std::string rate = speed ? number_text(*speed) : "?";
  return "x" + lanes + " at " + rate + " GT/s";
}

// ": at most 63 of 100 Gb/s", beside the text of a link that is slower than the network port.
std::string share_text(double bytes, double rate) {
  return ": at most " + number_text(std::floor(bytes * 8 / 1e9)) + " of " + rate_text(rate);
}

// The fix for a slot that is too small, with the port above it. `kind`: "NIC".
Fix larger_slot(const std::string& kind, const std::string& port) {
  return {{Work::in_machine,
           "Move the " + kind +
               " to a slot with more lanes or a newer PCIe generation, or correct lanes, bifurcation and speed "
               "of this slot in the firmware setup. "},
          "Maximum: lspci -vv -s " + port + " (LnkCap)"};
}

bool is_complete(const PcieLink& link) { return link.speed && link.width && link.max_speed && link.max_width; }

// The current link, with the common maximum of both ends. nullopt: an end does not report it, or the two report
// different links (a hypervisor's bridge above a real device).
std::optional<PcieLink> link_between(const PcieLink& lower, const PcieLink& upper) {
  if (!is_complete(lower) || !is_complete(upper)) return std::nullopt;
  if (lower.speed != upper.speed || lower.width != upper.width) return std::nullopt;
  return PcieLink{lower.speed, std::min(lower.max_speed, upper.max_speed), lower.width,
                  std::min(lower.max_width, upper.max_width)};
}

// -- Links between bridges

// A link between two bridges, and the devices that share it.
struct Hop {
  PcieHop ends;
  PcieLink link;
  std::vector<std::string> below;  // names
  bool for_nics = false;           // a switch of GPUs only lowers its speed when they idle
  double fastest = 0;              // port rate of the NICs below, bytes per second
  std::set<std::string> cards{};   // below; a NIC in several slots counts for each
};

// Adds the links above the device's own link. `rate`: of the port of a NIC; nullopt: the device is a GPU.
void add_hops(const Node& node, const PciDevice& device, const std::string& name, const std::optional<double>& rate,
              const std::set<std::string>& cards, std::map<std::string, Hop>& hops) {
  const auto above = hops_above(device);
  for (size_t i = 1; i < above.size(); ++i) {
    const PlatformFunction *lower = function_of(node, above[i].lower), *upper = function_of(node, above[i].upper);
    if (lower == nullptr || upper == nullptr) continue;
    const auto link = link_between(lower->link, upper->link);
    if (!link) continue;
    Hop& hop = hops[above[i].lower];
    hop.ends = above[i];
    hop.link = *link;
    hop.below.push_back(name);
    hop.cards.insert(cards.begin(), cards.end());
    hop.for_nics = hop.for_nics || rate;
    hop.fastest = std::max(hop.fastest, rate.value_or(0));
  }
}

// The PCI addresses, without the function, of all slots that the NIC is plugged into.
std::set<std::string> slots_of(const Topology& topology, const Nic& nic) {
  if (nic.is_virtual_function()) return {};
  std::set<std::string> out{card_of(nic.pci)};
  if (nic.direct) out.insert(card_of(nic.direct->pci));
  else if (can_have_data_direct(nic)) out.insert(card_of(nic.pci) + ", second link");  // unknown which one it is
  for (const Nic& other : topology.nics)
    if (!nic.card.empty() && other.card == nic.card && !other.is_virtual_function()) out.insert(card_of(other.pci));
  return out;
}

// True if an equal link runs better, or if there is no equal link. Links with equal maxima should run equally; if all
// of them fall short, it is a limit of the platform.
bool is_below_equal_links(const std::map<std::string, Hop>& all, const Hop& hop) {
  bool has_equals = false;
  for (const auto& [lower, other] : all) {
    if (&other == &hop || other.link.max_speed != hop.link.max_speed || other.link.max_width != hop.link.max_width)
      continue;
    if (*other.link.width > *hop.link.width || (hop.for_nics && *other.link.speed > *hop.link.speed)) return true;
    has_equals = true;
  }
  return !has_equals;
}

// Adds findings for links between bridges, up to the root port.
void check_hops(const View& view, std::vector<Finding>& findings) {
  const Topology& topology = view.now.topology;
  std::map<std::string, double> rates;  // of active ports, by PCI address
  for (const Port& port : view.now.ports)
    if (is_active(port)) rates[port.pci] = std::max(rates[port.pci], port.rate.value_or(0));
  std::map<std::string, Hop> all;
  for (const Gpu& gpu : topology.gpus) add_hops(view.now, gpu, gpu.name, std::nullopt, {gpu.pci}, all);
  for (const Nic& nic : topology.nics) add_hops(view.now, nic, nic.name, rates[nic.pci], slots_of(topology, nic), all);

  for (const auto& each : all) {
    const Hop& hop = each.second;
    const double bytes = bytes_per_second(*hop.link.speed, *hop.link.width);
    const bool starves = bytes < hop.fastest;
    std::string observed = link_text(hop.link.speed, hop.link.width) + " below " + hop.ends.upper;
    if (starves) observed += share_text(bytes, hop.fastest);
    const bool is_degraded =
        *hop.link.width < *hop.link.max_width || (hop.for_nics && *hop.link.speed < *hop.link.max_speed);
    if (is_degraded && is_below_equal_links(all, hop)) {
      std::string meaning =
          "The PCIe link between " + hop.ends.upper + " and " + hop.ends.lower +
          " trained lower than the maximum of both ends. Devices below it share it: " + joined(hop.below) + ".";
      if (starves) meaning += " It is now slower than one network port (" + rate_text(hop.fastest) + ").";
      findings.push_back(bad(starves ? Status::critical : Status::warning, hop.ends.lower, observed,
                             link_text(hop.link.max_speed, hop.link.max_width), std::move(meaning),
                             {{Work::in_machine, "Reseat the riser, cable or switch board between " + hop.ends.upper +
                                                     " and " + hop.ends.lower + ". "},
                              "Errors: journalctl -k -g '" + hop.ends.upper + "|" + hop.ends.lower + "'"}));
      continue;
    }
    // The slot of a card with bridges of its own. A switch above a GPU may have less bandwidth: the traffic between the
    // GPU and its NIC does not leave the switch. An emulated bridge has no real link.
    if (topology.is_guest() || hop.cards.size() != 1 || !starves) continue;
    // A NIC with a missing GPU has the same link as equal NICs, which share it with their GPUs.
    bool is_shared_elsewhere = false;
    for (const auto& [lower, other] : all)
      if (other.cards.size() > 1 && other.link == hop.link && other.fastest == hop.fastest) is_shared_elsewhere = true;
    if (is_shared_elsewhere) continue;
    findings.push_back(
        bad(Status::critical, hop.ends.lower, observed, "a link that carries " + rate_text(hop.fastest),
            "The slot of " + joined(hop.below) + " is slower than its network port (" + rate_text(hop.fastest) + ").",
            larger_slot("NIC", hop.ends.upper)));
  }
}

// -- Links of NICs and GPUs

// The bandwidth of the other slots of a NIC, in bytes per second.
struct OtherSlots {
  double sum = 0;                 // 0: the NIC has one slot
  std::optional<double> least{};  // of those that are checked, too; nullopt: there is none
};

double carried(const PciDevice& device) {
  if (!device.link.speed || !device.link.width) return 0;
  return bytes_per_second(*device.link.speed, *device.link.width);
}

// The data that the slots carry: a Data Direct function carries data of GPU memory alone.
enum class SlotData : uint8_t { all, of_host_memory };

// Whether the functions are of one NIC: by its system image GUID, or as primary and secondary function of one netdev.
bool are_of_one_nic(const Nic& a, const Nic& b) {
  return (!a.card.empty() && a.card == b.card) || a.primary == b.pci || b.primary == a.pci;
}

OtherSlots carried_by_other_slots(const Node& node, const Nic& nic, SlotData data = SlotData::all) {
  std::map<std::string, double> slots;
  std::set<std::string> unchecked;  // secondary functions without an RDMA device
  for (const Nic& other : node.topology.nics) {
    if (other.is_virtual_function() || !are_of_one_nic(nic, other)) continue;
    slots[card_of(other.pci)] = carried(other);
    if (other.rdma.empty()) unchecked.insert(card_of(other.pci));
  }
  slots.erase(card_of(nic.pci));
  // A ConnectX-8 may have a second link that cannot be identified as its own. Then its slot cannot be called too small.
  if (data == SlotData::all && !nic.direct && can_have_data_direct(nic))
    slots[card_of(nic.pci) + ", second link"] = carried(nic);
  if (data == SlotData::all && nic.direct) slots[card_of(nic.direct->pci)] = carried(*nic.direct);
  OtherSlots out;
  for (const auto& [slot, bytes] : slots) {
    if (bytes <= 0) continue;
    out.sum += bytes;
    if (!unchecked.contains(slot)) out.least = std::min(out.least.value_or(bytes), bytes);
  }
  return out;
}

// A function to check, and the load of its link.
struct CheckedLink {
  const PciDevice* device = nullptr;
  std::string name;
  bool gpu = false;
  std::optional<double> network_rate;  // bytes per second
  bool for_gpus = false;               // others may have smaller slots
  bool nvlink_management = false;
  bool slot_is_full = false;  // the link runs at the maximum of the port above it; of a GPU its width
  PcieLink most{};            // max_*: the highest values that both the device and the port above it support
  bool is_guest = false;      // a guest does not see its slots
  std::optional<GpuLoad> load{};
  std::optional<double> slot_speed{};  // the highest of the port above a GPU; absent: unknown
  OtherSlots others{};                 // of the same NIC (socket direct)
};

// The part of a degraded link that no repair changes: the slot has fewer lanes, or a lower speed, than the device.
std::string limit_of_slot(const CheckedLink& subject) {
  const PcieLink &own = subject.device->link, &most = subject.most;
  std::string parts;
  if (most.max_width < own.max_width)
    append_item(parts, std::to_string(*most.max_width) + " of its " + counted(*own.max_width, "lane"), " and ");
  if (most.max_speed < own.max_speed)
    append_item(parts, number_text(*most.max_speed) + " of its " + number_text(*own.max_speed) + " GT/s", " and ");
  if (parts.empty()) return {};
  return " The slot (port " + subject.device->bridges.front() + " above it) gives the device " + parts +
         ": that is not a fault, and no repair changes it.";
}

template <class Value>
std::optional<Value> least_known(const std::optional<Value>& a, const std::optional<Value>& b) {
  if (a && b) return std::min(a, b);
  return a ? a : b;
}

// `speed` and `width`: the values that the link should reach, if the slot has them.
Finding degraded(const CheckedLink& subject, std::string observed, const std::optional<double>& speed,
                 const std::optional<unsigned>& width, std::string_view like, std::string meaning, bool starves) {
  const std::optional<double> reachable = least_known(speed, subject.most.max_speed);
  const std::optional<unsigned> lanes = least_known(width, subject.most.max_width);
  std::string expected = link_text(reachable, lanes);
  if (reachable == speed && lanes == width) expected += like;
  meaning += limit_of_slot(subject);
  if (starves) {
    meaning += " It is now slower than the network port (" + rate_text(*subject.network_rate) + ").";
    const double repaired = bytes_per_second(reachable.value_or(0), lanes.value_or(0)) + subject.others.sum;
    if (repaired < *subject.network_rate) expected += share_text(repaired, *subject.network_rate);
  }
  return bad(
      starves ? Status::critical : Status::warning, subject.name, std::move(observed), std::move(expected),
      std::move(meaning),
      {{Work::in_machine,
        "Reseat the device or its riser, or update the firmware of the machine if it is part of the board. Check "
        "lanes and speed of the slot in the firmware setup. "},
       "Errors: journalctl -k -g " + subject.device->pci});
}

// Virtual functions that a guest cannot recognize as such report only their maximum.
bool reports_link(const PciDevice& device) { return device.link.width || device.link.speed; }

// Devices of a model that never reports a link are not judged. A device that reports none while others of its model do
// may have left the bus. In D3cold a device has no registers to read.
bool can_be_judged(const Node& node, const auto& all, const PciDevice& device) {
  const PlatformFunction* function = function_of(node, device.pci);
  if (function != nullptr && function->power_state == "D3cold") return false;
  return device.link.all_ones || std::ranges::any_of(all, [&](const PciDevice& other) {
           return are_of_one_model(other, device) && reports_link(other);
         });
}

// Whether two devices should have equal links: chips of one model have fewer lanes if they manage NVLink switches, or
// are on another board.
bool have_equal_links(const CheckedLink& a, const CheckedLink& b) {
  const auto &lanes = a.device->link.max_width, &others = b.device->link.max_width;
  return are_of_one_model(*a.device, *b.device) && a.for_gpus == b.for_gpus &&
         a.nvlink_management == b.nvlink_management && (!lanes || !others || lanes == others);
}

// An idle GPU lowers its speed, not its width, unless lanes sleep.
bool is_slow(const CheckedLink& subject, const std::optional<double>& than) {
  const auto& speed = subject.device->link.speed;
  return !subject.gpu && speed && than && *speed < *than;
}
bool is_narrow(const CheckedLink& subject, const std::optional<unsigned>& than) {
  const auto& width = subject.device->link.width;
  return width && than && *width < *than && !(subject.gpu && lanes_sleep(subject.device->link));
}

// The command that shows whether a GPU is busy, and its link.
std::string link_test_of(uint16_t vendor) {
  if (vendor == kNvidia)
    return "nvidia-smi --query-gpu=pci.bus_id,pstate,utilization.gpu,pcie.link.gen.current --format=csv";
  if (vendor == kAmd) return "amd-smi metric --usage --pcie";
  return "lspci -vv (LnkSta)";
}

// Whether the speed of a GPU's link is the highest that the GPU and its slot have: then it neither idles nor is stuck.
bool has_highest_speed(const CheckedLink& subject) {
  const auto is_reached = [&](const std::optional<double>& most) { return most && subject.device->link.speed >= most; };
  return is_reached(subject.device->link.max_speed) || is_reached(subject.slot_speed);
}

// The load that NVML or amdgpu reports for a GPU whose link is slower than `usual`. The link of a working GPU has its
// full speed: "may be reduced when the GPU is not in use" (nvidia-smi(1), PCIe generation). NVAPI's reference ("GPU
// Performance State Interface") defines P0 and P1 as the states of most performance, P2 and P3 as balanced, P8 and P10
// as states for video, P12 as idle; NVML's nvmlPstates_t numbers the same states.
struct LoadVerdict {
  bool stuck = false;
  std::string text;
};
LoadVerdict judge_load(const GpuLoad& load, uint16_t vendor, double usual) {
  const std::string source = vendor == kAmd ? "amdgpu" : "NVML";
  constexpr unsigned kSlowestOfWork = 3;
  // Percent; our limit, for GPUs without a known performance state (all of AMD).
  constexpr unsigned kBusyEnough = 50;
  const unsigned generation = load.link_generation.value_or(0);
  std::string state = std::to_string(load.busy) + " % busy";
  if (load.performance_state) state += ", performance state P" + std::to_string(*load.performance_state);
  if (generation >= 1 && generation <= std::size(kLinkSpeeds) && kLinkSpeeds[generation - 1] >= usual)
    return {false, "it was idle: " + number_text(kLinkSpeeds[generation - 1]) + " GT/s a moment later"};
  if (load.busy == 0) return {false, "idle by " + source + ": " + state};
  const bool works = load.performance_state ? *load.performance_state <= kSlowestOfWork : load.busy >= kBusyEnough;
  if (!works) return {false, "works little by " + source + ": " + state};
  return {true, state};
}

// `siblings`: the best link of a device of the same model on another card.
Finding finding_for(const CheckedLink& subject, const PcieLink& siblings) {
  const std::string& pci = subject.device->pci;
  const PcieLink& link = subject.device->link;
  const std::string full = link_text(link.max_speed, link.max_width);
  std::string observed = link_text(link.speed, link.width);

  if (link.all_ones) {
    std::string pattern = pci;
    if (subject.gpu) pattern += gpu_log_word(subject.device->vendor);
    return bad(Status::critical, subject.name, "no answer: its registers read all ones", "an answer",
               std::string(subject.gpu ? "The GPU " : "The NIC ") + pci +
                   " has fallen off the bus, or is being reset. Nothing can use it.",
               {"journalctl -k -g '" + pattern + "'; ",
                {Work::in_machine, "then power-cycle the node, check the power of the device, and reseat it."}});
  }
  if (!reports_link(*subject.device))
    return bad(Status::unknown, subject.name, std::move(observed), "like others of its model",
               "This device reports no link, unlike others of its model: it may have fallen off the bus.",
               "lspci -vv -s " + pci + " (\"rev ff\": the device does not answer); journalctl -k -g " + pci);
  if (!link.width || !link.speed)
    return bad(Status::unknown, subject.name, std::move(observed), full,
               "The kernel does not report the current speed or width of this link.", "lspci -vv -s " + pci);

  // If a NIC is in several slots, the slower slots are at fault.
  const double own = bytes_per_second(*link.speed, *link.width);
  const bool starves = subject.network_rate && own + subject.others.sum < *subject.network_rate &&
                       own <= subject.others.least.value_or(own);
  if (starves) {
    if (subject.others.sum > 0) observed += ", with the other slots of this NIC";
    observed += share_text(own + subject.others.sum, *subject.network_rate);
  }
  const bool by_slot = subject.slot_is_full && !subject.for_gpus && !starves;  // storage may have smaller slots
  const bool below_siblings = is_narrow(subject, siblings.width) || is_slow(subject, siblings.speed);
  const std::string usual = link_text(subject.gpu ? link.speed : siblings.speed, siblings.width);
  const bool below_own = is_narrow(subject, link.max_width) || is_slow(subject, link.max_speed);
  if (!by_slot && below_siblings && below_own && subject.slot_is_full && !subject.is_guest) {
    std::string meaning = "The slot (port " + subject.device->bridges.front() +
                          " above it) is slower than those of other devices of the same model.";
    if (starves) meaning += " It is slower than the network port (" + rate_text(*subject.network_rate) + ").";
    return bad(starves ? Status::critical : Status::warning, subject.name, std::move(observed),
               usual + ", like others of its model", std::move(meaning),
               larger_slot(subject.gpu ? "GPU" : "NIC", subject.device->bridges.front()));
  }
  if (!by_slot && below_siblings)
    return degraded(subject, std::move(observed), subject.gpu ? link.speed : siblings.speed, siblings.width,
                    ", like others of its model", "The PCIe link trained lower than those of the same model.", starves);

  if (below_own && starves && subject.slot_is_full) {  // the link is healthy: the slot is too small
    const std::string& port = subject.device->bridges.front();
    return bad(Status::critical, subject.name, std::move(observed), full,
               "The slot (port " + port + " above it) is slower than the network port (" +
                   rate_text(*subject.network_rate) + ").",
               larger_slot("NIC", port));
  }
  const bool has_siblings = siblings.width.has_value();
  if (below_own && (starves || (!has_siblings && !subject.slot_is_full)))
    return degraded(subject, std::move(observed), link.max_speed, link.max_width, "",
                    "The PCIe link trained lower than the device and its slot can.", starves);

  std::optional<LoadVerdict> by_load;
  if (subject.gpu && subject.load && link.speed < siblings.speed && !has_highest_speed(subject))
    by_load = judge_load(*subject.load, subject.device->vendor, *siblings.speed);
  if (by_load && by_load->stuck)
    return degraded(subject, std::move(observed), siblings.speed, link.width, ", like others of its model",
                    "The GPU works (" + by_load->text +
                        ") at a lower link speed than others of its model: the link is "
                        "stuck. Only an idle GPU lowers it.",
                    false);
  if (by_load) observed += " (slower than others of its model; " + by_load->text + ")";
  else if (below_own && subject.slot_is_full) observed += " (limit of the slot)";
  else if (below_own) observed += " (like all of its model: limit of the platform)";
  else if (subject.gpu && link.speed < siblings.speed && has_highest_speed(subject))
    observed += " (slower than others of its model: limit of the slot, or of the GPU)";
  else if (subject.gpu && siblings.speed && link.speed < siblings.speed)
    observed += " (slower than others of its model: idle, or stuck. This decides, under load: " +
                link_test_of(subject.device->vendor) + ")";
  else if (link.speed < link.max_speed || link.width < link.max_width)
    observed += subject.gpu && siblings.speed
                    ? " (like others of its model: idle GPUs slow their links)"
                    : " (idle, or stuck. This decides, under load: " + link_test_of(subject.device->vendor) + ")";
  return good(subject.name, observed, full);
}

// The port above the device's link; nullptr: none, or unknown.
const PlatformFunction* slot_of(const Node& node, const PciDevice& device) {
  if (device.bridges.empty()) return nullptr;
  return function_of(node, device.bridges.front());
}

// Whether the link runs at the maximum of the port above it. For GPUs only the width counts.
bool slot_is_full(const Node& node, const PciDevice& device, bool gpu) {
  const PlatformFunction* port = slot_of(node, device);
  if (port == nullptr) return false;
  const auto link = link_between(device.link, port->link);
  return link && link->width == link->max_width && (gpu || link->speed == link->max_speed);
}

// The fastest link that the device and the port above it both support. In a guest, or if the port does not report this
// link: the fastest of the device.
PcieLink most_of_both(const Node& node, const PciDevice& device, bool is_guest) {
  const PlatformFunction* port = slot_of(node, device);
  if (is_guest || port == nullptr) return device.link;
  return link_between(device.link, port->link).value_or(device.link);
}

// The narrowest bridge above a guest's device: emulated, without a real link. NCCL limits the path to the slowest link
// that the bridges show (ncclTopoGetXmlFromSys() in src/graph/xml.cc), or to those of NCCL_TOPO_FILE.
std::string emulated_link_above(const Node& node, const PciDevice& device) {
  double least = bytes_per_second(device.link.max_speed.value_or(0), device.link.max_width.value_or(0));
  std::string text;
  for (const std::string& bridge : device.bridges) {
    const PlatformFunction* function = function_of(node, bridge);
    if (function == nullptr || !function->link.max_speed || !function->link.max_width) continue;
    const double bandwidth = bytes_per_second(*function->link.max_speed, *function->link.max_width);
    if (bandwidth >= least) continue;
    least = bandwidth;
    text = ", below the emulated bridge " + bridge + ", which shows " +
           link_text(function->link.max_speed, function->link.max_width) +
           ": no real link, but NCCL counts it unless NCCL_TOPO_FILE has another";
  }
  return text;
}

// RDMA NICs and GPUs. A link below the maximum on all devices of a model is a limit of the platform, and a fault only
// if the network port is faster than the slot.
void ask_pcie(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  std::vector<CheckedLink> all;
  const auto built = built_of(view);
  const bool is_guest = topology.is_guest();
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& nic = topology.nics[i];
    if ((nic.rdma.empty() && !nic.link.all_ones) || nic.is_virtual_function() ||
        !can_be_judged(view.now, topology.nics, nic))
      continue;
    std::optional<double> rate;
    for (const Port& port : view.now.ports)
      if (port.pci == nic.pci && is_active(port)) rate = std::max(rate, port.rate);
    all.push_back({.device = &nic,
                   .name = nic.name,
                   .network_rate = rate,
                   .for_gpus = built->serves_gpu(i),
                   .nvlink_management = nic.role == FunctionRole::nvlink_management,
                   .slot_is_full = is_guest || slot_is_full(view.now, nic, false),
                   .most = most_of_both(view.now, nic, is_guest),
                   .is_guest = is_guest,
                   .others = carried_by_other_slots(view.now, nic)});
  }
  for (const Gpu& gpu : topology.gpus) {
    if (!can_be_judged(view.now, topology.gpus, gpu)) continue;
    all.push_back({.device = &gpu,
                   .name = gpu.name,
                   .gpu = true,
                   .for_gpus = true,
                   .slot_is_full = is_guest || slot_is_full(view.now, gpu, true),
                   .most = most_of_both(view.now, gpu, is_guest),
                   .is_guest = is_guest,
                   .load = gpu.load});
    if (const PlatformFunction* slot = slot_of(view.now, gpu)) all.back().slot_speed = slot->link.max_speed;
  }

  for (CheckedLink& subject : all) {
    PcieLink siblings;  // the best link of a device of the same model on another card
    for (const CheckedLink& other : all) {
      if (!have_equal_links(other, subject) || card_of(other.device->pci) == card_of(subject.device->pci)) continue;
      // An absent optional is less than any value.
      siblings.speed = std::max(siblings.speed, other.device->link.speed);
      siblings.width = std::max(siblings.width, other.device->link.width);
    }
    if (is_guest && !siblings.width) subject.network_rate.reset();
    findings.push_back(finding_for(subject, siblings));
    if (is_guest && findings.back().status == Status::ok)
      findings.back().observed += emulated_link_above(view.now, *subject.device);
  }
  check_hops(view, findings);
}

constexpr Rule kPcie{
    .id = "pcie",
    .group = group::topology,
    .title = "The PCIe link of a NIC, GPU or switch is below full width or speed",
    .meaning =
        "Compares the current width and speed with devices of the same model, then with what the device and the port "
        "of its slot can both do; between two bridges with what both ends can do. A NIC whose slot is slower than its "
        "port is critical; the slots of a NIC in several slots (socket direct) are added up. A device whose registers "
        "read all ones has left the bus; one that reports no link while others of its model do may have. Idle GPUs "
        "lower "
        "their speed, so only their width counts, and a GPU that is slower than its equals is listed: it is idle or "
        "stuck (NVIDIA's library, which only fabric-agentctl asks, or amdgpu shows which); at 64 GT/s all lanes but "
        "two may sleep. In virtual machines, devices are compared with others of their model only.",
    .inspect = "lspci -vv -s ADDRESS (LnkCap, LnkSta); journalctl -k -g ADDRESS",
    .fix =
        "Reseat the NIC or GPU, or the riser or switch board between the two addresses. Check lanes, bifurcation and "
        "speed of the slot in the firmware setup.",
    .ask = ask_pcie,
};

// "mlx5_0 (0000:24:00.0)", or the address alone for a bridge.
std::string function_text(const Topology& topology, const std::string& pci) {
  if (const Gpu* gpu = gpu_at(topology, pci); gpu != nullptr) return gpu->name + " (" + pci + ")";
  if (const Nic* nic = nic_at(topology, pci); nic != nullptr && nic->name != pci) return nic->name + " (" + pci + ")";
  return pci;
}

// Errors since the earlier reading. nullopt: unknown, or the counts started again when the function was added.
std::optional<uint64_t> rise_of(const AerCounts& before, const AerCounts& now) {
  if (!now.total || !before.total || *now.total < *before.total) return std::nullopt;
  return *now.total - *before.total;
}

// The errors of the link alone: without rejected requests (advisory non-fatal), internal errors of the device, and lost
// log entries (PCI Express base specification 6.0, 6.2.3.2.4; names of aer_correctable_error_string in
// drivers/pci/pcie/aer.c, Linux 6.12).
AerCounts of_link(AerCounts correctable) {
  for (const char* kind : {"NonFatalErr", "CorrIntErr", "HeaderOF"}) {
    const uint64_t* count = find_in(correctable.kinds, kind);
    if (count == nullptr) continue;
    if (correctable.total) *correctable.total -= std::min(*correctable.total, *count);
    correctable.kinds.erase(kind);
  }
  return correctable;
}

// New AER errors of one class.
struct NewErrors {
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

NewErrors new_errors(const AerCounts& now, const AerCounts& before) {
  NewErrors out;
  out.count = rise_of(before, now).value_or(0);
  if (out.count == 0) return out;
  bool others = false;
  for (const auto& [kind, count] : now.kinds) {
    uint64_t more = count;
    if (const uint64_t* earlier = find_in(before.kinds, kind); earlier != nullptr) more -= std::min(count, *earlier);
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

// " (12/s)", or empty if there is no window.
std::string per_second_text(const View& view, uint64_t count) {
  const double seconds = window_of(view);
  if (seconds <= 0) return {};
  return " (" + number_text(static_cast<double>(count) / seconds) + "/s)";
}

// Maps the lower end of every known link to its upper end, and back.
struct Links {
  std::map<std::string, std::string> upper, lower;

  void add(const PciDevice& device) {
    for (const PcieHop& hop : hops_above(device)) {
      upper[hop.lower] = hop.upper;
      lower[hop.upper] = hop.lower;
    }
  }
};

// The other end of the function's link, and which direction has the errors: ": packets from 0000:24:00.0 arrive
// damaged". Empty: no link of the function is known.
std::string direction_text(const Topology& topology, const Links& links, const std::string& pci,
                           const NewErrors& errors) {
  std::string end;
  if (const std::string* upper = find_in(links.upper, pci); upper != nullptr) end = *upper;
  else if (const std::string* lower = find_in(links.lower, pci); lower != nullptr)
    end = function_text(topology, *lower);
  else return {};
  if (errors.received == errors.sent) return " on its link with " + end;
  if (errors.received) return ": packets from " + end + " arrive damaged";
  return ": packets to " + end + " are repeated";
}

// `window`: that of the errors' class.
Finding aer_finding(const View& view, const Links& links, const std::string& pci, const char* name, Status status,
                    const RuleWindow& window, const NewErrors& errors) {
  const Topology& topology = view.now.topology;
  std::vector<std::string> names;  // of the GPUs and NICs at the address or below the bridge
  for (const Gpu& gpu : topology.gpus)
    if (gpu.pci == pci || contains(gpu.bridges, pci)) names.push_back(gpu.name);
  for (const Nic& nic : topology.nics)
    if (nic.pci == pci || contains(nic.bridges, pci)) names.push_back(nic.name);
  std::string below = joined(names);
  if (names.empty()) below = "the devices below " + pci;

  std::string meaning;
  Fix fix;
  if (errors.refused) {
    meaning =
        "The receiver refused requests, and their data are lost; the link is sound. A driver or firmware used an "
        "address that is absent or not allowed, or the device was being reset: " +
        below + ".";
    fix =
        "journalctl -k -g AER: the TLP header in the log names the requester. Update the driver and firmware of the "
        "requester and of " +
        pci + ".";
  } else {
    constexpr std::string_view kDevices = "{devices}";
    meaning = window.meaning;
    if (const size_t at = meaning.find(kDevices); at != std::string::npos) meaning.replace(at, kDevices.size(), below);
    fix = window.remedy;
  }
  return bad(status, pci,
             std::string(name) + " " + errors.kinds + per_second_text(view, errors.count) +
                 direction_text(topology, links, pci, errors),
             "no new errors", std::move(meaning), std::move(fix));
}

// The findings of the windows of the AER counters about one function; ok without a reading, or if the window is off.
class AerWindows {
 public:
  explicit AerWindows(const View& view) {
    for (const char* key : {"pcie_fatal", "pcie_nonfatal", "pcie_replays", "pcie_replays_slow"})
      if (auto statuses = window_statuses(view, key)) statuses_.emplace(key, std::move(*statuses));
  }
  [[nodiscard]] Status status(const std::string& key, const std::string& pci) const {
    const auto* statuses = find_in(statuses_, key);
    const Status* status = statuses == nullptr ? nullptr : find_in(*statuses, pci);
    return status == nullptr ? Status::ok : *status;
  }

 private:
  std::map<std::string, std::map<std::string, Status>> statuses_;
};

// All three classes of one function: at most one finding, the worst. False: no new errors.
bool add_new_errors(const View& view, const Links& links, const AerWindows& windows, const std::string& pci,
                    const PlatformFunction& now, Findings& findings) {
  const PlatformFunction* before = function_of(*view.before, pci);
  if (before == nullptr) return false;
  const AerCounts replays = of_link(now.correctable), replays_before = of_link(before->correctable);
  const struct {
    const char *name, *window;
    const AerCounts &now, &before;
  } classes[] = {
      {"fatal", "pcie_fatal", now.fatal, before->fatal},
      {"non-fatal", "pcie_nonfatal", now.nonfatal, before->nonfatal},
      {"correctable", "pcie_replays", replays, replays_before},
      {"correctable", "pcie_replays_slow", replays, replays_before},
  };
  const auto rank_of = [&](const auto& each) { return rank(windows.status(each.window, pci)); };
  const auto& worst = *std::ranges::min_element(classes, {}, rank_of);
  if (const Status status = windows.status(worst.window, pci); status != Status::ok) {
    NewErrors errors = new_errors(worst.now, worst.before);
    if (errors.count == 0) errors.kinds = "earlier, none in this reading";
    findings.push_back(aer_finding(view, links, pci, worst.name, status, *find_window(worst.window), errors));
    return true;
  }

  // A few errors in many bits are normal.
  const NewErrors all = new_errors(now.correctable, before->correctable);
  if (all.count == 0) return false;
  std::string observed = "correctable " + all.kinds + per_second_text(view, all.count);
  if (rise_of(replays_before, replays).value_or(0) > 0) observed += ": within the limit of the link";
  else observed += ": no errors of the link";
  findings.push_back(good(pci, std::move(observed), "no new errors"));
  return true;
}

// GPUs, NICs and the bridges above them, if they count errors.
void ask_aer(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  Links links;
  for (const Gpu& gpu : topology.gpus) links.add(gpu);
  for (const Nic& nic : topology.nics) links.add(nic);
  const AerWindows windows(view);
  size_t without_errors = 0;
  for (const auto& [pci, function] : view.now.platform.functions) {
    if (!function.correctable.total && !function.nonfatal.total && !function.fatal.total) continue;
    if (view.before != nullptr && add_new_errors(view, links, windows, pci, function, findings)) continue;
    const uint64_t fatal = function.fatal.total.value_or(0), nonfatal = function.nonfatal.total.value_or(0);
    if (fatal == 0 && nonfatal == 0) {
      ++without_errors;
      continue;
    }
    // Errors since the device came up may be old: shown as a fact, because the operator cannot clear them.
    findings.push_back(good(pci,
                            std::to_string(fatal) + " fatal and " + std::to_string(nonfatal) + " non-fatal since " +
                                function_text(topology, pci) + " came up",
                            "no new errors"));
  }
  if (without_errors > 0)
    findings.push_back(good(kHostSubject, counted(without_errors, "function") + " without new or uncorrectable errors",
                            "no new errors"));
}

using enum Measure;
using S = Signals;

// The errors of a function since the earlier reading. nullopt: not counted in both.
using AerReader = std::optional<Measured> (*)(const View& view, const std::string& pci, const PlatformFunction& before,
                                              const PlatformFunction& now);

template <AerCounts PlatformFunction::*Member>
std::optional<Measured> uncorrected_of(const View& /*view*/, const std::string& pci, const PlatformFunction& before,
                                       const PlatformFunction& now) {
  const std::optional<double> count = rise_of(before.*Member, now.*Member);
  if (!count) return std::nullopt;
  return Measured{pci, *count, 0, amount_text(number_text(*count), "uncorrectable PCIe errors")};
}

// Per bit of the link. Without its speed or width, only their number is judged, by the long window.
std::optional<Measured> replays_of(const View& view, const std::string& pci, const PlatformFunction& before,
                                   const PlatformFunction& now) {
  const std::optional<double> count = rise_of(of_link(before.correctable), of_link(now.correctable));
  if (!count) return std::nullopt;
  const double bits = now.link.speed.value_or(0) * 1e9 * now.link.width.value_or(0) * window_of(view);
  return Measured{pci, *count, bits, amount_text(number_text(*count), "correctable errors")};
}

template <AerReader Of>
void read_aer(const View& view, const RuleWindow& rule, MeasuredList& out) {
  if (view.before == nullptr) return;
  for (const auto& [pci, now] : view.now.platform.functions) {
    const PlatformFunction* before = function_of(*view.before, pci);
    if (before == nullptr) continue;
    auto reading = Of(view, pci, *before, now);
    if (reading && (rule.measure != ratio || reading->base > 0)) out.push_back(std::move(*reading));
  }
}

// {devices}: the GPUs and NICs at the address or below it.
constexpr std::string_view kLost = "An uncorrectable PCIe error lost data or the link: {devices} may be reset or gone.";
constexpr FixRow kReseat{
    {Work::in_machine, "Reseat device, riser and cable of this link, and replace the part that the errors follow. "},
    "Log: journalctl -k -g AER"};

constexpr Measurement kPcieErrorsWindows[]{
    {.window = {"pcie_errors", ratio, WindowLimits{1, kNever, kMinute, 0, kMinute}, "errors per second", "ours",
                "below 1 a second", 3},
     .meaning = "The PCIe link of this NIC is too slow or has signal errors, and the port's buffers fill up.",
     .remedy = {{Work::at_machine, "Check the slot: fabric-agentctl check --only pcie,acs,iommu,pci-tuning. "},
                {Work::in_machine, "Reseat the card."}},
     .sum = {{{{"PCIe errors", &S::pcie_errors}, {"PCIe buffer overflows", &S::pcie_overflows}}}}},
    {.window = {"pcie_stalls", ratio, WindowLimits{0.05, kNever, 20, 10, kMinute}, "share of the time", "ours",
                "less than 5 % of the time", 0},
     .meaning = "The host takes or supplies data more slowly than the port: PCIe is the bottleneck.",
     .remedy = {Work::at_machine,
                "Check the slot and the distance to the GPU: fabric-agentctl check --only pcie,acs,iommu,locality"},
     .sum = {{{{"seconds stalled by PCIe", &S::pcie_stalled_seconds}}}}},
};

constexpr Measurement kAerWindows[]{
    {.window = {"pcie_replays", ratio, WindowLimits{1e-12, kNever, kMinute, 0, kMinute},
                "corrected errors per bit of the PCIe link",
                "DCGM: 1e-12, which is 0.96 a minute and lane at 16 GT/s, 1.92 at 32, 3.84 at 64",
                "below 1e-12 of the bits", 2},
     .meaning =
         "The link repeats damaged packets, which costs throughput of {devices}. Uncorrectable errors may follow.",
     .remedy = kReseat,
     .slow = {{"pcie_replays_slow", count, WindowLimits{240, kNever, 2 * kHour, 0, 10 * kMinute},
               "corrected errors of the PCIe link", "ours: 120 an hour; a healthy link has a few a day",
               "below 120 an hour", 30}},
     .read = read_aer<replays_of>},
    {.window = {"pcie_fatal", count, WindowLimits{kNever, 1, 10 * kMinute, 0, 0}, "fatal PCIe errors",
                "PCI Express base specification, 6.2.2: the link is not reliable any more", "none"},
     .meaning = kLost,
     .remedy = kReseat,
     .read = read_aer<uncorrected_of<&PlatformFunction::fatal>>},
    {.window = {"pcie_nonfatal", count, WindowLimits{kNever, 1, 10 * kMinute, 0, 0},
                "non-fatal uncorrectable PCIe errors", "PCI Express base specification, 6.2.2: a transaction is lost",
                "none"},
     .meaning = kLost,
     .remedy = kReseat,
     .read = read_aer<uncorrected_of<&PlatformFunction::nonfatal>>},
};

constexpr Rule kAer{
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
    .ask = ask_aer,
    .windows = kAerWindows,
};
constexpr Rule kPcieErrors{
    .id = "pcie-errors",
    .group = group::counters,
    .title = "The PCIe path stalls, overflows or has errors",
    .meaning =
        "The PCIe counters of the NIC show signal errors, overflows or stalls: the slot is too slow or has bit errors.",
    .inspect = "ethtool -S NETDEV | grep pci; fabric-agentctl check --only pcie,aer,pci-tuning",
    .fix = "Reseat the NIC. Set relaxed ordering, MRRS and IOMMU mode as on the other NICs.",
    .windows = kPcieErrorsWindows,
};

// The PCIe path as a cause: its link, its AER errors, and its distance to the GPUs.

using enum Symptom;

std::optional<PathClass> nearest_gpu(const Topology& topology, const Nic& nic) {
  std::optional<PathClass> out;
  for (const Gpu& gpu : topology.gpus)
    if (const auto path = path_class(gpu, nic); path && (!out || *path < *out)) out = path;
  return out;
}

// The NIC is farther from any GPU than similar NICs. Text, or empty.
std::string far_from_gpus(const PortContext& ctx) {
  const Topology& topology = ctx.view.now.topology;
  if (ctx.nic == nullptr || topology.gpus.empty() || is_flattened(topology)) return {};
  const auto own = nearest_gpu(topology, *ctx.nic);
  if (!own || *own < PathClass::NODE) return {};
  std::optional<PathClass> best;
  for (const Nic& other : topology.nics)
    if (&other != ctx.nic && are_of_one_model(other, *ctx.nic))
      if (const auto path = nearest_gpu(topology, other); path && (!best || *path < *best)) best = path;
  // Without similar NICs, only another socket is too far.
  if (*own <= best.value_or(PathClass::NODE)) return {};
  std::string out = "the nearest GPU of " + ctx.nic->name + " is at distance " + std::string(to_text(*own));
  if (ctx.nic->numa) out += " (NUMA node " + std::to_string(*ctx.nic->numa) + ")";
  if (best) out += "; similar NICs have one at " + std::string(to_text(*best));
  return out;
}

// The GPUs that use the port's NIC, by the best pairing.
std::vector<const Gpu*> gpus_of(const PortContext& ctx) {
  const Topology& topology = ctx.view.now.topology;
  std::vector<const Gpu*> out;
  if (ctx.nic == nullptr || is_flattened(topology)) return out;
  const auto pairs = built_of(ctx.view)->present_pairing.pairs;
  for (size_t i = 0; i < pairs.size(); ++i)
    if (std::ranges::any_of(pairs[i].nics, [&](size_t nic) { return topology.nics[nic].pci == ctx.nic->pci; }))
      out.push_back(&topology.gpus[i]);
  return out;
}

// A device and the bridges above it.
std::vector<std::string> chain_of(const PciDevice& device) {
  std::vector<std::string> out{device.pci};
  out.insert(out.end(), device.bridges.begin(), device.bridges.end());
  return out;
}

// By the windows of the check `aer`, in this reading.
Lines aer_lines_of(const PortContext& ctx, const std::vector<std::string>& chain) {
  Lines out;
  if (ctx.view.before == nullptr) return out;
  for (const std::string& pci : chain) {
    const PlatformFunction *now = function_of(ctx.view.now, pci), *before = function_of(*ctx.view.before, pci);
    if (now == nullptr || before == nullptr) continue;
    const auto add = [&](std::string_view name, AerReader of, std::initializer_list<std::string_view> windows) {
      const auto reading = of(ctx.view, pci, *before, *now);
      const auto is_bad = [&](std::string_view key) { return status_by_window(ctx.view, key, *reading) != Status::ok; };
      if (reading && reading->amount > 0 && std::ranges::any_of(windows, is_bad))
        out.push_back(pci + " " + plus(name, reading->amount));
    };
    add("fatal PCIe errors", uncorrected_of<&PlatformFunction::fatal>, {"pcie_fatal"});
    add("non-fatal PCIe errors", uncorrected_of<&PlatformFunction::nonfatal>, {"pcie_nonfatal"});
    add("correctable PCIe errors", replays_of, {"pcie_replays", "pcie_replays_slow"});
  }
  return out;
}

// The faults that these checks find at one of the subjects. A site that suppresses a check does not want its faults as
// evidence either.
Findings faults_at(const PortContext& ctx, std::span<const std::string> ids, const std::set<std::string>& subjects) {
  auto found = run_rules(ctx.view, ids).findings;
  std::erase_if(found, [&](const Finding& each) {
    return !is_fault(each.status) || each.suppressed || !subjects.contains(each.subject);
  });
  return found;
}

MaybeCause slow_pcie(const PortContext& ctx) {
  if (!ctx.symptoms.any_of({tx_pause, pcie})) return std::nullopt;
  Cause out;
  bool is_slow = false;
  if (const auto fault = link_fault(ctx)) {
    out.add({fault_text(*fault), fault->meaning});
    out.next = fault->fix;
    is_slow = true;
  }
  const std::string far = far_from_gpus(ctx);
  if (!far.empty()) out.add(far);
  if (ctx.symptoms.has(tx_pause)) {
    const std::vector<Finding> before_gpus = faults_before_gpus(ctx);
    std::map<std::string, Finding> folded;  // the same at several ports of the path, as ACS: one line, one fix
    for (const Finding& each : before_gpus) {
      if (each.id != kPcie.id && std::ranges::count(before_gpus, each.id, &Finding::id) > 1) {
        const auto [all, is_new] = folded.try_emplace(each.id, each);
        if (!is_new) all->second.subject += ", " + each.subject;
        continue;
      }
      out.add(fault_text(each));
      out.next.insert(out.next.end(), each.fix.begin(), each.fix.end());
      is_slow = is_slow || each.id == kPcie.id;
    }
    for (const auto& [check, all] : folded) {
      out.add(fault_text(all));
      out.next.emplace_back("Correct all of them: fabric-agentctl check --only " + check + " has the commands");
    }
    // Without pause sent, errors on the path of a GPU concern only the GPU.
    for (const Gpu* gpu : gpus_of(ctx)) {
      std::vector<std::string> chain = chain_of(*gpu);
      std::erase_if(chain, [&](const std::string& pci) { return contains(ctx.nic->bridges, pci); });
      out.add(aer_lines_of(ctx, chain));
    }
  }
  out.add(aer_lines(ctx));
  const Signals& seen = ctx.signals;
  if (is_pcie_stalled(ctx)) {
    out.add("the NIC waited for PCIe credits " + percent(std::min(1.0, *seen.pcie_stalled_seconds / seen.seconds)) +
            " of the time");
    const std::string tuning[]{"pci-tuning"};
    if (ctx.nic != nullptr)
      for (const Finding& each : faults_at(ctx, tuning, {ctx.nic->name})) {
        out.add(fault_text(each));
        out.next.insert(out.next.end(), each.fix.begin(), each.fix.end());
      }
  }
  if (is_warned(ctx, "pcie_errors"))
    out.add(lines_of({{"PCIe buffer overflows", seen.pcie_overflows}, {"PCIe signal errors", seen.pcie_errors}}));
  if (out.evidence.empty()) return std::nullopt;
  if (is_slow) out.status = Status::critical;
  if (!is_slow) out.unexplained.add(discards);
  if (!is_slow && far.empty()) {
    out.unexplained.add(receiver);
    if (ctx.nic != nullptr && ctx.nic->link.width && ctx.nic->link.speed)
      out.add("the PCIe link is as wide and fast as that of similar NICs");
  } else {
    out.add(lines_of({{"packets without a posted receive here", seen.out_of_buffer}}));
  }
  out.add(pause_lines(ctx));
  return out;
}

}  // namespace

Lines aer_lines(const PortContext& ctx) {
  if (ctx.nic == nullptr) return {};
  return aer_lines_of(ctx, chain_of(*ctx.nic));
}

std::vector<Finding> faults_before_gpus(const PortContext& ctx) {
  std::set<std::string> path;
  for (const Gpu* gpu : gpus_of(ctx)) {
    path.insert(gpu->name);
    for (const std::vector<std::string>& chain : {gpu->bridges, ctx.nic->bridges})
      path.insert(chain.begin(), chain.end());
  }
  if (path.empty()) return {};
  const std::string ids[]{std::string(kPcie.id), "acs"};
  return faults_at(ctx, ids, path);
}

std::optional<Finding> link_fault(const PortContext& ctx) {
  if (ctx.nic == nullptr) return std::nullopt;
  const std::string ids[]{std::string(kPcie.id)};
  Findings found = faults_at(ctx, ids, {ctx.nic->name});
  if (found.empty()) return std::nullopt;
  return std::move(found.front());
}

std::optional<NarrowSlot> narrow_slot(const PortContext& ctx) {
  // Packets of 256 bytes have 24 bytes of headers, and credits and reads use the link too. A port of 800 Gb/s in a slot
  // of x16 at 32 GT/s sent pause at 87 % of the limit; the rest is for averages over the window.
  constexpr double kFull = 0.75;
  const Nic* nic = ctx.nic;
  const auto& rate = ctx.port.rate;
  if (nic == nullptr || !rate || nic->is_virtual_function() || ctx.view.now.topology.is_guest() ||
      ctx.port.is_member() || !members_of(ctx.view.now, ctx.port).empty() || is_suppressed(ctx.view, kPcie.id))
    return std::nullopt;
  double carries = carried(*nic), fastest = 0, arrived = 0;
  if (carries <= 0) return std::nullopt;
  carries += carried_by_other_slots(ctx.view.now, *nic, SlotData::of_host_memory).sum;
  size_t ports = 0;
  for (const Port& port : ctx.view.now.ports) {
    const Signals* seen = signals_of_port(ctx.view, port);
    if (card_of(port.pci) != card_of(nic->pci) || seen == nullptr || is_virtual(port) || seen->seconds <= 0) continue;
    double by_priority = 0;  // other traffic than RDMA too
    for (const PrioritySignals& each : seen->priority) by_priority += rise(each.rx_bytes);
    fastest += port.rate.value_or(0);
    arrived += std::max(rise(seen->rx_bytes), by_priority) / seen->seconds;
    ++ports;
  }
  if (fastest <= carries) return std::nullopt;
  NarrowSlot out{.is_full = arrived >= kFull * carries, .has_direct = can_have_data_direct(*nic)};
  out.line = "the PCIe slot of the NIC (" + link_text(nic->link.speed, nic->link.width) +
             ") carries less into host memory than its " + (ports == 1 ? "port" : counted(ports, "port")) +
             (ports == 1 ? " has" : " have") + share_text(carries, fastest) + "; received: " + rate_text(arrived);
  if (!out.is_full) out.line += " on average";
  return out;
}

constexpr Rule kSlowPcie{
    .id = "slow-pcie",
    .group = group::diagnosis,
    .title = "The path between NIC and memory is too slow for the traffic that the port receives.",
    .meaning =
        "Pause sent, a PCIe fault that the check pcie-errors reports, or AER errors that the check aer reports above "
        "the NIC, with one of: a fault of the NIC's link (check pcie); such errors; a NIC farther from any GPU than "
        "similar NICs. With pause sent also: findings of the checks pcie and acs between the NIC and its GPUs, and AER "
        "errors of these GPUs.",
    .fix = {"Check both ends of the PCIe link: lspci -vvs {pci} | grep LnkSta; journalctl -k -g AER\n",
            {Work::at_machine, "Check slot, IOMMU, ACS and MRRS: fabric-agentctl check --only platform\n"},
            "Show the distance to the GPUs: fabric-agentctl topo\n",
            {Work::in_machine, "Reseat card and riser; then replace the part that the fault follows."}},
    .culprit = Culprit::host,
    .explains = {tx_pause, pcie, discards, receiver},
    .excludes =
        "A host that receives nothing is stopped, not slow. Links that are narrow on all similar NICs are the "
        "platform's design.",
    .find_cause = slow_pcie,
};

constexpr Rule kTable[]{kPcie, kAer, kPcieErrors, kSlowPcie};
const std::span<const Rule> kPcieRules = kTable;

}  // namespace fabric
