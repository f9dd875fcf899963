// SPDX-License-Identifier: Apache-2.0
#include "store/acks.h"

#include "store/files.h"
#include "store/toml_value.h"

namespace fabric {
namespace {

int64_t number_at(const toml::table& table, std::string_view key) {
  const auto* node = table.get(key);
  const auto* number = node == nullptr ? nullptr : node->as_integer();
  return number == nullptr ? 0 : number->get();
}

}  // namespace

std::string acks_toml(const std::vector<Ack>& acks) {
  std::string out = "# Written by fabric-agentctl ack; see fabric-agentctl(1). Times are seconds since 1970.\n";
  for (const Ack& ack : acks) {
    out += "\n[[ack]]\nid = " + toml_string(ack.id) + "\nsubject = " + toml_string(ack.subject) +
           "\nat = " + std::to_string(ack.at) + "\nuntil = " + std::to_string(ack.until) +
           "\nby = " + toml_string(ack.by) + "\ncomment = " + toml_string(ack.comment) + "\n";
  }
  return out;
}

Result<std::vector<Ack>> parse_acks(std::string_view text, const std::string& name) {
  const auto read_table = parse_state(text, name);
  if (!read_table) return read_table.error();
  const toml::table& table = *read_table;
  std::vector<Ack> out;
  const auto* list = table.get("ack") == nullptr ? nullptr : table.get("ack")->as_array();
  for (size_t i = 0; list != nullptr && i < list->size(); ++i) {
    const auto* entry = list->get(i)->as_table();
    if (entry == nullptr || clean_text_at(*entry, "id").empty())
      return error(EBADMSG, name + ": an [[ack]] without an id");
    out.push_back({clean_text_at(*entry, "id"), clean_text_at(*entry, "subject"), number_at(*entry, "at"),
                   number_at(*entry, "until"), clean_text_at(*entry, "by"), clean_text_at(*entry, "comment")});
  }
  return out;
}

Result<std::vector<Ack>> load_acks(const Root& root) {
  auto text = root.read(kAckFile);
  if (!text && text.error().code == ENOENT) return std::vector<Ack>{};
  if (!text) return text.error();
  return parse_acks(*text, std::string("/") + kAckFile);
}

Result<void> save_acks(const std::string& directory, const std::vector<Ack>& acks) {
  return replace_file(directory, kAckFile, acks_toml(acks));
}

}  // namespace fabric
