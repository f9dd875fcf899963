// SPDX-License-Identifier: Apache-2.0
// The other end of a cable, as it announces itself (LLDP, IEEE 802.1AB, with the DCBX TLVs of 802.1Qaz) and as the
// site's cable plan names it.
#pragma once

#include <string_view>

#include "setting/value.h"

namespace fabric {

// An entry of the application priority table (802.1Q D.2.12).
struct DcbxApp {
  enum Selector : uint8_t { ethertype = 1, tcp = 2, udp = 3, tcp_or_udp = 4, dscp = 5 };
  uint8_t selector = 0;
  uint16_t protocol = 0;  // EtherType, port or DSCP
  uint8_t priority = 0;
  bool operator==(const DcbxApp&) const = default;
};

// Priority groups. A class is a number of four bits: 15 means "strict" in CEE, and no class in some switches.
struct DcbxEts {
  bool willing = false;
  unsigned max_classes = 8;
  Eight prio_tc{};  // priority -> class
  Eight bw{};       // class -> percent
  Eight tsa{};      // class -> 0 strict, 1 credit-based shaper, 2 ETS, 255 vendor's
  bool operator==(const DcbxEts&) const = default;
};

struct DcbxPfc {
  bool willing = false, mbc = false;
  unsigned capability = 0;  // the number of classes that can have PFC at the same time
  PrioSet enabled;
  bool operator==(const DcbxPfc&) const = default;
};

enum class DcbxVersion : uint8_t { none, ieee, cee };
template <>
inline constexpr std::string_view kEnumWords<DcbxVersion>[] { "", "IEEE", "CEE" };

// The source of a neighbor that a NIC's own LLDP agent has received. It has no names and no age.
inline constexpr const char* kFirmwareSource = "firmware";

struct Neighbor {
  std::string netdev;      // our netdev that received its frames
  std::string source;      // "fabric-lldp", kFirmwareSource
  std::string chassis_id;  // "70:06:92:6e:32:64", or a text
  std::string port_id;     // "Ethernet120"
  std::string port_description{}, system_name{}, system_description{};
  std::vector<std::string> management{};  // addresses
  unsigned ttl = 0;                       // seconds for which the frame is valid
  double heard = 0;                       // time of the frame, seconds since boot of this (or the captured) machine
  double age = 0;                         // seconds from the frame to the snapshot
  std::optional<unsigned> max_frame{};    // bytes, 802.3 maximum frame size
  std::optional<unsigned> vlan{};         // port VLAN id
  DcbxVersion dcbx{};                     // that it sends
  std::optional<DcbxEts> ets{}, ets_recommended{};
  std::optional<DcbxPfc> pfc{};
  std::optional<std::vector<DcbxApp>> app{};
  std::vector<std::string> malformed{};  // TLVs that could not be decoded, with their offsets
  bool operator==(const Neighbor&) const = default;

  // Its name, else its chassis id.
  [[nodiscard]] const std::string& system() const {
    if (system_name.empty()) return chassis_id;
    return system_name;
  }
  // The name of the port: its id, or its description if the id is a MAC address or a number (Junos sends SNMP's
  // ifIndex).
  [[nodiscard]] const std::string& port() const;
};

// The neighbors, and how long we have listened on each netdev.
struct Neighbors {
  std::string source{};    // "fabric-lldp"; empty: no listener
  std::string why_none{};  // why there is no listener, and how to start one
  // netdev -> seconds for which we have listened on it, or since the last frame of a neighbor that is gone. Absent: we
  // do not listen on it.
  std::map<std::string, double> listening{};
  std::vector<Neighbor> heard{};
};

// One end of a cable in the names of the site's cable plan.
struct CableEnd {
  std::string device, port;
  bool operator==(const CableEnd&) const = default;
};

// A cable of this host.
struct Cable {
  std::string port;  // the plan's name of our port
  CableEnd peer;
  std::string where;  // "FILE:LINE", "FILE: cable 17"
};

// The site's cable plan for this host ([cabling]).
struct Cabling {
  // Configured.
  std::string file{};                                    // absolute path; empty: no plan
  std::string host{};                                    // this host's name in the plan; empty: its host name
  std::map<std::string, std::string> ports{};            // the plan's name of a port -> the kernel's name
  std::map<std::string, std::string> rails{}, planes{};  // glob of a switch or of a port of this host -> rail, plane
  std::vector<std::string> maintenance{};                // planes whose ports are expected to be down
  // Read from the file.
  std::string problem{};  // why the file could not be read
  std::vector<Cable> cables{};
};

// The largest frame that a neighbor on the netdev announces. There can be several: an agent in the firmware of a NIC or
// in a DPU announces itself beside the switch.
std::optional<uint32_t> announced_frame(const std::vector<Neighbor>& heard, std::string_view netdev);

// Whether both are names of one device. Ignores case, and a domain (or a part of it) that only one of them has.
bool same_device(std::string_view a, std::string_view b);
// Whether both are names of one port: "Eth1/1" is "Ethernet1/1", "swp5" is "SWP5".
bool same_port(std::string_view a, std::string_view b);
// Whether the neighbor is the device of the end, by name, chassis id or management address.
bool is_device(const Neighbor& neighbor, const CableEnd& end);
// Whether the neighbor is also the port of the end, by port id or description.
bool is_end(const Neighbor& neighbor, const CableEnd& end);
// Whether the neighbor is the device of the end, but names its ports by another scheme than the plan, so that the ports
// cannot be compared: "etp1" or "Eth1/1" for "Ethernet0" in the plan (SONiC's aliases), "510" for "et-0/0/0" (Junos).
bool names_ports_otherwise(const Neighbor& neighbor, const CableEnd& end);

}  // namespace fabric
