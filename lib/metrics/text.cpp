// SPDX-License-Identifier: Apache-2.0
#include "metrics/text.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/parse.h"

namespace fabric {
namespace {

constexpr std::string_view kTotal = "_total";

void append_value(std::string& out, double value) {
  constexpr double kExactIntegers = 9007199254740992.0;  // 2^53
  if (std::isnan(value)) {
    out += "NaN";
    return;
  }
  if (std::isinf(value)) {
    out += value > 0 ? "+Inf" : "-Inf";
    return;
  }
  std::array<char, 32> text;
  char* end = text.data();
  // Written as an integer if possible, so that a counter never appears as 1e+06.
  if (std::abs(value) <= kExactIntegers && value == std::trunc(value))
    end = std::to_chars(text.data(), text.data() + text.size(), static_cast<int64_t>(value)).ptr;
  else end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  out.append(text.data(), end);
}

// A metric's help. Quotes are escaped in OpenMetrics only. Most helps have nothing to escape, and are appended at once.
void append_help(std::string& out, std::string_view help, bool quotes) {
  size_t done = 0;
  for (size_t i = 0; i < help.size(); ++i) {
    if (help[i] != '\n' && help[i] != '\\' && !(quotes && help[i] == '"')) continue;
    (out += help.substr(done, i - done)) += '\\';
    out += help[i] == '\n' ? 'n' : help[i];
    done = i + 1;
  }
  out += help.substr(done);
}

// Writes one page in one format.
class PageWriter {
 public:
  explicit PageWriter(TextFormat format) : open_(format == TextFormat::openmetrics) {}

  std::string write(const FamilySet& families) {
    out_.reserve((families.series() + 2 * families.list().size()) * 96);
    for (const FamilySet::SeriesFamily& family : families.list()) append(families, family);
    if (open_) out_ += "# EOF\n";
    return std::move(out_);
  }

 private:
  void append(const FamilySet& families, const FamilySet::SeriesFamily& family) {
    std::string_view name = family.metric.name;
    std::string_view type = "untyped";
    if (open_) type = "unknown";
    if (family.metric.kind == MetricKind::gauge) type = "gauge";
    if (family.metric.kind == MetricKind::histogram) type = "histogram";
    // OpenMetrics names a counter's family without the _total of its samples. A counter without _total stays "unknown".
    if (family.metric.kind == MetricKind::counter && (!open_ || name.ends_with(kTotal))) {
      type = "counter";
      if (open_) name.remove_suffix(kTotal.size());
    }
    ((out_ += "# HELP ") += name) += ' ';
    append_help(out_, family.metric.help, open_);
    (((out_ += "\n# TYPE ") += name) += ' ') += type;
    out_ += '\n';
    for (const FamilySet::Series& series : family.series) {
      const std::string_view labels = families.labels(series);
      if (!series.histogram) {
        append_sample(family.metric.name, "", labels, series.value);
        continue;
      }
      append_sample(family.metric.name, "_count", labels, static_cast<double>(series.histogram->sample_count));
      append_sample(family.metric.name, "_sum", labels, series.histogram->sample_sum);
      for (const auto& bucket : series.histogram->bucket)
        append_sample(family.metric.name, "_bucket", labels, static_cast<double>(bucket.cumulative_count),
                      bucket.upper_bound);
    }
  }

  void append_sample(std::string_view name, std::string_view suffix, std::string_view labels, double value,
                     std::optional<double> bound = std::nullopt) {
    (out_ += name) += suffix;
    if (!labels.empty() || bound) (out_ += '{') += labels;
    if (bound) {
      if (!labels.empty()) out_ += ',';
      out_ += "le=\"";
      append_value(out_, *bound);
      // OpenMetrics wants canonical numbers: "1.0".
      if (open_ && std::isfinite(*bound) && *bound == std::trunc(*bound)) out_ += ".0";
      out_ += '"';
    }
    if (!labels.empty() || bound) out_ += '}';
    out_ += ' ';
    append_value(out_, value);
    out_ += '\n';
  }

  bool open_;
  std::string out_;
};

std::string_view next_item(std::string_view& list, char separator) {
  const size_t end = std::min(list.find(separator), list.size());
  const std::string_view item = trim(list.substr(0, end));
  list.remove_prefix(std::min(end + 1, list.size()));
  return item;
}

}  // namespace

std::vector<Accepted> parse_accepted(std::string_view header) {
  std::vector<Accepted> out;
  while (!header.empty()) {
    std::string_view element = next_item(header, ',');
    Accepted& accepted = out.emplace_back(Accepted{.name = lower(next_item(element, ';')), .version = {}});
    while (!element.empty()) {
      std::string_view value = next_item(element, ';');
      const std::string name = lower(next_item(value, '='));
      if (name == "version") accepted.version = value;
      if (name != "q") continue;
      const auto end = std::from_chars(value.data(), value.data() + value.size(), accepted.quality);
      if (end.ec != std::errc() || !(accepted.quality >= 0 && accepted.quality <= 1)) accepted.quality = 0;
    }
  }
  return out;
}

std::string_view content_type(TextFormat format) {
  if (format == TextFormat::openmetrics) return "application/openmetrics-text; version=1.0.0; charset=utf-8";
  return "text/plain; version=0.0.4; charset=utf-8";
}

TextFormat negotiate(std::string_view accept) {
  double open = 0;
  std::optional<double> plain, any_text, any;  // the most specific of them counts
  for (const Accepted& range : parse_accepted(accept)) {
    const bool is_open = range.name == "application/openmetrics-text";
    if (is_open && (range.version.empty() || range.version == "1.0.0")) open = std::max(open, range.quality);
    if (range.name == "text/plain") plain = std::max(plain.value_or(0), range.quality);
    if (range.name == "text/*") any_text = range.quality;
    if (range.name == "*/*") any = range.quality;
  }
  const double text = plain.value_or(any_text.value_or(any.value_or(0)));
  if (open > 0 && open >= text) return TextFormat::openmetrics;
  return TextFormat::prometheus;
}

std::string serialize(const FamilySet& families, TextFormat format) { return PageWriter(format).write(families); }

}  // namespace fabric
