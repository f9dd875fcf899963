// SPDX-License-Identifier: Apache-2.0
// How each driver reads and writes settings. One that a driver lacks is "unsupported", never a failure of the rest.
#pragma once

#include "base/find.h"
#include "nic/generic/upstream.h"
#include "nic/operation.h"

namespace fabric {

// Settings that are written the same way whatever the NIC's driver is (rdma_cm, rings, MRRS): one feature = one file.
struct Feature {
  std::span<const SettingOp> ops;
  // Adds to `out` what can be read of `keys`. Settings that are not offered stay absent.
  void (*read)(const PortIo& io, const Keys& keys, Reading& out);
  // As Driver::expected, impossible and remedy; may be null. `want` is what the driver expects.
  void (*expected)(Qos& want, const Reading& have) = nullptr;
  std::string (*impossible)(const Setting& setting, const Qos& want, const Reading& have) = nullptr;
  std::string (*remedy)(const Setting& setting, int code) = nullptr;
};

struct Driver {
  std::string_view name;                           // ours: "mlx5"
  std::string_view source;                         // the folder of its sources, or their package
  std::array<std::string_view, 2> kernel_names{};  // "mlx5_core"
  // Further evidence, where the name is not enough (OFED's mlx5_core has files of its own); null: it is.
  bool (*evidence)(const Root& root, const std::string& netdev) = nullptr;
  // Reads the settings `keys`; others may come with them. Those that the port does not offer stay absent.
  Result<Reading> (*read)(const PortIo& io, const Keys& keys) = upstream::read;
  // `want` as this driver will read back (mlx5 keeps all 64 DSCPs, for example), with "auto" values computed.
  Qos (*expected)(const Qos& want, const Reading& have) = upstream::expected;
  // Brings `have` to what will be read after the setting of `want` has been written: a plan sees what a write does to
  // other settings (ice overwrites ETS with the first DSCP), without writing.
  void (*effect)(const Setting& setting, const Qos& want, Qos& have) = upstream::effect;
  // Why this driver cannot show the wanted value whatever is written; empty: it can. Nothing is written then.
  std::string (*impossible)(const Setting& setting, const Qos& want, const Reading& have) = upstream::impossible;
  // Why a setting is not offered (`code` 0) or was refused (`code` its errno), and what to do; empty: nothing is known.
  std::string (*remedy)(const Setting& setting, const Qos& have, const std::string& netdev,
                        int code) = upstream::remedy;
  std::span<const SettingOp> ops;
  std::span<const SettingId> order = upstream::kOrder;  // in which settings must be written
  // After MTU or PFC were written, and after carrier-up: mlx5 recomputes thresholds when the same PFC is sent again.
  Result<void> (*settle)(const PortIo& io, const Qos& have) = nullptr;
  // Its list of FEC modes shows what the port supports, not its configuration: the mode in use is read instead.
  bool fec_in_use = false;
};

// The Op of a row: the driver's own, else the feature's.
const Op& op_of(const Driver& driver, SettingId setting);
// Whether writing it may stop traffic on the port that the notes are of.
bool is_disruptive(const Op& op, SettingId setting, const Notes& notes);
// By Op::reach, with the setting itself.
Keys keys_reached(const Op& op, SettingId setting);
// The driver's, and each feature's.
Result<Reading> read_all(const Driver& driver, const PortIo& io, const Keys& keys);
Qos expected_of(const Driver& driver, const Qos& want, const Reading& have);
// Why the setting is not offered, or cannot have the wanted value; empty: it can.
std::string why_not(const Driver& driver, const Setting& setting, const Qos& want, const Reading& have,
                    const std::string& netdev);
std::string remedy_of(const Driver& driver, const Setting& setting, const Qos& have, const std::string& netdev,
                      int code);

std::span<const Driver* const> drivers();
std::span<const Feature* const> features();
// By the kernel driver of the PCI function, or the RDMA link type of a software device, and the driver's own files.
const Driver& driver_for(std::string_view kernel_driver, const Root* root = nullptr, const std::string& netdev = {});

extern const Driver kMlx4, kMlx5, kMlx5Ofed, kBnxt, kBnge, kIce, kI40e, kIonic, kQede, kRxe, kUpstream;
extern const Feature kEthtoolFeature, kRdmaCm, kOptionalCounters, kMrrs;

}  // namespace fabric
