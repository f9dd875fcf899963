// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <charconv>
#include <cmath>

#include "base/parse.h"

namespace fabric {
namespace {

void write_string(std::string& out, std::string_view text) {
  static constexpr char hex[] = "0123456789abcdef";
  out += '"';
  for (size_t i = 0; i < text.size();) {
    char c = text[i];
    size_t length = utf8_length(text, i);
    if (length == 0) {
      out += "\xef\xbf\xbd";
      ++i;
      continue;
    }
    if (length > 1) out.append(text.substr(i, length));
    else if (c == '"' || c == '\\') (out += '\\') += c;
    else if (c == '\n') out += "\\n";
    else if (c == '\t') out += "\\t";
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      ((out += "\\u00") += hex[(c >> 4) & 0xf]) += hex[c & 0xf];
    else out += c;
    i += length;
  }
  out += '"';
}

template <class Number>
void write_number(std::string& out, Number value) {
  char buffer[40];
  auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  out.append(buffer, end);
}

void newline(std::string& out, int depth, bool compact) {
  if (compact) return;
  out += '\n';
  out.append(static_cast<size_t>(depth) * 2, ' ');
}

}  // namespace

Json& Json::put(std::string_view key, Json value) {
  if (!std::holds_alternative<Object>(value_)) value_ = Object{};
  std::get<Object>(value_).emplace_back(key, std::move(value));
  return *this;
}

Json& Json::push(Json value) {
  if (!std::holds_alternative<Array>(value_)) value_ = Array{};
  std::get<Array>(value_).push_back(std::move(value));
  return *this;
}

std::string Json::dump(bool compact) const {
  std::string out;
  write(out, 0, compact);
  return out;
}

void Json::write(std::string& out, int depth, bool compact) const {
  if (auto* array = std::get_if<Array>(&value_)) {
    out += '[';
    for (size_t i = 0; i < array->size(); ++i) {
      if (i != 0) out += compact ? ", " : ",";
      newline(out, depth + 1, compact);
      (*array)[i].write(out, depth + 1, compact);
    }
    if (!array->empty()) newline(out, depth, compact);
    out += ']';
  } else if (auto* object = std::get_if<Object>(&value_)) {
    out += '{';
    for (size_t i = 0; i < object->size(); ++i) {
      if (i != 0) out += compact ? ", " : ",";
      newline(out, depth + 1, compact);
      write_string(out, (*object)[i].first);
      out += ": ";
      (*object)[i].second.write(out, depth + 1, compact);
    }
    if (!object->empty()) newline(out, depth, compact);
    out += '}';
  } else if (auto* text = std::get_if<std::string>(&value_)) write_string(out, *text);
  else if (auto* flag = std::get_if<bool>(&value_)) out += *flag ? "true" : "false";
  else if (auto* whole = std::get_if<int64_t>(&value_)) write_number(out, *whole);
  else if (auto* natural = std::get_if<uint64_t>(&value_)) write_number(out, *natural);
  else if (auto* real = std::get_if<double>(&value_))
    std::isfinite(*real) ? write_number(out, *real) : void(out += "null");
  else out += "null";
}

}  // namespace fabric
