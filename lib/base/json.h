// SPDX-License-Identifier: Apache-2.0
// JSON by nlohmann-json: an absent value is null, and text is always valid UTF-8. Also the format of our own files: one
// object, written by to_json() and read by from_json() of its type.
#pragma once

#include <cerrno>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/json_fwd.h"
#include "base/result.h"
#include "base/words.h"

template <class T>
struct nlohmann::adl_serializer<std::optional<T>> {
  template <class AnyJson>
  static void to_json(AnyJson& json, const std::optional<T>& value) {
    if (value) json = *value;
    else json = nullptr;
  }
  template <class AnyJson>
  static void from_json(const AnyJson& json, std::optional<T>& value) {
    if (json.is_null()) value.reset();
    else value = json.template get<T>();
  }
};

// The library truncates a number that does not fit; this serializer rejects it.
template <class T>
requires(std::integral<T> && !std::same_as<T, bool>) struct nlohmann::adl_serializer<T> {
  template <class AnyJson>
  static void to_json(AnyJson& json, T value) {
    nlohmann::to_json(json, value);
  }
  template <class AnyJson>
  static void from_json(const AnyJson& json, T& value) {
    using Range = std::numeric_limits<T>;
    if (const auto* positive = json.template get_ptr<const uint64_t*>(); positive != nullptr)
      if (std::cmp_less_equal(*positive, Range::max())) return void(value = static_cast<T>(*positive));
    if (const auto* number = json.template get_ptr<const int64_t*>(); number != nullptr && !json.is_number_unsigned())
      if (std::cmp_greater_equal(*number, Range::min()) && std::cmp_less_equal(*number, Range::max()))
        return void(value = static_cast<T>(*number));
    throw std::range_error("expected an integer from " + std::to_string(Range::min()) + " to " +
                           std::to_string(Range::max()));
  }
};

template <fabric::HasWords Enum>
struct nlohmann::adl_serializer<Enum> {
  template <class AnyJson>
  static void to_json(AnyJson& json, Enum value) {
    json = fabric::to_text(value);
  }
  template <class AnyJson>
  static void from_json(const AnyJson& json, Enum& value) {
    const auto word = fabric::parse_word<Enum>(json.template get<std::string>());
    if (!word) throw std::range_error("unknown word " + json.dump());
    value = *word;
  }
};

namespace fabric {

// JSON text indented by two spaces, with a newline at the end. Bytes that are not UTF-8 become U+FFFD.
std::string json_text(const Json& json);
// json_text() on one line.
std::string json_line(const Json& json);

// The number "format" in each of our files. A release reads its own format and, in it, ignores members that it does not
// know; a change that it would misread gets the next number.
inline constexpr int kFormat = 1;
// The errno of a file of a newer format.
inline constexpr int kNewerFormat = EOPNOTSUPP;

// The text of one of our files: "format" and the members, on one line, without null members. `jq . FILE` prints it
// indented.
std::string state_text(Json members);
// The inverse of state_text(). Does not trust the writer: limits size (1 MiB), levels and members of an object, applies
// clean_text() to text, and rejects keys that clean_text() would change. An Error has code EBADMSG, or kNewerFormat,
// and names the file and the place.
Result<Json> parse_state(std::string_view text, const std::string& name);

// The Error for an exception of from_json(), without the library's own error number.
Error unreadable_state(const std::string& name, const std::exception& fault);

// Reads a member of an object, for from_json(). Leaves `out` unchanged if the member is absent or null. An exception
// names the member.
template <class T>
void read_member(const Json& object, const char* name, T& out) {
  if (!object.is_object()) throw std::runtime_error("expected an object");
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return;
  try {
    found->get_to(out);
  } catch (const std::exception& fault) {
    throw std::runtime_error(std::string(name) + ": " + unreadable_state("", fault).what);
  }
}

// Throws if the member is absent or null.
inline void require(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) throw std::runtime_error(std::string(name) + " is missing");
}

// require() and read_member().
template <class T>
void read_required(const Json& object, const char* name, T& out) {
  require(object, name);
  read_member(object, name, out);
}

// read_member() of a number; throws if it is not from `least` to `most`.
template <class T>
void read_number(const Json& object, const char* name, T& out, T least, T most) {
  std::optional<T> value;
  read_member(object, name, value);
  if (!value) return;
  if (!(*value >= least && *value <= most)) throw std::runtime_error(std::string(name) + ": out of range");
  out = *value;
}

// Defines to_json() and from_json() of a struct with these members, by their names. An absent or null member leaves
// that of the struct unchanged.
#define FABRIC_JSON(Struct, ...)                                                     \
  FABRIC_JSON_MEMBERS(Struct, __VA_ARGS__)                                           \
  static void to_json(Json& json, const Struct& from) { write_members(json, from); } \
  static void from_json(const Json& json, Struct& into) { read_members(json, into); }
// Defines write_members() and read_members() only, for a struct with its own to_json() and from_json().
#define FABRIC_JSON_MEMBERS(Struct, ...)                                      \
  static void write_members(Json& json, const Struct& from) {                 \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(FABRIC_JSON_WRITE, __VA_ARGS__)) \
  }                                                                           \
  static void read_members(const Json& json, Struct& into) {                  \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(FABRIC_JSON_READ, __VA_ARGS__))  \
  }
#define FABRIC_JSON_WRITE(name) json[#name] = from.name;
#define FABRIC_JSON_READ(name) read_member(json, #name, into.name);

// Reads a whole file, by parse_state() and from_json().
template <class T>
Result<T> read_state(std::string_view text, const std::string& name) {
  const auto json = parse_state(text, name);
  if (!json) return json.error();
  try {
    return json->get<T>();
  } catch (const std::exception& fault) {
    return unreadable_state(name, fault);
  }
}

}  // namespace fabric
