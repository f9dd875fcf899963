// SPDX-License-Identifier: Apache-2.0
// The software that RDMA needs on the host beside the drivers: the providers of libibverbs, and modules that modprobe
// may load.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "nic/capabilities.h"
#include "node/host.h"

namespace fabric {
struct Kernel;
struct RdmaCm;
struct Topology;
struct VerbsFile;
}  // namespace fabric

namespace fabric::host {

// The providers in the folders where rdma-core and the vendors install them, by the names of the files, and the list of
// those that libibverbs loads (libibverbs/dynamic_driver.c of rdma-core 65). Also reads the ABI versions of the
// providers of the present RDMA devices (provider_abi.h). Without folders: the C library is there, and no libibverbs.
// nullopt: no provider is installed there.
std::optional<VerbsLibrary> read_verbs_library(const Root& root);

// The provider for an RDMA device of this kernel driver: that of rdma-core, else the installed or listed one by whose
// name the driver or the device is called, else the only one that is not of rdma-core. Empty: unknown.
VerbsProvider provider_of(const VerbsLibrary& library, std::string_view kernel_driver, std::string_view device);

// "blacklist MODULE", or "install MODULE COMMAND" with a command that loads nothing (modprobe.d(5)), of a module for
// RDMA. `where` is not filled.
std::optional<ModuleRule> parse_module_rule(std::string_view line);

// The modules of modules.dep or modules.builtin: "kernel/drivers/infiniband/hw/mlx5/mlx5_ib.ko.zst: ..." is mlx5_ib.
std::set<std::string> parse_module_files(std::string_view list);

// The rules about the modules of NICs that have no RDMA device and of GPUs that have no driver, of modprobe.d(5) and
// the kernel's parameters module_blacklist= and modprobe.blacklist=, and those of these modules that the running kernel
// does not have; of kMadModule that it is not loaded, on a board whose NVSwitches are managed through it. Else reads
// nothing if each NIC has an RDMA device and each GPU a driver.
std::vector<ModuleRule> read_module_rules(const Root& root, const Topology& topology,
                                          const std::vector<std::string>& kernel_options);

// Whether the module with the devices by which programs use RDMA (ib_uverbs) is not loaded, as /proc/modules and its
// class show; in a container (endpoints.h), whether it has none of the device files.
bool lacks_verbs(const Kernel& kernel, bool is_container);

// The device files for verbs, by RDMA device.
std::map<std::string, VerbsFile> read_verbs_files(const Kernel& kernel);

// `has_verbs_files`: the /dev of this process has files of RDMA devices.
RdmaCm read_rdma_cm(const Kernel& kernel, bool has_verbs_files);

// Whether this module decides what RDMA lacks: the only lines of /proc/modules that count.
bool is_module_for_rdma(std::string_view module);

// The folders of lists of modules that are loaded at each start (modules-load.d(5), rdma-core), and whether a line of
// one of them names rdma_ucm.
inline constexpr const char* kModuleLists[] = {"etc/rdma/modules",       "etc/modules-load.d",
                                               "run/modules-load.d",     "usr/local/lib/modules-load.d",
                                               "usr/lib/modules-load.d", "lib/modules-load.d"};
bool loads_rdma_cm(std::string_view line);

// The kernel modules that NICs without an RDMA device need, as far as they are loaded, or built in with a folder in
// /sys/module.
std::set<std::string> read_loaded_modules(const Root& root, const Topology& topology);

}  // namespace fabric::host
