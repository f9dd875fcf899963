// SPDX-License-Identifier: Apache-2.0
#include "wire/lldp.h"

#include <arpa/inet.h>

#include "base/parse.h"

namespace fabric::lldp {
namespace {

constexpr uint16_t kEtherType = 0x88cc, kVlanTag = 0x8100;
constexpr size_t kAddresses = 12;  // destination and source

enum Type : uint8_t {
  kEnd,
  kChassisId,
  kPortId,
  kTtl,
  kPortDescription,
  kSystemName,
  kSystemDescription,
  kCapabilities,
  kManagement,
  kOrganization = 127
};

Error bad(size_t at, const std::string& what) {
  return error(EBADMSG, "LLDP frame: byte " + std::to_string(at) + ": " + what);
}

// Some pad with NULs.
std::string printable(View8 bytes) {
  std::string_view in = as_text(bytes);
  while (in.ends_with('\0')) in.remove_suffix(1);
  return clean_text(in);
}

// IANA address family and address; empty when it is of another kind.
std::string address_text(View8 value) {
  char text[INET6_ADDRSTRLEN];
  const bool v4 = value.size() == 5 && u8(value, 0) == 1, v6 = value.size() == 17 && u8(value, 0) == 2;
  if (v4 || v6) return ::inet_ntop(v4 ? AF_INET : AF_INET6, value.data() + 1, text, sizeof text) != nullptr ? text : "";
  return value.size() == 7 && u8(value, 0) == 6 ? hex_digits(as_text(value.subspan(1)), ":") : "";
}

std::string id_text(bool is_mac, bool is_address, View8 id) {
  if (is_mac && id.size() == 6) return hex_digits(as_text(id), ":");
  if (is_address)
    if (std::string address = address_text(id); !address.empty()) return address;
  return printable(id);
}

// Length, family, address, and an interface number and OID that are not used.
bool read_management(View8 value, Neighbor& neighbor) {
  if (value.size() < 9 || u8(value, 0) < 2 || value.size() < size_t{1} + u8(value, 0)) return false;
  std::string address = address_text(value.subspan(1, u8(value, 0)));
  if (!address.empty() && neighbor.management.size() < kMaxAddresses) neighbor.management.push_back(std::move(address));
  return true;
}

struct Tlv {
  uint8_t type = kEnd;
  size_t at = 0;  // of its header, in the frame
  View8 value;
};

// The TLV at `at`, which becomes the place behind it. Nothing more: type kEnd.
Result<Tlv> next(View8 frame, size_t& at) {
  if (at == frame.size()) return Tlv{kEnd, at, {}};
  if (frame.size() - at < 2) return bad(at, "half a TLV header");
  const uint16_t header = u16(frame, at);
  const size_t length = header & 0x1ff, left = frame.size() - at - 2;
  if (left < length)
    return bad(at, "a TLV of " + std::to_string(length) + " bytes where " + std::to_string(left) + " are left");
  const Tlv tlv{static_cast<uint8_t>(header >> 9), at, frame.subspan(at + 2, length)};
  at += 2 + length;
  return tlv;
}

Result<void> read_first_three(View8 frame, size_t& at, Neighbor& neighbor) {
  static constexpr const char* kNames[] = {"", "chassis id", "port id", "time to live"};
  for (uint8_t type = kChassisId; type <= kTtl; ++type) {
    auto tlv = next(frame, at);
    if (!tlv) return tlv.error();
    const size_t size = tlv->value.size();
    if (tlv->type != type)
      return bad(tlv->at, "no " + std::string(kNames[type]) + " but a TLV of type " + std::to_string(tlv->type));
    // 802.1AB 8.5: an id has its subtype and 1 to 255 bytes.
    if (size < 2 || (type != kTtl && size > 256))
      return bad(tlv->at, std::string(kNames[type]) + " of " + std::to_string(size) + " bytes");
    if (type == kTtl) neighbor.ttl = u16(tlv->value, 0);
    else if (type == kChassisId) neighbor.chassis_id = chassis_id_text(u8(tlv->value, 0), tlv->value.subspan(1));
    else neighbor.port_id = port_id_text(u8(tlv->value, 0), tlv->value.subspan(1));
  }
  return {};
}

void read_text(View8 value, std::string& out) {
  if (out.empty()) out = printable(value);
}

// False: it has the wrong length.
bool read_optional(const Tlv& tlv, Neighbor& neighbor) {
  switch (tlv.type) {
    case kPortDescription: read_text(tlv.value, neighbor.port_description); return true;
    case kSystemName: read_text(tlv.value, neighbor.system_name); return true;
    case kSystemDescription: read_text(tlv.value, neighbor.system_description); return true;
    case kManagement: return read_management(tlv.value, neighbor);
    case kOrganization: break;
    default: return true;
  }
  if (tlv.value.size() < 4) return false;
  const uint32_t oui = static_cast<uint32_t>(u8(tlv.value, 0)) << 16 | u16(tlv.value, 1);
  return read_organization(oui, u8(tlv.value, 3), tlv.value.subspan(4), neighbor);
}

Result<size_t> payload_of(View8 frame) {
  for (size_t at = kAddresses; at + 2 <= frame.size(); at += 4) {
    const uint16_t type = u16(frame, at);
    if (type == kEtherType) return at + 2;
    if (type != kVlanTag || at > kAddresses) return bad(at, "its EtherType is not LLDP's");
  }
  return bad(frame.size(), "ends within its Ethernet header");
}

}  // namespace

std::string chassis_id_text(uint8_t subtype, View8 id) { return id_text(subtype == 4, subtype == 5, id); }
std::string port_id_text(uint8_t subtype, View8 id) { return id_text(subtype == 3, subtype == 4, id); }

Result<Neighbor> parse_frame(View8 frame) {
  const auto payload = payload_of(frame);
  if (!payload) return payload.error();
  size_t at = *payload;
  Neighbor neighbor;
  if (auto read = read_first_three(frame, at, neighbor); !read) return read.error();
  if (neighbor.ttl == 0) return neighbor;  // a shutdown frame has no more (802.1AB 9.1.2); the rest is ignored
  for (;;) {
    auto tlv = next(frame, at);
    if (!tlv) return tlv.error();
    if (tlv->type == kEnd) return neighbor;
    if (!read_optional(*tlv, neighbor) && neighbor.malformed.size() < kMaxMalformed)
      neighbor.malformed.push_back("byte " + std::to_string(tlv->at) + ": TLV of type " + std::to_string(tlv->type) +
                                   " with " + std::to_string(tlv->value.size()) + " bytes");
  }
}

}  // namespace fabric::lldp
