// SPDX-License-Identifier: Apache-2.0
#include "exporter/http/page.h"

#include <libdeflate.h>
#include <malloc.h>

#include <memory>
#include <utility>

#include "checks/check.h"
#include "counters/signals.h"
#include "diagnosis/diagnosis.h"
#include "health/health.h"
#include "metrics/burst_families.h"
#include "metrics/compat.h"
#include "metrics/exposition.h"
#include "metrics/families.h"
#include "metrics/health_families.h"
#include "metrics/raw_ethtool.h"

namespace fabric::exporter {
namespace {

constexpr Metric kConfigValid{"fabric_exporter_config_valid",
                              "0 when the last reload found a faulty configuration and the one before is kept.",
                              MetricKind::gauge};
constexpr std::chrono::seconds kPageAge{1}, kJudgementAge{10}, kBeforeAge{60}, kUnscraped{300};
constexpr std::chrono::seconds kFirstReading{
    10};  // a device that hangs from the beginning is not waited for any longer

// Half a kilobyte of text for each of a few hundred findings, which no page shows.
Finding without_words(Finding finding) {
  Finding out;
  out.id = std::move(finding.id);
  out.subject = std::move(finding.subject);
  out.status = finding.status;
  out.acknowledged = finding.acknowledged;
  return out;
}

// Of a device that has not answered since the earlier snapshot nobody knows what it did: it hangs.
std::map<std::string, Signals> signals_of_read(const Node& before, const Snapshot& snapshot) {
  auto out = signals_of(before, snapshot.node);
  for (const DeviceAge& age : snapshot.ages)
    if (age.taken <= before.taken)
      std::erase_if(out, [&](const auto& port) { return port.first.starts_with(age.device + "/"); });
  return out;
}

}  // namespace

Judgement judge(const Snapshot& snapshot, const PageContext& context) {
  Judgement out;
  if (context.before != nullptr) out.signals = signals_of_read(*context.before, snapshot);
  const View view{.now = snapshot.node,
                  .before = context.before,
                  .policy = context.policy,
                  .plan = &snapshot.plan,
                  .signals = context.before != nullptr ? &out.signals : nullptr,
                  .health = context.health,
                  .no_policy = context.no_policy};
  out.report = run_checks(view);
  mark_acknowledged(out.report, context.acks, context.wall);
  out.diagnoses = diagnose(view);
  for (Finding& finding : out.report.findings) finding = without_words(std::move(finding));
  return out;
}

void fill(FamilySet& families, const Snapshot& snapshot, const std::shared_ptr<const Judgement>& judgement,
          const PageContext& context, bool with_process) {
  families.begin((context.policy ? context.policy->series_limit : Policy().series_limit) - kSeriesOfSeries);
  add_self(families, snapshot, context.http, Clock::now());
  families.add(kConfigValid, {}, context.config_valid ? 1 : 0);
  if (with_process) add_process(families);
  if (context.sampler != nullptr) add_sampler(families, *context.sampler);
  add_diagnoses(families, snapshot.node, judgement->signals, judgement->diagnoses);
  add_acknowledged(families, judgement->report);  // before what may be too much: alerts ask for them
  if (context.health != nullptr) add_health(families, *context.health);
  const Unchanging unchanging{snapshot.parts.empty() ? nullptr : snapshot.parts.front(), judgement};
  add_node(families, snapshot.node, judgement->report, context.policy ? context.policy->raw : Policy().raw, unchanging);
  if (context.sampler != nullptr)  // the first to go where series_limit is reached
    for (const PortBursts& port : context.sampler->bursts()) add_bursts(families, port, Clock::now());
  if (context.policy != nullptr) {
    add_compat(families, snapshot.node, context.policy->compat);
    add_ethtool(families, snapshot.node, context.policy->ethtool);
  }
  add_series(families);
}

std::string render_page(const Snapshot& snapshot, const PageContext& context, bool with_process) {
  FamilySet families;
  fill(families, snapshot, std::make_shared<const Judgement>(judge(snapshot, context)), context, with_process);
  return to_exposition(families.families());
}

std::string gzip(std::string_view text) {
  constexpr int kLevel = 1;
  // Of 200 kB (libdeflate 1.14): made anew each time, for a thirtieth of what compressing costs, rather than kept.
  const std::unique_ptr<libdeflate_compressor, decltype(&::libdeflate_free_compressor)> compressor(
      ::libdeflate_alloc_compressor(kLevel), &::libdeflate_free_compressor);
  if (!compressor) return {};
  std::string out;
  const auto compress = [&](size_t room) {
    out.resize(room);
    out.resize(::libdeflate_gzip_compress(compressor.get(), text.data(), text.size(), out.data(), room));
  };
  compress(text.size() / 4);  // a page needs an eighth; memory that is not touched is not resident
  if (out.empty()) compress(::libdeflate_gzip_compress_bound(compressor.get(), text.size()));  // it did not fit
  out.shrink_to_fit();  // kept until the next page
  return out;
}

PageCache::Body PageCache::plain(const Collector& collector, PageContext context) {
  auto now = Clock::now();
  uint64_t version = collector.version();
  if (plain_ && version == version_ && now - rendered_ < kPageAge) return plain_;
  const bool whole = is_whole(collector);  // asked first: the snapshot has no less
  collector.snapshot(snapshot_);
  context.before = before_.get();
  if (!whole && !judgement_) judgement_ = std::make_shared<const Judgement>();
  fill(families_, snapshot_, whole ? judged(snapshot_, context) : judgement_, context, true);
  plain_ = text_.of(families_);
  compressed_.reset();
  version_ = version;
  rendered_ = now;
  if (whole && collector.complete())
    remember(snapshot_.node);  // compared with half a machine, the rest would have no signals
  return plain_;
}

void PageCache::keep_up(const Collector& collector, const Node& node) {
  if (next_before_ && node.taken - next_before_->taken < kUnscraped) return;
  if (is_whole(collector) && collector.complete()) remember(node);
}

bool PageCache::is_whole(const Collector& collector) {
  if (begun_ == Clock::time_point{}) begun_ = Clock::now();
  return whole_ = whole_ || collector.has_all() || Clock::now() - begun_ > kFirstReading;
}

void PageCache::start_anew() {
  auto found = std::move(judgement_);
  *this = PageCache();
  judgement_ = std::move(found);
}

std::shared_ptr<const Judgement> PageCache::judged(const Snapshot& snapshot, const PageContext& context) {
  const auto now = Clock::now();
  if (judgement_ && snapshot.news == judged_news_ && now - judged_at_ < kJudgementAge) return judgement_;
  judged_news_ = snapshot.news;
  judged_at_ = now;
  return judgement_ = std::make_shared<const Judgement>(judge(snapshot, context));
}

PageCache::Body PageCache::compressed(const Collector& collector, PageContext context) {
  Body text = plain(collector, std::move(context));
  if (!compressed_) compressed_ = std::make_shared<const std::string>(gzip(*text));
  return compressed_;
}

void PageCache::remember(const Node& node) {
  if (next_before_ && node.taken - next_before_->taken < kBeforeAge) return;
  before_ = std::exchange(next_before_, std::make_shared<const Node>(node));
  ::malloc_trim(0);  // half a megabyte of the heap lies between what is in use by now
  if (before_) return;
  before_ = next_before_;
  judge_anew();  // there was nothing to compare with
}

}  // namespace fabric::exporter
