// SPDX-License-Identifier: Apache-2.0
// Removes identities of hardware and credentials from a recording. Everything that checks evaluate stays, so that they
// give the same findings.
#pragma once

#include "kernel/capture/tape.h"

namespace fabric {

// Pseudonyms: equal for equal values, of the same length. The vendor part (the first three bytes of a MAC address or
// GUID) stays.
class Pseudonyms {
 public:
  // MAC addresses, GUIDs, EUI-64, the interface identifiers of IPv6 addresses and GIDs that are made of these, UUIDs:
  // each as people and the kernel write them. IPv4 addresses and other IPv6 addresses stay.
  std::string in_text(std::string_view text);
  // A serial number, or another word that is one thing's own; in hexadecimal digits a GUID.
  std::string of_word(std::string_view word);
  // 6 bytes; those of all zeros, of groups and broadcast stay.
  std::string of_mac(std::string_view bytes);
  // 8 bytes, the most significant first.
  std::string of_guid(std::string_view bytes);
  // 16 bytes of an IPv6 address or GID: its interface identifier.
  std::string of_ipv6(std::string_view address);
  // Replaces every known value inside other bytes: as bytes in either order, or as digits without separators (interface
  // names: "enx0c42a1b2c3d4").
  [[nodiscard]] std::string in_bytes(std::string bytes) const;

 private:
  void learn(std::string from, std::string to);
  void learn_number(const std::string& from, const std::string& to, bool as_bytes);
  std::map<std::string, std::string> macs_, guids_, words_;                        // bytes or word -> pseudonym
  std::map<std::string, std::vector<std::pair<std::string, std::string>>> known_;  // by the first four bytes
};

// All of the recording: questions, answers, links, places. Without `hardware` secrets alone.
void disguise(Tape& tape, bool hardware = true);

}  // namespace fabric
