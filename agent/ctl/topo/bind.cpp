// SPDX-License-Identifier: Apache-2.0
// The cores that a process of each GPU should run on, for programs that start processes. All formats need
// topology.cores.
#include <algorithm>
#include <cctype>

#include "base/parse.h"
#include "ctl/topo/view.h"
#include "node/machine.h"
#include "node/topology.h"

namespace fabric::ctl {
namespace {

// Cores by their logical number, as hwloc, Slurm and Open MPI count.
using Cores = std::vector<size_t>;

Cores cores_of_node(const Topology& topology, const Gpu& gpu) {
  Cores out;
  for (size_t i = 0; i < topology.cores.size(); ++i)
    if (!gpu.numa || topology.cores[i].numa == *gpu.numa) out.push_back(i);
  return out;
}

// The cores of the GPU's NUMA node, divided among the GPUs of that node; whole cores, so that two processes never share
// one. If there are fewer cores than GPUs, each GPU has all of them.
Cores own_cores(const Topology& topology, size_t index) {
  const Gpu& gpu = topology.gpus[index];
  const Cores all = cores_of_node(topology, gpu);
  size_t before = 0, gpus = 0;
  for (size_t g = 0; g < topology.gpus.size(); ++g) {
    if (topology.gpus[g].numa != gpu.numa) continue;
    if (g < index) ++before;
    ++gpus;
  }
  if (all.size() < gpus) return all;
  const size_t first = before * all.size() / gpus, end = (before + 1) * all.size() / gpus;
  return {all.begin() + static_cast<long>(first), all.begin() + static_cast<long>(end)};
}

std::string mask_text(const std::vector<unsigned>& cpus) {
  std::string digits;
  unsigned last = 0;
  for (const unsigned cpu : cpus) last = std::max(last, cpu);
  for (unsigned quad = last / 4 + 1; quad-- > 0;) {
    unsigned value = 0;
    for (const unsigned cpu : cpus)
      if (cpu / 4 == quad) value |= 1U << (cpu % 4);
    digits += "0123456789abcdef"[value];
  }
  return "0x" + digits;
}

std::string numbers_text(const Cores& cores) {
  return machine::cpus_text(std::vector<unsigned>(cores.begin(), cores.end()));
}

// The GPU's type as Slurm's AutoDetect spells it: lower case, underscores for blanks (gpu_common_underscorify_tolower,
// src/plugins/gpu/common), without the characters that end a word in gres.conf or in --gres.
std::string slurm_type(const Gpu& gpu) {
  std::string out;
  for (const char c : gpu.model) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (byte == ' ') out += '_';
    else if (byte > ' ' && byte < 0x7f && std::string_view("=,:;#\"'()[]").find(c) == std::string_view::npos)
      out += static_cast<char>(std::tolower(byte));
  }
  return out;
}

std::string unknown_node_comments(const Topology& topology) {
  std::string out;
  if (topology.cores.empty()) out += "# The CPUs and NUMA nodes of this machine are unknown.\n";
  for (const Gpu& gpu : topology.gpus)
    if (!gpu.numa) out += "# " + gpu.name + ": NUMA node unknown, it shares all cores.\n";
  return out;
}

}  // namespace

// CPUs of each GPU, and srun's --cpu-bind.
std::string topo_cpuset(const TopoView& view) {
  const Topology& topology = view.topology;
  std::string out =
      "# CPUs of each GPU: the cores of its NUMA node, divided among the GPUs there.\n"
      "# Columns: GPU, PCI address, CPUs, mask.\n" +
      unknown_node_comments(topology);
  if (topology.gpus.empty() || topology.cores.empty()) return out;
  std::string masks;
  for (size_t g = 0; g < topology.gpus.size(); ++g) {
    std::vector<unsigned> cpus;
    for (const size_t core : own_cores(topology, g))
      cpus.insert(cpus.end(), topology.cores[core].cpus.begin(), topology.cores[core].cpus.end());
    const std::string mask = mask_text(cpus);
    append_item(masks, mask, ",");
    out += topology.gpus[g].name + "\t" + topology.gpus[g].pci + "\t" + machine::cpus_text(cpus) + "\t" + mask + "\n";
  }
  return out +
         "# One task for each GPU, in this order:\n# srun --ntasks-per-node=" + std::to_string(topology.gpus.size()) +
         " --cpu-bind=mask_cpu:" + masks + "\n";
}

// Lines of gres.conf(5) of Slurm 22.05. Cores: logical cores, where 0 is the first of the first socket, as `lstopo -l`
// numbers them. Links: the position in the list is the device's number by PCI address; -1 is the device itself, 0 no
// connection; a line with Links has one File.
std::string topo_slurm(const TopoView& view) {
  const Topology& topology = view.topology;
  std::string out =
      "# gres.conf(5) of this node. Cores: Slurm's core numbers of the GPU's NUMA node.\n"
      "# Links: nearness by PCIe (4 PIX, 3 PXB, 2 PHB, 1 NODE, 0 SYS), without NVLink or xGMI.\n"
      "# With AutoDetect=nvml or rsmi leave Cores and Links out: Slurm drains a node that differs.\n" +
      unknown_node_comments(topology);
  struct GpuFile {
    const Gpu* gpu;
    std::string file;  // empty: unknown
  };
  std::vector<GpuFile> files;
  for (const Gpu& gpu : topology.gpus) {
    if (gpu.minor) files.push_back({&gpu, "/dev/nvidia" + std::to_string(*gpu.minor)});
    else if (gpu.render_minors.empty()) files.push_back({&gpu, ""});
    for (const unsigned minor : gpu.render_minors)
      if (!gpu.minor) files.push_back({&gpu, "/dev/dri/renderD" + std::to_string(minor)});
  }
  for (const GpuFile& own : files) {
    const Gpu& gpu = *own.gpu;
    const std::string type = slurm_type(gpu), cores = numbers_text(cores_of_node(topology, gpu));
    // gres.conf(5), Links: -1 for the device itself; else a larger number is nearer.
    std::string links;
    for (const GpuFile& other : files) {
      int nearness = 0;
      if (const auto path = path_class(gpu, *other.gpu))
        nearness = static_cast<int>(PathClass::SYS) - static_cast<int>(*path);
      if (&other == &own) nearness = -1;
      append_item(links, std::to_string(nearness), ",");
    }
    if (own.file.empty()) out += "# " + gpu.name + " (" + gpu.pci + "): device file unknown\n#";
    out += "Name=gpu";
    if (!type.empty()) out += " Type=" + type;
    out += " File=" + own.file;
    if (!cores.empty()) out += " Cores=" + cores;
    out += " Links=" + links + "\n";
  }
  return out;
}

// "Rankfiles" in mpirun(1) of Open MPI 4.1 and 5.0: "rank N=+nHOST slot=CORES", logical cores in both. A comment warns
// of ranks that share cores, which is an error without "--bind-to :overload-allowed" of 5.0.
std::string topo_rankfile(const TopoView& view) {
  const Topology& topology = view.topology;
  std::string out =
      "# Open MPI: mpirun --map-by rankfile:file=FILE; up to 4.1: --rankfile FILE\n"
      "# One rank for each GPU of the first node (+n0), bound to logical cores of its NUMA node.\n"
      "# For the next node repeat the lines with +n1.\n" +
      unknown_node_comments(topology);
  // GPUs share cores if one has no NUMA node or there are too few cores.
  bool shares_cores = false;
  std::vector<bool> is_taken(topology.cores.size());
  std::string ranks;
  for (size_t g = 0; g < topology.gpus.size() && !topology.cores.empty(); ++g) {
    const Cores cores = own_cores(topology, g);
    for (const size_t core : cores) {
      shares_cores = shares_cores || is_taken[core];
      is_taken[core] = true;
    }
    ranks += "rank " + std::to_string(g) + "=+n0 slot=" + numbers_text(cores) + "\n";
  }
  if (shares_cores) out += "# Some ranks share cores: add --bind-to core:overload-allowed\n";
  return out + ranks;
}

}  // namespace fabric::ctl
