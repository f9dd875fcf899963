// SPDX-License-Identifier: Apache-2.0
#include "kernel/capture/anonymize.h"

#include <algorithm>

#include "base/find.h"
#include "base/ip.h"
#include "base/parse.h"

namespace fabric {
namespace {

constexpr std::string_view kHex = "0123456789abcdefABCDEF";
constexpr std::string_view kTokenLetters = "0123456789abcdefABCDEF:-.";

bool is_hex(char letter) { return kHex.find(letter) != std::string_view::npos; }
bool is_word(char letter) {
  return is_hex(letter) || (letter >= 'g' && letter <= 'z') || (letter >= 'G' && letter <= 'Z') || letter == '_';
}

// From hexadecimal digits with any separators.
std::string bytes_of(std::string_view text) {
  std::string digits, out;
  std::ranges::copy_if(text, std::back_inserter(digits), is_hex);
  for (size_t at = 0; at + 1 < digits.size(); at += 2)
    out += static_cast<char>(*parse_number<uint8_t>(digits.substr(at, 2), 16));
  return out;
}

// The digits of `bytes` in the letters' places of `pattern`.
std::string written_as(std::string_view pattern, std::string_view bytes) {
  const bool in_capitals = pattern.find_first_of("ABCDEF") != std::string_view::npos;
  const std::string digits = in_capitals ? upper(hex_digits(bytes)) : hex_digits(bytes);
  std::string out(pattern);
  size_t next = 0;
  for (char& letter : out)
    if (is_hex(letter) && next < digits.size()) letter = digits[next++];
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

// High numbers, which few makers have reached: a pseudonym must not be another's real name.
std::string counted(std::string bytes, size_t keep, size_t number) {
  for (size_t i = bytes.size(); i-- > keep; number >>= 8) bytes[i] = static_cast<char>(number & 0xff);
  bytes[keep] = static_cast<char>(bytes[keep] | 0xf0);
  return bytes;
}

bool all_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

constexpr int kUniversal = 2;  // the U/L bit, which EUI-64 turns over (RFC 4291, appendix A)

std::string swapped(std::string bytes) {
  bytes[0] = static_cast<char>(bytes[0] ^ kUniversal);
  return bytes;
}

// In the middle of an EUI-64 that is derived from a MAC address: ff:fe, or 03:00 in Mellanox GUIDs.
constexpr std::string_view kMiddles[] = {{"\xff\xfe", 2}, {"\x03\x00", 2}};

// Long enough that a match in other bytes is no coincidence.
bool is_strong(std::string_view bytes) {
  return std::ranges::count_if(bytes, [](char byte) { return byte != 0 && byte != -1; }) >= 4;
}

}  // namespace

void Pseudonyms::learn(std::string from, std::string to) {
  if (from.size() >= 4 && from != to) known_[from.substr(0, 4)].emplace_back(std::move(from), std::move(to));
}

void Pseudonyms::learn_number(const std::string& from, const std::string& to, bool as_bytes) {
  learn(hex_digits(from), hex_digits(to));
  if (!as_bytes) return;
  learn(from, to);
  if (from.size() == 8) learn({from.rbegin(), from.rend()}, {to.rbegin(), to.rend()});
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
      learn_number(from, to, is_strong(from));
      for (const std::string_view middle : kMiddles)
        learn_number(from.substr(0, 3).append(middle).append(from.substr(3)),
                     to.substr(0, 3).append(middle).append(to.substr(3)), is_strong(from));
    }
  }
  std::string out = entry->second;
  out[0] = bytes[0];
  return out;
}

std::string Pseudonyms::of_guid(std::string_view bytes) {
  if (bytes.size() != 8 || all_zero(bytes)) return std::string(bytes);
  if (contains(kMiddles, bytes.substr(3, 2))) {
    const std::string hidden = of_mac(std::string(bytes.substr(0, 3)).append(bytes.substr(5)));
    return hidden.substr(0, 3).append(bytes.substr(3, 2)).append(hidden.substr(3));
  }
  auto [entry, is_new] = guids_.try_emplace(std::string(bytes));
  if (is_new) {
    entry->second = counted(std::string(bytes), 3, guids_.size());
    learn_number(entry->first, entry->second, is_strong(bytes));
  }
  return entry->second;
}

std::string Pseudonyms::of_word(std::string_view word) {
  const bool digits = std::ranges::all_of(word, is_hex);
  if (digits && word.size() == 16) return written_as(word, of_guid(bytes_of(word)));
  if (digits && word.size() == 12 && (bytes_of(word).front() & 1) == 0)  // else of_mac() keeps it
    return written_as(word, of_mac(bytes_of(word)));
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
    using Groups = std::vector<size_t>;
    const Groups colons = groups(token, ':'), dashes = groups(token, '-');
    if (colons == Groups(6, 2) || dashes == Groups(6, 2)) return written_as(token, of_mac(bytes_of(token)));
    if (colons == Groups(8, 2) || dashes == Groups(8, 2) || colons == Groups(4, 4))
      return written_as(token, of_guid(bytes_of(token)));
    if (colons == Groups(8, 4)) return written_as(token, of_ipv6(bytes_of(token)));
    if (colons == Groups(20, 2)) {  // IPoIB: queue pair, then a GID (RFC 4391)
      const std::string bytes = bytes_of(token);
      return written_as(token, bytes.substr(0, 4) + of_ipv6(std::string_view(bytes).substr(4)));
    }
    if (dashes == Groups{8, 4, 4, 4, 12}) return of_word(token);
    const auto ip = token.size() >= 4 ? parse_ip(std::string(token)) : std::nullopt;
    if (!ip || !ip->v6) return std::string(token);
    const std::string_view bytes(reinterpret_cast<const char*>(ip->bytes.data()), ip->bytes.size());
    const std::string hidden = of_ipv6(bytes);
    if (hidden == bytes) return std::string(token);
    Ip shown = *ip;
    std::ranges::copy(hidden, shown.bytes.begin());
    return to_text(shown);
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
