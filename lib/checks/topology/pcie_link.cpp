// SPDX-License-Identifier: Apache-2.0
#include "checks/topology/pcie_link.h"

#include "base/parse.h"
#include "judge/platform_view.h"
#include "node/locality.h"

namespace fabric {
namespace {

struct Hop {
  PcieHop ends;
  PcieLink link;
  std::vector<std::string> below;  // names
  bool for_nics = false;           // a switch of GPUs only lowers its speed when they idle
  double fastest = 0;              // of the NICs below, bytes per second
  std::set<std::string> cards{};   // below; a NIC in several slots counts for each
};

// Links with equal maxima should run equally; if all fall short, it is a limit of the platform.
bool is_odd(const std::map<std::string, Hop>& all, const Hop& hop) {
  bool alone = true;
  for (const auto& [lower, other] : all) {
    if (&other == &hop || other.link.max_speed != hop.link.max_speed || other.link.max_width != hop.link.max_width)
      continue;
    if (*other.link.width > *hop.link.width || (hop.for_nics && *other.link.speed > *hop.link.speed)) return true;
    alone = false;
  }
  return alone;
}

// The links above that of the device. `rate`: of a NIC.
void add_hops(const Node& node, const PciDevice& device, const std::string& name, const std::optional<double>& rate,
              const std::set<std::string>& cards, std::map<std::string, Hop>& hops) {
  const auto above = hops_above(device);
  for (size_t i = 1; i < above.size(); ++i) {
    const PlatformFunction *lower = function_of(node, above[i].lower), *upper = function_of(node, above[i].upper);
    const auto link = lower == nullptr || upper == nullptr ? std::nullopt : link_between(lower->link, upper->link);
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

std::set<std::string> slots_of(const Topology& topology, const Nic& nic) {
  if (nic.virtual_function) return {};
  std::set<std::string> out{card_of(nic.pci)};
  if (nic.direct) out.insert(card_of(nic.direct->pci));
  for (const Nic& other : topology.nics)
    if (!nic.card.empty() && other.card == nic.card && !other.virtual_function) out.insert(card_of(other.pci));
  return out;
}

std::map<std::string, Hop> hops_of(const Node& node) {
  std::map<std::string, Hop> hops;
  std::map<std::string, double> rates;  // of active ports, by PCI address
  for (const Port& port : node.ports)
    if (is_active(port)) rates[port.pci] = std::max(rates[port.pci], port.rate.value_or(0));
  for (const Gpu& gpu : node.topology.gpus) add_hops(node, gpu, gpu.name, std::nullopt, {gpu.pci}, hops);
  for (const Nic& nic : node.topology.nics)
    add_hops(node, nic, nic.name, rates[nic.pci], slots_of(node.topology, nic), hops);
  return hops;
}

bool is_starving(const Hop& hop) { return bytes_per_second(*hop.link.speed, *hop.link.width) < hop.fastest; }

// Of a card with bridges of its own. A switch above a GPU may have less bandwidth: their traffic does not leave it.
Finding small_slot(const Hop& hop) {
  return bad(Status::critical, hop.ends.lower, link_text(hop.link.speed, hop.link.width) + " below " + hop.ends.upper,
             "a link that carries " + rate_text(hop.fastest),
             "The slot of " + joined(hop.below) + " is slower than its network port (" + rate_text(hop.fastest) + ").",
             larger_slot(hop.ends.upper));
}

Finding degraded(const Hop& hop) {
  const bool starves = is_starving(hop);
  std::string meaning =
      "The PCIe link between " + hop.ends.upper + " and " + hop.ends.lower +
      " trained lower than the maximum of both ends. Devices below it share it: " + joined(hop.below) + ".";
  if (starves) meaning += " It is now slower than one network port (" + rate_text(hop.fastest) + ").";
  return bad(starves ? Status::critical : Status::warning, hop.ends.lower,
             link_text(hop.link.speed, hop.link.width) + " below " + hop.ends.upper,
             link_text(hop.link.max_speed, hop.link.max_width), std::move(meaning),
             "Reseat the riser, cable or switch board between " + hop.ends.upper + " and " + hop.ends.lower +
                 ". Errors: journalctl -k -g '" + hop.ends.upper + "|" + hop.ends.lower + "'");
}

}  // namespace

double bytes_per_second(double speed, unsigned width) {
  const double coding = speed <= 5 ? 0.8 : speed <= 32 ? 128.0 / 130.0 : 242.0 / 256.0;
  return speed * 1e9 / 8 * coding * width;
}

std::string link_text(std::optional<double> speed, std::optional<unsigned> width) {
  return (width ? "x" + std::to_string(*width) : std::string("x?")) + " at " +
         (speed ? number_text(*speed) : std::string("?")) + " GT/s";
}

std::string larger_slot(const std::string& port) {
  return "Move the NIC to a slot with more lanes or a newer PCIe generation, or correct lanes, bifurcation and speed "
         "of "
         "this slot in the firmware setup. Maximum: lspci -vv -s " +
         port + " (LnkCap)";
}

std::optional<PcieLink> link_between(const PcieLink& lower, const PcieLink& upper) {
  const auto whole = [](const PcieLink& link) { return link.speed && link.width && link.max_speed && link.max_width; };
  if (!whole(lower) || !whole(upper) || lower.speed != upper.speed || lower.width != upper.width) return std::nullopt;
  return PcieLink{lower.speed, std::min(lower.max_speed, upper.max_speed), lower.width,
                  std::min(lower.max_width, upper.max_width)};
}

void check_hops(const View& view, std::vector<Finding>& findings) {
  const std::map<std::string, Hop> all = hops_of(view.now);
  // A NIC whose GPU is missing has the link that equal NICs share with theirs.
  const auto is_shared_elsewhere = [&](const Hop& hop) {
    return std::ranges::any_of(all, [&](const auto& each) {
      const Hop& other = each.second;
      return other.cards.size() > 1 && other.link == hop.link && other.fastest == hop.fastest;
    });
  };
  const bool real = view.now.topology.hypervisor.empty();  // an emulated bridge has no real link
  for (const auto& [lower, hop] : all)
    if ((*hop.link.width < *hop.link.max_width || (hop.for_nics && *hop.link.speed < *hop.link.max_speed)) &&
        is_odd(all, hop))
      findings.push_back(degraded(hop));
    else if (real && hop.cards.size() == 1 && is_starving(hop) && !is_shared_elsewhere(hop))
      findings.push_back(small_slot(hop));
}

}  // namespace fabric
