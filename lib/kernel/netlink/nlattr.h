// SPDX-License-Identifier: Apache-2.0
// Attributes without a vector and a string for each of many: for answers that are read again and again.
#pragma once

#include <string_view>
#include <vector>

#include "kernel/netlink/netlink.h"

namespace fabric {

// As parse_attributes(), but replaces the contents of `out` and reuses its memory.
void parse_attributes(View8 payload, size_t skip, std::vector<Attr>& out);
// As Attr::text(), good as long as the message.
std::string_view text_in(const Attr& attr);

}  // namespace fabric
