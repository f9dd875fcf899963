// SPDX-License-Identifier: Apache-2.0
#include "node/pace.h"

#include <algorithm>

namespace fabric {

bool Pace::sampled(Clock::time_point now, Span cpu, Span answer) {
  if (samples_ == 0 && changed_ == Clock::time_point{}) changed_ = now;
  ++samples_;
  // A plain mean of the first samples; afterwards the newest sample weighs an eighth.
  const double weight = 1.0 / std::min(samples_, kSettled);
  cpu_average_ += (static_cast<double>(cpu.count()) - cpu_average_) * weight;
  answer_average_ += (static_cast<double>(answer.count()) - answer_average_) * weight;
  if (samples_ < kSettled) return false;
  const auto length = static_cast<double>(interval_.count());
  const double spent = cpu_average_ / length / cpu_, busy = answer_average_ / length / kBusy;  // 1: the limit
  const Span longest = std::max<Span>(asked_, kLongest);
  if (std::max(spent, busy) > 1 && interval_ < longest) {
    change(now, std::min(interval_ * 2, longest), busy > 1 ? Brake::device : Brake::cpu);
    return true;
  }
  if (interval_ > asked_ && now - changed_ >= kCalm && std::max(spent, busy) * 2 <= kComfort) {
    const Span shorter = std::max(interval_ / 2, asked_);
    change(now, shorter, shorter == asked_ ? Brake::none : brake_);
    return true;
  }
  return false;
}

void Pace::change(Clock::time_point now, Span interval, Brake brake) {
  interval_ = interval;
  brake_ = brake;
  samples_ = 0;
  changed_ = now;
}

}  // namespace fabric
