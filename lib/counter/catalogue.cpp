// SPDX-License-Identifier: Apache-2.0
#include "counter/catalogue.h"

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "model/counter_class.h"

namespace fabric {
namespace {

size_t hash_of(std::string_view name) {
  constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
  uint64_t hash = name.size();
  const auto mix = [&hash](uint64_t more) {
    hash = (hash ^ more) * kFactor;
    hash ^= hash >> 32;
  };
  if (name.size() < 8) {
    for (const char c : name) mix(static_cast<unsigned char>(c));
    return hash;
  }
  for (size_t at = 0; at + 8 < name.size(); at += 8) mix(bytes_at<uint64_t>(name.data() + at));
  mix(bytes_at<uint64_t>(name.data() + name.size() - 8));  // some of them for the second time
  return hash;
}

// Asked twice for each counter of each page: a table of its own costs a third of std::unordered_map.
class Index {
 public:
  void put(const CounterRow& row) {
    size_t mark = row.name.find('#');
    if (mark == std::string_view::npos) {
      put(row.name, {&row, 0});
      return;
    }
    for (char priority = '0'; priority <= '7'; ++priority) {
      std::string& name = expanded_.emplace_back(row.name);
      name[mark] = priority;
      put(name, {&row, priority});
    }
  }
  [[nodiscard]] const CounterMatch* find(std::string_view name) const {
    const Slot& slot = slots_[place_of(name)];
    return slot.match.row != nullptr ? &slot.match : nullptr;
  }

 private:
  struct Slot {
    std::string_view name;
    CounterMatch match;
  };
  // Of the name or, where it is not there, the free one for it.
  [[nodiscard]] size_t place_of(std::string_view name) const {
    size_t at = hash_of(name) & (slots_.size() - 1);
    while (slots_[at].match.row != nullptr && !same_text(slots_[at].name, name)) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  // The first row of a name is the one that is found.
  void put(std::string_view name, const CounterMatch& match) {
    if (++used_ * 2 > slots_.size()) grow();
    Slot& slot = slots_[place_of(name)];
    if (slot.match.row == nullptr) slot = {name, match};
  }
  void grow() {
    std::vector<Slot> before(slots_.size() * 2);
    before.swap(slots_);
    for (const Slot& slot : before)
      if (slot.match.row != nullptr) slots_[place_of(slot.name)] = slot;
  }

  std::deque<std::string> expanded_;  // names with the priority in place, which slots point into
  std::vector<Slot> slots_{64};       // open addressing; a power of two, at most half full
  size_t used_ = 0;
};

using BySource = std::array<Index, 3>;

void put_all(BySource& index, std::span<const CounterRow> rows) {
  for (const CounterRow& row : rows) index[static_cast<size_t>(row.source)].put(row);
}

struct Catalogue {
  BySource common, efa;

  Catalogue() {
    for (auto rows : {mlx5_rows(), bnxt_rows(), ice_irdma_rows(), ionic_rows(), hns_rows(), rxe_rows(), pma_rows()})
      put_all(common, rows);
    put_all(efa, efa_rows());
  }
};

// Null when there is none.
const CounterMatch* look_up(CounterSource source, std::string_view name, std::string_view driver) {
  static const Catalogue catalogue;
  const auto in = static_cast<size_t>(source);
  if (driver == "efa")
    if (const CounterMatch* match = catalogue.efa[in].find(name)) return match;
  return catalogue.common[in].find(name);
}

}  // namespace

std::string_view meaning(const CounterRow& row) {
  if (!row.help.empty() || row.metric == nullptr) return row.help;
  return row.metric->help;
}

bool means_trouble(const CounterRow& row) {
  std::string name(row.name);
  if (size_t mark = name.find('#'); mark != std::string::npos) name[mark] = '0';
  return classify_counter(name).has_value();
}

std::optional<CounterMatch> describe_counter(CounterSource source, std::string_view name, std::string_view driver) {
  const CounterMatch* match = look_up(source, name, driver);
  if (match == nullptr) return std::nullopt;
  return *match;
}

std::optional<CounterMatch> find_counter(CounterSource source, std::string_view name, std::string_view driver) {
  const CounterMatch* match = look_up(source, name, driver);
  if (match == nullptr || match->row->metric == nullptr) return std::nullopt;
  return *match;
}

}  // namespace fabric
