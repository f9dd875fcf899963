// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "base/parse.h"

namespace fabric {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr size_t kMostLevels = 16;     // our files have seven
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

// Reads a text without building anything and throws if it exceeds the bounds. (A callback of Json::parse() would do,
// but with one the library compares all elements of a list after each.)
class StateBounds : public nlohmann::json_sax<Json> {
 public:
  bool start_object(size_t) override {
    members_.push_back(0);
    return check_level();
  }
  bool key(std::string& text) override {
    if (++members_.back() > kMostMembers) throw std::range_error("an object of more than 4096 members");
    if (clean_text(text) != text) throw std::range_error("a key with a character that cannot be shown");
    return true;
  }
  bool end_object() override {
    members_.pop_back();
    return true;
  }
  bool start_array(size_t) override {
    members_.push_back(0);
    return check_level();
  }
  bool end_array() override { return end_object(); }
  bool parse_error(size_t, const std::string&, const Json::exception& fault) override {
    throw std::range_error(fault.what());
  }

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(int64_t) override { return true; }
  bool number_unsigned(uint64_t) override { return true; }
  bool number_float(double, const std::string&) override { return true; }
  bool string(std::string&) override { return true; }
  bool binary(Json::binary_t&) override { return true; }

 private:
  bool check_level() const {
    if (members_.size() > kMostLevels) throw std::range_error("more than 16 levels");
    return true;
  }

  std::vector<size_t> members_;  // of each object and list that is open
};

// Reads the number of the first member, which is "format" in all our files, and stops: the rest may be anything.
class FormatNumber : public StateBounds {
 public:
  bool start_object(size_t) override { return ++objects_ == 1; }
  bool key(std::string& text) override { return text == "format"; }
  bool number_unsigned(uint64_t value) override {
    format = value;
    return false;
  }
  bool end_object() override { return false; }
  bool start_array(size_t) override { return false; }
  bool parse_error(size_t, const std::string&, const Json::exception&) override { return false; }
  std::optional<uint64_t> format;

 private:
  int objects_ = 0;
};

Error newer_format(const std::string& name) {
  return error(kNewerFormat,
               name + ": written by a newer release; this release reads format " + std::to_string(kFormat));
}

bool is_newer(std::string_view text) {
  FormatNumber number;
  Json::sax_parse(text, &number);
  return number.format.value_or(0) > kFormat;
}

void clean_strings(Json& json) {
  if (json.is_string()) json = clean_text(json.get_ref<const std::string&>());
  if (json.is_structured())
    for (Json& element : json) clean_strings(element);
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
  if (is_newer(text)) return newer_format(name);
  if (text.size() > kMostBytes) return error(EBADMSG, name + ": larger than 1 MiB");
  try {
    StateBounds bounds;
    Json::sax_parse(text, &bounds);
    Json json = Json::parse(text);
    clean_strings(json);
    if (!json.is_object()) throw std::range_error("expected an object");
    int64_t format = 0;
    read_required(json, "format", format);
    if (format > kFormat) return newer_format(name);  // not its first member
    if (format != kFormat) throw std::range_error("format " + std::to_string(format) + " of another release");
    return json;
  } catch (const std::exception& fault) {
    return unreadable_state(name, fault);
  }
}

Error unreadable_state(const std::string& name, const std::exception& fault) {
  std::string_view what = fault.what();
  if (what.starts_with("[json.exception")) what = what.substr(std::min(what.find("] ") + 2, what.size()));
  if (name.empty()) return error(EBADMSG, clean_text(what));
  return error(EBADMSG, name + ": " + clean_text(what));
}

}  // namespace fabric
