// SPDX-License-Identifier: Apache-2.0
// Decodes LLDP frames (IEEE 802.1AB-2016). The bytes come from the network, so every length is checked.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "wire/neighbor.h"

namespace fabric::lldp {

// Destinations that a bridge does not forward, nearest first (802.1Q table 8-1): nearest bridge, nearest non-TPMR
// bridge, nearest customer bridge.
inline constexpr std::array<std::array<uint8_t, 6>, 3> kDestinations{
    {{0x01, 0x80, 0xc2, 0, 0, 0x0e}, {0x01, 0x80, 0xc2, 0, 0, 0x03}, {0x01, 0x80, 0xc2, 0, 0, 0}}};
inline constexpr uint16_t kEtherType = 0x88cc;
inline constexpr size_t kMaxFrame = 9216;  // larger than any jumbo frame
inline constexpr size_t kMaxAddresses = 8, kMaxMalformed = 8;

// Decodes a whole Ethernet frame, with or without a VLAN tag. The caller adds netdev, source and times. Uses the first
// of duplicate TLVs, skips unknown TLVs, and lists TLVs of the wrong length in `malformed`. An Error (EBADMSG) has the
// offset of the first invalid byte: another EtherType, a TLV that exceeds the frame, or a frame that does not begin
// with chassis id, port id and time to live. Texts are printable UTF-8.
Result<Neighbor> parse_frame(View8 frame);

// The text of a chassis id or port id; MAC and network addresses in their usual notation. Subtypes: 802.1AB tables 8-2
// and 8-3.
std::string chassis_id_text(uint8_t subtype, View8 id);
std::string port_id_text(uint8_t subtype, View8 id);

// Decodes a TLV of an organization and ignores unknown ones. Knows 802.1 (00-80-C2): port VLAN 1, ETS configuration 9
// and recommendation 10, PFC 11, application priority 12 (802.1Q-2018 annex D); 802.3 (00-12-0F): maximum frame size 4;
// and CEE DCBX (00-1B-21): 2. Returns false if a known TLV has the wrong length.
bool read_organization(uint32_t oui, uint8_t subtype, View8 info, Neighbor& neighbor);

}  // namespace fabric::lldp
