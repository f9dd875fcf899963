// SPDX-License-Identifier: Apache-2.0
#include "judge/fix.h"

namespace fabric {
namespace {

std::string text_of(const auto& steps) {
  std::string out;
  for (const auto& step : steps) out += step.text;
  return out;
}

}  // namespace

std::string FixRow::text() const { return text_of(*this); }

Fix::Fix(Work work, std::string text) {
  if (!text.empty()) steps.emplace_back(work, std::move(text));
}

Fix& Fix::operator+=(Step step) {
  steps.push_back(std::move(step));
  return *this;
}

bool Fix::empty() const { return std::ranges::all_of(steps, &std::string::empty, &Step::text); }

std::string Fix::text() const { return text_of(steps); }

}  // namespace fabric
