// SPDX-License-Identifier: Apache-2.0
// Every captured machine with one or two parts gone or broken: with the inventory of its healthy state, which the agent
// keeps, and without.
#include "judge/cause.h"
#include "judge/engine.h"
#include "node/scan.h"
#include "node/signals.h"
#include "support/corpus.h"
#include "support/counters.h"
#include "support/healthy_node.h"
#include "support/mutate.h"
#include "support/test.h"
#include "topology/inventory.h"

namespace fabric::faults {
namespace {

using test::Mutated;
using test::Part;

struct Captured {
  std::string name;
  Node node;
};

std::vector<Captured> machines() {
  std::vector<Captured> out;
  for (const std::string& archive : test::healthy_archives()) {
    const test::Unpacked tree(archive);
    auto kernel = open_kernel(tree.root());
    if (!kernel) continue;
    Node node = scan(*kernel, {.neighbors = true, .host = true});
    node.agent = AgentState{.running = true, .mode = "audit"};
    out.push_back({test::machine_of(archive), std::move(node)});
  }
  return out;
}

void give_inventory(Node& node, const Node& healthy) {
  node.inventory = inventory_of(healthy);
  node.inventory->taken = "2026-01-01T00:00:00Z";
}

// Findings and diagnoses, as text.
std::vector<std::string> said(Mutated& machine) {
  machine.now.taken = machine.before.taken + std::chrono::seconds(60);
  const Policy policy;
  const Plan plan;
  test::resolve(machine.before);
  test::resolve(machine.now);
  const auto signals = signals_of(machine.before, machine.now);
  const View view{.now = machine.now, .before = &machine.before, .policy = &policy, .plan = &plan, .signals = &signals};
  std::vector<std::string> out;
  for (const Finding& each : run_rules(view).findings)
    if (each.status == Status::warning || each.status == Status::critical)
      out.push_back(each.id + " " + each.subject + " " + each.observed + " " + each.expected + " " + each.meaning);
  for (const Finding& each : diagnose(view)) {
    std::string text = each.subject + " " + each.id + " " + each.meaning;
    for (const std::string& line : each.evidence) text += " " + line;
    out.push_back(std::move(text));
  }
  return out;
}

bool names_all(const Mutated& machine, const std::vector<std::string>& texts) {
  return std::ranges::all_of(machine.names, [&](const std::vector<std::string>& names) {
    return std::ranges::any_of(texts, [&](const std::string& text) {
      return std::ranges::any_of(names, [&](const std::string& name) { return test::has(text, name); });
    });
  });
}

using Parts = std::vector<std::pair<Part, double>>;

// One of each kind, and three pairs.
std::vector<Parts> combinations() {
  std::vector<Parts> out;
  for (const Part part : test::kParts) out.push_back({{part, 0.5}});
  out.push_back({{Part::gpu, 0.2}, {Part::port, 0.9}});
  out.push_back({{Part::nic, 0.1}, {Part::link, 0.9}});
  out.push_back({{Part::function, 0.3}, {Part::gpu, 0.9}});
  return out;
}

std::string text_of(const Parts& parts) {
  std::string out;
  for (const auto& [part, at] : parts) out.append(out.empty() ? "" : "+").append(test::to_text(part));
  return out;
}

struct Score {
  size_t planted = 0, named = 0;
  std::map<std::string, std::pair<size_t, size_t>> kinds{};  // named, planted
};

void plant(const Captured& machine, const Parts& parts, bool inventory, Score& score) {
  Mutated mutated{machine.node, machine.node};
  for (const auto& [part, at] : parts)
    if (!test::mutate(mutated, part, at)) return;
  if (inventory)
    for (Node* node : {&mutated.before, &mutated.now}) give_inventory(*node, machine.node);
  const auto texts = said(mutated);
  const bool named = names_all(mutated, texts);
  ++score.planted;
  score.named += named ? 1 : 0;
  auto& kind = score.kinds[text_of(parts)];
  kind.first += named ? 1 : 0;
  ++kind.second;
  if (named || !inventory) return;
  std::printf("not named: %s, %s %s\n", machine.name.c_str(), text_of(parts).c_str(), mutated.names[0][0].c_str());
  for (const std::string& text : texts) std::printf("    %s\n", text.c_str());
}

size_t false_alarms(const Captured& machine, bool inventory) {
  Mutated healthy{machine.node, machine.node};
  if (inventory)
    for (Node* node : {&healthy.before, &healthy.now}) give_inventory(*node, machine.node);
  size_t out = 0;
  for (const std::string& text : said(healthy)) {
    // The second Ethernet port of its card was down when it was captured.
    if (machine.name == "psmgmt__mel3001" && test::has(text, "mlx5_3/1")) continue;
    ++out;
    ADD_FAILURE() << machine.name << ": " << text;
  }
  return out;
}

void print(const char* how, const Score& score, size_t alarms, size_t count) {
  std::printf("figure: mutations: %zu of %zu named %s, %zu false alarms on %zu unmutated machines\n", score.named,
              score.planted, how, alarms, count);
  for (const auto& [kind, counts] : score.kinds)
    std::printf("  %s: %zu of %zu\n", kind.c_str(), counts.first, counts.second);
}

TEST(Mutations, AreNamed) {
  const auto all = machines();
  Score with, without;
  size_t alarms_with = 0, alarms_without = 0;
  for (const Captured& machine : all) {
    for (const Parts& parts : combinations()) {
      plant(machine, parts, true, with);
      plant(machine, parts, false, without);
    }
    alarms_with += false_alarms(machine, true);
    alarms_without += false_alarms(machine, false);
  }
  print("with the inventory", with, alarms_with, all.size());
  print("without an inventory", without, alarms_without, all.size());
  EXPECT_GE(with.named * 124, with.planted * 120);
  EXPECT_GE(without.named * 100, without.planted * 55);  // most of these machines have too few equal parts
}

}  // namespace
}  // namespace fabric::faults
