// SPDX-License-Identifier: Apache-2.0
// How each driver reads and writes settings. The default is upstream dcbnl; a setting that a driver lacks is
// "unsupported", a value, never a failure of the rest.
#pragma once

#include "kernel/kernel.h"
#include "kernel/netlink/dcbnl.h"
#include "model/change.h"
#include "model/node.h"
#include "model/qos.h"

namespace fabric {

// One port as its driver sees it, while it is read or written.
struct PortIo {
  Kernel& kernel;
  std::string netdev;
  std::string rdma{};  // its RDMA device; empty: none
  unsigned port = 1;   // of the RDMA device
  std::string pci{};   // of the function below; empty for software devices
  // The settings to read: those that cost a firmware command or a file of their own are read only if they are in here.
  Keys keys = Keys().set();
  Limits limits{};  // filled while reading
  // While one setting is written: those that may be written along with it, where the kernel takes both in one message.
  Keys along{};
  bool fec_in_use = false;  // Driver::fec_in_use

  [[nodiscard]] bool wants(SettingId setting) const;
  [[nodiscard]] bool may_write(SettingId setting) const;
};
PortIo port_io(Kernel& kernel, const Port& port);

// Op::disruptive of a write that stops nothing, as the source of the driver shows.
inline constexpr bool kHarmless = false;

// How to write one setting.
struct Op {
  // Writes the setting of `want` (as Driver::expected gave it), which differs from `have`, the newest reading of the
  // port. Null: not offered by this driver.
  using Write = Result<void> (*)(PortIo& io, const Setting& setting, const Qos& want, const Qos& have);
  Write write = nullptr;
  // Where the kernel does it: "FILE FUNCTION()", below the folder Driver::source unless it begins with "/". After a
  // semicolon: what the reading does not show. fabric-concepts(7) lists it.
  std::string_view source{};
  // The write stops traffic on this driver (link flap, NIC reopen), or breaks what runs (a smaller MTU), or nothing is
  // known of it.
  bool disruptive = true;
  // An OrNone can be none here.
  bool none = false;
};
struct SettingOp {
  SettingId setting;
  Op op;
};

// Settings that are written the same way whatever the NIC's driver is (rdma_cm, rings, MRRS): one feature = one file.
struct Feature {
  std::span<const SettingOp> ops;
  // Adds to `out` (and io.limits) what can be read of the wanted keys. Settings that are not offered stay absent.
  void (*read)(PortIo& io, Qos& out);
  // As Driver::expected, impossible and remedy; may be null. `want` is what the driver expects.
  void (*expected)(Qos& want, const Qos& have, const Limits& limits) = nullptr;
  std::string (*impossible)(const Setting& setting, const Qos& want, const Limits& limits) = nullptr;
  std::string (*remedy)(const Setting& setting, int code) = nullptr;
};

struct Driver {
  std::string_view name;                           // ours: "mlx5"
  std::string_view source;                         // the folder of its sources, or their package
  std::span<const std::string_view> kernel_names;  // "mlx5_core"
  // Further evidence that the port is this driver's, where the kernel driver's name is not enough (OFED's mlx5_core has
  // files of its own). Null: the name is enough. Drivers with evidence stand before those without.
  bool (*evidence)(const Root& root, const std::string& netdev) = nullptr;
  // Reads all settings of the port; settings that it does not offer stay absent.
  Result<Qos> (*read)(PortIo& io);
  // `want` as this driver will read back (mlx5 keeps all 64 DSCPs, for example), with "auto" values computed.
  Qos (*expected)(const Qos& want, const Qos& have, const Limits& limits);
  // Brings `have` to what will be read after the setting of `want` has been written: a plan sees what a write does to
  // other settings (ice overwrites ETS with the first DSCP), without writing.
  void (*effect)(const Setting& setting, const Qos& want, Qos& have);
  // Why this driver cannot show the wanted value whatever is written; empty: it can. Nothing is written then.
  std::string (*impossible)(const Setting& setting, const Qos& want, const Qos& have, const Limits& limits);
  // Why a setting is not offered (`code` 0) or was refused (`code` its errno), and what to do; empty: nothing is known.
  std::string (*remedy)(const Setting& setting, const Qos& have, const std::string& netdev, int code);
  std::span<const SettingOp> ops;
  // The order in which settings must be written.
  std::span<const SettingId> order;
  // Called after MTU or PFC were written, and to be called after carrier-up: mlx5 recomputes its thresholds when the
  // same PFC is sent again. May be null.
  Result<void> (*settle)(PortIo& io, const Qos& have) = nullptr;
  // Its list of FEC modes shows what the port supports, not its configuration: the mode in use is read instead.
  bool fec_in_use = false;
};

// The Op of a row: the driver's own, else the feature's.
const Op& op_of(const Driver& driver, SettingId setting);
// Whether writing it may stop traffic on the port that `limits` was read from.
bool is_disruptive(const Op& op, SettingId setting, const Limits& limits);
// The driver's reading and each feature's.
Result<Qos> read_all(const Driver& driver, PortIo& io);
// The driver's expectation, and each feature's of that.
Qos expected_of(const Driver& driver, const Qos& want, const Qos& have, const Limits& limits);
// The driver's word, else the feature's that has the key.
std::string why_impossible(const Driver& driver, const Setting& setting, const Qos& want, const Qos& have,
                           const Limits& limits);
std::string remedy_of(const Driver& driver, const Setting& setting, const Qos& have, const std::string& netdev,
                      int code);

// All drivers; the last one, upstream, takes what no other names.
std::span<const Driver* const> drivers();
std::span<const Feature* const> features();
// Decided from evidence: the kernel driver of the PCI function, or the RDMA link type of a software device, and the
// driver's own files.
const Driver& driver_for(std::string_view kernel_driver, const Root* root = nullptr, const std::string& netdev = {});

// The drivers and the features, one per file of the same name.

extern const Driver kMlx4, kMlx5, kMlx5Ofed, kBnxt, kBnge, kIce, kI40e, kIonic, kQede, kRxe, kUpstream;
extern const Feature kEthtoolFeature, kRdmaCm, kOptionalCounters, kMrrs;

}  // namespace fabric
