// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/samples.h"

#include <cmath>

#include "base/json.h"
#include "ctl/output/table.h"
#include "judge/rule.h"
#include "node/counters.h"
#include "node/nvml.h"
#include "node/signals.h"

namespace fabric::ctl {
namespace {

// Counters that are parts of one series add up, as on the metrics page.
void add_rate(std::vector<Rate>& rates, const Port& port, const Counter& counter, std::optional<uint64_t> rise,
              double seconds) {
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
  rate.total = scale.of(counter.value);
  if (rise && seconds > 0) rate.per_second = scale.of(*rise) / seconds;
  rate.trouble = counter.row != nullptr && is_error(*counter.row);
  Rate* same = find_where(rates, [&](const Rate& other) {
    return other.counter == rate.counter && other.labels == rate.labels && other.port == rate.port;
  });
  if (same == nullptr) {
    rates.push_back(std::move(rate));
    return;
  }
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
  const bool is_whole = prefix == 0 && value == std::trunc(value);
  int digits = 2;
  if (is_whole || value >= 99.95) digits = 0;
  else if (value >= 9.995) digits = 1;
  return number(value, digits) + " " + kPrefixes[prefix];
}

}  // namespace

std::vector<Rate> rates_of(const Node& before, const Node& now, double seconds) {
  std::vector<Rate> all;
  for (const Port& port : now.ports) {
    const Port* earlier = find_same_port(before.ports, port);
    PortCounters old;
    if (earlier != nullptr) old = earlier->counters;
    std::vector<Rate> rates;
    for (const auto member : {&PortCounters::hw, &PortCounters::ethtool, &PortCounters::pma}) {
      const std::vector<Counter>& counters = port.counters.*member;
      for (size_t i = 0; i < counters.size(); ++i) {
        const Counter& counter = counters[i];
        if (counter.row != nullptr && counter.row->gauge) continue;  // a gauge has no rate
        if (!is_superseded(counter, counters))
          add_rate(rates, port, counter, rise_since(old.*member, counters, i), seconds);
      }
    }
    std::move(rates.begin(), rates.end(), std::back_inserter(all));
  }
  std::ranges::stable_sort(all, [](const Rate& a, const Rate& b) {
    if (a.is_rising() != b.is_rising()) return a.is_rising();
    if (!a.is_rising()) return false;
    if (a.trouble != b.trouble) return a.trouble;
    return *a.per_second > *b.per_second;
  });
  return all;
}

std::string per_second_text(const Rate& rate) {
  if (!rate.per_second) return "-";
  if (rate.counter.ends_with("bytes_total")) return with_prefix(*rate.per_second * 8) + "b/s";
  if (rate.counter.ends_with("seconds_total")) {
    int digits = 1;
    if (*rate.per_second < 0.0995) digits = 2;
    return number(*rate.per_second * 100, digits) + " %";
  }
  std::string text = with_prefix(*rate.per_second);
  if (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string rates_text(const std::vector<Rate>& rates, const Output& output) {
  Table table({"PORT", "COUNTER", "PER SECOND", "TOTAL"}, {2, 3});
  for (const Rate& rate : rates) {
    // The name of the metric without the common prefix and suffix.
    std::string name = rate.counter;
    if (name.starts_with("fabric_")) name.erase(0, 7);
    if (name.ends_with("_total")) name.resize(name.size() - 6);
    for (const Label& label : rate.labels) {
      name += " ";
      if (label.name == "priority") name += "prio ";
      name += label.value;
    }
    int digits = 3;
    if (rate.total == std::trunc(rate.total)) digits = 0;
    table.add({rate.port, name, per_second_text(rate), number(rate.total, digits)}, rate.trouble && rate.is_rising());
  }
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
  Keys keys = judged_settings();
  if (machine.policy) keys |= wanted_keys(*machine.policy);
  samples.now = scan_machine(
      machine, {.keys = std::move(keys), .members = true, .neighbors = true, .optics = true, .host = true});
  if (nvml::is_load_wanted(samples.now.topology)) ask_nvml(machine, samples.now.topology);
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

}  // namespace fabric::ctl
