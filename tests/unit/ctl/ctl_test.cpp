// SPDX-License-Identifier: Apache-2.0
#include "support/ctl.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <regex>

#include "base/json.h"
#include "ctl/machine.h"
#include "ctl/options.h"
#include "ctl/output/report_text.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "ctl/verbs/status_verb.h"
#include "ctl/verbs/write_verbs.h"
#include "enforce/confirm.h"
#include "judge/engine.h"
#include "judge/health_state.h"
#include "judge/rule.h"
#include "node/state.h"
#include "policy/config.h"
#include "policy/last_good.h"
#include "policy/show_config.h"
#include "support/golden.h"
#include "support/healthy_node.h"
#include "support/ports.h"
#include "support/rules.h"
#include "support/sim_nic.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::ctl {
namespace {

using test::count_of;
using test::expect_golden;
using test::expect_goldens;
using test::has;
using test::Healthy;
using test::ran;
using test::Ran;
using test::ran_on;
using test::Tree;
using test::widest_line;

constexpr int64_t kNow = 1'767'229'200;  // 2026-01-01T01:00:00Z

// One RoCE port and a policy for it.
void fill(Tree& tree) {
  const std::string device = "sys/class/infiniband/mlx5_0", port = device + "/ports/1";
  add_roce_port(tree);
  tree.file(port + "/rate", "400 Gb/sec (4X NDR)\n").file(device + "/fw_ver", "28.41.1000\n");
  tree.file(port + "/gids/0", "0000:0000:0000:0000:0000:ffff:0a01:0001\n");
  tree.file(port + "/gid_attrs/types/0", "RoCE v2\n").file(port + "/gid_attrs/ndevs/0", "eth0\n");
  tree.file("sys/class/net/eth0/mtu", "9000\n")
      .file("sys/class/net/eth0/carrier", "1\n")
      .file("sys/class/net/eth0/ifindex", "7\n");
  tree.file(port + "/hw_counters/out_of_sequence", "4\n");
  tree.file("etc/fabric-agent/fabric-agent.toml", "mode = \"audit\"\n[[port]]\nname = \"roce\"\npfc = [3]\n");
}

// A captured machine.
struct Captured : Tree {
  Captured() { fill(*this); }
};

Result<Options> parsed(std::vector<std::string> words) { return parse_options(words); }

// "fabric-agentctl WORDS" up to the end of the command.
void expect_commands(std::string_view text) {
  constexpr std::string_view kProgram = "fabric-agentctl ";
  for (size_t at = 0; (at = text.find(kProgram, at)) != std::string_view::npos;) {
    const size_t end = text.find_first_of(";'\n", at += kProgram.size());
    std::vector<std::string> given;
    for (const std::string_view word : words(text.substr(at, end - at))) given.emplace_back(word);
    const auto options = parsed(given);
    ASSERT_TRUE(options) << joined(given, " ") << ": " << options.error().text();
    const Verb* verb = find_verb(options->verb);
    EXPECT_TRUE(verb != nullptr && (options->arguments.empty() || !verb->arguments.empty())) << joined(given, " ");
  }
}

TEST(CtlOptions, CommandsOfChecksAndAlertsAreCommands) {
  for (const Rule& check : test::checks()) expect_commands(check.inspect);
  for (const std::string file : {"fabric-agent.rules.yml", "fabric-fleet.rules.yml"})
    expect_commands(
        std::regex_replace(test::of_source("etc/prometheus/" + file), std::regex("\\{\\{[^}]*\\}\\}"), "NAME"));
}

TEST(Wrapped, ListsAreBrokenAfterCommas) {
  EXPECT_EQ(wrapped("CPUs 0,2,4,6,8,10,12 of node", 10, 2), "CPUs\n  0,2,4,6,\n  8,10,12\n  of node");
  EXPECT_EQ(wrapped("--only pcie,acs", 14, 2), "--only\n  pcie,acs") << "fits into a line";
  EXPECT_EQ(wrapped("a /very/long/path,x", 10, 2), "a\n  /very/long/path,x");
}

TEST(CtlOptions, EveryWayToGiveAValue) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"check", "--interval", "4s", "--only", "pfc,link"},
        {"--interval=4s", "--only=pfc", "check", "-o", "link"},
        {"-i4s", "-opfc,link", "check"},
        {"check", "-i", "4s", "--only", "pfc", "--only", "link"}}) {
    const auto options = parsed(words);
    ASSERT_TRUE(options) << options.error().text();
    EXPECT_EQ(options->verb, "check");
    EXPECT_EQ(options->interval, std::chrono::seconds(4));
    EXPECT_EQ(options->only, (std::vector<std::string>{"pfc", "link"}));
  }
  EXPECT_EQ(parsed({"check"})->interval, std::chrono::seconds(1));
  EXPECT_EQ(parsed({"check", "-i", "0"})->interval.count(), 0);
  EXPECT_TRUE(parsed({"topo", "--format", "json"})->json);
  EXPECT_EQ(parsed({"diagnose", "--peer", "10.1.0.5, fd00::5"})->peers,
            (std::vector<Ip>{*parse_ip("10.1.0.5"), *parse_ip("fd00::5")}));
  EXPECT_EQ(parsed({"apply", "--disruptive", "now"})->disruptive, Disruptive::now);
  EXPECT_EQ(parsed({"config", "--", "-x"})->arguments, std::vector<std::string>{"-x"});
  EXPECT_EQ(parsed({"explain", "-"})->arguments, std::vector<std::string>{"-"});
  const auto letters = parsed({"check", "-jvopfc"});
  ASSERT_TRUE(letters) << letters.error().text();
  EXPECT_TRUE(letters->json && letters->verbose);
  EXPECT_EQ(letters->only, std::vector<std::string>{"pfc"});
  EXPECT_TRUE(parsed({"check", "--verb"})->verbose);
  EXPECT_EQ(parsed({"check", "--config", "a"})->config, "a") << "a whole name is not the beginning of another";
  ::setenv("POSIXLY_CORRECT", "1", 1);
  EXPECT_TRUE(parsed({"check", "--json"})->json);
  ::unsetenv("POSIXLY_CORRECT");
}

TEST(CtlOptions, ConfigStandsBelowRoot) {
  EXPECT_EQ(parsed({"check"})->config_file(), "/etc/fabric-agent/fabric-agent.toml");
  EXPECT_EQ(parsed({"check", "--root", "/tmp/tree"})->config_file(), "/tmp/tree/etc/fabric-agent/fabric-agent.toml");
  EXPECT_EQ(parsed({"check", "--root", "/tmp/tree", "--config", "my.toml"})->config_file(), "my.toml");
}

TEST(CtlOptions, WrongLinesSayWhatToWrite) {
  const std::pair<std::vector<std::string>, const char*> wrong[] = {
      {{"chekc"}, "did you mean check?"},
      {{"check", "--onyl", "x"}, "did you mean --only?"},
      {{"check", "--json=yes"}, "unexpected value"},
      {{"diagnose", "--peer", "10.1.0.5,node-b"}, "must be IPv4 or IPv6 addresses"},
      {{"check", "--peer", "10.1.0.5"}, "--peer"},
      {{"check", "--only"}, "requires a value"},
      {{"check", "--interval", "soon"}, "out of range"},
      {{"check", "--interval=-1"}, "out of range"},
      {{"check", "--interval", "1us"}, "out of range"},
      {{"check", "--interval", "0.5"}, "100ms to 1h"},
      {{"diagnose", "--interval", "99ms"}, "100ms to 1h"},
      {{"capture", "--interval", "2h"}, "100ms to 1h"},
      {{"counters", "--interval", "99999999999999999999"}, "100ms to 1h"},
      {{"check", "--root="}, "invalid value"},
      {{"topo", "--format", "xml"}, "slurm or rankfile"},
      {{"topo", "--only", "pfc"}, "topo: unknown option --only"},
      {{"apply", "--disruptive", "soon"}, "must be idle, now or never"},
      {{"-Z"}, "unknown option '-Z'"},
      {{"check", "-jZ"}, "unknown option '-Z'"},
      {{"check", "-ji"}, "--interval requires a value: TIME"},
      {{"check", "--co", "x"}, "ambiguous option '--co': --config or --confirm or --comment"},
      {{"check", "--verb=yes"}, "--verbose: unexpected value: yes"},
      {{"check", "pfc"}, "unexpected argument"},
      {{"plan", "now"}, "unexpected argument"},
      {{"check", "--only", "pcf"}, "did you mean pfc?"},
      {{"explain", "localty"}, "did you mean locality?"},
      {{"config", "chek"}, "requires check or show"},
      {{"help", "nonsense"}, "unknown command 'nonsense'"},
      {{"help", "check", "diagnose"}, "too many arguments"},
      {{"capture", ""}, "requires a DIR"},
      {{"ack", "gid", "--for", "367d"}, "1s to 366 days"},
  };
  for (const auto& [words, said] : wrong) {
    const Ran result = ran(words);
    EXPECT_EQ(result.code, kUsage) << words.front();
    EXPECT_TRUE(has(result.errors, said)) << result.errors;
    EXPECT_EQ(result.text, "") << words.front();
  }
  EXPECT_EQ(ran({}).code, kUsage);
}

TEST(CtlHelp, IsPrintedFromTheTables) {
  const Ran usage = ran({"--help"});
  EXPECT_EQ(usage.code, kDone);
  for (const Verb& verb : verbs()) {
    EXPECT_TRUE(has(usage.text, "  " + std::string(verb.name))) << verb.name;
    const Ran help = ran({std::string(verb.name), "--help"});
    EXPECT_EQ(help.code, kDone);
    EXPECT_EQ(help.text, ran({"help", std::string(verb.name)}).text);
    for (const OptionRow& row : option_rows())
      EXPECT_EQ(help.text.find("--" + std::string(row.name) + " ") != std::string::npos, takes(verb.name, row))
          << verb.name << " " << row.name;
  }
  // The help of a verb is about this verb alone.
  for (const Verb& verb : verbs())
    for (const OptionRow& row : option_rows()) {
      if (!takes(verb.name, row)) continue;
      const std::string help(help_of(verb.name, row));
      EXPECT_FALSE(help.empty()) << verb.name << " --" << row.name;
      for (const Verb& other : verbs())
        if (!row.verbs.empty() && other.name != verb.name)
          EXPECT_FALSE(has(help, std::string(other.name) + ":") || has(help, "(" + std::string(other.name))) << help;
    }
  for (const Verb& verb : verbs()) EXPECT_LE(widest_line(help_text(verb, 80)), 80u) << verb.name;
  EXPECT_LE(widest_line(usage_text(80)), 80u);
  EXPECT_EQ(ran({"--version"}).text, "fabric-agentctl " FABRIC_VERSION "\n");
}

TEST(CtlDocs, ManPageNamesEverything) {
  std::string page = test::of_source("agent/ctl/fabric-agentctl.1");
  ASSERT_NE(page, "");
  for (size_t at; (at = page.find("\\-")) != std::string::npos;) page.erase(at, 1);
  for (const Verb& verb : verbs()) {
    const std::string name(verb.name);
    EXPECT_TRUE(page.find("\n.TP\n.BR " + name) != std::string::npos ||
                page.find("\n.TP\n.BR \"" + name) != std::string::npos)
        << name;
  }
  for (const OptionRow& row : option_rows())
    EXPECT_TRUE(has(page, "\n.BR " + (row.letter == 0 ? "" : std::string("-") + row.letter + " \", \" ") + "--" +
                              std::string(row.name)))
        << row.name;
}

// The completion asks the program: `help` for verbs and options, `explain` for ids.
TEST(CtlDocs, CompletionFindsWhatItAsksFor) {
  const std::string list = ran({"explain"}).text;
  ASSERT_TRUE(list.starts_with("ID ")) << list;
  for (const Rule& check : test::checks()) EXPECT_TRUE(has(list, "\n" + std::string(check.id) + " ")) << check.id;
  const std::string usage = ran({"help"}).text;
  const size_t first = usage.find("\nCommands:\n"), last = usage.find("\n\n", first);
  for (const Verb& verb : verbs()) {
    const size_t at = usage.find("\n  " + std::string(verb.name) + " ", first);
    EXPECT_LT(at, last) << verb.name;
  }
}

TEST(CtlCheck, OfACapturedMachine) {
  Captured tree;
  const Ran result = ran_on(tree, {"check", "--interval", "0", "--json"});
  Json json = Json::parse(result.text);
  EXPECT_EQ(json["verdict"], "warning") << result.text;  // configured, and no agent runs
  EXPECT_EQ(result.code, 1);
  bool saw_pfc = false;
  EXPECT_EQ(json["unread"] == Json::array(),
            ran_on(tree, {"check", "--interval", "0"}).text.find("Could not be read") == std::string::npos);
  for (Json& check : json["checks"]) {
    if (check["id"] != "pfc") continue;
    saw_pfc = true;
    EXPECT_EQ(check["status"], "unknown") << "PFC requires netlink, which a captured tree does not have";
    EXPECT_EQ(check["expected"], "3");
  }
  EXPECT_TRUE(saw_pfc);
  tree.file("sys/class/infiniband/mlx5_0/ports/1/state", "1: DOWN\n")
      .file("sys/class/infiniband/mlx5_0/ports/1/phys_state", "2: Polling\n");
  const Ran down = ran_on(tree, {"check", "--interval", "0", "--only", "port-state"});
  EXPECT_EQ(down.code, 2) << down.text;
  EXPECT_TRUE(has(down.text, "CRITICAL  port-state  mlx5_0/1")) << down.text;
}

TEST(CtlCheck, NothingCheckedIsUnknown) {
  Tree tree;
  tree.file("proc/cmdline", "quiet\n");
  for (const std::string name : {"platform", "host", "counters", "topology", "port-state"}) {
    const Ran none = ran_on(tree, {"check", "--interval", "0", "--only", name});
    EXPECT_EQ(none.code, 3) << none.text;
    EXPECT_TRUE(has(none.text, "UNKNOWN  ")) << none.text;
  }
  const Ran brief = ran_on(tree, {"check", "--brief", "--interval", "0", "--only", "platform"});
  EXPECT_EQ(brief.code, 3) << brief.text;
  fill(tree);
  const Ran some = ran_on(tree, {"check", "--interval", "0", "--only", "port-state,cabling"});
  EXPECT_EQ(some.code, 3) << "port-state is ok, of cabling nothing is known: " << some.text;
}

TEST(CtlCheck, WithoutAndWithFaultyConfiguration) {
  Captured tree;
  tree.remove("etc");
  const Ran none = ran_on(tree, {"check", "--interval", "0", "--only", "pfc"});
  EXPECT_EQ(none.code, 3) << none.text;
  EXPECT_TRUE(has(none.text, "No such file")) << none.text;
  tree.file("etc/fabric-agent/fabric-agent.toml", "mode = \"audit\"\n[[port]]\npcf = [3]\n");
  EXPECT_TRUE(has(ran_on(tree, {"check", "--interval", "0", "--only", "pfc"}).text, "pcf"));
  const std::string file = tree.path() + "/etc/fabric-agent/fabric-agent.toml";
  EXPECT_EQ(ran_on(tree, {"check", "--config", file}).code, kFailure) << "a file that was named must be good";
  EXPECT_EQ(ran({"config", "check", "--config", file}).code, 1);
  EXPECT_EQ(ran({"check", "--root", "/nonexistent"}).code, kFailure);
  const Tree above;
  for (const std::string verb : {"check", "status", "topo", "diagnose"}) {
    const Ran wrong = ran_on(above, {verb});
    EXPECT_EQ(wrong.code, kFailure) << verb << wrong.text;
    EXPECT_TRUE(has(wrong.errors, "not a captured machine: no directory sys in it")) << wrong.errors;
  }
}

TEST(CtlConfig, CheckAndShow) {
  Captured tree;
  const Ran good = ran_on(tree, {"config", "check"});
  EXPECT_EQ(good.code, kDone) << good.errors;
  EXPECT_TRUE(
      std::regex_search(good.text, std::regex("valid, mode audit, 1 \\[\\[port\\]\\] entries, policy [0-9a-f]{16}\n")))
      << good.text;
  const std::string hash = Json::parse(ran_on(tree, {"config", "check", "--json"}).text)["policy"];
  EXPECT_TRUE(has(good.text, ", policy " + hash + "\n")) << "the same as that of fabric_policy_hash";
  EXPECT_TRUE(ran_on(tree, {"config", "show"}).text.starts_with("mode = \"audit\""));
  Json json = Json::parse(ran_on(tree, {"config", "show", "--json"}).text);
  EXPECT_EQ(json["ports"].at(0)["want"]["pfc"]["value"].at(0), 3);
}

// The agent may be stopped. The output must still show which configuration is compared, and that it is not the files'.
TEST(CtlConfig, WhileItIsInvalidTheLastValidOneIsShown) {
  Captured tree;
  const std::string file = tree.path() + "/etc/fabric-agent/fabric-agent.toml";
  ASSERT_TRUE(save_last_good(tree.path(), *load_config(file, rule_rows()), rule_rows()).ok());
  for (const char* text : {"mode = \"enforce\"\n", "mode = \"aud", ""}) {
    tree.file("etc/fabric-agent/fabric-agent.toml", text);
    EXPECT_EQ(ran_on(tree, {"config", "check"}).code, 1) << text;
    EXPECT_EQ(ran_on(tree, {"config", "show"}).code, 1) << text;
    for (const char* verb : {"status", "show"}) {
      Json json = Json::parse(ran_on(tree, {verb, "--json"}).text);
      EXPECT_TRUE(json["config_error"].is_string()) << verb << ": as the text says it";
    }
    const Ran status = ran_on(tree, {"status"});
    EXPECT_TRUE(has(status.text, " roce ")) << status.text;
    EXPECT_TRUE(has(status.text, "Invalid configuration; compared with the last valid one"));
    const Ran check = ran_on(tree, {"check", "--only", "agent", "--interval", "0"});
    EXPECT_EQ(check.code, 1) << check.text;
    EXPECT_TRUE(has(check.text, "configuration invalid")) << check.text;
    EXPECT_EQ(ran_on(tree, {"plan"}).code, kFailure);
  }
}

TEST(CtlConfig, ALinkToDevNullAcceptsTheRemoval) {
  Captured tree;
  const std::string file = tree.path() + "/etc/fabric-agent/fabric-agent.toml";
  tree.file("etc/fabric-agent/conf.d/50-site.toml", "[[port]]\nmtu = 4200\n");
  const auto before = load_config(*Root::open(tree.path()), {}, rule_rows());
  ASSERT_TRUE(before.ok() && save_last_good(tree.path(), *before, rule_rows()).ok());
  tree.remove("etc/fabric-agent/conf.d/50-site.toml");
  const Ran refused = ran_on(tree, {"config", "check"});
  EXPECT_EQ(refused.code, 1) << refused.text;
  EXPECT_TRUE(has(refused.errors, "50-site.toml: gone, which changes the policy")) << refused.errors;
  EXPECT_EQ(ran_on(tree, {"config", "check", "--config", file}).code, kDone) << "the files, whatever the agent does";
  const Ran shown = ran_on(tree, {"config", "show"});
  EXPECT_EQ(shown.code, kDone) << "of the present files";
  EXPECT_TRUE(has(shown.errors, "fabric-agentd uses the last valid configuration instead: ")) << shown.errors;
  EXPECT_TRUE(has(ran_on(tree, {"status"}).text, "Invalid configuration; compared with the last valid one"));
  EXPECT_EQ(ran_on(tree, {"check", "--only", "agent", "--interval", "0"}).code, 1) << "a warning";
  EXPECT_EQ(ran_on(tree, {"plan"}).code, kFailure);
  tree.file("etc/fabric-agent/conf.d/50-site.toml", "");
  const Ran truncated = ran_on(tree, {"config", "check"});
  EXPECT_EQ(truncated.code, 1) << truncated.text;
  EXPECT_TRUE(has(truncated.errors, "50-site.toml:1:1: no key")) << truncated.errors;
  EXPECT_EQ(ran_on(tree, {"check", "--only", "agent", "--interval", "0"}).code, 1) << "the same warning";
  tree.remove("etc/fabric-agent/conf.d/50-site.toml").link("etc/fabric-agent/conf.d/50-site.toml", "/dev/null");
  const Ran accepted = ran_on(tree, {"config", "check"});
  EXPECT_EQ(accepted.code, kDone) << accepted.errors;
  EXPECT_FALSE(has(accepted.text, "warning: ")) << accepted.text;
  EXPECT_EQ(ran_on(tree, {"config", "show"}).errors, "");
  EXPECT_FALSE(has(ran_on(tree, {"status"}).text, "Invalid configuration"));
}

TEST(CtlStatus, OfACapturedMachine) {
  Captured tree;
  const Ran text = ran_on(tree, {"status"});
  EXPECT_EQ(text.code, kDone) << text.errors;
  EXPECT_TRUE(has(text.text, "mlx5_0/1 eth0   ACTIVE 400 Gb/s roce   unknown")) << text.text;
  Json json = Json::parse(ran_on(tree, {"status", "--json"}).text);
  EXPECT_EQ(json["ports"].at(0)["port"], "mlx5_0/1");
  EXPECT_EQ(json["ports"].at(0)["in_sync"], "unknown");
  EXPECT_EQ(ran_on(tree, {"status", "--port", "mlx5_7"}).code, kFailure);
  const Ran host = ran_on(tree, {"status", "--port", "host"});
  EXPECT_EQ(host.code, kDone);
  EXPECT_FALSE(has(host.text, "No RDMA device")) << "there is one: " << host.text;
  EXPECT_EQ(Json::parse(ran_on(tree, {"show", "--json", "--port", "eth0"}).text)["ports"].size(), 1u);
}

TEST(CtlStatus, JsonIsNullWhereNothingIsKnown) {
  Captured tree;
  tree.file("etc/fabric-agent/fabric-agent.toml", "mode = \"audit\"\n[[port]]\ntraffic_class = \"none\"\n");
  Json settings = Json::parse(ran_on(tree, {"show", "--json"}).text)["ports"].at(0)["settings"];
  EXPECT_TRUE(settings["traffic_class"]["read"].is_null());
  EXPECT_EQ(settings["traffic_class"]["wanted"], "none") << "is wanted";
  EXPECT_TRUE(settings["cnp_prio"]["wanted"].is_null()) << "is not";
  tree.remove("sys/class/infiniband/mlx5_0/ports/1/state");
  Json status = Json::parse(ran_on(tree, {"status", "--json"}).text);
  EXPECT_TRUE(status["ports"].at(0)["state"].is_null()) << status.dump();
  EXPECT_TRUE(status["config_error"].is_null()) << "it is valid";
}

TEST(CtlWrite, ACapturedTreeIsNotWrittenTo) {
  Captured tree;
  for (const char* verb : {"apply", "restore", "plan"}) {
    const Ran result = ran_on(tree, {verb});
    EXPECT_EQ(result.code, kFailure) << verb;
    EXPECT_TRUE(has(result.errors, "captured tree")) << result.errors;
  }
}

// Runs in namespaces of its own, so that its writes have no other effect. 0: as expected, 77: namespaces are not
// available.
int restore_where_nothing_can_be_recorded() {
  if (::unshare(CLONE_NEWNET | CLONE_NEWNS) != 0 || ::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0)
    return 77;
  for (const char* folder : {"/run", "/var/lib"})
    if (::mount("none", folder, "tmpfs", 0, nullptr) != 0) return 77;
  const auto before = Root::open("/")->read_line("proc/sys/net/ipv4/tcp_ecn");
  const std::string stood = before && *before == "1" ? "0" : "1";
  if (!qos::save_sysctl_originals("/", {{"net.ipv4.tcp_ecn", stood}})) return 1;
  if (::mount(nullptr, "/var/lib", nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0) return 77;
  const Ran restored = ran({"restore", "--port", "host"});
  if (*Root::open("/")->read_line("proc/sys/net/ipv4/tcp_ecn") != stood) return 2;
  if (restored.code != kChanges) return 3;
  if (!has(restored.text, "net.ipv4.tcp_ecn")) return 4;
  return has(restored.errors, "sysctl.json") ? 0 : 5;
}

TEST(CtlWrite, AfterAWriteAFailureIsNotOneFromBefore) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root for namespaces";
  const pid_t child = ::fork();
  if (child == 0) ::_exit(restore_where_nothing_can_be_recorded());
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == 77) GTEST_SKIP() << "no namespaces here";
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// An agent that has not read the changed file again would undo the apply within milliseconds, without a message to the
// user.
TEST(CtlWrite, AnApplyThatTheAgentWouldUndoIsRefused) {
  using std::chrono::milliseconds;
  Captured tree;
  Machine world{Kernel{.root = tree.root()}, Policy{}, {}};
  world.policy->mode = Mode::enforce;
  const std::string same = confirm::digest(wanted_config(*world.policy));
  AgentState state;
  state.mode = Mode::enforce;
  const auto publish = [&](const std::string& config) {
    state.config = config;
    EXPECT_TRUE(state::save_agent_state(tree.path(), state).ok());
  };
  const auto refused = [&](const std::string& config) {
    publish(config);
    return !refuse_against_other_config(world, milliseconds(150)).ok();
  };
  EXPECT_FALSE(refused("other")) << "it does not run";
  const auto runs = state::take_lock(tree.path(), {}, state::kAgentLockFile);
  ASSERT_TRUE(runs.ok());
  EXPECT_TRUE(refused("other"));
  EXPECT_FALSE(refused(same));
  world.policy->series_limit += 1;
  EXPECT_FALSE(refused(same)) << "what the exporter does is not enforced";
  world.policy->exclude = {"mlx5_9"};
  EXPECT_TRUE(refused(same));
  world.policy->exclude.clear();
  EXPECT_FALSE(refused("")) << "one from before, that does not say";
  state.held = "reverted";
  EXPECT_FALSE(refused("other")) << "it writes nothing now";
  state.held.clear();
  state.mode = Mode::audit;
  EXPECT_FALSE(refused("other"));
  state.mode = Mode::enforce;
  publish("other");
  std::thread reads_again([&] {
    std::this_thread::sleep_for(milliseconds(200));
    publish(same);
  });
  EXPECT_TRUE(refuse_against_other_config(world, milliseconds(20'000)).ok())
      << "systemctl reload returns before it is done";
  reads_again.join();
}

TEST(CtlConfirm, TheTimeIsReadAndNothingIsConfirmedOfACapturedTree) {
  EXPECT_EQ(parsed({"apply", "--confirm", "90"})->confirm, std::chrono::seconds(90));
  EXPECT_EQ(parsed({"apply", "-C", "5min"})->confirm, std::chrono::minutes(5));
  EXPECT_FALSE(parsed({"apply"})->confirm);
  for (const char* wrong : {"0", "500ms", "25h", "soon"})
    EXPECT_FALSE(parsed({"apply", "--confirm", wrong}).ok()) << wrong;
  EXPECT_FALSE(parsed({"restore", "--confirm", "60"}).ok()) << "apply alone is on trial";
  Captured tree;
  const Ran result = ran_on(tree, {"confirm"});
  EXPECT_EQ(result.code, kFailure);
  EXPECT_TRUE(has(result.errors, "captured tree")) << result.errors;
}

TEST(CtlTopo, AMachineThatIsTooLargeIsNotAnEmptyOne) {
  test::Tree tree;
  char slot[80], pci[24];
  for (unsigned i = 0; i < 1'025; ++i) {
    std::snprintf(slot, sizeof slot, "pci0000:00/0000:00:%02x.%x", i / 256, i / 32 % 8);
    std::snprintf(pci, sizeof pci, "0000:%02x:%02x.0", 1 + i / 32, i % 32);
    test::add_pci(tree, {slot, pci, "0x10de", "0x2330", "0x030200", "0"});
  }
  Output output;
  EXPECT_EQ(find_verb("topo")->run(*parsed({"topo", "--root", tree.path()}), output), kFailure);
  EXPECT_TRUE(has(output.errors, "1025 GPUs and 0 NICs")) << output.errors << output.text;
}

TEST(CtlText, UnmanagedPortsHaveAReason) {
  Healthy node;
  test::make_virtual(node.now.ports[1]);
  node.now.ports[1].owner = "0000:24:00.0";
  node.policy.ports[0].match.rdma = {"mlx5_[0-2]"};
  EXPECT_EQ(unmanaged_text(node.now, node.policy, {}),
            "mlx5_1/1: unmanaged: virtual function: set on its physical function 0000:24:00.0\n"
            "mlx5_3/1: unmanaged: no [[port]] entry matches\n");
  SettingState& pfc = node.now.agent->ports["mlx5_0/1"]["pfc"];
  pfc.outcome = Outcome::in_sync;
  pfc.drifts = {{"process", 2}, {"link", 1}};
  pfc.last_drift = "2026-01-01T00:10:00Z";
  pfc.drift_from = "3";
  pfc.drift_to = "none";
  pfc.drift_by = "lldpad (pid 812)";
  node.now.agent->held = "an apply awaits confirmation";
  const std::string text = status_text(node.now, &node.policy, node.plan, kNow, {});
  EXPECT_TRUE(has(text,
                  "mlx5_0/1 pfc: drifted 3 times, last 2026-01-01T00:10:00Z (50 min ago) from 3 to none, by lldpad "
                  "(pid 812)"))
      << text;
  EXPECT_TRUE(has(text, "enforcement suspended: an apply awaits confirmation")) << text;
  Json json = Json::parse(status_json(node.now, &node.policy, node.plan).dump());
  EXPECT_NE(json["ports"].at(3)["left_alone"].get<std::string>(), "");
}

// With the longest names that there are, no rate, time or name is broken.
TEST(CtlStatus, FitsATerminal) {
  for (const std::string rdma : {"mlx5_2", "rocep170s0f0"})
    for (const std::string setting : {"pfc", "cable_length", "ecn_min_time_between_cnps"})
      for (const std::string policy : {"compute", "compute-rails"}) {
        Healthy node;
        for (Port& port : node.now.ports) port.netdev = "enp170s0f0np0";
        node.now.ports[2].rdma = rdma;
        for (PortPolicy& entry : node.policy.ports) entry.name = policy;
        node.now.agent->ports[rdma + "/1"][setting] = {Outcome::in_sync, "", 2, "2026-01-01T00:05:00Z"};
        Output output;
        output.width = 80;
        const std::string text = status_text(node.now, &node.policy, node.plan, kNow, output);
        EXPECT_LE(widest_line(text), 80U) << text;
        for (const char* whole : {"400 Gb/s", "55 min ago"}) EXPECT_TRUE(has(text, whole)) << whole << " in\n" << text;
        const bool has_room = setting == "pfc" && policy == "compute";
        for (const std::string& name : {rdma + "/1", setting, policy})
          if (has_room) EXPECT_TRUE(has(text, name)) << name << " in\n" << text;
      }
}

// Without a link, sysfs has the lowest rate of the port.
TEST(CtlStatus, APortWithoutALinkHasNoRate) {
  Healthy node;
  node.now.ports.resize(1);
  ASSERT_TRUE(node.now.ports[0].rate);
  EXPECT_TRUE(has(status_text(node.now, &node.policy, node.plan, kNow, {}), "b/s"));
  node.now.ports[0].state = kPortDown;
  const std::string text = status_text(node.now, &node.policy, node.plan, kNow, {});
  EXPECT_TRUE(has(text, "DOWN")) << text;
  EXPECT_FALSE(has(text, "b/s")) << text;
}

// While another column has room, the last repair is on one line.
TEST(CtlStatus, BreaksTheExceptionsFirst) {
  Healthy node;
  node.now.agent->ports["mlx5_2/1"]["pfc"] = {Outcome::in_sync, "", 2, "2026-01-01T00:05:00Z"};
  for (const char* setting : {"mtu", "pfc", "trust"}) node.change("mlx5_1/1", setting).outcome = Outcome::differs;
  Output output;
  output.width = 80;
  const std::string text = status_text(node.now, &node.policy, node.plan, kNow, output);
  EXPECT_LE(widest_line(text), 80U) << text;
  EXPECT_TRUE(has(text, "pfc 55 min ago")) << text;
}

TEST(CtlStatus, TimesHaveTheirAge) {
  Healthy node;
  node.now.inventory.emplace().taken = "2026-01-01T00:05:00Z";
  EXPECT_TRUE(has(status_text(node.now, &node.policy, node.plan, kNow, {}),
                  "Inventory: 0 parts as of 2026-01-01T00:05:00Z (55 min ago); "));
}

TEST(CtlStatus, SaysHowLongAgo) {
  EXPECT_EQ(ago_text("2026-01-01T00:59:20Z", kNow), "40 s ago");
  EXPECT_EQ(ago_text("2026-01-01T00:10:00Z", kNow), "50 min ago");
  EXPECT_EQ(ago_text("2025-12-31T21:00:00Z", kNow), "4 h ago");
  EXPECT_EQ(ago_text("2025-12-01T01:00:00Z", kNow), "31 days ago");
  for (const char* time : {"", "yesterday", "2026-01-02T00:00:00Z"}) EXPECT_EQ(ago_text(time, kNow), time);
  EXPECT_EQ(counted(1, "part"), "1 part");
  EXPECT_EQ(counted(0, "part"), "0 parts");
  EXPECT_EQ(amount_text("1", "link downs"), "1 link down");
  EXPECT_EQ(amount_text("12", "link downs"), "12 link downs");
  EXPECT_EQ(amount_text("1", "packets without a posted receive"), "1 packet without a posted receive");
  EXPECT_EQ(amount_text("1", "transport retries exceeded"), "1 transport retry exceeded");
}

TEST(CtlCheck, OfACapturedTreeSaysWhereItsCommandsRun) {
  Captured tree;
  const std::string text = ran({"check", "--root", tree.path(), "--interval", "0"}).text;
  EXPECT_FALSE(has(text, "systemctl")) << text;
  EXPECT_TRUE(has(text, ", not for this machine.\n")) << text;
}

// The usage shows exactly the accepted arguments.
TEST(CtlCheck, SecondsAreThoseOfWatch) {
  EXPECT_TRUE(has(ran({"check", "--help"}).text, "Usage: fabric-agentctl check [--watch [SECONDS]] [OPTIONS]\n"));
  const Ran refused = ran({"check", "5"});
  EXPECT_EQ(refused.code, 64);
  EXPECT_TRUE(has(refused.errors, "SECONDS requires --watch")) << refused.errors;
}

TEST(CtlPlan, ListsPortsInNaturalOrder) {
  const Plan plan{{"mlx5_10/1", {}}, {"mlx5_2/1", {}}};
  EXPECT_EQ(plan.begin()->first, "mlx5_2/1");
}

// A plan of simulated NICs lists exactly the writes that apply would make, and makes none.
TEST(CtlPlan, ListsWritesAndWritesNothing) {
  test::SimKernel sim;
  test::SimNic& nic = sim.add_nic("eth0", test::Personality::mlx5);
  Machine world{sim.kernel(), Policy{}, {}};
  PortPolicy entry;
  entry.name = "roce";
  entry.want.pfc = PrioSet{8};
  entry.want.mtu = nic.mtu;
  world.policy->ports = {entry};
  Node node;
  node.ports = {nic.port()};
  Options options;
  options.disruptive = Disruptive::never;
  const Plan plan = make_plan(world, node, options);
  ASSERT_EQ(plan.size(), 1u);
  const Changes& changes = plan.begin()->second;
  ASSERT_EQ(std::count_if(changes.begin(), changes.end(), is_write), 1);
  for (const Change& change : changes)
    EXPECT_EQ(change.outcome, change.setting == SettingId::pfc ? Outcome::pending : Outcome::in_sync) << change.key();
  EXPECT_EQ(nic.writes(), 0u);
  Changes refused = changes;
  refused[0].code = EOPNOTSUPP;
  Json json = Json::parse(changes_json(refused).dump());
  EXPECT_EQ(json.size(), 2u);
  EXPECT_EQ(json.at(0)["errno"], "EOPNOTSUPP") << "as in the text";
  EXPECT_TRUE(json.at(1)["errno"].is_null());
}

TEST(CtlText, FindingsOfOneKindStandTogether) {
  Healthy node;
  for (const char* port : {"mlx5_0/1", "mlx5_1/1"}) {
    Change& change = node.change(port, "pfc");
    change.outcome = Outcome::differs;
    change.from = "none";
  }
  node.now.agent->running = false;
  node.now.ports[2].state = 1;
  node.now.ports[2].phys_state = 2;
  node.now.ports[2].unread = {{.why = "ethtool statistics: Operation not permitted (EPERM)"}};
  node.now.unseen = {"the agent's state: Permission denied (EACCES)"};
  const auto text = [&](const Output& output) {
    const Report found = run_rules(node.view());
    return report_text(found, node.now.hostname, false, output) + unseen_text(node.now, output) +
           next_text(found, node.now, true, "");
  };
  expect_goldens("ctl_check", text);
  const Report report = run_rules(node.view());
  // The picture of README: as root, whom nothing is denied.
  node.now.ports[2].unread.clear();
  node.now.unseen.clear();
  Output terminal;
  terminal.width = 80;
  terminal.color = true;
  const std::string picture = "$ fabric-agentctl check\n" + text(terminal);
  EXPECT_FALSE(has(picture, "Permission denied") || has(picture, "not permitted")) << picture;
  expect_golden("screens/check.ansi", picture);
  const std::string brief = brief_text(report, worst(report));
  EXPECT_EQ(std::count(brief.begin(), brief.end(), '\n'), 1);
  EXPECT_TRUE(brief.starts_with("fabric CRITICAL: 3 critical, 1 warning, ")) << brief;
  EXPECT_TRUE(has(brief, " checks: port-state mlx5_2/1: DOWN")) << brief;
}

TEST(CtlCheck, WhatIsNotJudgedIsSaidWithTheVerdict) {
  Report report;
  report.findings.push_back({"rate", "mlx5_0/1", Status::ok, "400 Gb/s", "", "", ""});
  report.findings.push_back({"other-namespaces", "host", Status::ok, "3 of 8 RDMA devices", "none", "why", "how"});
  report.findings.back().unjudged = true;
  const std::string text = report_text(report, "gpu01", true, Output{});
  EXPECT_TRUE(text.starts_with("gpu01: OK: 2 checked: 1 ok, 1 not judged\n")) << text;
  EXPECT_TRUE(has(text, "\nNOT JUDGED  other-namespaces  host\n")) << text;
  EXPECT_EQ(brief_text(report, worst(report)),
            "fabric OK: 1 not judged, 2 checks; not judged: host: 3 of 8 RDMA devices\n");
  report.findings.back().acknowledged = true;
  EXPECT_EQ(brief_text(report, worst(report)), "fabric OK: 1 acknowledged, 2 checks\n");
}

TEST(CtlCheck, TheObservableShareComesBeforeTheWordOk) {
  Report report;
  for (const char* port : {"mlx5_0/1", "mlx5_1/1"}) {
    report.findings.push_back({"unseen-traffic", port, Status::ok, "at most 10 % is counted", "", "", ""});
    report.findings.back().unjudged = true;
  }
  const std::string text = report_text(report, "gpu01", false, Output{});
  EXPECT_TRUE(
      text.starts_with("gpu01: RDMA is observable in part (mlx5_0/1: at most 10 % is counted; 1 more port); "
                       "otherwise OK: 2 checked: 2 not judged\n"))
      << text;
}

TEST(CtlCheck, NextCommandFollowsTheFirstFinding) {
  Node node;
  node.ports.resize(1);
  node.ports[0].rdma = "mlx5_0";
  const auto next = [&](const char* id, const char* subject, Status status, bool can_plan = true) {
    Report report;
    report.findings.push_back({id, subject, status, "", "", "", ""});
    return next_text(report, node, can_plan, " --root /tmp/tree");
  };
  EXPECT_EQ(next("pfc", "mlx5_0/1", Status::critical), "\nNext: fabric-agentctl plan --root /tmp/tree\n");
  EXPECT_EQ(next("pfc", "mlx5_0/1", Status::critical, false), "\nNext: fabric-agentctl explain pfc\n");
  EXPECT_EQ(next("loss", "mlx5_0/1", Status::warning), "\nNext: fabric-agentctl diagnose mlx5_0/1 --root /tmp/tree\n");
  EXPECT_EQ(next("port-state", "mlx5_9/1", Status::critical), "\nNext: fabric-agentctl explain port-state\n")
      << "the port is gone: diagnose does not know it";
  EXPECT_EQ(next("agent", "host", Status::warning), "\nNext: fabric-agentctl explain agent\n");
  EXPECT_EQ(next("pfc", "mlx5_0/1", Status::ok), "");
}

TEST(CtlCheck, StrictFailsOnAWarningAndBriefIsOneLine) {
  Captured tree;
  const std::vector<std::string> words{"check", "--root", tree.path(), "--interval", "0", "--only", "agent", "--brief"};
  const Ran brief = ran(words);
  EXPECT_EQ(brief.code, 1) << brief.text;
  EXPECT_TRUE(brief.text.starts_with("fabric WARNING: 1 warning, 2 checks: agent host: ")) << brief.text;
  EXPECT_EQ(std::count(brief.text.begin(), brief.text.end(), '\n'), 1);
  EXPECT_TRUE(brief.text.ends_with(" (rates not judged: fabric-exporter is not running)\n")) << brief.text;
  auto strict = words;
  strict.push_back("--strict");
  EXPECT_EQ(ran(strict).code, 2);
  EXPECT_EQ(brief_text({}, Status::unknown), "fabric UNKNOWN: 0 checks\n");
}

// Without a running exporter, --brief reads the counters once, unless --interval asks for two readings.
TEST(CtlCheck, BriefReadsOnce) {
  Captured tree;
  const auto seconds = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"check", "--brief", "--root", tree.path()};
    words.insert(words.end(), more.begin(), more.end());
    const auto begin = std::chrono::steady_clock::now();
    const Ran brief = ran(words);
    const bool once = brief.text.find(" (rates not judged: fabric-exporter is not running)\n") != std::string::npos;
    EXPECT_EQ(once, more.empty()) << brief.text;
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  EXPECT_LT(seconds({}), 0.9);
  EXPECT_GT(seconds({"--interval", "900ms"}), 0.9);
}

// The verdict of the running exporter: without a scan, which would find other things in this tree.
TEST(CtlCheck, BriefShowsTheExportersReport) {
  Captured tree;
  Finding down{"port-state", "mlx5_7/1", Status::critical, "DOWN | polling", "ACTIVE", "", ""};
  Finding slow{"rate", "mlx5_6/1", Status::warning, "100 Gb/s", "", "", ""};
  Finding known{"memlock", "host", Status::critical, "64 KiB", "unlimited", "", ""};
  known.acknowledged = true;
  PublishedReport published{{{down, slow, known, {"rate", "mlx5_5/1", Status::ok, "", "", "", ""}}}, 1000};
  const auto publish = [&](double now) {
    tree.file(kReportFile, published_text(published)).file("proc/uptime", std::to_string(now) + " 1.0\n");
  };
  const std::vector<std::string> words{"check", "--brief", "--root", tree.path(), "--interval", "0"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return ran(more);
  };
  publish(1029);
  const Ran all = ran(words);
  EXPECT_EQ(all.code, 2);
  EXPECT_EQ(all.text,
            "fabric CRITICAL: 1 critical, 1 warning, 1 acknowledged, 4 checks: port-state mlx5_7/1: DOWN / polling, "
            "expected ACTIVE; 1 more\n");
  EXPECT_EQ(with({"--only", "rate"}).text, "fabric WARNING: 1 warning, 2 checks: rate mlx5_6/1: 100 Gb/s\n");
  EXPECT_EQ(with({"--only", "rate", "--strict"}).code, 2);
  EXPECT_EQ(with({"--only", "host"}).text, "fabric OK: 1 acknowledged, 1 check\n");
  const Ran unknown = with({"--only", "cabling"});
  EXPECT_EQ(unknown.code, 3) << "the exporter has nothing of it, and a scan finds nothing either: " << unknown.text;
  publish(1031);
  const Ran stale = ran(words);
  EXPECT_FALSE(has(stale.text, "mlx5_7")) << stale.text;
  EXPECT_TRUE(has(stale.text, "31 s ago: fabric-exporter is gone or hangs)\n")) << stale.text;
  published.report.findings.clear();
  publish(1001);
  EXPECT_TRUE(has(ran(words).text, "agent host")) << "an exporter that has checked nothing does not count";
  tree.file(kReportFile, R"({"format":1,"updated":1000,"ok":{"rate":-1}})");
  EXPECT_TRUE(has(ran(words).text, "report.json: ok")) << ran(words).text;
}

TEST(CtlText, HealthyNode) {
  const Healthy node;
  const Report report = run_rules(node.view());
  expect_goldens("ctl_check_healthy",
                 [&](const Output& output) { return report_text(report, node.now.hostname, true, output); });
}

TEST(CtlText, StatusShowAndChanges) {
  Healthy node;
  Change& pending = node.change("mlx5_0/1", "pfc");
  pending.outcome = Outcome::pending;
  pending.from = "none";
  pending.disruptive = true;
  Change& differs = node.change("mlx5_1/1", "ets");
  differs.outcome = Outcome::differs;
  node.now.agent->ports["mlx5_1/1"]["ets"] = {Outcome::conflict, "changed back again and again by lldpad", 5,
                                              "2026-01-01T00:10:00Z"};
  node.now.agent->ports["mlx5_2/1"]["pfc"] = {Outcome::in_sync, "", 2, "2026-01-01T00:05:00Z"};
  expect_goldens("ctl_status",
                 [&](const Output& output) { return status_text(node.now, &node.policy, node.plan, kNow, output); });
  expect_goldens("ctl_show",
                 [&](const Output& output) { return show_text(node.now, &node.policy, node.plan, output); });
  Node host = node.now;
  host.ports.clear();
  host.agent.reset();
  EXPECT_EQ(status_text(host, &node.policy, {}, kNow, {}),
            "Agent: not running; no state published.\nNo RDMA port found.\n");
  EXPECT_EQ(status_text(host, &node.policy, {{"host", {}}}, kNow, {}),
            "Agent: not running; no state published.\n\nhost: in sync yes\n");
  Change& refused = node.change("mlx5_3/1", "mtu");
  refused.outcome = Outcome::refused;
  refused.from = "1500";
  refused.code = EBUSY;
  for (const char* port : {"mlx5_1/1", "mlx5_2/1", "mlx5_3/1"}) {
    Change& change = node.change(port, "trust");
    change.outcome = Outcome::differs;
    change.from = "pcp";
  }
  node.change("mlx5_1/1", "ets").outcome = Outcome::in_sync;
  node.change("mlx5_3/1", "mtu").detail = "the port is in use";
  Changes all;
  for (const auto& [port, changes] : node.plan) all.insert(all.end(), changes.begin(), changes.end());
  expect_goldens("ctl_plan", [&](const Output& output) { return changes_text(all, {}, false, output); });
  expect_goldens("ctl_plan_verbose", [&](const Output& output) { return changes_text(all, {}, true, output); });
}

// Only the inventory of the machine itself can be accepted.
TEST(CtlText, AnInventoryOfATreeIsNotAccepted) {
  Tree tree;
  fill(tree);
  const Ran result = ran({"inventory", "--root", tree.path()});
  EXPECT_EQ(result.code, kFailure);
  EXPECT_TRUE(has(result.errors, "has no inventory")) << result.errors;
  EXPECT_FALSE(has(result.errors, "accept")) << result.errors;
}

// Every port is in use, by a process on its own device: one block, as for the reasons without a name.
TEST(CtlText, APlanMergesPortsThatDifferInTheirNames) {
  Healthy node;
  Changes all;
  for (const Port& port : node.now.ports)
    all.push_back({port.id(), SettingId::mtu, Outcome::pending, 0, true, "1500", "9000",
                   "a process has queue pairs on " + port.rdma + " (" + port.netdev + ")"});
  for (const unsigned width : {0U, 60U}) {
    Output output;
    output.width = width;
    const std::string text = changes_text(all, node.now.ports, false, output);
    EXPECT_TRUE(text.starts_with("mlx5_0..3\n")) << text;
    EXPECT_EQ(count_of(text, "+ mtu 9000"), 1u) << text;
    if (width == 0) EXPECT_EQ(count_of(text, "queue pairs on mlx5_0 (ens0)"), 1u) << text;
    EXPECT_TRUE(has(text, "  Also for: ens1, ens2, ens3\n")) << text;
  }
  EXPECT_TRUE(has(changes_text({all[0]}, node.now.ports, false, {}), "queue pairs on mlx5_0")) << "of one port";
}

TEST(CtlText, StatusJsonTellsWhatTheAgentKnows) {
  Healthy node;
  node.change("mlx5_1/1", "ets").outcome = Outcome::differs;
  node.now.agent->ports["mlx5_1/1"]["ets"] = {Outcome::conflict, "by lldpad", 5, "2026-01-01T00:10:00Z"};
  Json json = Json::parse(status_json(node.now, &node.policy, node.plan).dump());
  Json& port = json["ports"].at(1);
  EXPECT_EQ(port["in_sync"], "no");
  EXPECT_EQ(json["unread"], Json::array());
  node.now.unseen = {"modules: it takes root"};
  EXPECT_EQ(Json::parse(status_json(node.now, &node.policy, node.plan).dump())["unread"].at(0),
            "modules: it takes root");
  for (Json& setting : port["settings"]) {
    if (setting["setting"] != "ets") continue;
    EXPECT_EQ(setting["outcome"], "conflict");
    EXPECT_EQ(setting["detail"], "by lldpad");
    EXPECT_EQ(setting["repairs"], 5);
  }
  EXPECT_TRUE(json["host"].is_null()) << "no [sysctl]";
  node.plan["host"] = {{"host", {}, Outcome::differs, 0, false, "2", "1", "", "net.ipv4.tcp_ecn"}};
  node.now.agent->ports["host"]["net.ipv4.tcp_ecn"] = {Outcome::conflict, "by sysctl", 5, "2026-01-01T00:10:00Z"};
  Json again = Json::parse(status_json(node.now, &node.policy, node.plan).dump());
  EXPECT_EQ(again["host"]["in_sync"], "no");
  EXPECT_EQ(again["host"]["settings"].at(0)["setting"], "net.ipv4.tcp_ecn");
  EXPECT_EQ(again["host"]["settings"].at(0)["repairs"], 5);
}

// Text and JSON say the same words, from the plan or from what the agent reports.
TEST(CtlText, StatusShowsUnverifiedInTextAndJsonAlike) {
  struct Row {
    Outcome pause, ets;
    const char *word, *text;
  };
  const Row rows[] = {{Outcome::unverified, Outcome::in_sync, "unverified", "unverified: pause"},
                      {Outcome::unverified, Outcome::unverified, "unverified", "unverified: pause, ets"},
                      {Outcome::unverified, Outcome::pending, "no", "no: pause unverified, ets pending"},
                      {Outcome::refused, Outcome::in_sync, "no", "no: pause refused"},
                      {Outcome::in_sync, Outcome::in_sync, "yes", "yes"}};
  for (const Row& row : rows)
    for (const bool by_agent : {false, true}) {
      SCOPED_TRACE(std::string(row.text) + (by_agent ? ", by the agent" : ""));
      Healthy node;
      node.change("mlx5_0/1", "ets").outcome = row.ets;
      node.change("mlx5_0/1", "pause").outcome = row.pause;
      if (by_agent && row.pause == Outcome::unverified) {
        Change& pause = node.change("mlx5_0/1", "pause");  // not readable for this user
        pause.outcome = Outcome::refused;
        pause.from = "-";
        node.now.agent->ports["mlx5_0/1"]["pause"] = {Outcome::unverified, "not readable beside PFC", 0, ""};
      }
      const Json json = Json::parse(status_json(node.now, &node.policy, node.plan).dump());
      EXPECT_EQ(json["ports"].at(0)["in_sync"], row.word);
      const auto settings = json["ports"].at(0)["settings"];
      EXPECT_EQ(std::ranges::count_if(settings, [](const Json& each) { return each["outcome"] == "unverified"; }),
                (row.pause == Outcome::unverified) + (row.ets == Outcome::unverified));
      EXPECT_EQ(std::ranges::count_if(settings, [](const Json& each) { return each["outcome"] == "refused"; }),
                row.pause == Outcome::refused);
      Output wide;
      wide.width = 200;
      const std::string text = status_text(node.now, &node.policy, node.plan, kNow, wide);
      const size_t line = text.find("\nmlx5_0/1 ");
      ASSERT_NE(line, std::string::npos) << text;
      EXPECT_TRUE(has(text.substr(line + 1, text.find('\n', line + 1) - line), std::string(" ") + row.text)) << text;
      node.plan["host"] = {{"host", {}, row.pause, 0, false, "2", "1", "", "net.ipv4.tcp_ecn"}};
      const Json again = Json::parse(status_json(node.now, &node.policy, node.plan).dump());
      std::string host = "yes";
      if (row.pause == Outcome::unverified) host = "unverified";
      if (row.pause == Outcome::refused) host = "no";
      EXPECT_EQ(again["host"]["in_sync"], host);
      EXPECT_TRUE(has(status_text(node.now, &node.policy, node.plan, kNow, wide), "host: in sync " + host));
    }
}

TEST(CtlText, ATableShowsEveryLanguage) {
  Table table({"CHECK", "COMMENT"});
  table.add({"pfc", "Kabel f\u00fcr Z\u00fcrich \u2013 bestellt"});
  table.add({"gid", "\xff\x1b[2J"});
  const std::string text = table.text(Output());
  EXPECT_TRUE(has(text, "Kabel f\u00fcr Z\u00fcrich \u2013 bestellt\n")) << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << text;
  EXPECT_EQ(text.find('\xff'), std::string::npos) << text;
}

TEST(CtlText, ConsecutiveNamesAreARange) {
  EXPECT_EQ(names_text({"mlx5_0/1", "mlx5_1/1", "mlx5_2/1", "mlx5_5/1"}), "mlx5_0..2, mlx5_5/1");
  EXPECT_EQ(names_text({"mlx5_0/1", "mlx5_1/1"}), "mlx5_0/1, mlx5_1/1");
  EXPECT_EQ(names_text({"rocep8s0f0/2", "rocep8s0f1/2", "rocep8s0f2/2"}), "rocep8s0f0..2/2");
  EXPECT_EQ(names_text({"GPU0", "GPU1", "GPU2", "host"}), "GPU0..2, host");
  EXPECT_EQ(also_for({"eth0", "eth1", "eth2"}), "eth0..2");
  EXPECT_EQ(also_for({"GPU0 in group 2, mlx5_0 in group 3", "GPU1"}), "GPU0 in group 2, mlx5_0 in group 3; GPU1");
}

TEST(CtlText, ATableFitsAndLosesNothing) {
  Table table({"PORT", "VALUE", "NOTE"});
  table.add({"mlx5_0/1", "0:0 1:0 2:0 3:1 4:0", std::string(30, 'x')});
  Output output;
  output.width = 34;
  EXPECT_EQ(table.text(output),
            "PORT     VALUE NOTE\n"
            "mlx5_0/1 0:0   xxxxxxxxxxxxxxxxxxx\n"
            "         1:0   xxxxxxxxxxx\n"
            "         2:0\n"
            "         3:1\n"
            "         4:0\n");
}

TEST(CtlText, ANumberKeepsItsUnit) {
  EXPECT_EQ(wrapped("at most 504 of 800 Gb/s; received: 440 Gb/s", 39, 0),
            "at most 504 of 800 Gb/s; received:\n440 Gb/s");
  EXPECT_EQ(wrapped("than the port (100 Gb/s).", 20, 2), "than the port\n  (100 Gb/s).");
  EXPECT_EQ(wrapped("up for 12 min, 3 ports", 10, 0), "up for\n12 min, 3\nports");
}

TEST(CtlText, AMemberIsBrokenBeforeItsSign) {
  Table table({"PORT", "NETDEV", "STATE"});
  table.add({"mlx5_bond_0/1@ens1f0np0", "ens1f0np0", "ACTIVE"});
  Output output;
  output.width = 36;
  EXPECT_EQ(table.text(output),
            "PORT          NETDEV    STATE\n"
            "mlx5_bond_0/1 ens1f0np0 ACTIVE\n"
            "@ens1f0np0\n");
}

TEST(CtlText, LongLinesAreFolded) {
  EXPECT_EQ(folded("  one two three\nx\n", 10), "  one\n    two\n    three\nx\n");
  EXPECT_EQ(folded("# one two three\nA=one-two-three\n", 10, "# "), "# one two\n# three\nA=one-two-three\n");
  EXPECT_EQ(folded("one two three", 0), "one two three");
}

TEST(CtlText, WrapsOnTerminalsOnly) {
  EXPECT_EQ(wrapped("one two three", 0, 2), "one two three");
  EXPECT_EQ(wrapped("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrapped("unbreakable", 4, 2), "unbreakable");
  Output plain;
  EXPECT_EQ(colored(plain, Status::critical, "x"), "x");
  Output terminal;
  terminal.color = true;
  EXPECT_NE(colored(terminal, Status::critical, "x"), "x");
}

}  // namespace
}  // namespace fabric::ctl
