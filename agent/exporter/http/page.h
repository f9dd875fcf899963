// SPDX-License-Identifier: Apache-2.0
// The page of /metrics, and the cache of both pages, rendered from the newest snapshot.
#pragma once

#include "exporter/collect/collector.h"
#include "exporter/http/http.h"
#include "judge/health.h"
#include "judge/report.h"
#include "metrics/text.h"
#include "topology/built.h"

namespace fabric::exporter {

struct PageContext {
  const Node* before = nullptr;  // an earlier snapshot; null: none
  const Policy* policy = nullptr;
  std::optional<Error> no_policy{};  // View::no_policy
  bool config_valid = true;          // false: the last reload failed and the previous configuration is kept
  HttpCounts http{};
  const Health* health = nullptr;  // null: no history, the rules evaluate only this snapshot
  std::vector<Ack> acks{};         // the acknowledgements in force
  int64_t wall = 0;                // seconds since 1970
  TextFormat format = TextFormat::prometheus;
  bool landing = false;  // the page of /, else that of /metrics
};

// The findings of the rules, as a page or the published report shows them: findings that are ok have no texts.
struct PageFindings {
  Report report;
  std::map<std::string, Signals> signals;  // by port that was read since the earlier snapshot; empty without a snapshot
  std::map<std::string, Rail> rails;
};
PageFindings find(const Snapshot& snapshot, const PageContext& context);

// The whole page. Pure except for process_*, which `with_process` = false omits.
std::string render_page(const Snapshot& snapshot, const PageFindings& findings, const PageContext& context,
                        bool with_process = true);
std::string render_page(const Snapshot& snapshot, const PageContext& context, bool with_process = true);

// gzip (RFC 1952) at level 1: on our pages 15 % larger than level 6, at a quarter of the cost.
std::string gzip(std::string_view text);

// Renders the page of the newest snapshot and keeps it until there is a newer one, at most for a second. Keeps the
// findings for ten seconds: their window is a minute, and computing them costs as much as rendering. Computes them at
// once when values that rarely change have been read (Snapshot::generation).
class PageCache {
 public:
  using Body = std::shared_ptr<const std::string>;

  // page() and refresh() set `context.before`.
  Body page(const Collector& collector, PageContext context, bool compressed = false);
  // Makes the next page compute its findings.
  void drop_findings() { found_at_.reset(); }
  // Called regularly, so that even without scrapes the snapshot for comparison is at most ten minutes old.
  void keep_up(const Collector& collector, const Node& node);
  // Computes the findings at once, since health or acknowledgements have changed. nullptr: the machine has not been
  // read yet.
  const Report* refresh(const Collector& collector, const Snapshot& snapshot, PageContext context);
  // Called when the collector is replaced. Keeps the findings until the new collector has read the whole machine.
  void restart();

 private:
  struct Rendered {
    Body plain, compressed;
    TextFormat format = TextFormat::prometheus;
    uint64_t version = 0;
    Clock::time_point at{};
  };
  [[nodiscard]] bool is_whole(const Collector& collector);
  void update_findings(const Snapshot& snapshot, const PageContext& context);
  void remember(const Node& node);

  Rendered metrics_, landing_;
  Clock::time_point begun_ = Clock::now();
  bool whole_ = false;
  PageFindings findings_;
  std::optional<Clock::time_point> found_at_;
  uint64_t generation_ = 0;
  // The findings compare with a snapshot that is one to two minutes old, so that every scraper that scrapes at least
  // every five minutes sees an increase.
  std::shared_ptr<const Node> before_, next_before_;  // equal at first
};

}  // namespace fabric::exporter
