// SPDX-License-Identifier: Apache-2.0
// The words of TOML for values that are one of a few, for reading and for writing.
#pragma once

#include <span>
#include <utility>

#include "model/qos.h"

namespace fabric {

template <class T>
using Words = std::span<const std::pair<std::string_view, T>>;

inline constexpr std::array<std::pair<std::string_view, Dcbx>, 2> kDcbx{
    {{"host", Dcbx::host}, {"firmware", Dcbx::firmware}}};
inline constexpr std::array<std::pair<std::string_view, Trust>, 2> kTrust{{{"dscp", Trust::dscp}, {"pcp", Trust::pcp}}};
inline constexpr std::array<std::pair<std::string_view, Pause>, 4> kPause{
    {{"off", {false, false}}, {"rx", {true, false}}, {"tx", {false, true}}, {"rx,tx", {true, true}}}};
inline constexpr std::array<std::pair<std::string_view, Tsa>, 4> kTsa{
    {{"strict", Tsa::strict}, {"cbs", Tsa::cb_shaper}, {"ets", Tsa::ets}, {"vendor", Tsa::vendor}}};

inline constexpr std::array<std::pair<std::string_view, RoceMode>, 2> kRoceMode{
    {{"v2", RoceMode::v2}, {"v1", RoceMode::v1}}};

template <class T>
std::string_view word_of(Words<T> words, const T& value) {
  for (const auto& [word, known] : words)
    if (known == value) return word;
  return words.front().first;
}

}  // namespace fabric
