// SPDX-License-Identifier: Apache-2.0
#include "wire/lldp.h"

#include <arpa/inet.h>

#include "base/parse.h"

namespace fabric::lldp {
namespace {

constexpr uint16_t kVlanTag = 0x8100;
constexpr size_t kAddresses = 12;  // destination and source

// TLVs of 802.1AB table 8-1.
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
// A frame begins with these three, in this order.
constexpr std::string_view kMandatory[]{"chassis id", "port id", "time to live"};

// TLVs of organizations: OUI and subtype.
enum Organization : uint32_t {
  k8021PortVlan = 0x0080c201,
  k8021EtsConfiguration = 0x0080c209,
  k8021EtsRecommendation = 0x0080c20a,
  k8021Pfc = 0x0080c20b,
  k8021Application = 0x0080c20c,
  k8023MaxFrame = 0x00120f04,
  kCeeDcbx = 0x001b2102
};

// Sub-TLVs of CEE DCBX.
enum CeeFeature : uint8_t { kCeeControl = 1, kCeePriorityGroups = 2, kCeePfc = 3, kCeeApplication = 4 };

uint8_t u8(View8 bytes, size_t at) { return static_cast<uint8_t>(bytes[at]); }
uint16_t u16(View8 bytes, size_t at) { return static_cast<uint16_t>(u8(bytes, at) << 8 | u8(bytes, at + 1)); }

Error invalid(size_t at, const std::string& what) {
  return error(EBADMSG, "LLDP frame: byte " + std::to_string(at) + ": " + what);
}

// Removes the NULs with which some devices pad texts.
std::string printable(View8 bytes) {
  std::string_view in = as_text(bytes);
  while (in.ends_with('\0')) in.remove_suffix(1);
  return clean_text(in);
}

// The text of an IANA address family and an address; empty for other families.
std::string address_text(View8 value) {
  if (value.empty()) return {};
  const View8 address = value.subspan(1);
  char text[INET6_ADDRSTRLEN] = "";
  switch (u8(value, 0)) {
    case 1:
      if (address.size() == 4) ::inet_ntop(AF_INET, address.data(), text, sizeof text);
      return text;
    case 2:
      if (address.size() == 16) ::inet_ntop(AF_INET6, address.data(), text, sizeof text);
      return text;
    case 6:
      if (address.size() == 6) return hex_digits(as_text(address), ":");
      return {};
    default: return {};
  }
}

std::string id_text(bool is_mac, bool is_address, View8 id) {
  if (is_mac && id.size() == 6) return hex_digits(as_text(id), ":");
  std::string address;
  if (is_address) address = address_text(id);
  if (address.empty()) return printable(id);
  return address;
}

// The tables of ETS: eight classes in four bytes (two priorities per byte, the lower one in the upper half), and eight
// percentages or algorithms, one per byte.
Eight nibbles(View8 table) {
  Eight out{};
  for (size_t i = 0; i < out.size(); i += 2) {
    out[i] = static_cast<uint8_t>(u8(table, i / 2) >> 4);
    out[i + 1] = static_cast<uint8_t>(u8(table, i / 2) & 15);
  }
  return out;
}

Eight octets(View8 table) {
  Eight out{};
  for (size_t i = 0; i < out.size(); ++i) out[i] = u8(table, i);
  return out;
}

// Decodes CEE, the predecessor of 802.1Qaz ("DCB Capability Exchange Protocol Base Specification" 1.01, and i40e_dcb.c
// of Linux 6.12). Returns false if a part has the wrong length.
bool read_cee(View8 info, Neighbor& neighbor) {
  constexpr size_t kHeader = 4;          // of a feature: version (2), flags, subtype
  constexpr size_t kApplication = 6;     // EtherType or port (2), OUI with a selector of two bits (3), priorities
  constexpr size_t kGroups = 4 + 8 + 1;  // group of each priority, percentages, number of classes
  bool is_valid = true;
  while (!info.empty()) {
    if (info.size() < 2) return false;
    const unsigned type = u16(info, 0) >> 9;
    const size_t length = u16(info, 0) & 0x1ff;
    if (info.size() - 2 < length) return false;
    const View8 feature = info.subspan(2, length);
    info = info.subspan(2 + length);
    if (type < kCeePriorityGroups || type > kCeeApplication) continue;  // DCBX's own control, or unknown
    if (feature.size() < kHeader) {
      is_valid = false;
      continue;
    }
    // Without the flag "Enable", the sender does not use the feature, whatever its data.
    const bool enabled = (u8(feature, 2) & 0x80) != 0, willing = (u8(feature, 2) & 0x40) != 0;
    const View8 data = feature.subspan(kHeader);
    switch (type) {
      case kCeePriorityGroups:
        if (data.size() != kGroups) {
          is_valid = false;
        } else if (enabled) {
          neighbor.ets =
              DcbxEts{willing, u8(data, 12), nibbles(data), octets(data.subspan(4)), {2, 2, 2, 2, 2, 2, 2, 2}};
        }
        break;
      case kCeePfc:
        if (data.size() != 2) {
          is_valid = false;
          break;
        }
        neighbor.pfc = DcbxPfc{willing, false, u8(data, 1), PrioSet{}};
        if (enabled) neighbor.pfc->enabled = PrioSet{u8(data, 0)};
        break;
      case kCeeApplication:
        if (!enabled) break;
        if (data.size() % kApplication != 0) {
          is_valid = false;
          break;
        }
        neighbor.app.emplace();
        for (size_t at = 0; at < data.size(); at += kApplication) {
          uint8_t selector = DcbxApp::tcp_or_udp;
          if ((u8(data, at + 2) & 3) == 0) selector = DcbxApp::ethertype;
          for (uint8_t prio = 0; prio < kPriorities; ++prio)
            if ((u8(data, at + 5) >> prio & 1) != 0) neighbor.app->push_back({selector, u16(data, at), prio});
        }
        break;
      default: break;
    }
  }
  return is_valid;
}

}  // namespace

std::string chassis_id_text(uint8_t subtype, View8 id) { return id_text(subtype == 4, subtype == 5, id); }
std::string port_id_text(uint8_t subtype, View8 id) { return id_text(subtype == 3, subtype == 4, id); }

bool read_organization(uint32_t oui, uint8_t subtype, View8 info, Neighbor& neighbor) {
  const uint32_t organization = oui << 8 | subtype;
  if (organization >= k8021EtsConfiguration && organization <= k8021Application) {
    // The TLVs of 802.1Qaz take precedence over those of CEE: a switch that sends both uses the former.
    if (neighbor.dcbx == DcbxVersion::cee) {
      neighbor.ets.reset();
      neighbor.pfc.reset();
      neighbor.app.reset();
    }
    neighbor.dcbx = DcbxVersion::ieee;
  }
  switch (organization) {
    case k8021PortVlan:
      if (info.size() != 2) return false;
      if (!neighbor.vlan && u16(info, 0) != 0) neighbor.vlan = u16(info, 0);
      return true;
    // Flags (reserved in the recommendation), class of each priority, percentage and algorithm of each class.
    case k8021EtsConfiguration:
    case k8021EtsRecommendation: {
      if (info.size() != 1 + 4 + 8 + 8) return false;
      DcbxEts ets{.prio_tc = nibbles(info.subspan(1)), .bw = octets(info.subspan(5)), .tsa = octets(info.subspan(13))};
      if (organization == k8021EtsRecommendation) {
        if (!neighbor.ets_recommended) neighbor.ets_recommended = ets;
        return true;
      }
      ets.willing = (u8(info, 0) & 0x80) != 0;
      if (const unsigned classes = u8(info, 0) & 7; classes != 0) ets.max_classes = classes;  // 0 means eight
      if (!neighbor.ets) neighbor.ets = ets;
      return true;
    }
    case k8021Pfc: {  // flags, bits of the priorities
      if (info.size() != 2) return false;
      const uint8_t flags = u8(info, 0);
      if (!neighbor.pfc)
        neighbor.pfc = DcbxPfc{(flags & 0x80) != 0, (flags & 0x40) != 0, flags & 15u, PrioSet{u8(info, 1)}};
      return true;
    }
    case k8021Application:  // a reserved byte, then entries of priority and selector (1), protocol (2)
      if (info.empty() || info.size() % 3 != 1) return false;
      if (neighbor.app) return true;
      neighbor.app.emplace();
      for (size_t at = 1; at < info.size(); at += 3) {
        const auto selector = static_cast<uint8_t>(u8(info, at) & 7), prio = static_cast<uint8_t>(u8(info, at) >> 5);
        neighbor.app->push_back({selector, u16(info, at + 1), prio});
      }
      return true;
    case k8023MaxFrame:
      if (info.size() != 2) return false;
      if (!neighbor.max_frame && u16(info, 0) != 0) neighbor.max_frame = u16(info, 0);
      return true;
    case kCeeDcbx:
      if (neighbor.dcbx == DcbxVersion::ieee) return true;
      neighbor.dcbx = DcbxVersion::cee;
      return read_cee(info, neighbor);
    default: return true;
  }
}

Result<Neighbor> parse_frame(View8 frame) {
  size_t at = kAddresses;
  if (frame.size() >= at + 2 && u16(frame, at) == kVlanTag) at += 4;
  if (frame.size() < at + 2) return invalid(frame.size(), "ends within its Ethernet header");
  if (u16(frame, at) != kEtherType) return invalid(at, "the EtherType is not that of LLDP");
  at += 2;

  Neighbor neighbor;
  for (size_t index = 0;; ++index) {
    const size_t start = at;
    uint8_t type = kEnd;  // a frame may also end without an End TLV
    View8 value;
    if (at != frame.size()) {
      if (frame.size() - at < 2) return invalid(at, "half a TLV header");
      const size_t length = u16(frame, at) & 0x1ff, left = frame.size() - at - 2;
      if (left < length)
        return invalid(at,
                       "a TLV of " + std::to_string(length) + " bytes, but only " + std::to_string(left) + " are left");
      type = static_cast<uint8_t>(u16(frame, at) >> 9);
      value = frame.subspan(at + 2, length);
      at += 2 + length;
    }
    if (index < std::size(kMandatory)) {
      const std::string name(kMandatory[index]);
      if (type != kChassisId + index)
        return invalid(start, "no " + name + " but a TLV of type " + std::to_string(type));
      // 802.1AB 8.5: an id is a subtype and 1 to 255 bytes.
      if (value.size() < 2 || (type != kTtl && value.size() > 256))
        return invalid(start, name + " of " + std::to_string(value.size()) + " bytes");
      if (type == kChassisId) neighbor.chassis_id = chassis_id_text(u8(value, 0), value.subspan(1));
      if (type == kPortId) neighbor.port_id = port_id_text(u8(value, 0), value.subspan(1));
      if (type == kTtl) neighbor.ttl = u16(value, 0);
      // A shutdown frame ends here (802.1AB 9.1.2); ignores the rest.
      if (type == kTtl && neighbor.ttl == 0) return neighbor;
      continue;
    }
    bool is_valid = true;
    switch (type) {
      case kEnd: return neighbor;
      case kPortDescription:
        if (neighbor.port_description.empty()) neighbor.port_description = printable(value);
        break;
      case kSystemName:
        if (neighbor.system_name.empty()) neighbor.system_name = printable(value);
        break;
      case kSystemDescription:
        if (neighbor.system_description.empty()) neighbor.system_description = printable(value);
        break;
      case kManagement: {
        // Length, family, address; then an interface number and an OID, which we do not use.
        is_valid = value.size() >= 9 && u8(value, 0) >= 2 && value.size() >= size_t{1} + u8(value, 0);
        if (!is_valid) break;
        std::string address = address_text(value.subspan(1, u8(value, 0)));
        if (!address.empty() && neighbor.management.size() < kMaxAddresses)
          neighbor.management.push_back(std::move(address));
        break;
      }
      case kOrganization: {
        is_valid = value.size() >= 4;
        if (!is_valid) break;
        const uint32_t oui = static_cast<uint32_t>(u8(value, 0)) << 16 | u16(value, 1);
        is_valid = read_organization(oui, u8(value, 3), value.subspan(4), neighbor);
        break;
      }
      default: break;  // unknown, or a duplicate of the first three
    }
    if (!is_valid && neighbor.malformed.size() < kMaxMalformed)
      neighbor.malformed.push_back("byte " + std::to_string(start) + ": TLV of type " + std::to_string(type) +
                                   " with " + std::to_string(value.size()) + " bytes");
  }
}

}  // namespace fabric::lldp
