// SPDX-License-Identifier: Apache-2.0
#include "nic/driver.h"

#include <linux/ethtool.h>

#include <bit>

namespace fabric {
namespace {

// Drivers with evidence precede those without; the last one is for kernel drivers that no other names.
constexpr std::array kDrivers{&kMlx5Ofed, &kMlx5,  &kMlx4, &kBnxt, &kBnge,    &kIce,
                              &kI40e,     &kIonic, &kQede, &kRxe,  &kUpstream};
constexpr std::array kFeatures{&kEthtoolFeature, &kPfcWatchdog, &kRdmaCm, &kOptionalCounters, &kMrrs};

const Op* find(std::span<const SettingOp> ops, SettingId setting) {
  const SettingOp* row = find_where(ops, [=](const SettingOp& each) { return each.setting == setting; });
  if (row == nullptr) return nullptr;
  return &row->op;
}

const Feature* feature_of(SettingId setting) {
  for (const Feature* feature : kFeatures)
    if (find(feature->ops, setting) != nullptr) return feature;
  return nullptr;
}

}  // namespace

const Op& op_of(const Driver& driver, SettingId setting) {
  static constexpr Op kNone{};
  if (const Op* own = find(driver.ops, setting)) return *own;
  const Feature* feature = feature_of(setting);
  if (feature == nullptr) return kNone;
  return *find(feature->ops, setting);
}

bool is_disruptive(const Op& op, SettingId setting, const Notes& notes) {
  return op.write != nullptr && op.disruptive && !has_key(notes.harmless, setting);
}

Keys keys_reached(const Op& op, SettingId setting) {
  switch (op.reach) {
    case Reach::everything: return Keys().set();
    case Reach::netdev: return (keys_in(SettingGroup::dcb) | keys_in(SettingGroup::netdev)).set(index(setting));
    case Reach::itself: return Keys().set(index(setting));
  }
  return Keys().set();
}

Result<Reading> read_all(const Driver& driver, const PortIo& io, const Keys& keys) {
  auto out = driver.read(io, keys);
  if (!out) return out;
  for (const Feature* feature : kFeatures) feature->read(io, keys, *out);
  if (out->lost) return *out->lost;
  return out;
}

Qos expected_of(const Driver& driver, const Qos& want, const Reading& have) {
  Qos out = driver.expected(want, have);
  for (const Feature* feature : kFeatures)
    if (feature->expected != nullptr) feature->expected(out, have);
  return out;
}

std::string remedy_of(const Driver& driver, const Setting& setting, const Qos& have, const std::string& netdev,
                      int code) {
  const Feature* feature = feature_of(setting.id);
  if (feature != nullptr && feature->remedy != nullptr && find(driver.ops, setting.id) == nullptr)
    if (std::string text = feature->remedy(setting, code); !text.empty()) return text;
  return driver.remedy(setting, have, netdev, code);
}

namespace {

// The reasons of why_never() for which nothing is written.
std::string fixed_limit(const Driver& driver, const Setting& setting, const Qos& want) {
  const bool or_none = std::holds_alternative<std::optional<OrNone> Qos::*>(setting.member);
  const Op& op = op_of(driver, setting.id);
  if (op.write != nullptr && or_none && value_text(setting, want) == "none" && !op.none)
    return "this driver always has a value here: set a number, or leave the setting out";
  if (setting.id == SettingId::fec && driver.fec_in_use &&
      ((want.fec->bits & ETHTOOL_FEC_AUTO) != 0 || !std::has_single_bit(want.fec->bits)))
    return "this driver reports only the mode in use, not the configured modes: set one mode, or leave fec out";
  return driver.never(setting, want);
}

}  // namespace

std::string why_never(const Driver& driver, const Setting& setting, const Qos& want) {
  if (std::string why = fixed_limit(driver, setting, want); !why.empty()) return why;
  return driver.doubt(setting, want);
}

// ice_dcbnl_ieee_setpfc(), i40e_dcbnl_ieee_setpfc(), bnxt_dcbnl_ieee_setpfc() and their like of Linux 6.12 answer
// EINVAL unless the mode of DCBX is HOST, and the first two do not change that mode while the firmware's agent runs.
// qede takes the values as an offer of its firmware; mlx5 applies them.
std::string why_firmware_refuses(const Driver& driver, const Setting& setting, const Qos& have,
                                 const std::string& netdev) {
  const bool refuses = &driver == &kIce || &driver == &kI40e || &driver == &kBnxt;
  if (!refuses || setting.group != SettingGroup::dcb || have.dcbx != Dcbx::firmware) return {};
  if (setting.id == SettingId::dcbx && have.fw_lldp != true) return {};
  return driver.remedy(setting, have, netdev, EINVAL);
}

std::string why_not(const Driver& driver, const Setting& setting, const Qos& want, const Reading& have,
                    const std::string& netdev) {
  const Op& op = op_of(driver, setting.id);
  if (op.write == nullptr || !has_value(setting, have.values)) {
    if (const auto* reason = find_in(have.notes.reasons, setting.id)) return *reason;
    const std::string why = remedy_of(driver, setting, have.values, netdev, 0);
    if (why.empty()) return "the driver does not offer it";
    return why;
  }
  const uint32_t max_mtu = have.capacity.max_mtu.value_or(0);  // 0: the driver does not report it
  if (setting.id == SettingId::mtu && max_mtu != 0 && *want.mtu > max_mtu)
    return "the netdev's largest MTU is " + std::to_string(max_mtu) + " bytes";
  if (std::string why = fixed_limit(driver, setting, want); !why.empty()) return why;
  if (std::string why = driver.impossible(setting, want, have); !why.empty()) return why;
  const Feature* feature = feature_of(setting.id);
  if (feature == nullptr || feature->impossible == nullptr) return {};
  return feature->impossible(setting, want, have);
}

std::span<const Driver* const> drivers() { return kDrivers; }
std::span<const Feature* const> features() { return kFeatures; }

const Driver& driver_for(std::string_view kernel_driver, const Root* root, const std::string& netdev) {
  for (const Driver* driver : kDrivers)
    if (!kernel_driver.empty() && contains(driver->kernel_names, kernel_driver) &&
        (driver->evidence == nullptr || (root != nullptr && !netdev.empty() && driver->evidence(*root, netdev))))
      return *driver;
  return kUpstream;
}

}  // namespace fabric
