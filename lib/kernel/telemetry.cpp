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

// Never freed: threads that are left behind at the end may still read.
struct Pool {
  std::mutex mutex;
  std::unordered_set<std::string, Hash, std::equal_to<>> texts;
};

Pool& pool() {
  static Pool& only = *new Pool;
  return only;
}

}  // namespace

const std::string* CounterName::keep(std::string_view text) {
  if (text.empty()) return nullptr;
  Pool& all = pool();
  std::lock_guard lock(all.mutex);
  auto known = all.texts.find(text);
  if (known == all.texts.end()) known = all.texts.emplace(text).first;
  return &*known;
}

std::ostream& operator<<(std::ostream& out, const CounterName& name) { return out << name.text(); }

}  // namespace fabric
