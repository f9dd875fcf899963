// SPDX-License-Identifier: Apache-2.0
// The kernel's side of ring sizes, channels and FEC: net/ethtool/{rings,channels,fec}.c of Linux 6.12; and of tunables:
// net/ethtool/ioctl.c. FEC's statistics are of Linux 6.18: net/ethtool/fec.c fec_fill_reply(), fec_put_hist().
#include <linux/ethtool.h>
#include <linux/ethtool_netlink.h>

#include <bit>
#include <utility>

#include "kernel/netlink/newer_uapi.h"
#include "support/sim_nic_sockets.h"

namespace fabric::test {
namespace {

constexpr uint16_t kRingsTxPush = 13;  // ETHTOOL_A_RINGS_TX_PUSH, linux/ethtool_netlink.h of Linux 5.18

constexpr const char* kFecNames[] = {"None", "RS", "BASER", "LLRS"};
constexpr uint8_t kFecBits[] = {ETHTOOL_FEC_OFF, ETHTOOL_FEC_RS, ETHTOOL_FEC_BASER, ETHTOOL_FEC_LLRS};
constexpr uint32_t kFirstFecMode = ETHTOOL_LINK_MODE_FEC_NONE_BIT;

AttrWriter reply(const SimNic& nic, uint8_t command) {
  AttrWriter out = generic_reply(command);
  out.nest(1, AttrWriter().u32(ETHTOOL_A_HEADER_DEV_INDEX, static_cast<uint32_t>(nic.ifindex)));
  return out;
}

Replies one(uint16_t family, const AttrWriter& message) { return std::vector<Message>{{family, message.data()}}; }

void put(AttrWriter& out, const std::optional<SimEthtool::Amount>& amount, uint16_t max, uint16_t now) {
  if (amount) out.u32(max, amount->max).u32(now, amount->now);
}

uint32_t most(const std::optional<SimEthtool::Amount>& amount) { return amount ? amount->max : 0; }
uint32_t have(const std::optional<SimEthtool::Amount>& amount) { return amount ? amount->now : 0; }

uint32_t wanted(const std::vector<Attr>& attributes, uint16_t type, const std::optional<SimEthtool::Amount>& now) {
  const Attr* attribute = find(attributes, type);
  return attribute != nullptr ? attribute->u32().value_or(0) : have(now);
}

// ethnl_set_rings(): what does not change is not asked of the driver, what exceeds the maximum neither.
Replies set_rings(SimNic& nic, const std::vector<Attr>& attributes) {
  const SimEthtool& now = nic.ethtool;
  const uint32_t rx = wanted(attributes, ETHTOOL_A_RINGS_RX, now.ring_rx);
  const uint32_t tx = wanted(attributes, ETHTOOL_A_RINGS_TX, now.ring_tx);
  if (rx == have(now.ring_rx) && tx == have(now.ring_tx)) return done(0);
  if (rx > most(now.ring_rx) || tx > most(now.ring_tx)) return kernel_error(EINVAL);
  return done(call(nic, "setrings", [&] { return nic.set_rings(rx, tx); }));
}

Replies set_channels(SimNic& nic, const std::vector<Attr>& attributes) {
  const uint32_t combined = wanted(attributes, ETHTOOL_A_CHANNELS_COMBINED_COUNT, nic.ethtool.channels);
  if (combined == have(nic.ethtool.channels)) return done(0);
  if (combined == 0 || combined > most(nic.ethtool.channels)) return kernel_error(EINVAL);
  return done(call(nic, "setchannels", [&] { return nic.set_channels(combined); }));
}

// The FEC of the link; the last link's until the new one is trained. ice_get_fecparam() reports "off" without a link.
uint8_t fec_in_use(SimNic& nic) {
  if (!nic.carrier && nic.personality == Personality::ice) return ETHTOOL_FEC_OFF;
  if (!nic.ethtool.fec_before || nic.ethtool.fec_readings == 0) return *nic.ethtool.fec;
  --nic.ethtool.fec_readings;
  return *nic.ethtool.fec_before;
}

uint8_t listed_modes(const SimEthtool& now) {
  if (now.fec_abilities) return *now.fec_abilities;
  return !now.fec_lists_off && now.fec == ETHTOOL_FEC_OFF ? uint8_t{0} : *now.fec;
}

// nla_put_uint(): a small number is a u32.
void put_uint(AttrWriter& out, uint16_t type, uint64_t value) {
  if (value <= UINT32_MAX) out.u32(type, static_cast<uint32_t>(value));
  else out.u64(type, value);
}

// Sums, without counts of lanes. mlx5e_stats_fec_get() has a histogram for RS-FEC and its variant of low latency;
// bnxt_get_fec_stats() has what its firmware counts.
AttrWriter fec_statistics(const SimNic& nic, uint8_t in_use) {
  AttrWriter out;
  out.bytes(ETHTOOL_A_FEC_STAT_PAD, {}).u64(ETHTOOL_A_FEC_STAT_CORRECTED, nic.ethtool.fec_corrected);
  out.bytes(ETHTOOL_A_FEC_STAT_PAD, {}).u64(ETHTOOL_A_FEC_STAT_UNCORR, nic.ethtool.fec_uncorrectable);
  if (nic.personality == Personality::mlx5 && (in_use & (ETHTOOL_FEC_RS | ETHTOOL_FEC_LLRS)) == 0) return out;
  for (const FecBin& bin : nic.ethtool.fec_histogram) {
    AttrWriter nest;
    nest.u32(uapi::kFecHistBinLow, bin.low).u32(uapi::kFecHistBinHigh, bin.high);
    put_uint(nest, uapi::kFecHistBinVal, bin.words);
    out.nest(uapi::kFecStatHist, nest);
  }
  return out;
}

Replies get_fec(SimNic& nic, uint16_t family, const std::vector<Attr>& attributes) {
  const uint8_t in_use = fec_in_use(nic);
  const unsigned listed = listed_modes(nic.ethtool);
  AttrWriter bits;
  for (uint32_t i = 0; i < 4; ++i)
    if ((listed & kFecBits[i]) != 0)
      bits.nest(ETHTOOL_A_BITSET_BITS_BIT, AttrWriter()
                                               .u32(ETHTOOL_A_BITSET_BIT_INDEX, kFirstFecMode + i)
                                               .text(ETHTOOL_A_BITSET_BIT_NAME, kFecNames[i]));
  AttrWriter modes;
  modes.flag(ETHTOOL_A_BITSET_NOMASK)
      .u32(ETHTOOL_A_BITSET_SIZE, __ETHTOOL_LINK_MODE_MASK_NBITS)
      .nest(ETHTOOL_A_BITSET_BITS, bits);
  auto out = reply(nic, ETHTOOL_MSG_FEC_GET_REPLY);
  out.nest(ETHTOOL_A_FEC_MODES, modes).u8(ETHTOOL_A_FEC_AUTO, (listed & ETHTOOL_FEC_AUTO) != 0);
  for (uint32_t i = 0; i < 4; ++i)
    if (in_use == kFecBits[i]) out.u32(ETHTOOL_A_FEC_ACTIVE, kFirstFecMode + i);
  const auto flags = value_of<uint32_t>(parse_nested(attributes, ETHTOOL_A_FEC_HEADER), ETHTOOL_A_HEADER_FLAGS);
  if ((flags.value_or(0) & ETHTOOL_FLAG_STATS) != 0) out.nest(ETHTOOL_A_FEC_STATS, fec_statistics(nic, in_use));
  return one(family, out);
}

// ethnl_set_fec(), with ethnl_update_bitset() for the bitset by names.
Replies set_fec(SimNic& nic, const std::vector<Attr>& attributes) {
  unsigned modes = listed_modes(nic.ethtool);
  if (const Attr* bitset = find(attributes, ETHTOOL_A_FEC_MODES)) {
    const auto members = parse_attributes(bitset->value);
    const Attr* bits = find(members, ETHTOOL_A_BITSET_BITS);
    if (bits == nullptr) return kernel_error(EINVAL);
    const bool list = find(members, ETHTOOL_A_BITSET_NOMASK) != nullptr;
    if (list) modes &= ETHTOOL_FEC_AUTO;
    for (const Attr& each : parse_attributes(bits->value)) {
      const auto bit = parse_attributes(each.value);
      const Attr* name = find(bit, ETHTOOL_A_BITSET_BIT_NAME);
      int known = -1;
      for (int i = 0; i < 4; ++i)
        if (name != nullptr && name->text() == kFecNames[i]) known = i;
      if (known < 0) return kernel_error(EOPNOTSUPP, "bit name not found");
      const bool on = list || find(bit, ETHTOOL_A_BITSET_BIT_VALUE) != nullptr;
      modes = on ? modes | kFecBits[known] : modes & ~unsigned{kFecBits[known]};
    }
  }
  if (const Attr* automatic = find(attributes, ETHTOOL_A_FEC_AUTO))
    modes = automatic->u8() == 1 ? modes | ETHTOOL_FEC_AUTO : modes & ~unsigned{ETHTOOL_FEC_AUTO};
  if (modes == listed_modes(nic.ethtool)) return done(0);
  if (modes == 0) return kernel_error(EINVAL, "no FEC modes set");
  return done(call(nic, "setfec", [&] { return nic.set_fec(static_cast<uint8_t>(modes)); }));
}

class SimTunables final : public ethtool::Tunables {
 public:
  explicit SimTunables(SimKernel& sim) : sim_(sim) {}

  Result<uint16_t> pfc_prevention(const std::string& netdev) override {
    const SimNic* nic = sim_.find(netdev);
    if (nic == nullptr) return kernel_error(ENODEV);
    // mlx4_en_get_tunable() has tx-copybreak alone.
    if (!nic->ethtool.pfc_prevention) return kernel_error(nic->personality == Personality::mlx4 ? EINVAL : EOPNOTSUPP);
    return *nic->ethtool.pfc_prevention;
  }

  Result<void> set_pfc_prevention(const std::string& netdev, uint16_t milliseconds) override {
    SimNic* nic = sim_.find(netdev);
    if (nic == nullptr) return kernel_error(ENODEV);
    if (!nic->ethtool.pfc_prevention) return kernel_error(EOPNOTSUPP);
    const int verdict = call(*nic, "settunable", [&] { return nic->set_pfc_prevention(milliseconds); });
    if (verdict < 0) return kernel_error(-verdict);
    return {};
  }

 private:
  SimKernel& sim_;
};

}  // namespace

std::unique_ptr<ethtool::Tunables> open_sim_tunables(SimKernel& sim) { return std::make_unique<SimTunables>(sim); }

Replies answer_ethtool_settings(SimNic& nic, uint16_t family, uint8_t command, const std::vector<Attr>& attributes) {
  const SimEthtool& now = nic.ethtool;
  const bool rings = command == ETHTOOL_MSG_RINGS_GET || command == ETHTOOL_MSG_RINGS_SET;
  const bool fec = command == ETHTOOL_MSG_FEC_GET || command == ETHTOOL_MSG_FEC_SET;
  bool offered = now.channels.has_value();
  if (rings) offered = now.ring_rx || now.ring_tx;
  else if (fec) offered = now.fec.has_value();
  if (!offered) return kernel_error(EOPNOTSUPP);
  if (command == ETHTOOL_MSG_RINGS_SET) return set_rings(nic, attributes);
  if (command == ETHTOOL_MSG_CHANNELS_SET) return set_channels(nic, attributes);
  if (command == ETHTOOL_MSG_FEC_SET) return set_fec(nic, attributes);
  if (command == ETHTOOL_MSG_FEC_GET) return get_fec(nic, family, attributes);
  auto out =
      reply(nic, command == ETHTOOL_MSG_RINGS_GET ? ETHTOOL_MSG_RINGS_GET_REPLY : ETHTOOL_MSG_CHANNELS_GET_REPLY);
  if (rings) {
    put(out, now.ring_rx, ETHTOOL_A_RINGS_RX_MAX, ETHTOOL_A_RINGS_RX);
    put(out, now.ring_tx, ETHTOOL_A_RINGS_TX_MAX, ETHTOOL_A_RINGS_TX);
    out.u8(kRingsTxPush, 0);
  } else {
    put(out, now.channels, ETHTOOL_A_CHANNELS_COMBINED_MAX, ETHTOOL_A_CHANNELS_COMBINED_COUNT);
  }
  return one(family, out);
}

int SimNic::set_rings(uint32_t rx, uint32_t tx) {
  log.push_back("setrings rx=" + std::to_string(rx) + " tx=" + std::to_string(tx));
  auto round = [this](uint32_t size) {
    if (ethtool.rounding == SimEthtool::Rounding::power_of_two) return std::bit_ceil(size);
    return ethtool.rounding == SimEthtool::Rounding::up_to_32 ? (size + 31) / 32 * 32 : size;
  };
  if ((ethtool.ring_rx && rx < ethtool.ring_min) || (ethtool.ring_tx && tx < ethtool.ring_min)) return -EINVAL;
  if (ethtool.ring_rx) ethtool.ring_rx->now = round(rx);
  if (ethtool.ring_tx) ethtool.ring_tx->now = round(tx);
  return 0;
}

int SimNic::set_channels(uint32_t combined) {
  log.push_back("setchannels " + std::to_string(combined));
  ethtool.channels->now = combined;
  return 0;
}

// mlx5e_set_pfc_prevention_tout(); bnxt_set_tunable(), whose firmware reports the most, with "auto" as the firmware
// chooses.
int SimNic::set_pfc_prevention(uint16_t milliseconds) {
  constexpr uint16_t kAuto = 0xffff;  // PFC_STORM_PREVENTION_AUTO
  constexpr uint16_t kMostOfBnxt = 1000;
  log.push_back("settunable pfc-prevention-tout " + std::to_string(milliseconds));
  const uint16_t wanted = milliseconds == kAuto ? uint16_t{100} : milliseconds;
  if (personality == Personality::mlx5 && wanted != 0 && (wanted < 80 || wanted > 8000)) return -EINVAL;
  if (personality == Personality::bnxt && wanted > kMostOfBnxt) return -EINVAL;
  ethtool.pfc_prevention = wanted;
  return 0;
}

int SimNic::set_fec(uint8_t modes) {
  log.push_back("setfec " + to_text(Fec{modes}));
  if ((modes & ETHTOOL_FEC_AUTO) != 0) modes = static_cast<uint8_t>(modes | ethtool.fec_chosen);
  ethtool.fec_before = std::exchange(ethtool.fec, modes);
  return 0;
}

}  // namespace fabric::test
