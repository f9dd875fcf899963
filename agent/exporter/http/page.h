// SPDX-License-Identifier: Apache-2.0
// The page: families, text, and its compressed form, kept as long as they are true.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exporter/collect/collector.h"
#include "exporter/collect/sampler.h"
#include "exporter/collect/self.h"
#include "metrics/exposition.h"
#include "metrics/family.h"
#include "model/diagnosis.h"
#include "model/health.h"
#include "model/policy.h"
#include "model/report.h"
#include "model/signals.h"

namespace fabric::exporter {

// What the checks and the rules of diagnosis say of a snapshot, as far as a page shows it: without the findings' words.
struct Judgement {
  Report report;
  std::map<std::string, Signals> signals;  // of the ports that were read since the earlier snapshot; empty without one
  Diagnoses diagnoses;
};

struct PageContext {
  const Node* before = nullptr;    // an earlier snapshot, or null
  const Policy* policy = nullptr;  // null: none could be read, for this reason
  std::string no_policy;
  bool config_valid = true;  // false: the last reload found a faulty one, the one before is kept
  HttpCounts http;
  const Sampler* sampler = nullptr;  // null: there are no bursts to tell
  const Health* health = nullptr;    // null: nobody watches; else what is judged over time is judged by it alone
  std::vector<Ack> acks{};           // that hold now
  int64_t wall = 0;                  // seconds since 1970
};
Judgement judge(const Snapshot& snapshot, const PageContext& context);
// The whole page. Pure but for process_*, which `with_process` = false leaves out.
void fill(FamilySet& families, const Snapshot& snapshot, const std::shared_ptr<const Judgement>& judgement,
          const PageContext& context, bool with_process);
std::string render_page(const Snapshot& snapshot, const PageContext& context, bool with_process = true);

// gzip (RFC 1952) at level 1: on pages like ours 15 % larger than level 6 and four times cheaper.
std::string gzip(std::string_view text);

// Keeps the page of a snapshot, its gzip form once asked for, what was judged of the machine, and the earlier snapshot
// that checks compare with. Counters are as new as the page; to judge them costs as much again as to show them, and
// their window is a minute: they are judged anew when a judgement is ten seconds old, and at once when something that
// seldom changes has been read (Snapshot::news) or judge_anew() was called.
class PageCache {
 public:
  using Body = std::shared_ptr<const std::string>;

  // The page of the newest snapshot, rendered anew when there is a newer one or the page is a second old (it tells
  // ages). `context.before` is filled in here.
  Body plain(const Collector& collector, PageContext context);
  Body compressed(const Collector& collector, PageContext context);
  // Health or acknowledgements are others than before.
  void judge_anew() { judged_news_ = kNoNews; }
  // A reading that no page is made of: where nobody scrapes, what checks compare with is ten minutes old at most.
  void keep_up(const Collector& collector, const Node& node);
  [[nodiscard]] bool has_page() const { return plain_ != nullptr; }
  // Another collector comes. What was found stands until that has read the machine: of half of one, what is there would
  // be blamed for what is not there yet.
  void start_anew();

 private:
  static constexpr uint64_t kNoNews = UINT64_MAX;
  [[nodiscard]] bool is_whole(const Collector& collector);
  std::shared_ptr<const Judgement> judged(const Snapshot& snapshot, const PageContext& context);
  void remember(const Node& node);

  uint64_t version_ = UINT64_MAX;
  Clock::time_point rendered_{}, judged_at_{}, begun_{};
  bool whole_ = false;
  std::shared_ptr<const Judgement> judgement_;
  uint64_t judged_news_ = kNoNews;
  Snapshot snapshot_;
  FamilySet families_;
  PageText text_;
  Body plain_, compressed_;
  // Checks compare with a reading that is one to two minutes old, so that what has risen shows for at least as long:
  // every scraper that comes every five minutes sees it.
  std::shared_ptr<const Node> before_, next_before_;  // one at first
};

}  // namespace fabric::exporter
