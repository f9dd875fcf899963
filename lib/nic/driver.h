// SPDX-License-Identifier: Apache-2.0
// How each driver reads and writes settings. A setting that a driver lacks is "unsupported", and the others still work.
#pragma once

#include "base/find.h"
#include "nic/generic/upstream.h"
#include "nic/operation.h"

namespace fabric {

// Settings that are written in the same way with every NIC's driver (rdma_cm, rings, MRRS): one feature = one file.
struct Feature {
  std::span<const SettingOp> ops;
  // Adds the readable settings of `keys` to `out`. Settings that are not offered stay absent.
  void (*read)(const PortIo& io, const Keys& keys, Reading& out);
  // Called like Driver::expected, impossible and remedy; may be null. `want` is the result of Driver::expected.
  void (*expected)(Qos& want, const Reading& have) = nullptr;
  std::string (*impossible)(const Setting& setting, const Qos& want, const Reading& have) = nullptr;
  std::string (*remedy)(const Setting& setting, int code) = nullptr;
};

struct Driver {
  std::string_view name;                           // our name: "mlx5"
  std::string_view source;                         // the folder of its sources, or their package
  std::array<std::string_view, 2> kernel_names{};  // "mlx5_core"
  // Further evidence if the name is not sufficient (OFED's mlx5_core has files of its own); null: it is sufficient.
  bool (*evidence)(const Root& root, const std::string& netdev) = nullptr;
  // Reads the settings `keys`, and possibly others. Settings that the port does not offer stay absent.
  Result<Reading> (*read)(const PortIo& io, const Keys& keys) = upstream::read;
  // `want` as it will be read back (mlx5 keeps all 64 DSCPs, for example), with "auto" values computed.
  Qos (*expected)(const Qos& want, const Reading& have) = upstream::expected;
  // Changes `have` to the reading after the setting of `want` has been written, so that a plan shows the effects of a
  // write on other settings (ice overwrites ETS with the first DSCP).
  void (*effect)(const Setting& setting, const Qos& want, Qos& have) = upstream::effect;
  // Why no port of this driver can have the wanted value, by the wanted values alone; empty: a port may. `want` is that
  // of the configuration.
  std::string (*never)(const Setting& setting, const Qos& want) = upstream::never;
  // Why the wanted value may have no effect although the driver accepts it; empty: it has, or this is unknown.
  std::string (*doubt)(const Setting& setting, const Qos& want) = upstream::never;
  // Why no write makes this port show the wanted value, in which case nothing is written; empty: a write does.
  std::string (*impossible)(const Setting& setting, const Qos& want, const Reading& have) = upstream::impossible;
  // Why a setting is not offered (`code` 0) or was refused (`code` its errno), and what to do; empty: unknown.
  std::string (*remedy)(const Setting& setting, const Qos& have, const std::string& netdev,
                        int code) = upstream::remedy;
  // The command of the vendor's program that gives the NIC the value, for settings that the kernel can neither show nor
  // write; empty: none is known. `mac`: the permanent address of the port, or empty. Null: the vendor has no such
  // program. Nothing here runs it.
  std::string (*vendor_command)(const Setting& setting, const Qos& want, const std::string& rdma,
                                const std::string& mac) = nullptr;
  std::span<const SettingOp> ops;
  std::span<const SettingId> order = upstream::kOrder;  // the order in which settings are written
  // After MTU or PFC were written, and after carrier-up: mlx5 recomputes thresholds when the same PFC is sent again.
  // PortIo::writable: the settings of the policy that the port has.
  Result<void> (*settle)(const PortIo& io, const Qos& have) = nullptr;
  // The driver's list of FEC modes shows the supported modes, not the configuration: the mode in use is read instead.
  bool fec_in_use = false;
};

// The Op of a row: the driver's own, else the feature's.
const Op& op_of(const Driver& driver, SettingId setting);
// Whether writing the setting may stop traffic on the port of the notes.
bool is_disruptive(const Op& op, SettingId setting, const Notes& notes);
// The settings that Op::reach names, and the setting itself.
Keys keys_reached(const Op& op, SettingId setting);
// The driver's reading, with that of each feature. An answer that was lost (Reading::lost) is an error.
Result<Reading> read_all(const Driver& driver, const PortIo& io, const Keys& keys);
Qos expected_of(const Driver& driver, const Qos& want, const Reading& have);
// Why no port of the driver can have the wanted value, or why it may have no effect; empty: there is no fixed reason.
// For configurations, before any port is read: why_not() gives the same reasons for a port.
std::string why_never(const Driver& driver, const Setting& setting, const Qos& want);
// Why the driver would refuse the write until the host owns DCBX: one sentence with the command. Empty: it would not.
std::string why_firmware_refuses(const Driver& driver, const Setting& setting, const Qos& have,
                                 const std::string& netdev);
// Why the setting is not offered, or cannot have the wanted value; empty: it can.
std::string why_not(const Driver& driver, const Setting& setting, const Qos& want, const Reading& have,
                    const std::string& netdev);
std::string remedy_of(const Driver& driver, const Setting& setting, const Qos& have, const std::string& netdev,
                      int code);

std::span<const Driver* const> drivers();
std::span<const Feature* const> features();
// The driver by the kernel driver of the PCI function, or the RDMA link type of a software device, and the driver's own
// files.
const Driver& driver_for(std::string_view kernel_driver, const Root* root = nullptr, const std::string& netdev = {});

extern const Driver kMlx4, kMlx5, kMlx5Ofed, kBnxt, kBnge, kIce, kI40e, kIonic, kQede, kRxe, kUpstream;
extern const Feature kEthtoolFeature, kPfcWatchdog, kRdmaCm, kOptionalCounters, kMrrs;

}  // namespace fabric
