// SPDX-License-Identifier: Apache-2.0
// A plan ends with a command that the next program does not refuse: in each state of the machine, the commands at the
// ends are run, one after the other, until there is nothing to write.

#include "base/json.h"
#include "ctl/verbs/write_verbs.h"
#include "enforce/confirm.h"
#include "policy/config.h"
#include "policy/show_config.h"
#include "support/sim_files.h"
#include "support/sim_nic.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::ctl {
namespace {

using test::add_pci;
using test::has;
using test::Personality;

constexpr const char* kConfig = "etc/fabric-agent/fabric-agent.toml";
// A disruptive write.
const std::string kPort = "[[port]]\nmtu = 4200\n", kAudit = "mode = \"audit\"\n" + kPort,
                  kEnforce = "mode = \"enforce\"\n" + kPort;

// A machine with one RoCE port that differs from the policy, and the parts of it that a plan depends on.
class Next : public testing::Test {
 protected:
  Next() {
    const std::string function = add_pci(tree_, {.parent = "pci0000:20/0000:20:01.0", .pci = "0000:24:00.0"}),
                      device = function + "/infiniband/mlx5_0";
    tree_.folder("sys/bus/pci/drivers/mlx5_core").link(function + "/driver", "../../../../bus/pci/drivers/mlx5_core");
    tree_.link("sys/class/infiniband/mlx5_0", "../../../" + device).link(device + "/device", "../..");
    tree_.file(device + "/ports/1/link_layer", "Ethernet\n").file(device + "/ports/1/gid_attrs/ndevs/0", "eth0\n");
    tree_.file("proc/sys/kernel/random/boot_id", "this boot\n").file(kConfig, kAudit);
    options_.root = options_.host = tree_.path();
    options_.disruptive = Disruptive::now;
    options_.open = [this](const std::string&) -> Result<Kernel> { return nics_.kernel(tree_.path()); };
    nic_.mtu = 1500;
  }

  // An agent that runs, with the configuration that it has read.
  void run_agent(const std::string& config, const std::string& held = {}) {
    auto read = parse_config(config, "fabric-agent.toml");
    ASSERT_TRUE(read.ok()) << read.error().text();
    const AgentState state{
        .mode = read->policy.mode, .held = held, .config = confirm::digest(wanted_config(read->policy))};
    ASSERT_TRUE(state::save_agent_state(tree_.path(), state).ok());
    if (agent_) return;
    auto lock = state::take_lock(tree_.path(), {}, state::kAgentLockFile);
    ASSERT_TRUE(lock.ok()) << lock.error().text();
    agent_.emplace(std::move(*lock));
  }
  // An apply with --confirm whose time ends `patience` from now.
  void apply_unconfirmed(std::chrono::seconds patience, const std::string& port = "0000:24:00.0/1") {
    confirm::Record record =
        confirm::begin(confirm::this_moment(tree_.root()), patience, {.disruptive = Disruptive::now}, "another policy");
    record.before[port].mtu = 1500;
    ASSERT_TRUE(confirm::save(tree_.path(), record).ok());
  }

  Output run(const std::string& verb, int& code) {
    Output output;
    options_.verb = verb;
    code = find_verb(verb)->run(options_, output);
    return output;
  }
  // The command after "Next: " of a plan, without sudo and alternatives; empty: nothing is left to write.
  std::string next_of_plan() {
    int code = 0;
    const Output output = run("plan", code);
    EXPECT_LT(code, kFailure) << output.errors;
    const size_t at = output.text.find("\nNext: ");
    if (code == kDone || at == std::string::npos) return {};
    std::string command = output.text.substr(at + 7, output.text.find_first_of(";\n", at + 7) - at - 7);
    if (command.starts_with("sudo ")) command.erase(0, 5);
    return command;
  }
  // Executes the command. False: it was refused.
  bool follow(const std::string& command) {
    if (command == "systemctl reload fabric-agent") {
      EXPECT_TRUE(agent_) << "nothing runs that could be reloaded";
      const std::string config = tree_.content(kConfig);
      run_agent(config);
      if (has(config, "enforce"))
        nic_.mtu = parse_number<uint32_t>(config.substr(config.find("mtu = ") + 6, 4)).value();
      return true;
    }
    if (command == "systemctl stop fabric-agent") {
      EXPECT_TRUE(agent_);
      agent_.reset();
      return true;
    }
    const auto words = split(command, ' ');
    EXPECT_EQ(words.at(0), "fabric-agentctl") << command;
    std::vector<std::string> arguments;
    for (size_t i = 1; i < words.size(); ++i) arguments.emplace_back(words[i]);
    auto options = parse_options(arguments);
    if (!options) return false;
    EXPECT_EQ(options->config, options_.config);
    EXPECT_EQ(options->ports, options_.ports);
    const auto before = options_.disruptive;
    options_.disruptive = options->disruptive;
    const unsigned writes = nic_.writes();
    int code = 0;
    const Output output = run(options->verb, code);
    options_.disruptive = before;
    if (code == kFailure) ADD_FAILURE() << command << ": " << output.errors << output.text;
    if (options->verb == "apply") EXPECT_GT(nic_.writes(), writes) << command << " does nothing: " << output.text;
    return code != kFailure;
  }
  // The commands in their order. Ends when there is nothing to write, or at `status`, which only reports.
  std::vector<std::string> follow_all() {
    std::vector<std::string> commands;
    while (commands.size() < 5) {
      const std::string command = next_of_plan();
      if (command.empty()) break;
      commands.push_back(command);
      if (!follow(command) || command.ends_with(" status")) break;
    }
    return commands;
  }

  test::Tree tree_;
  test::SimKernel nics_;
  test::SimNic& nic_ = nics_.add_nic("eth0", Personality::mlx5);
  Options options_;
  std::optional<Fd> agent_;
};

using Commands = std::vector<std::string>;
const std::string kApply = "fabric-agentctl apply", kNow = " --disruptive now", kStatus = "fabric-agentctl status",
                  kConfirm = "fabric-agentctl confirm", kReload = "systemctl reload fabric-agent";

TEST_F(Next, WithoutAnAgent) {
  EXPECT_EQ(follow_all(), Commands{kApply + kNow});
  EXPECT_EQ(nic_.mtu, 4200u);
  nic_.mtu = 1500;
  tree_.file(kConfig, kEnforce);
  EXPECT_EQ(follow_all(), Commands{kApply + kNow});
}

TEST_F(Next, InAuditMode) {
  run_agent(kAudit);
  EXPECT_EQ(follow_all(), Commands{kApply + kNow});
}

// The end of the plan also names how to keep the settings: systemctl does not reload a service that does not run.
TEST_F(Next, ReloadsOnlyAnAgentThatRuns) {
  int code = 0;
  for (const std::string& config : {kAudit, kEnforce}) {
    tree_.file(kConfig, config);
    const Output output = run("plan", code);
    EXPECT_TRUE(has(output.text, "to keep them: ")) << output.text;
    EXPECT_TRUE(has(output.text, "systemctl enable --now fabric-agent")) << output.text;
    EXPECT_FALSE(has(output.text, kReload)) << output.text;
  }
  tree_.file(kConfig, kAudit);
  run_agent(kAudit);
  const Output output = run("plan", code);
  EXPECT_TRUE(has(output.text, "then ") && has(output.text, kReload)) << output.text;
}

TEST_F(Next, WithAPolicyThatTheAgentHasNotRead) {
  run_agent(kAudit);
  tree_.file(kConfig, kEnforce);
  EXPECT_EQ(follow_all(), Commands{kReload});
  tree_.file(kConfig, "mode = \"enforce\"\n[[port]]\nmtu = 4300\n");
  EXPECT_EQ(follow_all(), Commands{kReload}) << "an apply would be undone";
  tree_.file(kConfig, kAudit);
  EXPECT_EQ(follow_all(), (Commands{kReload, kApply + kNow}));
}

TEST_F(Next, WithAFileThatIsNotTheAgents) {
  run_agent("mode = \"enforce\"\n[[port]]\nmtu = 1500\n");
  options_.config = tree_.path() + "/new.toml";
  tree_.file("new.toml", kEnforce);
  EXPECT_EQ(follow_all(), (Commands{"systemctl stop fabric-agent", kApply + " --config " + options_.config + kNow}));
}

TEST_F(Next, WithAFileWhoseNameIsNoWordOfAShell) {
  options_.config = tree_.path() + "/site's policy.toml";
  tree_.file("site's policy.toml", kEnforce);
  EXPECT_EQ(next_of_plan(), kApply + " --config '" + tree_.path() + "/site'\\''s policy.toml'" + kNow);
}

TEST_F(Next, WithTheSamePort) {
  options_.ports = {"eth0"};
  EXPECT_EQ(follow_all(), Commands{kApply + " --port eth0" + kNow});
}

TEST_F(Next, WhileTheAgentEnforcesIt) {
  run_agent(kEnforce);
  tree_.file(kConfig, kEnforce);
  EXPECT_EQ(follow_all(), Commands{kStatus});
}

TEST_F(Next, WhileAnApplyAwaitsConfirmation) {
  apply_unconfirmed(std::chrono::hours(1));
  EXPECT_EQ(follow_all(), (Commands{kConfirm, kApply + kNow}));
}

TEST_F(Next, WhileARevertedApplySuspendsTheAgent) {
  tree_.file(kConfig, kEnforce);
  run_agent(kEnforce, "reverted at 2026-01-01T00:00:00Z: not confirmed");
  EXPECT_EQ(follow_all(), Commands{kReload});
}

TEST_F(Next, WithAnApplyThatWasNotConfirmed) {
  apply_unconfirmed(std::chrono::seconds(0));
  EXPECT_EQ(follow_all(), Commands{kApply + kNow}) << "it restores the previous settings first";
}

TEST_F(Next, WithAnApplyThatCannotEnd) {
  apply_unconfirmed(std::chrono::seconds(0), "0000:99:00.0/1");
  EXPECT_EQ(follow_all(), Commands{kStatus}) << "its card is absent";
}

// Everything that a write can wait for. (An apply that awaits confirmation: above.)
TEST_F(Next, WhenEveryWriteWaits) {
  const Commands now{kApply + kNow}, status{kStatus};
  std::tm day = local_now(test::SimKernel().kernel(tree_.path()));
  const std::string later = day.tm_wday == 3 ? "Sat" : "Wed";
  const std::string
      front_end = "[[port]]\nmatch = { netdev = \"eth0\" }\nfront_end = true\nmtu = 4200\n",
      move = "[[port]]\npfc = [3, 4]\ndscp_map = { 26 = 4 }\n",
      lacks =
          "[[port]]\npfc = [3, 4]\ndscp_map = { 26 = 4 }\nets = { prio_tc = [0, 0, 0, 1, 4, 0, 0, 0], tsa = "
          "[\"ets\", \"ets\", \"ets\", \"ets\", \"ets\"], bw = [40, 30, 0, 0, 30] }\n",
      pause = "[[port]]\npause = \"off\"\npfc = [3]\n";
  struct Wait {
    std::string name, policy;
    Commands expected;
    bool has_default_route = false;
    std::string why = "All of them wait";
  };
  // The kernel of this machine cannot say that a port is idle.
  const std::vector<Wait> waits{
      {"a user of the port", kPort, now},
      {"the policy", "disruptive = \"never\"\n" + kPort, now},
      {"the maintenance window", "disruptive = \"now\"\nmaintenance = [\"" + later + " 02:00-02:01\"]\n" + kPort, now},
      {"an entry for the default route", kPort, status, true, "front_end = true"},
      {"a user, on the port of the default route", front_end, now, true},
      {"a move, which leaves the link alone", move, now, true},
      {"the move now, the MTU for an entry", move + "mtu = 4200\n", {kApply + kNow, kStatus}, true},
      {"global pause until PFC may be written", pause, status, true, "front_end = true"},
      {"global pause until the port is idle", pause, now},
      {"a class for RoCE that the NIC lacks", lacks, status, false, "that cannot be written"},
      {"the same on the port of the default route", lacks, status, true, "that cannot be written"},
  };
  for (const Wait& wait : waits) {
    SCOPED_TRACE(wait.name);
    nic_.mtu = 1500;
    nic_.dcbx = DCB_CAP_DCBX_HOST | DCB_CAP_DCBX_VER_IEEE;
    nic_.has_default_route = wait.has_default_route;
    nic_.pause = {true, true};
    nic_.pfc.pfc_en = 0;
    nic_.app.clear();
    if (!has(wait.policy, "pause")) {
      nic_.pause = {};
      nic_.pfc.pfc_en = 0x18;
      nic_.app = {{IEEE_8021QAZ_APP_SEL_DSCP, 3, 26}};
    }
    nic_.ets.ets_cap = 4;
    std::ranges::fill(nic_.ets.prio_tc, uint8_t{0});
    nic_.ets.prio_tc[3] = 1;
    std::ranges::fill(nic_.ets.tc_tsa, uint8_t{IEEE_8021QAZ_TSA_ETS});
    nic_.ets.tc_tx_bw[0] = nic_.ets.tc_tx_bw[1] = 50;
    tree_.file(kConfig, "mode = \"audit\"\n" + wait.policy);
    options_.disruptive.reset();
    int code = 0;
    const Output output = run("plan", code);
    EXPECT_TRUE(has(output.text, wait.why)) << output.text;
    EXPECT_EQ(follow_all(), wait.expected) << output.text;
    if (wait.expected != status) continue;
    options_.disruptive = Disruptive::now;
    EXPECT_EQ(follow_all(), status) << "also with --disruptive now";
  }
}

// A network service restarts: the agent has just seen the default route there, and an apply must not take the link.
TEST_F(Next, WhileTheAgentHoldsThePort) {
  Port port;
  port.pci = "0000:24:00.0";
  port.netdev = "eth0";
  const qos::Use route{.why = "the default route", .kind = qos::UseKind::default_route, .has_default_route = true};
  EXPECT_TRUE(qos::hold_default_route([&](const Port&) { return route; }, qos::kRouteHold, tree_.path())(port));
  EXPECT_EQ(follow_all(), Commands{kStatus});
  int code = 0;
  const Output output = run("apply", code);
  EXPECT_TRUE(has(output.text, "the default route left by eth0")) << output.text << output.errors;
  EXPECT_EQ(nic_.mtu, 1500U);
  tree_.remove(qos::kHeldPortsFile);
  EXPECT_EQ(follow_all(), Commands{kApply + kNow});
  EXPECT_EQ(nic_.mtu, 4200U);
}

// A self-test and its guard were killed together, and no agent runs: its record is all that is left. Each program that
// an operator asks reports it or ends it.
class KilledSelfTest : public Next {
 protected:
  void record(const Qos& before) {
    ASSERT_TRUE(state::save_originals(tree_.path(), {{"0000:24:00.0/1", before}}, state::kSelfTestFile).ok());
  }
  [[nodiscard]] bool has_record() const { return tree_.root().exists(state::kSelfTestFile); }
};

TEST_F(KilledSelfTest, StatusAndCheckReportIt) {
  record({.mtu = 2000});
  options_.only = {"agent"};
  int code = 0;
  for (const bool is_running : {false, true}) {
    SCOPED_TRACE(is_running ? "it is running" : "it was killed");
    std::optional<Fd> lock;
    if (is_running) {
      auto taken = state::take_lock(tree_.path());
      ASSERT_TRUE(taken.ok());
      lock.emplace(std::move(*taken));
    }
    if (is_running && ::geteuid() != 0) continue;  // only root sees who has the lock
    const Output status = run("status", code);
    EXPECT_TRUE(has(status.text, "A self-test of mlx5_0/1 ")) << status.text;
    EXPECT_EQ(has(status.text, "was interrupted; not as before it: mtu"), !is_running) << status.text;
    EXPECT_EQ(has(status.text, "fabric-agentctl apply"), !is_running) << "what ends it\n" << status.text;
    const Output check = run("check", code);
    EXPECT_EQ(has(check.text, "a self-test of mlx5_0/1 was interrupted"), !is_running) << check.text;
    if (!is_running) EXPECT_NE(code, 0);
  }
  options_.json = true;
  const Json status = Json::parse(run("status", code).text);
  ASSERT_EQ(status["self_tests"].size(), 1U) << status.dump();
  EXPECT_EQ(status["self_tests"][0]["port"], "mlx5_0/1");
  EXPECT_EQ(status["self_tests"][0]["differing"], Json::array({"mtu"}));
}

// The lock is root's: another user cannot see that the test is running, and must not be told that it was killed.
TEST_F(KilledSelfTest, WhoMayNotOpenTheLockIsNotToldThatItWasKilled) {
  record({.mtu = 2000});
  options_.only = {"agent"};
  const auto files = std::make_shared<test::SimFiles>(tree_);
  files->unreadable(state::kLockFile, EACCES);
  options_.open = [&](const std::string&) -> Result<Kernel> {
    Kernel kernel = nics_.kernel(tree_.path());
    kernel.root.set_behind(files);
    return kernel;
  };
  int code = 0;
  for (const char* verb : {"status", "check"}) {
    const std::string text = run(verb, code).text;
    EXPECT_TRUE(has(text, "self-test of mlx5_0/1 is running or was interrupted")) << text;
  }
  EXPECT_NE(code, 0);
}

TEST_F(KilledSelfTest, ADamagedRecordIsReported) {
  tree_.file(state::kSelfTestFile, "{");
  options_.only = {"agent"};
  int code = 0;
  EXPECT_TRUE(has(run("status", code).text, state::kSelfTestFile));
  EXPECT_TRUE(has(run("check", code).text, state::kSelfTestFile));
  EXPECT_NE(code, 0);
  options_.only.clear();
  EXPECT_TRUE(has(run("apply", code).errors, state::kSelfTestFile));
  EXPECT_EQ(nic_.mtu, 4200U) << "the policy is applied";
}

TEST_F(KilledSelfTest, AnApplyReplacesItOrSaysWhatIsLeft) {
  int code = 0;
  record({.mtu = 2000});
  (void)run("apply", code);
  EXPECT_EQ(code, kDone);
  EXPECT_EQ(nic_.mtu, 4200U);
  EXPECT_FALSE(has_record());
  // The policy says nothing of the setting, and the port is in use.
  tree_.file(kConfig, "mode = \"audit\"\n[[port]]\npfc = []\n");
  options_.disruptive.reset();
  options_.json = true;
  record({.mtu = 2000});
  const Output output = run("apply", code);
  EXPECT_EQ(code, kChanges) << output.text;
  EXPECT_TRUE(has(output.text, "from before an interrupted self-test")) << output.text;
  EXPECT_TRUE(has_record());
}

// The record could not be written after the apply: the end of the self-test would undo it.
TEST_F(KilledSelfTest, AnApplyWhoseSettingsMayBeUndoneIsNotDone) {
  nic_.after_change = [this](const std::string&) { tree_.file(state::kSelfTestFile, "{\"format\": 99}"); };
  int code = 0;
  const Output output = run("apply", code);
  nic_.after_change = [](const auto&) {};
  EXPECT_EQ(nic_.mtu, 4200U);
  EXPECT_EQ(code, kChanges) << output.text;
  EXPECT_TRUE(has(output.errors, "may undo this apply")) << output.errors;
}

// The guard of an apply with --confirm has ended, and no agent runs that would say it.
TEST_F(Next, StatusAndCheckReportAnApplyThatNobodyReverts) {
  options_.only = {"agent"};
  int code = 0;
  apply_unconfirmed(std::chrono::hours(1));
  EXPECT_TRUE(has(run("status", code).text, "An apply awaits confirmation until"));
  EXPECT_FALSE(has(run("check", code).text, "awaits confirmation")) << "its guard reverts it in time";
  apply_unconfirmed(std::chrono::seconds(0));
  const std::string status = run("status", code).text, check = run("check", code).text;
  EXPECT_TRUE(has(status, "not restored: 0000:24:00.0/1 mtu")) << status;
  EXPECT_TRUE(has(check, "not restored: 0000:24:00.0/1 mtu")) << check;
  EXPECT_NE(code, 0);
  run_agent(kEnforce, "an apply was not confirmed");
  EXPECT_FALSE(has(run("check", code).text, "not restored: 0000:24:00.0/1 mtu")) << "the agent says it";
}

TEST_F(Next, WithoutWhatAnApplyNeeds) {
  tree_.file(state::kOriginalsFile, "{");
  EXPECT_EQ(follow_all(), Commands{kStatus});
  tree_.remove(state::kOriginalsFile).file(confirm::kFile, "{");
  EXPECT_EQ(follow_all(), Commands{kStatus});
  tree_.remove(confirm::kFile);
  auto held = state::take_lock(tree_.path());
  ASSERT_TRUE(held.ok());
  if (::geteuid() == 0) EXPECT_EQ(follow_all(), Commands{kStatus});
}

TEST_F(Next, OnACapturedTreeNamesTheMachine) {
  options_.host = "/";
  int code = 0;
  const Output output = run("plan", code);
  EXPECT_EQ(code, kChanges) << output.errors;
  EXPECT_TRUE(has(output.text, "is a captured tree")) << output.text;
  EXPECT_FALSE(has(output.text, "fabric-agentctl apply")) << output.text;
}

}  // namespace
}  // namespace fabric::ctl
