// SPDX-License-Identifier: Apache-2.0
// Netlink attributes: linux/netlink.h, struct nlattr (length with header, type), each padded to 4 bytes.
#include "kernel/netlink/nlattr.h"

#include <linux/netlink.h>

#include <algorithm>

#include "base/parse.h"

namespace fabric {
namespace {

constexpr size_t align4(size_t size) { return (size + 3) & ~size_t{3}; }

}  // namespace

AttrWriter& AttrWriter::bytes(uint16_t type, View8 value) {
  nlattr header{};
  header.nla_len = static_cast<uint16_t>(NLA_HDRLEN + value.size());
  header.nla_type = type;
  auto raw = std::as_bytes(std::span(&header, 1));
  out_.insert(out_.end(), raw.begin(), raw.end());
  out_.insert(out_.end(), value.begin(), value.end());
  out_.resize(align4(out_.size()));
  return *this;
}

AttrWriter& AttrWriter::u8(uint16_t type, uint8_t value) { return pod(type, value); }
AttrWriter& AttrWriter::u16(uint16_t type, uint16_t value) { return pod(type, value); }
AttrWriter& AttrWriter::u32(uint16_t type, uint32_t value) { return pod(type, value); }
AttrWriter& AttrWriter::u64(uint16_t type, uint64_t value) { return pod(type, value); }
AttrWriter& AttrWriter::flag(uint16_t type) { return bytes(type, {}); }

AttrWriter& AttrWriter::text(uint16_t type, std::string_view value) {
  std::string terminated(value);
  return bytes(type, std::as_bytes(std::span(terminated.c_str(), terminated.size() + 1)));
}

AttrWriter& AttrWriter::nest(uint16_t type, const AttrWriter& inner) {
  return bytes(static_cast<uint16_t>(type | NLA_F_NESTED), inner.data());
}

std::optional<uint8_t> Attr::u8() const { return pod<uint8_t>(); }
std::optional<uint16_t> Attr::u16() const { return pod<uint16_t>(); }
std::optional<uint32_t> Attr::u32() const { return pod<uint32_t>(); }
std::optional<uint64_t> Attr::u64() const { return pod<uint64_t>(); }

std::string Attr::text() const { return clean_text(text_in(*this)); }

std::string_view text_in(const Attr& attr) {
  const std::string_view raw(reinterpret_cast<const char*>(attr.value.data()), attr.value.size());
  return raw.substr(0, raw.find('\0'));
}

std::vector<Attr> parse_attributes(View8 payload, size_t skip) {
  std::vector<Attr> out;
  parse_attributes(payload, skip, out);
  return out;
}

void parse_attributes(View8 payload, size_t skip, std::vector<Attr>& out) {
  out.clear();
  payload = payload.subspan(std::min(payload.size(), align4(skip)));
  while (payload.size() >= NLA_HDRLEN) {
    nlattr header;
    std::memcpy(&header, payload.data(), sizeof header);
    if (header.nla_len < NLA_HDRLEN || header.nla_len > payload.size()) break;
    out.push_back({static_cast<uint16_t>(header.nla_type & NLA_TYPE_MASK),
                   payload.subspan(NLA_HDRLEN, header.nla_len - size_t{NLA_HDRLEN})});
    payload = payload.subspan(std::min(payload.size(), align4(header.nla_len)));
  }
}

const Attr* find(const std::vector<Attr>& attributes, uint16_t type) {
  auto it = std::find_if(attributes.begin(), attributes.end(), [type](const Attr& attr) { return attr.type == type; });
  return it != attributes.end() ? &*it : nullptr;
}

}  // namespace fabric
