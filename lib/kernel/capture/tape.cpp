// SPDX-License-Identifier: Apache-2.0
#include "kernel/capture/tape.h"

#include <algorithm>
#include <array>

#include "base/parse.h"

namespace fabric {
namespace {

constexpr std::string_view kFirstLine = "fabric-agent capture 1";
constexpr size_t kMostLines = size_t{1} << 20;  // a node of 16 ports has some 50,000
constexpr std::string_view kLastLine = "end";
constexpr std::array<std::string_view, 13> kWords{
    "read",  "list",    "exists", "resolve",    "locked", "make_directory", "remove_directory",
    "route", "generic", "rdma",   "statistics", "query",  "clock"};
constexpr std::string_view kDigits = "0123456789abcdef";

std::optional<Ask> ask_of(std::string_view word) {
  const auto found = std::ranges::find(kWords, word);
  if (found == kWords.end()) return std::nullopt;
  return static_cast<Ask>(found - kWords.begin());
}

void put_byte(std::string& out, char byte) {
  const auto value = static_cast<unsigned char>(byte);
  out += kDigits[value >> 4];
  out += kDigits[value & 15];
}

std::string encode(Ask ask, std::string_view text) {
  std::string out;
  for (const char byte : text) {
    if (is_of_netlink(ask)) {
      put_byte(out, byte);
    } else if (byte > ' ' && byte < 0x7f && byte != '%') {
      out += byte;
    } else {
      out += '%';
      put_byte(out, byte);
    }
  }
  return out;
}

std::optional<char> take_byte(std::string_view text) {
  if (text.size() < 2) return std::nullopt;
  const size_t high = kDigits.find(text[0]), low = kDigits.find(text[1]);
  if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
  return static_cast<char>(high << 4 | low);
}

std::optional<std::string> decode(Ask ask, std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool coded = is_of_netlink(ask) || text[at] == '%';
    if (!coded) {
      out += text[at++];
      continue;
    }
    if (text[at] == '%') ++at;
    const auto byte = take_byte(text.substr(at));
    if (!byte) return std::nullopt;
    out += *byte;
    at += 2;
  }
  return out;
}

class Reader {
 public:
  // The error in the line, or empty.
  std::string take(std::string_view line) {
    if (line.starts_with("! ")) return take_failure(line.substr(2));
    if (line.starts_with("= ") || line == "=") return take_part(line.substr(std::min<size_t>(2, line.size())));
    return take_question(split(line, ' '));
  }
  std::map<Tape::Question, Tape::Answers> answers;

 private:
  std::string take_question(const std::vector<std::string_view>& words) {
    if (words.size() != 3) return "expected ASK SAMPLE WHAT";
    const auto ask = ask_of(words[0]);
    if (!ask) return "no kind of question: " + std::string(words[0]);
    if (words[1] != "before" && words[1] != "now") return "no sample: " + std::string(words[1]);
    auto what = decode(*ask, words[2]);
    if (!what) return "characters that are not as this file writes them";
    ask_ = *ask;
    const Sample sample = words[1] == "now" ? Sample::now : Sample::before;
    auto [entry, is_new] = answers[{*ask, std::move(*what)}].try_emplace(sample, Answer(std::vector<std::string>{}));
    if (!is_new) return "asked twice";
    last_ = &entry->second;
    return {};
  }

  std::string take_part(std::string_view text) {
    if (last_ == nullptr || !last_->ok()) return "an answer without a question";
    auto part = decode(ask_, text);
    if (!part) return "characters that are not as this file writes them";
    last_->value().push_back(std::move(*part));
    return {};
  }

  std::string take_failure(std::string_view text) {
    if (last_ == nullptr || !last_->ok() || !last_->value().empty()) return "a failure without a question";
    const size_t blank = text.find(' ');
    const auto code = parse_number<int>(text.substr(0, blank));
    auto what = decode(Ask::query, blank == std::string_view::npos ? std::string_view{} : text.substr(blank + 1));
    if (!code || *code < 0 || !what) return "expected ! ERRNO TEXT";
    *last_ = error(*code, std::move(*what));
    return {};
  }

  Ask ask_ = Ask::read;
  Answer* last_ = nullptr;
};

}  // namespace

std::string_view to_text(Ask ask) { return kWords[static_cast<size_t>(ask)]; }

void Tape::note(Ask ask, const std::string& what, const Answer& answer) {
  answers[{ask, what}].try_emplace(sample_, answer);
}

const Answer* Tape::find(Ask ask, const std::string& what) const {
  const auto entry = answers.find({ask, what});
  if (entry == answers.end()) return nullptr;
  const auto wanted = entry->second.find(sample_);
  return wanted != entry->second.end() ? &wanted->second : &entry->second.begin()->second;
}

bool Tape::holds(Ask ask) const {
  const auto entry = answers.lower_bound({ask, ""});
  return entry != answers.end() && entry->first.first == ask;
}

std::string answers_text(const std::map<Tape::Question, Tape::Answers>& answers) {
  std::string out = std::string(kFirstLine) + "\n";
  for (const auto& [question, samples] : answers)
    for (const auto& [sample, answer] : samples) {
      const auto& [ask, what] = question;
      out.append(to_text(ask))
          .append(sample == Sample::now ? " now " : " before ")
          .append(encode(ask, what))
          .append("\n");
      if (!answer) {
        out += "! " + std::to_string(answer.error().code) + " " + encode(Ask::query, answer.error().what) + "\n";
        continue;
      }
      for (const std::string& part : *answer) out += "= " + encode(ask, part) + "\n";
    }
  return out.append(kLastLine).append("\n");
}

Result<std::map<Tape::Question, Tape::Answers>> parse_answers(std::string_view text, const std::string& name) {
  const auto fault = [&](size_t line, const std::string& what) {
    return error(0, name + ":" + std::to_string(line) + ": " + what);
  };
  if (!text.ends_with("\n")) return fault(1, "the end of the file is missing");
  if (static_cast<size_t>(std::ranges::count(text, '\n')) > kMostLines)
    return fault(kMostLines, "more lines than a capture has");
  const auto lines = split(text.substr(0, text.size() - 1), '\n');
  if (lines.front() != kFirstLine) return fault(1, "not written by this version of fabric-agentctl capture");
  if (lines.size() < 2 || lines.back() != kLastLine) return fault(lines.size(), "the end of the file is missing");
  Reader reader;
  for (size_t i = 1; i + 1 < lines.size(); ++i)
    if (const std::string problem = reader.take(lines[i]); !problem.empty()) return fault(i + 1, problem);
  return std::move(reader.answers);
}

}  // namespace fabric
