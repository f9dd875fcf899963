// SPDX-License-Identifier: Apache-2.0
#include "wire/neighbor.h"

#include <algorithm>
#include <cctype>

#include "base/parse.h"

namespace fabric {
namespace {

std::string folded(std::string_view text) { return lower(trim(text)); }

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

// The letters at the front ("ethernet"), and the rest ("1/1") without a blank between.
std::pair<std::string, std::string> in_two(const std::string& name) {
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

bool is_number(std::string_view text) { return text.find_first_not_of("0123456789") == std::string_view::npos; }

// Names of one kind differ only for different ports: "swp1s0" and "swp2", but not "Ethernet0" and "Ethernet1/1".
bool are_of_one_kind(std::string_view a, std::string_view b) {
  const std::string one = folded(a), other = folded(b);
  const auto [word, number] = in_two(one);
  const auto [other_word, other_number] = in_two(other);
  if (is_mac(one) || is_mac(other)) return false;
  for (const std::string& each : {number, other_number})
    if (each.empty() || is_letter(each.front()) || each.find(' ') != std::string::npos) return false;
  if (word.empty() != other_word.empty()) return false;
  if ((number.find('/') == std::string::npos) != (other_number.find('/') == std::string::npos)) return false;
  return word.starts_with(other_word) || other_word.starts_with(word);
}

}  // namespace

const std::string& Neighbor::port() const {
  const bool is_name = !is_number(port_id) && !is_mac(port_id);
  if (is_name || port_description.empty()) return port_id;
  return port_description;
}

std::optional<uint32_t> announced_frame(const std::vector<Neighbor>& heard, std::string_view netdev) {
  std::optional<uint32_t> largest;
  for (const Neighbor& each : heard)
    if (each.netdev == netdev && each.max_frame) largest = std::max(largest.value_or(0), *each.max_frame);
  return largest;
}

bool same_device(std::string_view a, std::string_view b) {
  const std::string one = folded(a), other = folded(b);
  if (one.empty() || other.empty()) return false;
  return one == other || one.starts_with(other + ".") || other.starts_with(one + ".");
}

bool same_port(std::string_view a, std::string_view b) {
  const std::string one = folded(a), other = folded(b);
  if (one.empty() || other.empty()) return false;
  if (one == other) return true;
  const auto [word, number] = in_two(one);
  const auto [other_word, other_number] = in_two(other);
  if (number.empty() || number != other_number || word.empty() || other_word.empty()) return false;
  return word.starts_with(other_word) || other_word.starts_with(word);
}

bool is_device(const Neighbor& neighbor, const CableEnd& end) {
  const std::string device = folded(end.device);
  if (same_device(neighbor.system_name, device) || folded(neighbor.chassis_id) == device) return true;
  for (const std::string& address : neighbor.management)
    if (folded(address) == device) return true;
  return false;
}

bool is_end(const Neighbor& neighbor, const CableEnd& end) {
  return is_device(neighbor, end) &&
         (same_port(neighbor.port_id, end.port) || same_port(neighbor.port_description, end.port));
}

bool names_ports_otherwise(const Neighbor& neighbor, const CableEnd& end) {
  return is_device(neighbor, end) && !is_end(neighbor, end) && !are_of_one_kind(neighbor.port_id, end.port) &&
         !are_of_one_kind(neighbor.port_description, end.port);
}

}  // namespace fabric
