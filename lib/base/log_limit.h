// SPDX-License-Identifier: Apache-2.0
// Limits the log lines that others can cause: malformed frames, settings that another program changes back and forth,
// devices that come and go. The owner of the log decides what a subject is: two lines must not count as two subjects
// only because their texts differ, because others choose the text.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace fabric {

// Not safe for concurrent use. No clock: times are arguments.
template <class Line>
class LogLimit {
 public:
  using Clock = std::chrono::steady_clock;
  // `more`: the number of lines of the same subject that are left out.
  using Write = std::function<void(const Line& line, uint64_t more)>;
  static constexpr std::chrono::seconds kWindow{60};
  // Further subjects share one.
  static constexpr size_t kMaxSubjects = 1000;

  explicit LogLimit(Write write) : write_(std::move(write)) {}

  // Writes `burst` lines of a subject at once, and counts the others. While there are others, the subject has one line
  // a minute: the last one, with the number of those before it. Each minute without others gives one of the burst back,
  // so that no subject has more than a line a minute for long.
  void log(const std::string& subject, Line line, Clock::time_point now, unsigned burst = 1) {
    flush(now);
    std::string name = subject;
    if (!subjects_.contains(name) && subjects_.size() >= kMaxSubjects) name.clear();
    const auto [found, is_new] = subjects_.try_emplace(std::move(name));
    Subject& counted = found->second;
    if (is_new) {
      counted.since = now;
      counted.left = counted.burst = burst;
      next_ = std::min(next_, now + kWindow);
    }
    if (counted.left > 0) {
      --counted.left;
      return write_(line, 0);
    }
    ++counted.left_out;
    counted.last = std::move(line);
  }

  // Writes the lines that are due. Call it at least every minute, or the last line of a flood waits for the next one.
  void flush(Clock::time_point now) {
    if (now < next_) return;
    next_ = Clock::time_point::max();
    for (auto at = subjects_.begin(); at != subjects_.end();) {
      Subject& counted = at->second;
      if (now - counted.since >= kWindow) {
        if (counted.last) write_(*counted.last, counted.left_out - 1);
        else counted.left += static_cast<unsigned>((now - counted.since) / kWindow);
        if (counted.left >= counted.burst) {
          at = subjects_.erase(at);
          continue;
        }
        counted.since = now;
        counted.left_out = 0;
        counted.last.reset();
      }
      next_ = std::min(next_, counted.since + kWindow);
      ++at;
    }
  }

 private:
  struct Subject {
    Clock::time_point since{};
    unsigned burst = 0, left = 0;  // left: lines that are still written at once
    uint64_t left_out = 0;
    std::optional<Line> last{};  // of those left out
  };
  Write write_;
  std::map<std::string, Subject> subjects_;
  Clock::time_point next_ = Clock::time_point::max();  // when a subject's minute is over
};

// "TEXT (and 511076 more in the last minute)"
inline std::string with_more(std::string text, uint64_t more) {
  if (more != 0) text += " (and " + std::to_string(more) + " more in the last minute)";
  return text;
}

}  // namespace fabric
