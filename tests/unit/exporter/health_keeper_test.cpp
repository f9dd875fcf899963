// SPDX-License-Identifier: Apache-2.0
// The exporter keeps the states of the rules over a restart, in a file that may be broken, with the acknowledgements of
// operators.
#include "exporter/collect/health_keeper.h"

#include <sys/wait.h>
#include <unistd.h>

#include "base/json.h"
#include "ctl/verbs.h"
#include "exporter/http/page.h"
#include "judge/engine.h"
#include "judge/health_state.h"
#include "support/counters.h"
#include "support/healthy_node.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::exporter {
namespace {

using test::has;

constexpr int64_t kWall = 1'800'000'000;

// An exporter, a file system, and the clock of the test.
class Site {
 public:
  Site() {
    tree_.folder("run/fabric-exporter").folder("var/lib/fabric-agent").folder("var/lib/fabric-exporter").folder("sys");
    snapshot_.node = node_.now;
    WindowLimits limits = find_window("link_flap")->limits;  // link_flap
    limits.window = 60;
    node_.policy.rules.by_id["link-flap"].windows["link_flap"] = limits;
    EXPECT_TRUE(start());
  }

  test::Tree& tree() { return tree_; }
  Snapshot& snapshot() { return snapshot_; }
  HealthKeeper& keeper() { return *keeper_; }
  Policy& policy() { return node_.policy; }
  [[nodiscard]] int64_t wall() const { return kWall + set_ + static_cast<int64_t>(clock_); }
  void pass(double seconds) { clock_ += seconds; }  // without an exporter
  void set_clock(int64_t by) { set_ += by; }
  Result<void> boot() {
    set_ += static_cast<int64_t>(clock_);
    clock_ = 5000;  // after the grace
    std::filesystem::remove(tree_.path() + "/run/fabric-exporter/health.json");
    snapshot_.node.ports[0].counters.carrier_down = 0;
    return start();
  }

  Result<void> start() {
    keeper_ = std::make_unique<HealthKeeper>(tree_.path(), tree_.path() + "/run/fabric-exporter",
                                             tree_.path() + "/var/lib/fabric-exporter");
    return keeper_->load();
  }
  // Ten seconds later: the link went down `flaps` times; a device that `hangs` was not read.
  Result<void> step(uint64_t flaps = 0, bool hangs = false) {
    clock_ += 10;
    snapshot_.node.taken += std::chrono::seconds(10);
    if (!hangs) {
      taken_ = snapshot_.node.taken;
      *snapshot_.node.ports[0].counters.carrier_down += flaps;
    }
    test::resolve(snapshot_.node);
    snapshot_.ages.clear();
    for (const Port& port : snapshot_.node.ports)
      snapshot_.ages.push_back({port.rdma, port.rdma == "mlx5_0" ? taken_ : snapshot_.node.taken});
    return keeper_->update(snapshot_, &node_.policy, {clock_, wall()}, [this] { return judge(); });
  }
  // A quiet reading, then one with this number of flaps.
  void watch(uint64_t flaps = 0) {
    ASSERT_TRUE(step());
    ASSERT_TRUE(step(flaps));
  }
  Result<void> acknowledge(int days) {
    return save_acks(tree_.path(), {{"link-flap", "mlx5_0/1", wall(), wall() + days * int64_t{86'400}, "root", ""}});
  }
  [[nodiscard]] Status flapping() const {
    const HealthState* state = keeper_->health().find("link_flap", "mlx5_0/1");
    return state == nullptr ? Status::ok : state->status();
  }
  std::string page() { return render_page(snapshot_, context(), false); }
  // The report of the page, and `extra`, a finding of a rule that needs traffic.
  const Report* judge() {
    report_ = find(snapshot_, context()).report;
    if (extra) report_.findings.push_back(*extra);
    return &report_;
  }
  std::optional<Finding> extra;
  Result<void> acknowledge(const std::string& id) {
    return save_acks(tree_.path(), {{id, "", wall(), wall() + 86'400, "root", ""}});
  }
  ctl::Output ask(std::vector<std::string> words) {
    ctl::Output output;
    auto options = ctl::parse_options(words);
    if (!options) {
      output.errors = options.error().text();
      return output;
    }
    options->root = options->host = tree_.path();
    (void)ctl::find_verb(options->verb)->run(*options, output);
    return output;
  }

 private:
  PageContext context() {
    PageContext out;
    out.policy = &node_.policy;
    out.health = &keeper_->health();
    out.wall = wall();
    out.acks = keeper_->acks(wall());
    return out;
  }

  Report report_;
  test::Tree tree_;
  test::Healthy node_;
  Snapshot snapshot_;
  Clock::time_point taken_{};
  double clock_ = 50'000;
  int64_t set_ = 0;
  std::unique_ptr<HealthKeeper> keeper_;
};

// The history has a flap below the limit and one that raises the rule, each from its onset to its end.
TEST(HealthKeeper, KeepsAHistoryOverARestart) {
  Site site;
  site.policy().rules.by_id.clear();  // the limit is three in 12 h
  const auto past = [&] {
    auto root = Root::open(site.tree().path());
    return (*load_health(*root))->history;
  };
  site.tree().file("proc/uptime", "50000 1\n");
  site.watch(1);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(site.step());
  ASSERT_EQ(past().past.size(), 1u);
  EXPECT_EQ(past().past[0].rule + " " + past().past[0].subject + " " + past().past[0].evidence,
            "link_flap mlx5_0/1 1 in one reading");
  EXPECT_EQ(past().past[0].until.value_or(0) - past().past[0].from, 10);
  EXPECT_EQ(past().since, 50'010);
  ASSERT_TRUE(site.start());
  site.watch(5);
  EXPECT_EQ(past().since, 50'010) << "a restart is no gap";
  ASSERT_EQ(past().past.size(), 2u);
  EXPECT_FALSE(past().past[1].until);
  site.pass(600);
  ASSERT_TRUE(site.start());
  ASSERT_TRUE(site.step());
  EXPECT_EQ(past().since, 50'680) << "ten minutes without an exporter are a gap";
}

TEST(HealthKeeper, KeepsItsStatesOverARestart) {
  Site site;
  site.watch(2);
  EXPECT_EQ(site.flapping(), Status::ok);
  ASSERT_TRUE(site.start());
  site.watch(1);  // the first reading is compared with nothing
  EXPECT_EQ(site.flapping(), Status::warning) << "two before the restart, one after it";
  const std::string page = site.page();
  EXPECT_TRUE(has(page, "fabric_check_status{check=\"link-flap\",subject=\"mlx5_0/1\"} 1\n"));
  EXPECT_TRUE(has(page, "fabric_health_phase{rule=\"link_flap\",subject=\"mlx5_0/1\"} 2\n"));
  EXPECT_TRUE(has(page, "fabric_health_value{rule=\"link_flap\",subject=\"mlx5_0/1\"} 3\n"));
}

// The link was down between two scrapes: increase() over both shows it, also over a restart.
TEST(HealthKeeper, CountsEventsFromZeroAndOverARestart) {
  Site site;
  site.policy().rules.by_id.clear();  // the default: one link down is a finding of its reading
  const std::string series = "fabric_events_total{event=\"link_flap\",device=\"mlx5_0\",port=\"1\"} ";
  site.watch();
  EXPECT_TRUE(has(site.page(), series + "0\n")) << site.page();
  ASSERT_TRUE(site.step(1));
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(site.step());
  EXPECT_TRUE(has(site.page(), series + "1\n"));
  ASSERT_TRUE(site.start());
  EXPECT_TRUE(has(site.page(), series + "1\n")) << "on the first page";
  site.watch(1);
  EXPECT_TRUE(has(site.page(), series + "2\n"));
}

// A machine has fifty functions, so a function without events has no series; a zero precedes its first event.
TEST(HealthKeeper, APciFunctionsEventsBeginWithZero) {
  Site site;
  const std::string pci = site.snapshot().node.ports[0].pci,
                    series = "fabric_events_total{event=\"pcie_replays\",device=\"" + pci + "\"} ";
  auto& function = site.snapshot().node.platform.functions[pci];
  function.correctable.total = 0;
  site.watch();
  EXPECT_FALSE(has(site.page(), series));
  *function.correctable.total = 100'000;
  ASSERT_TRUE(site.step());
  EXPECT_TRUE(has(site.page(), series + "0\n")) << site.page();
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(site.step());
  EXPECT_TRUE(has(site.page(), series + "1\n")) << site.page();
}

// One error in one reading, and then none.
TEST(HealthKeeper, AnUncorrectablePcieErrorIsAnEvent) {
  for (const auto& [rule, member] :
       {std::pair{"pcie_fatal", &PlatformFunction::fatal}, {"pcie_nonfatal", &PlatformFunction::nonfatal}}) {
    Site site;
    const std::string pci = site.snapshot().node.ports[0].pci,
                      series = "fabric_events_total{event=\"" + std::string(rule) + "\",device=\"" + pci + "\"} ";
    (site.snapshot().node.platform.functions[pci].*member).total = 0;
    site.watch();
    EXPECT_FALSE(has(site.page(), series));
    (site.snapshot().node.platform.functions[pci].*member).total = 1;
    for (int i = 0; i < 8; ++i) ASSERT_TRUE(site.step());
    EXPECT_TRUE(has(site.page(), series + "1\n")) << site.page();
  }
}

TEST(HealthKeeper, ReportsABrokenFileAndStartsWithoutStates) {
  Site site;
  site.tree().file("run/fabric-exporter/health.json", "{\"updated\":[");
  const auto started = site.start();
  ASSERT_FALSE(started);
  EXPECT_TRUE(has(started.error().text(), "health.json:")) << started.error().text();
  site.watch(5);
  EXPECT_EQ(site.flapping(), Status::critical);
  EXPECT_TRUE(site.start()) << "the file is good again";
  EXPECT_EQ(site.flapping(), Status::critical);
}

TEST(HealthKeeper, ABrokenListOfAcknowledgementsCostsNoState) {
  Site site;
  site.watch(3);
  site.tree().file("var/lib/fabric-exporter/acks.json", "{\"updated\":[");
  const auto started = site.start();
  ASSERT_FALSE(started);
  EXPECT_TRUE(has(started.error().text(), "/var/lib/fabric-exporter/acks.json:")) << started.error().text();
  EXPECT_EQ(site.flapping(), Status::warning);
}

TEST(HealthKeeper, ReportsAFileThatCannotBeWritten) {
  Site site;
  site.tree().file("run/fabric-exporter/health.json/in.the.way", "");
  const auto kept = site.step();
  ASSERT_FALSE(kept);
  EXPECT_TRUE(kept.error().text().starts_with(site.tree().path() +
                                              "/run/fabric-exporter/health.json: cannot rename into place"))
      << kept.error().text();
}

TEST(HealthKeeper, ADeviceThatHangsNeitherClearsNorConfirms) {
  Site site;
  site.watch(3);
  ASSERT_EQ(site.flapping(), Status::warning);
  const double seen = site.keeper().health().find("link_flap", "mlx5_0/1")->seen;
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(site.step(0, true));
  EXPECT_EQ(site.keeper().health().find("link_flap", "mlx5_0/1")->seen, seen);
  const HealthState* stale = site.keeper().health().find("stale_readings", "mlx5_0/1");
  ASSERT_NE(stale, nullptr);
  EXPECT_EQ(stale->status(), Status::warning);
  EXPECT_EQ(site.keeper().health().find("stale_readings", "mlx5_1/1")->status(), Status::ok);
  ASSERT_TRUE(site.step());
  EXPECT_EQ(stale->status(), Status::ok) << "the device answers again";
}

// An alert waits for two minutes, so the finding must last.
TEST(HealthKeeper, ACardThatFellOffTheBusIsMissedUntilItIsBack) {
  Site site;
  ASSERT_TRUE(site.step());
  const std::string gone = "fabric_check_status{check=\"port-state\",subject=\"mlx5_3/1\"} 2\n";
  auto& node = site.snapshot().node;
  const auto ports = node.ports;
  const auto nics = node.topology.nics;
  ASSERT_EQ(ports.back().id(), "mlx5_3/1");
  node.ports.pop_back();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(site.step());
  EXPECT_FALSE(has(site.page(), gone)) << "the driver was unloaded, or a container has the port";
  std::erase_if(node.topology.nics, [&](const Nic& nic) { return nic.pci == ports.back().pci; });
  for (int i = 0; i < 90; ++i) ASSERT_TRUE(site.step());
  EXPECT_TRUE(has(site.page(), gone)) << "a quarter of an hour later";
  ASSERT_TRUE(site.start());
  ASSERT_TRUE(site.step());
  EXPECT_TRUE(has(site.page(), gone)) << "and after a restart";
  node.ports = ports;
  node.topology.nics = nics;
  ASSERT_TRUE(site.step());
  EXPECT_FALSE(has(site.page(), gone));
}

// A source is not read for some readings, in which connections are given up.
TEST(HealthKeeper, ARiseDuringAFailureOfItsSourceIsNotLost) {
  for (const int readings : {1, 2, 20}) {
    Site site;
    auto& counters = site.snapshot().node.ports[0].counters;
    counters.hw.push_back({"req_transport_retries_exceeded", 5});
    ASSERT_TRUE(site.step());
    auto hw = std::exchange(counters.hw, {});
    for (int i = 0; i < readings; ++i) ASSERT_TRUE(site.step(readings == 20 && i == 18 ? 5 : 0));
    EXPECT_EQ(site.flapping(), readings == 20 ? Status::critical : Status::ok) << "the other sources are judged";
    hw.back().value += 40;
    counters.hw = hw;
    ASSERT_TRUE(site.step());
    const HealthState* state = site.keeper().health().find("retries_exceeded", "mlx5_0/1");
    EXPECT_TRUE(readings == 20 || (state != nullptr && state->status() == Status::warning)) << readings;
  }
}

// It has no port that a rule could ask about, and its state is not OK.
TEST(HealthKeeper, ADeviceThatHangsFromTheStartIsAFinding) {
  Site site;
  const std::string warning = "fabric_check_status{check=\"counters-frozen\",subject=\"mlx5_9\"} 1";
  site.snapshot().runs = {{"reader", "mlx5_9", false, 45, "", true}};
  ASSERT_TRUE(site.step());
  EXPECT_FALSE(has(site.page(), warning)) << "it may still answer";
  site.snapshot().runs[0].seconds = 75;
  ASSERT_TRUE(site.step());
  EXPECT_TRUE(has(site.page(), warning)) << site.page();
  EXPECT_TRUE(contains(site.judge()->findings, "mlx5_9", &Finding::subject)) << "also in the published report";
  site.snapshot().runs.clear();
  ASSERT_TRUE(site.step());
  EXPECT_FALSE(has(site.page(), warning));
}

// An operator excludes a device with a bad cable; later it falls off the bus.
TEST(HealthKeeper, AnExcludedDeviceHasNoFindings) {
  Site site;
  site.watch(5);
  ASSERT_EQ(site.flapping(), Status::critical);
  site.policy().exclude = {"mlx5_0"};
  auto& node = site.snapshot().node;
  node.ports.erase(node.ports.begin());
  std::erase_if(node.topology.nics, [](const Nic& nic) { return nic.name == "mlx5_0"; });
  for (int i = 0; i < 2; ++i) {
    site.snapshot().ages.clear();
    ASSERT_TRUE(site.keeper().update(site.snapshot(), &site.policy(), {50'030.0 + 10 * i, kWall + 50'030 + 10 * i},
                                     [&] { return site.judge(); }));
  }
  EXPECT_EQ(site.flapping(), Status::ok);
  EXPECT_FALSE(has(site.page(), "subject=\"mlx5_0/1\"")) << site.page();
}

TEST(HealthKeeper, ReportsAnErrorOnce) {
  Site site;
  site.tree().file("var/lib/fabric-agent/acks.json", R"({"format":1,"acks":[{}]})");
  const auto first = site.step();
  ASSERT_FALSE(first);
  EXPECT_TRUE(has(first.error().text(), "acks.json"));
  EXPECT_TRUE(site.step());
}

TEST(Acknowledged, FromTheCommandToTheMetricAndItsEnd) {
  Site site;
  site.watch(3);
  EXPECT_EQ(site.ask({"ack", "--list"}).text, "No acknowledged findings.\n");
  const auto written = site.ask({"ack", "link-flap", "mlx5_*", "--for", "3650h", "--comment", "cable ordered"});
  EXPECT_EQ(written.errors, "");
  // The clock of the test is ahead of the machine's.
  auto acks = load_acks(*Root::open(site.tree().path()));
  ASSERT_TRUE(acks);
  ASSERT_EQ(acks->size(), 1u);
  acks->front().until = site.wall() + 1000;
  ASSERT_TRUE(save_acks(site.tree().path(), *acks));
  ASSERT_TRUE(site.step());
  EXPECT_TRUE(has(site.page(), "fabric_check_acknowledged{check=\"link-flap\",subject=\"mlx5_0/1\"} 1\n"));
  EXPECT_TRUE(has(site.page(), "fabric_check_status{check=\"link-flap\",subject=\"mlx5_0/1\"} 1\n"))
      << "the finding is published";
  const auto list = site.ask({"ack", "--list"}).text;
  EXPECT_TRUE(has(list, "cable ordered")) << list;
  for (int i = 0; i < 20 + kAckOutlasts / 10; ++i) ASSERT_TRUE(site.step());
  EXPECT_TRUE(site.keeper().acks(site.wall()).empty()) << "the finding has cleared";
  ASSERT_TRUE(site.step(3));
  EXPECT_FALSE(has(site.page(), "fabric_check_acknowledged")) << "a new finding is not acknowledged";
  EXPECT_EQ(site.ask({"ack", "--remove", "link-flap", "mlx5_*"}).errors, "");
  EXPECT_EQ(site.ask({"ack", "--list"}).text, "No acknowledged findings.\n");
}

// An acknowledgement ends five minutes after its finding: time without an exporter and changes of the clock do not
// count.
TEST(Acknowledged, OnlyObservedTimeEndsIt) {
  for (const auto& [away, set] : {std::pair<double, int64_t>{3600, 0}, {0, 86'400}, {0, -86'400}}) {
    Site site;
    site.watch(3);
    ASSERT_TRUE(site.acknowledge(7));
    while (site.flapping() != Status::ok) ASSERT_TRUE(site.step());
    site.pass(away);
    site.set_clock(set);
    ASSERT_TRUE(site.start());
    ASSERT_TRUE(site.step());
    EXPECT_EQ(site.keeper().acks(site.wall()).size(), 1u) << away << " " << set;
    for (int i = 0; i < kAckOutlasts / 10; ++i) ASSERT_TRUE(site.step());
    EXPECT_TRUE(site.keeper().acks(site.wall()).empty()) << away << " " << set;
  }
}

// Causes are found from the traffic between two readings, which only the page has.
TEST(Acknowledged, EndsWithTheFindingOfThePage) {
  Site site;
  site.extra = bad(Status::warning, "mlx5_0/1", "CNPs", "none", "A port of the fabric is congested.", "");
  site.extra->id = "congestion";
  ASSERT_TRUE(site.acknowledge("congestion"));
  ASSERT_TRUE(site.step());
  for (int i = 0; i < 10 + kAckOutlasts / 10; ++i) ASSERT_TRUE(site.step());
  EXPECT_EQ(site.keeper().acks(site.wall()).size(), 1u) << "the finding lasts";
  site.extra.reset();
  for (int i = 0; i < 1 + kAckOutlasts / 10; ++i) ASSERT_TRUE(site.step());
  EXPECT_TRUE(site.keeper().acks(site.wall()).empty());
}

TEST(Acknowledged, EndsOverABoot) {
  Site site;
  site.watch(3);
  ASSERT_TRUE(site.acknowledge(30));
  ASSERT_TRUE(site.boot());
  site.watch(3);
  ASSERT_NE(site.flapping(), Status::ok);
  EXPECT_EQ(site.keeper().acks(site.wall()).size(), 1u) << "the finding did not clear while the exporter ran";
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(site.step());
  EXPECT_TRUE(site.keeper().acks(site.wall()).empty());
  ASSERT_TRUE(site.boot());
  site.watch(3);
  ASSERT_NE(site.flapping(), Status::ok);
  EXPECT_TRUE(site.keeper().acks(site.wall()).empty()) << "a new finding";
  ASSERT_TRUE(site.acknowledge(30));
  ASSERT_TRUE(site.step());
  EXPECT_EQ(site.keeper().acks(site.wall()).size(), 1u) << "acknowledged again";
}

TEST(Acknowledged, ManyWritersAtOnceLoseNone) {
  Site site;
  constexpr int kMany = 12;
  for (int i = 0; i < kMany; ++i)
    if (::fork() == 0) ::_exit(site.ask({"ack", "loss", "mlx5_" + std::to_string(i)}).errors.empty() ? 0 : 1);
  for (int i = 0, status = 0; i < kMany; ++i)
    EXPECT_TRUE(::wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  const auto acks = load_acks(*Root::open(site.tree().path()));
  ASSERT_TRUE(acks);
  EXPECT_EQ(acks->size(), static_cast<size_t>(kMany));
}

TEST(Acknowledged, JsonListsWhatWasWritten) {
  Site site;
  Json made = Json::parse(site.ask({"ack", "loss", "mlx5_0/1", "--json"}).text);
  ASSERT_EQ(made.size(), 1u);
  EXPECT_EQ(made[0]["subject"], "mlx5_0/1");
  EXPECT_EQ(Json::parse(site.ask({"ack", "loss", "--remove", "--json"}).text), Json::array());
}

TEST(Acknowledged, MembersOfANewerReleaseAreCarriedThrough) {
  test::Tree tree;
  tree.file(kAckFile, R"({"format":1,"later":7,"acks":[)"
                      R"({"id":"loss","subject":"mlx5_0/1","at":1,"until":9,"by":"root","comment":"x","later":8},)"
                      R"({"id":"pfc","subject":"mlx5_0/1","at":1,"until":9,"by":"root","comment":"x","later":9}]})");
  auto acks = load_acks(tree.root());
  ASSERT_TRUE(acks.ok()) << acks.error().text();
  acks->erase(acks->begin() + 1);
  acks->push_back({.id = "mtu", .subject = "mlx5_0/1", .at = 1});
  ASSERT_TRUE(save_acks(tree.path(), *acks).ok());
  const std::string text = tree.content(kAckFile);
  EXPECT_TRUE(has(text, R"("later":7)") && has(text, R"("later":8)")) << text;
  EXPECT_FALSE(has(text, R"("later":9)")) << text;
  EXPECT_EQ(load_acks(tree.root())->size(), 2U);
}

TEST(Acknowledged, AnErrorNamesItsCause) {
  Site site;
  EXPECT_NE(site.ask({"ack", "link-flop"}).errors, "");
  EXPECT_NE(site.ask({"ack"}).errors, "");
  EXPECT_NE(site.ask({"ack", "loss", "a", "b"}).errors, "");
  EXPECT_NE(site.ask({"ack", "loss", "--for", "soon"}).errors, "");
  EXPECT_NE(site.ask({"ack", "loss", "--remove"}).errors, "");
  site.tree().file("var/lib/fabric-agent/acks.json", "nonsense");
  EXPECT_TRUE(has(site.ask({"ack", "loss"}).errors, "acks.json: "));
  EXPECT_TRUE(has(site.ask({"ack", "loss"}).errors, "; it can be deleted"));
  std::filesystem::remove(site.tree().path() + "/var/lib/fabric-agent/acks.json");
  site.tree().folder("var/lib/fabric-agent/acks.json");
  EXPECT_FALSE(has(site.ask({"ack", "loss"}).errors, "deleted")) << "an unreadable file may be valid";
}

}  // namespace
}  // namespace fabric::exporter
