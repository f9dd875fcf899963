// SPDX-License-Identifier: Apache-2.0
#include "node/provider_abi.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <set>
#include <vector>

#include "base/find.h"
#include "base/parse.h"

namespace fabric::host {
namespace {

constexpr size_t kMostAbis = 64, kMostSegments = 32, kMostRelocations = 1 << 18, kLongestName = 32;

// A shared object of 64 bits, little-endian, as the loader sees it.
class SharedObject {
 public:
  explicit SharedObject(std::string_view file) : file_(file) {
    const auto header = read<Elf64_Ehdr>(0);
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_ident[EI_CLASS] != ELFCLASS64 ||
        header->e_ident[EI_DATA] != ELFDATA2LSB || header->e_phentsize != sizeof(Elf64_Phdr))
      return;
    if (header->e_machine == EM_X86_64) relative_ = R_X86_64_RELATIVE;
    if (header->e_machine == EM_AARCH64) relative_ = R_AARCH64_RELATIVE;
    for (size_t i = 0; i < std::min<size_t>(header->e_phnum, kMostSegments); ++i) {
      const auto segment = read<Elf64_Phdr>(header->e_phoff + i * sizeof(Elf64_Phdr));
      if (segment && segment->p_type == PT_LOAD) loaded_.push_back(*segment);
      if (segment && segment->p_type == PT_DYNAMIC) read_dynamic(*segment);
    }
  }

  // The pointers in its data that the loader relocates: address -> address that it points to.
  [[nodiscard]] std::map<uint64_t, uint64_t> pointers() const {
    std::map<uint64_t, uint64_t> out;
    if (!relative_) return out;
    const uint64_t most = std::min<uint64_t>(table_size_ / sizeof(Elf64_Rela), kMostRelocations);
    for (uint64_t i = 0; i < most; ++i) {
      const auto each = at<Elf64_Rela>(table_ + i * sizeof(Elf64_Rela));
      if (!each) break;
      if (ELF64_R_TYPE(each->r_info) == *relative_) out[each->r_offset] = static_cast<uint64_t>(each->r_addend);
    }
    add_packed(out);
    return out;
  }

  template <class T>
  [[nodiscard]] std::optional<T> at(uint64_t address) const {
    const auto place = place_of(address);
    if (!place) return std::nullopt;
    return read<T>(*place);
  }

  // The text at the address, if it is a name.
  [[nodiscard]] std::string_view name_at(uint64_t address) const {
    const auto place = place_of(address);
    if (!place) return {};
    const std::string_view rest = file_.substr(*place, kLongestName);
    const std::string_view name = rest.substr(0, rest.find('\0'));
    const auto fits = [](char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
    return name.size() < rest.size() && std::ranges::all_of(name, fits) ? name : std::string_view();
  }

 private:
  template <class T>
  [[nodiscard]] std::optional<T> read(uint64_t place) const {
    T out;
    if (place > file_.size() || file_.size() - place < sizeof out) return std::nullopt;
    std::memcpy(&out, file_.data() + place, sizeof out);
    return out;
  }

  [[nodiscard]] std::optional<uint64_t> place_of(uint64_t address) const {
    for (const Elf64_Phdr& each : loaded_)
      if (address >= each.p_vaddr && address - each.p_vaddr < each.p_filesz) {
        const uint64_t place = each.p_offset + (address - each.p_vaddr);
        if (place < file_.size()) return place;
      }
    return std::nullopt;
  }

  void read_dynamic(const Elf64_Phdr& segment) {
    for (uint64_t i = 0; i < segment.p_filesz / sizeof(Elf64_Dyn); ++i) {
      const auto each = read<Elf64_Dyn>(segment.p_offset + i * sizeof(Elf64_Dyn));
      if (!each || each->d_tag == DT_NULL) return;
      if (each->d_tag == DT_RELA) table_ = each->d_un.d_ptr;
      if (each->d_tag == DT_RELASZ) table_size_ = each->d_un.d_val;
      if (each->d_tag == kRelr) packed_ = each->d_un.d_ptr;
      if (each->d_tag == kRelrSize) packed_size_ = each->d_un.d_val;
    }
  }

  // DT_RELR of the generic ABI: an even word is an address, an odd one a bitmap of the 63 words after the last. The
  // pointer is in place.
  void add_packed(std::map<uint64_t, uint64_t>& out) const {
    uint64_t next = 0;
    size_t left = kMostRelocations;  // also of those outside of the file
    const auto add = [&](uint64_t address) {
      if (left == 0) return;
      --left;
      if (const auto target = at<uint64_t>(address)) out[address] = *target;
    };
    for (uint64_t i = 0; i < packed_size_ / sizeof(uint64_t) && left > 0; ++i) {
      const auto word = at<uint64_t>(packed_ + i * sizeof(uint64_t));
      if (!word) return;
      if ((*word & 1) == 0) {
        add(*word);
        next = *word + sizeof(uint64_t);
        continue;
      }
      for (unsigned bit = 1; bit < 64; ++bit)
        if ((*word >> bit & 1) != 0) add(next + (bit - 1) * sizeof(uint64_t));
      next += 63 * sizeof(uint64_t);
    }
  }

  static constexpr int64_t kRelrSize = 35, kRelr = 36;  // glibc before 2.36 does not name them
  std::string_view file_;
  std::vector<Elf64_Phdr> loaded_;
  uint64_t table_ = 0, table_size_ = 0, packed_ = 0, packed_size_ = 0;
  std::optional<uint32_t> relative_;
};

}  // namespace

std::map<std::string, AbiRange> parse_provider_abis(std::string_view file) {
  std::map<std::string, AbiRange> out;
  std::set<std::string> ambiguous;
  const auto add = [&](std::string_view name, const AbiRange& range) {
    if (name.empty() || range.least > range.most || out.size() == kMostAbis) return;
    const auto [known, is_new] = out.emplace(name, range);
    if (!is_new && known->second != range) ambiguous.insert(known->first);
  };
  if (file.starts_with(ELFMAG)) {
    // struct verbs_device_ops: const char *name; uint32_t match_min_abi_version, match_max_abi_version; const struct
    // verbs_match_ent *match_table.
    const SharedObject object(file);
    const auto pointers = object.pointers();
    for (const auto& [place, target] : pointers) {
      if (!pointers.contains(place + 16)) continue;
      const auto least = object.at<uint32_t>(place + 8), most = object.at<uint32_t>(place + 12);
      if (least && most) add(object.name_at(target), {*least, *most});
    }
  } else {
    for (const std::string_view line : split(file, '\n')) {
      const auto columns = words(line);
      if (columns.size() != 3) continue;
      const auto least = parse_number<uint32_t>(columns[1]), most = parse_number<uint32_t>(columns[2]);
      if (least && most) add(columns[0], {*least, *most});
    }
  }
  for (const std::string& name : ambiguous) out.erase(name);
  return out;
}

std::string to_text(const std::map<std::string, AbiRange>& abis) {
  std::string out;
  for (const auto& [name, range] : abis)
    out += name + " " + std::to_string(range.least) + " " + std::to_string(range.most) + "\n";
  return out;
}

}  // namespace fabric::host
