// SPDX-License-Identifier: Apache-2.0
// Netlink attributes, by libnl.
#include <linux/netlink.h>
#include <netlink/attr.h>

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "kernel/netlink/netlink.h"

namespace fabric {

AttrWriter& AttrWriter::append(View8 bytes) {
  out_.insert(out_.end(), bytes.begin(), bytes.end());
  out_.resize(NLA_ALIGN(out_.size()));
  return *this;
}

AttrWriter& AttrWriter::bytes(uint16_t type, View8 value) {
  return header(nlattr{static_cast<uint16_t>(nla_attr_size(static_cast<int>(value.size()))), type}).append(value);
}

AttrWriter& AttrWriter::text(uint16_t type, std::string_view value) {
  const std::string terminated(value);
  return bytes(type, std::as_bytes(std::span(terminated.c_str(), terminated.size() + 1)));
}

AttrWriter& AttrWriter::nest(uint16_t type, const AttrWriter& inner) {
  return bytes(static_cast<uint16_t>(type | NLA_F_NESTED), inner.data());
}

std::string_view Attr::raw_text() const {
  const std::string_view raw = as_text(value);
  return raw.substr(0, raw.find('\0'));
}

std::string Attr::text() const { return clean_text(raw_text()); }

std::vector<Attr> parse_attributes(View8 payload, size_t skip) {
  payload = payload.subspan(std::min<size_t>(payload.size(), NLA_ALIGN(skip)));
  std::vector<Attr> out;
  int left = static_cast<int>(payload.size());
  // A last attribute without its padding leaves less than nothing.
  for (auto* at = reinterpret_cast<const nlattr*>(payload.data()); left > 0 && nla_ok(at, left);
       at = nla_next(at, &left))
    out.push_back({static_cast<uint16_t>(nla_type(at)),
                   View8(static_cast<const std::byte*>(nla_data(at)), static_cast<size_t>(nla_len(at)))});
  return out;
}

const Attr* find(const std::vector<Attr>& attributes, uint16_t type) {
  return find_where(attributes, [type](const Attr& attr) { return attr.type == type; });
}

std::string text_of(const std::vector<Attr>& attributes, uint16_t type) {
  const Attr* attr = find(attributes, type);
  return attr != nullptr ? attr->text() : std::string();
}

std::vector<Attr> parse_nested(const std::vector<Attr>& attributes, uint16_t type) {
  const Attr* nest = find(attributes, type);
  return nest != nullptr ? parse_attributes(nest->value) : std::vector<Attr>();
}

}  // namespace fabric
