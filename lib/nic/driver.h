// SPDX-License-Identifier: Apache-2.0
// How each driver reads and writes settings. One that a driver lacks is "unsupported", never a failure of the rest.
#pragma once

#include "base/find.h"
#include "kernel/kernel.h"
#include "kernel/netlink/dcbnl.h"
#include "setting/change.h"
#include "setting/qos.h"

namespace fabric {

// One port as its driver sees it, while it is read or written.
struct PortIo {
  Kernel& kernel;
  std::string netdev;
  std::string rdma{};        // its RDMA device; empty: none
  unsigned port = 1;         // of the RDMA device
  std::string pci{};         // of the function below; empty for software devices
  Keys keys = Keys().set();  // to read, of those that cost a firmware command or a file of their own
  Limits limits{};           // filled while reading
  Keys along{};              // may be written with the one that is, where the kernel takes both in one message
  bool fec_in_use = false;   // Driver::fec_in_use

  [[nodiscard]] bool wants(SettingId setting) const { return keys[index(setting)]; }
  [[nodiscard]] bool has_ethtool() const { return kernel.generic && kernel.ethtool; }
  void not_offered(SettingId setting, std::string why) { limits.reasons[setting] = std::move(why); }
};

// Op::disruptive of a write that stops nothing, as the source of the driver shows.
inline constexpr bool kHarmless = false;

// How to write one setting.
struct Op {
  // Writes the setting of `want` (as Driver::expected gave it), which differs from `have`, the newest reading of the
  // port. Null: not offered by this driver.
  using Write = Result<void>(PortIo& io, const Setting& setting, const Qos& want, const Qos& have);
  Write* write = nullptr;
  // Where the kernel does it: "FILE FUNCTION()", below Driver::source unless it begins with "/". After a semicolon:
  // what the reading does not show. fabric-concepts(7) lists it.
  std::string_view source{};
  // The write stops traffic (link flap, NIC reopen), or breaks what runs (a smaller MTU), or nothing is known of it.
  bool disruptive = true;
  bool none = false;  // an OrNone can be none here
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

// The default driver (generic/upstream.cpp): 802.1Qaz over dcbnl, pause over ethtool, MTU over rtnetlink.
namespace upstream {
Result<Qos> read(PortIo& io);
Qos expected(const Qos& want, const Qos& have, const Limits& limits);
void effect(const Setting& setting, const Qos& want, Qos& have);
std::string impossible(const Setting& setting, const Qos& want, const Qos& have, const Limits& limits);
std::string remedy(const Setting& setting, const Qos& have, const std::string& netdev, int code);
extern const std::array<SettingId, kSettingCount> kOrder;
}  // namespace upstream

struct Driver {
  std::string_view name;                           // ours: "mlx5"
  std::string_view source;                         // the folder of its sources, or their package
  std::array<std::string_view, 2> kernel_names{};  // "mlx5_core"
  // Further evidence, where the name is not enough (OFED's mlx5_core has files of its own); null: it is.
  bool (*evidence)(const Root& root, const std::string& netdev) = nullptr;
  // Settings that the port does not offer stay absent.
  Result<Qos> (*read)(PortIo& io) = upstream::read;
  // `want` as this driver will read back (mlx5 keeps all 64 DSCPs, for example), with "auto" values computed.
  Qos (*expected)(const Qos& want, const Qos& have, const Limits& limits) = upstream::expected;
  // Brings `have` to what will be read after the setting of `want` has been written: a plan sees what a write does to
  // other settings (ice overwrites ETS with the first DSCP), without writing.
  void (*effect)(const Setting& setting, const Qos& want, Qos& have) = upstream::effect;
  // Why this driver cannot show the wanted value whatever is written; empty: it can. Nothing is written then.
  std::string (*impossible)(const Setting& setting, const Qos& want, const Qos& have,
                            const Limits& limits) = upstream::impossible;
  // Why a setting is not offered (`code` 0) or was refused (`code` its errno), and what to do; empty: nothing is known.
  std::string (*remedy)(const Setting& setting, const Qos& have, const std::string& netdev,
                        int code) = upstream::remedy;
  std::span<const SettingOp> ops;
  std::span<const SettingId> order = upstream::kOrder;  // in which settings must be written
  // After MTU or PFC were written, and after carrier-up: mlx5 recomputes thresholds when the same PFC is sent again.
  Result<void> (*settle)(PortIo& io, const Qos& have) = nullptr;
  // Its list of FEC modes shows what the port supports, not its configuration: the mode in use is read instead.
  bool fec_in_use = false;
};

// The Op of a row: the driver's own, else the feature's.
const Op& op_of(const Driver& driver, SettingId setting);
// Whether writing it may stop traffic on the port that `limits` was read from.
bool is_disruptive(const Op& op, SettingId setting, const Limits& limits);
// The driver's, and each feature's.
Result<Qos> read_all(const Driver& driver, PortIo& io);
Qos expected_of(const Driver& driver, const Qos& want, const Qos& have, const Limits& limits);
// Why the setting is not offered, or cannot have the wanted value; empty: it can.
std::string why_not(const Driver& driver, const Setting& setting, const Qos& want, const Qos& have,
                    const Limits& limits, const std::string& netdev);
std::string remedy_of(const Driver& driver, const Setting& setting, const Qos& have, const std::string& netdev,
                      int code);

std::span<const Driver* const> drivers();
std::span<const Feature* const> features();
// By the kernel driver of the PCI function, or the RDMA link type of a software device, and the driver's own files.
const Driver& driver_for(std::string_view kernel_driver, const Root* root = nullptr, const std::string& netdev = {});

extern const Driver kMlx4, kMlx5, kMlx5Ofed, kBnxt, kBnge, kIce, kI40e, kIonic, kQede, kRxe, kUpstream;
extern const Feature kEthtoolFeature, kRdmaCm, kOptionalCounters, kMrrs;

}  // namespace fabric
