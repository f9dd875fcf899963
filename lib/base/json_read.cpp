// SPDX-License-Identifier: Apache-2.0
#include "base/json_read.h"

#include <cstdint>

#include "base/parse.h"

namespace fabric {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool document(JsonNode& out) {
    if (!any(out, 0)) return false;
    skip();
    return at_ == text_.size() || fail("something behind the end");
  }
  [[nodiscard]] std::string problem() const { return std::to_string(line_) + ": " + problem_; }

 private:
  bool fail(const char* what) {
    if (problem_ == nullptr) problem_ = what;
    return false;
  }

  void skip() {
    for (; at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos; ++at_)
      if (text_[at_] == '\n') ++line_;
  }
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted, const char* what) {
    if (peek() != wanted) return fail(what);
    ++at_;
    return true;
  }
  bool word(std::string_view wanted) {
    if (!text_.substr(at_).starts_with(wanted)) return false;
    at_ += wanted.size();
    return true;
  }

  bool any(JsonNode& out, int depth) {
    if (depth > kMaxJsonDepth) return fail("nested too deep");
    const char first = peek();
    out.line = line_;
    if (first == '{') return object(out.value.emplace<JsonNode::Object>(), depth);
    if (first == '[') return array(out.value.emplace<JsonNode::Array>(), depth);
    if (first == '"') return string(out.value.emplace<std::string>());
    if (word("null")) return true;
    if (word("true")) out.value = true;
    else if (word("false")) out.value = false;
    else return number(out.value.emplace<JsonNode::Number>().text);
    return true;
  }

  bool object(JsonNode::Object& out, int depth) {
    ++at_;
    if (peek() == '}') return take('}', "");
    for (;;) {
      std::string key;
      JsonNode value;
      if (peek() != '"') return fail("a member's name in quotes is missing");
      if (!string(key) || !take(':', "a colon is missing") || !any(value, depth + 1)) return false;
      out.emplace_back(std::move(key), std::move(value));
      if (peek() == '}') return take('}', "");
      if (!take(',', "a comma or } is missing")) return false;
    }
  }

  bool array(JsonNode::Array& out, int depth) {
    ++at_;
    if (peek() == ']') return take(']', "");
    for (;;) {
      if (!any(out.emplace_back(), depth + 1)) return false;
      if (peek() == ']') return take(']', "");
      if (!take(',', "a comma or ] is missing")) return false;
    }
  }

  bool number(std::string& out) {
    const size_t start = at_;
    while (at_ < text_.size() && std::string_view("+-.0123456789eE").find(text_[at_]) != std::string_view::npos) ++at_;
    out = text_.substr(start, at_ - start);
    return parse_double(out) ? true : fail("no value");
  }

  bool string(std::string& out) {
    ++at_;
    while (at_ < text_.size() && text_[at_] != '"') {
      const char c = text_[at_++];
      if (static_cast<unsigned char>(c) < 0x20) return fail("a control character in a string");
      if (c != '\\') out += c;
      else if (!escape(out)) return false;
    }
    if (at_ == text_.size()) return fail("a string without its end");
    ++at_;
    return true;
  }

  bool escape(std::string& out) {
    static constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return fail("a string without its end");
    const char c = text_[at_++];
    if (const size_t known = kFrom.find(c); known != std::string_view::npos) {
      out += kTo[known];
      return true;
    }
    uint32_t code = 0;
    if (c != 'u' || !hex(code)) return fail("an unknown escape");
    if (code >= 0xd800 && code < 0xdc00) {
      uint32_t low = 0;
      if (!word("\\u") || !hex(low) || low < 0xdc00 || low > 0xdfff) return fail("half a surrogate pair");
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    append_utf8(code, out);
    return true;
  }

  bool hex(uint32_t& out) {
    const std::string_view digits = text_.substr(at_, 4);
    const auto code = digits.size() == 4 ? parse_number<uint16_t>(digits, 16) : std::nullopt;
    if (!code) return false;
    out = *code;
    at_ += 4;
    return true;
  }

  static void append_utf8(uint32_t code, std::string& out) {
    const auto put = [&](uint32_t byte) { out += static_cast<char>(byte); };
    if (code < 0x80) return put(code);
    if (code < 0x800) put(0xc0 | code >> 6);
    else if (code < 0x10000) put(0xe0 | code >> 12);
    else put(0xf0 | code >> 18);
    if (code >= 0x10000) put(0x80 | (code >> 12 & 0x3f));
    if (code >= 0x800) put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }

  std::string_view text_;
  size_t at_ = 0, line_ = 1;
  const char* problem_ = nullptr;
};

}  // namespace

const JsonNode* JsonNode::find(std::string_view key) const {
  const auto* object = std::get_if<Object>(&value);
  if (object == nullptr) return nullptr;
  for (const auto& [name, node] : *object)
    if (name == key) return &node;
  return nullptr;
}

const JsonNode::Array& JsonNode::elements() const {
  static const Array none;
  const auto* array = std::get_if<Array>(&value);
  return array != nullptr ? *array : none;
}

const std::string& JsonNode::text() const {
  static const std::string none;
  const auto* text = std::get_if<std::string>(&value);
  return text != nullptr ? *text : none;
}

Result<JsonNode> read_json(std::string_view text, const std::string& name) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  Parser parser(text);
  JsonNode out;
  if (!parser.document(out)) return error(0, name + ":" + parser.problem());
  return out;
}

}  // namespace fabric
