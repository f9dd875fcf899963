// SPDX-License-Identifier: Apache-2.0
// LLDP frames (IEEE 802.1AB-2016): what a neighbor says of itself. Bytes of strangers: every length is checked.
#pragma once

#include "base/bytes.h"
#include "base/result.h"
#include "wire/neighbor.h"

namespace fabric::lldp {

// Destinations that a bridge does not forward, nearest first (802.1Q table 8-1): nearest bridge, nearest non-TPMR
// bridge, nearest customer bridge.
inline constexpr std::array<std::array<uint8_t, 6>, 3> kDestinations{
    {{0x01, 0x80, 0xc2, 0, 0, 0x0e}, {0x01, 0x80, 0xc2, 0, 0, 0x03}, {0x01, 0x80, 0xc2, 0, 0, 0}}};
inline constexpr size_t kMaxFrame = 9216;  // larger than any jumbo frame
inline constexpr size_t kMaxAddresses = 8, kMaxMalformed = 8;

// Decodes a whole Ethernet frame (a VLAN tag is skipped); the caller adds netdev, source and times. The first of
// duplicate TLVs counts; unknown TLVs are skipped; a TLV of the wrong length is listed in `malformed` and skipped. An
// Error (EBADMSG) has the offset of the first bad byte: another EtherType, a TLV longer than the rest, or a frame that
// does not begin with chassis id, port id and time to live. Texts are printable UTF-8.
Result<Neighbor> parse_frame(View8 frame);

// Chassis id, port id -> text: MAC and network addresses as people write them. Subtypes of 802.1AB tables 8-2 and 8-3.
std::string chassis_id_text(uint8_t subtype, View8 id);
std::string port_id_text(uint8_t subtype, View8 id);

// Adds what an organization's TLV says, as far as it is known here: of 802.1 (00-80-C2) port VLAN 1, ETS configuration
// 9 and recommendation 10, PFC 11, application priority 12 (802.1Q-2018 annex D); of 802.3 (00-12-0F) maximum frame
// size 4; CEE DCBX (00-1B-21) 2. Others are left alone. False: it is one of these and has the wrong length.
bool read_organization(uint32_t oui, uint8_t subtype, View8 info, Neighbor& neighbor);

}  // namespace fabric::lldp
