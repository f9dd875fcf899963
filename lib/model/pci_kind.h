// SPDX-License-Identifier: Apache-2.0
// What a PCI function is, by class and ids (class codes: PCI Code and ID Assignment Specification; linux/pci_ids.h).
#pragma once

#include "model/node.h"

namespace fabric {

// A GPU or another accelerator that jobs run on. Display chips of management controllers and graphics integrated into
// CPUs are none, though their class may be the same.
bool is_gpu(const PciDevice& function);

// Of one model, by their ids.
inline bool are_alike(const PciDevice& a, const PciDevice& b) { return a.vendor == b.vendor && a.device == b.device; }

// Class 02xx (network), or 0c06 (InfiniBand of the first generations).
bool is_network(const PciDevice& function);

// A virtual function by its ids ("15b3:101e"), where the kernel shows no physical one: a guest's. Of mlx5 alone, whose
// table says so (MLX5_PCI_DEV_IS_VF in mlx5/core/main.c, Linux 6.12).
bool is_guests_function(std::string_view pci_id);

// The second function of a ConnectX-8, by which its DMA reaches GPUs (mlx5_data_direct_pci_table in
// drivers/infiniband/hw/mlx5/data_direct.c, Linux 6.12); and a NIC that can have one.
bool is_data_direct(const PciDevice& function);
bool can_have_data_direct(const Nic& nic);

// Has an RDMA device, or is a fabric NIC that does RDMA without the kernel's RDMA stack (HPE Slingshot).
bool carries_rdma(const Nic& nic);

}  // namespace fabric
