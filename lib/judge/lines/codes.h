// SPDX-License-Identifier: Apache-2.0
// The parts of an error message that mean the same in every program: statuses and vendor errors of work completions,
// errnos, statuses of firmware commands, events, Xids; and the call that failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/lines/severity.h"

namespace fabric::lines {

// none: harmless. unknown: the message does not show it.
enum class FaultLocation : uint8_t { host, cable, network, peer, software, none, unknown };

// The request of the program that failed, by any library's name for it.
enum class Call : uint8_t {
  none,
  open_device,
  query_device,  // of an open device
  query_gid,
  registration,
  dmabuf,
  create_object,  // a queue pair, completion queue, protection domain, ...
  create_ah,
  qp_to_init,
  modify_qp,  // to RTR, RTS, or not named
  resolve_address,
  resolve_route,  // the call; on RoCE it sends nothing
  route_error,    // no path came back: the subnet manager of InfiniBand
  connect,
  bind,
  post,
  enable_vfs,
  of_driver,         // any other operation of a NIC's driver, in the kernel's log
  gpu_registration,  // registration that fails with EFAULT, of memory that the line names as that of a GPU
};

// A bit of a PCIe device's AER status registers, as the kernel prints it.
enum class Aer : uint8_t { none, corrected, uncorrected, surprise_down };

// Sources of the numbers:
//   rdma-core libibverbs/verbs.h (ibv_wc_status, ibv_event_type), providers/mlx5/mlx5dv.h (CQE syndromes),
//   librdmacm/rdma_cma.h; Linux include/rdma/ib_cm.h (ib_cm_rej_reason), include/linux/mlx5/device.h (command
//   statuses), drivers/infiniband/hw/bnxt_re/roce_hsi.h (CMDQ opcodes), drivers/infiniband/hw/efa/efa_admin_defs.h,
//   efa_io_defs.h, drivers/pci/pcie/aer.c; libfabric include/rdma/fi_errno.h; NVIDIA open-gpu-kernel-modules nverror.h,
//   nvstatuscodes.h; Linux include/linux/errno.h, include/linux/avf/virtchnl.h, include/net/mana/gdma.h; Microsoft
//   ntstatus.h; DCGM dcgm_structs.h, OpenPMIx pmix_common.h, NVML nvml.h, CANN hccl_types.h; DOCA doca_error.h; UCX
//   ucs/type/status.h; NVSHMEM nvshmemx_error.h; CUDA driver_types.h; cuFile cufile.h; Linux include/scsi/iscsi_if.h;
//   SAI saistatus.h; GASNet ibv-conduit; Intel irdma user.h; errnos, signals and their names by libc.
struct Codes {
  unsigned status = 0;           // enum ibv_wc_status of a failed work completion; 0: none
  std::optional<bool> is_fatal;  // what this driver says of an error of NVLink; nullopt: nothing
  std::string_view error;        // the first errno: "ETIMEDOUT"; empty: none
  Call call = Call::none;        // the call that failed
  Aer aer = Aer::none;           // the first AER bit that the line names
  bool is_of_driver = false;     // a driver of a NIC or RDMA device reports a failure
  bool is_of_transfer = false;   // the error is one of a transfer to a peer, whose address the line has, not of a call
  std::vector<std::string> texts;  // every code in words, in the order of this table; without repetitions
  std::string vendor_error;        // the first of `texts` that is a vendor error of a work completion; empty: none
  std::string names;               // of statuses that the line has as numbers: patterns find them by name as well
};
// line: without_denials() of it; small: in small letters.
Codes codes_of(std::string_view line, std::string_view small, Severity severity);

// The line, in small letters, with blanks in place of the texts of errnos ("invalid argument"): their words are not
// those of the program.
std::string without_errno_texts(std::string_view small);

// The meaning of an errno in any program. The cause is unknown if it depends on the call.
struct ErrorMeaning {
  std::string_view error;  // "ECONNREFUSED"
  FaultLocation cause;
  std::string_view text;
};
// is_of_driver: a driver prints it of its device. nullptr: none that is worth a sentence
const ErrorMeaning* meaning_of(std::string_view error, bool is_of_driver = false);

// "0000:3b:00.0", and "0000:3b:00" of NVIDIA's driver.
bool is_pci_address(std::string_view word);

// "status 12 IBV_WC_RETRY_EXC_ERR"
std::string completion_status_text(unsigned status);

}  // namespace fabric::lines
