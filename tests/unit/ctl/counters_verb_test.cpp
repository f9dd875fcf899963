// SPDX-License-Identifier: Apache-2.0
// counters: rates, their order, their text; and going on until told to end.
#include <csignal>
#include <ctime>

#include "base/json.h"
#include "base/parse.h"
#include "ctl/verbs.h"
#include "ctl/verbs/samples.h"
#include "support/counters.h"
#include "support/golden.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::ctl {
namespace {

using test::has;
using test::Tree;

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

}  // namespace
}  // namespace fabric::ctl
