// SPDX-License-Identifier: Apache-2.0
// The pages of /metrics and of /, rendered from the newest snapshot.
#pragma once

#include "exporter/collect/collector.h"
#include "exporter/http/http.h"
#include "judge/health.h"
#include "judge/report.h"
#include "metrics/text.h"
#include "topology/pairing.h"

namespace fabric::exporter {

struct PageContext {
  const Node* before = nullptr;  // an earlier snapshot, or null
  const Policy* policy = nullptr;
  std::string no_policy{};   // as in View
  bool config_valid = true;  // false: the last reload failed and the previous configuration is kept
  HttpCounts http{};
  const Health* health = nullptr;  // null: without history; the rules see this snapshot only
  std::vector<Ack> acks{};         // in force
  int64_t wall = 0;                // seconds since 1970
  TextFormat format = TextFormat::prometheus;
  bool landing = false;  // the page of /, else that of /metrics
};

// The findings of the rules, as far as a page or the published report shows them: good findings have
// no texts.
struct PageFindings {
  Report report;
  std::map<std::string, Signals> signals;  // of the ports read since the earlier snapshot; empty without one
  std::map<std::string, Rail> rails;
};
PageFindings find(const Snapshot& snapshot, const PageContext& context);

// The whole page. Pure except for process_*, which `with_process` = false omits.
std::string render_page(const Snapshot& snapshot, const PageFindings& findings, const PageContext& context,
                        bool with_process = true);
std::string render_page(const Snapshot& snapshot, const PageContext& context, bool with_process = true);

// The page of / for people: the verdict, what to do, the ports, a picture of the node. HTML without scripts. Pure. Text
// from outside is escaped; unread values are shown as not known.
std::string render_landing(const Snapshot& snapshot, const PageFindings& findings, const PageContext& context,
                           Clock::time_point now);
extern const std::string_view kLandingStyle;
// The Content-Security-Policy of every answer: that page's own style sheet, by its hash, and nothing else.
const std::string& content_policy();
// GPUs and NICs below their switches, root buses and NUMA nodes, with lines of the best pairing: inline SVG, as wide as
// a phone. `status`: the worst finding of each subject.
std::string topology_picture(const Node& node, const std::map<std::string, Status>& status);

// gzip (RFC 1952) at level 1: 15 % larger than level 6 on our pages, and four times cheaper.
std::string gzip(std::string_view text);

// Renders the page of the newest snapshot and keeps it for a second until there is a newer one. The findings are kept
// for ten seconds: their window is a minute, and computing them costs as much as rendering. They are computed at once
// when something that rarely changes has been read (Snapshot::generation).
class PageCache {
 public:
  using Body = std::shared_ptr<const std::string>;

  // `context.before` is filled in here.
  Body page(const Collector& collector, PageContext context, bool compressed = false);
  // The next page computes its findings.
  void drop_findings() { found_at_.reset(); }
  // Without scrapes: keeps what later findings are compared with at most ten minutes old.
  void keep_up(const Collector& collector, const Node& node);
  // Computes the findings at once: health or acknowledgements have changed. nullptr: the machine has not been read yet.
  const Report* refresh(const Collector& collector, const Snapshot& snapshot, PageContext context);
  // Another collector follows. The findings stay until it has read the whole machine.
  void restart();

 private:
  struct Rendered {
    Body plain, compressed;
    TextFormat format = TextFormat::prometheus;
    uint64_t version = 0;
    Clock::time_point at{};
  };
  Rendered& render(const Collector& collector, PageContext context);
  [[nodiscard]] bool is_whole(const Collector& collector);
  void update_findings(const Snapshot& snapshot, const PageContext& context);
  void remember(const Node& node);

  Rendered metrics_, landing_;
  Clock::time_point begun_ = Clock::now();
  bool whole_ = false;
  PageFindings findings_;
  std::optional<Clock::time_point> found_at_;
  uint64_t generation_ = 0;
  // Findings compare with a snapshot that is one to two minutes old, so that every scraper that scrapes at least every
  // five minutes sees an increase.
  std::shared_ptr<const Node> before_, next_before_;  // the same at first
};

}  // namespace fabric::exporter
