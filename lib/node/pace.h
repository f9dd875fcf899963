// SPDX-License-Identifier: Apache-2.0
// The sampling interval: the configured one, or longer if samples cost more than allowed. No I/O.
#pragma once

#include <chrono>
#include <cstdint>

namespace fabric {

class Pace {
 public:
  using Clock = std::chrono::steady_clock;
  using Span = std::chrono::nanoseconds;

  // Why the interval is longer than configured: CPU time beyond the budget, or a slow device.
  enum class Brake : uint8_t { none, cpu, device };

  // Maximum share of the interval that a reading may take: on most NICs a reading holds the RTNL lock and the
  // firmware's command queue, which settings and other readers wait for.
  static constexpr double kBusy = 0.1;
  // Samples to average, and to wait for after a change.
  static constexpr unsigned kSettled = 8;
  // The interval is halved again after kCalm if the cost would then stay below the share kComfort of the limits.
  static constexpr std::chrono::seconds kCalm{30};
  static constexpr double kComfort = 0.7;
  // Longest interval, unless a longer one is configured.
  static constexpr std::chrono::seconds kLongest{60};

  // `cpu`: the allowed share of a core.
  Pace(Span interval, double cpu) : asked_(interval), interval_(interval), cpu_(cpu) {}
  void allow(double cpu) { cpu_ = cpu; }

  // Records a sample's CPU time (`cpu`) and the device's response time (`answer`). True: the interval changed.
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

}  // namespace fabric
