// SPDX-License-Identifier: Apache-2.0
#include "exporter/page.h"

#include <zlib.h>

#include <utility>

#include "check/check.h"
#include "check/diagnosis.h"
#include "check/health.h"
#include "counter/compat.h"
#include "counter/exposition.h"
#include "counter/families.h"
#include "counter/health_families.h"
#include "counter/signals.h"

namespace fabric::exporter {
namespace {

constexpr Metric kConfigValid{"fabric_exporter_config_valid", "0 when the last reload found a faulty configuration and the one before is kept.", MetricKind::gauge};
constexpr std::chrono::seconds kPageAge{1}, kJudgementAge{10}, kBeforeAge{60};

// Half a kilobyte of text for each of a few hundred findings, which no page shows.
Finding without_words(Finding finding) {
  Finding out;
  out.id = std::move(finding.id);
  out.subject = std::move(finding.subject);
  out.status = finding.status;
  out.acknowledged = finding.acknowledged;
  return out;
}

}  // namespace

Judgement judge(const Snapshot& snapshot, const PageContext& context) {
  Judgement out;
  if (context.before != nullptr) out.signals = signals_of(*context.before, snapshot.node);
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

std::string render_page(const Snapshot& snapshot, const Judgement& judgement, const PageContext& context, bool with_process) {
  FamilySet families(context.policy ? context.policy->series_limit : Policy().series_limit);
  add_self(families, snapshot, context.http, Clock::now());
  families.add(kConfigValid, {}, context.config_valid ? 1 : 0);
  if (with_process) add_process(families);
  if (context.sampler != nullptr) add_sampler(families, *context.sampler);
  add_diagnoses(families, snapshot.node, judgement.signals, judgement.diagnoses);
  add_node(families, snapshot.node, judgement.report, context.policy ? context.policy->raw : Policy().raw);
  add_acknowledged(families, judgement.report);
  if (context.health != nullptr) add_health(families, *context.health);
  if (context.sampler != nullptr)  // the first to go where series_limit is reached
    for (const PortBursts& port : context.sampler->bursts()) add_bursts(families, port, Clock::now());
  if (context.policy != nullptr) add_compat(families, snapshot.node, context.policy->compat);
  add_series(families);
  return to_exposition(families.families());
}

std::string gzip(std::string_view text) {
  constexpr int kLevel = 1, kGzipWindow = 15 + 16, kMemory = 7;  // zlib.h: 16 more asks for the gzip wrapper
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not write to it
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(done ? stream.total_out : 0);
  out.shrink_to_fit();  // kept until the next page
  deflateEnd(&stream);
  return out;
}

PageCache::Body PageCache::plain(const Collector& collector, PageContext context) {
  auto now = Clock::now();
  uint64_t version = collector.version();
  if (plain_ && version == version_ && now - rendered_ < kPageAge) return plain_;
  Snapshot snapshot = collector.snapshot();
  context.before = before_.get();
  plain_ = std::make_shared<const std::string>(render_page(snapshot, judged(snapshot, context), context));
  compressed_.reset();
  version_ = version;
  rendered_ = now;
  if (collector.complete()) remember(std::move(snapshot.node));  // compared with half a machine, the rest would have no signals
  return plain_;
}

const Judgement& PageCache::judged(const Snapshot& snapshot, const PageContext& context) {
  const auto now = Clock::now();
  if (judgement_ && snapshot.news == judged_news_ && now - judged_at_ < kJudgementAge) return *judgement_;
  judged_news_ = snapshot.news;
  judged_at_ = now;
  return judgement_.emplace(judge(snapshot, context));
}

PageCache::Body PageCache::compressed(const Collector& collector, PageContext context) {
  Body text = plain(collector, std::move(context));
  if (!compressed_) compressed_ = std::make_shared<const std::string>(gzip(*text));
  return compressed_;
}

void PageCache::remember(Node&& node) {
  if (next_before_ && node.taken - next_before_->taken < kBeforeAge) return;
  before_ = std::exchange(next_before_, std::make_shared<const Node>(std::move(node)));
  if (before_) return;
  before_ = next_before_;
  judgement_.reset();  // there was nothing to compare with
}

}  // namespace fabric::exporter
