// SPDX-License-Identifier: Apache-2.0
#include "kernel/capture/anonymize.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <optional>

namespace fabric {
namespace {

constexpr std::string_view kHex = "0123456789abcdefABCDEF";
constexpr std::string_view kTokenLetters = "0123456789abcdefABCDEF:-.";

bool is_hex(char letter) { return kHex.find(letter) != std::string_view::npos; }
bool is_word(char letter) {
  return is_hex(letter) || (letter >= 'g' && letter <= 'z') || (letter >= 'G' && letter <= 'Z') || letter == '_';
}

std::string digits_of(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) {
    out += kHex[static_cast<unsigned char>(byte) >> 4];
    out += kHex[static_cast<unsigned char>(byte) & 15];
  }
  return out;
}

// From hexadecimal digits with any separators.
std::string bytes_of(std::string_view text) {
  std::string out;
  std::optional<int> high;
  for (const char letter : text) {
    size_t digit = kHex.find(letter);
    if (digit == std::string_view::npos) continue;
    if (digit > 15) digit -= 6;
    if (!high) high = static_cast<int>(digit);
    else {
      out += static_cast<char>(*high << 4 | static_cast<int>(digit));
      high.reset();
    }
  }
  return out;
}

// The digits of `bytes` in the letters' places of `pattern`.
std::string written_as(std::string_view pattern, std::string_view bytes) {
  const std::string digits = digits_of(bytes);
  const bool upper = std::ranges::any_of(pattern, [](char letter) { return letter >= 'A' && letter <= 'F'; });
  std::string out(pattern);
  size_t next = 0;
  for (char& letter : out)
    if (is_hex(letter) && next < digits.size()) {
      letter = digits[next++];
      if (upper && letter >= 'a') letter = static_cast<char>(letter - 'a' + 'A');
    }
  return out;
}

// Lengths of the groups of hexadecimal digits between separators of one kind: {2, 2, 2, 2, 2, 2} of a MAC address.
std::vector<size_t> groups(std::string_view token, char separator) {
  std::vector<size_t> out{0};
  for (const char letter : token) {
    if (letter == separator) out.push_back(0);
    else if (is_hex(letter)) ++out.back();
    else return {};
  }
  return out;
}

bool all_of(const std::vector<size_t>& list, size_t count, size_t length) {
  return list.size() == count && std::ranges::all_of(list, [length](size_t each) { return each == length; });
}

// High numbers, which few makers have reached: a pseudonym must not be another's real name.
std::string counted(std::string bytes, size_t keep, size_t number) {
  for (size_t i = bytes.size(); i-- > keep; number >>= 8) bytes[i] = static_cast<char>(number & 0xff);
  bytes[keep] = static_cast<char>(bytes[keep] | 0xf0);
  return bytes;
}

bool all_zero(std::string_view bytes) {
  return std::ranges::all_of(bytes, [](char byte) { return byte == 0; });
}

constexpr int kUniversal = 2;  // the U/L bit, which EUI-64 turns over (RFC 4291, appendix A)

std::string swapped(std::string bytes) {
  bytes[0] = static_cast<char>(bytes[0] ^ kUniversal);
  return bytes;
}

// Whether the EUI-64 is derived from a MAC address: ff:fe in the middle, or 03:00 in Mellanox GUIDs.
bool is_of_mac(std::string_view eight) {
  const std::string_view middle = eight.substr(3, 2);
  return middle == "\xff\xfe" || middle == std::string_view("\x03\x00", 2);
}

// Long enough that a match in other bytes is no coincidence.
bool is_strong(std::string_view bytes) {
  return std::ranges::count_if(bytes, [](char byte) { return byte != 0 && byte != -1; }) >= 4;
}

}  // namespace

void Pseudonyms::learn(std::string from, std::string to) {
  if (from.size() >= 4 && from != to) known_[from.substr(0, 4)].emplace_back(std::move(from), std::move(to));
}

std::string Pseudonyms::of_mac(std::string_view bytes) {
  if (bytes.size() != 6 || (bytes[0] & 1) != 0 || all_zero(bytes)) return std::string(bytes);
  // Its EUI-64 is met with the U/L bit either way.
  std::string key(bytes);
  key[0] = static_cast<char>(key[0] & ~kUniversal);
  auto [entry, is_new] = macs_.try_emplace(key);
  if (is_new) {
    entry->second = counted(key, 3, macs_.size());
    for (const bool turned : {false, true}) {
      const std::string from = turned ? swapped(key) : key, to = turned ? swapped(entry->second) : entry->second;
      learn(digits_of(from), digits_of(to));
      if (is_strong(from)) learn(from, to);
      for (const std::string_view middle : {std::string_view("\xff\xfe"), std::string_view("\x03\x00", 2)}) {
        std::string whole = from.substr(0, 3).append(middle).append(from.substr(3)),
                    hidden = to.substr(0, 3).append(middle).append(to.substr(3));
        learn(digits_of(whole), digits_of(hidden));
        if (!is_strong(from)) continue;
        learn(whole, hidden);
        std::ranges::reverse(whole);
        std::ranges::reverse(hidden);
        learn(whole, hidden);
      }
    }
  }
  std::string out = entry->second;
  out[0] = bytes[0];
  return out;
}

std::string Pseudonyms::of_guid(std::string_view bytes) {
  if (bytes.size() != 8 || all_zero(bytes)) return std::string(bytes);
  if (is_of_mac(bytes)) {
    const std::string hidden = of_mac(std::string(bytes.substr(0, 3)).append(bytes.substr(5)));
    return hidden.substr(0, 3).append(bytes.substr(3, 2)).append(hidden.substr(3));
  }
  auto [entry, is_new] = guids_.try_emplace(std::string(bytes));
  if (is_new) {
    entry->second = counted(std::string(bytes), 3, guids_.size());
    learn(digits_of(bytes), digits_of(entry->second));
    if (is_strong(bytes)) {
      learn(std::string(bytes), entry->second);
      learn(std::string(bytes.rbegin(), bytes.rend()), std::string(entry->second.rbegin(), entry->second.rend()));
    }
  }
  return entry->second;
}

std::string Pseudonyms::of_word(std::string_view word) {
  const bool digits = std::ranges::all_of(word, is_hex);
  if (digits && word.size() == 16) return written_as(word, of_guid(bytes_of(word)));
  if (digits && word.size() == 12) return written_as(word, of_mac(bytes_of(word)));
  if (word.find_first_not_of("0-.: ") == std::string_view::npos) return std::string(word);
  auto [entry, is_new] = words_.try_emplace(std::string(word));
  if (is_new) {
    size_t number = words_.size();
    entry->second = word;
    for (size_t i = word.size(); i-- > 0;)
      if (is_word(word[i])) {
        entry->second[i] = static_cast<char>('0' + number % 10);
        number /= 10;
      }
    if (word.size() >= 8) learn(std::string(word), entry->second);
  }
  return entry->second;
}

std::string Pseudonyms::of_ipv6(std::string_view address) {
  if (address.size() != 16) return std::string(address);
  const std::string_view prefix = address.substr(0, 8), identifier = address.substr(8);
  const bool local = prefix == std::string_view("\xfe\x80\0\0\0\0\0\0", 8);
  if (identifier.substr(3, 2) != "\xff\xfe" && !local) return std::string(address);
  return std::string(prefix).append(of_guid(identifier));
}

std::string Pseudonyms::in_text(std::string_view text) {
  const auto hide = [this](std::string_view token) -> std::string {
    const auto colons = groups(token, ':'), dashes = groups(token, '-');
    if (all_of(colons, 6, 2) || all_of(dashes, 6, 2)) return written_as(token, of_mac(bytes_of(token)));
    if (all_of(colons, 8, 2) || all_of(dashes, 8, 2) || all_of(colons, 4, 4))
      return written_as(token, of_guid(bytes_of(token)));
    if (all_of(colons, 8, 4)) return written_as(token, of_ipv6(bytes_of(token)));
    if (all_of(colons, 20, 2)) {  // IPoIB: queue pair, then a GID (RFC 4391)
      const std::string bytes = bytes_of(token);
      return written_as(token, bytes.substr(0, 4) + of_ipv6(std::string_view(bytes).substr(4)));
    }
    if (dashes == std::vector<size_t>{8, 4, 4, 4, 12}) return of_word(token);
    std::array<char, 16> address{};
    if (token.size() >= 4 && ::inet_pton(AF_INET6, std::string(token).c_str(), address.data()) == 1) {
      const std::string_view bytes(address.data(), address.size());
      const std::string hidden = of_ipv6(bytes);
      char shown[INET6_ADDRSTRLEN];
      if (hidden != bytes && ::inet_ntop(AF_INET6, hidden.data(), shown, sizeof shown) != nullptr) return shown;
    }
    return std::string(token);
  };
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool starts = kTokenLetters.find(text[at]) != std::string_view::npos && (at == 0 || !is_word(text[at - 1]));
    size_t end = starts ? std::min(text.find_first_not_of(kTokenLetters, at), text.size()) : at + 1;
    if (starts && (end == text.size() || !is_word(text[end]))) {
      size_t last = end;  // a sentence's full stop, a colon before a blank
      while (last > at && !is_hex(text[last - 1])) --last;
      out.append(hide(text.substr(at, last - at))).append(text.substr(last, end - last));
    } else {
      out.append(text.substr(at, end - at));
    }
    at = end;
  }
  return out;
}

std::string Pseudonyms::in_bytes(std::string bytes) const {
  for (size_t at = 0; at + 4 <= bytes.size(); ++at) {
    const auto near = known_.find(bytes.substr(at, 4));
    if (near == known_.end()) continue;
    for (const auto& [from, to] : near->second)
      if (bytes.compare(at, from.size(), from) == 0) {
        bytes.replace(at, from.size(), to);
        at += to.size() - 1;
        break;
      }
  }
  return bytes;
}

}  // namespace fabric
