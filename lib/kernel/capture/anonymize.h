// SPDX-License-Identifier: Apache-2.0
// Replaces the identities of the machine and its hardware in a recording. The data that rules evaluate stays, so that
// the findings are the same.
#pragma once

#include "kernel/capture/tape.h"

namespace fabric {

// Pseudonyms for values: equal for equal values, and of the same length. The vendor part (the first three bytes of a
// MAC address or GUID) stays.
class Pseudonyms {
 public:
  // Replaces MAC addresses, GUIDs, EUI-64, the interface identifiers of IPv6 addresses and GIDs that are derived from
  // these, and UUIDs, in the notations of people and the kernel. IPv4 addresses and other IPv6 addresses stay.
  std::string in_text(std::string_view text);
  // A serial number, or another unique word; 16 hexadecimal digits are a GUID, 12 a MAC address.
  std::string of_word(std::string_view word);
  // 6 bytes; all zeros, group addresses and broadcast stay.
  std::string of_mac(std::string_view bytes);
  // 8 bytes, the most significant first.
  std::string of_guid(std::string_view bytes);
  // 16 bytes of an IPv6 address or GID, whose interface identifier is replaced.
  std::string of_ipv6(std::string_view address);
  // Replaces every known value inside other bytes: as bytes in either order, or as digits without separators (interface
  // names: "enx0c42a1b2c3d4").
  [[nodiscard]] std::string in_bytes(std::string bytes) const;
  // The number of different values that have been replaced.
  [[nodiscard]] size_t size() const { return macs_.size() + guids_.size() + words_.size(); }

 private:
  void learn(std::string from, std::string to);
  void learn_number(const std::string& from, const std::string& to, bool as_bytes);
  std::map<std::string, std::string> macs_, guids_, words_;  // bytes or word -> pseudonym
  std::map<std::string, std::string> known_;                 // of any form -> pseudonym of this form
  // The lengths in known_ by the first four bytes. A machine may have thousands of addresses of one vendor.
  std::map<std::string, std::set<size_t, std::greater<>>> lengths_;
};

// A part of a recorded answer of rtnetlink, without the alias of a link (`ip link set DEV alias TEXT`), the only text
// in it that an administrator writes. No rule reads it.
std::string without_alias(std::string message);

// The pseudonym of the machine's name, of the same length; domains become "x". A name of up to four letters, or one
// that a device has as well, is replaced where a file names the host; in other texts it may be another word, and stays.
std::string host_pseudonym(std::string_view hostname);

// Each value takes some kilobytes, because it is known in many forms. A node has a few thousand.
inline constexpr size_t kMostPseudonyms = size_t{1} << 16;

// Anonymizes the whole recording: questions, answers, links, places. Returns `names`, which are files of the recording,
// anonymized as well. EFBIG: there are more than `most` values.
Result<std::vector<std::string>> anonymize(Tape& tape, std::vector<std::string> names = {},
                                           size_t most = kMostPseudonyms);

}  // namespace fabric
