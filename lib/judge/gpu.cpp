// SPDX-License-Identifier: Apache-2.0
// GPUs that no job can use: without a driver, bound for virtual machines, or in other partitions than equal ones.
#include "judge/gpu.h"

#include "judge/finding.h"
#include "judge/platform_view.h"
#include "node/gpu.h"
#include "node/inventory.h"
#include "topology/built.h"

namespace fabric {

Fix fix_of_other_driver(const std::string& pci, const std::string& other, const std::string& driver) {
  return {"lspci -k -s " + pci + "; ",
          {Work::ends_jobs, "echo " + pci + " > /sys/bus/pci/drivers/" + other + "/unbind; modprobe " + driver +
                                "; echo " + pci + " > /sys/bus/pci/drivers/" + driver + "/bind. "},
          "For the next boots: blacklist " + other + " in /etc/modprobe.d, and rebuild the initramfs."};
}

namespace {

// GPUs without a driver for jobs while equal ones have one.
void add_gpus_without_driver(const View& view, Findings& out) {
  const Topology& topology = view.now.topology;
  // Empty: none for jobs.
  const auto driver_of = [&](const Gpu& gpu) {
    std::string driver = kernel_driver_of(view.now, gpu.pci);
    if (!runs_jobs(driver) || is_given_away(view.now, gpu.pci)) driver.clear();
    return driver;
  };
  // `inventory` reports those that had a driver when it was recorded.
  const auto built = built_of(view);
  const auto is_recorded = [&](const Gpu& gpu) {
    if (!view.now.inventory) return false;
    const InventoryPart* part = built->record_of(*view.now.inventory, gpu.pci);
    return part != nullptr && runs_jobs(part->driver);
  };
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
    const std::string own = kernel_driver_of(view.now, gpu.pci), like = counted(equal, "equal GPU");
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
}

// Whether a GPU without a driver here has none. A tree that others captured may lack the links to drivers. It has them
// if a bridge above the GPU has its driver, and it is complete if it has the power settings, which every function has.
bool shows_driver(const Node& node, const Gpu& gpu) {
  const PlatformFunction* function = function_of(node, gpu.pci);
  if (function == nullptr) return false;
  return !function->power_control.empty() || std::ranges::any_of(gpu.bridges, [&](const std::string& bridge) {
    return !kernel_driver_of(node, bridge).empty();
  });
}

using GpuModels = std::map<PciModel, std::vector<const Gpu*>>;

GpuModels models_of(const Topology& topology) {
  GpuModels out;
  for (const Gpu& gpu : topology.gpus) out[model_of(gpu)].push_back(&gpu);
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
    if (is_given_away(node, nic.pci)) return nic.pci + " is bound to " + kernel_driver_of(node, nic.pci);
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
    const std::string driver = kernel_driver_of(node, first.pci), module(gpu_module(first));
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
  const bool is_needed = !need_of_jobs(view).empty();
  for (const auto& [model, gpus] : models_of(node.topology)) {
    const Gpu& first = *gpus.front();
    const bool may_be_for_display = is_vga(first) && (!is_needed || first.bridges.empty());
    if (may_be_for_display || !records_drivers(node)) continue;
    std::set<std::string> drivers;
    bool are_shown = true;
    for (const Gpu* gpu : gpus) {
      are_shown = are_shown && shows_driver(node, *gpu);
      drivers.insert(kernel_driver_of(node, gpu->pci));
    }
    const std::string& other = *drivers.begin();
    if (drivers.size() > 1 || (other.empty() ? !are_shown : other != "nouveau")) continue;
    const std::string observed = (other.empty() ? "no kernel driver" : other) + ": " + counted(gpus.size(), "GPU") +
                                 ", the first at " + first.pci;
    const std::string module(gpu_module(first));
    Fix fix = "modprobe " + module + "; journalctl -k -g " + module;
    if (module.empty()) fix = "lspci -k -s " + first.pci + " (Kernel modules); modprobe the module; journalctl -k";
    std::string why;
    const ModuleRule* rule = nullptr;
    if (node.host && other.empty())
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
    if (!other.empty() && !module.empty())  // it keeps the driver for jobs away
      fix = {
          {Work::ends_jobs, "modprobe -r " + other + " && modprobe " + module + "; journalctl -k -g " + module + ". "},
          "For the next boots: blacklist " + other + " in /etc/modprobe.d, and rebuild the initramfs."};
    out.push_back(
        bad(Status::warning, "GPUs", observed, module.empty() ? "a driver" : module,
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

}  // namespace

void add_unusable_gpus(const View& view, Findings& faults, Findings& notes) {
  add_gpus_without_driver(view, faults);
  add_models_without_driver(view, faults);
  add_given_away_models(view, faults, notes);
  add_odd_partitions(view.now, faults);
}

}  // namespace fabric
