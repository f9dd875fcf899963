// SPDX-License-Identifier: Apache-2.0
#include "model/neighbor.h"

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
  return text.size() == 17 && std::ranges::all_of(text, [i = 0](char c) mutable {
           return i++ % 3 == 2 ? c == ':' : std::isxdigit(static_cast<unsigned char>(c)) != 0;
         });
}

}  // namespace

const std::string& Neighbor::port() const {
  return (port_id.empty() || is_mac(port_id)) && !port_description.empty() ? port_description : port_id;
}

bool same_device(std::string_view a, std::string_view b) {
  const std::string one = folded(a), other = folded(b);
  if (one.empty() || other.empty()) return false;
  if (one == other) return true;
  const size_t dot = one.find('.'), other_dot = other.find('.');
  if ((dot == std::string::npos) == (other_dot == std::string::npos)) return false;
  return one.substr(0, dot) == other.substr(0, other_dot);
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
  const auto is_address = [&](const std::string& address) { return folded(address) == folded(end.device); };
  return same_device(neighbor.system_name, end.device) || folded(neighbor.chassis_id) == folded(end.device) ||
         std::ranges::any_of(neighbor.management, is_address);
}

bool is_end(const Neighbor& neighbor, const CableEnd& end) {
  return is_device(neighbor, end) &&
         (same_port(neighbor.port_id, end.port) || same_port(neighbor.port_description, end.port));
}

}  // namespace fabric
