// SPDX-License-Identifier: Apache-2.0
#include "kernel/capture/tape.h"

#include <algorithm>

#include "base/parse.h"

namespace fabric {
namespace {

constexpr std::string_view kFirstLine = "fabric-agent capture 1";
constexpr size_t kMostLines = size_t{1} << 20;  // a node of 16 ports has some 50,000
constexpr std::string_view kLastLine = "end";

std::string encode(Ask ask, std::string_view text) {
  if (is_of_netlink(ask)) return hex_digits(text);
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (byte > ' ' && byte < 0x7f && byte != '%') out += byte;
    else out += "%" + hex_digits(text.substr(at, 1));
  }
  return out;
}

std::optional<std::string> decode(Ask ask, std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    if (!is_of_netlink(ask) && text[at] != '%') {
      out += text[at++];
      continue;
    }
    if (!is_of_netlink(ask)) ++at;
    const std::string_view digits = text.substr(at, 2);
    const auto byte = parse_number<uint8_t>(digits, 16);
    if (!byte || hex_digits({reinterpret_cast<const char*>(&*byte), 1}) != digits) return std::nullopt;
    out += static_cast<char>(*byte);
    at += 2;
  }
  return out;
}

}  // namespace

void Tape::count(size_t bytes, std::string_view what) {
  const auto limit = [&](size_t most, const char* of) {
    beyond_ = error(EFBIG, std::string(what) + ": a capture has at most " + std::to_string(most) + of);
  };
  bytes_ += bytes;
  if (beyond_) return;
  if (bytes_ > kMostBytes) limit(kMostBytes >> 20, " MiB");
  else if (answers.size() + links.size() > kMostQuestions) limit(kMostQuestions, " readings");
}

void Tape::note(Ask ask, const std::string& what, const Answer& answer) {
  if (beyond_) return;
  const auto [entry, is_new] = answers[{ask, what}].try_emplace(sample_, answer);
  if (!is_new) return;
  size_t bytes = what.size();
  if (answer)
    for (const std::string& part : *answer) bytes += part.size();
  else bytes += answer.error().what.size();
  count(bytes, is_of_files(ask) ? "/" + what : std::string(to_text(ask)));
}

void Tape::note_links(const std::string& file, const std::map<std::string, std::string>& met) {
  for (const auto& [from, to] : met)
    if (!beyond_ && links.emplace(from, to).second) count(from.size() + to.size(), "/" + file);
}

void Tape::note_place(const std::string& file, std::string place) {
  if (beyond_) return;
  if (static_cast<size_t>(std::ranges::count(place, '/')) >= kMostLevels)
    beyond_ = error(EFBIG, "/" + file + ": a capture has at most " + std::to_string(kMostLevels) + " levels");
  const size_t bytes = file.size() + place.size();
  if (places.emplace(file, std::move(place)).second) count(bytes, "/" + file);
}

Answer Tape::ask(Ask ask, const std::string& what, const std::function<Answer()>& live, const Error& missing) {
  if (beyond_) return *beyond_;
  if (!replays_) {
    note(ask, what, live());
    if (beyond_) return *beyond_;
  }
  const Answer* known = find(ask, what);
  if (known == nullptr) return missing;
  return *known;
}

const Answer* Tape::find(Ask ask, const std::string& what) const {
  const auto entry = answers.find({ask, what});
  if (entry == answers.end()) return nullptr;
  auto answer = entry->second.find(sample_);
  if (answer == entry->second.end()) answer = entry->second.begin();
  return &answer->second;
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
      out.append(to_text(ask)).append(" ").append(to_text(sample)).append(" ").append(encode(ask, what)).append("\n");
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
  constexpr const char* kForeign = "characters in another encoding than that of this file";
  if (!text.ends_with("\n")) return fault(1, "the end of the file is missing");
  if (static_cast<size_t>(std::ranges::count(text, '\n')) > kMostLines)
    return fault(kMostLines, "more lines than a capture has");
  const auto lines = split(text.substr(0, text.size() - 1), '\n');
  if (lines.front() != kFirstLine) return fault(1, "not written by this version of fabric-agentctl capture");
  if (lines.size() < 2 || lines.back() != kLastLine) return fault(lines.size(), "the end of the file is missing");
  std::map<Tape::Question, Tape::Answers> answers;
  Ask ask = Ask::read;     // of the last question
  Answer* last = nullptr;  // and its answer so far
  for (size_t i = 1; i + 1 < lines.size(); ++i) {
    std::string_view line = lines[i];
    if (line.starts_with("! ")) {
      if (last == nullptr || !last->ok() || !last->value().empty()) return fault(i + 1, "a failure without a question");
      line.remove_prefix(2);
      const std::string_view number = line.substr(0, line.find(' '));
      line.remove_prefix(std::min(line.size(), number.size() + 1));
      const auto code = parse_number<int>(number);
      auto what = decode(Ask::query, line);
      if (!code || *code < 0 || !what) return fault(i + 1, "expected ! ERRNO TEXT");
      *last = error(*code, std::move(*what));
      continue;
    }
    if (line.starts_with("= ") || line == "=") {
      if (last == nullptr || !last->ok()) return fault(i + 1, "an answer without a question");
      auto part = decode(ask, line.substr(std::min<size_t>(2, line.size())));
      if (!part) return fault(i + 1, kForeign);
      last->value().push_back(std::move(*part));
      continue;
    }
    const auto words = split(line, ' ');
    if (words.size() != 3) return fault(i + 1, "expected ASK SAMPLE WHAT");
    const auto kind = parse_word<Ask>(words[0]);
    const auto sample = parse_word<Sample>(words[1]);
    if (!kind) return fault(i + 1, "no kind of question: " + std::string(words[0]));
    if (!sample) return fault(i + 1, "no sample: " + std::string(words[1]));
    auto what = decode(*kind, words[2]);
    if (!what) return fault(i + 1, kForeign);
    auto [answer, is_new] = answers[{*kind, std::move(*what)}].try_emplace(*sample, Answer(std::vector<std::string>{}));
    if (!is_new) return fault(i + 1, "asked twice");
    ask = *kind;
    last = &answer->second;
  }
  return answers;
}

}  // namespace fabric
