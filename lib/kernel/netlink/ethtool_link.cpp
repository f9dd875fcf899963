// SPDX-License-Identifier: Apache-2.0
#include "kernel/netlink/ethtool_link.h"

#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include <algorithm>

#include "base/find.h"
#include "kernel/netlink/newer_uapi.h"

namespace fabric::ethtool {
namespace {

// Link down reasons: enum ethtool_link_ext_state and its substates (linux/ethtool.h), in the words of `ethtool`
// (ethtool 6.11, netlink/settings.c). Substates count from 1.
struct Reason {
  uint8_t state;
  std::string name;
  std::vector<std::string> details{};
};

const Reason kReasons[] = {
    {ETHTOOL_LINK_EXT_STATE_AUTONEG,
     "Autoneg",
     {"No partner detected", "Ack not received", "Next page exchange failed", "No partner detected during force mode",
      "FEC mismatch during override", "No HCD"}},
    {ETHTOOL_LINK_EXT_STATE_LINK_TRAINING_FAILURE,
     "Link training failure",
     {"KR frame lock not acquired", "KR link inhibit timeout", "KR Link partner did not set receiver ready",
      "Remote side is not ready yet"}},
    {ETHTOOL_LINK_EXT_STATE_LINK_LOGICAL_MISMATCH,
     "Logical mismatch",
     {"PCS did not acquire block lock", "PCS did not acquire AM lock", "PCS did not get align_status",
      "FC FEC is not locked", "RS FEC is not locked"}},
    {ETHTOOL_LINK_EXT_STATE_BAD_SIGNAL_INTEGRITY,
     "Bad signal integrity",
     {"Large number of physical errors", "Unsupported rate", "Serdes reference clock lost", "Serdes ALOS"}},
    {ETHTOOL_LINK_EXT_STATE_NO_CABLE, "No cable"},
    {ETHTOOL_LINK_EXT_STATE_CABLE_ISSUE, "Cable issue", {"Unsupported cable", "Cable test failure"}},
    {ETHTOOL_LINK_EXT_STATE_EEPROM_ISSUE, "EEPROM issue"},
    {ETHTOOL_LINK_EXT_STATE_CALIBRATION_FAILURE, "Calibration failure"},
    {ETHTOOL_LINK_EXT_STATE_POWER_BUDGET_EXCEEDED, "Power budget exceeded"},
    {ETHTOOL_LINK_EXT_STATE_OVERHEAT, "Overheat"},
    {uapi::kLinkExtStateModule, "Module", {"CMIS module is not in ModuleReady state"}},
    {uapi::kLinkExtStateOtpSpeedViolation, "OTP speed violation"},
    {uapi::kLinkExtStateBmcRequestDown, "BMC request down"},
};

// An array of u64: the sum, then one number for each lane if the driver counts lanes (fec.c: fec_stats_recalc).
FecCount fec_count(const std::vector<Attr>& statistics, uint16_t type) {
  FecCount out;
  const Attr* counts = find(statistics, type);
  if (counts == nullptr) return out;
  for (size_t at = 0; at + sizeof(uint64_t) <= counts->value.size(); at += sizeof(uint64_t)) {
    uint64_t count;
    std::memcpy(&count, counts->value.data() + at, sizeof count);
    if (at == 0) out.total = count;
    else out.lanes.push_back(count);
  }
  return out;
}

// fec_put_hist() of net/ethtool/fec.c, Linux 6.18: one nest for each bin; nla_put_uint() makes a small count a u32.
std::vector<FecBin> fec_histogram(const std::vector<Attr>& statistics) {
  std::vector<FecBin> out;
  for (const Attr& nest : statistics) {
    if (nest.type != uapi::kFecStatHist) continue;
    const auto bin = parse_attributes(nest.value);
    const auto low = value_of<uint32_t>(bin, uapi::kFecHistBinLow),
               high = value_of<uint32_t>(bin, uapi::kFecHistBinHigh);
    auto words = value_of<uint64_t>(bin, uapi::kFecHistBinVal);
    if (!words) words = value_of<uint32_t>(bin, uapi::kFecHistBinVal);
    if (low && high && words && *low <= *high) out.push_back({*low, *high, *words});
  }
  return out;
}

}  // namespace

LinkStatus parse_link_status(View8 payload) {
  const auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  LinkStatus out;
  if (const auto up = value_of<uint8_t>(attributes, ETHTOOL_A_LINKSTATE_LINK)) out.up = *up != 0;
  out.downs = value_of<uint32_t>(attributes, uapi::kLinkStateExtDownCount);
  const auto state = value_of<uint8_t>(attributes, ETHTOOL_A_LINKSTATE_EXT_STATE),
             substate = value_of<uint8_t>(attributes, ETHTOOL_A_LINKSTATE_EXT_SUBSTATE);
  if (!state) return out;
  out.reason = "reason " + std::to_string(*state);  // newer than this list
  if (substate) out.detail = "detail " + std::to_string(*substate);
  for (const Reason& row : kReasons) {
    if (row.state != *state) continue;
    out.reason = row.name;
    if (substate && *substate >= 1 && *substate <= row.details.size()) out.detail = row.details[*substate - 1U];
  }
  return out;
}

Result<LinkStatus> get_link_status(Netlink& generic, const Family& family, const std::string& netdev) {
  constexpr const char* kAct = "read link state";
  auto status = get(generic, family, ETHTOOL_MSG_LINKSTATE_GET, netdev, kAct, parse_link_status, ETHTOOL_FLAG_STATS);
  if (status || (status.error().code != EOPNOTSUPP && status.error().code != EINVAL)) return status;
  return get(generic, family, ETHTOOL_MSG_LINKSTATE_GET, netdev, kAct, parse_link_status);
}

FecStatus parse_fec_status(View8 payload) {
  const auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  FecStatus out;
  // A link mode bit (enum ethtool_link_mode_bit_indices).
  if (const auto mode = value_of<uint32_t>(attributes, ETHTOOL_A_FEC_ACTIVE)) switch (*mode) {
      case ETHTOOL_LINK_MODE_FEC_NONE_BIT: out.active = FecCode::off; break;
      case ETHTOOL_LINK_MODE_FEC_RS_BIT: out.active = FecCode::rs; break;
      case ETHTOOL_LINK_MODE_FEC_BASER_BIT: out.active = FecCode::baser; break;
      case ETHTOOL_LINK_MODE_FEC_LLRS_BIT: out.active = FecCode::llrs; break;
      default: out.active = FecCode::other, out.link_mode = *mode;
    }
  if (const auto on = value_of<uint8_t>(attributes, ETHTOOL_A_FEC_AUTO)) out.automatic = *on != 0;
  const auto statistics = parse_nested(attributes, ETHTOOL_A_FEC_STATS);
  out.corrected_blocks = fec_count(statistics, ETHTOOL_A_FEC_STAT_CORRECTED);
  out.uncorrectable_blocks = fec_count(statistics, ETHTOOL_A_FEC_STAT_UNCORR);
  out.corrected_bits = fec_count(statistics, ETHTOOL_A_FEC_STAT_CORR_BITS);
  out.histogram = fec_histogram(statistics);
  return out;
}

Result<FecStatus> get_fec_status(Netlink& generic, const Family& family, const std::string& netdev) {
  return get(generic, family, ETHTOOL_MSG_FEC_GET, netdev, "read FEC", parse_fec_status, ETHTOOL_FLAG_STATS);
}

Result<Bytes> parse_module_page(View8 payload) {
  const auto attributes = parse_attributes(payload, sizeof(genlmsghdr));
  const Attr* data = find(attributes, ETHTOOL_A_MODULE_EEPROM_DATA);
  if (data == nullptr || data->value.empty()) return error(EBADMSG, "module memory: no data");
  return Bytes(data->value.begin(), data->value.end());
}

namespace {

// ETHTOOL_MSG_MODULE_EEPROM_GET: one read over I2C by the firmware, some milliseconds. Needs CAP_NET_ADMIN (EPERM).
Result<Bytes> get_module_page(Netlink& generic, const Family& family, const std::string& netdev,
                              const eeprom::PageRequest& page) {
  auto message = request(ETHTOOL_MSG_MODULE_EEPROM_GET, netdev);
  message.u32(ETHTOOL_A_MODULE_EEPROM_OFFSET, page.offset)
      .u32(ETHTOOL_A_MODULE_EEPROM_LENGTH, page.length)
      .u8(ETHTOOL_A_MODULE_EEPROM_PAGE, page.page)
      .u8(ETHTOOL_A_MODULE_EEPROM_BANK, page.bank)
      .u8(ETHTOOL_A_MODULE_EEPROM_I2C_ADDRESS, page.i2c_address);
  return ask(generic, family.id, family.id, message, netdev + ": read module memory", parse_module_page);
}

}  // namespace

Result<Transceiver> ModuleReader::read(Netlink& generic, const Family& family, const std::string& netdev) {
  KnownModule known = std::move(known_[netdev]);
  known_.erase(netdev);  // stored again only after success: the module may have been exchanged in between
  KnownModule now;
  std::optional<Error> failure;  // of the first page
  const auto read_page = [&](const eeprom::PageRequest& request) -> Bytes {
    const auto* fixed = find_where(known.fixed, [&](const eeprom::Page& page) { return page.request == request; });
    if (fixed != nullptr && now.identity == known.identity) {
      now.fixed.push_back(*fixed);
      return fixed->data;
    }
    auto data = get_module_page(generic, family, netdev, request);
    const bool is_first = request == eeprom::kFirstPage;
    if (!data && is_first) failure = data.error();
    if (!data) return {};
    if (request.page == 0 && !is_first) now.identity = *data;
    // A page is stored only if it is complete: mlx5 returns the part that it had read when I2C failed (Linux 6.12,
    // en_ethtool.c), and a module that is still starting returns the same byte everywhere.
    const bool is_whole = data->size() == request.length &&
                          std::ranges::any_of(*data, [&](std::byte each) { return each != data->front(); });
    if (request.fixed && is_whole) now.fixed.push_back({request, *data});
    return std::move(data).value();
  };
  const auto pages = eeprom::read_pages(read_page);
  if (failure) return *failure;
  auto module = decode_(pages);
  if (!module) return error_about(netdev + ": read module", module.error());
  if (!now.identity.empty() && module->bad_checksums.empty()) known_[netdev] = std::move(now);
  return module;
}

}  // namespace fabric::ethtool
