// SPDX-License-Identifier: Apache-2.0
// The verbs counters, diagnose and explain of fabric-agentctl.
#include "ctl/verbs.h"

#include <csignal>
#include <ctime>

#include "base/json.h"
#include "base/parse.h"
#include "ctl/verbs/counters_verb.h"
#include "ctl/verbs/diagnose_verb.h"
#include "judge/cause.h"
#include "judge/engine.h"
#include "node/state.h"
#include "support/counters.h"
#include "support/ctl.h"
#include "support/golden.h"
#include "support/rules.h"
#include "support/sim_nic.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::ctl {
namespace {

using test::has;
using test::ran;
using test::Ran;
using test::ran_on;
using test::Tree;

// -- counters: rates, their order, their text; and running until stopped

Node node(std::vector<Counter> hw, std::vector<Counter> ethtool = {}, std::vector<Counter> pma = {}) {
  Node out;
  Port& port = out.ports.emplace_back();
  port.rdma = "mlx5_0";
  port.kernel_driver = "mlx5_core";
  port.counters.hw = std::move(hw);
  port.counters.ethtool = std::move(ethtool);
  port.counters.pma = std::move(pma);
  test::resolve(port);
  return out;
}

const Rate* find(const std::vector<Rate>& rates, const std::string& counter) {
  for (const Rate& rate : rates)
    if (rate.counter == counter) return &rate;
  return nullptr;
}

TEST(Rates, AreInBaseUnitsAndUnderTheMetricsNames) {
  const auto rates = rates_of(
      node({{"np_cnp_sent", 10}, {"vendor_thing", 1}}, {{"rx_prio3_pause_duration", 0}}, {{"port_xmit_data", 0}}),
      node({{"np_cnp_sent", 30}, {"vendor_thing", 5}}, {{"rx_prio3_pause_duration", 500'000}},
           {{"port_xmit_data", 1000}}),
      2);
  EXPECT_EQ(find(rates, "fabric_rdma_cnp_sent_total")->per_second, 10);
  EXPECT_EQ(find(rates, "fabric_rdma_cnp_sent_total")->total, 30);
  EXPECT_EQ(find(rates, "vendor_thing")->per_second, 2);
  EXPECT_EQ(find(rates, "fabric_pfc_paused_seconds_total")->per_second, 0.25);
  EXPECT_EQ(find(rates, "fabric_pfc_paused_seconds_total")->labels,
            (std::vector<Label>{{"direction", "rx"}, {"priority", "3"}}));
  EXPECT_EQ(find(rates, "fabric_port_bytes_total")->per_second, 2000);
}

TEST(Rates, TroubleThatMovesComesFirstThenWhatMovesMost) {
  const auto rates = rates_of(node({{"rx_write_requests", 0},
                                    {"out_of_sequence", 0},
                                    {"np_cnp_sent", 0},
                                    {"packet_seq_err", 5},
                                    {"rx_read_requests", 0},
                                    {"local_ack_timeout_err", 0}}),
                              node({{"rx_write_requests", 9000},
                                    {"out_of_sequence", 2},
                                    {"np_cnp_sent", 0},
                                    {"packet_seq_err", 5},
                                    {"rx_read_requests", 20000},
                                    {"local_ack_timeout_err", 7}}),
                              1);
  std::vector<std::string> order;
  for (const Rate& rate : rates)
    order.push_back(rate.counter + (rate.labels.empty() ? "" : " " + std::string(rate.labels[0].value)));
  EXPECT_EQ(order, (std::vector<std::string>{
                       "fabric_rdma_ack_timeouts_total", "fabric_rdma_out_of_sequence_packets_total",
                       "fabric_rdma_requests_received_total read", "fabric_rdma_requests_received_total write",
                       "fabric_rdma_cnp_sent_total", "fabric_rdma_sequence_naks_received_total"}));
  EXPECT_TRUE(rates[0].trouble);
  EXPECT_FALSE(rates[2].trouble);
}

TEST(Rates, WhatIsNewOrWasResetHasNone) {
  const auto rates = rates_of(node({{"np_cnp_sent", 100}, {"out_of_sequence", UINT32_MAX}}),
                              node({{"rp_cnp_handled", 3}, {"np_cnp_sent", 5}, {"out_of_sequence", 4}}), 1);
  EXPECT_FALSE(find(rates, "fabric_rdma_cnp_sent_total")->per_second);
  EXPECT_FALSE(find(rates, "fabric_rdma_cnp_handled_total")->per_second);
  EXPECT_EQ(find(rates, "fabric_rdma_out_of_sequence_packets_total")->per_second, 5) << "32 bits wrap";
  EXPECT_FALSE(rates_of({}, node({{"np_cnp_sent", 5}}), 1).at(0).per_second) << "a port that came";
}

// `mlxlink --pc` clears the port's counters, which have 64 bits.
TEST(Rates, ACounterOf64BitsThatFallsHasNone) {
  const auto rates =
      rates_of(node({}, {{"rx_corrected_bits_phy", 3'000'000'000}, {"rx_prio3_pause_duration", 3'000'000'000}}),
               node({}, {{"rx_corrected_bits_phy", 40}, {"rx_prio3_pause_duration", 0}}), 1);
  ASSERT_EQ(rates.size(), 2u);
  for (const Rate& rate : rates) EXPECT_FALSE(rate.per_second) << rate.counter;
}

// A driver that is loaded again may find its cards in another order.
TEST(Rates, AnotherCardOfTheSameNameHasNone) {
  Node before = node({{"np_cnp_sent", 100}}), now = node({{"np_cnp_sent", 5'000'000}});
  before.ports[0].pci = "0000:17:00.0";
  now.ports[0].pci = "0000:97:00.0";
  EXPECT_FALSE(rates_of(before, now, 1).at(0).per_second);
}

TEST(Rates, PartsOfOneSeriesAddUp) {
  const auto rates =
      rates_of(node({}, {{"rx_vport_rdma_unicast_bytes", 0}, {"rx_vport_rdma_multicast_bytes", 0}}),
               node({}, {{"rx_vport_rdma_unicast_bytes", 100}, {"rx_vport_rdma_multicast_bytes", 20}}), 1);
  ASSERT_EQ(rates.size(), 1u);
  EXPECT_EQ(rates[0].per_second, 120);
}

TEST(Rates, OfTwoThatCountTheSameTheBetterCounts) {
  const auto rates = rates_of(node({{"rx_bytes", 1000}, {"rx_roce_only_bytes", 900}}),
                              node({{"rx_bytes", 1500}, {"rx_roce_only_bytes", 1300}}), 1);
  ASSERT_EQ(rates.size(), 1u);
  EXPECT_EQ(rates[0].per_second, 400);
}

TEST(Rates, AreWrittenAsPeopleReadThem) {
  auto text = [](const char* counter, double per_second) {
    return per_second_text({"p", counter, {}, 0, per_second, false});
  };
  EXPECT_EQ(text("fabric_rdma_bytes_total", 12.5e9), "100 Gb/s");
  EXPECT_EQ(text("fabric_rdma_bytes_total", 1250), "10.0 kb/s");
  EXPECT_EQ(text("fabric_pfc_paused_seconds_total", 0.125), "12.5 %");
  EXPECT_EQ(text("fabric_pfc_paused_seconds_total", 0.0004), "0.04 %");
  EXPECT_EQ(text("fabric_rdma_cnp_sent_total", 7), "7");
  EXPECT_EQ(text("fabric_rdma_cnp_sent_total", 0.5), "0.50");
  EXPECT_EQ(text("fabric_rdma_cnp_sent_total", 999.9), "1.00 k");
  EXPECT_EQ(text("fabric_rdma_cnp_sent_total", 123456), "123 k");
  EXPECT_EQ(per_second_text({"p", "c", {}, 0, std::nullopt, false}), "-");
}

TEST(Rates, TroubleIsInColorOnATerminal) {
  const auto rates = rates_of(node({{"out_of_sequence", 0}, {"np_cnp_sent", 0}}),
                              node({{"out_of_sequence", 2}, {"np_cnp_sent", 9}}), 1);
  Output plain, terminal;
  terminal.color = true;
  terminal.width = 30;
  EXPECT_EQ(rates_text(rates, plain),
            "PORT     COUNTER                      PER SECOND TOTAL\n"
            "mlx5_0/1 rdma_out_of_sequence_packets          2     2\n"
            "mlx5_0/1 rdma_cnp_sent                         9     9\n");
  const std::string red = rates_text(rates, terminal);
  EXPECT_LT(red.find("\033[1;31m"), red.find("rdma_out")) << red;
  EXPECT_EQ(red.find("\033[1;31m", red.find("rdma_cnp")), std::string::npos) << red;
  terminal.color = false;
  terminal.width = 40;
  EXPECT_EQ(rates_text(rates, terminal),
            "PORT     COUNTER        PER SECOND TOTAL\n"
            "mlx5_0/1 rdma_out_of_se          2     2\n"
            "         quence_packets\n"
            "mlx5_0/1 rdma_cnp_sent           9     9\n")
      << "long names continue on the next line";
}

TEST(Rates, FitTheTerminal) {
  const std::vector<Counter> before{{"np_cnp_sent", 0}, {"out_of_sequence", 0}, {"rx_read_requests", 0}},
      now{{"np_cnp_sent", 9}, {"out_of_sequence", 2}, {"rx_read_requests", 20'000'000}};
  const std::vector<Counter> pause{{"rx_prio3_pause_duration", 0}}, paused{{"rx_prio3_pause_duration", 500'000}};
  const auto rates =
      rates_of(node(before, pause, {{"port_xmit_data", 0}}), node(now, paused, {{"port_xmit_data", 1000}}), 1);
  test::expect_goldens("ctl_counters", [&](const Output& output) { return rates_text(rates, output); });
}

constexpr const char* kCnp = "sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent";

Tree& machine(Tree& tree) {
  add_roce_port(tree);
  return tree.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", "4\n").file(kCnp, "10\n");
}

// Runs the verb, with a step of the test at every time that it prints.
struct Call {
  int code = 0;
  std::string text, errors;
  unsigned rounds = 0;
};
Call session(
    std::vector<std::string> words, const std::function<bool(unsigned)>& step = [](unsigned) { return true; },
    unsigned height = 0) {
  Call out;
  Output output;
  output.height = height;
  output.width = height > 0 ? 100 : 0;
  output.flush = [&](Output& now) {
    out.text += now.text;
    now.text.clear();
    return step(out.rounds++);
  };
  out.code = run(words, output);
  out.text += output.text;
  out.errors = output.errors;
  return out;
}

TEST(CountersVerb, TellsWhatMovedBetweenTwoReadings) {
  Tree tree;
  const auto ran = session({"counters", "--root", machine(tree).path(), "--interval", "100ms"});
  EXPECT_EQ(ran.code, kDone) << ran.errors;
  EXPECT_TRUE(has(ran.text, "gpu01"));
  EXPECT_TRUE(has(ran.text, "0 of 2 counters moved")) << ran.text;
  EXPECT_FALSE(has(ran.text, "rdma_cnp_sent"));
  const auto all = session({"counters", "--root", tree.path(), "--interval", "100ms", "--verbose"});
  EXPECT_TRUE(has(all.text, "rdma_cnp_sent")) << all.text;
}

TEST(CountersVerb, GoesOnUntilInterruptedAndEndsCleanly) {
  Tree tree;
  machine(tree);
  const auto watched = session({"counters", "--watch", "100ms", "--json", "--root", tree.path()}, [&](unsigned round) {
    tree.file(kCnp, std::to_string(10 + 100 * (round + 1)) + "\n");
    if (round == 3) ::pthread_kill(::pthread_self(), SIGINT);  // as Ctrl-C
    return true;
  });
  EXPECT_EQ(watched.code, kDone);
  EXPECT_EQ(watched.errors, "");
  EXPECT_EQ(watched.rounds, 4u);
  std::istringstream lines(watched.text);
  unsigned count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    Json json = Json::parse(line);
    ASSERT_EQ(json["counters"].size(), 1u) << line;
    EXPECT_EQ(json["counters"][0]["counter"], "fabric_rdma_cnp_sent_total");
    EXPECT_EQ(json["counters"][0]["port"], "mlx5_0/1");
  }
  EXPECT_EQ(count, 3u) << "one line for each reading after the first";
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(::sigismember(&blocked, SIGINT), 0) << "Ctrl-C is as it was";
}

TEST(CountersVerb, AMachineWithoutRdmaIsAnsweredInItsFormToo) {
  Tree tree;
  tree.file("proc/sys/kernel/hostname", "gpu01\n");
  EXPECT_EQ(session({"counters", "--root", tree.path(), "-i", "100ms"}).text, "No RDMA port found.\n");
  const auto ran = session({"counters", "--json", "--root", tree.path(), "-i", "100ms"});
  EXPECT_EQ(ran.code, kDone);
  Json json = Json::parse(ran.text);
  EXPECT_EQ(json["hostname"], "gpu01");
  EXPECT_EQ(json["counters"], Json::array());
  const auto watched =
      session({"counters", "--watch", "--json", "--root", tree.path(), "-i", "100ms"}, [&](unsigned round) {
        if (round == 0) machine(tree);  // its driver has been loaded
        if (round == 1) tree.file(kCnp, "20\n");
        return round < 2;
      });
  EXPECT_TRUE(has(watched.text, "fabric_rdma_cnp_sent_total")) << watched.text;
}

TEST(CountersVerb, TheTimeIsTheClocksInSummerToo) {
  ::setenv("TZ", "STD0SUMMER-1,0/0,J365/25", 1);  // always
  ::tzset();
  Tree tree;
  const auto before = static_cast<double>(std::time(nullptr));
  const auto ran = session({"counters", "--json", "--root", machine(tree).path(), "-i", "100ms"});
  const auto change =
      session({"check", "--watch", "--json", "--root", tree.path(), "-i", "0"}, [](unsigned) { return false; });
  ::unsetenv("TZ");
  ::tzset();
  for (const std::string& text : {ran.text, change.text.substr(0, change.text.find('\n'))}) {
    std::tm told{};
    const std::string time = Json::parse(text)["time"].get<std::string>();
    ASSERT_NE(::strptime(time.c_str(), "%Y-%m-%dT%H:%M:%SZ", &told), nullptr) << time;
    EXPECT_GE(static_cast<double>(::timegm(&told)), before);
    EXPECT_LE(static_cast<double>(::timegm(&told)), before + 60);
  }
}

TEST(CheckWatch, ADeviceThatWentIsNotClearedBeforeItIsBack) {
  Tree tree;
  machine(tree);
  const std::string device = tree.path() + "/sys/class/infiniband/mlx5_0", away = tree.path() + "/away";
  std::vector<std::string> gone;
  const auto watched = session(
      {"check", "--watch", "500ms", "--only", "port-state", "--root", tree.path(), "-i", "100ms"}, [&](unsigned round) {
        if (round == 1) std::filesystem::rename(device, away);
        if (round == 4) std::filesystem::rename(away, device);
        return round < 6;
      });
  for (const std::string_view line : split(watched.text, '\n'))
    if (line.find("port-state mlx5_0/1: gone") != std::string_view::npos ||
        line.find("cleared critical port-state mlx5_0/1") != std::string_view::npos)
      gone.emplace_back(line);
  ASSERT_EQ(gone.size(), 2u) << watched.text;
  EXPECT_TRUE(has(gone[0], " raised critical ")) << watched.text;
  EXPECT_TRUE(has(gone[1], " cleared critical ")) << watched.text;
  EXPECT_FALSE(has(watched.text, "no RDMA device")) << "said instead when it is taken for cleared\n" << watched.text;
}

TEST(CountersVerb, ACapturedTreeCannotSpeakToTheTerminal) {
  Tree tree;
  machine(tree).file("proc/sys/kernel/hostname", "gpu\033]0;title\007\xff\n");
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1/hw_counters/";
  tree.file(port + "a\033[2Jb", "7\n").file(port + "\xc2\xb5", "7\n");
  for (const char* verb : {"counters", "check"}) {
    const auto ran = session({verb, "--root", tree.path(), "-i", "100ms", "-v"});
    EXPECT_EQ(ran.text.find_first_of("\033\007\xff"), std::string::npos) << ran.text;
    EXPECT_TRUE(ran.text.starts_with("gpu?]0;title??")) << ran.text;
  }
  const auto watched =
      session({"check", "--root", tree.path(), "--watch", "1", "-i", "0"}, [](unsigned) { return false; });
  EXPECT_EQ(watched.text.find_first_of("\033\007\xff"), std::string::npos) << watched.text;
  const auto text = session({"counters", "--root", tree.path(), "-i", "100ms", "-v"}).text;
  EXPECT_FALSE(has(text, "[2Jb")) << "no file of the kernel has such a name\n" << text;
  EXPECT_TRUE(has(text, " \xc2\xb5 ")) << "what can be shown is";
}

TEST(CountersVerb, EndsWhenNobodyReads) {
  Tree tree;
  const auto watched = session({"counters", "--watch", "--interval", "100ms", "--root", machine(tree).path()},
                               [](unsigned round) { return round < 2; });
  EXPECT_EQ(watched.code, kDone);
  EXPECT_EQ(watched.rounds, 3u);
}

TEST(CountersVerb, ATerminalIsWrittenInPlaceAndAPipeIsPlain) {
  Tree tree;
  machine(tree);
  const std::vector<std::string> words{"counters", "-w", "100ms", "-v", "--root", tree.path()};
  const auto terminal = session(
      words, [](unsigned round) { return round < 1; }, 4);
  EXPECT_TRUE(terminal.text.starts_with("\033[?1049h\033[?25l\033[?7l\033[2J\033[Hgpu01")) << terminal.text;
  EXPECT_TRUE(has(terminal.text, "\r\n-- 2 more lines --\033[K")) << terminal.text;
  EXPECT_TRUE(terminal.text.ends_with("\033[?1049l")) << terminal.text;
  const auto pipe = session(words, [](unsigned round) { return round < 1; });
  EXPECT_EQ(pipe.text.find('\033'), std::string::npos) << pipe.text;
  EXPECT_TRUE(pipe.text.ends_with("\n\n"));
}

TEST(CountersVerb, SaysWhatItDoesNotUnderstand) {
  Tree tree;
  machine(tree);
  for (const char* word : {"soon", "0", "10ms", "2h"}) {
    const auto ran = session({"counters", "--root", tree.path(), "--watch", word});
    EXPECT_EQ(ran.code, kUsage) << word;
    EXPECT_NE(ran.errors, "");
  }
  for (const char* port : {"mlx5_9", "host"})  // the host has settings, but no counters
    EXPECT_EQ(session({"counters", "--root", tree.path(), "--port", port}).code, kFailure);
}

// -- diagnose, from the counters to the exit code

// Counter files, and by how much each rises with each reading.
using Rises = std::map<std::string, uint64_t>;
class Rising : public BehindFiles {
 public:
  Rising(Tree& tree, Rises rises) : tree_(tree), rises_(std::move(rises)) {}
  std::optional<Result<void>> act(Act act, const std::string& file, std::string_view) override {
    for (const auto& [name, by] : rises_)
      if (act == Act::read && file.ends_with(name))
        tree_.file(file, std::to_string(values_.try_emplace(name, 100).first->second += by) + "\n");
    return std::nullopt;
  }

 private:
  Tree& tree_;
  Rises rises_, values_;
};

struct LossyMachine {
  explicit LossyMachine(uint64_t lost_per_reading) : LossyMachine({{"hw_counters/packet_seq_err", lost_per_reading}}) {}
  explicit LossyMachine(const Rises& rises) {
    const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
    add_roce_port(tree);
    tree.file(port + "/counters/symbol_error", "0\n");
    for (const auto& [name, by] : rises) tree.file(port + "/" + name, "100\n");
    options.root = tree.path();
    options.verb = "diagnose";
    options.interval = std::chrono::milliseconds(1);
    options.open = [this, rises](const std::string& root) -> Result<Kernel> {
      auto kernel = open_kernel(root);
      if (kernel) kernel->root.set_behind(std::make_shared<Rising>(tree, rises));
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
  EXPECT_TRUE(machine.output.text.starts_with("The cause of symptoms requires two readings")) << machine.output.text;
  machine.options.interval = std::chrono::milliseconds(1);
  machine.tree.remove("sys/class/infiniband/mlx5_0");
  EXPECT_EQ(machine.run(), machine.check());
  EXPECT_NE(machine.run(), 0) << "a machine without its NICs is not ok";
  EXPECT_TRUE(machine.output.text.starts_with("No RDMA port was observed")) << machine.output.text;
}

// Late receivers of one packet in 2000 are no symptom, and are named if the operator names the port.
TEST(CtlDiagnose, NamesLateReceiversOfANamedPort) {
  LossyMachine machine(Rises{{"hw_counters/rnr_nak_retry_err", 5'000}, {"counters/port_xmit_packets", 10'000'000}});
  EXPECT_EQ(machine.run(), machine.check());
  EXPECT_TRUE(machine.output.text.starts_with("1 port without symptoms")) << machine.output.text;
  EXPECT_FALSE(has(machine.output.text, "RNR")) << machine.output.text;
  machine.options.ports = {"mlx5_0"};
  EXPECT_EQ(machine.run(), machine.check());
  EXPECT_TRUE(machine.output.text.starts_with("mlx5_0/1: RNR NAKs received +")) << machine.output.text;
  EXPECT_TRUE(has(machine.output.text, "1 port without symptoms")) << machine.output.text;
  machine.tree.file("etc/fabric-agent/fabric-agent.toml", "mode = \"audit\"\n[rules.far-end]\nrnr_rate = 100000\n");
  EXPECT_EQ(machine.run(), machine.check());
  EXPECT_TRUE(has(machine.output.text, "1 port without symptoms")) << machine.output.text;
  EXPECT_FALSE(has(machine.output.text, "RNR")) << "fewer than the site's limit: " << machine.output.text;
}

// Rails of one subnet, a bridge with ACS, the IOMMU: the subject is none of the ports, and the finding names them.
TEST(CtlDiagnose, AFindingAboutSeveralPortsIsOneOfEachOfThem) {
  Samples samples{.before = node({}), .now = node({})};
  for (Node* each : {&*samples.before, &samples.now}) {
    Port other = each->ports[0];
    other.rdma = "mlx5_1";
    each->ports.push_back(other);
  }
  samples.now.taken = samples.before->taken + std::chrono::seconds(1);
  const auto diagnosed = [&](const std::string& port) {
    Report report;
    report.findings = {
        {.id = "rails", .subject = "10.1.1.0/24", .status = Status::warning, .observed = "mlx5_0/1 and mlx5_2/1"},
        {.id = "acs",
         .subject = "0000:12:00.0",
         .status = Status::warning,
         .observed = "ReqRedir+",
         .about = "GPU0 and mlx5_0"},
        {.id = "rate", .subject = "mlx5_1/1", .status = Status::warning, .observed = "unlike mlx5_0"}};
    Options options;
    options.ports = {port};
    Output output;
    print_diagnosis(report, samples, RulePolicy{}, options, output);
    return output.text;
  };
  const std::string first = diagnosed("mlx5_0"), second = diagnosed("mlx5_1");
  for (const char* id : {"rails", "acs"}) {
    EXPECT_TRUE(has(first, id)) << first;
    EXPECT_FALSE(has(second, id)) << second;
  }
  EXPECT_FALSE(has(first, "rate") || has(first, "without symptoms")) << first;
  EXPECT_TRUE(has(second, "rate")) << second;
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
  AgentState agent{.mode = Mode::enforce};
  agent.ports["mlx5_0/1"]["mtu"] = {Outcome::conflict, "repeatedly changed back by ip (pid 812)"};
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

// As in check: the steps of a cause are printed once for all its ports.
TEST(CtlDiagnose, OneCauseOfSeveralPortsIsOneBlock) {
  Samples samples{.before = node({}), .now = node({})};
  Report report;
  for (const std::string number : {"0", "1", "2"}) {
    Finding& cause = report.findings.emplace_back();
    cause.id = "port-state";
    cause.subject = "mlx5_" + number + "/1";
    cause.names = {"ens" + number, "0000:1" + number + ":00.0", "mlx5_" + number + "/1", "mlx5_" + number};
    cause.status = Status::critical;
    cause.culprit = Culprit::cable;
    cause.meaning = "No signal.";
    cause.evidence = {"the link is down now"};
    cause.observed = cause.evidence.front();
    cause.next = {"Reseat the cable of ens" + number + "."};
  }
  Output output;
  print_diagnosis(report, samples, {}, {}, output);
  EXPECT_TRUE(has(output.text, "\nmlx5_0..2  cable  port-state\n  No signal.\n")) << output.text;
  EXPECT_TRUE(has(output.text, "  Next:     Reseat the cable of ens0.\n  Also for: ens1, ens2\n")) << output.text;
  EXPECT_FALSE(has(output.text, "cable of ens1")) << output.text;
  EXPECT_TRUE(has(output.text, "mlx5_2/1 cable")) << "each has its line in the table\n" << output.text;
  // An observation that differs is printed with its port.
  report.findings[1].observed = "the link went down 4 times";
  Output differing;
  print_diagnosis(report, samples, {}, {}, differing);
  EXPECT_TRUE(has(differing.text, "mlx5_0/1: the link is down now\n")) << differing.text;
  EXPECT_TRUE(has(differing.text, "mlx5_1/1: the link went down 4 times\n")) << differing.text;
}

// Also if there are causes only.
TEST(CtlDiagnose, OfACapturedTreeSaysWhereItsCommandsRun) {
  Samples samples{.before = node({}), .now = node({})};
  Report report;
  Finding& cause = report.findings.emplace_back();
  cause.id = "port-state";
  cause.subject = samples.now.ports[0].id();
  cause.status = Status::critical;
  cause.culprit = Culprit::cable;
  cause.remedy = "ethtool ens1";
  cause.next = {cause.remedy};
  const auto says_where = [&](const std::string& root) {
    Options options;
    options.root = root;
    Output output;
    print_diagnosis(report, samples, {}, options, output);
    EXPECT_TRUE(has(output.text, "ethtool ens1")) << output.text;
    return has(output.text, ", not for this machine.\n");
  };
  EXPECT_TRUE(says_where("/capture"));
  EXPECT_FALSE(says_where("/"));
}

TEST(CtlDiagnose, PortsThatNeedNoLinkFitTheTerminal) {
  Samples samples;
  samples.now = node({});
  samples.now.ports.push_back(samples.now.ports[0]);
  samples.now.ports[1].number = 2;
  samples.now.ports[1].state = 1;
  samples.before = samples.now;
  Output output;
  output.width = 80;
  print_diagnosis({}, samples, {}, {}, output);
  EXPECT_TRUE(has(output.text, "1 DOWN that needs no link")) << output.text;
  EXPECT_LE(test::widest_line(output.text), 80U) << output.text;
  samples.before.reset();
  Output of_one_reading;
  of_one_reading.width = 80;
  print_diagnosis({}, samples, {}, {}, of_one_reading);
  EXPECT_LE(test::widest_line(of_one_reading.text), 80U) << of_one_reading.text;
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

// -- explain with lines of jobs and kernels: ports, peers, and the counters at the time of the line

// A captured machine with one port.
struct Captured : Tree {
  Captured() {
    const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
    file(port + "/state", "4: ACTIVE\n").file(port + "/link_layer", "Ethernet\n");
    file(port + "/gids/3", "0000:0000:0000:0000:0000:ffff:1d57:04dd\n");
    file(port + "/gid_attrs/types/3", "RoCE v2\n").file(port + "/gid_attrs/ndevs/3", "eth0\n");
    file("sys/class/net/eth0/ifindex", "7\n");
  }
};

TEST(ExplainLine, NamesThePortAndRemovesColors) {
  Captured tree;
  const std::string line =
      "\x1b[31mNCCL WARN NET/IB : Got completion from peer 10.1.1.1<1> with status=12 opcode=1 len=0 vendor err 129 "
      "(Send) "
      "localGid ::ffff:29.87.4.221 remoteGids::ffff:29.87.88.182";
  const Ran result = ran_on(tree, {"explain", line});
  EXPECT_EQ(result.code, 0) << result.errors;
  for (const char* part : {"wc-retry-exceeded (network)\n", "Port: mlx5_0/1", "by GID ::ffff:29.87.4.221",
                           "Peer: 29.87.88.182", "Counters: not known: fabric-exporter does not run",
                           "vendor error 0x81 (129)", "Next: fabric-agentctl diagnose mlx5_0/1\n"})
    EXPECT_TRUE(has(result.text, part)) << part << "\n" << result.text;
  EXPECT_EQ(result.text.find('\x1b'), std::string::npos);
  Json json = Json::parse(ran_on(tree, {"explain", line, "--json"}).text);
  EXPECT_EQ(json.front()["ports"].front()["port"], "mlx5_0/1");
  EXPECT_EQ(json.front()["is_consequence"], false);
  json = Json::parse(ran_on(tree, {"explain", "acme: read failed, error msg: Operation aborted", "--json"}).text);
  EXPECT_EQ(json.front()["is_consequence"], true) << json.dump();
}

// Work with hands is for the operator of the host, if the line is of this machine.
TEST(ExplainLine, OfAGuestNeedsNoHands) {
  const std::string line = "pcieport 0000:00:01.0: AER: Corrected error message received from 0000:24:00.0";
  const auto meaning = [](Tree& tree, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"explain", "--json"});
    return Json::parse(ran_on(tree, arguments).text).front()["meaning"].get<std::string>();
  };
  Captured tree;
  EXPECT_TRUE(has(meaning(tree, {line}), "Reseat the device or its riser"));
  tree.file("sys/class/dmi/id/sys_vendor", "QEMU\n").file("proc/sys/kernel/hostname", "node7.example.com\n");
  for (const std::string& own : {line, "Nov 26 10:00:00 node7 kernel: " + line}) {
    const std::string text = meaning(tree, {own});
    EXPECT_FALSE(has(text, "Reseat")) << text;
    EXPECT_TRUE(has(text, "may leave the bus next. This is a virtual machine (QEMU): report it")) << text;
  }
  // The lines are from another machine, or from an unknown one.
  EXPECT_TRUE(has(meaning(tree, {"Nov 26 10:00:00 node8 kernel: " + line}), "Reseat"));
  tree.file("sys/bus/pci/devices/0000:24:00.0/vendor", "0x15b3\n");
  EXPECT_FALSE(has(meaning(tree, {line}), "Reseat"));
  EXPECT_TRUE(
      has(meaning(tree, {"pcieport 0000:f0:01.0: AER: Corrected error message received from 0000:f1:00.0"}), "Reseat"))
      << "no device of this machine";
  tree.file("log", line + "\n");
  EXPECT_TRUE(has(meaning(tree, {"--log", tree.path() + "/log"}), "Reseat"));
}

TEST(ExplainLine, ReadsALineOfAColoredLog) {
  Captured tree;
  const std::string line =
      "\x1b[36m[rank3]:\x1b[0m\x1b[33m2026-11-26T10:00:00Z\x1b[0m \x1b[1;31mNCCL WARN\x1b[m NET/IB : "
      "\x1b[38;5;9mmlx5_0\x1b[0m:1 Got async event : port error\x1b[";
  const Json found = Json::parse(ran_on(tree, {"explain", line, "--json"}).text).front();
  EXPECT_EQ(found["ports"].front()["port"], "mlx5_0/1");
  EXPECT_EQ(found["time"], "2026-11-26T10:00:00Z");
  EXPECT_EQ(found["line"], "[rank3]:2026-11-26T10:00:00Z NCCL WARN NET/IB : mlx5_0:1 Got async event : port error");
}

// mlx5 RoCE LAG: the kernel's lines name the members' functions and netdevs.
TEST(ExplainLine, NamesTheMemberOfABond) {
  Tree tree;
  std::string functions[2];
  for (int i = 0; i < 2; ++i) {
    const std::string n = std::to_string(i), member = "sys/class/net/ens1f" + n;
    functions[i] = test::add_pci(tree, {.parent = "pci0000:20/0000:20:01.0", .pci = "0000:24:00." + n});
    tree.file(functions[i] + "/uevent", "DRIVER=mlx5_core\n").file(member + "/ifindex", n + "\n");
    tree.link(member + "/device", "../../../../" + functions[i]);
  }
  const std::string device = "sys/class/infiniband/mlx5_bond_0";
  tree.link(device + "/device", "../../../" + functions[0].substr(4));
  tree.file(device + "/ports/1/link_layer", "Ethernet\n").file(device + "/ports/1/gid_attrs/ndevs/0", "bond0\n");
  tree.file("sys/class/net/bond0/ifindex", "9\n").file("sys/class/net/bond0/bonding/slaves", "ens1f0 ens1f1\n");
  for (const std::string n : {"0", "1"}) {
    const Ran result = ran_on(tree, {"explain", "mlx5_core 0000:24:00." + n + " ens1f" + n + ": Link down"});
    const std::string port = "mlx5_bond_0/1@ens1f" + n;
    EXPECT_TRUE(has(result.text, "Port: " + port + ", netdev ens1f" + n)) << result.text;
    EXPECT_TRUE(has(result.text, "Next: fabric-agentctl diagnose " + port)) << result.text;
    EXPECT_FALSE(has(result.text, "netdev bond0")) << result.text;
  }
  EXPECT_TRUE(has(ran_on(tree, {"explain", "NET/IB : mlx5_bond_0:1 Got async event : port error"}).text,
                  "Port: mlx5_bond_0/1, netdev bond0"));
}

// A LINE that was pasted with line ends is read as its lines, like standard input.
TEST(ExplainLine, AnArgumentOfSeveralLinesIsReadLineByLine) {
  Captured tree;
  const std::string first = "acme: step 1 of 2", second = "NVRM: Xid (PCI:0000:18:00): 79, GPU has fallen off the bus.";
  const Json found = Json::parse(ran_on(tree, {"explain", first + "\n" + second + "\n", "--json"}).text);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().at("line"), second);
  EXPECT_EQ(found.front().at("first_line"), 2);
  EXPECT_TRUE(has(ran_on(tree, {"explain", "acme: step 1\nacme: step 2"}).text, "and none is marked as an error"));
}

// The advice in an unknown line is shown.
TEST(ExplainLine, ItsOwnAdvice) {
  Captured tree;
  const std::string line = "acme: cannot map 8 segments. You may need to raise ACME_SEGMENTS.";
  EXPECT_TRUE(
      has(ran_on(tree, {"explain", line}).text, "The line itself advises: You may need to raise ACME_SEGMENTS."));
  EXPECT_EQ(Json::parse(ran_on(tree, {"explain", line, "--json"}).text).front().at("advice"),
            "You may need to raise ACME_SEGMENTS.");
}

TEST(ExplainLine, UnknownLinesAndIdsDiffer) {
  Captured tree;
  const Ran unknown = ran_on(tree, {"explain", "all is well"});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_TRUE(unknown.text.starts_with("no-error (unknown)")) << unknown.text;
  EXPECT_TRUE(has(unknown.text, "\nUnknown line: ")) << unknown.text;
  for (const char* line : {"I0801 15:40:04.429156 1049 agent.cpp:92] such a feature is disabled",
                           "libfabric:9:1753871169::tcp:fabric:f():285<info> no variable is set"}) {
    const Ran note = ran_on(tree, {"explain", line, "--json"});
    EXPECT_EQ(note.code, 1) << note.text;
    EXPECT_EQ(Json::parse(note.text).at(0).at("id"), "information") << note.text;
    EXPECT_EQ(Json::parse(note.text).at(0).at("cause"), "none") << note.text;
  }
  EXPECT_EQ(ran({"explain", "locality"}).code, 0);
  EXPECT_EQ(ran({"explain", "localty"}).code, 64);
  EXPECT_EQ(ran_on(tree, {"explain", "--log", tree.path() + "/no-such-file"}).code, 3);
  EXPECT_EQ(ran_on(tree, {"explain", "--log", tree.path()}).code, 3) << "a directory";
  EXPECT_EQ(ran_on(tree, {"explain", "--log", "x", "a line"}).code, 64);
}

// The exporter's history of one hour, with a flap half an hour ago.
void remember(Tree& tree) {
  tree.file("run/fabric-exporter/health.json",
            R"({"format":1,"updated":10000,"wall":1795996800,"watched":6400,"past":[{"rule":"link_flap","subject":)"
            R"("mlx5_0/1","status":"critical","from":8200,"until":8260,"evidence":"3 link downs"}]})");
  tree.file("proc/uptime", "10000.00 1.00\n");
}

TEST(ExplainLine, CountersAtTheTimeOfTheLine) {
  Captured tree;
  remember(tree);
  const auto counters = [&](const std::string& time) {
    const Ran result =
        ran_on(tree, {"explain", time + " NCCL WARN NET/IB : mlx5_0:1 Got async event : port error", "--json"});
    std::string out;
    Json json = Json::parse(result.text);
    for (Json& each : json.front()["ports"].front()["counters"]) out += each.get<std::string>() + "\n";
    return out;
  };
  const std::string flap = "link_flap critical from 2026-11-29T23:30:00Z to 2026-11-29T23:31:00Z: 3 link downs\n";
  EXPECT_EQ(counters("2026-11-29T23:30:30Z"), flap);
  EXPECT_EQ(counters("2026-11-29T23:32:30Z"), flap) << "a connection breaks some time after its first lost packet";
  EXPECT_EQ(counters("[ 8230.000001]"), flap);
  EXPECT_EQ(counters("2026-11-29T23:40:00Z"), "no health rule was raised at 2026-11-29T23:40:00Z\n");
  EXPECT_EQ(counters("2026-11-29T22:30:00Z"),
            "at 2026-11-29T22:30:00Z: the history of fabric-exporter begins at 2026-11-29T23:00:00Z\n");
  EXPECT_EQ(counters("node1:1:2"), "no health rule is raised now\nthe line has no time: this is the present state\n");
}

TEST(ExplainLine, LidOfAnInfinibandPort) {
  Captured tree;
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
  tree.file(port + "/link_layer", "InfiniBand\n").file(port + "/lid", "0xc\n").file(port + "/lid_mask_count", "1\n");
  const auto text = [&](const std::string& lid) {
    return ran_on(tree, {"explain", "ibv_create_ah(dlid=" + lid + " sl=0) failed: Connection timed out"}).text;
  };
  for (const char* lid : {"12", "13"})
    EXPECT_TRUE(has(text(lid), "Port: mlx5_0/1 (by LID " + std::string(lid) + ")")) << text(lid);
  EXPECT_TRUE(has(text("14"), "Peer: LID 14")) << text("14");
}

TEST(ExplainLine, MentionsThatALongLineWasCut) {
  Captured tree;
  const std::string megabyte(1 << 20, 'a');
  const Ran unknown = ran_on(tree, {"explain", "a " + megabyte});
  EXPECT_EQ(unknown.code, 1);
  EXPECT_TRUE(has(unknown.text, "1 line is longer than 16 KiB")) << unknown.text;
  tree.file("log", megabyte + "\nGot completion with error 12, " + megabyte + "\nshort\n");
  const Ran log = ran_on(tree, {"explain", "--log", tree.path() + "/log"});
  EXPECT_EQ(log.code, 0);
  EXPECT_TRUE(has(log.text, "2 lines are longer than 16 KiB")) << log.text;
}

TEST(ExplainLog, CountsEachMessageOnceForEachPort) {
  Captured tree;
  std::string log = "start\n" + std::string(3 << 20, 'x') + "\n";
  for (int i = 0; i < 5; ++i) log += "NCCL WARN NET/IB : mlx5_0:1 Got async event : port error\n";
  log += "NCCL WARN NET/IB : Got async event : port error";
  tree.file("log", log).file("empty", "");
  const Ran result = ran_on(tree, {"explain", "--log", tree.path() + "/log"});
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(has(result.text, "Line 3, 5 times: NCCL WARN")) << result.text;
  EXPECT_TRUE(has(result.text, "Line 8: NCCL WARN")) << "no newline at the end";
  EXPECT_TRUE(has(result.text, "Next: fabric-agentctl diagnose\n")) << result.text;
  const Ran empty = ran_on(tree, {"explain", "--log", tree.path() + "/empty"});
  EXPECT_EQ(empty.code, 1) << empty.errors;
}

TEST(ExplainLog, NamesAllPeersAndTheirNumber) {
  Captured tree;
  const auto line = [](const std::string& gid, const std::string& device = {}) {
    return "NCCL WARN NET/IB : " + device +
           "Got completion from peer 10.9.0.1<1> with status=12 opcode=1 len=0 vendor err 129 "
           "(Send) "
           "localGid ::ffff:29.87.4.221 remoteGids::ffff:" +
           gid + "\n";
  };
  tree.file("many", line("10.2.0.1") + line("10.2.0.2") + line("10.2.0.2"))
      .file("one", line("10.2.0.1") + line("10.2.0.1"));
  const std::string many = ran_on(tree, {"explain", "--log", tree.path() + "/many"}).text;
  EXPECT_TRUE(has(many, "2 peers: 10.2.0.1, 10.2.0.2 (2 times). Many peers: look at this")) << many;
  EXPECT_TRUE(has(ran_on(tree, {"explain", "--log", tree.path() + "/one"}).text, "One peer: look there first"));

  // Ports of another node, and addresses.
  tree.file("ports", line("10.2.0.1", "mlx5_97:1 ") + line("10.2.0.2", "mlx5_98:1 "))
      .file("port", line("10.2.0.1", "mlx5_97:1 ") + line("10.2.0.2", "mlx5_97:1 "));
  EXPECT_TRUE(
      has(ran_on(tree, {"explain", "--log", tree.path() + "/ports"}).text, "Several ports: look first at this host"));
  EXPECT_TRUE(has(ran_on(tree, {"explain", "--log", tree.path() + "/port"}).text, "Many peers: look at this port"));
  // The program that printed the line is not run again, but for its version; a file is no rule.
  const std::string refused = ran_on(tree, {"explain", "rdma: Failed to send command: Operation not permitted"}).text;
  EXPECT_TRUE(has(refused, "Next: journalctl")) << refused;
  EXPECT_FALSE(has(refused, "Next: rdma")) << refused;
  const std::string options = ran_on(tree, {"explain", "ethtool: bad command line argument(s)"}).text;
  EXPECT_TRUE(has(options, "Next: ip -V; ethtool --version; man dcb")) << options;
  const std::string own = ran_on(tree, {"explain", "ib_write_bw: Failed to negotiate"}).text;
  EXPECT_FALSE(has(own, "Next: ib_write_bw") || has(own, "Next:\n") || has(own, "Next: \n")) << own;
  const Ran file = ran_on(tree, {"explain", tree.path() + "/one"});
  EXPECT_TRUE(has(file.errors, "is a file: fabric-agentctl explain --log ")) << file.errors;
}

TEST(ExplainLog, RefusesWhatIsNoText) {
  Captured tree;
  tree.file("log.gz", "\x1f\x8b\x08 binary\n");
  const Ran result = ran_on(tree, {"explain", "--log", tree.path() + "/log.gz"});
  EXPECT_EQ(result.code, 3);
  EXPECT_TRUE(has(result.errors, "compressed (gzip): zcat FILE | fabric-agentctl explain -")) << result.errors;
}

// The command that the user has just run is not a next step.
TEST(ExplainLog, DoesNotNameItself) {
  Captured tree;
  tree.file("log",
            "some call failed: Invalid argument\nNCCL WARN [Proxy Service 2] Failed to execute operation Connect\n");
  const std::string text = ran_on(tree, {"explain", "--log", tree.path() + "/log"}).text;
  EXPECT_TRUE(has(text, "The error before it, line 1: some call failed")) << text;
  EXPECT_FALSE(has(text, "fabric-agentctl explain")) << text;
}

// The component's text names its uncertainty; the errno's text completes it.
TEST(ExplainLine, OfAComponent) {
  Captured tree;
  const char* line = "node-a:1:2 [0] misc/socket.cc:44 NCCL WARN new call to 10.0.0.2<4500> broke: Connection refused";
  const Ran text = ran_on(tree, {"explain", line});
  EXPECT_EQ(text.code, 0);
  EXPECT_TRUE(text.text.starts_with("nccl-socket-other (peer)\n")) << text.text;
  EXPECT_TRUE(has(text.text, "The component that prints it: NCCL's TCP sockets"));
  EXPECT_TRUE(has(text.text, "The message says that the other end refused the request")) << text.text;
  EXPECT_TRUE(has(text.text, "Codes: errno 111 ECONNREFUSED (Connection refused)")) << text.text;
  EXPECT_TRUE(has(text.text, "ECONNREFUSED: the host of the peer answers")) << text.text;
  EXPECT_TRUE(has(text.text, "Next: ping -c 3 10.0.0.2")) << text.text;
  const Json json = Json::parse(ran_on(tree, {"explain", "--json", line}).text);
  EXPECT_EQ(json.at(0).at("is_component"), true);
  EXPECT_EQ(json.at(0).at("cause"), "peer");
  EXPECT_TRUE(json.at(0).at("others").empty());
}

}  // namespace
}  // namespace fabric::ctl
