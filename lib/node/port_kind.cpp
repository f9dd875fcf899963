// SPDX-License-Identifier: Apache-2.0
#include "node/port_kind.h"

#include <cmath>
#include <cstdio>

namespace fabric {

std::string number_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, std::abs(value) < 9999.5 ? "%.4g" : "%.0f", value);  // no "5e+04"
  return text;
}

std::string rate_text(double bytes_per_second) { return number_text(bytes_per_second * 8 / 1e9) + " Gb/s"; }

bool are_twins(const Port& a, const Port& b) {
  const auto place = [](const Port& port) { return port.pci.substr(card_of(port.pci).size()); };
  return a.kernel_driver == b.kernel_driver && a.pci_id == b.pci_id && a.hca_type == b.hca_type &&
         a.board_id == b.board_id && a.link_layer == b.link_layer && a.number == b.number && place(a) == place(b) &&
         is_judged(a) && is_judged(b);
}

static const std::string* reason_for(const Port& port, std::string_view subject) {
  return find_where(port.unread, [&](const std::string& reason) { return reason.find(subject) != std::string::npos; });
}

bool is_unread(const Port& port, std::string_view subject) { return reason_for(port, subject) != nullptr; }

std::string why_unread(const Port& port, std::string_view subject) {
  const std::string* reason = reason_for(port, subject);
  return reason != nullptr ? *reason : "not readable as this user, or not offered by this kernel and driver";
}

}  // namespace fabric
