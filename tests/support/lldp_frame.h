// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace fabric::test {

// An LLDP frame with the names of chassis and port, and `text` as port description, system name and system description.
inline std::string lldp_frame(const std::string& chassis, const std::string& port, const std::string& text) {
  std::string frame("\x01\x80\xc2\x00\x00\x0e\x00\x00\x00\x00\x00\x01\x88\xcc", 14);
  const auto tlv = [&](unsigned type, const std::string& value) {
    frame += static_cast<char>(type << 1U);
    frame += static_cast<char>(value.size());
    frame += value;
  };
  tlv(1, "\x07" + chassis);
  tlv(2, "\x05" + port);
  tlv(3, std::string("\0\x78", 2));
  for (const unsigned type : {4U, 5U, 6U}) tlv(type, text);
  tlv(0, "");
  return frame;
}

}  // namespace fabric::test
