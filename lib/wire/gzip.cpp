// SPDX-License-Identifier: Apache-2.0
#include "wire/gzip.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace fabric {

namespace {

constexpr unsigned kMostBits = 15;  // of a code
constexpr size_t kLiterals = 288, kDistances = 30, kEndOfBlock = 256;

// Bits of a stream, the lowest of each byte first. Reading beyond the end gives zeros, and `failed`.
class Bits {
 public:
  explicit Bits(std::string_view data) : data_(data) {}
  unsigned take(unsigned count) {
    while (held_ < count) {
      if (at_ == data_.size()) {
        failed = true;
        return 0;
      }
      bits_ |= static_cast<uint32_t>(static_cast<unsigned char>(data_[at_++])) << held_;
      held_ += 8;
    }
    const unsigned value = bits_ & ((1U << count) - 1);
    bits_ >>= count;
    held_ -= count;
    return value;
  }
  // The bytes of a stored block, which begin at a byte.
  std::string_view take_bytes(size_t count) {
    bits_ = held_ = 0;  // at most seven bits of the last byte
    if (count > data_.size() - at_) {
      failed = true;
      return {};
    }
    at_ += count;
    return data_.substr(at_ - count, count);
  }
  void skip_to_byte() { bits_ = held_ = 0; }

  bool failed = false;

 private:
  std::string_view data_;
  size_t at_ = 0;
  uint32_t bits_ = 0;
  unsigned held_ = 0;
};

// A canonical Huffman code (RFC 1951, 3.2.2): the codes of a length are consecutive numbers, in the order of the
// symbols.
class Code {
 public:
  // `lengths`: bits of each symbol's code; 0: unused. False if there are more codes than their lengths allow.
  bool assign(std::span<const uint8_t> lengths) {
    count_.fill(0);
    for (const uint8_t length : lengths) ++count_[length];
    count_[0] = 0;
    long room = 1;
    std::array<size_t, kMostBits + 2> first{};
    for (unsigned length = 1; length <= kMostBits; ++length) {
      room = 2 * room - static_cast<long>(count_[length]);
      if (room < 0) return false;
      first[length + 1] = first[length] + count_[length];
    }
    for (size_t symbol = 0; symbol < lengths.size(); ++symbol)
      if (lengths[symbol] != 0) symbols_[first[lengths[symbol]]++] = static_cast<uint16_t>(symbol);
    return true;
  }
  size_t read(Bits& bits) const {
    size_t code = 0, lowest = 0, before = 0;  // the first code of the length; the codes of shorter lengths
    for (unsigned length = 1; length <= kMostBits && !bits.failed; ++length) {
      code = 2 * code + bits.take(1);
      lowest *= 2;
      if (code < lowest + count_[length]) return symbols_[before + code - lowest];
      lowest += count_[length];
      before += count_[length];
    }
    bits.failed = true;
    return kEndOfBlock;
  }

 private:
  std::array<size_t, kMostBits + 1> count_{};
  std::array<uint16_t, kLiterals> symbols_{};
};

// A number of symbol `step`, of a table whose numbers grow by `run` symbols for each extra bit (RFC 1951, 3.2.5).
struct Step {
  size_t base;
  unsigned extra;
};
Step step_of(size_t symbol, size_t run) {
  if (symbol < 2 * run) return {symbol, 0};
  const unsigned extra = static_cast<unsigned>(symbol / run) - 1;
  return {((symbol % run) + run) << extra, extra};
}

bool copy_block(Bits& bits, const Code& literals, const Code& distances, size_t most, std::string& out) {
  for (;;) {
    const size_t symbol = literals.read(bits);
    if (bits.failed || out.size() > most) return false;
    if (symbol == kEndOfBlock) return true;
    if (symbol < kEndOfBlock) {
      out.push_back(static_cast<char>(symbol));
      continue;
    }
    constexpr size_t kLongest = 285, kFirst = 257;
    if (symbol > kLongest) return false;
    size_t length = 258;
    if (symbol != kLongest) {
      const Step step = step_of(symbol - kFirst, 4);
      length = 3 + step.base + bits.take(step.extra);
    }
    const size_t far = distances.read(bits);
    if (far >= kDistances) return false;
    const Step step = step_of(far, 2);
    const size_t distance = 1 + step.base + bits.take(step.extra);
    if (bits.failed || distance > out.size() || length > most - out.size()) return false;
    for (size_t i = 0; i < length; ++i) out.push_back(out[out.size() - distance]);
  }
}

bool copy_with_fixed_codes(Bits& bits, size_t most, std::string& out) {
  std::array<uint8_t, kLiterals> lengths{};
  for (size_t symbol = 0; symbol < kLiterals; ++symbol)
    lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
  std::array<uint8_t, kDistances> all{};
  all.fill(5);
  Code literals, distances;
  return literals.assign(lengths) && distances.assign(all) && copy_block(bits, literals, distances, most, out);
}

bool copy_with_own_codes(Bits& bits, size_t most, std::string& out) {
  const size_t literal_count = 257 + bits.take(5), distance_count = 1 + bits.take(5), length_count = 4 + bits.take(4);
  if (literal_count > 286 || distance_count > kDistances) return false;
  constexpr uint8_t kOrder[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  std::array<uint8_t, std::size(kOrder)> of_lengths{};
  for (size_t i = 0; i < length_count; ++i) of_lengths[kOrder[i]] = static_cast<uint8_t>(bits.take(3));
  Code code;
  if (!code.assign(of_lengths)) return false;
  std::array<uint8_t, kLiterals + kDistances> lengths{};
  const size_t count = literal_count + distance_count;
  for (size_t i = 0; i < count;) {
    const size_t symbol = code.read(bits);
    if (bits.failed) return false;
    if (symbol < 16) {
      lengths[i++] = static_cast<uint8_t>(symbol);
      continue;
    }
    uint8_t value = 0;
    size_t repeat = 0;
    if (symbol == 16) {
      if (i == 0) return false;
      value = lengths[i - 1];
      repeat = 3 + bits.take(2);
    } else if (symbol == 17) repeat = 3 + bits.take(3);
    else repeat = 11 + bits.take(7);
    if (repeat > count - i) return false;
    std::fill_n(lengths.begin() + static_cast<long>(i), repeat, value);
    i += repeat;
  }
  Code literals, distances;
  const std::span<const uint8_t> all(lengths);
  return literals.assign(all.first(literal_count)) && distances.assign(all.subspan(literal_count, distance_count)) &&
         copy_block(bits, literals, distances, most, out);
}

bool copy_stored(Bits& bits, size_t most, std::string& out) {
  bits.skip_to_byte();
  const unsigned length = bits.take(16), inverse = bits.take(16);
  if (bits.failed || length != (~inverse & 0xffff) || length > most - out.size()) return false;
  out += bits.take_bytes(length);
  return !bits.failed;
}

// RFC 1951
std::optional<std::string> inflate(std::string_view data, size_t most) {
  Bits bits(data);
  std::string out;
  for (bool is_last = false; !is_last;) {
    is_last = bits.take(1) != 0;
    const unsigned kind = bits.take(2);
    if (bits.failed) return std::nullopt;
    bool copied = false;
    if (kind == 0) copied = copy_stored(bits, most, out);
    else if (kind == 1) copied = copy_with_fixed_codes(bits, most, out);
    else if (kind == 2) copied = copy_with_own_codes(bits, most, out);
    if (!copied || out.size() > most) return std::nullopt;
  }
  return out;
}

}  // namespace

std::optional<std::string> gunzip(std::string_view file, size_t most) {
  constexpr size_t kHeader = 10, kTrailer = 8;
  constexpr unsigned kDeflate = 8, kHasCrc = 2, kHasExtra = 4, kHasName = 8, kHasComment = 16;
  if (file.size() < kHeader + kTrailer || !file.starts_with("\x1f\x8b") || file[2] != kDeflate) return std::nullopt;
  const auto flags = static_cast<unsigned char>(file[3]);
  file.remove_prefix(kHeader);
  if ((flags & kHasExtra) != 0) {
    const size_t length = static_cast<unsigned char>(file[0]) + (size_t{static_cast<unsigned char>(file[1])} << 8);
    if (file.size() < 2 + length) return std::nullopt;
    file.remove_prefix(2 + length);
  }
  for (const unsigned text : {kHasName, kHasComment}) {
    if ((flags & text) == 0) continue;
    const size_t end = file.find('\0');
    if (end == std::string_view::npos) return std::nullopt;
    file.remove_prefix(end + 1);
  }
  if ((flags & kHasCrc) != 0) {
    if (file.size() < 2) return std::nullopt;
    file.remove_prefix(2);
  }
  return inflate(file, most);
}

}  // namespace fabric
