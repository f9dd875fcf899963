// SPDX-License-Identifier: Apache-2.0
#include "wire/eeprom.h"

#include <algorithm>

#include "wire/eeprom_memory.h"

namespace fabric::eeprom {
namespace {

enum class Standard : uint8_t { sff8472, sff8636, cmis };

struct FormFactor {
  uint8_t identifier;
  std::string_view name;
  Standard standard;
};

// SFF-8024 table 4-1: those that serve as network ports. A new one is one row.
constexpr FormFactor kFormFactors[] = {
    {0x03, "SFP", Standard::sff8472},         {0x0b, "DWDM-SFP", Standard::sff8472},
    {0x0c, "QSFP", Standard::sff8636},        {0x0d, "QSFP+", Standard::sff8636},
    {0x11, "QSFP28", Standard::sff8636},      {0x18, "QSFP-DD", Standard::cmis},
    {0x19, "OSFP", Standard::cmis},           {0x1b, "DSFP", Standard::cmis},
    {0x1e, "QSFP with CMIS", Standard::cmis}, {0x1f, "SFP-DD with CMIS", Standard::cmis},
    {0x20, "SFP with CMIS", Standard::cmis},  {0x21, "OSFP-XD with CMIS", Standard::cmis},
};

const FormFactor* form_factor(uint8_t identifier) {
  for (const FormFactor& row : kFormFactors)
    if (row.identifier == identifier) return &row;
  return nullptr;
}

std::vector<Place> places(Standard standard, const Memory& lower) {
  switch (standard) {
    case Standard::sff8472: return places_sff8472(lower);
    case Standard::sff8636: return places_sff8636(lower);
    case Standard::cmis: break;
  }
  return places_cmis(lower);
}

Transceiver decode_as(Standard standard, const Memory& memory) {
  switch (standard) {
    case Standard::sff8472: return decode_sff8472(memory);
    case Standard::sff8636: return decode_sff8636(memory);
    case Standard::cmis: break;
  }
  return decode_cmis(memory);
}

// The existing pages: a module that lacks the selected page returns to page 00h (SFF-8636 6.2, byte 127).
std::vector<Page> present(std::span<const Page> pages) {
  const auto identity =
      std::ranges::find_if(pages, [](const Page& page) { return page.place == Place{.offset = 128}; });
  std::vector<Page> out;
  for (const Page& page : pages)
    if (page.place.page == 0 || identity == pages.end() || page.data != identity->data) out.push_back(page);
  return out;
}

}  // namespace

Place first_place() { return {}; }

std::vector<Place> further_places(View8 first) {
  const Page page{first_place(), Bytes(first.begin(), first.end())};
  const Memory lower(std::span(&page, 1));
  const FormFactor* form = form_factor(lower.u8(kBase, 0).value_or(0));
  if (form == nullptr) return {};
  return places(form->standard, lower);
}

Result<Transceiver> decode(std::span<const Page> pages) {
  const std::vector<Page> read = present(pages);
  const Memory memory(read);
  const auto identifier = memory.u8(kBase, 0);
  if (!identifier) return error(EBADMSG, "module memory: no identifier");
  const FormFactor* form = form_factor(*identifier);
  if (form == nullptr) return error(EOPNOTSUPP, "module memory: identifier 0x" + hex_byte(*identifier));
  Transceiver out = decode_as(form->standard, memory);
  out.identifier = *identifier;
  out.form_factor = form->name;
  return out;
}

}  // namespace fabric::eeprom
