// SPDX-License-Identifier: Apache-2.0
#include "checks/checks.h"
#include "checks/rows.h"

namespace fabric {
namespace {

constexpr Check kPlatformRows[] = {
    {"acs", group::platform, "Can each GPU and its NIC talk directly through the PCIe switch that they share?",
     "ACS request and completion redirect on a switch's downstream ports send every packet between GPU and NIC up to "
     "the "
     "root complex and back: GPUDirect RDMA loses half its throughput or more, without any error. It is meant for "
     "machines "
     "that give single devices to virtual machines, and the kernel switches it on at every boot where it drives an "
     "IOMMU, "
     "iommu=pt or not. Look: lspci -vvv -s ADDRESS (ACSCtl). Clear: setpci -s ADDRESS ECAP_ACS+6.w=0000; for good in "
     "the "
     "firmware setup, or by pci=disable_acs_redir= on the kernel's command line. Only bridges between a GPU and the "
     "NIC "
     "that serves it are judged, as fabric-agent-pci.service read them (systemctl restart fabric-agent-pci reads "
     "again), or "
     "root himself where it has not run. "
     "With direct translated P2P (DirectTrans+ and ATS) the redirect does no harm.",
     ask_acs},
    {"iommu", group::platform, "Do GPUs and RDMA NICs pass the IOMMU without translation?",
     "An IOMMU that translates looks up every DMA address: small messages take longer, throughput suffers when its "
     "cache "
     "does not hold the working set, and peer-to-peer traffic that ACS redirects is translated, too. Look: cat "
     "/sys/kernel/iommu_groups/*/type (DMA strict, DMA-FQ lazy, identity pass-through) and /proc/cmdline. Mend: "
     "iommu=pt "
     "on the kernel's command line (with intel_iommu=on or amd_iommu=on where devices go to virtual machines; "
     "iommu.passthrough=1 on arm64), update-grub, reboot. Not asked in a virtual machine.",
     ask_iommu},
    {"aer", group::platform, "Are there no new PCIe errors on the way to GPUs and NICs?",
     "The kernel counts PCIe errors of each function. Correctable ones (BadTLP, RxErr, Rollover) are repeated by the "
     "link, "
     "cost throughput and announce worse; non-fatal ones lost a transaction, fatal ones the link. The function named "
     "saw "
     "it: what arrives damaged was sent by the other end of its link. Reseat card, riser and cable, move the card to "
     "another slot: the error follows the card or stays with the slot. Look: grep . "
     "/sys/bus/pci/devices/ADDRESS/aer_dev_*, journalctl -k -g AER. Errors of the past are shown, and are no fault. "
     "Where "
     "firmware owns error reporting there are no counters (pcie_ports=native gives them).",
     ask_aer},
    {"gpu-bar", group::platform, "Is the whole memory of each GPU within reach of its NIC?",
     "A NIC reaches GPU memory through the GPU's largest prefetchable BAR (NVIDIA: BAR1). One that is smaller than its "
     "siblings' or left at 256 MiB although the GPU offers more means that the firmware did not find room: switch on "
     "Above "
     "4G Decoding and Resizable BAR, update the firmware. Look: lspci -vv -s ADDRESS (Region, Physical Resizable BAR); "
     "nvidia-smi -q -d MEMORY (BAR1).",
     ask_gpu_bar},
    {"gpudirect", group::platform, "Can the RDMA driver reach GPU memory?",
     "GPUDirect RDMA takes nvidia_peermem (or the older nv_peer_mem), or dma-buf: NVIDIA's open kernel modules, or a "
     "kernel with CONFIG_PCI_P2PDMA and CONFIG_DMABUF_MOVE_NOTIFY for AMD. Without, NCCL and RCCL copy through host "
     "memory "
     "(NCCL_DEBUG=INFO says GDRDMA where it works). Look: cat /proc/driver/nvidia/version; lsmod | grep peer. Mend: "
     "modprobe nvidia_peermem; echo nvidia_peermem > /etc/modules-load.d/nvidia_peermem.conf.",
     ask_gpudirect},
    {"pci-tuning", group::platform, "Have the NICs equal and sufficient PCIe settings?",
     "Maximum read request (MRRS), maximum payload (MPS), relaxed ordering and 10-bit tags of each RDMA NIC are "
     "compared "
     "with those of its model; a NIC that differs is the slow one of a collective. An MRRS below 512 starves a NIC "
     "that "
     "serves GPUs. Look: lspci -vv -s ADDRESS (DevCtl, DevCtl2). MRRS is a setting (mrrs); relaxed ordering belongs to "
     "the "
     "NIC's firmware (mlxconfig PCI_WR_ORDERING), MPS to the firmware setup. As fabric-agent-pci.service read them: "
     "systemctl restart fabric-agent-pci reads again.",
     ask_pci_tuning},
    {"pci-power", group::platform, "Are GPUs and NICs in use awake?",
     "A function in D3 has to be woken before it answers, and some do not wake. On a server nothing but a tool for "
     "laptops "
     "puts a GPU or a NIC in use to sleep. Look: cat /sys/bus/pci/devices/ADDRESS/power_state. Mend: echo on > "
     "/sys/bus/pci/devices/ADDRESS/power/control, and remove what set it to auto.",
     ask_pci_power},
};

}  // namespace

std::span<const Check> platform_rows() { return kPlatformRows; }

}  // namespace fabric
