// SPDX-License-Identifier: Apache-2.0
// The formats of `topo`: each is a pure function of one view.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ctl/topo/view.h"

namespace fabric::ctl {

struct TopoFormat {
  std::string_view name;
  std::string (*print)(const TopoView& view);
  enum class Fold : uint8_t { none, lines, comments } fold = Fold::none;  // the lines that are folded if too long
};
std::span<const TopoFormat> topo_formats();
// Null: unknown.
const TopoFormat* find_topo_format(std::string_view name);

}  // namespace fabric::ctl
