// SPDX-License-Identifier: Apache-2.0
#include "node/platform.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "base/find.h"
#include "base/parse.h"
#include "kernel/pci/pci.h"
#include "kernel/pci/pci_config.h"
#include "node/host.h"
#include "node/node.h"
#include "node/pci_state.h"
#include "wire/gzip.h"

namespace fabric::platform {
namespace {

constexpr size_t kMaxKinds = 64, kMaxWord = 256, kMaxWords = 64, kBars = 6;
constexpr size_t kMaxFunctions = 4096;  // more GPUs, NICs and bridges than any machine has; a tree may list more
constexpr uint64_t kMemory = 0x200, kPrefetch = 0x2000;  // IORESOURCE_MEM, IORESOURCE_PREFETCH

PlatformFunction read_function(const Root& root, const std::string& address) {
  const std::string folder = "sys/bus/pci/devices/" + address;
  PlatformFunction function;
  function.link = pci::read_link(root, folder);
  function.kernel_driver = root.link_name(folder + "/driver");
  function.power_state = root.line_of(folder + "/power_state");
  function.power_control = root.line_of(folder + "/power/control");
  function.correctable = parse_aer(root.text_of(folder + "/aer_dev_correctable"));
  function.nonfatal = parse_aer(root.text_of(folder + "/aer_dev_nonfatal"));
  function.fatal = parse_aer(root.text_of(folder + "/aer_dev_fatal"));
  function.iommu_group = root.link_name(folder + "/iommu_group");
  if (const auto l1 = root.number_in<unsigned>(folder + "/link/l1_aspm")) function.link_sleeps = *l1 != 0;
  return function;
}

void add(const Root& root, const std::string& address, Platform& out) {
  if (!pci::parse_address(address) || out.functions.contains(address) || out.functions.size() == kMaxFunctions) return;
  PlatformFunction function = read_function(root, address);
  if (function != PlatformFunction{}) out.functions.emplace(address, std::move(function));
}

void add_with_bridges(const Root& root, const PciDevice& device, Platform& out) {
  add(root, device.pci, out);
  for (const std::string& bridge : device.bridges) add(root, bridge, out);
}

std::string ids_of(const Root& root, const std::string& address) {
  const std::string folder = "sys/bus/pci/devices/" + address;
  return root.line_of(folder + "/vendor") + ":" + root.line_of(folder + "/device") + " " +
         root.line_of(folder + "/class");
}

// "01.0" of "0000:37:01.0"
std::string_view slot_in_bus(std::string_view address) { return address.substr(address.rfind(':') + 1); }

// "0000:37" of "0000:37:01.0"
std::string_view bus_of(std::string_view address) { return address.substr(0, address.rfind(':')); }

// The root ports that equal those above all GPUs, on other buses. Empty: GPUs are below different ports.
std::set<std::string> equal_root_ports(const Root& root, const Topology& topology,
                                       const std::vector<std::string>& names) {
  std::set<std::string> ports, out;
  for (const Gpu& gpu : topology.gpus)
    if (!gpu.bridges.empty()) ports.insert(gpu.bridges.back());
  if (ports.size() < 3) return {};
  const std::string ids = ids_of(root, *ports.begin());
  const std::string_view slot = slot_in_bus(*ports.begin());
  for (const std::string& port : ports)
    if (slot_in_bus(port) != slot || ids_of(root, port) != ids) return {};
  for (const std::string& name : names)
    if (slot_in_bus(name) == slot && !ports.contains(name) && ids_of(root, name) == ids) out.insert(name);
  return out;
}

// The ports of switches with a GPU or NIC that equal those next above GPUs.
std::set<std::string> equal_switch_ports(const Root& root, const Topology& topology,
                                         const std::vector<std::string>& names) {
  std::set<std::string> ids, out;
  std::set<std::string_view> switches;  // the buses of their ports
  for (const Gpu& gpu : topology.gpus)
    if (gpu.bridges.size() > 1) {
      ids.insert(ids_of(root, gpu.bridges.front()));
      switches.insert(bus_of(gpu.bridges.front()));
    }
  for (const Nic& nic : topology.nics)
    if (nic.bridges.size() > 1) switches.insert(bus_of(nic.bridges.front()));
  for (const std::string& name : names)
    if (switches.contains(bus_of(name)) && ids.contains(ids_of(root, name))) out.insert(name);
  return out;
}

// Adds the ports that equal those above GPUs and have nothing below them.
void add_empty_ports(const Root& root, const Topology& topology, Platform& out) {
  if (topology.gpus.size() < 3) return;
  const std::vector<std::string> names = root.names_in("sys/bus/pci/devices");
  std::set<std::string> ports = equal_root_ports(root, topology, names);
  ports.merge(equal_switch_ports(root, topology, names));
  for (const std::string& port : ports) {
    if (out.functions.contains(port) || out.functions.size() == kMaxFunctions) continue;  // above a GPU or NIC
    const auto below = root.list("sys/bus/pci/devices/" + port);
    if (below &&
        std::ranges::none_of(*below, [](const std::string& each) { return pci::parse_address(each).has_value(); }))
      out.functions.emplace(port, read_function(root, port));  // also if no file says anything about it
  }
}

// The configuration of the running kernel. A captured tree has the lines in use of /proc/config.gz as text.
std::optional<std::string> read_kernel_options(const Root& root) {
  const std::string release = root.line_of("proc/sys/kernel/osrelease");
  if (!release.empty() && release.find('/') == std::string::npos)
    for (const std::string& file : {"boot/config-" + release, "lib/modules/" + release + "/config"})
      if (auto text = root.read_text(file)) return std::move(*text);
  constexpr size_t kMostOptions = size_t{4} << 20;
  auto packed = root.read("proc/config.gz");
  if (!packed) return std::nullopt;
  if (packed->starts_with("CONFIG_") || packed->starts_with("#") || packed->starts_with("\n"))
    return std::move(*packed);
  return gunzip(*packed, kMostOptions);
}

GpuDirect read_gpudirect(const Root& root, const Topology& topology) {
  GpuDirect out;
  if (auto version = parse_nvidia_version(root.text_of("proc/driver/nvidia/version"))) {
    out.nvidia_driver = std::move(version->version);
    out.nvidia_open = version->open;
  }
  for (const char* module : {"nvidia_peermem", "nv_peer_mem", "efa_nv_peermem"})
    if (root.exists(std::string("sys/module/") + module)) out.peer_modules.emplace_back(module);
  out.memory_peers = root.names_in("sys/kernel/mm/memory_peers");
  // EFA's own interface: the driver names the provider that it has found, or none (p2p_show() in efa_sysfs.c of
  // amzn-drivers; the kernel's efa has no such file).
  for (const Nic& nic : topology.nics) {
    if (nic.vendor != kAmazon) continue;
    std::string provider = root.line_of("sys/bus/pci/devices/" + nic.pci + "/p2p");
    if (!provider.empty() && !contains(out.memory_peers, provider)) out.memory_peers.push_back(std::move(provider));
  }
  out.amdgpu = root.exists("sys/module/amdgpu");

  const auto options = read_kernel_options(root);
  if (!options) return out;
  // The file does not mention options whose dependencies are not met.
  out.pci_p2pdma = parse_kernel_option(*options, "CONFIG_PCI_P2PDMA").value_or(false);
  out.dmabuf_move_notify = parse_kernel_option(*options, "CONFIG_DMABUF_MOVE_NOTIFY");
  // Not an option since 2026 ("dma-buf: Always build with DMABUF_MOVE_NOTIFY").
  const std::string release = root.line_of("proc/sys/kernel/osrelease");
  const auto major = parse_number<unsigned>(release.substr(0, release.find('.')));
  if (!out.dmabuf_move_notify && major && *major < 7) out.dmabuf_move_notify = false;
  return out;
}

// Whether the driver of the SMMUv3 refuses PASIDs for a device with an identity domain, as before Linux 6.11, so that
// the address translation service of a GPU cannot be set up. NVIDIA's kernels of 6.8 have had the change since August
// 2024 (NVIDIA/NV-Kernels pull 22); kernels of Red Hat have backports that the release does not show.
bool identity_takes_no_pasid(const Root& root) {
  const std::string release = root.line_of("proc/sys/kernel/osrelease");
  const auto numbers = split(std::string_view(release).substr(0, release.find('-')), '.');
  if (numbers.size() < 2 || release.find(".el") != std::string::npos) return false;
  const auto major = parse_number<unsigned>(numbers[0]), minor = parse_number<unsigned>(numbers[1]);
  if (!major || !minor || std::pair(*major, *minor) >= std::pair(6u, 11u)) return false;
  if (release.find("-nvidia") != std::string::npos) {
    constexpr unsigned kLast = 1010;
    const std::string_view rest = std::string_view(release).substr(release.find('-') + 1);
    const auto build = parse_number<unsigned>(rest.substr(0, rest.find('-')));
    if (!release.starts_with("6.8.0-") || !build || *build > kLast) return false;
  }
  return std::ranges::any_of(root.names_in("sys/class/iommu"),
                             [](const std::string& unit) { return unit.starts_with("smmu3"); });
}

}  // namespace

AerCounts parse_aer(std::string_view text) {
  AerCounts out;
  for (const std::string_view line : split(text, '\n')) {
    const auto parts = words(line);
    if (parts.size() != 2) continue;
    const auto count = parse_number<uint64_t>(parts[1]);
    const bool is_name = parts[0].size() <= 32 && std::ranges::all_of(parts[0], [](unsigned char c) {
                           return std::isalnum(c) != 0 || c == '_';
                         });
    if (!count || !is_name) continue;
    if (parts[0].starts_with("TOTAL_")) out.total = *count;
    else if (*count > 0 && out.kinds.size() < kMaxKinds) out.kinds[std::string(parts[0])] = *count;
  }
  return out;
}

std::vector<Bar> parse_bars(std::string_view text) {
  std::vector<Bar> bars;
  const auto lines = split(text, '\n');
  for (unsigned i = 0; i < std::min(lines.size(), kBars); ++i) {
    const auto parts = words(lines[i]);
    if (parts.size() != 3) continue;
    const auto start = parse_number<uint64_t>(parts[0], 16), end = parse_number<uint64_t>(parts[1], 16),
               flags = parse_number<uint64_t>(parts[2], 16);
    if (!start || !end || !flags || *end <= *start || (*flags & kMemory) == 0 || *end - *start == UINT64_MAX) continue;
    bars.push_back({i, *end - *start + 1, (*flags & kPrefetch) != 0});
  }
  return bars;
}

std::vector<std::string> parse_command_line(std::string_view text) {
  constexpr std::string_view kPrefixes[] = {"iommu=", "intel_iommu=", "amd_iommu=", "iommu.", "arm-smmu", "pci="};
  std::vector<std::string> out;
  for (std::string& word : host::kernel_parameters(text)) {
    const bool is_ours =
        std::ranges::any_of(kPrefixes, [&](std::string_view prefix) { return word.starts_with(prefix); });
    const bool is_word = word.find_first_of(" \t\"") == std::string::npos;  // none of them takes a text
    if (is_ours && is_word && word.size() <= kMaxWord && out.size() < kMaxWords) out.push_back(std::move(word));
  }
  return out;
}

std::optional<NvidiaVersion> parse_nvidia_version(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  if (!line.starts_with("NVRM version:")) return std::nullopt;
  for (const std::string_view word : words(line))
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0 && word.find('.') != std::string_view::npos)
      return NvidiaVersion{std::string(word.substr(0, 32)), line.find("Open Kernel Module") != std::string_view::npos};
  return std::nullopt;
}

std::optional<bool> parse_kernel_option(std::string_view config, std::string_view option) {
  const std::string set = std::string(option) + "=", unset = "# " + std::string(option) + " is not set";
  for (const std::string_view line : split(config, '\n')) {
    if (line.starts_with(set)) return line.substr(set.size()) == "y" || line.substr(set.size()) == "m";
    if (line == unset) return false;
  }
  return std::nullopt;
}

Platform read(const Root& root, const Topology& topology) {
  Platform out;
  for (const Gpu& gpu : topology.gpus) {
    add_with_bridges(root, gpu, out);
    PlatformFunction* function = find_in(out.functions, gpu.pci);
    if (function == nullptr) continue;
    const std::string folder = "sys/bus/pci/devices/" + gpu.pci;
    function->bars = parse_bars(root.text_of(folder + "/resource"));
    // resourceN_resize reads configuration space and wakes a device that sleeps (pci-sysfs.c, __resource_resize_show).
    if (function->power_state.starts_with("D3")) continue;
    for (Bar& bar : function->bars)
      if (bar.prefetchable)
        bar.resizable = root.number_in<uint64_t>(folder + "/resource" + std::to_string(bar.number) + "_resize", 16);
  }
  for (const Nic& nic : topology.nics) add_with_bridges(root, nic, out);
  add_empty_ports(root, topology, out);

  out.identity_without_pasid = identity_takes_no_pasid(root);
  for (const auto& [address, function] : out.functions) {
    const std::string& group = function.iommu_group;
    if (group.empty() || out.iommu_groups.contains(group)) continue;
    if (std::string type = root.line_of("sys/kernel/iommu_groups/" + group + "/type"); !type.empty())
      out.iommu_groups.emplace(group, std::move(type));
  }
  if (const auto units = root.list("sys/class/iommu")) out.iommu = !units->empty();
  out.command_line = parse_command_line(root.text_of("proc/cmdline"));
  if (!topology.gpus.empty()) out.gpudirect = read_gpudirect(root, topology);
  return out;
}

}  // namespace fabric::platform

namespace fabric {

bool is_given_away(const PlatformFunction& function) {
  const std::string& driver = function.kernel_driver;
  return driver.find("vfio") != std::string::npos || driver == "pci-stub" || driver == "igb_uio" ||
         driver == "uio_pci_generic";
}

bool runs_jobs(std::string_view gpu_driver) { return !gpu_driver.empty() && gpu_driver != "nouveau"; }

}  // namespace fabric

namespace fabric::scanning {
namespace {

// Reads configuration space itself, if the process may. A sleeping device is not woken.
std::optional<PciState> read_config_space(const Root& root, const Node& node) {
  PciState out;
  bool any = false, tried = false;
  const auto read = [&](const std::string& address) {
    if (address.empty() || out.functions.contains(address)) return;
    const PlatformFunction* known = find_in(node.platform.functions, address);
    PciSettings& function = out.functions[address];
    if (known != nullptr && known->power_state.starts_with("D3"))
      function.unread = "it sleeps (" + known->power_state + ")";
    else if (known != nullptr && known->link.all_ones) function.unread = "it does not answer";
    else {
      tried = true;
      function = pci::read_settings(root, address);
    }
    any = any || function.mrrs;
  };
  const auto read_with_bridges = [&](const PciDevice& device) {
    if (!any && root.is_host() && tried) return;  // without the privilege for one, there is none for the others
    read(device.pci);
    for (const std::string& bridge : device.bridges) read(bridge);
  };
  for (const Gpu& gpu : node.topology.gpus) read_with_bridges(gpu);
  for (const Nic& nic : node.topology.nics) read_with_bridges(nic);
  if (!any) return std::nullopt;
  return out;
}

}  // namespace

void read_platform(const Root& root, Node& node) {
  node.platform = platform::read(root, node.topology);
  auto published = state::load_pci_state(root);
  if (published) node.pci_settings = std::move(published).value();
  else node.unseen.push_back("PCI configuration space: " + published.error().text());
  // Nothing may be published: the service needs a configuration, and a tree may be another program's.
  if (!node.pci_settings) node.pci_settings = read_config_space(root, node);
}

}  // namespace fabric::scanning
