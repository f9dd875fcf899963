// SPDX-License-Identifier: Apache-2.0
// A set that is kept from page to page gives what a new one gives, byte for byte, whatever comes, goes or moves.
#include <gtest/gtest.h>
#include <malloc.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <new>
#include <optional>
#include <random>

#include "metrics/exposition.h"
#include "metrics/family.h"

namespace {
size_t held = 0;  // bytes, by this program
}
void* operator new(size_t size) {
  void* out = std::malloc(size);
  if (out == nullptr) throw std::bad_alloc();
  held += ::malloc_usable_size(out);
  return out;
}
void operator delete(void* at) noexcept {
  held -= ::malloc_usable_size(at);
  std::free(at);
}
void operator delete(void* at, size_t) noexcept { operator delete(at); }

namespace fabric {
namespace {

constexpr std::array<Metric, 4> kMetrics{
    {{"a_total", "A."}, {"b", "B.", MetricKind::gauge}, {"c", "C.", MetricKind::untyped}, {"d_total", "D."}}};
constexpr std::array<Metric, 2> kSpreads{{{"s", "S.", MetricKind::histogram}, {"t", "T.", MetricKind::histogram}}};
constexpr std::array kBounds{0.1, 1.0, 10.0}, kSameBounds{0.1, 1.0, 10.0}, kOtherBounds{0.1, 2.0, 10.0};

struct Call {
  enum Kind { add, accumulate, add_missing, histogram, raise, kinds } kind = add;
  size_t metric = 0;
  std::string device{};               // none: no label
  std::optional<std::string> more{};  // a label behind that one, written apart
  double value = 0;
  std::span<const double> bounds = kBounds;
  std::vector<uint64_t> counts{};
};

void make(FamilySet& set, const Call& call) {
  Labels labels;
  if (!call.device.empty()) labels.push_back({"device", call.device});
  const Label more = call.more ? Label{"more", *call.more} : Label{};
  const Metric& metric = kMetrics[call.metric % kMetrics.size()];
  switch (call.kind) {
    case Call::add: set.add(metric, labels, {more, {"last", "1"}}, call.value); break;
    case Call::accumulate: set.accumulate(metric, labels, {{}, more}, call.value); break;
    case Call::add_missing: set.add_missing(metric, labels, call.value); break;
    case Call::histogram:
      set.add(kSpreads[call.metric % kSpreads.size()], {std::move(labels), call.bounds, call.counts, call.value});
      break;
    case Call::raise: set.raise_limit(1); break;
    case Call::kinds: break;
  }
}

class Kept {
 public:
  // Makes the calls on the kept set and on a new one.
  void page(const std::vector<Call>& calls, size_t limit = SIZE_MAX) {
    FamilySet fresh(limit);
    kept_.begin(limit);
    for (const Call& call : calls) make(fresh, call), make(kept_, call);
    ASSERT_EQ(kept_.series(), fresh.series());
    ASSERT_EQ(kept_.dropped_by_limit(), fresh.dropped_by_limit());
    ASSERT_EQ(kept_.dropped_duplicates(), fresh.dropped_duplicates());
    const std::string expected = to_exposition(fresh.families());
    ASSERT_EQ(to_exposition(kept_.families()), expected);
    ASSERT_EQ(*text_.of(kept_), expected);
    ASSERT_EQ(*text_.of(kept_), expected) << "once more";
  }
  [[nodiscard]] uint64_t shape() { return (void)kept_.families(), kept_.shape(); }

 private:
  FamilySet kept_;
  PageText text_;
};

Call of(size_t metric, std::string device, double value) {
  return {.kind = Call::add, .metric = metric, .device = std::move(device), .value = value};
}
Call spread(std::string device, std::span<const double> bounds, std::vector<uint64_t> counts, double sum) {
  return {.kind = Call::histogram,
          .device = std::move(device),
          .value = sum,
          .bounds = bounds,
          .counts = std::move(counts)};
}

TEST(KeptFamilies, WhereOnlyValuesChangeNothingIsMadeAnew) {
  Kept kept;
  std::vector<Call> calls{of(0, "x", 1), of(1, "x", 2), of(0, "y", 3), of(0, "x", 4),
                          spread("x", kBounds, {1, 2, 3, 4}, 5)};
  calls.push_back({.kind = Call::accumulate, .metric = 2, .device = "x", .more = "m", .value = 1});
  calls.push_back({.kind = Call::accumulate, .metric = 2, .device = "x", .more = "m", .value = 2});
  calls.push_back({.kind = Call::add_missing, .metric = 2, .device = "x", .value = 2});
  kept.page(calls);
  const uint64_t shape = kept.shape();
  for (const double value : {7.0, 7.0, 123456789.0, 0.25, -1e300, std::numeric_limits<double>::quiet_NaN(),
                             std::numeric_limits<double>::infinity(), -0.0, 0.0}) {
    for (Call& call : calls) call.value = value;
    calls[4].counts[1] += 1000;
    kept.page(calls);
  }
  calls[4].bounds = kSameBounds;
  kept.page(calls);
  EXPECT_EQ(kept.shape(), shape);
}

TEST(KeptFamilies, WhatComesGoesOrMovesIsSeen) {
  const std::vector<Call> all{of(0, "x", 1), of(1, "x", 2), of(0, "y", 3), of(2, "x", 4), of(0, "x", 5), of(2, "z", 6)};
  for (size_t i = 0; i < all.size(); ++i) {
    Kept kept;
    kept.page(all);
    std::vector<Call> fewer = all, moved = all;
    fewer.erase(fewer.begin() + static_cast<ptrdiff_t>(i));
    std::swap(moved[i], moved[(i + 1) % all.size()]);
    for (const auto& calls : {fewer, all, moved, fewer, moved, all, {}, all}) {
      const uint64_t before = kept.shape();
      kept.page(calls);
      EXPECT_NE(kept.shape(), before);
    }
  }
}

TEST(KeptFamilies, LabelsThatReadAlikeAreToldApart) {
  const auto with = [](std::string device, std::optional<std::string> more) {
    return std::vector<Call>{
        {.kind = Call::accumulate, .device = std::move(device), .more = std::move(more), .value = 1}};
  };
  Kept kept;
  constexpr std::array kValues{"a", "a\\b", "a\\\\b",       "a\"",         "a\\\"",   "a\n", "a\\n",
                               "",  "\xff", "\xef\xbf\xbd", "caf\xc3\xa9", "caf\xc3", "ab"};
  for (const std::string one : kValues)
    for (const std::string other : kValues)
      for (const char* device : {"x", ""}) {
        kept.page(with(device, one));
        kept.page(with(device, other));
        kept.page(with("x\",more=\"" + one, std::nullopt));
      }
  // Text that holds the end of one label and the whole next one, as a value.
  for (const char* device : {"x", ""}) {
    std::vector<Call> two{{.kind = Call::add, .device = device, .more = "m", .value = 1}};
    kept.page(two);
    two[0] = {.kind = Call::accumulate, .device = device, .more = "m\",last=\"1", .value = 1};
    kept.page(two);
  }
}

TEST(KeptFamilies, HistogramsWithOtherBoundsOrLabelsAreOthers) {
  Kept kept;
  for (const auto& one : {spread("x", kBounds, {1, 2, 3, 4}, 5), spread("x", kOtherBounds, {1, 2, 3, 4}, 5),
                          spread("x", std::span(kBounds).first(2), {1, 2, 3}, 5), spread("y", kBounds, {1, 2, 3, 4}, 5),
                          spread("y", kBounds, {}, 0), spread("", kBounds, {0, 0, 0, 9}, 1)})
    for (const auto& other : {spread("x", kBounds, {4, 4, 4, 4}, 5), spread("z", kBounds, {4, 4, 4, 4}, 5)})
      for (const size_t limit : {SIZE_MAX, size_t{13}, size_t{12}, size_t{6}, size_t{0}}) {
        kept.page({one, other, of(0, "x", 1)}, limit);
        kept.page({other, one, of(0, "x", 1)}, limit);
      }
}

TEST(KeptFamilies, TheLimitMayMove) {
  Kept kept;
  std::vector<Call> calls;
  for (size_t i = 0; i < 8; ++i) calls.push_back(of(i % 3, std::to_string(i), static_cast<double>(i)));
  calls.push_back({.kind = Call::raise});
  calls.push_back(of(3, "x", 1));
  calls.push_back(of(0, "0", 1));
  for (const size_t limit : {20, 3, 3, 4, 0, 8, 7, 20, 9, 1}) kept.page(calls, limit);
}

TEST(KeptFamilies, LongLabelsComeAndGo) {
  Kept kept;
  for (const size_t length : {1, 20'000, 40'000, 16'384, 16'370, 5, 100'000}) {
    kept.page({of(0, std::string(length, 'x'), 1), of(1, std::string(length, 'y'), 1), of(0, "", 2)});
    kept.page({of(0, std::string(length, 'x'), 1), of(0, "", 2)});
    kept.page({of(0, "", 2)});
  }
}

// Page after page of a machine whose ports come and go.
TEST(KeptFamilies, NothingGrows) {
  constexpr int kPages = 3000;
  FamilySet kept;
  PageText text;
  size_t after_some = 0;
  for (int page = 0; page < kPages; ++page) {
    kept.begin(500);
    for (int i = 0; i < 300 + page % 7; ++i) {
      const std::string device = "mlx5_" + std::to_string(i + (i > 50 && page % 5 == 0 ? 1000 : 0));
      kept.add(kMetrics[static_cast<size_t>(i) % 3], {{"device", device}}, {{"counter", "a_counter_of_some_length"}},
               i + page % 10);
      if (i % 20 == 0) kept.add(kSpreads[0], {{{"device", device}}, kBounds, {1, 2, 3, 4}, 5});
    }
    (void)text.of(kept);
    if (page < 100) after_some = std::max(after_some, held);
    ASSERT_LE(held, after_some) << "page " << page;
  }
}

class RandomPages {
 public:
  explicit RandomPages(unsigned seed) : random_(seed) {}

  size_t below(size_t end) { return std::uniform_int_distribution<size_t>(0, end - 1)(random_); }
  double value() {
    constexpr std::array kValues{0.0,
                                 -0.0,
                                 1.0,
                                 9.0,
                                 1234567.0,
                                 9007199254740993.0,
                                 0.1,
                                 -2.2250738585072014e-308,
                                 1e22,
                                 std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity(),
                                 -std::numeric_limits<double>::infinity()};
    return kValues[below(kValues.size())];
  }
  Call call() {
    constexpr std::array kTexts{"", "x", "y", "xx", "a\"b", "a\\b", "a\nb", "caf\xc3\xa9", "\xff", "x\",more=\"y"};
    Call out{.kind = static_cast<Call::Kind>(below(Call::kinds)),
             .metric = below(kMetrics.size()),
             .device = kTexts[below(kTexts.size())],
             .value = value()};
    if (below(2) == 0) out.more = kTexts[below(kTexts.size())];
    if (out.kind == Call::raise && below(4) != 0) out.kind = Call::add;
    out.bounds = std::array<std::span<const double>, 3>{kBounds, kSameBounds, kOtherBounds}[below(3)];
    counts(out);
    return out;
  }
  void counts(Call& call) {
    call.counts.clear();
    for (size_t i = 0; i <= call.bounds.size(); ++i) call.counts.push_back(below(3) * below(1'000'000));
  }
  // Mostly as they were; values are others.
  void change(std::vector<Call>& calls) {
    for (Call& call : calls) {
      if (below(3) == 0) call.value = value();
      if (below(3) == 0) counts(call);
    }
    const auto somewhere = [&](size_t end) { return calls.begin() + static_cast<ptrdiff_t>(below(end)); };
    if (const size_t what = below(12); what < 3) {
      calls.insert(somewhere(calls.size() + 1), call());
    } else if (!calls.empty()) {
      if (what == 3) calls.erase(somewhere(calls.size()));
      if (what == 4) std::swap(*somewhere(calls.size()), *somewhere(calls.size()));
      if (what == 5) *somewhere(calls.size()) = call();
      if (what == 6 && below(8) == 0) calls.resize(below(calls.size()));
    }
  }

 private:
  std::mt19937 random_;
};

TEST(KeptFamilies, EqualNewOnesOverRandomPages) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomPages random(seed);
    Kept kept;
    std::vector<Call> calls;
    size_t limit = SIZE_MAX;
    for (int i = 0; i < 150; ++i) {
      random.change(calls);
      if (random.below(10) == 0) limit = random.below(2) == 0 ? SIZE_MAX : random.below(60);
      kept.page(calls, limit);
      if (HasFatalFailure()) FAIL() << "seed " << seed << ", page " << i;
    }
  }
}

// A page with parts, whose series are theirs alone.
struct Parted {
  struct One {
    std::shared_ptr<const std::vector<Call>> calls = std::make_shared<const std::vector<Call>>();
    bool held = true;  // else nothing is known of it
  };
  std::array<One, 2> parts{};
  std::array<std::vector<Call>, 3> around{};
  size_t made = 0;

  void make_on(FamilySet& set) {
    for (size_t i = 0; i < around.size(); ++i) {
      for (const Call& call : around[i]) make(set, call);
      if (i == parts.size()) break;
      const auto add = [&] {
        ++made;
        for (const Call& call : *parts[i].calls) make(set, call);
      };
      set.part(i, parts[i].held ? parts[i].calls : nullptr, add);
    }
  }
};

TEST(KeptFamilies, APartThatIsWhatItWasIsNotAskedAgain) {
  Parted parted;
  parted.parts[0].calls =
      std::make_shared<const std::vector<Call>>(std::vector<Call>{of(0, "x", 1), of(0, "x", 2), of(1, "x", 3)});
  parted.around[0] = {of(0, "y", 1)};
  parted.around[2] = {of(2, "y", 1)};
  FamilySet kept;
  for (int i = 0; i < 3; ++i) kept.begin(SIZE_MAX), parted.make_on(kept), (void)kept.families();
  parted.made = 0;
  parted.around[0] = {of(0, "y", 7)};
  kept.begin(SIZE_MAX), parted.make_on(kept);
  EXPECT_EQ(parted.made, 0u);
  EXPECT_EQ(kept.dropped_duplicates(), 1u);
  FamilySet fresh;
  parted.make_on(fresh);
  EXPECT_EQ(to_exposition(kept.families()), to_exposition(fresh.families()));
  parted.parts[0].held = false;
  parted.made = 0;
  kept.begin(SIZE_MAX), parted.make_on(kept);
  EXPECT_EQ(parted.made, 1u);
}

TEST(KeptFamilies, WithPartsTheyEqualNewOnesOverRandomPages) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    RandomPages random(seed);
    FamilySet kept;
    PageText text;
    Parted parted;
    size_t limit = SIZE_MAX;
    for (int page = 0; page < 150; ++page) {
      if (random.below(3) == 0) random.change(parted.around[random.below(parted.around.size())]);
      if (const size_t i = random.below(20); i < parted.parts.size()) {
        std::vector<Call> calls = *parted.parts[i].calls;
        random.change(calls);
        for (Call& call : calls)
          if (call.device.rfind("part", 0) != 0) call.device = "part" + std::to_string(i) + call.device;
        std::erase_if(calls, [](const Call& call) { return call.kind == Call::raise; });
        parted.parts[i].calls = std::make_shared<const std::vector<Call>>(std::move(calls));
      }
      parted.parts[0].held = random.below(8) != 0;
      if (random.below(15) == 0) limit = random.below(2) == 0 ? SIZE_MAX : random.below(60);
      FamilySet fresh(limit);
      kept.begin(limit);
      parted.make_on(fresh), parted.make_on(kept);
      ASSERT_EQ(kept.series(), fresh.series()) << seed << " " << page;
      ASSERT_EQ(kept.dropped_by_limit(), fresh.dropped_by_limit()) << seed << " " << page;
      ASSERT_EQ(kept.dropped_duplicates(), fresh.dropped_duplicates()) << seed << " " << page;
      ASSERT_EQ(*text.of(kept), to_exposition(fresh.families())) << seed << " " << page;
    }
  }
}

}  // namespace
}  // namespace fabric
