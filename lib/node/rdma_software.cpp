// SPDX-License-Identifier: Apache-2.0
#include "node/rdma_software.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "base/find.h"
#include "base/parse.h"
#include "kernel/capture/root.h"
#include "kernel/kernel.h"
#include "nic/capabilities.h"
#include "node/gpu.h"
#include "node/node.h"
#include "node/provider_abi.h"
#include "node/topology.h"

namespace fabric::host {
namespace {

// The folders of libraries; VERBS_PROVIDER_DIR of rdma-core is libibverbs below one of them.
constexpr const char* kLibraries[] = {
    "usr/lib64",     "usr/lib/x86_64-linux-gnu",       "usr/lib/aarch64-linux-gnu",      "usr/lib", "usr/local/lib64",
    "usr/local/lib", "usr/local/lib/x86_64-linux-gnu", "usr/local/lib/aarch64-linux-gnu"};
constexpr const char* kModprobe[] = {"etc/modprobe.d", "run/modprobe.d", "usr/local/lib/modprobe.d",
                                     "usr/lib/modprobe.d", "lib/modprobe.d"};
constexpr size_t kMaxFiles = 256, kMaxRules = 64;
constexpr size_t kMaxModuleList = size_t{8} << 20, kLargestProvider = size_t{8} << 20;
constexpr std::string_view kVerbsModule = "ib_uverbs", kCmModule = "rdma_ucm", kCoreModule = "ib_core";
constexpr std::string_view kVersion = "-rdmav", kLibrary = "lib", kEnd = ".so";

// "libmlx5-rdmav34.so": mlx5, 34
std::optional<std::pair<std::string, unsigned>> parse_provider(std::string_view file) {
  const size_t at = file.rfind(kVersion);
  if (at == std::string_view::npos || !file.starts_with(kLibrary) || !file.ends_with(kEnd)) return std::nullopt;
  const std::string_view name = file.substr(kLibrary.size(), at - kLibrary.size());
  std::string_view number = file.substr(at + kVersion.size());
  number.remove_suffix(kEnd.size());
  const auto version = parse_number<unsigned>(number);
  if (!version || name.empty()) return std::nullopt;
  return std::pair(std::string(name), *version);
}

// The ABI of each RDMA device of the kernel, and of the providers of their drivers. `paths`: of the installed
// providers, without the version and the end of the file's name.
void read_abis(const Root& root, const std::map<std::string, std::set<std::string>>& paths, VerbsLibrary& out) {
  const std::string verbs = "sys/class/infiniband_verbs/";
  std::set<std::string> providers;
  for (const std::string& uverbs : root.names_in("sys/class/infiniband_verbs")) {
    const std::string device = root.line_of(verbs + uverbs + "/ibdev");
    const auto abi = root.number_in<uint32_t>(verbs + uverbs + "/abi_version");
    if (device.empty() || !abi) continue;
    out.kernel_abis[device] = *abi;
    const VerbsProvider provider = provider_of(out, root.link_name(verbs + uverbs + "/device/driver"), device);
    for (const std::string_view name : {provider.name, provider.former})
      if (!name.empty()) providers.emplace(name);
  }
  std::set<std::string> unknown;
  for (const std::string& name : providers) {
    const auto* versions = find_in(out.providers, name);
    const auto* places = find_in(paths, name);
    if (versions == nullptr || places == nullptr) continue;
    for (const unsigned version : *versions)
      for (const std::string& place : *places) {
        const std::string path = place + std::string(kVersion) + std::to_string(version) + std::string(kEnd),
                          file = base_name(path);
        auto content = root.read(path, kLargestProvider);
        if (!content && content.error().code == ENOENT) continue;
        const auto abis = parse_provider_abis(std::move(content).value_or(""));
        const AbiRange* range = find_in(abis, name);
        if (range == nullptr) {
          unknown.insert(file);
          continue;
        }
        const auto [known, is_new] = out.abis.emplace(file, *range);
        if (!is_new && known->second != *range) unknown.insert(file);
      }
  }
  for (const std::string& file : unknown) out.abis.erase(file);
}

// A module's name with "_", as the kernel has it.
std::string module_name(std::string_view text) {
  std::string out(text);
  std::ranges::replace(out, '-', '_');
  return out;
}

// Whether a folder of libraries has a file of this name, or with a version after it.
bool has_library(const Root& root, std::string_view name) {
  for (const char* folder : kLibraries)
    for (const std::string& file : root.names_in(folder))
      if (file.starts_with(name)) return true;
  return false;
}

// The providers of these versions in the folders of other libraries, where libibverbs looks for those alone that its
// configuration lists.
void add_unlisted(const Root& root, const std::set<unsigned>& versions, VerbsLibrary& out) {
  for (const char* folder : kLibraries) {
    size_t files = 0;
    for (const std::string& file : root.names_in(folder)) {
      const auto provider = parse_provider(file);
      if (!provider || !versions.contains(provider->second) || ++files > kMaxFiles) continue;
      if (!out.providers.contains(provider->first)) out.providers[provider->first].insert(provider->second);
    }
  }
}

}  // namespace

VerbsProvider provider_of(const VerbsLibrary& library, std::string_view kernel_driver, std::string_view device) {
  if (const VerbsProvider known = verbs_provider_of(kernel_driver); !known.name.empty()) return known;
  std::set<std::string_view> names(library.listed.begin(), library.listed.end());
  for (const auto& [name, versions] : library.providers) names.insert(name);
  std::erase_if(names, is_known_provider);
  VerbsProvider found;
  for (const std::string_view name : names)  // the longest name
    if ((device.starts_with(name) || kernel_driver == name) && name.size() > found.name.size()) found.name = name;
  if (found.name.empty() && names.size() == 1) found.name = *names.begin();
  return found;
}

std::optional<VerbsLibrary> read_verbs_library(const Root& root) {
  VerbsLibrary out;
  std::set<unsigned> versions;
  std::map<std::string, std::set<std::string>> paths;
  for (const char* library : kLibraries) {
    const std::string folder = std::string(library) + "/libibverbs";
    bool any = false;
    size_t files = 0;
    for (const std::string& file : root.names_in(folder)) {
      const auto provider = parse_provider(file);
      if (!provider || ++files > kMaxFiles || !root.exists(folder + "/" + file)) continue;
      any = true;
      out.providers[provider->first].insert(provider->second);
      paths[provider->first].insert(folder + "/lib" + provider->first);
      versions.insert(provider->second);
    }
    if (any) out.folders.push_back("/" + folder);
  }
  if (out.folders.empty()) {
    if (has_library(root, "libc.so.") && !has_library(root, "libibverbs.so")) return out;
    return std::nullopt;
  }

  const std::string config = "etc/libibverbs.d";
  size_t files = 0;
  for (const std::string& file : root.names_in(config)) {
    if (++files > kMaxFiles) break;
    const std::string text = root.text_of(config + "/" + file);
    for (const std::string_view line : split(text, '\n')) {
      const auto columns = words(line);
      if (columns.size() < 2 || columns[0] != "driver") continue;
      // A path without the end of the file's name, "/usr/local/lib/libbnxt_re", or a name, which is then looked for
      // where other libraries are.
      std::string name = base_name(columns[1]);
      std::vector<std::string> places;
      if (columns[1].starts_with('/')) {
        places.emplace_back(columns[1].substr(1));
        if (name.starts_with(kLibrary)) name.erase(0, kLibrary.size());
      } else {
        for (const char* library : kLibraries) places.push_back(std::string(library) + "/lib" + name);
      }
      out.listed.insert(name);
      if (out.providers.contains(name)) continue;
      for (const std::string& place : places)
        for (const unsigned version : versions)
          if (root.exists(place + std::string(kVersion) + std::to_string(version) + std::string(kEnd))) {
            out.providers[name].insert(version);
            paths[name].insert(place);
          }
    }
  }
  if (!out.listed.empty()) add_unlisted(root, versions, out);
  read_abis(root, paths, out);
  return out;
}

std::set<std::string> parse_module_files(std::string_view list) {
  std::set<std::string> out;
  for (const std::string_view line : split(list, '\n')) {
    const std::string file = base_name(line.substr(0, line.find(':')));
    const size_t end = file.find(".ko");  // "mlx5_ib.ko", "mlx5_ib.ko.zst"
    if (end != std::string::npos && (end + 3 == file.size() || file[end + 3] == '.'))
      out.insert(module_name(file.substr(0, end)));
  }
  return out;
}

std::optional<ModuleRule> parse_module_rule(std::string_view line) {
  const auto columns = words(line);
  if (columns.size() < 2) return std::nullopt;
  ModuleRule rule{module_name(columns[1]), std::string(columns[0]) + " " + std::string(columns[1]), {}};
  if (!is_rdma_module(rule.module)) return std::nullopt;
  if (columns[0] == "blacklist" && columns.size() == 2) return rule;
  if (columns[0] != "install" || columns.size() < 3) return std::nullopt;
  const std::string command = base_name(columns[2]);
  if (command != "false" && command != "true" && command != ":") return std::nullopt;
  rule.text.append(" ").append(columns[2]);
  rule.refuses = true;
  return rule;
}

namespace {

bool has_module(std::string_view modules, std::string_view module) {
  return std::ranges::any_of(split(modules, '\n'),
                             [&](std::string_view line) { return line.substr(0, line.find(' ')) == module; });
}

// Whether /proc/modules, which has no built-in modules, lacks the module, and neither its folder nor the class of its
// devices exists. `beside`: a module of the list; a kernel that has it built in may have the other built in as well.
bool is_unloaded(const Root& root, std::string_view module, const std::string& device_class,
                 std::string_view beside = {}) {
  if (root.exists("sys/module/" + std::string(module)) || root.exists("sys/class/" + device_class)) return false;
  const auto modules = root.read_text("proc/modules");
  return modules && !has_module(*modules, module) && (beside.empty() || has_module(*modules, beside));
}

// The permission bits of a device file; nullopt: it is not in the /dev of this process. An error: unknown. A capture
// has the answer, and a tree that was put together may have the file.
Result<std::optional<unsigned>> mode_of(const Kernel& kernel, const std::string& file) {
  const auto live = [&]() -> Result<std::string> {
    const auto fd = kernel.root.handle(file);
    if (!fd) return fd.error();
    struct stat status {};
    if (fstat(fd->get(), &status) != 0) return error(errno, file);
    return std::to_string(status.st_mode & 0777u);
  };
  auto mode = query_recorded(kernel, "mode of /" + file, live);
  const bool is_recorded = mode || mode.error().code != ENODATA;
  if (!is_recorded) mode = live();
  if (mode) return parse_number<unsigned>(*mode);
  if (is_recorded && mode.error().code == ENOENT) return std::optional<unsigned>{};
  return mode.error();
}

// The modules of NICs that have no RDMA device, and of GPUs that have no driver.
std::set<std::string> wanted_modules(const Root& root, const Topology& topology) {
  std::set<std::string> out;
  for (const Gpu& gpu : topology.gpus)
    if (const std::string_view module = gpu_module(gpu);
        !module.empty() && root.link_name("sys/bus/pci/devices/" + gpu.pci + "/driver").empty())
      out.emplace(module);
  for (const Nic& nic : topology.nics) {
    if (!nic.rdma.empty() || nic.rdma_elsewhere || nic.is_virtual_function()) continue;
    const std::string driver = root.link_name("sys/bus/pci/devices/" + nic.pci + "/driver");
    const RdmaModules* modules = rdma_modules_of(driver, nic.vendor, nic.device);
    if (modules == nullptr) continue;
    out.emplace(modules->rdma);
    if (driver.empty()) out.emplace(modules->function);
  }
  return out;
}

}  // namespace

std::vector<ModuleRule> read_module_rules(const Root& root, const Topology& topology,
                                          const std::vector<std::string>& kernel_options) {
  std::set<std::string> wanted = wanted_modules(root, topology);
  std::vector<ModuleRule> out;
  // The fabric manager reaches NVSwitches by management datagrams, for which nothing loads the module by itself.
  const bool manages_nvlink = contains(topology.nics, FunctionRole::nvlink_management, &Nic::role);
  if (manages_nvlink && is_unloaded(root, kMadModule, "infiniband_mad")) {
    out.push_back({kMadModule, "not loaded", {"/proc/modules", 0}, false});
    wanted.emplace(kMadModule);
  }
  if (wanted.empty()) return out;
  const auto add = [&](ModuleRule rule) {
    if (wanted.contains(rule.module) && out.size() < kMaxRules) out.push_back(std::move(rule));
  };
  for (const std::string& option : kernel_options)
    for (const std::string_view name : {"module_blacklist=", "modprobe.blacklist="})
      if (option.starts_with(name))
        for (const std::string_view module : split(std::string_view(option).substr(name.size()), ','))
          add({module_name(module), option, {"the kernel command line", 0}, name == "module_blacklist="});
  std::set<std::string> seen;  // a file hides those of its name in later folders
  for (const char* folder : kModprobe)
    for (const std::string& name : root.names_in(folder)) {
      if (!name.ends_with(".conf") || seen.size() == kMaxFiles || !seen.insert(name).second) continue;
      const std::string file = std::string(folder) + "/" + name, text = root.text_of(file);
      unsigned number = 0;
      for (const std::string_view line : split(text, '\n')) {
        ++number;
        if (auto rule = parse_module_rule(line)) {
          rule->where = {"/" + file, number};
          add(std::move(*rule));
        }
      }
    }
  // The lists of depmod(8) and of the kernel's build (Documentation/kbuild/kbuild.rst).
  const std::string release = root.line_of("proc/sys/kernel/osrelease");
  if (release.empty() || release.find('/') != std::string::npos) return out;
  const std::string folder = "lib/modules/" + release;
  const std::set<std::string> loadable = parse_module_files(root.text_of(folder + "/modules.dep", kMaxModuleList)),
                              fixed = parse_module_files(root.text_of(folder + "/modules.builtin"));
  if (loadable.empty()) return out;  // unreadable, a kernel without modules, or depmod was not run
  for (const std::string& module : wanted)
    if (!loadable.contains(module) && !fixed.contains(module) && !root.exists("sys/module/" + module))
      add({module, "", {"/" + folder, 0}, true});
  return out;
}

bool lacks_verbs(const Kernel& kernel, bool is_container) {
  std::vector<std::string> names = kernel.root.names_in("sys/class/infiniband_verbs");
  std::erase_if(names, [](const std::string& name) { return !name.starts_with("uverbs"); });
  if (is_container && !names.empty())
    return std::ranges::all_of(names, [&](const std::string& name) {
      const auto mode = mode_of(kernel, "dev/infiniband/" + name);
      return mode && !*mode;
    });
  return kernel.root.exists("sys/class/infiniband") &&
         is_unloaded(kernel.root, kVerbsModule, "infiniband_verbs", kCoreModule);
}

bool is_module_for_rdma(std::string_view module) {
  return module == kCoreModule || module == kVerbsModule || module == kCmModule || module == kMadModule;
}

bool loads_rdma_cm(std::string_view line) { return module_name(trim(line)) == kCmModule; }

std::map<std::string, VerbsFile> read_verbs_files(const Kernel& kernel) {
  const Root& root = kernel.root;
  std::map<std::string, VerbsFile> out;
  for (const std::string& name : root.names_in("sys/class/infiniband_verbs")) {
    const std::string device = root.line_of("sys/class/infiniband_verbs/" + name + "/ibdev");
    if (device.empty()) continue;
    if (const auto mode = mode_of(kernel, "dev/infiniband/" + name); mode && *mode) out[device] = {name, **mode};
  }
  return out;
}

RdmaCm read_rdma_cm(const Kernel& kernel, bool has_verbs_files) {
  const Root& root = kernel.root;
  const std::string device_class = "misc/rdma_cm";
  RdmaCm out;
  out.is_loaded = !is_unloaded(root, kCmModule, device_class, kCoreModule);
  if (out.is_loaded && has_verbs_files && root.exists("sys/class/" + device_class)) {
    const auto mode = mode_of(kernel, "dev/infiniband/rdma_cm");
    out.has_file = !mode || mode->has_value();
  }
  if (out.is_loaded) return out;
  size_t files = 0;
  std::set<std::string> known;  // a file of modules-load.d hides those of the same name in the folders after it
  for (const std::string_view folder : kModuleLists)
    for (const std::string& name : root.names_in(std::string(folder))) {
      if (!name.ends_with(".conf") || ++files > kMaxFiles) continue;
      if (folder.ends_with("modules-load.d") && !known.insert(name).second) continue;
      const std::string file = std::string(folder) + "/" + name, text = root.text_of(file);
      if (out.wanted_by.empty() && std::ranges::any_of(split(text, '\n'), loads_rdma_cm)) out.wanted_by = "/" + file;
    }
  return out;
}

std::set<std::string> read_loaded_modules(const Root& root, const Topology& topology) {
  std::set<std::string> out = wanted_modules(root, topology);
  std::erase_if(out, [&](const std::string& module) { return !root.exists("sys/module/" + module); });
  return out;
}

}  // namespace fabric::host
