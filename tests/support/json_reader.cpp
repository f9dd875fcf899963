// SPDX-License-Identifier: Apache-2.0
#include "support/json_reader.h"

#include <cctype>
#include <cstdint>
#include <stdexcept>

#include "base/parse.h"

namespace fabric::test {

class JsonParser {
 public:
  explicit JsonParser(std::string_view text) : text_(text) {}

  JsonValue document() {
    JsonValue value = any();
    space();
    if (at_ != text_.size()) fail();
    return value;
  }

 private:
  [[noreturn]] void fail() const { throw std::runtime_error("not JSON at byte " + std::to_string(at_)); }

  void space() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  char peek() {
    space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void take(char expected) {
    if (peek() != expected) fail();
    ++at_;
  }
  bool take_word(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  JsonValue any() {
    JsonValue value;
    switch (peek()) {
      case '{': value.value_ = object(); break;
      case '[': value.value_ = array(); break;
      case '"': value.value_ = string(); break;
      default:
        if (take_word("null")) break;
        if (take_word("true")) value.value_ = true;
        else if (take_word("false")) value.value_ = false;
        else value.value_ = number();
    }
    return value;
  }

  JsonValue::Object object() {
    JsonValue::Object out;
    take('{');
    while (peek() != '}') {
      std::string key = string();
      take(':');
      out[std::move(key)] = any();
      if (peek() != '}') take(',');
    }
    take('}');
    return out;
  }

  JsonValue::Array array() {
    JsonValue::Array out;
    take('[');
    while (peek() != ']') {
      out.push_back(any());
      if (peek() != ']') take(',');
    }
    take(']');
    return out;
  }

  std::string string() {
    take('"');
    std::string out;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (c == '\\') escape(out);
      else out += c;
    }
    if (at_++ >= text_.size()) fail();
    return out;
  }

  void escape(std::string& out) {
    static constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    if (at_ >= text_.size()) fail();
    const char c = text_[at_++];
    if (const size_t known = kFrom.find(c); known != std::string_view::npos) {
      out += kTo[known];
      return;
    }
    const auto code = c == 'u' ? parse_number<uint16_t>(text_.substr(at_, 4), 16) : std::nullopt;
    if (!code) fail();
    at_ += 4;
    out += *code < 0x80 ? static_cast<char>(*code) : '?';  // no test looks at more than ASCII
  }

  double number() {
    const size_t end = text_.find_first_not_of("+-0123456789.eE", at_);
    const auto value = parse_double(text_.substr(at_, end - at_));
    if (!value) fail();
    at_ = end == std::string_view::npos ? text_.size() : end;
    return *value;
  }

  std::string_view text_;
  size_t at_ = 0;
};

JsonValue JsonValue::parse(std::string_view text) { return JsonParser(text).document(); }

const JsonValue& JsonValue::operator[](const std::string& key) const {
  static const JsonValue null;
  const auto& members = object();
  const auto found = members.find(key);
  return found == members.end() ? null : found->second;
}

}  // namespace fabric::test
