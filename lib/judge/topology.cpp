// SPDX-License-Identifier: Apache-2.0
// GPUs and NICs: pairing, distance, and the site's expectations.
#include "judge/topology.h"

#include "judge/gpu.h"
#include "judge/inventory.h"
#include "judge/no_rdma.h"
#include "judge/platform_view.h"
#include "judge/port_state.h"
#include "judge/rule.h"
#include "nic/capabilities.h"
#include "node/endpoints.h"
#include "topology/compute_nics.h"

namespace fabric {

std::shared_ptr<const std::set<std::string>> gpu_devices(const View& view) {
  if (view.gpu_devices != nullptr) return view.gpu_devices;
  const auto built = built_of(view);
  const auto& nics = view.now.topology.nics;
  std::set<std::string> devices, addresses;  // of the NICs that serve GPUs
  for (size_t nic = 0; nic < nics.size(); ++nic) {
    if (!built->serves_gpu(nic)) continue;
    devices.insert(nics[nic].rdma.begin(), nics[nic].rdma.end());
    addresses.insert(nics[nic].pci);
  }
  std::set<std::string> out = devices;
  for (const Port& port : view.now.ports) {
    if (!is_virtual(port) || out.contains(port.rdma)) continue;
    const Port* physical = physical_of(view.now, port);
    if ((physical != nullptr && devices.contains(physical->rdma)) ||
        (port.role == PortRole::guest_function && addresses.contains(port.owner)))  // of a pod, whose NIC is here
      out.insert(port.rdma);
  }
  return std::make_shared<const std::set<std::string>>(std::move(out));
}

bool serves_gpu(const View& view, const Port& port) { return gpu_devices(view)->contains(port.rdma); }

bool has_other_purpose(const View& view, const Port& port) {
  const auto built = built_of(view);
  for (size_t nic = 0; nic < built->nics; ++nic)  // NICs in containers have no devices here
    if (built->serves_gpu(nic)) return !serves_gpu(view, port);
  return false;
}

Placement placement(const View& view) {
  const Node& node = view.now;
  const Topology& topology = node.topology;
  Placement out;
  out.built = built_of(view);
  out.compute = out.built->present_compute();
  out.pairing = out.built->present_pairing;
  std::set<std::string> cards;
  for (const size_t nic : out.compute) cards.insert(card_of(topology.nics[nic]));
  out.cards = cards.size();
  if (!out.compute.empty()) out.without_rdma = only_without_rdma(topology, topology.nics[out.compute.front()]);
  if (out.without_rdma && is_given_away(node, topology.nics[*out.without_rdma].pci)) out.without_rdma.reset();

  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) {
    std::vector<PathClass> paths;  // of the GPUs of this model
    for (size_t other = 0; other < topology.gpus.size(); ++other)
      if (are_of_one_model(topology.gpus[gpu], topology.gpus[other]) && out.path(other))
        paths.push_back(*out.path(other));
    std::ranges::sort(paths);
    std::optional<PathClass>& expected = out.expected_paths.emplace_back();
    if (paths.empty()) continue;
    expected = out.cards >= topology.gpus.size() ? paths.front() : paths[paths.size() / 2];
    if (const auto built = out.built->pairing.pairs[gpu].path; built && *built < *expected) expected = built;
    // Its nearest NIC is as near as those of the others; the pairing gives it another one of the same switches, because
    // GPUs would share that NIC.
    const auto nearest = nearest_class(topology, topology.gpus[gpu], out.compute);
    if (out.path(gpu) == PathClass::PXB && nearest && *nearest <= *expected) expected = out.path(gpu);
  }
  return out;
}

std::string name_and_address(const Nic& nic) {
  if (nic.name == nic.pci) return nic.pci;
  return nic.name + " (" + nic.pci + ")";
}

namespace {

// "GPU0 and GPU1"
std::string gpu_names(const Topology& topology, const std::vector<size_t>& gpus) {
  return joined(gpus, " and ", [&](size_t gpu) { return topology.gpus[gpu].name; });
}

// " Missing: a NIC function at 0000:2a:00.1, beside GPU1.", if symmetry shows the place of a NIC that the GPU has
// lost.
std::string missing_text(const Built& built, size_t gpu) {
  std::string places;
  for (const MissingPart& part : built.missing)
    if (part.kind == MissingPart::Kind::nic && contains(part.gpus, gpu))
      append_item(places, "a NIC function " + place_text(part), "; ");
  if (places.empty()) return {};
  return " Missing: " + places + ".";
}

// True if the NUMA node of the NIC has no GPU, while GPUs elsewhere share a NIC although there is a NIC for each.
bool is_stray(const Topology& topology, const Placement& placed, size_t nic) {
  const auto& node = topology.nics[nic].numa;
  if (!node || placed.cards < topology.gpus.size() || !contains(placed.pairing.idle, nic)) return false;
  if (contains(topology.gpus, node, &Gpu::numa)) return false;
  return std::ranges::any_of(placed.pairing.pairs, [](const Pair& pair) { return pair.shared_by > 1; });
}

// The size of the largest group of equal GPUs. GPUs of other models (for video, for the display) have no NIC of their
// own by design.
size_t most_alike(const Topology& topology, const std::vector<size_t>& gpus) {
  size_t most = 0;
  for (const size_t gpu : gpus)
    most = std::max<size_t>(most, std::ranges::count_if(gpus, [&](size_t other) {
                              return are_of_one_model(topology.gpus[gpu], topology.gpus[other]);
                            }));
  return most;
}

// Whether nothing shows that the NICs are of two boards: one model is sold with one port at 400 Gb/s and with two at
// 200.
bool may_be_of_one_board(const Nic& a, const Nic& b, std::span<const Port> ports) {
  const NicBoard mine = board_of(a, ports), theirs = board_of(b, ports);
  return mine == theirs || (are_of_one_model(a, b) && (mine.id.empty() || theirs.id.empty()));
}

// NICs that serve a GPU at a lower rate than most of them do. `rate` compares ports of one board.
void find_slower_cards(const View& view, const Placement& placed, Findings& findings) {
  const Topology& topology = view.now.topology;
  std::map<size_t, double> rates;  // NIC -> rate
  for (const Pair& pair : placed.pairing.pairs)
    for (const size_t nic : pair.nics)
      if (const auto rate = likely_rate(topology, topology.nics[nic], view.now.ports)) rates[nic] = *rate;
  std::map<double, size_t> counts;
  for (const auto& [nic, rate] : rates) ++counts[rate];
  const auto usual = majority(counts);
  for (const auto& [index, rate] : rates) {
    const Nic& nic = topology.nics[index];
    const auto is_usual = [&, &of = nic](const auto& other) {
      return other.second == usual && may_be_of_one_board(topology.nics[other.first], of, view.now.ports);
    };
    if (!usual || rate >= *usual || std::ranges::any_of(rates, is_usual)) continue;
    std::string model = "of another model";
    if (const auto board = board_of(nic, view.now.ports).id; !board.empty()) model += ", board " + std::string(board);
    std::vector<size_t> gpus;
    for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu)
      if (contains(placed.pairing.pairs[gpu].nics, index)) gpus.push_back(gpu);
    findings.push_back(bad(
        Status::warning, nic.name, rate_text(rate), rate_text(*usual) + ", like the NICs of the other GPUs",
        "This NIC (" + nic.pci + ", " + model + ") serves " + gpu_names(topology, gpus) +
            " at a lower rate than the other NICs: it is in the place of one that is missing or was replaced, or its "
            "link is slower than it can be. The slowest pair sets the pace of a collective.",
        {"lspci -nn; " + (nic.netdevs.empty() ? "" : "ethtool " + nic.netdevs.front() + "; "),
         {Work::in_machine, "then find the missing NIC, or replace this one with one of the model of the others."}}));
  }
}

// The reference is the symmetry of the NICs of this machine.
void ask_pairing(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  if (topology.gpus.empty()) return;
  const Placement placed = placement(view);
  std::map<size_t, std::vector<size_t>> served;  // NIC -> GPUs
  bool explained = false;                        // another finding says why GPUs share a NIC
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) {
    if (placed.is_too_far(gpu)) {  // `locality` reports it
      explained = true;
      continue;
    }
    for (const size_t nic : placed.pairing.pairs[gpu].nics) served[nic].push_back(gpu);
  }
  std::map<size_t, size_t> loads;
  for (const auto& [nic, gpus] : served) ++loads[most_alike(topology, gpus)];
  const auto usual = majority(loads);

  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) explained = explained || placed.built->has_lost_nic(gpu);
  // A missing function that is beside no GPU: `symmetry` reports it.
  for (const MissingPart& part : placed.built->missing)
    explained = explained || (part.kind == MissingPart::Kind::nic && part.gpus.empty());
  if (!explained && placed.without_rdma) {
    findings.push_back(no_rdma_finding(view.now, topology.nics[*placed.without_rdma], "like the others of its model"));
    explained = true;
  }
  Findings slower;
  find_slower_cards(view, placed, slower);
  findings.insert(findings.end(), slower.begin(), slower.end());
  std::set<size_t> strays;
  if (!explained)
    for (const size_t nic : placed.compute)
      if (is_stray(topology, placed, nic)) strays.insert(nic);
  explained = explained || !strays.empty();

  for (const size_t index : placed.compute) {
    const Nic& nic = topology.nics[index];
    const std::vector<size_t>& gpus = served[index];
    if (contains(slower, nic.name, &Finding::subject)) continue;
    if (strays.contains(index)) {
      findings.push_back(
          bad(Status::warning, nic.name, "alone on NUMA node " + std::to_string(*nic.numa),
              "next to a GPU, like the other NICs",
              "The NUMA node of this NIC has no GPU, while GPUs elsewhere share a NIC.",
              {Work::in_machine,
               "Move NIC " + nic.pci + " to a slot of the NUMA node where GPUs share a NIC: fabric-agentctl topo"}));
    } else if (!explained && usual && most_alike(topology, gpus) > *usual) {
      const std::string missing = missing_text(*placed.built, gpus.front());
      findings.push_back(
          bad(missing.empty() ? Status::warning : Status::critical, nic.name, "serves " + gpu_names(topology, gpus),
              counted(*usual, "GPU") + ", like the other NICs",
              "A NIC seems to be missing: with " + std::to_string(placed.compute.size()) +
                  " of this model, these GPUs share one. The slowest pair sets the pace of a collective." + missing,
              {Work::in_machine,
               "Find the missing NIC (lspci -nn; journalctl -k), reseat it and its riser, or load its RDMA driver."}));
    } else {
      findings.push_back(
          good(nic.name, "serves " + (gpus.empty() ? "no GPU" : gpu_names(topology, gpus)), "like the other NICs"));
    }
  }
}

}  // namespace

constexpr Rule kPairing{
    .id = "pairing",
    .group = group::topology,
    .title = "A GPU has no NIC of its own",
    .meaning =
        "Pairs GPUs and NICs as well as the machine allows, and reports a NIC that breaks the symmetry: it serves more "
        "GPUs than the others (a NIC is missing), it is on a NUMA node without a GPU while GPUs share a NIC (wrong "
        "slot), it has no RDMA device, or it is of another model and slower than the NICs of the other GPUs. Groups of "
        "NICs that differ as a whole count as intended.",
    .inspect = "fabric-agentctl topo; lspci -nn; journalctl -k -g ADDRESS",
    .fix = "Reseat the missing NIC or load its RDMA driver; move a NIC from the wrong slot.",
    .ask = ask_pairing,
};

namespace {

// The nearest NIC is farther away than [expect] class. Without a NIC the class is unknown: pairing and the count of
// NICs report it.
bool misses_class(const View& view, const Placement& placed, size_t gpu) {
  if (view.policy == nullptr || !view.policy->expect.path_class || !placed.path(gpu)) return false;
  return *placed.path(gpu) > *view.policy->expect.path_class;
}

// True if a compute NIC is on the socket of the GPU. With several NUMA nodes per socket (SNC, NPS), SYS within the same
// socket costs nanoseconds and is by design.
bool stays_in_socket(const Topology& topology, const Placement& placed, const Gpu& gpu) {
  const auto socket = socket_of(topology, gpu);
  return socket && std::ranges::any_of(placed.compute,
                                       [&](size_t nic) { return socket_of(topology, topology.nics[nic]) == socket; });
}

// One card cannot be close to GPUs on both sockets.
bool any_gpu_is_near(const Topology& topology, const Placement& placed) {
  for (size_t gpu = 0; gpu < topology.gpus.size(); ++gpu) {
    if (placed.path(gpu) && *placed.path(gpu) < PathClass::SYS) return true;
    if (stays_in_socket(topology, placed, topology.gpus[gpu])) return true;
  }
  return false;
}

// The path to the nearest NIC crosses sockets, although no design requires it.
bool crosses_sockets(const Topology& topology, const Placement& placed, size_t gpu) {
  return placed.path(gpu) == PathClass::SYS && !placed.is_too_far(gpu) &&
         !stays_in_socket(topology, placed, topology.gpus[gpu]) &&
         (placed.cards > 1 || !any_gpu_is_near(topology, placed));
}

// Whether the NIC has no GPU because that one is missing.
bool serves_missing_gpu(const Built& built, size_t nic) {
  for (size_t gpu = built.gpus; gpu < built.pairing.pairs.size(); ++gpu)
    if (contains(built.pairing.pairs[gpu].nics, nic)) return true;
  return false;
}

// Why the NIC of a GPU is not where those of the other GPUs are.
struct LostNic {
  std::string observed;  // after the path to the nearest NIC
  std::string meaning;   // after the meaning of `locality`
  Fix fix;
  bool is_proven = false;  // no design: critical
};

LinkLayer layer_of(const Node& node, const Nic& nic) {
  for (const Port& port : node.ports)
    if (contains(nic.rdma, port.rdma) && port.link_layer != LinkLayer::unknown) return port.link_layer;
  return LinkLayer::unknown;
}

std::optional<LostNic> lost_function_of(const Placement& placed, const Topology& topology, size_t gpu) {
  const std::string text = missing_text(*placed.built, gpu);
  if (text.empty()) return std::nullopt;
  const MissingPart& part = *std::ranges::find_if(placed.built->missing, [&](const MissingPart& each) {
    return each.kind == MissingPart::Kind::nic && contains(each.gpus, gpu);
  });
  std::string pattern = part.below;
  if (!part.place.pci.empty()) pattern.insert(0, part.place.pci + "|");
  for (const PciDevice& nic : topology.in_recovery)
    if (nic.pci == part.place.pci || (!nic.bridges.empty() && nic.bridges.front() == part.below))
      return LostNic{"; " + nic.pci + " is in flash recovery",
                     " " + nic.pci + " did not start its firmware, and offers no port.", fix_of_flash_recovery(nic.pci),
                     true};
  return LostNic{
      {}, text, fix_of_missing(topology, part.place.pci, "journalctl -k -g '" + pattern + "'"), part.certain};
}

LostNic without_rdma_device(const Node& node, const Nic& nic) {
  std::string meaning = " " + name_and_address(nic) + " is of the same model and has no RDMA device";
  if (const std::string driver = driver_text(node, nic); !driver.empty()) meaning += ": " + driver;
  return {"; " + nic.pci + " has no RDMA device", meaning + ".", fix_of_no_rdma(node, nic), true};
}

// A NIC that is in the place where the other GPUs have theirs, and that no job can use for the GPU.
std::optional<LostNic> useless_nic_of(const Node& node, const Placement& placed, size_t gpu) {
  const Topology& topology = node.topology;
  if (placed.compute.empty() || !placed.expected_paths[gpu]) return std::nullopt;
  const LinkLayer usual = layer_of(node, topology.nics[placed.compute.front()]);
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& nic = topology.nics[i];
    const auto path = path_class(topology.gpus[gpu], nic);
    if (!path || *path > *placed.expected_paths[gpu] || contains(placed.compute, i)) continue;
    if (nic.is_virtual_function() || has_no_network(nic)) continue;
    if (std::ranges::none_of(placed.compute, [&](size_t each) { return are_of_one_model(topology.nics[each], nic); }))
      continue;
    if (is_given_away(node, nic.pci)) {
      const std::string driver = kernel_driver_of(node, nic.pci);
      return LostNic{"; " + nic.pci + " is bound to " + driver,
                     " The NIC of this GPU, " + nic.pci + ", is bound to " + driver +
                         ": it is for a virtual machine or a user-space driver, not for the jobs of this machine.",
                     "If jobs here use this GPU, give the NIC its own driver back: driverctl unset-override " +
                         nic.pci + ". Else leave the GPU out of the jobs, or give it to the same virtual machine."};
    }
    if (!carries_rdma(nic)) {
      LostNic out = without_rdma_device(node, nic);
      out.is_proven = placed.without_rdma == i || placed.built->lost.contains(i);
      return out;
    }
    const LinkLayer layer = layer_of(node, nic);
    if (layer != usual && layer != LinkLayer::unknown && usual != LinkLayer::unknown)
      return LostNic{"; " + nic.name + " has another link layer",
                     " The NIC of this GPU, " + name_and_address(nic) + ", has the link layer " +
                         std::string(to_text(layer)) + ", and the others " + std::string(to_text(usual)) + ".",
                     fix_of_link_layer(nic.pci, usual)};
  }
  return std::nullopt;
}

// On machines like GB300 a NIC reaches its GPU by a Data Direct function, which can be missing. nullopt: each of the
// nearest NICs has one, or none of their model has.
std::optional<LostNic> lost_direct_function_of(const Topology& topology, const Placement& placed, size_t gpu) {
  std::vector<std::string> names;
  std::string first;  // the address of the first of these NICs
  for (const size_t index : placed.compute) {
    const Nic& nic = topology.nics[index];
    const auto has_one = [&](size_t each) {
      return topology.nics[each].direct && are_of_one_model(topology.nics[each], nic);
    };
    if (path_class(topology.gpus[gpu], nic) != placed.path(gpu)) continue;
    if (nic.direct || std::ranges::none_of(placed.compute, has_one)) continue;
    if (names.empty()) first = nic.pci;
    names.push_back(nic.name);
  }
  if (names.empty()) return std::nullopt;
  // Functions of an unknown NIC: their owners are known by the serial numbers of the boards, which only root can read.
  const auto is_owned = [&](const Nic& function) {
    return std::ranges::any_of(topology.nics,
                               [&](const Nic& nic) { return nic.direct && nic.direct->pci == function.pci; });
  };
  const auto unknown = static_cast<size_t>(
      std::ranges::count_if(topology.nics, [&](const Nic& nic) { return is_data_direct(nic) && !is_owned(nic); }));
  std::string lacking =
      joined(names) + (names.size() == 1 ? " has none" : " have none") + ": it is not on the PCI bus.";
  if (unknown >= names.size())
    lacking = "which of those here is that of " + joined(names) + " is not known without the serial numbers of the " +
              "boards: run this as root.";
  else if (unknown > 0)
    lacking = std::to_string(names.size() - unknown) + " of " + joined(names) +
              (names.size() - unknown == 1 ? " has none" : " have none") +
              ": it is not on the PCI bus. Which one it is, root can say: by the serial numbers of the boards.";
  return LostNic{unknown == 0 ? " without a Data Direct function" : " without a known Data Direct function",
                 " Equal NICs reach their GPU by a Data Direct function (15b3:2100), and " + lacking,
                 {"lspci -d 15b3:2100; then rescan the bus: echo 1 > /sys/bus/pci/rescan. ",
                  {Work::at_machine, "If it stays away, compare the firmware and its settings (mstconfig -d " + first +
                                         " query) with those of a NIC that has one."}}};
}

std::optional<LostNic> lost_nic_of(const Node& node, const Placement& placed, size_t gpu) {
  const Topology& topology = node.topology;
  if (auto out = lost_function_of(placed, topology, gpu)) return out;
  if (auto out = useless_nic_of(node, placed, gpu)) return out;
  if (auto out = lost_direct_function_of(topology, placed, gpu)) return out;
  if (placed.without_rdma) return without_rdma_device(node, topology.nics[*placed.without_rdma]);
  const auto rate_of = [&](size_t nic) {
    double rate = 0;
    for (const Port& port : node.ports)
      if (contains(topology.nics[nic].rdma, port.rdma)) rate = std::max(rate, port.rate.value_or(0));
    return rate;
  };
  double usual = 0;  // of the NICs of the other GPUs
  for (const Pair& pair : placed.pairing.pairs)
    for (const size_t nic : pair.nics) usual = std::max(usual, rate_of(nic));
  const auto is_slower = [&](size_t nic) { return rate_of(nic) > 0 && rate_of(nic) < usual; };
  std::string names, addresses, slower;
  for (const size_t nic : placed.pairing.idle) {
    if (serves_missing_gpu(*placed.built, nic)) continue;
    if (is_slower(nic)) {
      append_item(slower, topology.nics[nic].name + " (" + rate_text(rate_of(nic)) + ")");
      continue;
    }
    append_item(names, topology.nics[nic].name);
    append_item(addresses, topology.nics[nic].pci);
    if (topology.nics[nic].numa) names += " on NUMA node " + std::to_string(*topology.nics[nic].numa);
  }
  if (const auto doubtful = doubtful_nics(topology, placed.pairing); names.empty() && !node.inventory)
    for (const size_t nic : placed.pairing.pairs[gpu].nics) {
      if (!contains(doubtful, nic)) continue;
      if (is_slower(nic)) {
        append_item(slower, topology.nics[nic].name + " (" + rate_text(rate_of(nic)) + ")");
        continue;
      }
      return LostNic{{},
                     " " + name_and_address(topology.nics[nic]) +
                         " is in a slot of the CPU: it is this GPU's NIC in the wrong slot, or it has another purpose "
                         "(storage) and this GPU's own is not on the PCI bus.",
                     {"lspci -tv; fabric-agentctl topo; ",
                      {Work::in_machine, "then restore the missing NIC, or move NIC " + topology.nics[nic].pci +
                                             " to the slot next to this GPU."}}};
    }
  if (names.empty() && slower.empty()) return std::nullopt;
  if (names.empty())
    return LostNic{{},
                   " A NIC of its own, if the machine was built with one, is not on the PCI bus. Not taken for it: " +
                       slower + ", slower than the NICs of the other GPUs, so likely for storage.",
                   {"lspci -tv; fabric-agentctl topo; ", {Work::in_machine, "then restore the missing NIC."}}};
  return LostNic{
      {},
      " " + names +
          " serves no GPU and may be in the wrong slot; or it has another purpose (storage), and this GPU's own NIC is "
          "lost.",
      {"fabric-agentctl topo; ",
       {Work::in_machine,
        "then restore the missing NIC, or move NIC " + addresses + " to the slot next to this GPU."}}};
}

Finding locality_finding(const Node& node, const Placement& placed, size_t index) {
  const Topology& topology = node.topology;
  const Gpu& gpu = topology.gpus[index];
  const auto path = placed.path(index);
  if (!path)
    return bad(Status::unknown, gpu.name, "-", "a NIC on the same PCIe switch or NUMA node",
               "The distance of this GPU (" + gpu.pci +
                   ") to any NIC is unknown: they share no bridge, and a NUMA node is unknown.",
               {Work::in_machine,
                "Enable NUMA information of PCI devices in the firmware setup, or a PCI topology in the hypervisor."});
  std::string observed = std::string(to_text(*path)) + " to";
  for (const size_t nic : placed.compute)
    if (path_class(gpu, topology.nics[nic]) == path) observed += " " + topology.nics[nic].name;
  const Fix fix{"fabric-agentctl topo; ",
                {Work::in_machine, "then restore the missing NIC, or move the NIC to the slot next to this GPU."}};
  const std::string expected(to_text(placed.expected_paths[index].value_or(*path)));
  if (placed.is_too_far(index)) {
    LostNic lost{.fix = fix};
    if (auto known = lost_nic_of(node, placed, index)) lost = std::move(*known);
    return bad(lost.is_proven ? Status::critical : Status::warning, gpu.name, observed + lost.observed,
               expected + ", like the other GPUs",
               "The nearest NIC of this GPU is farther away than that of the other GPUs. The slowest pair sets the "
               "pace of a collective." +
                   lost.meaning,
               std::move(lost.fix));
  }
  if (path > placed.expected_paths[index]) return good(gpu.name, observed + ", the only one", expected + " or farther");
  if (crosses_sockets(topology, placed, index))
    return bad(Status::warning, gpu.name, observed, "NODE or nearer",
               "All traffic between this GPU and its nearest NIC crosses NUMA nodes, usually over the link between CPU "
               "sockets.",
               fix);
  return good(gpu.name, observed, expected);
}

// "NUMA node 1", "NUMA nodes 0 and 2"
std::string nodes_text(const std::set<int>& nodes) {
  const std::string list = joined(nodes, " and ", [](int node) { return std::to_string(node); });
  return (nodes.size() == 1 ? "NUMA node " : "NUMA nodes ") + list;
}

// No GPU is on a socket with a NIC: the NIC is in a slot of the wrong socket, or the GPUs of its socket are missing.
Finding all_far_finding(const Topology& topology, const Placement& placed) {
  std::set<int> of_gpus, of_nics;
  for (const Gpu& gpu : topology.gpus)
    if (gpu.numa) of_gpus.insert(*gpu.numa);
  for (const size_t nic : placed.compute)
    if (topology.nics[nic].numa) of_nics.insert(*topology.nics[nic].numa);
  const std::string nics = joined(placed.compute, " ", [&](size_t nic) { return topology.nics[nic].name; });
  return bad(
      Status::warning, "GPUs",
      "SYS to " + nics + ": all GPUs are on " + nodes_text(of_gpus) + ", the NICs on " + nodes_text(of_nics),
      "NODE or nearer",
      "All traffic between GPUs and NICs crosses NUMA nodes, usually over the link between CPU sockets. If the "
      "machine was built with GPUs on " +
          nodes_text(of_nics) + ", they are missing; else the NIC is in a slot of the wrong socket.",
      {"fabric-agentctl topo; lspci -tv; " + kGpuLog,
       {Work::in_machine, "then restore the missing GPUs, or move the NIC to a slot of the socket with the GPUs."}});
}

// The reference is the path of the other GPUs, not a list of models.
void ask_locality(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  const bool has_rdma = std::ranges::any_of(topology.nics, [](const Nic& nic) { return !nic.rdma.empty(); });
  if (!has_rdma) return;  // port-state reports it
  const Placement placed = placement(view);
  if (!any_gpu_is_near(topology, placed) && topology.gpus.size() > 1) {
    std::vector<size_t> far;
    for (size_t i = 0; i < topology.gpus.size(); ++i)
      if (crosses_sockets(topology, placed, i) && !misses_class(view, placed, i) &&
          !is_given_away(view.now, topology.gpus[i].pci) && !placed.built->has_lost_nic(i))
        far.push_back(i);
    if (far.size() == topology.gpus.size()) return findings.push_back(all_far_finding(topology, placed));
  }
  for (size_t i = 0; i < topology.gpus.size(); ++i) {
    const Gpu& gpu = topology.gpus[i];
    if (misses_class(view, placed, i) || is_given_away(view.now, gpu.pci)) continue;
    if (placed.built->has_lost_nic(i)) continue;  // reported by `inventory`
    findings.push_back(locality_finding(view.now, placed, i));
  }
}

constexpr Rule kLocality{
    .id = "locality",
    .group = group::topology,
    .title = "A GPU is farther from its NIC than the other GPUs are",
    .meaning =
        "Compares the path from each GPU to its nearest NIC with that of the other GPUs, in nvidia-smi's classes "
        "(PIX PXB PHB NODE SYS). A GPU with a longer path has lost its NIC; or the NIC in its place has no RDMA "
        "device, is bound to vfio-pci or has another link layer than the others; or a NIC is in the wrong slot. The "
        "fix is that of the cause. If no GPU is on a socket with a NIC, one finding names the nodes of both. GPUs "
        "passed to guests (vfio-pci) are left to the guest.",
    .inspect = "fabric-agentctl topo; lspci -tv",
    .fix = "Restore the missing NIC, or move the NIC to the slot next to its GPU.",
    .ask = ask_locality,
};

// The number of compute NICs. Unused ports look like ports with a switch that is off, and the purpose of a card without
// any link is unknown: any count that fits `wanted` is accepted.
size_t count_compute(const Node& node, const Placement& placed, size_t wanted) {
  const Built& built = *placed.built;
  auto all = compute_nics(built.topology, built.ports, true);
  std::erase_if(all, [&](size_t nic) { return nic >= built.nics || built.lost.contains(nic); });
  std::vector<std::optional<double>> rates;
  for (const size_t nic : all) rates.push_back(likely_rate(node.topology, node.topology.nics[nic], node.ports));
  std::optional<double> best;
  for (const auto& rate : rates) best = std::max(best, rate);  // an absent optional is less than any value
  size_t fast = 0, used = 0, unknown = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!rates[i]) {
      ++unknown;
      continue;
    }
    if (rates[i] != best) continue;
    ++fast;
    if (is_in_use(node.topology, node.topology.nics[all[i]], node.ports)) ++used;
  }
  const size_t have = placed.compute.size();
  if (have == wanted || all.size() == wanted) return wanted;
  for (const size_t certain : {used, fast})
    if (certain <= wanted && wanted <= certain + unknown) return wanted;
  if (have > wanted && used + unknown < wanted) return used + unknown;  // slower NICs do not replace missing ones
  return have;
}

// Reports both counts in one finding: a report has one for each id and subject.
std::optional<Finding> device_count_finding(const View& view, const Placement& placed) {
  const Topology& topology = view.now.topology;
  const Expect& expect = view.policy->expect;
  std::string observed, expected;
  bool differs = false, is_missing = false;
  if (expect.gpus) {
    const size_t have = topology.gpus.size();
    observed = counted(have, "GPU");
    expected = counted(*expect.gpus, "GPU");
    differs = have != *expect.gpus;
    is_missing = have < *expect.gpus;
  }
  if (expect.compute_nics) {
    const size_t have = count_compute(view.now, placed, *expect.compute_nics);
    append_item(observed, counted(have, "compute NIC"));
    append_item(expected, counted(*expect.compute_nics, "compute NIC"));
    differs = differs || have != *expect.compute_nics;
    is_missing = is_missing || have < *expect.compute_nics;
  }
  if (expected.empty()) return std::nullopt;

  if (topology.gpus.empty() && topology.nics.empty() && !view.now.topology_unread.empty())
    return bad(
        Status::unknown, "node", "-", expected, "The PCI devices of this machine could not be read.",
        {{Work::as_root, "Run the check as root. "}, "fabric-agentctl check lists the reason below its findings."});
  if (!differs) return good("node", observed, expected);
  if (!is_missing)
    return bad(Status::warning, "node", observed, expected,
               "There are more devices than [expect] pins: the configuration may belong to another machine.",
               "Correct [expect] in fabric-agent.toml: fabric-agentctl topo");

  std::string meaning = "A device is missing: it left the PCI bus, has no driver, or was never installed.";
  std::string given_away;  // without virtual functions, which usually belong to guests
  for (const Nic& nic : topology.nics)
    if (!nic.is_virtual_function() && is_given_away(view.now, nic.pci))
      append_item(given_away, nic.pci + " (" + kernel_driver_of(view.now, nic.pci) + ")");
  if (!given_away.empty())
    meaning += " Not counted: " + given_away + "; if they are intended for a guest or DPDK, correct [expect].";
  return bad(Status::critical, "node", observed, expected, std::move(meaning),
             {"lspci -nn; journalctl -k -g 'pcie|xid'; ",
              {Work::in_machine, "then reseat the missing device, check its power, or load its driver."}});
}

// `gid-index` checks [expect] gid_index.
void ask_expect(const View& view, Findings& findings) {
  if (view.policy == nullptr) return;
  const Topology& topology = view.now.topology;
  const Expect& expect = view.policy->expect;
  const Placement placed = placement(view);
  if (auto finding = device_count_finding(view, placed)) findings.push_back(std::move(*finding));

  for (size_t gpu = 0; expect.path_class && gpu < placed.pairing.pairs.size(); ++gpu) {
    if (!placed.path(gpu)) continue;
    const std::string observed(to_text(*placed.path(gpu)));
    const std::string expected = std::string(to_text(*expect.path_class)) + " or nearer, [expect] class";
    if (misses_class(view, placed, gpu))
      findings.push_back(bad(Status::critical, topology.gpus[gpu].name, observed, expected,
                             "The nearest compute NIC of this GPU is farther away than [expect] class. The slowest "
                             "pair sets the pace of a collective.",
                             {"fabric-agentctl topo; ",
                              {Work::in_machine, "then restore the missing NIC, or move the NIC to the right slot."}}));
    else findings.push_back(good(topology.gpus[gpu].name, observed, expected));
  }

  if (!expect.speed) return;
  for (const Port& port : view.now.ports) {
    if (!is_judged(port) || !is_active(port) || !port.speed || !serves_gpu(view, port)) continue;
    const std::string expected = to_text(*expect.speed) + " Mb/s, [expect] speed";
    if (misses_speed(view, port))
      findings.push_back(bad(Status::critical, port.id(), to_text(*port.speed) + " Mb/s", expected,
                             "The speed of the link differs from that of the site. Every collective runs at the speed "
                             "of its slowest link.",
                             {{Work::ends_jobs, "Configure the same speed and FEC as on the switch port (" +
                                                    fill_names("ethtool {netdev}", &port, port.id()) + "). "},
                              {Work::at_link, "Replace a cable or transceiver that brings up fewer lanes."}}));
    else findings.push_back(good(port.id(), to_text(*port.speed) + " Mb/s", expected));
  }
}

}  // namespace

bool misses_speed(const View& view, const Port& port) {
  if (view.policy == nullptr || !view.policy->expect.speed) return false;
  return port.speed && *port.speed != *view.policy->expect.speed && serves_gpu(view, port);
}

constexpr Rule kExpect{
    .id = "expect",
    .group = group::topology,
    .title = "The machine differs from [expect] in fabric-agent.toml",
    .meaning =
        "The site pins the number of GPUs and compute NICs, the worst path class between a GPU and its NIC (PIX PXB "
        "PHB NODE SYS), and the speed of compute ports. Nothing is checked without a pin.",
    .inspect = "fabric-agentctl topo; lspci -nn; journalctl -k",
    .fix = "Restore the missing hardware. If the machine is correct, change [expect] in fabric-agent.toml.",
    .ask = ask_expect,
};

constexpr Rule kTable[]{kPairing, kLocality, kExpect};
const std::span<const Rule> kTopologyRules = kTable;

}  // namespace fabric
