// SPDX-License-Identifier: Apache-2.0
#include "kernel/telemetry.h"

#include <functional>
#include <mutex>
#include <ostream>
#include <unordered_set>

namespace fabric {
namespace {

struct Hash : std::hash<std::string_view> {
  using is_transparent = void;
};

}  // namespace

const std::string* CounterName::keep(std::string_view text) {
  // Never freed: threads that still run when the program ends may read the texts.
  static std::mutex& mutex = *new std::mutex;
  static auto& texts = *new std::unordered_set<std::string, Hash, std::equal_to<>>;
  if (text.empty()) return nullptr;
  std::lock_guard lock(mutex);
  auto known = texts.find(text);
  if (known == texts.end()) known = texts.emplace(text).first;
  return &*known;
}

std::ostream& operator<<(std::ostream& out, const CounterName& name) { return out << name.text(); }

}  // namespace fabric
