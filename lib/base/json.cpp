// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <array>
#include <cerrno>

#include "base/parse.h"

template class nlohmann::basic_json<nlohmann::ordered_map>;

namespace fabric {
namespace {

constexpr int kFormat = 1;  // all our files have this format
constexpr size_t kMostBytes = size_t{1} << 20;
constexpr int kMostLevels = 16;        // our files have seven
constexpr size_t kMostMembers = 4096;  // of an object; ordered_json compares each new member with all of them

void drop_nulls(Json& json) {
  if (json.is_object()) {
    for (auto member = json.begin(); member != json.end();) {
      if (member->is_null()) member = json.erase(member);
      else drop_nulls(*member++);
    }
  } else if (json.is_array()) {
    for (Json& element : json) drop_nulls(element);
  }
}

}  // namespace

std::string json_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string json_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string state_text(Json members) {
  Json out = {{"format", kFormat}};
  out.update(members);
  drop_nulls(out);
  return json_line(out);
}

Result<Json> parse_state(std::string_view text, const std::string& name) {
  if (text.size() > kMostBytes) return error(EBADMSG, name + ": larger than 1 MiB");
  std::array<size_t, kMostLevels + 2> members{};
  const auto check_event = [&](int depth, Json::parse_event_t event, Json& value) {
    const auto level = static_cast<size_t>(depth);
    if (depth > kMostLevels) throw std::range_error("more than 16 levels");
    if (event == Json::parse_event_t::object_start) members[level + 1] = 0;
    if (event == Json::parse_event_t::key && ++members[level] > kMostMembers)
      throw std::range_error("an object of more than 4096 members");
    if (!value.is_string()) return true;
    std::string clean = clean_text(value.get_ref<const std::string&>());
    if (event == Json::parse_event_t::key && clean != value.get_ref<const std::string&>())
      throw std::range_error("a key with a character that cannot be shown");
    value = std::move(clean);
    return true;
  };
  try {
    Json json = Json::parse(text, check_event);
    if (!json.is_object()) throw std::range_error("expected an object");
    int format = 0;
    read_required(json, "format", format);
    if (format != kFormat) throw std::range_error("format " + std::to_string(format) + " of another release");
    return json;
  } catch (const std::exception& fault) {
    return unreadable_state(name, fault);
  }
}

Json lines_json(std::string_view text) {
  if (text.empty()) return {};
  return split(text, '\n');
}

Error unreadable_state(const std::string& name, const std::exception& fault) {
  std::string_view what = fault.what();
  if (what.starts_with("[json.exception")) what = what.substr(std::min(what.find("] ") + 2, what.size()));
  if (name.empty()) return error(EBADMSG, clean_text(what));
  return error(EBADMSG, name + ": " + clean_text(what));
}

}  // namespace fabric
