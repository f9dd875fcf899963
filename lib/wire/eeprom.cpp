// SPDX-License-Identifier: Apache-2.0
#include "wire/eeprom.h"

#include "base/find.h"
#include "wire/module_memory.h"

namespace fabric::eeprom {
namespace {

struct FormFactor {
  uint8_t identifier;
  std::string_view name;
  const Standard& standard;
};

// SFF-8024 table 4-1: the identifiers that serve as network ports.
constexpr FormFactor kFormFactors[] = {
    {0x03, "SFP", kSff8472},         {0x0b, "DWDM-SFP", kSff8472},
    {0x0c, "QSFP", kSff8636},        {0x0d, "QSFP+", kSff8636},
    {0x11, "QSFP28", kSff8636},      {0x18, "QSFP-DD", kCmis},
    {0x19, "OSFP", kCmis},           {0x1b, "DSFP", kCmis},
    {0x1e, "QSFP with CMIS", kCmis}, {0x1f, "SFP-DD with CMIS", kCmis},
    {0x20, "SFP with CMIS", kCmis},  {0x21, "OSFP-XD with CMIS", kCmis},
};

const FormFactor* find_form_factor(uint8_t identifier) {
  return find_where(kFormFactors, [=](const FormFactor& row) { return row.identifier == identifier; });
}

}  // namespace

std::vector<Page> read_pages(const std::function<Bytes(const PageRequest&)>& read) {
  std::vector<Page> out{{kFirstPage, read(kFirstPage)}};
  const FormFactor* form = find_form_factor(Registers(out).u8(0).value_or(0));
  if (form == nullptr) return out;
  for (;;) {
    const auto known = form->standard.further_pages(out);
    if (out.size() > known.size()) return out;
    const PageRequest& next = known[out.size() - 1];
    out.push_back({next, read(next)});
  }
}

Result<Transceiver> decode(std::span<const Page> pages) {
  // A page with the bytes of page 00h does not exist: a module that lacks the selected page returns page 00h (SFF-8636
  // 6.2, byte 127), and if a driver takes an SFP for one without diagnostics, the kernel reads A0h for A2h
  // (net/ethtool/eeprom.c fallback_set_params() of Linux 6.12: ETH_MODULE_SFF_8079).
  std::vector<Page> existing;
  const auto is_page_00h = [](const Page& page) {
    return page.request.page == 0 && page.request.i2c_address == kFirstPage.i2c_address;
  };
  for (const Page& page : pages) {
    const bool is_copy =
        std::ranges::any_of(pages, [&](const Page& each) { return is_page_00h(each) && each.data == page.data; });
    if (is_page_00h(page) || !is_copy) existing.push_back(page);
  }
  const auto identifier = Registers(existing).u8(0);
  if (!identifier) return error(EBADMSG, "module memory: no identifier");
  const FormFactor* form = find_form_factor(*identifier);
  if (form == nullptr) return error(EOPNOTSUPP, "module memory: identifier 0x" + hex_byte(*identifier));
  Transceiver out = form->standard.decode(existing);
  out.identifier = *identifier;
  out.form_factor = form->name;
  return out;
}

}  // namespace fabric::eeprom
