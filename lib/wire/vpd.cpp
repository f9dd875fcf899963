// SPDX-License-Identifier: Apache-2.0
#include "wire/vpd.h"

#include <algorithm>

namespace fabric {
namespace {

size_t byte_at(std::string_view text, size_t at) { return static_cast<unsigned char>(text[at]); }

}  // namespace

// VPD consists of resources: a tag, a length of two bytes and contents. The read-only resource (90h) has fields: two
// letters, a length and a text.
std::vector<VpdField> vpd_fields(std::string_view vpd) {
  std::vector<VpdField> out;
  for (size_t at = 0; at + 3 <= vpd.size();) {
    const size_t tag = byte_at(vpd, at), length = byte_at(vpd, at + 1) | byte_at(vpd, at + 2) << 8;
    if ((tag & 0x80) == 0) break;  // the end tag
    std::string_view fields = vpd.substr(at + 3, length);
    while (tag == 0x90 && fields.size() >= 3) {
      const size_t size = byte_at(fields, 2);
      out.push_back({fields.substr(0, 2), fields.substr(3, size)});
      fields.remove_prefix(std::min(fields.size(), 3 + size));
    }
    at += 3 + length;
  }
  return out;
}

}  // namespace fabric
