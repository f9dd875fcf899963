// SPDX-License-Identifier: Apache-2.0
// NICs without an RDMA device: which ones, why, and how they get it.
#include "judge/no_rdma.h"

#include "judge/platform_view.h"
#include "nic/capabilities.h"
#include "node/endpoints.h"
#include "topology/compute_nics.h"

namespace fabric {
namespace {

// "mlx5_core"; "its driver" for a NIC whose driver is unknown.
std::string missing_driver(const Nic& nic) {
  const RdmaModules* modules = rdma_modules_of({}, nic.vendor, nic.device);
  return modules == nullptr ? "its driver" : std::string(modules->function);
}

// "8 NICs have the driver ionic and no RDMA device (0000:09:00.0, 0000:19:00.0, ...)"
std::string without_rdma_text(const std::vector<std::string>& addresses, const std::string& driver) {
  constexpr size_t kShown = 8;
  const bool is_one = addresses.size() == 1;
  std::string out = is_one ? "1 NIC has " : std::to_string(addresses.size()) + " NICs have ";
  out += driver.empty() ? "no driver" : "the driver " + driver + " and no RDMA device";
  std::vector<std::string> shown = addresses;
  if (shown.size() > kShown) {
    shown.resize(kShown);
    shown.emplace_back("...");
  }
  return out + " (" + joined(shown) + ")";
}

// NICs without an RDMA device, by their driver and the modules for it.
struct WithoutRdma {
  std::map<std::pair<std::string, std::set<std::string>>, std::vector<std::string>> groups{};  // -> addresses
  std::map<std::string, size_t> ports{};  // of each card that has RDMA only if it has fewer: the card -> its ports
  unsigned most_ports = 0;                // of such a card

  void add(const Node& node, const Nic& nic) {
    const std::string driver = kernel_driver_of(node, nic.pci);
    const bool is_unknown = !records_drivers(node) || (driver.empty() && !nic.netdevs.empty());
    if (is_unknown || nic.is_virtual_function() || has_no_network(nic)) return;
    const RdmaModules* modules = rdma_modules_of(driver, nic.vendor, nic.device);
    if (modules == nullptr) return;
    std::set<std::string> load{std::string(modules->rdma)};
    if (driver.empty()) load.emplace(modules->function);
    groups[{driver, load}].push_back(nic.pci);
    if (modules->most_ports == 0) return;
    most_ports = modules->most_ports;
    ++ports[card_of(nic.pci)];
  }
  // A card that is split into more ports than it can have with RDMA; null: none.
  [[nodiscard]] const std::string* split_card() const {
    for (const auto& [card, count] : ports)
      if (count > most_ports) return &card;
    return nullptr;
  }
  // Whether all the modules are loaded: then the drivers made no RDMA device.
  [[nodiscard]] bool are_loaded(const Node& node) const {
    return node.host && std::ranges::includes(node.host->software.loaded, modules());
  }
  [[nodiscard]] std::string text() const {
    std::string out;
    for (const auto& [key, addresses] : groups) append_item(out, without_rdma_text(addresses, key.first), "; ");
    return out;
  }
  [[nodiscard]] std::set<std::string> modules() const {
    std::set<std::string> out;
    for (const auto& [key, addresses] : groups) out.insert(key.second.begin(), key.second.end());
    return out;
  }
  // The lines that keep these modules from being loaded.
  [[nodiscard]] std::vector<ModuleRule> rules(const Node& node) const {
    std::vector<ModuleRule> out;
    if (!node.host) return out;
    const std::set<std::string> load = modules();
    for (const ModuleRule& rule : node.host->software.modules)
      if (load.contains(rule.module)) out.push_back(rule);
    return out;
  }
  // "the RDMA driver of these NICs is not loaded, or it failed", with the lines that say why
  [[nodiscard]] std::string why(const Node& node) const {
    std::string out = "the RDMA driver of these NICs is not loaded, or it failed.";
    if (are_loaded(node)) out = "the RDMA driver of these NICs is loaded, and created no RDMA device.";
    if (const std::string* card = split_card())
      out += " The card " + *card + " is split into " + std::to_string(ports.at(*card)) + " ports: with more than " +
             std::to_string(most_ports) + " it has neither RDMA nor PFC, whatever driver is loaded.";
    const std::set<std::string> load = modules();
    if (std::ranges::any_of(load, [](const std::string& module) { return module.starts_with("iw_"); }))
      out +=
          " Its RDMA is iWARP, which programs with rdma_cm use (NVMe over fabrics, NFS, storage). NCCL and other "
          "libraries for GPUs need RoCE or InfiniBand, and use TCP over this NIC.";
    for (const ModuleRule& rule : rules(node))
      if (rule.text.empty()) out += " The kernel has no module " + rule.module + " (" + rule.where.text() + ").";
      else out += " A line of the configuration forbids it, " + rule.where.text() + ": " + rule.text + ".";
    return out;
  }
  [[nodiscard]] Fix fix(const Node& node) const {
    const std::set<std::string> load = modules();
    if (const std::string* card = split_card())
      return {"For RDMA, give the card a port option of at most " + std::to_string(most_ports) +
                  " ports (Intel: epct64e -nic N -get, then -set OPTION): " + *card + ". ",
              {Work::in_machine, "The option takes effect at the next start of the machine."}};
    if (are_loaded(node)) {
      std::set<std::string> names = load;
      for (const auto& [key, addresses] : groups)
        if (!key.first.empty()) names.insert(key.first);
      return {"Read why the driver made no RDMA device: journalctl -k -g '" + joined(names, "|") + "'. ",
              "RDMA may be off in the NIC's firmware or by devlink: devlink dev param show; devlink dev info"};
    }
    std::string places, missing;
    bool restarts = false;
    for (const ModuleRule& rule : rules(node)) {
      if (rule.text.empty()) {
        append_item(missing, rule.module, " and ");
        continue;
      }
      append_item(places, rule.where.text(), " and ");
      restarts = restarts || (rule.where.line == 0 && rule.refuses);
    }
    std::string first;
    if (!missing.empty())
      return {"Install " + missing +
                  " for this kernel: the package of additional modules (Ubuntu: linux-modules-extra), or the driver of "
                  "the NIC's vendor. ",
              {Work::ends_jobs, "If neither exists, boot a kernel with these modules."}};
    if (!places.empty()) first = "Remove the modules from " + places + ", also in the initramfs. ";
    if (restarts) return {first, {Work::ends_jobs, "Then reboot: the kernel reads its command line when it starts."}};
    if (!first.empty()) first += "Then: ";
    std::string lasting;
    if (places.empty()) lasting = ". If that helps, write the names into a file of /etc/modules-load.d, too";
    return first + "modprobe -a " + joined(load, " ") + lasting +
           ". If it changes nothing, read why the driver failed: journalctl -k -g '" + joined(load, "|") + "'";
  }
};

// Whether every GPU has a NIC of this model on its switch, and none with an RDMA device as near.
bool serve_gpus_without_rdma(const Topology& topology, const PciDevice& model) {
  if (topology.gpus.size() < 2) return false;
  std::vector<size_t> own, with_rdma;
  for (size_t i = 0; i < topology.nics.size(); ++i) {
    const Nic& nic = topology.nics[i];
    if (carries_rdma(nic)) with_rdma.push_back(i);
    else if (are_of_one_model(nic, model) && !nic.is_virtual_function()) own.push_back(i);
  }
  return std::ranges::all_of(topology.gpus, [&](const Gpu& gpu) {
    const auto near = nearest_class(topology, gpu, own), rdma = nearest_class(topology, gpu, with_rdma);
    return is_on_switch(near) && (!rdma || *rdma > *near);
  });
}

// Nothing says that the machine ever had an RDMA NIC, or should have one: a workstation, or a server for one node's
// jobs. The GPUs of a workstation have the class of a VGA controller; without a display they are for servers, most of
// which have RDMA NICs. A virtual machine has what its host gives it.
bool was_built_without_rdma(const View& view) {
  const Node& node = view.now;
  if (node.topology.is_guest() || (view.policy != nullptr && !view.policy->ports.empty())) return false;
  if (view.health != nullptr && !view.health->devices.empty()) return false;
  if (node.inventory) {
    const auto has_rdma = [](const InventoryPart& part) { return !part.rdma.empty(); };
    if (std::ranges::any_of(node.inventory->parts, has_rdma)) return false;
    if (node.inventory->accepted) return true;
  }
  return std::ranges::all_of(node.topology.gpus, is_vga);
}

// Accelerators with a network of their own, without which collectives do not leave the machine.
std::string list_of_accelerators(const std::vector<const Gpu*>& gpus, const std::string& of) {
  return counted(gpus.size(), "accelerator") + " of " + of + " (" + gpus.front()->name + " at " + gpus.front()->pci +
         (gpus.size() > 1 ? ", ...)" : ")");
}

// nullopt: there are none, or their ports are here or in other namespaces. From Gaudi 2 on NICs of the host are no
// replacement: HCCL uses the cards' own ports inside the machine, and looks for their RDMA devices (hcl_ibverbs_t). The
// first Gaudi has no RDMA devices, and a netdev only for a port that leads out of the machine: in Amazon's DL1 none
// does, and HCCL goes out by the NICs of the host ("Scale-out via Host NIC").
std::optional<Finding> no_ports_of_gaudi(const Node& node) {
  // PCI_IDS_GOYA of habanalabs_drv.c: a card for inference, without ports. The first Gaudi: 1000, 1001, 1010, 1011.
  constexpr uint16_t kGoya = 0x0001, kFirst = 0x1000, kFirstMask = 0xffe0;
  std::vector<const Gpu*> gaudi;
  for (const Gpu& gpu : node.topology.gpus)
    if (gpu.vendor == kHabana && gpu.device != kGoya && !gpu.ports_elsewhere &&
        nic_at(node.topology, gpu.pci) == nullptr)
      gaudi.push_back(&gpu);
  if (gaudi.empty()) return std::nullopt;
  const std::string observed =
      list_of_accelerators(gaudi, "Habana (Gaudi, driver habanalabs)") + " without a netdev or an RDMA device";
  const bool are_first =
      std::ranges::all_of(gaudi, [](const Gpu* gpu) { return (gpu->device & kFirstMask) == kFirst; });
  if (are_first &&
      std::ranges::any_of(node.ports, [](const Port& port) { return is_endpoint(port) && is_active(port); }))
    return good(kHostSubject, observed + ": HCCL goes out by the NICs of the host (libfabric)", "any");
  return bad(
      Status::warning, kHostSubject, observed, "the netdevs or RDMA devices of their own ports",
      "Gaudi has RoCE ports of its own, and collectives run over them. None of these has a netdev (habanalabs_en) "
      "or an RDMA device (hlib, hbl; habanalabs_ib): a driver of the ports is not installed or not loaded, or "
      "failed, or no port of the cards leads out of the machine.",
      "lsmod | grep habanalabs; modprobe -a habanalabs_en habanalabs_ib; journalctl -k -g habanalabs; hl-smi "
      "(links). If modprobe does not find them, install the driver package of the vendor for this kernel. If jobs "
      "need no collectives, nothing is missing: fabric-agentctl ack port-state");
}

std::optional<Finding> no_ports_of_ascend(const Topology& topology) {
  std::vector<const Gpu*> ascend;
  for (const Gpu& gpu : topology.gpus)
    if (gpu.vendor == kHuawei) ascend.push_back(&gpu);
  if (ascend.empty()) return std::nullopt;
  Finding out = good(kHostSubject,
                     list_of_accelerators(ascend, "Huawei (Ascend)") + ": their own RoCE ports are not judged", "none");
  out.unjudged = true;
  out.meaning =
      "Ascend has RoCE ports of its own, over which collectives run. The kernel of the host shows none of them.";
  out.fix = {"Ask the tool of the vendor: hccn_tool -i 0 -link -g; hccn_tool -i 0 -net_health -g"};
  return out;
}

// The kernel has no RDMA device, and no NIC is known that can have one. A machine may have been built so: its NICs
// beside the GPUs are Ethernet. Else a NIC may be missing.
Finding no_rdma_nic(const View& view) {
  const Node& node = view.now;
  if (auto finding = no_ports_of_ascend(node.topology)) return std::move(*finding);
  std::map<std::string, size_t> drivers;
  bool serve_gpus = false;
  for (const Nic& nic : node.topology.nics) {
    const std::string driver = kernel_driver_of(node, nic.pci);
    if (driver.empty()) continue;
    ++drivers[driver];
    serve_gpus = serve_gpus || serve_gpus_without_rdma(node.topology, nic);
  }
  const std::string observed = "no RDMA device";
  if (drivers.empty())
    return bad(Status::unknown, kHostSubject, observed, "at least one", "The kernel has no RDMA device.",
               "Find the NIC on the PCI bus, and load its RDMA driver: lspci -nnk");
  std::string text;
  for (const auto& [driver, count] : drivers) append_item(text, counted(count, "NIC") + " with " + driver);
  if (serve_gpus) return good(kHostSubject, observed + ": the NICs beside the GPUs have none (" + text + ")", "none");
  if (was_built_without_rdma(view))
    return good(kHostSubject, observed + ": " + text + "; neither the policy nor the inventory has any", "none");
  return bad(Status::unknown, kHostSubject, observed + ": " + text, "at least one",
             "No NIC of this machine is known to do RDMA.",
             "If it should have one, it is missing from the PCI bus, or was not given to this virtual machine: lspci "
             "-nnk; journalctl -k -g pcieport");
}

// No NIC has an RDMA device: names those that can have one, and the modules for it. A server with GPUs needs them.
Finding no_rdma_at_all(const View& view) {
  const Node& node = view.now;
  WithoutRdma nics;
  for (const Nic& nic : node.topology.nics) nics.add(node, nic);
  if (nics.groups.empty()) return no_rdma_nic(view);
  return bad(node.topology.gpus.empty() ? Status::unknown : Status::critical, kHostSubject,
             "no RDMA device: " + nics.text(), "at least one", "The kernel has no RDMA device: " + nics.why(node),
             nics.fix(node));
}

// The NICs for GPUs have no RDMA device, but others have, which are for storage. nullopt: they have.
std::optional<Finding> no_rdma_for_gpus(const Node& node) {
  WithoutRdma nics;
  for (const Nic& nic : node.topology.nics)
    if (!carries_rdma(nic) && !is_given_away(node, nic.pci) && serve_gpus_without_rdma(node.topology, nic))
      nics.add(node, nic);
  if (nics.groups.empty()) return std::nullopt;
  return bad(Status::critical, "NICs", "no RDMA device: " + nics.text(), "one for each NIC that is next to a GPU",
             "No NIC on the switch of a GPU has an RDMA device, so the jobs use the NICs of storage or TCP/IP: " +
                 nics.why(node),
             nics.fix(node));
}

// Another function of the model and of the same kind, with its netdev and its RDMA device here.
bool has_complete_twin(const Topology& topology, const Nic& nic) {
  return std::ranges::any_of(topology.nics, [&](const Nic& other) {
    return are_of_one_model(other, nic) && other.is_virtual_function() == nic.is_virtual_function() &&
           !other.netdevs.empty() && !other.rdma.empty();
  });
}

// In the exclusive mode of RDMA a pod gets the netdev and the RDMA device of a function. If only the netdev is here,
// the RDMA device was not given back. A device in a namespace without a process or a name may not show where it is.
void add_split_functions(const View& view, Findings& findings) {
  const Node& node = view.now;
  if (!node.host || !node.host->software.exclusive_namespaces) return;
  for (const Nic& nic : node.topology.nics) {
    if (!nic.rdma.empty() || nic.netdevs.empty() || has_no_network(nic) || !has_complete_twin(node.topology, nic))
      continue;
    if (!nic.rdma_elsewhere && (!nic.is_virtual_function() || !nic.bond.empty())) continue;
    const std::string driver = kernel_driver_of(node, nic.pci);
    const RdmaModules* modules = rdma_modules_of(driver, nic.vendor, nic.device);
    if (!nic.rdma_elsewhere && (driver.empty() || modules == nullptr)) continue;
    std::string observed = "its netdev is here, and its RDMA device is in another network namespace";
    if (!nic.rdma_elsewhere) observed = "its netdev is here, and it has no RDMA device here";
    std::string meaning =
        "RDMA devices belong to one network namespace each (rdma system: netns exclusive). A pod that has ended gave "
        "the netdev of this function back to the host, and not its RDMA device";
    if (!nic.rdma_elsewhere) meaning += ", or the RDMA device was switched off for this function (devlink)";
    meaning += ". Equal functions have both. A pod that gets this function has no RDMA.";
    findings.push_back(bad(
        nic.rdma_elsewhere ? Status::warning : Status::unknown, nic.name, observed,
        "netdev and RDMA device in the same network namespace", meaning,
        {"Find the namespace: for pid in $(lsns -t net -n -o PID); do nsenter -t $pid -n rdma dev; done. Move the "
         "device back from there: nsenter -t PID -n rdma dev set DEVICE netns /proc/1/ns/net. ",
         {Work::ends_jobs, "Else bind the function to its driver again, which creates the device again on the host: " +
                               rebind_commands(nic.pci, driver) + ". "},
         "Update the plugin that gives functions to pods (DRANET, RDMA CNI), if it moves the netdev alone."}));
  }
}

// Virtual functions without a driver, while three times as many of their model or more have theirs: the probe failed,
// or nothing bound them. With functions for virtual machines (vfio) the hypervisor binds them when it needs them.
void add_unbound_functions(const Node& node, Findings& findings) {
  constexpr size_t kLeast = 3;
  struct DriverCounts {
    std::vector<std::string> unbound{};
    size_t bound = 0;
    bool are_for_guests = false;
    std::string driver{};
  };
  if (is_container(node) || node.topology.is_guest() || !records_drivers(node)) return;
  std::map<PciModel, DriverCounts> models;
  for (const Nic& nic : node.topology.nics) {
    const PlatformFunction* function = nic.is_virtual_function() ? function_of(node, nic.pci) : nullptr;
    if (function == nullptr) continue;
    DriverCounts& functions = models[model_of(nic)];
    if (is_given_away(*function)) functions.are_for_guests = true;
    else if (!function->kernel_driver.empty()) {
      ++functions.bound;
      functions.driver = function->kernel_driver;
    } else if (nic.netdevs.empty() && nic.rdma.empty()) functions.unbound.push_back(nic.pci);
  }
  for (const auto& [model, functions] : models) {
    const std::vector<std::string>& unbound = functions.unbound;
    if (unbound.empty() || functions.are_for_guests || functions.bound < kLeast * unbound.size()) continue;
    findings.push_back(bad(
        Status::warning, unbound.front(), "no driver: " + joined(unbound), functions.driver + ", like equal functions",
        "A virtual function without a driver has no netdev and no RDMA device: the device plugin does not offer it, "
        "and no pod gets it. Its probe failed, or it was unbound.",
        "journalctl -k -g '" + joined(unbound, "|") + "'; then for each: echo " + unbound.front() +
            " > /sys/bus/pci/drivers_probe"));
  }
}

}  // namespace

void add_nics_without_rdma(const View& view, Findings& findings) {
  if (!view.now.ports.empty())
    if (auto finding = no_rdma_for_gpus(view.now)) findings.push_back(std::move(*finding));
  if (auto finding = no_ports_of_gaudi(view.now)) findings.push_back(std::move(*finding));
  add_split_functions(view, findings);
  add_unbound_functions(view.now, findings);
  if (!view.now.ports.empty() || !findings.empty()) return;
  std::string devices;
  for (const Nic& nic : view.now.topology.nics)
    for (const std::string& device : nic.rdma) append_item(devices, device);
  if (!devices.empty())
    findings.push_back(
        bad(Status::unknown, kHostSubject, "no port of " + devices, "ACTIVE, LinkUp",
            "The kernel has RDMA devices, but their ports could not be read or are excluded by the configuration.",
            "rdma link show; fabric-agentctl config show (exclude)"));
  else if (contains(view.now.topology.nics, true, &Nic::rdma_elsewhere))
    findings.push_back(bad(Status::unknown, kHostSubject, "no RDMA device here", "at least one",
                           "All RDMA devices are in other network namespaces: containers have them.",
                           "Run the check in the container. Namespaces: ip netns list; rdma system show"));
  else if (std::ranges::any_of(view.now.topology.nics, carries_rdma))
    findings.push_back(good(kHostSubject, "no RDMA device: Slingshot NICs, which libfabric uses without one", "none"));
  else findings.push_back(no_rdma_at_all(view));
}

std::string driver_text(const Node& node, const Nic& nic) {
  if (const std::string driver = kernel_driver_of(node, nic.pci); !driver.empty())
    return "the driver " + driver + " is bound";
  if (records_drivers(node) && nic.netdevs.empty())
    return missing_driver(nic) + " is not bound: it is not loaded, or its probe failed";
  return {};
}

Fix fix_of_no_rdma(const Node& node, const Nic& nic) {
  const std::string driver = kernel_driver_of(node, nic.pci), journal = "journalctl -k -g " + nic.pci;
  if (driver.empty()) {
    if (records_drivers(node) && nic.netdevs.empty())
      return {journal + "; then bind " + missing_driver(nic) + ": echo " + nic.pci + " > /sys/bus/pci/drivers_probe. ",
              {Work::in_machine, "If the probe fails again, power-cycle the node, and update the NIC's firmware."}};
    return {Work::ends_jobs, journal + ", then reload its RDMA driver."};
  }
  std::string look = journal + "; ";
  if (const std::string_view names = capabilities_of(driver).rdma_parameters; !names.empty())
    look += "devlink dev param show pci/" + nic.pci + " (" + std::string(names) + "); ";
  return {look, {Work::ends_jobs, "then bind its driver again: " + rebind_commands(nic.pci, driver)}};
}

Finding no_rdma_finding(const Node& node, const Nic& nic, const std::string& like) {
  std::string meaning = "This NIC (" + nic.pci + ") has no RDMA device, so no collective can use it";
  if (const std::string driver = driver_text(node, nic); !driver.empty()) meaning += ": " + driver;
  return bad(Status::critical, nic.name, "no RDMA device", "one, " + like, meaning + ".", fix_of_no_rdma(node, nic));
}

}  // namespace fabric
