// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/page.h"

#include <zlib.h>

#include "exporter/collect/sampler.h"
#include "exporter/http/landing.h"
#include "exporter/http/self.h"
#include "judge/engine.h"
#include "metrics/burst.h"
#include "metrics/cabling.h"
#include "metrics/counters.h"
#include "metrics/families.h"
#include "metrics/health.h"
#include "node/signals.h"

namespace fabric::exporter {
namespace {

constexpr Metric kConfigValid{"fabric_exporter_config_valid",
                              "0 when the last reload found a faulty configuration and the one before is kept."};
constexpr std::chrono::seconds kPageAge{1}, kFindingsAge{10}, kBeforeAge{60}, kUnscraped{300};
constexpr std::chrono::seconds kFirstReading{10};  // the longest wait for a device that hangs from the start

}  // namespace

PageFindings find(const Snapshot& snapshot, const PageContext& context) {
  PageFindings out;
  View view{.now = snapshot.node,
            .before = context.before,
            .policy = context.policy,
            .plan = &snapshot.plan,
            .health = context.health,
            .no_policy = context.no_policy,
            .wall = context.wall};
  if (context.before != nullptr) {
    out.signals = signals_of(*context.before, snapshot.node);
    view.signals = &out.signals;
    // A device that has not been read since the earlier snapshot hangs: its signals are unknown.
    for (const DeviceAge& age : snapshot.ages)
      if (age.taken <= context.before->taken)
        std::erase_if(out.signals, [&](const auto& port) { return port.first.starts_with(age.device + "/"); });
  }
  out.report = run_rules(view);
  mark_acknowledged(out.report, context.acks, context.wall);
  out.rails = rails_of(snapshot.node.topology, snapshot.node.ports, recorded_in(snapshot.node));
  // Drops the texts of findings that are ok: half a kilobyte each, for a few hundred findings.
  for (Finding& finding : out.report.findings) {
    if (is_listed(finding) || finding.culprit) continue;
    Finding without_texts{std::move(finding.id), std::move(finding.subject), finding.status, {}, {}, {}, {}};
    without_texts.outcome = finding.outcome;
    without_texts.acknowledged = finding.acknowledged;
    finding = std::move(without_texts);
  }
  return out;
}

// Adds the series in the order of importance, since series_limit drops the last ones.
std::string render_page(const Snapshot& snapshot, const PageFindings& findings, const PageContext& context,
                        bool with_process) {
  static const Policy kDefaults;
  const Policy& policy = context.policy != nullptr ? *context.policy : kDefaults;
  FamilySet families(policy.series_limit - kSeriesOfSeries);
  const bool timings = policy.published.has(SeriesGroup::timings);
  add_self(families, snapshot, context.http, Clock::now(), timings);
  families.add(kConfigValid, {}, context.config_valid ? 1 : 0);
  if (with_process) add_process(families);
  add_sampled(families, snapshot.sampled, timings);
  add_diagnoses(families, snapshot.node, findings.signals, findings.report);
  add_observable(families, snapshot.node, findings.signals, policy.rules);
  add_acknowledged(families, findings.report);  // alerts depend on them
  add_suppressed(families, findings.report, policy.rules);
  if (context.health != nullptr) {
    add_events(families, *context.health, policy.rules);
    add_health(families, *context.health);
  }
  add_neighbors(families, snapshot.node, &policy, findings.rails);
  add_node(families, snapshot.node, findings.report, policy.published);
  for (const PortBursts& port : snapshot.bursts) add_bursts(families, port, Clock::now(), policy.published);
  add_ethtool(families, snapshot.node, policy.ethtool);
  add_series(families);
  return serialize(families, context.format);
}

std::string render_page(const Snapshot& snapshot, const PageContext& context, bool with_process) {
  return render_page(snapshot, find(snapshot, context), context, with_process);
}

std::string gzip(std::string_view text) {
  constexpr int kLevel = 1, kGzip = 15 + 16, kMemory = 8;  // 15: the window; 16: gzip's header; 8: zlib's default
  z_stream stream{};
  if (::deflateInit2(&stream, kLevel, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(::deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (::deflate(&stream, Z_FINISH) == Z_STREAM_END) out.resize(stream.total_out);
  else out.clear();
  ::deflateEnd(&stream);
  return out;
}

PageCache::Body PageCache::page(const Collector& collector, PageContext context, bool compressed) {
  Rendered& page = context.landing ? landing_ : metrics_;
  const auto now = Clock::now();
  const uint64_t version = collector.version();
  if (!page.plain || version != page.version || context.format != page.format || now - page.at >= kPageAge) {
    const bool whole = is_whole(collector);  // asked before the snapshot, which can only contain more
    const Snapshot snapshot = collector.snapshot();
    context.before = before_.get();
    if (whole) update_findings(snapshot, context);
    std::string text;
    if (context.landing) text = render_landing(snapshot, findings_, context, now);
    else text = render_page(snapshot, findings_, context);
    page = Rendered{std::make_shared<const std::string>(std::move(text)), nullptr, context.format, version, now};
    // A view of the landing page does not shorten the window of the scrapes.
    if (whole && !context.landing && collector.complete()) remember(snapshot.node);
  }
  if (compressed && !page.compressed) page.compressed = std::make_shared<const std::string>(gzip(*page.plain));
  if (compressed) return page.compressed;
  return page.plain;
}

// Findings about a machine that is read in part would be wrong: GPUs without the NICs that have not been read yet.
bool PageCache::is_whole(const Collector& collector) {
  return whole_ = whole_ || collector.has_all() || Clock::now() - begun_ > kFirstReading;
}

void PageCache::update_findings(const Snapshot& snapshot, const PageContext& context) {
  const auto now = Clock::now();
  if (found_at_ && snapshot.generation == generation_ && now - *found_at_ < kFindingsAge) return;
  findings_ = find(snapshot, context);
  found_at_ = now;
  generation_ = snapshot.generation;
}

const Report* PageCache::refresh(const Collector& collector, const Snapshot& snapshot, PageContext context) {
  drop_findings();
  if (!is_whole(collector)) return nullptr;
  keep_up(collector, snapshot.node);
  context.before = before_.get();
  update_findings(snapshot, context);
  return &findings_.report;
}

void PageCache::keep_up(const Collector& collector, const Node& node) {
  if (next_before_ && node.taken - next_before_->taken < kUnscraped) return;
  if (is_whole(collector) && collector.complete()) remember(node);
}

void PageCache::restart() {
  PageFindings findings = std::move(findings_);
  *this = PageCache();
  findings_ = std::move(findings);
}

void PageCache::remember(const Node& node) {
  if (next_before_ && node.taken - next_before_->taken < kBeforeAge) return;
  before_ = std::exchange(next_before_, std::make_shared<const Node>(node));
  if (before_) return;
  before_ = next_before_;
  drop_findings();  // they had no earlier snapshot to compare with
}

}  // namespace fabric::exporter
