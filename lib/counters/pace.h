// SPDX-License-Identifier: Apache-2.0
// How often may be sampled: as often as was asked for, so long as that costs no more than was allowed. Pure.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

namespace fabric {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  using Span = std::chrono::nanoseconds;

  // Why the interval is longer than asked for: more CPU time than the budget; the device takes too long to answer.
  enum class Brake : uint8_t { none, cpu, device };

  // A reading may take a tenth of the interval at most: on most NICs it holds the RTNL lock and the firmware's command
  // queue, which settings and other readers wait for.
  static constexpr double kBusy = 0.1;
  // Judged by an average over some eight samples, and never sooner after a change than so many.
  static constexpr unsigned kSettled = 8;
  // Twice as often again only after so long, and only where that would stay well below the limits.
  static constexpr std::chrono::seconds kCalm{30};
  static constexpr double kComfort = 0.7;
  // No longer than this, unless more was asked for.
  static constexpr std::chrono::seconds kLongest{60};

  // `cpu`: the share of a core that may be spent.
  Pace(Span interval, double cpu) : asked_(interval), interval_(interval), cpu_(cpu) {}
  void allow(double cpu) { cpu_ = cpu; }

  // A sample was taken: the CPU time that passed with it, and how long the device took to answer. True: the interval
  // changed.
  bool sampled(Clock::time_point now, Span cpu, Span answer);

  [[nodiscard]] Span interval() const { return interval_; }
  [[nodiscard]] Brake brake() const { return brake_; }

 private:
  void change(Clock::time_point now, Span interval, Brake brake);

  Span asked_, interval_;
  double cpu_;
  double cpu_average_ = 0, answer_average_ = 0;  // nanoseconds
  unsigned samples_ = 0;                         // since the last change
  Clock::time_point changed_{};
  Brake brake_ = Brake::none;
};
std::string_view to_text(Pace::Brake value);

}  // namespace fabric
