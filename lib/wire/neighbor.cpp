// SPDX-License-Identifier: Apache-2.0
#include "wire/neighbor.h"

#include <algorithm>
#include <cctype>

#include "base/parse.h"

namespace fabric {
namespace {

// The names of devices and ports are compared without case and surrounding white space.
std::string normalized(std::string_view text) { return lower(trim(text)); }

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// Splits "ethernet 1/1" into the leading letters ("ethernet") and the trimmed rest ("1/1").
std::pair<std::string, std::string> split_name(const std::string& name) {
  size_t end = 0;
  while (end < name.size() && is_letter(name[end])) ++end;
  return {name.substr(0, end), std::string(trim(std::string_view(name).substr(end)))};
}

bool is_mac(std::string_view text) {
  if (text.size() != 17) return false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i % 3 == 2 && text[i] != ':') return false;
    if (i % 3 != 2 && std::isxdigit(static_cast<unsigned char>(text[i])) == 0) return false;
  }
  return true;
}

// Whether the names follow one scheme, so that different names mean different ports: "swp1s0" and "swp2", but not
// "Ethernet0" and "Ethernet1/1".
bool have_one_scheme(std::string_view a, std::string_view b) {
  const std::string name_a = normalized(a), name_b = normalized(b);
  if (is_mac(name_a) || is_mac(name_b)) return false;
  const auto [word_a, number_a] = split_name(name_a);
  const auto [word_b, number_b] = split_name(name_b);
  for (const std::string& number : {number_a, number_b})
    if (number.empty() || is_letter(number.front()) || number.find(' ') != std::string::npos) return false;
  if (word_a.empty() != word_b.empty()) return false;
  if ((number_a.find('/') == std::string::npos) != (number_b.find('/') == std::string::npos)) return false;
  return word_a.starts_with(word_b) || word_b.starts_with(word_a);
}

}  // namespace

const std::string& Neighbor::port() const {
  const bool is_number = port_id.find_first_not_of("0123456789") == std::string::npos;
  if ((is_number || is_mac(port_id)) && !port_description.empty()) return port_description;
  return port_id;
}

std::optional<uint32_t> announced_frame(const std::vector<Neighbor>& heard, std::string_view netdev) {
  std::optional<uint32_t> largest;
  for (const Neighbor& each : heard)
    if (each.netdev == netdev && each.max_frame) largest = std::max(largest.value_or(0), *each.max_frame);
  return largest;
}

bool same_device(std::string_view a, std::string_view b) {
  const std::string name_a = normalized(a), name_b = normalized(b);
  if (name_a.empty() || name_b.empty()) return false;
  return name_a == name_b || name_a.starts_with(name_b + ".") || name_b.starts_with(name_a + ".");
}

bool same_port(std::string_view a, std::string_view b) {
  const std::string name_a = normalized(a), name_b = normalized(b);
  if (name_a.empty() || name_b.empty()) return false;
  if (name_a == name_b) return true;
  const auto [word_a, number_a] = split_name(name_a);
  const auto [word_b, number_b] = split_name(name_b);
  if (number_a.empty() || number_a != number_b || word_a.empty() || word_b.empty()) return false;
  return word_a.starts_with(word_b) || word_b.starts_with(word_a);
}

bool is_device(const Neighbor& neighbor, const CableEnd& end) {
  const std::string device = normalized(end.device);
  if (same_device(neighbor.system_name, device) || normalized(neighbor.chassis_id) == device) return true;
  for (const std::string& address : neighbor.management)
    if (normalized(address) == device) return true;
  return false;
}

bool is_end(const Neighbor& neighbor, const CableEnd& end) {
  return is_device(neighbor, end) &&
         (same_port(neighbor.port_id, end.port) || same_port(neighbor.port_description, end.port));
}

bool names_ports_otherwise(const Neighbor& neighbor, const CableEnd& end) {
  return is_device(neighbor, end) && !is_end(neighbor, end) && !have_one_scheme(neighbor.port_id, end.port) &&
         !have_one_scheme(neighbor.port_description, end.port);
}

}  // namespace fabric
