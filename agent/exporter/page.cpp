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
constexpr std::chrono::seconds kPageAge{1}, kBeforeAge{60};

}  // namespace

std::string render_page(const Snapshot& snapshot, const PageContext& context, bool with_process) {
  FamilySet families(context.policy ? context.policy->series_limit : Policy().series_limit);
  add_self(families, snapshot, context.http, Clock::now());
  families.add(kConfigValid, {}, context.config_valid ? 1 : 0);
  if (with_process) add_process(families);
  if (context.sampler != nullptr) add_sampler(families, *context.sampler);
  std::map<std::string, Signals> signals;
  if (context.before != nullptr) signals = signals_of(*context.before, snapshot.node);
  View view{.now = snapshot.node,
            .before = context.before,
            .policy = context.policy,
            .plan = &snapshot.plan,
            .signals = context.before != nullptr ? &signals : nullptr,
            .health = context.health,
            .no_policy = context.no_policy};
  Report report = run_checks(view);
  mark_acknowledged(report, context.acks, context.wall);
  if (view.signals != nullptr) add_diagnoses(families, snapshot.node, signals, diagnose(view));
  add_node(families, snapshot.node, report, context.policy ? context.policy->raw : Policy().raw);
  add_acknowledged(families, report);
  if (context.health != nullptr) add_health(families, *context.health);
  if (context.sampler != nullptr)  // the first to go where series_limit is reached
    for (const PortBursts& port : context.sampler->bursts()) add_bursts(families, port, Clock::now());
  if (context.policy != nullptr) add_compat(families, snapshot.node, context.policy->compat);
  add_series(families);
  return to_exposition(families.families());
}

std::string gzip(std::string_view text) {
  constexpr int kLevel = 1, kGzipWindow = 15 + 16, kMemory = 8;  // zlib.h: 16 more asks for the gzip wrapper
  z_stream stream{};
  if (deflateInit2(&stream, kLevel, Z_DEFLATED, kGzipWindow, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string out(deflateBound(&stream, static_cast<uLong>(text.size())), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));  // zlib does not write to it
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  bool done = deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(done ? stream.total_out : 0);
  deflateEnd(&stream);
  return out;
}

PageCache::Body PageCache::plain(const Collector& collector, PageContext context) {
  auto now = Clock::now();
  uint64_t version = collector.version();
  if (plain_ && version == version_ && now - rendered_ < kPageAge) return plain_;
  Snapshot snapshot = collector.snapshot();
  context.before = before_ ? &*before_ : nullptr;
  plain_ = std::make_shared<const std::string>(render_page(snapshot, context));
  compressed_.reset();
  version_ = version;
  rendered_ = now;
  if (collector.complete()) remember(snapshot.node);  // compared with half a machine, the rest would have no signals
  return plain_;
}

PageCache::Body PageCache::compressed(const Collector& collector, PageContext context) {
  Body text = plain(collector, std::move(context));
  if (!compressed_) compressed_ = std::make_shared<const std::string>(gzip(*text));
  return compressed_;
}

void PageCache::remember(const Node& node) {
  if (next_before_ && node.taken - next_before_->taken < kBeforeAge) return;
  before_ = std::move(next_before_);
  next_before_ = node;
  if (!before_) before_ = next_before_;
}

}  // namespace fabric::exporter
