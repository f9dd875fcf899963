// SPDX-License-Identifier: Apache-2.0
#include <hwloc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/parse.h"
#include "kernel/pci/child.h"
#include "kernel/pci/hwloc_xml.h"

namespace fabric {
namespace {

struct Destroy {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};

// In the child only: setenv(3) is not safe beside other threads. The linux component alone: x86 would bind itself to
// each CPU in turn, and plugins would open GPUs or read config space, which needs privilege.
void set_environment(const std::string& root) {
  for (const char* name : {"HWLOC_XMLFILE", "HWLOC_SYNTHETIC", "HWLOC_FSROOT", "HWLOC_THISSYSTEM"}) ::unsetenv(name);
  ::setenv("HWLOC_COMPONENTS", "linux,stop", 1);
  ::setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
  ::setenv("HWLOC_HIDE_ERRORS", "2", 1);
  if (root == "/") return;
  ::setenv("HWLOC_FSROOT", root.c_str(), 1);
  ::setenv("HWLOC_THISSYSTEM", "0", 1);
}

// An `info` line that may leave the machine: hwloc also notes serial numbers, the host name and cgroups.
bool is_kept(std::string_view line) {
  const size_t info = line.find("<info name=\"");
  if (info == std::string_view::npos) return true;
  line.remove_prefix(info + 12);
  constexpr std::string_view kKept[] = {"DMISysVendor", "DMIProductName", "CPUModel", "hwlocVersion"};
  return std::any_of(std::begin(kKept), std::end(kKept),
                     [&](std::string_view name) { return line.starts_with(std::string(name) + "\""); });
}

std::string without_identity(std::string_view xml) {
  std::string out;
  for (const std::string_view line : split(xml, '\n'))
    if (!line.empty() && is_kept(line)) out.append(line).append("\n");
  return out;
}

Result<std::string> discover(const std::string& root) {
  set_environment(root);
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return error(ENOMEM, "hwloc");
  const std::unique_ptr<hwloc_topology, Destroy> topology(raw);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  hwloc_topology_set_type_filter(raw, HWLOC_OBJ_OS_DEVICE, HWLOC_TYPE_FILTER_KEEP_NONE);
  // CPUs and nodes that a cpuset forbids to this process are part of the machine too.
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  if (hwloc_topology_load(raw) != 0) return error(errno != 0 ? errno : EIO, "hwloc: load");
  char* xml = nullptr;
  int size = 0;
  if (hwloc_topology_export_xmlbuffer(raw, &xml, &size, 0) != 0) return error(EIO, "hwloc: export");
  std::string text = without_identity(xml);
  hwloc_free_xmlbuffer(raw, xml);
  return text;
}

}  // namespace

Result<std::string> discover_hwloc_xml(const std::string& root) {
  return run_in_child([&] { return discover(root); }, "hwloc");
}

}  // namespace fabric
