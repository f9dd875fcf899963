// SPDX-License-Identifier: Apache-2.0
#include "kernel/capture/secrets.h"

#include <algorithm>

#include "base/parse.h"

namespace fabric {
namespace {

// Whether the value of this name is secret; also "WANDB_KEY", "--join-key".
bool is_secret_name(std::string_view name) {
  const std::string low = lower(name);
  for (const std::string_view word :
       {"passw", "secret", "token", "credential", "apikey", "api_key", "private_key", "access_key"})
    if (low.find(word) != std::string::npos) return true;
  return low.ends_with("_key") || low.ends_with("-key");
}

constexpr std::string_view kHidden = "hidden", kQuotes = "\"'";

// Hides the values of secret names in files of units (systemd.syntax(7)) and in command lines.
class Secrets {
 public:
  explicit Secrets(std::string_view text) : text_(text) {}

  std::string hide() {
    while (at_ < text_.size()) {
      if (kBlanks.find(text_[at_]) != std::string_view::npos) {
        out_ += text_[at_++];
        continue;
      }
      const size_t value = environment();
      if (value == std::string_view::npos) {
        take_word();
        continue;
      }
      // All variables of the line and of its continuation lines are hidden. The number of lines stays, because findings
      // name lines.
      out_.append(text_.substr(at_, value - at_)).append(kHidden);
      bool more = !is_remark(line_at(at_)) && goes_on(line_at(at_));
      for (at_ = std::min(text_.find('\n', value), text_.size()); more && at_ < text_.size();
           at_ = std::min(text_.find('\n', at_), text_.size())) {
        out_ += "\\\n";
        ++at_;
        more = is_remark(line_at(at_)) || goes_on(line_at(at_));
      }
    }
    return std::move(out_);
  }

 private:
  static constexpr std::string_view kBlanks{" \t\n\0", 4};

  // The place of the value of Environment=, also after blanks and in a line that is commented out; npos: another name.
  [[nodiscard]] size_t environment() const {
    constexpr std::string_view kName = "Environment";
    const size_t name = text_.find_first_not_of("#;", at_);
    if (name == std::string_view::npos || !text_.substr(name).starts_with(kName)) return std::string_view::npos;
    const size_t equals = text_.find_first_not_of(" \t", name + kName.size());
    if (equals == std::string_view::npos || text_[equals] != '=') return std::string_view::npos;
    return equals + 1;
  }

  [[nodiscard]] std::string_view line_at(size_t at) const {
    const size_t begin = at == 0 ? 0 : text_.rfind('\n', at - 1) + 1;
    return text_.substr(begin, std::min(text_.find('\n', at), text_.size()) - begin);
  }

  static bool is_remark(std::string_view line) { return trim(line).starts_with('#') || trim(line).starts_with(';'); }

  // Whether the line is continued: by an odd number of backslashes, as in unit_file::parse().
  static bool goes_on(std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    return (line.size() - (line.find_last_not_of('\\') + 1)) % 2 == 1;
  }

  // NAME=VALUE, --env=NAME=VALUE, or an option whose value is the next word.
  void take_word() {
    const size_t start = at_;
    const bool quoted = kQuotes.find(text_[start]) != std::string_view::npos;
    const std::string_view word =
        text_.substr(start, std::min(text_.find_first_of(kBlanks, start), text_.size()) - start);
    size_t equals = word.find('=');
    while (equals != std::string_view::npos && !is_secret_name(trim_quotes(word.substr(0, equals))))
      equals = word.find('=', equals + 1);
    if (equals != std::string_view::npos) {
      const size_t value = start + equals + 1;
      out_.append(word.substr(0, equals + 1)).append(kHidden);
      at_ = end_of_value(value);
      if (quoted) at_ = closing(text_[start], value, end_of_word(value));
      return;
    }
    out_.append(word);
    at_ += word.size();
    if (!word.substr(quoted ? 1 : 0).starts_with('-') || word.find('=') != std::string_view::npos ||
        !is_secret_name(trim_quotes(word)))
      return;
    // The value of the option is the next word, unless that is another option.
    const size_t value = next_word();
    if (value == std::string_view::npos || kBlanks.find(text_[value]) != std::string_view::npos) return;
    const bool value_quoted = kQuotes.find(text_[value]) != std::string_view::npos;
    if (text_.substr(value + (value_quoted ? 1 : 0)).starts_with('-')) return;
    out_.append(text_.substr(at_, value - at_)).append(kHidden);
    at_ = end_of_value(value);
  }

  static std::string_view trim_quotes(std::string_view name) {
    while (!name.empty() && kQuotes.find(name.back()) != std::string_view::npos) name.remove_suffix(1);
    return name;
  }

  // The end of a word, without backslashes at the end of the line.
  [[nodiscard]] size_t end_of_word(size_t from) const {
    size_t end = std::min(text_.find_first_of(kBlanks, from), text_.size());
    if (end < text_.size() && text_[end] != '\n') return end;
    while (end > from && (text_[end - 1] == '\\' || text_[end - 1] == '\r')) --end;
    return end;
  }

  // The place of the closing quote on this line, or `otherwise`.
  [[nodiscard]] size_t closing(char quote, size_t from, size_t otherwise) const {
    const size_t line = std::min(text_.find('\n', from), text_.size()), end = text_.find(quote, from);
    if (end >= line) return otherwise;
    return end;
  }

  [[nodiscard]] size_t end_of_value(size_t from) const {
    if (from >= text_.size() || kQuotes.find(text_[from]) == std::string_view::npos) return end_of_word(from);
    const size_t end = closing(text_[from], from + 1, std::string_view::npos);
    if (end == std::string_view::npos) return end_of_word(from);
    return end + 1;
  }

  // The place of the next word: after blanks, and after remarks if the line is continued.
  [[nodiscard]] size_t next_word() const {
    size_t at = text_.find_first_not_of(" \t", at_);
    while (at != std::string_view::npos && text_.substr(at).starts_with("\\\n")) {
      if (is_remark(line_at(at_))) return std::string_view::npos;
      for (at += 2; at < text_.size() && is_remark(line_at(at));)
        at = std::min(text_.find('\n', at), text_.size() - 1) + 1;
      at = text_.find_first_not_of(" \t", at);
    }
    return at;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::string out_;
};

}  // namespace

std::string without_secrets(std::string_view text) {
  std::string out = Secrets(text).hide();
  // "http://user:password@proxy" -> "http://hidden@proxy"
  for (size_t at = 0; (at = out.find("://", at)) != std::string::npos; at += 3) {
    const size_t end = std::min(out.find_first_of(std::string_view("/ \t\n\"'\0", 7), at + 3), out.size());
    const size_t sign = out.rfind('@', end - 1);  // the last one: a password may contain "@"
    if (sign != std::string::npos && sign >= at + 3) out.replace(at + 3, sign - at - 3, kHidden);
  }
  return out;
}

}  // namespace fabric
