// SPDX-License-Identifier: Apache-2.0
// The TLVs of organisations: 802.1Qaz DCBX (802.1Q-2018 annex D), its predecessor CEE ("DCB Capability Exchange
// Protocol Base Specification" 1.01, as i40e_dcb.c of Linux 6.12 reads it), 802.3's and 802.1Q's own.
#include "wire/lldp.h"

namespace fabric::lldp {
namespace {

constexpr uint32_t k8021 = 0x0080c2, k8023 = 0x00120f, kCee = 0x001b21;
constexpr size_t kEtsTables = 4 + 8 + 8;

// Two priorities a byte, the lower one in the upper half.
Eight nibbles(View8 table) {
  Eight out{};
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<uint8_t>(i % 2 == 0 ? u8(table, i / 2) >> 4 : u8(table, i / 2) & 15);
  return out;
}

Eight octets(View8 table) {
  Eight out{};
  for (size_t i = 0; i < out.size(); ++i) out[i] = u8(table, i);
  return out;
}

DcbxEts read_ets(uint8_t flags, View8 tables) {
  const unsigned classes = flags & 7;
  return {(flags & 0x80) != 0, classes == 0 ? 8 : classes, nibbles(tables), octets(tables.subspan(4)),
          octets(tables.subspan(12))};
}

// The recommendation's first byte is reserved.
bool read_ieee_ets(View8 info, bool recommended, Neighbor& neighbor) {
  if (info.size() != 1 + kEtsTables) return false;
  auto& ets = recommended ? neighbor.ets_recommended : neighbor.ets;
  if (!ets) ets = read_ets(recommended ? 0 : u8(info, 0), info.subspan(1));
  return true;
}

bool read_ieee_pfc(View8 info, Neighbor& neighbor) {
  if (info.size() != 2) return false;
  const uint8_t flags = u8(info, 0);
  if (!neighbor.pfc)
    neighbor.pfc = DcbxPfc{(flags & 0x80) != 0, (flags & 0x40) != 0, flags & 15u, PrioSet{u8(info, 1)}};
  return true;
}

bool read_ieee_app(View8 info, Neighbor& neighbor) {
  if (info.empty() || info.size() % 3 != 1) return false;
  if (neighbor.app) return true;
  neighbor.app.emplace();
  for (size_t at = 1; at < info.size(); at += 3)
    neighbor.app->push_back(
        {static_cast<uint8_t>(u8(info, at) & 7), u16(info, at + 1), static_cast<uint8_t>(u8(info, at) >> 5)});
  return true;
}

bool read_8021(uint8_t subtype, View8 info, Neighbor& neighbor) {
  if (subtype >= 9 && subtype <= 12) {
    // IEEE TLVs have precedence over CEE TLVs: a switch that sends both uses the former.
    if (neighbor.dcbx == "CEE") {
      neighbor.ets.reset();
      neighbor.pfc.reset();
      neighbor.app.reset();
    }
    neighbor.dcbx = "IEEE";
  }
  switch (subtype) {
    case 1:
      if (info.size() != 2) return false;
      if (!neighbor.vlan && u16(info, 0) != 0) neighbor.vlan = u16(info, 0);
      return true;
    case 9: return read_ieee_ets(info, false, neighbor);
    case 10: return read_ieee_ets(info, true, neighbor);
    case 11: return read_ieee_pfc(info, neighbor);
    case 12: return read_ieee_app(info, neighbor);
    default: return true;
  }
}

// Feature header: version (2), flags, subtype. Entry: EtherType or port, OUI with a selector of two bits, priorities.
constexpr size_t kCeeHeader = 4, kCeeApp = 6;

bool read_cee_app(View8 table, Neighbor& neighbor) {
  if (table.size() % kCeeApp != 0) return false;
  neighbor.app.emplace();
  for (size_t at = 0; at < table.size(); at += kCeeApp) {
    const uint8_t selector = u8(table, at + 2) & 3, priorities = u8(table, at + 5);
    for (uint8_t prio = 0; prio < kPriorities; ++prio)
      if ((priorities >> prio & 1) != 0)
        neighbor.app->push_back({selector == 0 ? DcbxApp::ethertype : DcbxApp::tcp_or_udp, u16(table, at), prio});
  }
  return true;
}

// A feature that is not enabled is not in use at the sender, whatever its data ("Enable").
bool read_cee_feature(unsigned type, View8 value, Neighbor& neighbor) {
  if (type < 2 || type > 4) return true;  // 1 is DCBX's own control
  if (value.size() < kCeeHeader) return false;
  const bool enabled = (u8(value, 2) & 0x80) != 0, willing = (u8(value, 2) & 0x40) != 0;
  const View8 rest = value.subspan(kCeeHeader);
  if (type == 4) return !enabled || read_cee_app(rest, neighbor);
  if (type == 3) {
    if (rest.size() != 2) return false;
    neighbor.pfc = DcbxPfc{willing, false, u8(rest, 1), PrioSet{enabled ? u8(rest, 0) : uint8_t{0}}};
    return true;
  }
  if (rest.size() != 13) return false;
  if (!enabled) return true;
  neighbor.ets = DcbxEts{willing, u8(rest, 12), nibbles(rest), octets(rest.subspan(4)), {2, 2, 2, 2, 2, 2, 2, 2}};
  return true;
}

bool read_cee(View8 info, Neighbor& neighbor) {
  if (neighbor.dcbx == "IEEE") return true;
  neighbor.dcbx = "CEE";
  bool good = true;
  while (!info.empty()) {
    if (info.size() < 2) return false;
    const uint16_t header = u16(info, 0);
    const size_t length = header & 0x1ff;
    if (info.size() - 2 < length) return false;
    good = read_cee_feature(header >> 9, info.subspan(2, length), neighbor) && good;
    info = info.subspan(2 + length);
  }
  return good;
}

}  // namespace

bool read_organization(uint32_t oui, uint8_t subtype, View8 info, Neighbor& neighbor) {
  if (oui == k8021) return read_8021(subtype, info, neighbor);
  if (oui == kCee && subtype == 2) return read_cee(info, neighbor);
  if (oui != k8023 || subtype != 4) return true;
  if (info.size() != 2) return false;
  if (!neighbor.max_frame && u16(info, 0) != 0) neighbor.max_frame = u16(info, 0);
  return true;
}

}  // namespace fabric::lldp
