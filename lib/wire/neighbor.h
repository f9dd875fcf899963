// SPDX-License-Identifier: Apache-2.0
// What the other end of a cable says of itself (LLDP, IEEE 802.1AB, with the DCBX TLVs of 802.1Qaz), and what it should
// be.
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

// Priority groups. A class is any number of four bits: 15 means "strict" in CEE, and none in some switches.
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
  unsigned capability = 0;  // classes that may have PFC at a time
  PrioSet enabled;
  bool operator==(const DcbxPfc&) const = default;
};

struct Neighbor {
  std::string netdev;      // ours, on which it was heard
  std::string source;      // "fabric-lldp", "firmware"
  std::string chassis_id;  // "70:06:92:6e:32:64", or the text that the other side gives
  std::string port_id;     // "Ethernet120"
  std::string port_description{}, system_name{}, system_description{};
  std::vector<std::string> management{};  // addresses
  unsigned ttl = 0;                       // seconds that it holds
  double heard = 0;                       // seconds since boot; on a captured tree, since the captured machine's
  double age = 0;                         // seconds from then to the snapshot
  std::optional<unsigned> max_frame{};    // bytes, 802.3 maximum frame size
  std::optional<unsigned> vlan{};         // port VLAN id
  std::string dcbx{};                     // "IEEE" or "CEE": which DCBX its TLVs are of; empty: it sends none
  std::optional<DcbxEts> ets{}, ets_recommended{};
  std::optional<DcbxPfc> pfc{};
  std::optional<std::vector<DcbxApp>> app{};
  std::vector<std::string> malformed{};  // TLVs that could not be read, with their offset
  bool operator==(const Neighbor&) const = default;

  // What people call it: its name, else its chassis id.
  [[nodiscard]] const std::string& system() const { return system_name.empty() ? chassis_id : system_name; }
  // The port's name: its id, unless that is a MAC address or a bare number (SNMP's ifIndex: Junos) and there is a
  // description.
  [[nodiscard]] const std::string& port() const;
};

// The neighbors, and how long each netdev has been listened to.
struct Neighbors {
  std::string source{};                       // "fabric-lldp", "firmware"; empty: no listener
  std::string why_none{};                     // then: why, and what to do
  std::map<std::string, double> listening{};  // netdev -> seconds that it has been listened to, or since the last frame
                                              // of one that is gone; absent: it is not
  std::vector<Neighbor> heard{};
};

// One end of a cable as a plan of the site names it.
struct CableEnd {
  std::string device, port;
  bool operator==(const CableEnd&) const = default;
};

// The cables of this host.
struct Cable {
  std::string port;  // our end, as the plan names it
  CableEnd peer;
  std::string where;  // "FILE:LINE", "FILE: cable 17"
};

// What the site's plan says of this host.
struct Cabling {
  // Configured.
  std::string file{};                                    // absolute path; empty: no plan
  std::string host{};                                    // the name of this host in it; empty: its host name
  std::map<std::string, std::string> ports{};            // the plan's name of a port of ours -> the kernel's
  std::map<std::string, std::string> rails{}, planes{};  // glob of a switch or of a port of ours -> its rail, its plane
  // Read from it.
  std::string problem{};  // why it could not be read
  std::vector<Cable> cables{};
};

// The largest frame that a neighbor on the netdev announces. An agent in a NIC's firmware or a DPU, which is heard
// beside the switch, announces its own.
std::optional<uint32_t> announced_frame(const std::vector<Neighbor>& heard, std::string_view netdev);

// True if both name one device. Letters' case does not matter, and a name without a domain, or with a part of it, is
// equal to one with it.
bool same_device(std::string_view a, std::string_view b);
// True if both name one port: "Eth1/1" is "Ethernet1/1", "swp5" is "SWP5".
bool same_port(std::string_view a, std::string_view b);
// True if the neighbor is this end, by name, chassis id or management address; by port id or description.
bool is_device(const Neighbor& neighbor, const CableEnd& end);
bool is_end(const Neighbor& neighbor, const CableEnd& end);
// True if it is the device of the end and names its ports otherwise than the plan, so that the port cannot be compared:
// "etp1" or "Eth1/1" where the plan has "Ethernet0" (SONiC's aliases), "510" where it has "et-0/0/0" (Junos).
bool names_ports_otherwise(const Neighbor& neighbor, const CableEnd& end);

}  // namespace fabric
