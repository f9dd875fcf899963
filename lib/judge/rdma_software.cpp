// SPDX-License-Identifier: Apache-2.0
// The RDMA software of this host or container: libibverbs, its providers, rdma_cm, device files.
#include "node/rdma_software.h"

#include "judge/limits.h"
#include "judge/network.h"
#include "judge/rule.h"
#include "judge/topology.h"
#include "nic/capabilities.h"
#include "node/endpoints.h"

namespace fabric {
namespace {

std::string provider_file(std::string_view name, unsigned version) {
  return "lib" + std::string(name) + "-rdmav" + std::to_string(version) + ".so";
}

// The version of most providers other than `name`: that of libibverbs, since it loads no other. nullopt: they differ,
// or there are no others.
std::optional<unsigned> usual_version(const VerbsLibrary& library, std::string_view name) {
  std::map<unsigned, size_t> counts;
  for (const auto& [other, versions] : library.providers)
    if (other != name)
      for (const unsigned version : versions) ++counts[version];
  return majority(counts);
}

// The module with the RDMA device of the driver's functions, which defines the ABI: "bnxt_re" of bnxt_en.
std::string rdma_driver_of(const std::string& kernel_driver) {
  const RdmaModules* modules = rdma_modules_of(kernel_driver, 0, 0);
  return modules == nullptr ? kernel_driver : std::string(modules->rdma);
}

// nullopt: unknown.
std::optional<Finding> provider_finding(const VerbsLibrary& library, const Port& port, const VerbsProvider& provider,
                                        const RdmaCm& rdma_cm, bool in_container) {
  std::string name(provider.name);
  if (!library.providers.contains(name) && library.providers.contains(std::string(provider.former)))
    name = provider.former;
  const auto usual = usual_version(library, name);
  const std::string driver = port.kernel_driver, folders = joined(library.folders),
                    place = in_container ? "this container" : "this host",
                    effect = ": programs of " + place + " do not see " + port.rdma +
                             ", although the kernel has it and its port may be ACTIVE. NCCL, MPI and UCX use TCP, or "
                             "fail." +
                             (in_container ? "" : " Programs in containers use the libibverbs of their image.");
  std::string install = in_container ? "In the image of the container, install" : "Install";
  install +=
      " libibverbs and its providers of one release: ibverbs-providers (Debian, Ubuntu), libibverbs "
      "(Red Hat, SUSE), or the bundle of the NIC's vendor for this release of the distribution. Verify: "
      "ibv_devices; IBV_SHOW_WARNINGS=1 ibv_devinfo shows why a provider is not used";
  if (!rdma_cm.is_loaded && !in_container)
    install +=
        ". Programs that connect by rdma_cm (SPDK, rping) also need the module rdma_ucm, which is not loaded: modprobe "
        "rdma_ucm";
  Fix fix = install;
  if (!is_known_provider(name)) {
    const std::string release = usual ? " (rdmav" + to_text(*usual) + ")" : "";
    fix = "Install the package of lib" + name + " that is built for this release of libibverbs" + release +
          ", or build it against the headers of this release (libibverbs-dev, rdma-core-devel); remove the old file. "
          "Verify: ibv_devices; IBV_SHOW_WARNINGS=1 ibv_devinfo shows why a provider is not used.";
  }
  const std::string line = "\"driver " + name + "\" in /etc/libibverbs.d";
  const auto* versions = find_in(library.providers, name);
  if (versions == nullptr) {
    const std::string expected = usual ? provider_file(name, *usual) : "lib" + name + "-rdmavN.so";
    return bad(Status::warning, port.rdma, "no provider for " + driver + " in " + folders, expected,
               "libibverbs has no provider for the driver " + driver + effect, fix);
  }
  const unsigned newest = *versions->rbegin();
  if (usual && !versions->contains(*usual))
    return bad(Status::warning, port.rdma,
               provider_file(name, newest) + ", while the other providers are -rdmav" + std::to_string(*usual),
               provider_file(name, *usual),
               "The provider for the driver " + driver +
                   " is of another release than libibverbs, which does not load it" + effect,
               fix);
  const std::string file = provider_file(name, usual.value_or(newest));
  if (!library.listed.empty() && !library.listed.contains(name))
    return bad(Status::warning, port.rdma, file + ", and no " + line, line,
               "libibverbs loads only the providers that its configuration lists" + effect,
               "echo driver " + name + " > /etc/libibverbs.d/" + name +
                   ".driver; or install the package again that has "
                   "the provider");
  const uint32_t* kernel_abi = find_in(library.kernel_abis, port.rdma);
  const AbiRange* supported = find_in(library.abis, file);
  if (kernel_abi != nullptr && supported != nullptr &&
      (*kernel_abi < supported->least || *kernel_abi > supported->most)) {
    std::string range = std::to_string(supported->least);
    if (supported->most != supported->least) range += " to " + std::to_string(supported->most);
    return bad(
        Status::warning, port.rdma, "ABI " + std::to_string(*kernel_abi) + " of " + rdma_driver_of(driver),
        "ABI " + range + " of " + file,
        "The provider does not support the ABI of the kernel's driver: the two have different origins or releases" +
            effect,
        "Install the driver and the provider from the same origin: both from the vendor's bundle, or both from the "
        "distribution. An update of the distribution may have replaced the vendor's provider. Verify: ibv_devices; cat "
        "/sys/class/infiniband_verbs/*/abi_version");
  }
  // Without the versions that the provider supports, its name alone proves nothing.
  if (kernel_abi != nullptr && supported == nullptr) return std::nullopt;
  return good(port.rdma, file, "a provider for " + driver);
}

// Whether processes of every user may read and write the file.
bool is_for_all(const VerbsFile& file) { return (file.mode & 06u) == 06u; }

// Devices whose file fewer users may open than that of another device: jobs of other users have fewer NICs on this
// machine than on its peers.
void add_closed_files(const View& view, Findings& findings) {
  const auto& files = view.now.verbs_files;
  const bool any_for_all = std::ranges::any_of(files, [](const auto& each) { return is_for_all(each.second); });
  for (const auto& [device, file] : files) {
    if (!any_for_all || is_for_all(file)) continue;
    const Port* port = find_where(view.now.ports, [&name = device](const Port& each) { return each.rdma == name; });
    if (port == nullptr || !is_endpoint(*port)) continue;
    const std::string path = "/dev/infiniband/" + file.name;
    std::string mode = "0";  // in octal, as ls(1) and chmod(1) have it
    for (const unsigned shift : {6u, 3u, 0u}) mode += static_cast<char>('0' + ((file.mode >> shift) & 7u));
    findings.push_back(bad(
        Status::warning, device, path + " has mode " + mode, "0666, like other devices here",
        "Jobs of other users cannot open this device (permission denied). NCCL then uses the other devices only: a "
        "rank with fewer devices than its peers hangs (NCCL_IGNORE_NET_MISMATCH=0 makes it an error).",
        "chmod 0666 " + path + ", and correct the udev rule, or the mode that the container runtime gives the file"));
  }
}

// In a container with a network namespace of its own: devices that it can use, by a netdev that was given to it, and
// whose file it was not given, while others have theirs. (With the network of the host it sees the netdevs of all
// NICs.) A netdev with the default route, or of a NIC for storage, may be for TCP alone.
void add_missing_files(const View& view, Findings& findings) {
  const auto& files = view.now.verbs_files;
  if (files.empty() || !contains(view.now.topology.nics, true, &Nic::netdev_elsewhere)) return;
  for (const Port& port : view.now.ports) {
    const auto is_own = [&](const Gid& gid) {
      return is_routable_v2(gid) && !gid.netdev.empty() && is_here(view.now, port, gid);
    };
    const auto own = std::ranges::find_if(port.gids, is_own);
    if (own == port.gids.end() || !is_endpoint(port) || !is_active(port) || files.contains(port.rdma)) continue;
    const Interface* netdev = find_in(view.now.network.interfaces, own->netdev);
    if ((netdev != nullptr && is_front_end(*netdev)) || has_other_purpose(view, port)) continue;
    findings.push_back(bad(
        Status::warning, port.rdma, own->netdev + " is here, and the device file of " + port.rdma + " is not",
        "its uverbs file in /dev/infiniband, like those of " + counted(files.size(), "other device"),
        "This container has the netdev of the NIC, and no program in it can open the RDMA device: NCCL uses the other "
        "devices only, and a rank with fewer devices than its peers hangs.",
        "ls -l /dev/infiniband; cat /sys/class/infiniband_verbs/*/ibdev. The device plugin gives the files: ask for as "
        "many of its resource as for networks, and read its log for this NIC."));
  }
}

// Programs that connect by librdmacm. Jobs of GPUs need it for iWARP only; so it is a fault if this host is to have it.
void add_connection_manager(const View& view, Findings& findings) {
  const RdmaCm& cm = view.now.rdma_cm;
  if (cm.is_loaded && cm.has_file) return;
  const Port* iwarp = nullptr;
  bool any = false;
  for (const Port& port : view.now.ports) {
    if (!is_endpoint(port)) continue;
    if (port.transport == RdmaTransport::iwarp && !capabilities_of(port.kernel_driver).is_software) iwarp = &port;
    any = any || is_roce(port) || port.transport == RdmaTransport::iwarp || port.link_layer == LinkLayer::infiniband;
  }
  if (!any) return;
  const std::string observed = cm.is_loaded ? "rdma_ucm is loaded, and /dev/infiniband/rdma_cm is not here"
                                            : "rdma_ucm is not loaded: no /dev/infiniband/rdma_cm",
                    fail =
                        " that connect by rdma_cm (SPDK, rping, ib_write_bw -R, libfabric's verbs) fail with \"No such "
                        "device\"",
                    expected = "rdma_ucm loaded";
  // The files of a container are those of its image.
  const bool in_container = is_container(view.now), is_wanted = !in_container && !cm.wanted_by.empty();
  if (iwarp == nullptr && !is_wanted) {
    findings.push_back(good(kHostSubject, observed + ": programs" + fail + "; NCCL does not need it",
                            "rdma_ucm, if programs connect by rdma_cm"));
    return;
  }
  std::string meaning = "Programs" + fail + ".";
  if (iwarp != nullptr) meaning += " The queue pairs of " + iwarp->rdma + " (iWARP) are connected by it alone.";
  else meaning += " NCCL does not need it.";
  Fix fix = "Give the container /dev/infiniband/rdma_cm, as it has the uverbs files.";
  if (!cm.is_loaded && !is_wanted)
    fix = std::string(in_container ? "On the host: " : "") +
          "modprobe rdma_ucm, and for each start: echo rdma_ucm > /etc/modules-load.d/rdma_ucm.conf";
  if (!cm.is_loaded && is_wanted)
    fix = {"modprobe rdma_ucm. " + cm.wanted_by + " has it loaded at each start. Why it was not: ls /etc/modprobe.d",
           {Work::service, "; journalctl -b -u 'rdma-load-modules@*' -u systemd-modules-load"}};
  findings.push_back(bad(Status::warning, kHostSubject, observed, expected, meaning, std::move(fix)));
}

// An image with the C library and without libibverbs: the container was given RDMA devices in vain.
Finding no_library_finding(const View& view) {
  return bad(
      Status::warning, kHostSubject, "no libibverbs.so.1 in the folders of libraries", "libibverbs and its providers",
      "NCCL loads libibverbs.so.1 by its name. Without it NCCL finds no RDMA device and uses TCP sockets, although "
      "this container has the device files of " +
          counted(view.now.verbs_files.size(), "RDMA device") + ".",
      "Install in the image: libibverbs1 ibverbs-providers (Debian, Ubuntu), or libibverbs (Red Hat, SUSE). "
      "Verify: ldconfig -p | grep libibverbs; ibv_devices");
}

void ask_rdma_provider(const View& view, Findings& findings) {
  if (view.now.lacks_verbs && is_container(view.now)) {
    const std::string limit = low_container_limit(view);
    std::string observed = "no uverbs file in /dev/infiniband", expected = "the device files of the container's NICs",
                start =
                    "Start the container with --device for /dev/infiniband/rdma_cm and the uverbs file of each of "
                    "its NICs";
    if (!limit.empty()) {
      observed += ", and a memlock limit of " + limit;
      expected += ", and unlimited memlock";
      start += ", and with --ulimit memlock=-1 or --cap-add IPC_LOCK";
    }
    findings.push_back(bad(
        view.now.topology.gpus.empty() ? Status::unknown : Status::warning, kHostSubject, std::move(observed),
        std::move(expected),
        "No program in this container can open an RDMA device, although /sys shows those of the host: NCCL, MPI and "
        "UCX use TCP, or fail.",
        start + ". A pod asks for the resource of a device plugin, or claims devices (DRA). If the host has no file "
                "either, "
                "it has not loaded ib_uverbs."));
    return;
  }
  if (view.now.lacks_verbs) {
    findings.push_back(bad(
        view.now.topology.gpus.empty() ? Status::unknown : Status::critical, kHostSubject,
        "ib_uverbs is not loaded: no /dev/infiniband/uverbs*", "ib_uverbs loaded",
        "No program can use an RDMA device, although its port may be ACTIVE: NCCL, MPI and UCX use TCP, or fail.",
        "modprobe ib_uverbs, and for each start: echo ib_uverbs > /etc/modules-load.d/ib_uverbs.conf. With the package "
        "rdma-core, udev loads it. If modprobe does not find it, the package of additional modules of this kernel has "
        "it (Ubuntu: linux-modules-extra)."));
    return;
  }
  add_closed_files(view, findings);
  add_missing_files(view, findings);
  add_connection_manager(view, findings);
  if (!view.now.host || !view.now.host->software.verbs) return;
  const VerbsLibrary& library = *view.now.host->software.verbs;
  const bool in_container = is_container(view.now);
  if (library.folders.empty() && library.providers.empty()) {
    if (in_container && !view.now.verbs_files.empty()) findings.push_back(no_library_finding(view));
    return;
  }
  std::set<std::string> seen;
  for (const Port& port : view.now.ports) {
    const VerbsProvider provider = host::provider_of(library, port.kernel_driver, port.rdma);
    if (!is_endpoint(port) || provider.name.empty() || !seen.insert(port.rdma).second) continue;
    if (auto finding = provider_finding(library, port, provider, view.now.rdma_cm, in_container))
      findings.push_back(std::move(*finding));
  }
}

}  // namespace

constexpr Rule kRdmaProvider{
    .id = "rdma-provider",
    .group = group::host,
    .title = "libibverbs has no provider for an RDMA device",
    .meaning =
        "Programs reach an RDMA device through the provider of its driver, lib*-rdmavN.so in the folder libibverbs, "
        "which /etc/libibverbs.d lists. N is the version of libibverbs: it loads no other. Without the provider "
        "programs do not see the device, although its port is ACTIVE. The version of most providers counts as that of "
        "libibverbs. A provider also supports only some ABI versions of its driver (abi_version); its file contains "
        "the range. Not judged if the range cannot be read. Judged if the host has providers; the providers in images "
        "of containers are seen only in the container, where a missing libibverbs is reported as well. Without the "
        "module ib_uverbs no program sees any RDMA device. A device file that "
        "fewer users may open than those of other devices is reported; in a container with a network namespace of its "
        "own, also a device without a file whose netdev the container has, and a container without any file. Without "
        "the module rdma_ucm, or its file "
        "rdma_cm, programs cannot connect by rdma_cm: this is listed, and reported if a file of the host has the "
        "module "
        "loaded at each start, or a port has iWARP.",
    .inspect =
        "ibv_devices; IBV_SHOW_WARNINGS=1 ibv_devinfo; ls /usr/lib*/libibverbs /usr/lib/*/libibverbs "
        "/etc/libibverbs.d",
    .fix =
        "Install libibverbs and its providers of one release: ibverbs-providers (Debian, Ubuntu), libibverbs (Red "
        "Hat, SUSE), or the bundle of the NIC's vendor.",
    .ask = ask_rdma_provider,
};

constexpr Rule kTable[]{kRdmaProvider};
const std::span<const Rule> kRdmaSoftwareRules = kTable;

}  // namespace fabric
