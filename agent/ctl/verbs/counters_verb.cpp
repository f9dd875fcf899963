// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/counters_verb.h"

#include <array>
#include <cmath>
#include <cstdio>

#include "base/clock.h"
#include "base/find.h"
#include "base/json.h"
#include "ctl/machine.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "ctl/verbs/watch.h"
#include "node/counters.h"
#include "policy/span.h"

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

namespace {

// [{"port","counter","labels":{},"per_second","total","trouble"}]
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

Node read(Machine& machine, const Options& options, Sample sample) {
  begin(machine.kernel, sample);
  ScanOptions what = ports_only();
  what.counters = what.members = true;
  Node node = scan_machine(machine, what);
  std::erase_if(node.ports, [&](const Port& port) { return !is_chosen(options, port); });
  return node;
}

// The rates between two samples, at the time of the second one.
struct Round {
  std::string head, hostname;
  int64_t wall = 0;
  double seconds = 0;
  std::vector<Rate> rates;
};

// "gpu01  14:30:05  ", in the machine's local time.
std::string head_text(const Machine& machine, const Node& now) {
  const std::tm time = local_now(machine.kernel);
  std::array<char, 16> clock{};
  std::strftime(clock.data(), clock.size(), "%H:%M:%S", &time);
  std::string text;
  if (!now.hostname.empty()) text = now.hostname + "  ";
  return text + clock.data() + "  ";
}

Round round_of(const Machine& machine, const Node& before, const Node& now) {
  const double seconds = in_seconds(now.taken - before.taken);
  return {head_text(machine, now), now.hostname, wall_now(machine.kernel), seconds, rates_of(before, now, seconds)};
}

std::string round_text(const Round& round, const Options& options, const Output& output) {
  auto rates = round.rates;
  if (!options.verbose) std::erase_if(rates, [](const Rate& rate) { return !rate.is_rising(); });
  if (options.json) {
    const Json out = {{"hostname", round.hostname},
                      {"time", time_text(round.wall)},
                      {"seconds", round.seconds},
                      {"counters", rates_json(rates)}};
    if (options.watch) return json_line(out);
    return json_text(out);
  }
  const auto rising = std::ranges::count_if(rates, &Rate::is_rising);
  std::array<char, 32> seconds{};
  std::snprintf(seconds.data(), seconds.size(), "%.2f s", round.seconds);
  const std::string head = round.head + std::to_string(rising) + " of " + std::to_string(round.rates.size()) +
                           " counters moved in " + seconds.data();
  std::string text = folded(head, output.width) + "\n\n";
  if (!rates.empty()) text += rates_text(rates, output);
  if (options.watch && output.height == 0) text += "\n";
  return text;
}

}  // namespace

int run_counters(const Options& options, Output& output) {
  if (options.arguments.size() > 1)
    return fail(output, kUsage, "counters: too many arguments: " + options.arguments[1]);
  auto interval = options.interval;
  if (!options.arguments.empty()) {
    const auto seconds = parse_span(options.arguments.front());
    if (!seconds)
      return fail(output, kUsage, "counters: " + options.arguments.front() + ": not a time (5, 500ms or 1min)");
    interval = *seconds;
  }
  if (interval < kMinInterval || interval > std::chrono::hours(1))
    return fail(output, kUsage, "counters: interval out of range (100ms to 1h)");
  auto machine = open_machine(options);
  if (!machine) return fail(output, kFailure, "counters: " + machine.error().text());
  Node before = read(*machine, options, Sample::before);
  if (auto known = check_ports(options, before); !known)
    return fail(output, kFailure, "counters: " + known.error().text());
  if (before.ports.empty() && !options.watch) {
    if (options.json) output.text += round_text(round_of(*machine, before, before), options, output);
    else output.text += "No RDMA port found.\n";
    return kDone;
  }
  const bool replays = machine->kernel.root.replays();  // a capture has only two samples
  std::optional<Watch> watch;
  if (options.watch && !replays) watch.emplace(output, !options.json);
  if (!watch) {
    wait_until(machine->kernel, before.taken + interval);
    const Node now = read(*machine, options, Sample::now);
    if (now.taken <= before.taken)
      return fail(output, kFailure,
                  "counters: the capture has one reading of the counters; take two: capture --interval 5");
    output.text += printable(round_text(round_of(*machine, before, now), options, output), output);
    return kDone;
  }
  std::string waiting;
  if (watch->in_place()) waiting = head_text(*machine, before) + "first rates after " + span_text(interval);
  Watch::Draw draw = [waiting](const Output&) { return waiting; };
  while (watch->next(before.taken + interval, draw)) {
    Node now = read(*machine, options, Sample::now);
    draw = [round = round_of(*machine, before, now), &options](const Output& to) {
      return round_text(round, options, to);
    };
    before = std::move(now);
  }
  return kDone;
}

}  // namespace fabric::ctl
