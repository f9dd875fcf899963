// SPDX-License-Identifier: Apache-2.0
// GPUs and NICs: pairing, distance, symmetry, and the site's expectations.
#include "judge/topology.h"

#include "judge/engine.h"
#include "judge/platform_view.h"
#include "judge/port_state.h"
#include "nic/capabilities.h"
#include "node/endpoints.h"
#include "node/gpu.h"
#include "node/inventory.h"
#include "node/machine.h"
#include "topology/compute_nics.h"

namespace fabric {

Fix fix_of_flash_recovery(const std::string& pci) {
  return {
      "mstflint -d " + pci + " query. ",
      {Work::in_machine,
       "Write the firmware of its board (the PSID is that of an equal card: mstflint -d ADDRESS query), which keeps "
       "its GUIDs: mstflint -d " +
           pci +
           " -i FILE burn. Then power-cycle the node. If it is in flash recovery again, or the flash cannot be "
           "written, replace the card."}};
}

namespace {

const std::string kGpuLog = "journalctl -k -g 'Xid|pciehp|amdgpu'; ";

// "GPU0 and GPU1"
std::string gpu_names(const Topology& topology, const std::vector<size_t>& gpus) {
  return joined(gpus, " and ", [&](size_t gpu) { return topology.gpus[gpu].name; });
}

// " Missing: a NIC function at 0000:2a:00.1, beside GPU1.", if symmetry shows the place of a NIC that the GPU has lost.
std::string missing_text(const Built& built, size_t gpu) {
  std::string places;
  for (const MissingPart& part : built.missing)
    if (part.kind == MissingPart::Kind::nic && contains(part.gpus, gpu))
      append_item(places, "a NIC function " + place_text(part), "; ");
  if (places.empty()) return {};
  return " Missing: " + places + ".";
}

// How to bring a device back that is not on the PCI bus. If another function of its card is there, slot and power are
// in order: the kernel or the firmware does not offer the function. `journal`: the command that shows the log.
Fix fix_of_missing(const Topology& topology, const std::string& pci, const std::string& journal) {
  if (contains(topology.in_recovery, pci, &PciDevice::pci)) return fix_of_flash_recovery(pci);
  const auto is_efa = [](const Nic& nic) { return nic.vendor == kAmazon && carries_rdma(nic); };
  if (!pci.empty() && topology.is_guest() && std::ranges::any_of(topology.nics, is_efa))
    return {
        "An instance has the EFA interfaces that it was launched with: compare its network cards with those of the "
        "instance type (aws ec2 describe-instances, NetworkCardIndex). ",
        {Work::ends_jobs,
         "If one has none, stop the instance, attach an EFA interface to that network card, and start it; correct "
         "its launch template. "},
        "If all have one: " + journal + "; then report it to AWS."};
  const auto is_beside = [&](const PciDevice& device) {
    return !pci.empty() && device.pci != pci && card_of(device.pci) == card_of(pci);
  };
  const Nic* nic = find_where(topology.nics, is_beside);
  if (nic == nullptr)
    return {journal + "; ",
            {Work::in_machine, "then power-cycle the node, check the power of the device, and reseat it."}};
  std::string show;
  if (const RdmaModules* modules = rdma_modules_of({}, nic->vendor, nic->device))
    show = capabilities_of(modules->function).firmware_settings;
  replace_all(show, "{pci}", nic->pci);
  if (!show.empty()) show = " (" + show + ")";
  return {journal + "; then rescan the bus: echo 1 > /sys/bus/pci/rescan. ",
          {Work::at_machine,
           "If it stays away, " + nic->pci +
               " lives, so the slot is in order: compare the firmware settings that decide how many functions and "
               "ports the card has" +
               show + " with those of an equal card."}};
}

// "mlx5_core"; "its driver" for a NIC whose driver is unknown.
std::string missing_driver(const Nic& nic) {
  const RdmaModules* modules = rdma_modules_of({}, nic.vendor, nic.device);
  return modules == nullptr ? "its driver" : std::string(modules->function);
}

// "its driver mlx5_core is bound"; the state of a NIC that has no RDMA device.
std::string driver_text(const Node& node, const Nic& nic) {
  const PlatformFunction* function = function_of(node, nic.pci);
  if (function != nullptr && !function->kernel_driver.empty())
    return "the driver " + function->kernel_driver + " is bound";
  if (records_drivers(node) && nic.netdevs.empty())
    return missing_driver(nic) + " is not bound: it is not loaded, or its probe failed";
  return {};
}

// How to give a NIC the RDMA device that equal ones have: the modules are loaded.
Fix fix_of_no_rdma(const Node& node, const Nic& nic) {
  const PlatformFunction* function = function_of(node, nic.pci);
  const std::string journal = "journalctl -k -g " + nic.pci;
  if (function == nullptr || function->kernel_driver.empty()) {
    if (records_drivers(node) && nic.netdevs.empty())
      return {journal + "; then bind " + missing_driver(nic) + ": echo " + nic.pci + " > /sys/bus/pci/drivers_probe. ",
              {Work::in_machine, "If the probe fails again, power-cycle the node, and update the NIC's firmware."}};
    return {Work::ends_jobs, journal + ", then reload its RDMA driver."};
  }
  std::string look = journal + "; ";
  if (const std::string_view names = capabilities_of(function->kernel_driver).rdma_parameters; !names.empty())
    look += "devlink dev param show pci/" + nic.pci + " (" + std::string(names) + "); ";
  return {look, {Work::ends_jobs, "then bind its driver again: " + rebind_commands(nic.pci, function->kernel_driver)}};
}

// `like`: the NICs that have an RDMA device.
Finding no_rdma_finding(const Node& node, const Nic& nic, const std::string& like) {
  std::string meaning = "This NIC (" + nic.pci + ") has no RDMA device, so no collective can use it";
  if (const std::string driver = driver_text(node, nic); !driver.empty()) meaning += ": " + driver;
  return bad(Status::critical, nic.name, "no RDMA device", "one, " + like, meaning + ".", fix_of_no_rdma(node, nic));
}

// The pairing of GPUs and compute NICs as it should be and as it is.
struct Placement {
  std::shared_ptr<const Built> built;
  std::vector<size_t> compute;                           // Built::present_compute(), up or down
  Pairing pairing;                                       // over them
  std::vector<std::optional<PathClass>> expected_paths;  // the expected class of each GPU
  size_t cards = 0;                                      // number of cards with compute NICs
  // The only function of their model without an RDMA device.
  std::optional<size_t> without_rdma;

  [[nodiscard]] std::optional<PathClass> path(size_t gpu) const { return pairing.pairs[gpu].path; }
  // Farther from a NIC than equal GPUs, or than with the NICs that are lost. With one card for all GPUs, some are far
  // by design.
  [[nodiscard]] bool is_too_far(size_t gpu) const {
    return path(gpu) > expected_paths[gpu] && (cards > 1 || path(gpu) > built->pairing.pairs[gpu].path);
  }
};

// With as many cards as GPUs, each GPU should have the best path of its model; with fewer cards, the path of more than
// half of the GPUs. A machine with one half of its GPUs near and one half far has this by design. No GPU should have a
// longer path than with the NICs that are lost.
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
              std::to_string(*usual) + (*usual == 1 ? " GPU" : " GPUs") + ", like the other NICs",
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

namespace {

// The rules about parts.
const std::string kPartRules[]{"symmetry", "pairing", "locality", "pcie", "rate"};

// Puts a part that is in another slot now where the inventory has it.
void restore_place(PciDevice& device, const Built& built) {
  const PciDevice* place = find_in(built.moved, device.pci);
  if (place == nullptr) return;
  device.root = place->root;
  device.bridges = place->bridges;
  if (place->numa) device.numa = device.numa_above = place->numa;
}

// The machine as it was when its inventory was accepted. It has no inventory, so that the rules report the same
// findings as then.
Node as_recorded(const View& view) {
  const Inventory& inventory = *view.now.inventory;
  const auto built = built_of(view);
  Node out{.hostname = view.now.hostname, .topology = built->topology, .ports = view.now.ports};
  out.platform = view.now.platform;
  const auto record_of = [&](const std::string& pci) -> const InventoryPart* {
    const std::string* recorded = find_in(built->recorded_at, pci);
    return recorded == nullptr ? nullptr : inventory.find(*recorded);
  };
  const auto restore_link = [&](PciDevice& device) {
    const InventoryPart* part = record_of(device.pci);
    if (part == nullptr) return;
    if (part->width) device.link.width = part->width;
    if (part->speed) device.link.speed = part->speed;
  };
  for (Gpu& gpu : out.topology.gpus) {
    restore_link(gpu);
    restore_place(gpu, *built);
    const InventoryPart* part = record_of(gpu.pci);
    if (auto* function = find_in(out.platform.functions, gpu.pci); function != nullptr && part != nullptr)
      function->kernel_driver = part->driver;
  }
  for (Nic& nic : out.topology.nics) {
    restore_link(nic);
    restore_place(nic, *built);
  }
  for (Port& port : out.ports) {
    const InventoryPart* part = record_of(port.pci);
    if (part == nullptr) continue;
    // Without a recorded rate nothing was accepted about it.
    const double* rate = find_in(part->rates, std::to_string(port.number));
    if (rate != nullptr) port.rate = *rate;
    else port.rate.reset();
  }
  return out;
}

}  // namespace

Findings accepted_findings(const View& view) {
  if (!view.now.inventory || !view.now.inventory->accepted) return {};
  const Node then = as_recorded(view);
  Findings out = run_rules({.now = then, .policy = view.policy, .no_policy = {}}, kPartRules).findings;
  std::erase_if(out, [&](const Finding& each) {
    // The inventory has no links between bridges: their oddities at that time are accepted word by word.
    const bool is_bridge = then.platform.functions.contains(each.subject) &&
                           !contains(then.topology.gpus, each.subject, &Gpu::name) &&
                           !contains(then.topology.nics, each.subject, &Nic::name);
    return !is_fault(each.status) || (is_bridge && !contains(view.now.inventory->odd, fault_text(each)));
  });
  return out;
}

std::vector<std::string> odd_parts(const Node& node) {
  std::vector<std::string> out;
  for (const Finding& each : run_rules({.now = node, .no_policy = {}}, kPartRules).findings)
    if (is_fault(each.status)) out.push_back(fault_text(each));
  return out;
}

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

// "mlx5_2 (0000:4d:00.0)"
std::string name_and_address(const Nic& nic) {
  if (nic.name == nic.pci) return nic.pci;
  return nic.name + " (" + nic.pci + ")";
}

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
      const std::string& driver = function_of(node, nic.pci)->kernel_driver;
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
      append_item(given_away, nic.pci + " (" + function_of(view.now, nic.pci)->kernel_driver + ")");
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

namespace {

using Kind = InventoryChange::Kind;

struct Words {
  Kind kind;
  const char *what, *meaning;
  FixRow fix;  // before the command that shows the log
};
constexpr Words kWords[]{
    {Kind::replaced, "model ", "Another device is in this place.", "lspci -nn; "},
    {Kind::driver, "kernel driver ", "The GPU has no kernel driver for jobs any more: no job can use it.",
     "lspci -k; modprobe the driver; "},
    {Kind::rdma,
     "RDMA devices ",
     "An RDMA device of this NIC is gone: its driver is not loaded or failed, or the device is in a container.",
     {"rdma link show; rdma system show; ", {Work::ends_jobs, "then reload the RDMA driver; "}}},
    {Kind::rate,
     "",
     "The link is slower than recorded. Every collective runs at the speed of its slowest link.",
     {{Work::ends_jobs, "Configure the same speed and FEC as on the switch port; "},
      {Work::at_link, "replace a cable or transceiver that brings up fewer lanes; "}}},
    {Kind::numa, "NUMA node ",
     "The firmware reports another NUMA node (-1: none) for this root bus: jobs are bound to the wrong CPUs and "
     "memory.",
     "Compare the firmware's version and settings (SNC, NPS) with those of equal nodes; "},
    {Kind::link,
     "PCIe link ",
     "The PCIe link trained lower than before.",
     {Work::in_machine,
      "Reseat the device or its riser, and check lanes and speed of the slot in the firmware setup; "}}};

// Binds a GPU to its driver for jobs in place of the other one that has it.
Fix fix_of_other_driver(const std::string& pci, const std::string& other, const std::string& driver) {
  return {"lspci -k -s " + pci + "; ",
          {Work::ends_jobs, "echo " + pci + " > /sys/bus/pci/drivers/" + other + "/unbind; modprobe " + driver +
                                "; echo " + pci + " > /sys/bus/pci/drivers/" + driver + "/bind. "},
          "For the next boots: blacklist " + other + " in /etc/modprobe.d, and rebuild the initramfs."};
}

// `parts`: the changed part, or all of one root bus with the same change.
Finding inventory_finding(const std::vector<InventoryChange>& parts, const Inventory& inventory,
                          const Topology& topology) {
  const std::string& taken = inventory.taken;
  const InventoryChange& change = parts.front();
  std::string pattern = change.present.empty() ? change.pci : change.present;
  std::string subject = pattern;
  if (change.gpu)
    if (const InventoryPart* old = inventory.find(change.pci); old != nullptr) pattern += gpu_log_word(old->vendor);
  const std::string journal = "journalctl -k -g '" + pattern + "'",
                    accept = "If this is intended: fabric-agentctl inventory accept";
  const std::string part = joined(parts, ", ", [](const InventoryChange& each) { return part_text(each); });
  if (change.kind == Kind::gone) {
    Fix fix = fix_of_missing(topology, change.gpu ? "" : change.pci, journal);
    fix.steps.back().text += " ";
    fix += accept;
    return bad(Status::critical, change.pci, "gone: " + part, change.was + ", as of " + taken,
               std::string(change.gpu ? "The GPU " : "The NIC ") + part +
                   " is no longer on the PCI bus: it failed, lost power, or did not come up at boot.",
               std::move(fix));
  }
  if (parts.size() > 1) subject = change.root;
  const Words& words = *find_where(kWords, [&](const Words& each) { return each.kind == change.kind; });
  Fix fix = words.fix;
  if (change.kind == Kind::driver && change.is != "none") {
    fix = fix_of_other_driver(change.present, change.is, change.was);
    fix.steps.back().text += " ";
  }
  fix += journal + ". " + accept;
  // A NIC without any RDMA device is lost for the GPU that it was paired with, as if it were gone.
  const bool serves_gpu = change.kind == Kind::rdma && change.is == "none" &&
                          std::ranges::any_of(inventory.parts, [&](const InventoryPart& each) {
                            return each.gpu && contains(each.nics, change.pci);
                          });
  const bool is_lost = change.kind == Kind::driver || serves_gpu;
  return bad(is_lost ? Status::critical : Status::warning, subject, words.what + change.is + ": " + part,
             words.what + change.was + ", as of " + taken, words.meaning, std::move(fix));
}

// The port of a change of rate, or nullptr.
const Port* port_of(const Node& node, const InventoryChange& change) {
  return find_where(node.ports, [&](const Port& port) {
    return port.pci == change.present && port.number == change.port && is_judged(port);
  });
}

// A NIC that is farther from its GPU than recorded, because one of the two is in another slot.
struct FartherNic {
  const Gpu* gpu;
  const Nic* nic;
  PathClass was, is;
  std::string part, slot;  // that was moved, and its recorded address
};

std::vector<FartherNic> farther_nics(const View& view) {
  const auto built = built_of(view);
  std::vector<FartherNic> out;
  if (built->moved.empty()) return out;
  const auto record_of = [&](const PciDevice& device) -> const InventoryPart* {
    const std::string* recorded = find_in(built->recorded_at, device.pci);
    return recorded == nullptr ? nullptr : view.now.inventory->find(*recorded);
  };
  for (const Gpu& gpu : view.now.topology.gpus)
    for (const Nic& nic : view.now.topology.nics) {
      const bool has_gpu_moved = built->moved.contains(gpu.pci), has_nic_moved = built->moved.contains(nic.pci);
      const InventoryPart *own = record_of(gpu), *other = record_of(nic);
      if ((!has_gpu_moved && !has_nic_moved) || own == nullptr || other == nullptr || !contains(own->nics, other->pci))
        continue;
      Gpu gpu_then = gpu;
      Nic nic_then = nic;
      restore_place(gpu_then, *built);
      restore_place(nic_then, *built);
      const auto was = path_class(gpu_then, nic_then), is = path_class(gpu, nic);
      if (!was || !is || *is <= *was) continue;
      FartherNic each{&gpu, &nic, *was, *is, {}, {}};
      // If the root buses were renumbered, too, it is not known which of the two was moved.
      if (has_gpu_moved) each.part = gpu.name, each.slot = own->pci;
      if (has_nic_moved) append_item(each.part, name_and_address(nic), " or "), append_item(each.slot, other->pci);
      out.push_back(std::move(each));
    }
  return out;
}

// The NUMA node of a part in another slot is that of the slot, and no loss.
std::vector<InventoryChange> losses_of(const View& view) {
  const auto built = built_of(view);
  auto out = changes_since(*view.now.inventory, view.now);
  std::erase_if(out, [&](const InventoryChange& each) {
    return !each.is_loss() || (each.kind == Kind::numa && built->moved.contains(each.present));
  });
  return out;
}

// `locality` reports those of a GPU whose equals have theirs nearer.
void add_farther_nics(const View& view, const Findings& accepted, Findings& found) {
  const auto nics = farther_nics(view);
  if (nics.empty()) return;
  Findings far;
  find_rule("locality")->ask(view, far);
  for (Finding& each : far) each.id = "locality";
  std::erase_if(far, [&](const Finding& each) { return each.status == Status::ok || is_among(accepted, each); });
  for (const FartherNic& each : nics) {
    if (contains(far, each.gpu->name, &Finding::subject)) continue;
    found.push_back(bad(Status::warning, each.nic->name, std::string(to_text(each.is)) + " to " + each.gpu->name,
                        std::string(to_text(each.was)) + ", as of " + view.now.inventory->taken,
                        each.part + " is in another slot than recorded (" + each.slot +
                            "): the path between the GPU and its NIC is longer, and GPUDirect RDMA slower or not used.",
                        {{Work::in_machine, "Move the card back to its slot. "},
                         "If this is intended: fabric-agentctl inventory accept"}));
  }
}

void ask_inventory(const View& view, Findings& findings) {
  const Node& node = view.now;
  if (!node.inventory_unread.empty()) {
    Fix fix = "fabric-agentctl inventory accept";
    if (node.inventory_is_newer) fix = "Use the programs of the release that wrote the file: it stays as it is.";
    return findings.push_back(
        bad(Status::warning, "node", "unreadable", "an inventory of the last good state",
            "The inventory cannot be read, so missing parts are found by symmetry only: " + node.inventory_unread + ".",
            std::move(fix)));
  }
  if (!node.inventory || (node.topology.gpus.empty() && node.topology.nics.empty())) return;
  const Inventory& inventory = *node.inventory;
  // The faults that `pcie` and `rate` find by comparison with equal devices, and that the record does not have.
  const Findings accepted = accepted_findings(view);
  Findings found, others;
  for (const char* rule : {"pcie", "rate"}) {
    Findings of_rule;
    find_rule(rule)->ask(view, of_rule);
    for (Finding& each : of_rule) {
      each.id = rule;
      if (each.status != Status::ok && !is_among(accepted, each)) others.push_back(std::move(each));
    }
  }
  const auto losses = losses_of(view);
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<InventoryChange>> nodes;  // by root bus
  for (const InventoryChange& change : losses)
    if (change.kind == Kind::numa) nodes[{change.root, change.was, change.is}].push_back(change);
  for (const InventoryChange& change : losses) {
    std::string subject = change.name;
    const Port* port = change.kind == Kind::rate ? port_of(node, change) : nullptr;
    if (port != nullptr) subject = port->id();
    if (change.kind == Kind::link) {
      if (const Nic* nic = nic_at(node.topology, change.present); nic != nullptr) subject = nic->name;
      if (const Gpu* gpu = gpu_at(node.topology, change.present); gpu != nullptr) subject = gpu->name;
    }
    if (contains(others, subject, &Finding::subject)) continue;
    if (change.kind == Kind::rdma && is_given_away(node, change.present)) continue;  // until the guest gives it back
    std::vector<InventoryChange> parts{change};
    if (change.kind == Kind::numa) {
      auto& all = nodes[{change.root, change.was, change.is}];
      if (all.empty()) continue;  // reported with another part of the root
      parts = std::exchange(all, {});
    }
    Finding finding = inventory_finding(parts, inventory, view.now.topology);
    if (port != nullptr) finding.subject = port->id();
    if (!contains(found, finding.subject, &Finding::subject)) found.push_back(std::move(finding));
  }
  add_farther_nics(view, accepted, found);
  if (found.empty()) {
    std::string observed = "no part is missing";
    const auto renumbered = std::ranges::count(changes_since(inventory, node), Kind::moved, &InventoryChange::kind);
    if (renumbered > 0) observed += "; " + std::to_string(renumbered) + " at other PCI addresses";
    found.push_back(good("node", std::move(observed), "as of " + inventory.taken));
  }
  findings.insert(findings.end(), found.begin(), found.end());
}

}  // namespace

std::vector<InventoryChange> losses_since(const Node& node) {
  if (!node.inventory) return {};
  return losses_of({.now = node, .no_policy = {}});
}

bool has_farther_nics(const Node& node) { return !farther_nics({.now = node, .no_policy = {}}).empty(); }

constexpr Rule kInventory{
    .id = "inventory",
    .group = group::topology,
    .title = "A GPU, NIC or RDMA device is missing since the last good state",
    .meaning =
        "Compares GPUs and their drivers, NIC functions, RDMA devices, port rates, NUMA nodes, PCIe links and the "
        "paths "
        "between GPUs and their NICs with the inventory that fabric-agentd records while no recorded part is missing. "
        "Missing and degraded parts are "
        "reported with their slot. Parts at other PCI addresses are not missing: an added card or a firmware update "
        "renumbers the buses, and a part is known by its place below the root bus, its UUID or GUID. After "
        "fabric-agentctl inventory accept, what the checks symmetry, pairing, locality, pcie and rate found then is "
        "intended.",
    .inspect = "fabric-agentctl inventory; lspci -nn; journalctl -k -g ADDRESS",
    .fix =
        "Power-cycle the node, or reseat the missing device. After an intended change: fabric-agentctl inventory "
        "accept",
    .ask = ask_inventory,
};

namespace {

// " It was GPU2; the GPUs behind it count one less now.": the number in the order of PCI addresses, as nvidia-smi
// counts, with all GPUs that are missing.
std::string former_number(const Built& built, const std::string& pci) {
  const auto& gpus = built.topology.gpus;
  const auto before = std::ranges::count_if(gpus, [&](const Gpu& each) { return each.pci < pci; });
  std::string out = " It was GPU" + std::to_string(before);
  if (gpus.size() - built.gpus > 1) return out + "; the GPUs behind the missing ones have lower numbers now.";
  return out + "; the GPUs behind it count one less now.";
}

Finding missing_part_finding(const Built& built, const Topology& topology, const MissingPart& part) {
  const bool gpu = part.kind == MissingPart::Kind::gpu;
  const std::string kind = gpu ? "GPU" : "NIC function", &pci = part.place.pci;
  const std::string address = pci.empty() ? part.below : pci;
  std::string meaning =
      "A " + kind + " is missing " + place_text(part) + ": it left the PCI bus, or did not come up at boot.";
  if (gpu && !pci.empty()) meaning += former_number(built, pci);
  std::string pattern = address + "|" + part.below;
  if (gpu && !topology.gpus.empty()) pattern += gpu_log_word(topology.gpus.front().vendor);
  return bad(Status::critical, address, "no " + kind + " " + place_text(part),
             "one, as in equal places of this machine", std::move(meaning),
             fix_of_missing(topology, gpu ? "" : pci, "journalctl -k -g '" + pattern + "'"));
}

// "A GPU seems", "3 GPUs seem"
std::string gpus_seem(size_t count) { return count == 1 ? "A GPU seems" : std::to_string(count) + " GPUs seem"; }

std::string left_the_bus(size_t count) {
  return std::string(count == 1 ? "it" : "they") + " left the PCI bus, or did not come up at boot.";
}

// The GPUs that are missing, but not certainly, in one finding. nullopt: none.
std::optional<Finding> gpus_of_places(const Built& built) {
  std::string places;
  size_t count = 0;
  for (const MissingPart& part : built.missing) {
    if (part.certain) continue;
    append_item(places, place_text(part), "; ");
    ++count;
  }
  if (count == 0) return std::nullopt;
  return bad(
      Status::warning, "GPUs", counted(built.gpus, "GPU"), std::to_string(built.topology.gpus.size()),
      gpus_seem(count) + " to be missing where other GPUs have an equal NIC (" + places + "): " + left_the_bus(count),
      {"lspci -tv; " + kGpuLog,
       {Work::in_machine, "then power-cycle the node, and check the power and the boards that these GPUs share."}});
}

// Whether each GPU has a NIC of its own on its switch, and no NIC is left: a missing GPU has taken its NIC with it.
bool are_nics_missing_too(const Placement& placed) {
  return placed.pairing.idle.empty() && !placed.pairing.pairs.empty() &&
         std::ranges::all_of(placed.pairing.pairs,
                             [](const Pair& pair) { return pair.shared_by == 1 && is_on_switch(pair.path); });
}

// The ports that equal those above GPUs, with nothing below them.
std::vector<std::string> empty_ports(const Node& node) {
  std::set<std::string> used;
  const auto add = [&](const PciDevice& device) {
    used.insert(device.pci);
    used.insert(device.bridges.begin(), device.bridges.end());
  };
  for (const Gpu& gpu : node.topology.gpus) add(gpu);
  for (const Nic& nic : node.topology.nics) add(nic);
  std::vector<std::string> out;
  for (const auto& [pci, function] : node.platform.functions)
    if (!used.contains(pci)) out.push_back(pci);
  return out;
}

// The GPUs and NICs next below other ports of the same switch. Empty for a root port.
std::vector<const PciDevice*> devices_beside(const Topology& topology, std::string_view port) {
  const auto bus_of = [](std::string_view address) { return address.substr(0, address.rfind(':')); };
  std::vector<const PciDevice*> out;
  const auto add = [&](const PciDevice& device) {
    if (device.bridges.size() > 1 && bus_of(device.bridges.front()) == bus_of(port)) out.push_back(&device);
  };
  for (const Gpu& gpu : topology.gpus) add(gpu);
  for (const Nic& nic : topology.nics) add(nic);
  return out;
}

// The number of GPUs by socket, or NUMA node. Empty: a place is unknown, or the GPUs are of several models.
std::map<int, size_t> gpus_by_socket(const Topology& topology) {
  std::map<int, size_t> out;
  for (const Gpu& gpu : topology.gpus) {
    const auto socket = socket_of(topology, gpu);
    if ((!socket && !gpu.numa) || !are_of_one_model(gpu, topology.gpus.front())) return {};
    ++out[socket ? *socket : *gpu.numa];
  }
  return out;
}

// GPUs that are missing below switches: an equal port has nothing below it, and the machine is plausible only with a
// GPU below each of these ports. If the sockets have equally many GPUs, each switch must have a NIC: slots are sold
// empty, too.
std::optional<Finding> gpus_of_empty_ports(const Node& node, const Built& built) {
  const Topology& whole = built.topology;
  const std::map<int, size_t> sockets = gpus_by_socket(whole);
  if (sockets.size() < 2) return std::nullopt;
  const bool is_even =
      std::ranges::all_of(sockets, [&](const auto& each) { return each.second == sockets.begin()->second; });
  std::vector<std::string> ports;
  std::vector<const PciDevice*> places;
  for (const std::string& port : empty_ports(node)) {
    const auto beside = devices_beside(node.topology, port);
    if (beside.empty()) continue;
    const auto is_gpu = [&](const PciDevice* each) { return gpu_at(node.topology, each->pci) != nullptr; };
    if (is_even && std::ranges::all_of(beside, is_gpu)) return std::nullopt;
    ports.push_back(port);
    places.push_back(beside.front());
  }
  if (places.empty() || are_plausible(whole, {}) || !are_plausible(whole, places)) return std::nullopt;
  const std::string list = joined(ports, " and ");
  return bad(Status::warning, "GPUs", counted(whole.gpus.size(), "GPU") + ", and nothing below " + list,
             counted(whole.gpus.size() + places.size(), "GPU"),
             gpus_seem(places.size()) + " to be missing below " + list +
                 ", where equal ports of switches have one: " + left_the_bus(places.size()),
             {"lspci -vv -s " + ports.front() + " (LnkSta); journalctl -k -g '" + joined(ports, "|") + "|pciehp" +
                  gpu_log_word(whole.gpus.front().vendor) + "'; ",
              {Work::in_machine, "then power-cycle the node, check the power of the GPU, and reseat it."}});
}

Finding odd_gpus_finding(const Placement& placed, const Node& node) {
  const Topology& topology = node.topology;
  const OddGpus& odd = *placed.built->odd_gpus;
  const size_t count = odd.whole - topology.gpus.size();
  std::vector<std::string> empty = empty_ports(node);
  std::erase_if(empty, [&](const std::string& port) { return !devices_beside(topology, port).empty(); });
  if (are_nics_missing_too(placed) && empty.size() == count && count * 3 <= topology.gpus.size()) {
    const std::string ports = joined(empty, " and ");
    return bad(
        Status::critical, empty.front(), "nothing below " + ports,
        "a GPU and a NIC, as below " + std::to_string(topology.gpus.size()) + " equal ports",
        "Nothing is below " + ports + ", where equal ports have a GPU and its NIC: the PCIe switch above both, or " +
            "the link to it, did not come up.",
        {"lspci -vv -s " + empty.front() + " (LnkSta); journalctl -k -g '" + joined(empty, "|") + "|pciehp'; ",
         {Work::in_machine, "then power-cycle the node, and check the switch board, its cables and its power."}});
  }
  if (are_nics_missing_too(placed))
    return bad(
        Status::warning, "GPUs", odd.observed, std::to_string(odd.whole),
        (count == 1 ? "A GPU and its NIC seem" : std::to_string(count) + " GPUs and their NICs seem") +
            " to be missing " + odd.where + ": the PCIe switch above both, or the link to it, did not come up.",
        {"lspci -tv (look for a port with nothing below it); " + kGpuLog,
         {Work::in_machine, "then power-cycle the node, and check the switch board, its cables and its power."}});
  return bad(Status::warning, "GPUs", odd.observed, std::to_string(odd.whole),
             gpus_seem(count) + " to be missing " + odd.where + ": " + left_the_bus(count),
             {"lspci -nnd ::0302; lspci -nnd ::1200; " + kGpuLog,
              {Work::in_machine,
               std::string("then power-cycle the node, and reseat the ") + (count == 1 ? "GPU." : "GPUs.")}});
}

// `locality` reports the missing part with the GPU that has lost it, else `pairing` with the GPUs that share a NIC. A
// GPU that shares its NIC with one that `locality` reports, or by design, has lost nothing.
bool is_reported(const View& view, const Placement& placed, const Findings& pairings, const MissingPart& part) {
  if (part.kind == MissingPart::Kind::rdma && placed.without_rdma == part.nic) return true;
  if (part.kind == MissingPart::Kind::gpu) return false;
  const auto& pairs = placed.pairing.pairs;
  bool any_too_far = false;
  for (size_t gpu = 0; gpu < pairs.size(); ++gpu) any_too_far = any_too_far || placed.is_too_far(gpu);
  for (const size_t gpu : part.gpus) {
    if (gpu >= pairs.size()) continue;  // missing itself
    if (any_too_far) {
      if (placed.is_too_far(gpu)) return true;
      continue;
    }
    for (const size_t nic : pairs[gpu].nics)
      if (contains(pairings, view.now.topology.nics[nic].name, &Finding::subject)) return true;
  }
  return false;
}

// GPUs without a driver for jobs while equal ones have one.
Findings gpus_without_driver(const View& view) {
  const Topology& topology = view.now.topology;
  // Empty: none for jobs.
  const auto driver_of = [&](const Gpu& gpu) {
    const PlatformFunction* function = function_of(view.now, gpu.pci);
    const bool is_for_jobs =
        function != nullptr && !is_given_away(view.now, gpu.pci) && runs_jobs(function->kernel_driver);
    return is_for_jobs ? function->kernel_driver : std::string();
  };
  // `inventory` reports those that had a driver when it was recorded.
  const auto built = built_of(view);
  const auto is_recorded = [&](const Gpu& gpu) {
    const std::string* recorded = find_in(built->recorded_at, gpu.pci);
    return recorded != nullptr && runs_jobs(view.now.inventory->find(*recorded)->driver);
  };
  Findings out;
  for (const Gpu& gpu : topology.gpus) {
    if (is_recorded(gpu) || function_of(view.now, gpu.pci) == nullptr || is_given_away(view.now, gpu.pci) ||
        !driver_of(gpu).empty())
      continue;
    size_t equal = 0;
    std::string driver;
    for (const Gpu& other : topology.gpus)
      if (are_of_one_model(other, gpu) && !driver_of(other).empty()) {
        ++equal;
        driver = driver_of(other);
      }
    if (equal == 0) continue;
    const std::string& own = function_of(view.now, gpu.pci)->kernel_driver;
    const std::string like = std::to_string(equal) + (equal == 1 ? " equal GPU" : " equal GPUs");
    if (!own.empty()) {
      out.push_back(
          bad(Status::critical, gpu.name, "kernel driver " + own + ": " + gpu.pci, driver + ", like " + like,
              "The GPU " + gpu.pci + " has the kernel driver " + own + ", unlike " + like + ": no job can use it.",
              fix_of_other_driver(gpu.pci, own, driver)));
      continue;
    }
    out.push_back(bad(Status::critical, gpu.name, "no kernel driver: " + gpu.pci, driver + ", like " + like,
                      "The GPU " + gpu.pci + " has no kernel driver, unlike " + like +
                          ": the driver failed on it, and no job can use it.",
                      {"lspci -k; journalctl -k -g '" + gpu.pci + gpu_log_word(gpu.vendor) + "'; then echo " + gpu.pci +
                           " > /sys/bus/pci/drivers_probe; ",
                       {Work::in_machine, "power-cycle the node if it fails again"}}));
  }
  return out;
}

// Whether a GPU without a driver here has none. A tree that others captured may lack the links to drivers. It has them
// if a bridge above the GPU has its driver, and it is complete if it has the power settings, which every function has.
bool shows_driver(const Node& node, const Gpu& gpu) {
  const PlatformFunction* function = function_of(node, gpu.pci);
  if (function == nullptr) return false;
  return !function->power_control.empty() || std::ranges::any_of(gpu.bridges, [&](const std::string& bridge) {
    const PlatformFunction* above = function_of(node, bridge);
    return above != nullptr && !above->kernel_driver.empty();
  });
}

using GpuModels = std::map<std::pair<uint16_t, uint16_t>, std::vector<const Gpu*>>;  // by vendor and device

GpuModels models_of(const Topology& topology) {
  GpuModels out;
  for (const Gpu& gpu : topology.gpus) out[{gpu.vendor, gpu.device}].push_back(&gpu);
  return out;
}

// Why jobs of this host need a GPU and have none: "slurmd.service starts jobs here". Empty: nothing shows it. A
// container runtime does not: it also starts virtual machines.
std::string need_of_jobs(const View& view) {
  const bool any_for_jobs = std::ranges::any_of(view.now.topology.gpus, [&](const Gpu& gpu) {
    const PlatformFunction* function = function_of(view.now, gpu.pci);
    return function != nullptr && runs_jobs(function->kernel_driver) && !is_given_away(*function);
  });
  if (any_for_jobs) return {};
  if (view.policy != nullptr && view.policy->expect.gpus.value_or(0) > 0)
    return "[expect] gpus = " + std::to_string(*view.policy->expect.gpus);
  if (!view.now.host || std::ranges::none_of(view.now.topology.nics, carries_rdma)) return {};
  const JobService* service = find_where(view.now.host->services, [](const JobService& each) {
    return each.role == JobRole::batch && !each.masked && !each.processes.empty();
  });
  return service == nullptr ? std::string() : service->unit + " starts jobs here";
}

// Why this host gives the GPU to a virtual machine: "qemu-kvm runs". Empty: nothing shows it.
std::string sign_of_passthrough(const Node& node, const Gpu& gpu) {
  for (const Nic& nic : node.topology.nics)
    if (is_given_away(node, nic.pci)) return nic.pci + " is bound to " + function_of(node, nic.pci)->kernel_driver;
  if (!node.host) return {};
  if (!node.host->vm_program.empty()) return node.host->vm_program + " runs";
  if (const auto pages = node.host->huge_pages.reserved.find(uint64_t{1} << 30);
      pages != node.host->huge_pages.reserved.end() && node.host->memory != 0 &&
      pages->second > (node.host->memory >> 31))
    return "most of the memory is " + std::to_string(pages->second) + " pages of 1 GiB";
  const std::string ids = ids_text(gpu.vendor, gpu.device);
  for (const std::string& option : node.host->kernel_options)
    if ((option.starts_with("vfio-pci.ids=") || option.starts_with("vfio_pci.ids=")) &&
        lower(option).find(ids) != std::string::npos)
      return "the kernel command line has " + option;
  return {};
}

// The GPUs of a model of which all are bound to a driver for virtual machines or user-space programs: no equal GPU
// shows that this is a mistake. It is one if jobs of this host need a GPU and nothing shows a virtual machine.
void add_given_away_models(const View& view, Findings& faults, Findings& notes) {
  const Node& node = view.now;
  const std::string need = need_of_jobs(view);
  for (const auto& [model, gpus] : models_of(node.topology)) {
    const Gpu& first = *gpus.front();
    const auto is_given = [&](const Gpu* gpu) {
      const PlatformFunction* function = function_of(node, gpu->pci);
      return function != nullptr && is_given_away(*function);
    };
    if (!std::ranges::all_of(gpus, is_given)) continue;
    const std::string driver = function_of(node, first.pci)->kernel_driver, module(gpu_module(first));
    const std::string observed =
        driver + ": " + counted(gpus.size(), "GPU") + (gpus.size() == 1 ? " at " : ", the first at ") + first.pci;
    const std::string subject = gpus.size() == 1 ? first.name : "GPUs";
    const std::string sign = sign_of_passthrough(node, first);
    // Processes that are hidden may run virtual machines.
    const bool sees_all = node.host && !node.host->processes_hidden;
    if (need.empty() || !sign.empty() || !sees_all) {
      const std::string why = sign.empty() ? "not for jobs of this host" : "for virtual machines (" + sign + ")";
      notes.push_back(good(subject, observed + ", " + why, "a driver for jobs, or for virtual machines"));
      continue;
    }
    const std::string own = module.empty() ? "its driver for jobs" : "the driver " + module;
    Fix fix = "Find what binds it: driverctl list-overrides; grep -r vfio /etc/modprobe.d /proc/cmdline";
    if (!module.empty())
      fix =
          "Find what binds it: driverctl list-overrides; grep -r vfio /etc/modprobe.d /proc/cmdline. If the GPU is for "
          "jobs of this host: driverctl unset-override " +
          first.pci + "; modprobe " + module + "; echo " + first.pci + " > /sys/bus/pci/drivers/" + driver +
          "/unbind; echo " + first.pci + " > /sys/bus/pci/drivers_probe";
    faults.push_back(bad(Status::warning, subject, observed, own + ", because " + need,
                         "No job of this host can use a GPU that is bound to " + driver +
                             ": the driver gives it to a virtual machine or to a user-space program. " + need +
                             ", and no other device, process or kernel option shows that virtual machines use it.",
                         std::move(fix)));
  }
}

// All GPUs of a model for data centers without their driver: none of them differs from another. A GPU with a display
// may be there for it, unless jobs need one.
void add_models_without_driver(const View& view, Findings& out) {
  const Node& node = view.now;
  constexpr uint32_t kVga = 0x0300;
  const bool is_needed = !need_of_jobs(view).empty();
  for (const auto& [model, gpus] : models_of(node.topology)) {
    const Gpu& first = *gpus.front();
    const bool may_be_for_display = first.class_code >> 8 == kVga && (!is_needed || first.bridges.empty());
    if (may_be_for_display || !records_drivers(node)) continue;
    std::set<std::string> drivers;
    bool are_shown = true;
    for (const Gpu* gpu : gpus) {
      const PlatformFunction* function = function_of(node, gpu->pci);
      are_shown = are_shown && shows_driver(node, *gpu);
      drivers.insert(function == nullptr ? std::string() : function->kernel_driver);
    }
    const bool is_none = drivers == std::set<std::string>{""} && are_shown;
    if (!is_none && drivers != std::set<std::string>{"nouveau"}) continue;
    const std::string count = std::to_string(gpus.size()) + (gpus.size() == 1 ? " GPU" : " GPUs");
    std::string observed = "no kernel driver: " + count + ", the first at " + first.pci;
    if (!drivers.begin()->empty()) observed = *drivers.begin() + ": " + count + ", the first at " + first.pci;
    const std::string module(gpu_module(first));
    Fix fix = "modprobe " + module + "; journalctl -k -g " + module;
    if (module.empty()) fix = "lspci -k -s " + first.pci + " (Kernel modules); modprobe the module; journalctl -k";
    std::string why;
    const ModuleRule* rule = nullptr;
    if (node.host && drivers.begin()->empty())
      rule = find_where(node.host->software.modules, [&](const ModuleRule& each) { return each.module == module; });
    if (rule != nullptr && rule->text.empty()) {
      why = " The running kernel has no module " + module + " (" + rule->where.text() +
            "): the driver was not built or installed for it.";
      fix = {
          "Install the driver for this kernel: dkms status; dkms autoinstall; or the packages of its modules for this "
          "kernel. Then modprobe " +
              module + ". ",
          {Work::ends_jobs, "Else boot the kernel that has it."}};
    } else if (rule != nullptr) {
      why = " A line of the configuration forbids it, " + rule->where.text() + ": " + rule->text + ".";
      fix = "Remove the module from " + rule->where.text() + ", also in the initramfs. Then: modprobe " + module;
    }
    const std::string& other = *drivers.begin();
    if (!other.empty() && !module.empty())  // it keeps the driver for jobs away
      fix = {
          {Work::ends_jobs, "modprobe -r " + other + " && modprobe " + module + "; journalctl -k -g " + module + ". "},
          "For the next boots: blacklist " + other + " in /etc/modprobe.d, and rebuild the initramfs."};
    out.push_back(
        bad(Status::warning, "GPUs", std::move(observed), module.empty() ? "a driver" : module,
            "Without " + (module.empty() ? "a driver" : "the driver " + module) + " no job can use these GPUs." + why,
            std::move(fix)));
  }
}

// GPUs that are divided into other partitions than most GPUs of their model (AMD: compute and memory mode).
void add_odd_partitions(const Node& node, Findings& out) {
  std::map<PciModel, std::map<std::string, size_t>> modes;
  for (const Gpu& gpu : node.topology.gpus)
    if (!gpu.partition.empty() && !is_given_away(node, gpu.pci)) ++modes[model_of(gpu)][gpu.partition];
  for (const Gpu& gpu : node.topology.gpus) {
    if (gpu.partition.empty() || is_given_away(node, gpu.pci)) continue;
    const auto& counts = modes.at(model_of(gpu));
    const auto usual = majority(counts);
    constexpr size_t kLeast = 3;
    if (!usual || *usual == gpu.partition || counts.at(*usual) < kLeast * counts.at(gpu.partition)) continue;
    const std::string compute = usual->substr(0, usual->find('/'));
    out.push_back(
        bad(Status::warning, gpu.name, "partitions " + gpu.partition, *usual + ", like equal GPUs",
            "The GPU " + gpu.pci +
                " is divided into other partitions than the equal ones: it has another number of devices, with other "
                "amounts of memory, so that ranks do not fit GPUs and NICs.",
            {"rocm-smi --showcomputepartition --showmemorypartition. ",
             {Work::ends_jobs, "While no program uses it: echo " + compute + " > /sys/bus/pci/devices/" + gpu.pci +
                                   "/current_compute_partition"}}));
  }
}

// The GPUs that NVIDIA's driver has and this /sys does not show. They are on the bus: the driver forgets a GPU that has
// left it.
Finding hidden_gpus_finding(const Topology& topology) {
  const size_t hidden = topology.hidden_gpus.size(), shown = topology.gpus.size();
  const std::string list = joined(topology.hidden_gpus);
  return bad(
      Status::warning, "GPUs", counted(shown, "GPU") + " in /sys, and " + list + " in the driver alone",
      counted(shown + hidden, "GPU") + " in both",
      "NVIDIA's driver has " + counted(shown + hidden, "GPU") + ", and /sys/bus/pci/devices lacks " + list +
          ". The hardware is in order: the /sys of this container does not show the whole machine. CUDA sees all "
          "GPUs; NCCL and the daemons of network plugins, which read the PCI topology from /sys, do not.",
      {"Compare with the host: ls /sys/bus/pci/devices; ls /proc/driver/nvidia/gpus. ",
       {Work::ends_jobs,
        "Give the container the /sys of the host: in Kubernetes hostNetwork: true, or a mount of /sys."}});
}

// Whether the device is on a NUMA node whose CPUs are all offline: its node is right, although the topology has none.
bool is_at_offline_cpus(const Node& node, const std::string& pci) {
  return node.host && std::ranges::any_of(node.host->offline_cpus,
                                          [&](const OfflineCpus& each) { return contains(each.devices, pci); });
}

size_t count_of_cpus(const Topology& topology, int node) {
  const std::string* list = find_in(topology.numa_cpus, node);
  return list == nullptr ? 0 : machine::parse_cpus(*list).value_or(std::vector<unsigned>{}).size();
}

// NUMA nodes with a larger share of their CPUs offline than another one. Where SMT is off, or CPUs are left out on
// purpose, the share is the same everywhere. One CPU more is no difference: CPU 0 stays online.
Findings nodes_with_offline_cpus(const Node& node) {
  if (!node.host || node.host->offline_cpus.empty()) return {};
  const Topology& topology = node.topology;
  struct NodeCpus {
    size_t online = 0, offline = 0;
    [[nodiscard]] size_t all() const { return online + offline; }
    [[nodiscard]] std::string text() const {
      return std::to_string(online) + " of " + counted(all(), "CPU") + " online";
    }
  };
  std::map<int, NodeCpus> nodes;
  for (const auto& [number, list] : topology.numa_cpus) nodes[number].online = count_of_cpus(topology, number);
  for (const OfflineCpus& each : node.host->offline_cpus) nodes[each.node].offline = each.count;
  const auto best = std::ranges::max_element(nodes, {}, [](const auto& each) {
    return static_cast<double>(each.second.online) / static_cast<double>(std::max<size_t>(each.second.all(), 1));
  });
  if (best->second.online == 0) return {};  // a captured tree without the lists of the nodes
  Findings out;
  for (const OfflineCpus& each : node.host->offline_cpus) {
    const NodeCpus& own = nodes[each.node];
    const size_t usual = own.all() * best->second.offline / best->second.all();
    if (own.online > 0 && own.offline <= usual + 1) continue;
    std::string devices;
    for (const Gpu& gpu : topology.gpus)
      if (contains(each.devices, gpu.pci)) append_item(devices, gpu.name);
    for (const Nic& nic : topology.nics)
      if (contains(each.devices, nic.pci) && carries_rdma(nic) && !nic.is_virtual_function())
        append_item(devices, nic.name);
    std::string meaning = "Jobs lose these CPUs, and their threads crowd on the others.";
    if (!devices.empty())
      meaning = "Jobs that use " + devices +
                ", and their interrupts, run on CPUs of another NUMA node: each access crosses the link between the "
                "sockets. No node is known for these devices, so that nothing is bound near them.";
    out.push_back(
        bad(devices.empty() ? Status::warning : Status::critical, "NUMA node " + std::to_string(each.node), own.text(),
            best->second.text() + " on NUMA node " + std::to_string(best->first), std::move(meaning),
            "grep -oE '(max|nr)_?cpus=[0-9]+' /proc/cmdline; journalctl -k -g 'smpboot|CPU.*(offline|failed)'; then "
            "chcpu -e " +
                each.cpus));
  }
  return out;
}

void ask_symmetry(const View& view, Findings& findings) {
  const Topology& topology = view.now.topology;
  if (topology.gpus.empty() && topology.nics.empty()) return;
  const Placement placed = placement(view);
  Findings found, pairings;
  find_rule("pairing")->ask(view, pairings);
  std::erase_if(pairings, [](const Finding& each) { return each.status == Status::ok; });
  const auto add = [&](Finding finding) {
    if (!contains(found, finding.subject, &Finding::subject)) found.push_back(std::move(finding));
  };
  // The places where GPUs are missing are those of the hidden ones, unless they are more.
  const bool any_hidden = !topology.hidden_gpus.empty();
  const auto missing_gpus = std::ranges::count(placed.built->missing, MissingPart::Kind::gpu, &MissingPart::kind);
  const bool are_hidden_ones = any_hidden && std::cmp_less_equal(missing_gpus, topology.hidden_gpus.size());
  if (any_hidden) add(hidden_gpus_finding(topology));
  for (const MissingPart& part : placed.built->missing) {
    if (part.kind == MissingPart::Kind::gpu && (are_hidden_ones || contains(topology.hidden_gpus, part.place.pci)))
      continue;
    if (is_reported(view, placed, pairings, part) ||
        (part.nic && is_given_away(view.now, topology.nics[*part.nic].pci)))
      continue;
    if (part.kind == MissingPart::Kind::rdma)
      add(no_rdma_finding(view.now, topology.nics[*part.nic], "as in equal places of this machine"));
    else if (part.certain) add(missing_part_finding(*placed.built, topology, part));
  }
  const bool gpu = contains(placed.built->missing, MissingPart::Kind::gpu, &MissingPart::kind);
  const bool is_accepted = view.now.inventory && view.now.inventory->accepted;
  std::optional<Finding> below_switches;
  if (!gpu && !is_accepted && !any_hidden) below_switches = gpus_of_empty_ports(view.now, *placed.built);
  if (auto places = any_hidden ? std::nullopt : gpus_of_places(*placed.built)) add(std::move(*places));
  else if (below_switches) add(std::move(*below_switches));
  else if (placed.built->odd_gpus && !gpu && !any_hidden) add(odd_gpus_finding(placed, view.now));
  for (const OddNode& odd : placed.built->odd_nodes) {
    const std::string pci = odd.device.pci;
    if (is_at_offline_cpus(view.now, pci)) continue;
    // A device, or all devices of a root bus.
    std::string subject = odd.name, place = pci;
    std::string observed = "NUMA node " + (odd.device.numa ? std::to_string(*odd.device.numa) : "-1");
    if (odd.whole_root) {
      subject = place = odd.device.root;
      std::string names;
      for (const OddNode& other : placed.built->odd_nodes)
        if (other.device.root == odd.device.root) append_item(names, other.name);
      observed += ": " + names;
    }
    std::string expected = "a node";
    const bool is_guest = topology.is_guest();
    std::string fix = "cat /sys/bus/pci/devices/" + pci + "/numa_node; then ";
    fix += is_guest ? "correct the node in the definition of this virtual machine" : "update the firmware";
    if (odd.expected) {
      const std::string node = std::to_string(*odd.expected);
      expected = "NUMA node " + node;
      if (!odd.whole_root) fix += ", or write " + node + " to that file";
    }
    add(bad(Status::warning, subject, observed, expected + ", like " + odd.like,
            std::string(is_guest ? "The hypervisor" : "The firmware") + " reports a NUMA node for " + place +
                " that does not fit its place: jobs are bound to the wrong CPUs and memory.",
            fix + "."));
  }
  for (Finding& each : nodes_with_offline_cpus(view.now)) add(std::move(each));
  for (Finding& each : gpus_without_driver(view)) add(std::move(each));
  Findings models, notes;
  add_models_without_driver(view, models);
  add_given_away_models(view, models, notes);
  for (Finding& each : models) add(std::move(each));
  Findings partitions;
  add_odd_partitions(view.now, partitions);
  for (Finding& each : partitions) add(std::move(each));
  if (found.empty()) add(good("node", "no part is missing", "equal places have equal parts"));
  for (Finding& each : notes) add(std::move(each));
  findings.insert(findings.end(), found.begin(), found.end());
}

}  // namespace

constexpr Rule kSymmetry{
    .id = "symmetry",
    .group = group::topology,
    .title = "Equal places of the machine have different parts",
    .meaning =
        "Compares cards of one model, then the devices below each bridge and on each root bus. If at least three "
        "equal places have a GPU, NIC function or RDMA device, a place without one is reported. A GPU is reported "
        "only if the machine then has 2, 4, 8 or 16 of them, the same number on each socket; if several are missing, "
        "the places without one that have a NIC as those of the other GPUs are reported as a warning. With fewer "
        "places, the check reports the only NIC function of its model without an RDMA device, and NICs without one "
        "if every GPU has a NIC of their model on its switch; a card without function 0; a Data Direct function "
        "without its ConnectX-8, or without a GPU on its root bus; a port of a switch with nothing below it, if "
        "other ports have a GPU and the numbers of GPUs are even only with one there; 7 or 15 GPUs (with the empty "
        "root port, if one equals those above the GPUs); fewer GPUs than compute NIC cards, if each socket has the "
        "same number of cards and at most one GPU fewer or another socket has a GPU for each; four or eight GPUs on "
        "one socket and fewer on the other, each on a switch with a NIC. A device is on the NUMA node of the bridge "
        "above it, and devices of one root bus are on one (not on the flat bus of a virtual machine); a root bus is on "
        "the node with which equal devices are evenly spread. The NUMA nodes have the same share of their CPUs online; "
        "a node without one that has a GPU or "
        "NIC is critical. GPUs that NVIDIA's driver has and the /sys of a container does not show are one finding: "
        "they are not missing. A GPU has a kernel driver if equal GPUs have one; GPUs for data centers must have one, "
        "other "
        "than nouveau, and so must any GPU on a card if no other GPU runs jobs and jobs need one ([expect] gpus, or a "
        "service such as slurmd on a machine with RDMA). All GPUs of a model that are bound to vfio-pci are a warning "
        "if jobs need one, and ok if another device is bound to vfio-pci, a virtual machine runs, most of the memory "
        "is reserved as pages of 1 GiB, or the kernel option vfio-pci.ids names them. A GPU of AMD is in the partition "
        "mode of the equal ones.",
    .inspect = "fabric-agentctl topo; lspci -tv; journalctl -k -g ADDRESS",
    .fix = "Power-cycle the node, reseat the missing device, check its power, or load its driver.",
    .ask = ask_symmetry,
};

constexpr Rule kTable[]{kPairing, kLocality, kExpect, kInventory, kSymmetry};
const std::span<const Rule> kTopologyRules = kTable;

}  // namespace fabric
