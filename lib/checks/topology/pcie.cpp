// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "checks/topology/pairing.h"
#include "checks/topology/pcie_link.h"
#include "judge/platform_view.h"
#include "nic/capabilities.h"
#include "topology/inventory.h"

namespace fabric {
namespace {

// A function to check, and the load of its link.
struct Subject {
  const PciDevice* device = nullptr;
  std::string name;
  bool gpu = false;
  std::optional<double> network_rate;  // bytes per second
  bool for_gpus = false;               // a NIC that serves a GPU: other NICs may have smaller slots by design
  bool slot_is_full = false;           // the link runs at the maximum of the port above it; of a GPU its width
  Beside beside{};                     // the same NIC's links in other slots (socket direct)
};

// The best link of a device of the same model on another card.
PcieLink best_of_siblings(const std::vector<Subject>& all, const Subject& subject) {
  PcieLink best;
  for (const Subject& other : all) {
    if (!are_alike(*other.device, *subject.device) || other.for_gpus != subject.for_gpus ||
        card_of(other.device->pci) == card_of(subject.device->pci))
      continue;
    best.speed = std::max(best.speed, other.device->link.speed);  // an absent optional is less than any value
    best.width = std::max(best.width, other.device->link.width);
  }
  return best;
}

Finding degraded(const Subject& subject, std::string expected, std::string meaning, bool starves) {
  const PcieLink& link = subject.device->link;
  if (starves) meaning += " It is now slower than the network port (" + rate_text(*subject.network_rate) + ").";
  return bad(starves ? Status::critical : Status::warning, subject.name, link_text(link.speed, link.width),
             std::move(expected), std::move(meaning),
             "Reseat the device or its riser, and check lanes and speed of the slot in the firmware setup. Errors: "
             "journalctl -k -g " +
                 subject.device->pci);
}

// The link is healthy: the slot is too small.
Finding small_slot(const Subject& subject, const std::string& full) {
  const PcieLink& link = subject.device->link;
  const std::string& port = subject.device->bridges.front();
  return bad(Status::critical, subject.name, link_text(link.speed, link.width), full,
             "The slot (port " + port + " above it) is slower than the network port (" +
                 rate_text(*subject.network_rate) + ").",
             larger_slot(port));
}

// Virtual functions, of which a guest cannot tell that they are such, know their maximum alone.
bool reports_link(const PciDevice& device) { return device.link.width || device.link.speed; }

// Devices of which none reports a link are not judged; one that reports none while others of its model do may have left
// the bus. In D3cold a device has no registers to read.
bool can_be_judged(const Node& node, const auto& all, const PciDevice& device) {
  const PlatformFunction* function = function_of(node, device.pci);
  if (function != nullptr && function->power_state == "D3cold") return false;
  return device.link.all_ones || std::ranges::any_of(all, [&](const PciDevice& other) {
           return are_alike(other, device) && reports_link(other);
         });
}

Finding fallen_off(const Subject& subject) {
  const std::string& pci = subject.device->pci;
  return bad(Status::critical, subject.name, "no answer: its registers read all ones", "an answer",
             std::string(subject.gpu ? "The GPU " : "The NIC ") + pci +
                 " has fallen off the bus, or is being reset. Nothing can use it.",
             "journalctl -k -g '" + pci + (subject.gpu ? gpu_log_word(subject.device->vendor) : "") + "'" +
                 "; then power the node off and on, check the power of the device, and reseat it.");
}

Finding unknown_link(const Subject& subject, const std::string& full) {
  const PcieLink& link = subject.device->link;
  const bool gone = !reports_link(*subject.device);
  return bad(Status::unknown, subject.name, link_text(link.speed, link.width), gone ? "like others of its model" : full,
             gone ? "This device reports no link, unlike others of its model: it may have fallen off the bus."
                  : "The kernel does not report the current speed or width of this link.",
             "lspci -vv -s " + subject.device->pci +
                 (gone ? " (\"rev ff\": the device does not answer); journalctl -k -g " + subject.device->pci : ""));
}

// An idle GPU lowers its speed, not its width, unless lanes sleep.
bool is_slow(const Subject& subject, const std::optional<double>& than) {
  const auto& speed = subject.device->link.speed;
  return !subject.gpu && speed && than && *speed < *than;
}
bool is_narrow(const Subject& subject, const std::optional<unsigned>& than) {
  const auto& width = subject.device->link.width;
  return width && than && *width < *than && !(subject.gpu && lanes_sleep(subject.device->link));
}

Finding finding_for(const Subject& subject, const PcieLink& siblings) {
  const PcieLink& link = subject.device->link;
  const std::string full = link_text(link.max_speed, link.max_width);
  if (link.all_ones) return fallen_off(subject);
  if (!link.width || !link.speed) return unknown_link(subject, full);
  // Of a NIC in several slots, the slower ones are at fault.
  const double own = bytes_per_second(*link.speed, *link.width);
  const bool starves = subject.network_rate && own + subject.beside.sum < *subject.network_rate &&
                       own <= subject.beside.least.value_or(own);
  const bool by_slot = subject.slot_is_full && !subject.for_gpus && !starves;  // storage may have smaller slots
  if (!by_slot && (is_narrow(subject, siblings.width) || is_slow(subject, siblings.speed)))
    return degraded(subject,
                    link_text(subject.gpu ? link.speed : siblings.speed, siblings.width) + ", like others of its model",
                    "The PCIe link trained lower than those of the same model.", starves);
  const bool below_own = is_narrow(subject, link.max_width) || is_slow(subject, link.max_speed);
  const bool has_siblings = siblings.width.has_value();
  if (below_own && starves && subject.slot_is_full) return small_slot(subject, full);
  if (below_own && (starves || (!has_siblings && !subject.slot_is_full)))
    return degraded(subject, full, "The PCIe link trained lower than the maximum of the device.", starves);
  std::string observed = link_text(link.speed, link.width);
  if (below_own)
    observed += subject.slot_is_full ? " (limit of the slot)" : " (like all of its model: limit of the platform)";
  else if (link.speed < link.max_speed || link.width < link.max_width) observed += " (an idle GPU slows its link)";
  return good(subject.name, observed, full);
}

double carried(const PciDevice& device) {
  return device.link.speed && device.link.width ? bytes_per_second(*device.link.speed, *device.link.width) : 0;
}

// The other half of a multi-PF netdev: bound to the driver, without a netdev or an RDMA device
// (Documentation/networking/multi-pf-netdev.rst of Linux 6.9: at most two halves).
double carried_by_silent_half(const Node& node, const Nic& nic) {
  const PlatformFunction* mine = function_of(node, nic.pci);
  double most = 0;
  for (const Nic& other : node.topology.nics) {
    const PlatformFunction* theirs = function_of(node, other.pci);
    const bool silent = other.netdevs.empty() && !carries_rdma(other) && are_alike(other, nic);
    if (!silent || mine == nullptr || theirs == nullptr || !capabilities_of(mine->kernel_driver).multi_pf_netdev ||
        theirs->kernel_driver != mine->kernel_driver)
      continue;
    // A faster one is a separate card, whose netdev is in a container.
    if (card_of(other.pci) != card_of(nic.pci) && carried(other) <= carried(nic)) most = std::max(most, carried(other));
  }
  return most;
}

// Whether the link runs at the maximum of the port above it. For GPUs only the width counts.
bool slot_is_full(const Node& node, const PciDevice& device, bool gpu) {
  const PlatformFunction* port = device.bridges.empty() ? nullptr : function_of(node, device.bridges.front());
  const auto link = port == nullptr ? std::nullopt : link_between(device.link, port->link);
  return link && link->width == link->max_width && (gpu || link->speed == link->max_speed);
}

// RDMA NICs and GPUs. A link below the maximum on all devices of a model is a limit of the platform, and a fault only
// if the network port is faster than the slot.
void ask(const View& view, Findings& findings) {
  std::vector<Subject> all;
  const std::set<std::string> for_gpus = devices_for_gpus(view);
  const bool real = view.now.topology.hypervisor.empty();  // a guest does not see its slots
  for (const Nic& nic : view.now.topology.nics) {
    if ((nic.rdma.empty() && !nic.link.all_ones) || nic.virtual_function ||
        !can_be_judged(view.now, view.now.topology.nics, nic))
      continue;
    std::optional<double> rate;
    for (const Port& port : view.now.ports)
      if (port.pci == nic.pci && is_active(port)) rate = std::max(rate, port.rate);
    all.push_back({&nic, nic.name, false, rate, std::ranges::find_first_of(nic.rdma, for_gpus) != nic.rdma.end(),
                   !real || slot_is_full(view.now, nic, false), carried_beside(view.now, nic)});
  }
  for (const Gpu& gpu : view.now.topology.gpus)
    if (can_be_judged(view.now, view.now.topology.gpus, gpu))
      all.push_back({&gpu, gpu.name, true, std::nullopt, true, !real || slot_is_full(view.now, gpu, true)});
  for (Subject& subject : all) {
    const PcieLink equals = best_of_siblings(all, subject);
    if (!real && !equals.width) subject.network_rate.reset();
    findings.push_back(finding_for(subject, equals));
  }
  check_hops(view, findings);
}

}  // namespace

Beside carried_beside(const Node& node, const Nic& nic) {
  const Topology& topology = node.topology;
  std::map<std::string, double> slots;
  for (const Nic& other : topology.nics)
    if (!nic.card.empty() && other.card == nic.card && !other.virtual_function)
      slots[card_of(other.pci)] = carried(other);
  slots.erase(card_of(nic.pci));
  if (nic.direct) slots[card_of(nic.direct->pci)] = carried(*nic.direct);
  Beside out;
  for (const auto& [slot, bytes] : slots) {
    if (bytes <= 0) continue;
    out.sum += bytes;
    out.least = std::min(out.least.value_or(bytes), bytes);
  }
  if (out.sum <= 0) out.sum = carried_by_silent_half(node, nic);
  return out;
}

extern const Check kPcieCheck{
    .id = "pcie",
    .group = group::topology,
    .title = "The PCIe link of a NIC, GPU or switch is below full width or speed",
    .meaning =
        "Compares the current width and speed with devices of the same model, then with the maximum of the device. A "
        "link between two bridges is compared with the maximum of both ends. A NIC whose slot is slower than its port "
        "is critical; the slots of a NIC in several slots (socket direct) are added up. A device whose registers read "
        "all ones has left the bus; one that reports no link while others of its model do may have. Idle GPUs lower "
        "their speed, so only their width counts; at 64 GT/s all lanes but two may sleep. In virtual machines, devices "
        "are compared with others of their model only.",
    .inspect = "lspci -vv -s ADDRESS (LnkCap, LnkSta); journalctl -k -g ADDRESS",
    .fix =
        "Reseat the NIC or GPU, or the riser or switch board between the two addresses. Check lanes, bifurcation and "
        "speed of the slot in the firmware setup.",
    .ask = ask,
};

}  // namespace fabric
