// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/samples.h"

#include <cmath>

#include "base/json.h"
#include "ctl/output/table.h"
#include "node/counters.h"
#include "node/signals.h"

namespace fabric::ctl {
namespace {

Rate rate_of(const Port& port, const Counter& counter, std::optional<uint64_t> rise, double seconds) {
  Rate rate{port.id(), counter.name.str(), {}, 0, {}, false};
  Scale scale;
  if (counter.row != nullptr && counter.row->metric != nullptr) {
    rate.counter = counter.row->metric->name;
    scale = counter.row->scale;
    if (!counter.row->label.name.empty()) rate.labels.push_back(counter.row->label);
    if (counter.priority != 0)
      rate.labels.push_back(
          {"priority", std::string_view("01234567").substr(static_cast<size_t>(counter.priority - '0'), 1)});
  }
  rate.total = static_cast<double>(counter.value) * scale.multiply / scale.divide;
  if (rise && seconds > 0) rate.per_second = static_cast<double>(*rise) * scale.multiply / scale.divide / seconds;
  rate.trouble = counter.row != nullptr && is_error(*counter.row);
  return rate;
}

// Two counters that are parts of one series add up, as on the metrics page.
void put(std::vector<Rate>& rates, Rate rate) {
  Rate* same = find_where(rates, [&](const Rate& each) {
    return each.counter == rate.counter && each.labels == rate.labels && each.port == rate.port;
  });
  if (same == nullptr) return rates.push_back(std::move(rate));
  same->total += rate.total;
  if (same->per_second && rate.per_second) *same->per_second += *rate.per_second;
  else same->per_second.reset();
  same->trouble = same->trouble || rate.trouble;
}

std::string number(double value, int digits) {
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, digits).ptr;
  return {text.data(), end};
}

// Three significant digits and an SI prefix.
std::string with_prefix(double value) {
  constexpr std::array<const char*, 6> kPrefixes{"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  for (; std::abs(value) >= 999.5 && prefix + 1 < kPrefixes.size(); ++prefix) value /= 1000;
  const bool whole = prefix == 0 && value == std::trunc(value);
  return number(value, whole || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2) + " " + kPrefixes[prefix];
}

// The metric's name without the common prefix and suffix.
std::string short_name(const Rate& rate) {
  std::string text = rate.counter;
  if (text.starts_with("fabric_")) text.erase(0, 7);
  if (text.ends_with("_total")) text.resize(text.size() - 6);
  for (const Label& label : rate.labels) (text += label.name == "priority" ? " prio " : " ") += label.value;
  return text;
}

}  // namespace

std::vector<Rate> rates_of(const Node& before, const Node& now, double seconds) {
  std::vector<Rate> all;
  for (const Port& port : now.ports) {
    const Port* earlier =
        find_where(before.ports, [&](const Port& each) { return each.id() == port.id() && each.pci == port.pci; });
    const PortCounters nothing, &old = earlier == nullptr ? nothing : earlier->counters;
    std::vector<Rate> rates;
    for (const auto member : {&PortCounters::hw, &PortCounters::ethtool, &PortCounters::pma}) {
      const std::vector<Counter>& counters = port.counters.*member;
      for (size_t i = 0; i < counters.size(); ++i) {
        const Counter& counter = counters[i];
        if (counter.row != nullptr && counter.row->gauge) continue;  // it has no rate
        if (!is_superseded(counter, counters))
          put(rates, rate_of(port, counter, rise_since(old.*member, counters, i), seconds));
      }
    }
    std::move(rates.begin(), rates.end(), std::back_inserter(all));
  }
  const auto moves = [](const Rate& rate) { return rate.per_second.value_or(0) > 0; };
  std::ranges::stable_sort(all, [&](const Rate& a, const Rate& b) {
    if (moves(a) != moves(b)) return moves(a);
    if (!moves(a)) return false;
    if (a.trouble != b.trouble) return a.trouble;
    return *a.per_second > *b.per_second;
  });
  return all;
}

std::string per_second_text(const Rate& rate) {
  if (!rate.per_second) return "-";
  if (rate.counter.ends_with("bytes_total")) return with_prefix(*rate.per_second * 8) + "b/s";
  if (rate.counter.ends_with("seconds_total"))
    return number(*rate.per_second * 100, *rate.per_second < 0.0995 ? 2 : 1) + " %";
  std::string text = with_prefix(*rate.per_second);
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string rates_text(const std::vector<Rate>& rates, const Output& output) {
  Table table({"PORT", "COUNTER", "PER SECOND", "TOTAL"}, {2, 3});
  for (const Rate& rate : rates)
    table.add({rate.port, short_name(rate), per_second_text(rate),
               number(rate.total, rate.total == std::trunc(rate.total) ? 0 : 3)},
              rate.trouble && rate.per_second.value_or(0) > 0);
  return table.text(output);
}

Json rates_json(const std::vector<Rate>& rates) {
  Json out = Json::array();
  for (const Rate& rate : rates) {
    Json labels = Json::object();
    for (const Label& label : rate.labels) labels[std::string(label.name)] = std::string(label.value);
    out.push_back({{"port", rate.port},
                   {"counter", rate.counter},
                   {"labels", std::move(labels)},
                   {"per_second", rate.per_second},
                   {"total", rate.total},
                   {"trouble", rate.trouble}});
  }
  return out;
}

Samples samples_since(Machine& machine, std::optional<Node> before) {
  Samples samples;
  samples.before = std::move(before);
  samples.now = scan_machine(machine, {.keys = machine.policy ? wanted_keys(*machine.policy) : Keys(),
                                       .members = true,
                                       .neighbors = true,
                                       .optics = true,
                                       .host = true});
  if (samples.before) samples.signals = signals_of(*samples.before, samples.now);
  return samples;
}

Samples take_samples(Machine& machine, std::chrono::milliseconds interval) {
  if (interval.count() == 0) return samples_since(machine, std::nullopt);
  begin(machine.kernel, Sample::before);
  Node before =
      scan_machine(machine, {.settings = false, .gids = false, .network = false, .verbs = false, .members = true});
  wait_until(machine.kernel, before.taken + interval);
  begin(machine.kernel, Sample::now);
  return samples_since(machine, std::move(before));
}

View view_of(const Machine& machine, const Samples& samples, const Plan& plan) {
  return {.now = samples.now,
          .before = samples.before ? &*samples.before : nullptr,
          .policy = machine.policy ? &*machine.policy : nullptr,
          .plan = &plan,
          .signals = samples.before ? &samples.signals : nullptr,
          .no_policy = machine.no_policy};
}

}  // namespace fabric::ctl
