// SPDX-License-Identifier: Apache-2.0
#include "checks/check.h"
#include "judge/platform_view.h"

namespace fabric {
namespace {

constexpr const char* kMeaning =
    "The RDMA driver cannot access GPU memory: collectives go through host memory, at a fraction of the rate of the "
    "network.";

bool has_peer(const GpuDirect& has, std::string_view name) {
  return std::ranges::any_of(has.memory_peers, [&](const std::string& peer) { return peer.starts_with(name); });
}

// The same evidence as NCCL uses (src/transport/net_ib.cc).
std::optional<Finding> ask_nvidia(const GpuDirect& has) {
  std::string ways = joined(has.peer_modules);
  if (has_peer(has, "nv_mem")) append_item(ways, "peer memory client nv_mem");
  if (has.nvidia_open == true) append_item(ways, "dma-buf (open kernel module)");
  const std::string driver = "NVIDIA driver " + has.nvidia_driver;
  const std::string expected = "nvidia_peermem, or dma-buf of the open kernel module";
  if (!ways.empty()) return good("host", driver + ": " + ways, expected);
  return bad(Status::warning, "host", driver + ", closed kernel module, without nvidia_peermem", expected, kMeaning,
             "modprobe nvidia_peermem && echo nvidia_peermem > /etc/modules-load.d/nvidia_peermem.conf; or "
             "install NVIDIA's open kernel modules.");
}

// RCCL uses dma-buf if the kernel has both options (rccl, src/misc/rocmwrap.cc), else OFED's peer memory.
std::optional<Finding> ask_amd(const GpuDirect& has) {
  if (has_peer(has, "amdkfd")) return good("host", "peer memory client amdkfd", "peer memory, or dma-buf");
  if (!has.pci_p2pdma || !has.dmabuf_move_notify) return std::nullopt;
  if (*has.pci_p2pdma && *has.dmabuf_move_notify)
    return good("host", "dma-buf (PCI_P2PDMA, DMABUF_MOVE_NOTIFY)", "peer memory, or dma-buf");
  return bad(Status::warning, "host",
             std::string("kernel without ") + (*has.pci_p2pdma ? "CONFIG_DMABUF_MOVE_NOTIFY" : "CONFIG_PCI_P2PDMA") +
                 ", no peer memory client",
             "CONFIG_PCI_P2PDMA and CONFIG_DMABUF_MOVE_NOTIFY, or OFED's peer memory", kMeaning,
             "Boot a kernel built with both options. Or install the RDMA stack of the NIC vendor with peer "
             "memory, and load amdgpu after it.");
}

// With GPUs of both vendors, NVIDIA is checked.
std::optional<Finding> ask_host(const View& view) {
  const GpuDirect& has = view.now.platform.gpudirect;
  const auto pairs = gpu_nic_pairs(view);
  const auto has_gpu = [&](uint16_t vendor) {
    return std::ranges::any_of(pairs, [&](const GpuNic& pair) { return pair.gpu->vendor == vendor; });
  };
  if (!has.nvidia_driver.empty() && has_gpu(kNvidia)) return ask_nvidia(has);
  return has.amdgpu && has_gpu(kAmd) ? ask_amd(has) : std::nullopt;
}

}  // namespace

extern const Check kGpudirectCheck{
    .id = "gpudirect",
    .group = group::platform,
    .title = "The RDMA driver cannot access GPU memory",
    .meaning =
        "GPUDirect RDMA requires nvidia_peermem (or the older nv_peer_mem), or dma-buf: NVIDIA's open kernel modules; "
        "for AMD a kernel with CONFIG_PCI_P2PDMA and CONFIG_DMABUF_MOVE_NOTIFY. Otherwise NCCL and RCCL copy through "
        "host memory. With NCCL_DEBUG=INFO, NCCL logs GDRDMA when it is in use.",
    .inspect = "cat /proc/driver/nvidia/version; lsmod | grep peer",
    .fix = "modprobe nvidia_peermem; echo nvidia_peermem > /etc/modules-load.d/nvidia_peermem.conf",
    .ask_host = ask_host,
};

}  // namespace fabric
