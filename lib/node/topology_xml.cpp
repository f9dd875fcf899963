// SPDX-License-Identifier: Apache-2.0
#include "node/topology_xml.h"

#include <fcntl.h>
#include <hwloc.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>

#include "base/fd.h"
#include "base/find.h"
#include "base/parse.h"
#include "kernel/host/child.h"
#include "kernel/host/tree_only.h"
#include "kernel/pci/pci.h"
#include "node/machine.h"

namespace fabric {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Loaded = std::unique_ptr<hwloc_topology, Destroy>;
using PciAttributes = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

// A topology that is not loaded yet; null: no memory. CPUs and nodes that a cpuset forbids to this process are part of
// the machine as well.
Loaded make() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return {};
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  return Loaded(raw);
}

// Runs in the child only, because setenv(3) is not safe beside other threads. Only the linux component is used: x86
// would bind itself to each CPU in turn, and plugins would open GPUs or read config space, which needs privilege.
Result<std::string> discover(const std::string& root) {
  for (const char* name : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_THISSYSTEM"}) ::unsetenv(name);
  ::setenv("HWLOC_COMPONENTS", "linux,stop", 1);
  ::setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
  ::setenv("HWLOC_HIDE_ERRORS", "2", 1);
  if (root != "/") {
    constexpr const char* kTree = "/tree";  // the name of the tree for hwloc, which has no others
    auto tree = Root::open(root);
    if (!tree) return tree.error();
    if (auto restricted = show_only(std::move(*tree), kTree); !restricted) return restricted.error();
    ::setenv("HWLOC_FSROOT", kTree, 1);
    ::setenv("HWLOC_THISSYSTEM", "0", 1);
  }
  const Loaded topology = make();
  if (!topology) return error(ENOMEM, "hwloc");
  hwloc_topology_set_type_filter(topology.get(), HWLOC_OBJ_OS_DEVICE, HWLOC_TYPE_FILTER_KEEP_NONE);
  if (hwloc_topology_load(topology.get()) != 0) return error(errno != 0 ? errno : EIO, "hwloc: load");
  char* xml = nullptr;
  int size = 0;
  if (hwloc_topology_export_xmlbuffer(topology.get(), &xml, &size, 0) != 0) return error(EIO, "hwloc: export");

  // hwloc also records serial numbers, the host name and cgroups, which must not leave the machine.
  std::string out = kept_hwloc_xml(xml);
  hwloc_free_xmlbuffer(topology.get(), xml);
  return out;
}

std::string address_of(const PciAttributes& at) { return pci::address_text({at.domain, at.bus, at.dev, at.func}); }

// NUMA node -> its CPUs. A node of memory only (of a GPU, on the package, CXL) may have the CPUs near it in hwloc's
// view. These CPUs belong to another node, which has a lower number.
std::map<int, std::string> cpus_of_nodes(hwloc_topology_t topology) {
  std::map<int, hwloc_const_cpuset_t> known;
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != nullptr)
    if (node->cpuset != nullptr && hwloc_bitmap_iszero(node->cpuset) == 0)
      known.emplace(static_cast<int>(node->os_index), node->cpuset);
  std::map<int, std::string> nodes;
  const std::unique_ptr<hwloc_bitmap_s, decltype(&hwloc_bitmap_free)> taken(hwloc_bitmap_alloc(), hwloc_bitmap_free);
  for (const auto& [number, cpus] : known) {
    if (taken == nullptr || hwloc_bitmap_intersects(taken.get(), cpus) != 0) continue;
    hwloc_bitmap_or(taken.get(), taken.get(), cpus);
    std::string text(static_cast<size_t>(hwloc_bitmap_list_snprintf(nullptr, 0, cpus)) + 1, '\0');
    hwloc_bitmap_list_snprintf(text.data(), text.size(), cpus);
    text.pop_back();
    nodes.emplace(number, std::move(text));
  }
  return nodes;
}

std::string info(hwloc_obj_t object, const char* name) {
  const char* value = hwloc_obj_get_info_by_name(object, name);
  if (value == nullptr) return {};
  return clean_text(value);
}

Nic read_function(hwloc_topology_t topology, const std::map<int, std::string>& nodes, hwloc_obj_t device) {
  const PciAttributes& at = device->attr->pcidev;
  Nic function;
  function.pci = address_of(at);
  function.vendor = at.vendor_id;
  function.device = at.device_id;
  function.class_code = static_cast<uint32_t>(at.class_id) << 8;
  function.name = info(device, "PCIDevice");
  // The NUMA node, if exactly one of `nodes` is below the object that the I/O subtree hangs from.
  if (const hwloc_obj_t parent = hwloc_get_non_io_ancestor_obj(topology, device);
      parent != nullptr && parent->nodeset != nullptr) {
    size_t count = 0;
    for (const auto& [number, cpus] : nodes) {
      if (hwloc_bitmap_isset(parent->nodeset, static_cast<unsigned>(number)) == 0) continue;
      function.numa = number;
      ++count;
    }
    if (count > 1) function.numa.reset();
  }
  for (hwloc_obj_t above = device->parent; above != nullptr; above = above->parent) {
    if (above->type != HWLOC_OBJ_BRIDGE) continue;
    const auto& bridge = above->attr->bridge;
    if (bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI) {
      function.bridges.push_back(address_of(bridge.upstream.pci));
      continue;
    }
    char bus[32];
    std::snprintf(bus, sizeof bus, "pci%04x:%02x", static_cast<unsigned>(bridge.downstream.pci.domain),
                  bridge.downstream.pci.secondary_bus);
    function.root = bus;
  }
  for (hwloc_obj_t os = device->io_first_child; os != nullptr; os = os->next_sibling) {
    if (os->type != HWLOC_OBJ_OS_DEVICE || os->name == nullptr) continue;
    if (os->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK) function.netdevs.push_back(clean_text(os->name));
    if (os->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS) function.rdma.push_back(clean_text(os->name));
    if (const std::string model = info(os, "GPUModel"); !model.empty()) function.name = model;
    // Until the functions are sorted, this member carries a GPU's UUID as well.
    for (const char* id : {"AMDUUID", "NVIDIAUUID", "SysImageGUID"})
      if (std::string value = info(os, id); !value.empty()) function.card = std::move(value);
  }
  return function;
}

Result<HwlocView> parse(const std::string& text, const std::string& name) {
  const Loaded topology = make();
  if (!topology) return error(ENOMEM, "hwloc");
  const hwloc_topology_t loaded = topology.get();
  if (hwloc_topology_set_xmlbuffer(loaded, text.c_str(), static_cast<int>(text.size()) + 1) != 0 ||
      hwloc_topology_load(loaded) != 0) {
    if (text.find("<topology version=\"3") != std::string::npos)
      return error(0, name + ": written by hwloc 3; export it in the format of hwloc 2");
    return error(0, name + ": not a complete hwloc XML topology of version 1 or 2");
  }

  HwlocView view;
  Topology& machine = view.machine;
  machine.numa_cpus = cpus_of_nodes(loaded);
  hwloc_obj_t device = nullptr;
  while ((device = hwloc_get_next_pcidev(loaded, device)) != nullptr)
    view.functions.push_back(read_function(loaded, machine.numa_cpus, device));

  // The package is the ancestor of the node's object, which a file may lack (it was written inside a virtual machine).
  hwloc_obj_t node = nullptr;
  while ((node = hwloc_get_next_obj_by_type(loaded, HWLOC_OBJ_NUMANODE, node)) != nullptr) {
    const int number = static_cast<int>(node->os_index);
    const hwloc_obj_t socket = hwloc_get_ancestor_obj_by_type(loaded, HWLOC_OBJ_PACKAGE, node);
    if (!machine.numa_cpus.contains(number)) machine.memory_nodes.push_back(number);
    else if (socket != nullptr) machine.numa_socket[number] = static_cast<int>(socket->os_index);
  }

  // A file without cores (of a guest, or a filtered one) has at least CPUs.
  const auto kind = hwloc_get_nbobjs_by_type(loaded, HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  hwloc_obj_t core = nullptr;
  while ((core = hwloc_get_next_obj_by_type(loaded, kind, core)) != nullptr)
    for (const auto& [number, list] : machine.numa_cpus) {
      const hwloc_obj_t home = hwloc_get_numanode_obj_by_os_index(loaded, static_cast<unsigned>(number));
      if (home == nullptr || hwloc_bitmap_isincluded(core->cpuset, home->cpuset) == 0) continue;
      std::vector<unsigned> cpus;
      for (int cpu = hwloc_bitmap_first(core->cpuset); cpu != -1 && cpus.size() < 65'536;
           cpu = hwloc_bitmap_next(core->cpuset, cpu))
        cpus.push_back(static_cast<unsigned>(cpu));
      machine.cores.push_back({std::move(cpus), number});
      break;
    }
  const hwloc_obj_t root = hwloc_get_root_obj(loaded);
  machine.hypervisor = machine::hypervisor_name(info(root, "DMISysVendor"), info(root, "DMIProductName"));
  machine.cloud = machine::cloud_name(info(root, "DMIChassisAssetTag"), info(root, "DMISysVendor"));
  return view;
}

}  // namespace

std::string kept_hwloc_xml(std::string_view xml) {
  constexpr std::string_view kElements[] = {"topology", "object", "page_type", "info"},
                             kWords[] = {"type", "osdev_type", "version"},
                             kInfo[] = {"DMISysVendor", "DMIProductName", "CPUModel",   "hwlocVersion", "PCIDevice",
                                        "GPUModel",     "AMDUUID",        "NVIDIAUUID", "SysImageGUID"};
  constexpr std::string_view kNumber = "0123456789abcdefABCDEFx.,:-[] ";
  std::string out;
  for (size_t at = 0; (at = xml.find('<', at)) != std::string_view::npos;) {
    // The end of the tag; a value may contain ">".
    size_t end = at;
    char quote = 0;
    for (; end < xml.size() && (quote != 0 || xml[end] != '>'); ++end) {
      if (quote == 0 && (xml[end] == '"' || xml[end] == '\'')) quote = xml[end];
      else if (xml[end] == quote) quote = 0;
    }
    std::string_view tag = xml.substr(at + 1, end - at - 1);
    const size_t next = std::min(end + 1, xml.size());
    if (tag.starts_with("!--")) {
      at = std::min(xml.find("-->", at), xml.size());
      continue;
    }
    at = next;
    if (tag.starts_with("?xml")) out += "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    if (tag == "!DOCTYPE topology SYSTEM \"hwloc2.dtd\"" || tag == "!DOCTYPE topology SYSTEM \"hwloc.dtd\"")
      out.append("<").append(tag).append(">\n");
    if (tag.starts_with('?') || tag.starts_with('!')) continue;
    const bool closes = tag.starts_with('/'), is_empty = !closes && tag.ends_with('/');
    if (closes) tag.remove_prefix(1);
    if (is_empty) tag.remove_suffix(1);
    const std::string_view element = tag.substr(0, tag.find_first_of(" \t\r\n"));
    std::vector<std::pair<std::string_view, std::string_view>> attributes;
    for (std::string_view rest = tag.substr(element.size());;) {
      const size_t equals = rest.find('=');
      if (equals == std::string_view::npos || equals + 1 >= rest.size()) break;
      const char mark = rest[equals + 1];
      const size_t last = rest.find(mark, equals + 2);
      if ((mark != '"' && mark != '\'') || last == std::string_view::npos) break;
      attributes.emplace_back(trim(rest.substr(0, equals)), rest.substr(equals + 2, last - equals - 2));
      rest.remove_prefix(last + 1);
    }
    const auto value = [&](std::string_view name) {
      const auto* found = find_where(attributes, [&](const auto& each) { return each.first == name; });
      return found == nullptr ? std::string_view() : found->second;
    };
    if (!contains(kElements, element) || (element == "info" && !closes && !contains(kInfo, value("name")))) {
      if (closes || is_empty) continue;
      const size_t inside = xml.find("</" + std::string(element) + ">", at);  // such elements have none of their own
      at = std::min(inside, xml.size());
      continue;
    }
    if (closes) {
      out.append("</").append(element).append(">\n");
      continue;
    }
    out.append("<").append(element);
    const auto is_word = [](std::string_view text) {
      return std::ranges::all_of(
          text, [](unsigned char letter) { return std::isalnum(letter) != 0 || letter == '_' || letter == '.'; });
    };
    for (const auto& [name, text] : attributes) {
      const bool is_text = element == "info" || (name == "name" && value("type") == "OSDev");
      const bool is_used = (is_text && text.find_first_of("<\"") == std::string_view::npos) ||
                           (contains(kWords, name) && is_word(text)) ||
                           text.find_first_not_of(kNumber) == std::string_view::npos;
      if (!name.empty() && is_word(name) && is_used)
        out.append(" ").append(name).append("=\"").append(text).append("\"");
    }
    out += is_empty ? "/>\n" : ">\n";
  }
  return out;
}

Result<std::string> discover_hwloc_xml(const std::string& root) {
  ChildLimits limits;
  if (root != "/") limits.patience = std::chrono::seconds(10);
  return run_in_child([&] { return discover(root); }, "hwloc", limits);
}

Result<HwlocView> parse_hwloc_xml(const std::string& text, const std::string& name, bool trusted) {
  if (trusted) return parse(text, name);
  // hwloc's own parser (builds without libxml2) rejects comments, and empty lines before the first element; published
  // files begin with their license.
  std::string xml;
  for (size_t from = 0; from < text.size();) {
    const size_t open = text.find("<!--", from);
    if (open == std::string::npos) {
      xml.append(text, from);
      break;
    }
    xml.append(text, from, open - from);
    const size_t close = text.find("-->", open);
    if (close == std::string::npos) break;
    from = close + 3;
  }
  if (const size_t element = xml.find("<topology"); element != std::string::npos) xml.erase(0, element);

  // hwloc 2.9 crashes on a file whose objects lack one of their sets.
  const auto tried = run_in_child(
      [&]() -> Result<std::string> {
        ::setenv("HWLOC_HIDE_ERRORS", "2", 0);  // its messages would reach the terminal beside ours
        if (const auto view = parse(xml, name); !view) return view.error();
        return std::string();
      },
      name);
  if (!tried && tried.error().code == ECHILD)
    return error(0, name + ": damaged: hwloc crashes on it; export it again (lstopo FILE.xml)");
  if (!tried) return tried.error();
  return parse(xml, name);
}

Result<Topology> load_topology_xml(const std::string& file) {
  const Fd own(file == "-" ? -1 : ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file != "-" && !own) return error(errno, file);
  const auto text = read_all(own ? own.get() : STDIN_FILENO, kMaxHwlocXml);
  if (!text) return error(text.error().code, file);
  auto view = parse_hwloc_xml(*text, file);
  if (!view) return view.error();
  Topology topology = sort_topology(std::move(view->functions), std::move(view->machine));
  auto good = bounded(std::move(topology));
  if (!good) return error(good.error().code, file + ": " + good.error().what);
  return good;
}

}  // namespace fabric
