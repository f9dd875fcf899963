// SPDX-License-Identifier: Apache-2.0
#include "node/gpu.h"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/find.h"
#include "base/parse.h"
#include "kernel/pci/pci.h"
#include "node/services.h"

namespace fabric {

std::string gpu_log_word(uint16_t vendor) {
  switch (vendor) {
    case kNvidia: return "|Xid";
    case kAmd: return "|amdgpu";
    case kHabana: return "|habanalabs";
    case kHygon: return "|hycu|hydcu";
    case kIntel: return "|xe |i915";
    case kAmazon: return "|neuron";
    case kHuawei: return "|davinci|hisi";
    default: return "";
  }
}

std::string_view gpu_module(const Gpu& gpu) {
  switch (gpu.vendor) {
    case kNvidia: return "nvidia";
    case kAmd: return "amdgpu";
    case kHabana: return "habanalabs";
    case kAmazon: return "neuron";
    default: return {};
  }
}

}  // namespace fabric

namespace fabric::gpu {
namespace {

// GPUs whose drivers do not report a name (names as in the PCI ID Repository).
struct Product {
  uint16_t vendor, device;
  std::string_view name;
};
constexpr Product kProducts[] = {
    {kIntel, 0x0bd5, "Intel Data Center GPU Max 1550"},
    {kIntel, 0x0bd6, "Intel Data Center GPU Max 1550"},
    {kIntel, 0x0bd7, "Intel Data Center GPU Max 1350"},
    {kIntel, 0x0bda, "Intel Data Center GPU Max 1100"},
    {kIntel, 0x0bdb, "Intel Data Center GPU Max 1100"},
    {kIntel, 0x56c0, "Intel Data Center GPU Flex 170"},
    {kIntel, 0x56c1, "Intel Data Center GPU Flex 140"},
    {kHabana, 0x0001, "Habana Goya"},
    {kHabana, 0x1000, "Habana Gaudi"},
    {kHabana, 0x1001, "Habana Gaudi"},
    {kHabana, 0x1010, "Habana Gaudi"},
    {kHabana, 0x1011, "Habana Gaudi"},
    {kHabana, 0x1020, "Intel Gaudi 2"},
    {kHabana, 0x1021, "Intel Gaudi 2"},
    {kHabana, 0x1030, "Intel Gaudi 2"},
    {kHabana, 0x1060, "Intel Gaudi 3"},
    {kHabana, 0x1063, "Intel Gaudi 3"},
    {kHuawei, 0xd801, "Huawei Ascend 910"},
    {kHuawei, 0xd802, "Huawei Ascend 910B"},
    {kHuawei, 0xd803, "Huawei Ascend 910C"},
    {kAmazon, 0x7164, "AWS Trainium"},
    {kAmazon, 0x7264, "AWS Inferentia2"},
    {kAmazon, 0x7364, "AWS Trainium2"},
};

void set_if_known(std::string& member, std::string text) {
  if (!text.empty()) member = std::move(text);
}

// Levels of power_dpm_force_performance_level that may keep the PCIe link of a working GPU slow: the clocks are forced
// to the lowest state, or a user has chosen the levels of pp_dpm_pcie (DOC: power_dpm_force_performance_level).
constexpr std::string_view kForced[] = {"low", "manual", "profile_min_sclk", "profile_min_mclk"};

// nullopt: unknown, or the load does not explain the speed of the link. pp_dpm_pcie is not read: the driver does not
// offer it for MI200 and later (pp_dpm_clk_default_attr_update()), and otherwise it repeats the current speed.
std::optional<GpuLoad> amdgpu_load(const Root& root, const std::string& folder) {
  // Older drivers wake the GPU to read gpu_busy_percent (pm_runtime_get_sync()).
  if (root.line_of(folder + "power/runtime_status") == "suspended") return GpuLoad{};
  if (contains(kForced, root.line_of(folder + "power_dpm_force_performance_level"))) return std::nullopt;
  const auto busy = root.number_in<unsigned>(folder + "gpu_busy_percent");
  if (!busy || *busy > 100) return std::nullopt;
  // A process that waits on a GPU of gfx906, gfx11 or gfx12 can make its firmware report 100 %, as AMD says, while the
  // memory is idle. A GPU that works uses it.
  const auto memory = root.number_in<unsigned>(folder + "mem_busy_percent");
  if (*busy != 0 && (!memory || *memory == 0 || *memory > 100)) return std::nullopt;
  GpuLoad out{.busy = *busy};
  // Last: the GPU may have begun to work after its link was read.
  if (const auto speed = pci::parse_link_speed(root.line_of(folder + "current_link_speed")))
    for (unsigned generation = 1; generation <= std::size(kLinkSpeeds); ++generation)
      if (*speed >= kLinkSpeeds[generation - 1]) out.link_generation = generation;
  return out;
}

}  // namespace

bool is_slower_than_equals(const Topology& topology, const Gpu& gpu) {
  return gpu.link.speed && std::ranges::any_of(topology.gpus, [&](const Gpu& other) {
           return are_of_one_model(other, gpu) && other.link.speed > gpu.link.speed;
         });
}

Information parse_information(std::string_view text) {
  Information out;
  for (const std::string_view line : split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, colon)), value = trim(line.substr(colon + 1));
    if (key == "Model" && value != "Unknown") out.model = value;
    if (key == "GPU UUID" && value.find('?') == std::string_view::npos) out.uuid = value;
    if (key == "Device Minor") out.minor = parse_number<unsigned>(value);
    if (key == "GPU Excluded" || key == "GPU Blacklisted")
      out.excluded = value == "Yes";  // driver R465 and older: Blacklisted
  }
  return out;
}

std::optional<KfdNode> parse_kfd_properties(std::string_view text) {
  uint64_t simd_count = 0, domain = 0, location = 0, unique_id = 0;
  std::optional<unsigned> render;
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = words(line);
    if (parts.size() != 2) continue;
    const auto value = parse_number<uint64_t>(parts[1]);
    if (!value) continue;
    if (parts[0] == "simd_count") simd_count = *value;
    if (parts[0] == "domain") domain = *value;
    if (parts[0] == "location_id") location = *value;
    if (parts[0] == "unique_id") unique_id = *value;
    if (parts[0] == "drm_render_minor" && *value > 0 && *value < 4096) render = static_cast<unsigned>(*value);
  }
  if (simd_count == 0) return std::nullopt;
  // Bits 28-31 number the partitions of one function (kfd_topology_add_device, Linux 6.12).
  const pci::FunctionAddress address{static_cast<uint32_t>(domain), static_cast<uint8_t>(location >> 8),
                                     static_cast<uint8_t>(location >> 3 & 0x1f), static_cast<uint8_t>(location & 7)};
  char id[24];
  std::snprintf(id, sizeof id, "%016llx", static_cast<unsigned long long>(unique_id));
  return KfdNode{pci::address_text(address), render, unique_id != 0 ? id : ""};
}

void identify(const Root& root, Topology& topology) {
  // "Excluded" by a parameter of the driver: those are on the bus, too.
  for (const std::string& pci : root.names_in("proc/driver/nvidia/gpus"))
    if (pci::parse_address(pci) &&
        find_where(topology.gpus, [&](const Gpu& gpu) { return gpu.pci == pci; }) == nullptr &&
        !root.exists("sys/bus/pci/devices/" + pci))
      topology.hidden_gpus.push_back(pci);
  // The runtime numbers the GPUs that a program here can open. In a container the folders below /proc/driver/nvidia are
  // those of its GPUs (nvidia-container-runtime), or of all (CDI), and then the device files are its own.
  const auto has_file = [&](unsigned minor) { return root.exists("dev/nvidia" + std::to_string(minor)); };
  std::map<std::string, Information> by_nvidia;  // by PCI address
  for (const Gpu& gpu : topology.gpus)
    if (gpu.vendor == kNvidia)
      if (const auto text = root.read_text("proc/driver/nvidia/gpus/" + gpu.pci + "/information"))
        by_nvidia.emplace(gpu.pci, parse_information(*text));
  const bool by_files = host::has_container_processes(root) && std::ranges::any_of(by_nvidia, [&](const auto& each) {
                          return each.second.minor && has_file(*each.second.minor);
                        });
  unsigned next_nvidia = 0;
  std::optional<std::vector<KfdNode>> nodes;
  for (Gpu& gpu : topology.gpus) {
    const std::string folder = "sys/bus/pci/devices/" + gpu.pci + "/";
    if (gpu.vendor == kNvidia) {
      if (const Information* information = find_in(by_nvidia, gpu.pci)) {
        set_if_known(gpu.model, information->model);
        set_if_known(gpu.uuid, information->uuid);
        const bool is_given = !by_files || !information->minor || has_file(*information->minor);
        if (is_given) gpu.minor = information->minor;
        // nvidia-smi numbers GPUs in the order of their PCI addresses, which is the order of topology.gpus.
        if (is_given && !information->excluded) gpu.vendor_index = {next_nvidia++};
      }
    }
    if (gpu.vendor == kAmd) {
      set_if_known(gpu.model, root.line_of(folder + "product_name"));
      if (const std::string id = root.line_of(folder + "unique_id"); !id.empty()) gpu.uuid = "GPU-" + id;
      gpu.partition = root.line_of(folder + "current_compute_partition");
      const std::string memory = root.line_of(folder + "current_memory_partition");
      if (!memory.empty()) append_item(gpu.partition, memory, "/");
      if (is_slower_than_equals(topology, gpu)) gpu.load = amdgpu_load(root, folder);
      if (!nodes) {
        nodes.emplace();
        const std::string kfd = "sys/class/kfd/kfd/topology/nodes";
        for (const std::string& name : root.names_in(kfd))
          if (auto node = parse_kfd_properties(root.text_of(kfd + "/" + name + "/properties")))
            nodes->push_back(std::move(*node));
      }
      // ROCm's runtime numbers the nodes of /sys/class/kfd that are GPUs; each partition is a node.
      for (unsigned i = 0; i < nodes->size(); ++i) {
        const KfdNode& node = (*nodes)[i];
        if (node.pci != gpu.pci) continue;
        gpu.vendor_index.push_back(i);
        if (node.render_minor) gpu.render_minors.push_back(*node.render_minor);
        if (gpu.uuid.empty() && !node.unique_id.empty()) gpu.uuid = "GPU-" + node.unique_id;
      }
    }
    for (const Product& product : kProducts)
      if (gpu.model.empty() && product.vendor == gpu.vendor && product.device == gpu.device) gpu.model = product.name;
    // A driver without an index of its own has at least a render node, "drm/renderD128".
    if (gpu.render_minors.empty())
      for (const std::string& name : root.names_in(folder + "drm"))
        if (name.starts_with("renderD"))
          if (const auto minor = parse_number<unsigned>(name.substr(7))) gpu.render_minors.push_back(*minor);
  }
}

}  // namespace fabric::gpu
