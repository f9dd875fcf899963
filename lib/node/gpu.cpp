// SPDX-License-Identifier: Apache-2.0
#include "node/gpu.h"

#include <cstdio>

#include "base/parse.h"
#include "kernel/pci/pci.h"

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
    {kHabana, 0x1000, "Habana Gaudi"},
    {kHabana, 0x1020, "Intel Gaudi 2"},
    {kHabana, 0x1060, "Intel Gaudi 3"},
};

std::string function_folder(const Gpu& gpu) { return "sys/bus/pci/devices/" + gpu.pci + "/"; }

void keep(std::string& member, std::string text) {
  if (!text.empty()) member = std::move(text);
}

// nvidia-smi counts in the order of PCI addresses, as this list is.
void identify_nvidia(const Root& root, Gpu& gpu, unsigned& next) {
  const auto text = root.read_text("proc/driver/nvidia/gpus/" + gpu.pci + "/information");
  if (!text) return;
  Information said = parse_information(*text);
  keep(gpu.model, std::move(said.model));
  keep(gpu.uuid, std::move(said.uuid));
  gpu.minor = said.minor;
  if (!said.excluded) gpu.vendor_index = {next++};
}

// ROCm's runtime counts the nodes of /sys/class/kfd that are GPUs, each partition of its own.
void identify_amd(const Root& root, Gpu& gpu, const std::vector<KfdNode>& nodes) {
  const std::string folder = function_folder(gpu);
  keep(gpu.model, root.line_of(folder + "product_name"));
  if (const std::string id = root.line_of(folder + "unique_id"); !id.empty()) gpu.uuid = "GPU-" + id;
  gpu.partition = root.line_of(folder + "current_compute_partition");
  const std::string memory = root.line_of(folder + "current_memory_partition");
  if (!memory.empty()) append_item(gpu.partition, memory, "/");
  for (unsigned i = 0; i < nodes.size(); ++i) {
    if (nodes[i].pci != gpu.pci) continue;
    gpu.vendor_index.push_back(i);
    if (nodes[i].render_minor) gpu.render_minors.push_back(*nodes[i].render_minor);
    if (gpu.uuid.empty() && !nodes[i].unique_id.empty()) gpu.uuid = "GPU-" + nodes[i].unique_id;
  }
}

std::vector<KfdNode> kfd_nodes(const Root& root) {
  const std::string folder = "sys/class/kfd/kfd/topology/nodes";
  std::vector<KfdNode> nodes;
  for (const std::string& name : root.names_in(folder))
    if (auto node = parse_kfd_properties(root.text_of(folder + "/" + name + "/properties")))
      nodes.push_back(std::move(*node));
  return nodes;
}

// Drivers without an index of their own have at least their render node, "drm/renderD128".
void read_render_minor(const Root& root, Gpu& gpu) {
  for (const std::string& name : root.names_in(function_folder(gpu) + "drm"))
    if (const auto minor = name.starts_with("renderD") ? parse_number<unsigned>(name.substr(7)) : std::nullopt)
      gpu.render_minors.push_back(*minor);
}

}  // namespace

Information parse_information(std::string_view text) {
  Information out;
  for (const std::string_view line : split(text, '\n')) {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trim(line.substr(0, colon)), value = trim(line.substr(colon + 1));
    if (key == "Model" && value != "Unknown") out.model = value;
    if (key == "GPU UUID" && value.find('?') == std::string_view::npos) out.uuid = value;
    if (key == "Device Minor") out.minor = parse_number<unsigned>(value);
    if (key == "GPU Excluded" || key == "GPU Blacklisted") out.excluded = value == "Yes";  // the older word up to R465
  }
  return out;
}

std::optional<KfdNode> parse_kfd_properties(std::string_view text) {
  uint64_t simd_count = 0, domain = 0, location = 0, unique_id = 0;
  std::optional<unsigned> render;
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = words(line);
    const auto value = parts.size() == 2 ? parse_number<uint64_t>(parts[1]) : std::nullopt;
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
  unsigned next_nvidia = 0;
  std::optional<std::vector<KfdNode>> nodes;
  for (Gpu& gpu : topology.gpus) {
    if (gpu.vendor == kNvidia) identify_nvidia(root, gpu, next_nvidia);
    if (gpu.vendor == kAmd) {
      if (!nodes) nodes = kfd_nodes(root);
      identify_amd(root, gpu, *nodes);
    }
    for (const Product& product : kProducts)
      if (gpu.model.empty() && product.vendor == gpu.vendor && product.device == gpu.device) gpu.model = product.name;
    if (gpu.render_minors.empty()) read_render_minor(root, gpu);
  }
}

}  // namespace fabric::gpu
