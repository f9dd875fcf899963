// SPDX-License-Identifier: Apache-2.0
// fabric-agentctl diagnose, from the counters to the exit code.
#include "base/json.h"
#include "ctl/verbs.h"
#include "judge/cause.h"
#include "judge/engine.h"
#include "node/state.h"
#include "support/golden.h"
#include "support/rules.h"
#include "support/sim_nic.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::ctl {
namespace {

using test::has;
using test::Tree;

// A counter file whose value rises with each reading.
class Rising : public BehindFiles {
 public:
  Rising(Tree& tree, std::string file, uint64_t by) : tree_(tree), file_(std::move(file)), by_(by) {}
  std::optional<Result<void>> act(Act act, const std::string& file, std::string_view) override {
    if (act == Act::read && file.ends_with(file_)) tree_.file(file, std::to_string(value_ += by_) + "\n");
    return std::nullopt;
  }

 private:
  Tree& tree_;
  std::string file_;
  uint64_t by_, value_ = 100;
};

struct LossyMachine {
  explicit LossyMachine(uint64_t lost_per_reading) {
    const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
    add_roce_port(tree);
    tree.file(port + "/hw_counters/packet_seq_err", "100\n").file(port + "/counters/symbol_error", "0\n");
    options.root = tree.path();
    options.verb = "diagnose";
    options.interval = std::chrono::milliseconds(1);
    options.open = [this, lost_per_reading](const std::string& root) -> Result<Kernel> {
      auto kernel = open_kernel(root);
      if (kernel) kernel->root.set_behind(std::make_shared<Rising>(tree, "packet_seq_err", lost_per_reading));
      return kernel;
    };
  }

  int run() {
    output = {};
    return find_verb("diagnose")->run(options, output);
  }

  int check() const {
    Options all = options;
    all.json = false;
    Output ignored;
    return find_verb("check")->run(all, ignored);
  }

  Tree tree;
  Options options;
  Output output;
};

TEST(CtlDiagnose, NamesTheCulpritWithEvidenceAndSteps) {
  LossyMachine machine(5000);
  machine.options.json = true;
  EXPECT_EQ(machine.run(), 2) << machine.output.text << machine.output.errors;  // critical
  Json json = Json::parse(machine.output.text);
  EXPECT_EQ(json["verdict"], "critical");
  ASSERT_EQ(json["diagnoses"].size(), 1u) << machine.output.text;
  Json& found = json["diagnoses"][0];
  EXPECT_EQ(found["port"], "mlx5_0/1");
  EXPECT_EQ(found["culprit"], "network");
  EXPECT_EQ(found["rule"], "loss-in-network");
  EXPECT_EQ(found["evidence"][0], "sequence NAKs received +5000");
  EXPECT_FALSE(found["next"].empty());
}

TEST(CtlDiagnose, FitsTheTerminal) {
  test::expect_goldens("ctl_diagnose", [](const Output& terminal) {
    LossyMachine machine(5000);
    machine.tree.file("etc/fabric-agent/fabric-agent.toml", "mode = \"audit\"\n");
    machine.output = terminal;
    find_verb("diagnose")->run(machine.options, machine.output);
    return std::regex_replace(machine.output.text, std::regex("window of [^ ]+ s"), "window of 1 s");
  });
}

TEST(CtlDiagnose, WithoutSymptomsItSaysWhatWasObserved) {
  LossyMachine machine(0);
  EXPECT_EQ(machine.run(), machine.check());
  EXPECT_TRUE(machine.output.text.starts_with("1 port without symptoms in a window of ")) << machine.output.text;
  machine.options.interval = {};
  EXPECT_EQ(machine.run(), machine.check());
  EXPECT_TRUE(machine.output.text.starts_with("The cause of symptoms requires two samples")) << machine.output.text;
  machine.options.interval = std::chrono::milliseconds(1);
  machine.tree.remove("sys/class/infiniband/mlx5_0");
  EXPECT_EQ(machine.run(), machine.check());
  EXPECT_NE(machine.run(), 0) << "a machine without its NICs is not ok";
  EXPECT_TRUE(machine.output.text.starts_with("No RDMA port was observed")) << machine.output.text;
}

TEST(CtlDiagnose, HasTheVerdictOfCheck) {
  for (const uint64_t lost : {uint64_t{0}, uint64_t{12}, uint64_t{5000}}) {
    LossyMachine machine(lost);
    EXPECT_EQ(machine.run(), machine.check()) << machine.output.text;
  }
}

// A setting in conflict, without a symptom in the traffic: the same text as check.
TEST(CtlDiagnose, NamesASettingInConflictItsWriterAndTheFix) {
  LossyMachine machine(0);
  test::SimKernel kernel;
  test::SimNic& nic = kernel.add_nic("eth0", test::Personality::full);
  machine.tree.file("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0\n")
      .file("etc/fabric-agent/fabric-agent.toml", "mode = \"enforce\"\n[[port]]\nmtu = 4200\n");
  machine.options.open = [&](const std::string& root) -> Result<Kernel> { return kernel.kernel(root); };
  AgentState agent{.mode = "enforce"};
  agent.ports["mlx5_0/1"]["mtu"] = {"conflict", "repeatedly changed back by ip (pid 812)"};
  const auto runs = state::take_lock(machine.tree.path(), {}, state::kAgentLockFile);
  ASSERT_TRUE(runs && state::save_agent_state(machine.tree.path(), agent));
  EXPECT_EQ(machine.run(), 2) << machine.output.text << machine.output.errors;
  for (const char* part : {"1 port observed in a window of ", "mtu  mlx5_0/1\n", "Found:     1500\n",
                           "Expected:  4200\n", "changed back by ip (pid 812)", "Fix:       Find the other program"})
    EXPECT_TRUE(has(machine.output.text, part)) << part << "\n" << machine.output.text;
  Options check = machine.options;
  check.json = machine.options.json = true;
  check.only = {"mtu"};
  Output checked;
  find_verb("check")->run(check, checked);
  machine.run();
  EXPECT_EQ(Json::parse(machine.output.text)["settings"].at(0).at("meaning"),
            Json::parse(checked.text)["checks"].at(0).at("meaning"))
      << checked.text;
  nic.mtu = 4200;
  machine.run();
  EXPECT_EQ(Json::parse(machine.output.text)["settings"], Json::array());
}

TEST(CtlDiagnose, OnlyNamedPortsAreDiagnosed) {
  LossyMachine machine(5000);
  machine.options.arguments = {"mlx5_0"};
  EXPECT_EQ(machine.run(), 2);
  machine.options.arguments = {"mlx5_9"};
  EXPECT_EQ(machine.run(), kFailure);
  EXPECT_TRUE(has(machine.output.errors, "unknown port 'mlx5_9'")) << machine.output.errors;
}

TEST(CtlDiagnose, EveryRuleIsExplainedAndInTheManPage) {
  const std::string file = "agent/ctl/fabric-agentctl.1";
  std::string page = test::of_source(file);
  for (size_t at; (at = page.find("\\-")) != std::string::npos;) page.erase(at, 1);
  std::vector<std::string> ids{"not-enough-evidence"};
  for (const Rule& rule : test::causes()) ids.emplace_back(rule.id);
  for (const std::string& id : ids) {
    Options options;
    options.arguments = {id};
    Output output;
    EXPECT_EQ(find_verb("explain")->run(options, output), kDone) << output.errors;
    EXPECT_TRUE(output.text.starts_with(id + " (diagnosis)\n")) << output.text;
    EXPECT_EQ(output.text.find_first_of("{}"), std::string::npos) << output.text;
    const std::string culprit(to_text(find_rule(id)->culprit));
    EXPECT_NE(page.find("\n.TP\n.B " + id + "\n(" + culprit + ") "), std::string::npos)
        << file << ": write into DIAGNOSES: .TP, .B " << id << ", (" << culprit << ") ...";
  }
  std::string lines = page;
  std::replace(lines.begin(), lines.end(), '\n', ' ');
  for (const Rule& rule : test::causes())
    if (const std::string text =
            std::string(rule.title) + " " + std::string(rule.meaning) + " Excludes: " + std::string(rule.excludes);
        lines.find(text) == std::string::npos)
      ADD_FAILURE() << file << ": write into the entry of " << rule.id << " in DIAGNOSES: " << text;
}

}  // namespace
}  // namespace fabric::ctl
