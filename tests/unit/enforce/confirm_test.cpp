// SPDX-License-Identifier: Apache-2.0
// apply --confirm: its record, and its guard as a real process whose starter is killed.
#include "enforce/confirm.h"

#include <linux/capability.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "ctl/verbs/confirm_verb.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"
#include "support/tree.h"
#include "support/turns.h"

namespace fabric::confirm {
namespace {

using test::becomes;
using test::has;
using test::Personality;
using test::SimNic;
using test::Tree;

// A process that is not waited for yet has ended, too.
bool has_ended(pid_t process) {
  if (::kill(process, 0) != 0) return errno == ESRCH;
  std::string stat;
  std::getline(std::ifstream("/proc/" + std::to_string(process) + "/stat"), stat);
  return stat.find(") Z ") != std::string::npos;
}

const GuardAct kNothing = [] { return std::chrono::seconds(1); };

Record record_of(const BootMoment& now, std::chrono::seconds patience) {
  return begin(now, patience, {.disruptive = Disruptive::now}, digest("policy"));
}

TEST(ConfirmRecord, IsReadBackWhole) {
  Tree tree;
  Record record = record_of({"a boot", 1'000}, std::chrono::seconds(60));
  record.before["0000:24:00.0/1"].pfc = PrioSet{8};
  record.before["netdev:eth0"].mtu = 1500;
  record.sysctl["net.ipv4.tcp_ecn"] = "2";
  ASSERT_TRUE(save(tree.path(), record).ok());
  auto loaded = load(tree.path());
  ASSERT_TRUE(loaded.ok() && loaded->has_value()) << (loaded.ok() ? "" : loaded.error().text());
  EXPECT_EQ((*loaded)->id, record.id);
  EXPECT_EQ((*loaded)->deadline, 61'000U);
  EXPECT_EQ((*loaded)->until, record.until);
  EXPECT_EQ((*loaded)->policy, record.policy);
  EXPECT_EQ((*loaded)->disruptive, Disruptive::now);
  EXPECT_EQ((*loaded)->before, record.before);
  EXPECT_EQ((*loaded)->sysctl, record.sysctl);
  ASSERT_TRUE(remove(tree.path()).ok());
  EXPECT_FALSE(load(tree.path())->has_value());
  EXPECT_TRUE(remove(tree.path()).ok()) << "gone is gone";
}

TEST(ConfirmRecord, FaultsAreNamedAndNothingIsGuessed) {
  for (const char* text : {"[[[", "", R"({"format":1,"id":"x"})", R"({"format":1,"id":"x","deadline":"soon"})",
                           R"({"format":1,"id":"x","deadline":1,"before":{"a":1}})",
                           R"({"format":1,"id":"x","deadline":1,"before":{"a":{"settings":{"pfc":[9]}}}})"}) {
    auto record = parse(text, "confirm.json");
    ASSERT_EQ(test::code_of(record), EBADMSG) << text;
    EXPECT_TRUE(has(record.error().what, "confirm.json:"));
  }
}

TEST(ConfirmRecord, AFaultyFileComesWithWhatToDo) {
  Tree tree;
  tree.file(kFile, "[[[");
  EXPECT_TRUE(has(load(tree.path()).error().what, "move it away"));
  tree.file(qos::kSysctlOriginalsFile, "[[[");
  EXPECT_TRUE(has(qos::load_sysctl_originals(tree.path()).error().what, "move it away"));
}

TEST(ConfirmRecord, IsDueAfterItsTimeOrAReboot) {
  const Record record = record_of({"a boot", 1'000}, std::chrono::seconds(60));
  EXPECT_FALSE(is_due(record, {"a boot", 60'999}));
  EXPECT_TRUE(is_due(record, {"a boot", 61'000}));
  EXPECT_TRUE(is_due(record, {"another boot", 1'001}));
  EXPECT_FALSE(is_due(record, {"", 60'999})) << "the id could not be read (EMFILE): the apply is not reverted early";
  EXPECT_TRUE(is_due(record, {"", 61'000}));
  Record unnamed = record;
  unnamed.boot_id.clear();  // it could not be read when the apply began
  EXPECT_FALSE(is_due(unnamed, {"a boot", 60'999}));
  EXPECT_TRUE(is_due(unnamed, {"a boot", 61'000}));
  Record lapsed = record;
  lapsed.reverted = "2026-01-01T00:00:00Z";
  EXPECT_FALSE(is_due(lapsed, {"another boot", 99'999}));
  EXPECT_NE(digest("a"), digest("b"));
}

TEST(ConfirmRevert, PutsBackWhatStoodAndKeepsWhatMustWait) {
  test::SimKernel sim;
  SimNic& nic = sim.add_nic("eth0", Personality::mlx5);
  Kernel kernel = sim.kernel();
  std::vector<Port> ports{nic.port()};
  Record record = record_of({"a boot", 0}, std::chrono::seconds(1));
  record.disruptive = Disruptive::idle;
  const Qos before{.mtu = 1500, .trust = Trust::pcp, .pfc = PrioSet{}};
  Keys keys = keys_of(before);
  keys.reset(index(SettingId::trust));
  remember(record, ports[0], before, keys);
  EXPECT_FALSE(record.before.begin()->second.trust) << "was not applied";
  test::reconcile(kernel, ports[0], {.mtu = 4200, .pfc = PrioSet{8}}, test::free_terms(), test::kSaveNowhere);
  ASSERT_EQ(nic.pfc.pfc_en, 8);
  bool busy = true;
  const qos::UseCheck in_use = [&](const Port&) { return busy; };
  test::revert(kernel, ports, record, {"a boot", 2'000}, in_use);
  EXPECT_EQ(nic.pfc.pfc_en, 8) << "a job uses the port";
  EXPECT_TRUE(is_pending(record));
  busy = false;
  nic.present = false;
  test::revert(kernel, ports, record, {"a boot", 2'000}, in_use);
  EXPECT_TRUE(is_pending(record)) << "a device that is gone may come back";
  nic.present = true;
  test::revert(kernel, ports, record, {"a boot", 2'000}, in_use);
  EXPECT_EQ(nic.pfc.pfc_en, 0) << "the deadline is no matter of the maintenance window";
  EXPECT_EQ(nic.mtu, 1500U);
  EXPECT_FALSE(is_pending(record));
}

// A dead or pulled card comes back in hours, or never: the other ports must not stay without enforcement till then.
// An apply that may not stop traffic may have added protection. Its way back waits for an idle port, not for ever.
TEST(ConfirmRevert, TakesAddedProtectionAwayOnAnIdlePortAlsoAfterAnApplyThatMayNotStopTraffic) {
  test::SimKernel sim;
  SimNic& nic = sim.add_nic("eth0", Personality::mlx5);
  Kernel kernel = sim.kernel();
  std::vector<Port> ports{nic.port()};
  const Qos shared{.ets = Ets{}, .pfc = PrioSet{8}};
  Qos own = shared;
  own.ets->prio_tc[3] = 1;
  own.ets->tsa[0] = own.ets->tsa[1] = Tsa::ets;
  own.ets->bw = {50, 50};
  test::reconcile(kernel, ports[0], shared, test::free_terms(), test::kSaveNowhere);
  Record record = record_of({"a boot", 0}, std::chrono::seconds(1));
  record.disruptive = Disruptive::never;
  remember(record, ports[0], shared, keys_of(Qos{.ets = shared.ets}));
  qos::Terms terms = test::free_terms();
  terms.disruptive = Disruptive::never;
  terms.in_use = test::kInUse;
  test::reconcile(kernel, ports[0], own, terms, test::kSaveNowhere);
  ASSERT_EQ(nic.ets.prio_tc[3], 1);
  test::revert(kernel, ports, record, {"a boot", 2'000}, test::kInUse);
  EXPECT_EQ(nic.ets.prio_tc[3], 1) << "a job runs";
  test::revert(kernel, ports, record, {"a boot", 2'000}, test::kIdle);
  EXPECT_EQ(nic.ets.prio_tc[3], 0);
  EXPECT_FALSE(has_work(record, {"a boot", 2'000}));
}

// The route came after the apply, or was there before it and an entry named the port.
TEST(ConfirmRevert, TakesTheLinkOfTheDefaultRouteOnlyAsTheApplyMight) {
  for (const bool is_named : {false, true}) {
    SCOPED_TRACE(is_named);
    test::SimKernel sim;
    SimNic& nic = sim.add_nic("eth0", Personality::mlx5);
    Kernel kernel = sim.kernel();
    std::vector<Port> ports{nic.port()};
    Tree tree;
    Record record = record_of({"a boot", 0}, std::chrono::seconds(1));
    if (is_named) allow_front_end(record, ports[0]);
    remember(record, ports[0], {.mtu = 1500}, keys_of({.mtu = 1500}));
    ASSERT_TRUE(save(tree.path(), record).ok());
    record = **load(tree.path());
    nic.mtu = 9000;
    nic.has_default_route = true;
    const Changes changes = test::revert(kernel, ports, record, {"a boot", 2'000}, test::kIdle);
    EXPECT_EQ(nic.mtu, is_named ? 1500U : 9000U) << test::text(changes);
    EXPECT_EQ(is_pending(record), !is_named);
    nic.has_default_route = false;
    test::revert(kernel, ports, record, {"a boot", 2'000}, test::kIdle);
    EXPECT_EQ(nic.mtu, 1500U);
  }
}

TEST(ConfirmRecord, WithoutAPortThatMayBeWrittenUnderTheDefaultRouteAllowsNone) {
  const auto record = parse(R"({"format":1,"id":"x","deadline":1})", "f");
  ASSERT_TRUE(record.ok()) << record.error().text();
  EXPECT_FALSE(allows_front_end(*record, {.pci = "0000:24:00.0"}));
}

TEST(ConfirmRevert, GivesUpACardThatStaysAway) {
  test::SimKernel sim;
  SimNic& nic = sim.add_nic("eth0", Personality::mlx5);
  Kernel kernel = sim.kernel();
  std::vector<Port> ports{nic.port()};
  const Record unconfirmed = [&] {
    Record record = record_of({"a boot", 0}, std::chrono::seconds(1));
    remember(record, ports[0], {.mtu = 1500}, keys_of({.mtu = 1500}));
    return record;
  }();
  nic.present = false;
  for (const bool listed : {true, false}) {
    if (!listed) ports.clear();
    Record record = unconfirmed;
    test::revert(kernel, ports, record, {"a boot", 600'999}, test::kIdle);
    EXPECT_TRUE(is_pending(record)) << "a driver may be loading";
    test::revert(kernel, ports, record, {"the next boot", 599'999}, test::kIdle);
    EXPECT_TRUE(is_pending(record));
    const Changes told = test::revert(kernel, ports, record, {"a boot", 601'000}, test::kIdle);
    EXPECT_FALSE(is_pending(record));
    ASSERT_EQ(told.size(), 1U);
    EXPECT_EQ(told[0].outcome, Outcome::refused);
    EXPECT_EQ(told[0].to, "1500");
  }
}

// agentd watches the file of the record: each replacement of it is a reason to look again.
TEST(ConfirmRevert, WithoutNewsDoesNotReplaceTheRecord) {
  Tree tree;
  test::SimKernel sim;
  SimNic& nic = sim.add_nic("eth0", Personality::mlx5);
  Kernel kernel = sim.kernel(tree.path());
  std::vector<Port> ports{nic.port()};
  Record record = record_of({"a boot", 0}, std::chrono::seconds(1));
  record.disruptive = Disruptive::idle;
  remember(record, ports[0], {.mtu = 1500}, keys_of({.mtu = 1500}));
  nic.mtu = 9000;
  ASSERT_TRUE(save(tree.path(), record).ok());
  const auto file = [&] {
    struct stat now {};
    EXPECT_EQ(::stat((tree.path() + "/" + kFile).c_str(), &now), 0);
    return now.st_ino;
  };
  const auto before = file();
  test::FreeTurns turns(kernel);
  ASSERT_TRUE(lapse(tree.path(), kernel, ports, record, {.in_use = test::kInUse, .turns = turns, .sleep = {}}).ok());
  EXPECT_EQ(file(), before);
  ASSERT_TRUE(lapse(tree.path(), kernel, ports, record, {.in_use = test::kIdle, .turns = turns, .sleep = {}}).ok());
  EXPECT_EQ(nic.mtu, 1500U);
  EXPECT_TRUE((*load(tree.path()))->is_restored());
}

// The first DSCP overwrites the ETS that lldpad had set, although the policy has no ETS.
TEST(ConfirmRevert, PutsBackWhatAWriteOverwrites) {
  test::Bed bed(Personality::ice);
  const Qos before{.ets = test::shares({0, 0, 0, 1, 0, 0, 0, 0}, {40, 60}), .pfc = PrioSet{8}};
  bed.settle_to({.dcbx = Dcbx::host});
  bed.settle_to(before);
  ASSERT_EQ(bed.read().ets, before.ets);
  const Qos want{.trust = Trust::dscp, .dscp_map = DscpMap{{26, 3}}, .pfc = PrioSet{8}};
  Record record = record_of({"a boot", 0}, std::chrono::seconds(1));
  bed.save = [&](const Port& port, const Qos& now) -> Result<void> {
    remember(record, port, now, keys_changed(port, want, now));
    return {};
  };
  bed.settle_to(want);
  ASSERT_NE(bed.read().ets, before.ets);
  EXPECT_FALSE(record.before.begin()->second.mtu) << "is not touched";
  std::vector<Port> ports{bed.port};
  test::revert(bed.kernel, ports, record, {"a boot", 2'000}, test::kIdle);
  EXPECT_EQ(bed.read().ets, before.ets);
  EXPECT_EQ(bed.read().pfc, before.pfc);
  EXPECT_FALSE(is_pending(record));
}

// PFC ends global pause on mlx5, which the policy does not name.
TEST(ConfirmRevert, PutsBackThePauseThatPfcHasEnded) {
  test::Bed bed(Personality::mlx5);
  ASSERT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx);
  const Qos want{.pfc = PrioSet{8}};
  Record record = record_of({"a boot", 0}, std::chrono::seconds(1));
  bed.save = [&](const Port& port, const Qos& now) -> Result<void> {
    remember(record, port, now, keys_changed(port, want, now));
    return {};
  };
  bed.settle_to(want);
  ASSERT_FALSE(bed.nic.pause.rx || bed.nic.pause.tx);
  std::vector<Port> ports{bed.port};
  test::revert(bed.kernel, ports, record, {"a boot", 2'000}, test::kIdle);
  EXPECT_TRUE(bed.nic.pause.rx && bed.nic.pause.tx);
  EXPECT_EQ(bed.nic.pfc.pfc_en, 0);
}

// The driver resets PFC, which the apply had not changed, with the last DSCP.
TEST(ConfirmRevert, PutsBackWhatTheWayBackOverwrites) {
  test::Bed bed(Personality::ice);
  bed.settle_to({.dcbx = Dcbx::host, .pfc = PrioSet{4}});
  const Qos before = bed.read(), want{.dscp_map = DscpMap{{26, 3}}};
  Record record = record_of({"a boot", 0}, std::chrono::seconds(1));
  bed.save = [&](const Port& port, const Qos& now) -> Result<void> {
    remember(record, port, now, keys_changed(port, want, now));
    return {};
  };
  bed.settle_to(want);
  ASSERT_EQ(bed.read().pfc, PrioSet{4});
  std::vector<Port> ports{bed.port};
  test::revert(bed.kernel, ports, record, {"a boot", 2'000}, test::kIdle);
  EXPECT_EQ(bed.read(), before);
}

// A setting that one process may not write is left to the other: agentd, which some writes are refused (or the driver
// refuses them for a while), and the guard, in both orders, over any number of restarts.
class LeftToTheOther : public testing::TestWithParam<Personality> {
 protected:
  // An apply of the profile that was not confirmed.
  struct Applied : test::FileBed {
    explicit Applied(Personality personality) : FileBed(personality), want(test::profile(personality)) {
      tree.file("proc/sys/kernel/numa_balancing", "0\n").file("proc/sys/net/ipv4/tcp_ecn", "1\n");
      for (const char* file : {"proc/sys/kernel/numa_balancing", "proc/sys/net/ipv4/tcp_ecn"})
        files->on_write(file, test::store_number(0, 3));
      // bnxt shows its ETS and PFC once they were set.
      settle_to({.dcbx = Dcbx::host, .ets = test::shares(test::kIdentity, {30, 10, 10, 10, 10, 10, 10, 10})});
      settle_to({.pfc = PrioSet{0x20}});
      before = read(keys_of(want));
      save = [this](const Port& of, const Qos& now) -> Result<void> {
        remember(record, of, now, keys_changed(of, want, now));
        return {};
      };
      settle_to(want);
      record.sysctl = {{"kernel.numa_balancing", "1"}, {"net.ipv4.tcp_ecn", "2"}};
    }
    // One pass of one process, whose successor reads the record from its file.
    void pass() {
      std::vector<Port> ports{port};
      test::revert(kernel, ports, record, {"a boot", 2'000}, test::kIdle);
      nic.link_up();
      record = *parse(record_text(record), kFile);
    }
    void expect_reverted() {
      EXPECT_FALSE(is_pending(record)) << left_text(record);
      EXPECT_TRUE(record.is_restored()) << left_text(record);
      const Qos now = read(keys_of(want));
      for (const Setting& setting : kSettings)
        if (has_value(setting, before))
          EXPECT_TRUE(same_value(setting, before, now))
              << setting.key << " " << value_text(setting, before) << " != " << value_text(setting, now);
      EXPECT_EQ(tree.content("proc/sys/kernel/numa_balancing").substr(0, 1), "1");
      EXPECT_EQ(tree.content("proc/sys/net/ipv4/tcp_ecn").substr(0, 1), "2");
    }
    const Qos want;
    Qos before;
    Record record = record_of({"a boot", 0}, std::chrono::seconds(1));
  };
};
INSTANTIATE_TEST_SUITE_P(All, LeftToTheOther,
                         testing::Values(Personality::mlx5, Personality::bnxt, Personality::ice, Personality::full),
                         test::personality_name);

TEST_P(LeftToTheOther, WhateverIsRefusedAndWhoeverIsFirst) {
  for (const char* op : {"setets", "setpfc", "setapp", "delapp", "setmtu", "setpause", "setdcbx", "settrust",
                         "proc/sys/kernel/numa_balancing", "proc/sys/net/ipv4/tcp_ecn"})
    for (const int code : {EPERM, EINVAL})
      for (const bool agent_first : {true, false}) {
        SCOPED_TRACE(std::string(op) + " refused with " + std::to_string(code) + (agent_first ? ", first" : ", last"));
        Applied bed(GetParam());
        ASSERT_FALSE(bed.record.before.empty());
        const bool is_file = std::string_view(op).starts_with("proc");
        const auto agent = [&] {
          if (is_file) bed.files->fault({.code = code, .glob = op});
          else bed.nic.faults[op] = {test::Fault::refuse, code, -1};
          bed.pass();
          bed.files->heal();
          bed.nic.faults.clear();
        };
        if (!agent_first) bed.pass();
        for (int times = 0; times < 3; ++times) agent();
        if (agent_first) {
          if (is_file || (bed.nic.calls[op] != 0 && is_pending(bed.record)))
            EXPECT_FALSE(bed.record.is_restored()) << "what is refused is not forgotten";
          if (is_file) EXPECT_TRUE(is_pending(bed.record));
          // A driver may need two passes: the first one's writes overwrite values that it had restored before.
          for (int times = 0; times < 2 && is_pending(bed.record); ++times) bed.pass();
        }
        bed.expect_reverted();
      }
}

// A setting that is always refused does not delay the rest for ever; it is restored once the driver accepts it.
TEST_P(LeftToTheOther, WhatIsRefusedForTenMinutesIsKeptAndTriedAgain) {
  Applied bed(GetParam());
  bed.files->fault({.code = EINVAL, .glob = "*tcp_ecn"});
  std::vector<Port> ports{bed.port};
  test::revert(bed.kernel, ports, bed.record, {"a boot", 600'999}, test::kIdle);
  bed.nic.link_up();
  EXPECT_TRUE(is_pending(bed.record));
  const Changes told = test::revert(bed.kernel, ports, bed.record, {"a boot", 601'000}, test::kIdle);
  bed.nic.link_up();
  EXPECT_FALSE(is_pending(bed.record));
  EXPECT_TRUE(has(left_text(bed.record), "host net.ipv4.tcp_ecn"));
  EXPECT_TRUE(contains(told, Outcome::refused, &Change::outcome));
  EXPECT_TRUE(has_work(bed.record, {"the next boot", 1}));
  bed.files->heal();
  bed.pass();
  bed.expect_reverted();
  EXPECT_FALSE(has_work(bed.record, {"the next boot", 1}));
}

// So is a setting whose refusal holds the others of RoCE's class: they do not wait for a job.
TEST_P(LeftToTheOther, ARefusalThatHoldsItsClassDelaysTheEndTenMinutesOnly) {
  unsigned held = 0;
  for (const char* op : {"setets", "setpfc", "setapp", "delapp", "settrust", "setpause"}) {
    SCOPED_TRACE(op);
    Applied bed(GetParam());
    bed.nic.faults[op] = {test::Fault::refuse, EINVAL, -1};
    std::vector<Port> ports{bed.port};
    for (const uint64_t milliseconds : {2'000, 600'999, 601'000}) {
      const Changes changes = test::revert(bed.kernel, ports, bed.record, {"a boot", milliseconds}, test::kIdle);
      if (contains(changes, WaitsFor::other_setting, &Change::wait)) ++held;
      bed.nic.link_up();
    }
    EXPECT_FALSE(is_pending(bed.record)) << left_text(bed.record);
    bed.nic.faults.clear();
    for (int times = 0; times < 3 && !bed.record.is_restored(); ++times) bed.pass();
    bed.expect_reverted();
  }
  EXPECT_GT(held, 0U);
}

// fabric-agent-pci.service at boot: it has CAP_SYS_ADMIN, and leaves agentd's settings to agentd.
TEST_P(LeftToTheOther, TheServiceWithCapSysAdminRestoresOnlyWhatNeedsIt) {
  Applied bed(GetParam());
  std::vector<Port> ports{bed.port};
  const unsigned writes = bed.nic.writes();
  test::revert(bed.kernel, ports, bed.record, {"the next boot", 700'000}, test::kIdle, Share::sys_admin);
  EXPECT_EQ(bed.nic.writes(), writes);
  EXPECT_EQ(bed.tree.content("proc/sys/kernel/numa_balancing").substr(0, 1), "1");
  EXPECT_EQ(bed.tree.content("proc/sys/net/ipv4/tcp_ecn").substr(0, 1), "1");
  EXPECT_TRUE(is_pending(bed.record)) << "it gives nothing up";
  bed.files->fault({.code = EACCES, .glob = "*numa*"});
  bed.pass();
  bed.expect_reverted();
}

TEST(RetryPause, GrowsWhileSettingsAreRefused) {
  RetryPause pause;
  const Change refused{.outcome = Outcome::refused, .code = EINVAL}, busy{.outcome = Outcome::pending},
      gone{.outcome = Outcome::refused, .code = ENODEV}, back{.outcome = Outcome::applied};
  EXPECT_EQ(pause.after({busy, gone, back}).count(), 1);
  std::vector<int64_t> pauses;
  for (int times = 0; times < 8; ++times) pauses.push_back(pause.after({refused, back}).count());
  EXPECT_EQ(pauses, (std::vector<int64_t>{2, 4, 8, 16, 32, 60, 60, 60}));
  EXPECT_EQ(pause.after({busy}).count(), 1);
  EXPECT_EQ(pause.after({gone, back}).count(), 2) << "a card that has been gone for long";
  EXPECT_EQ(pause.after({gone}).count(), 4);
  // Each try may restart a link, and nobody waits for its end.
  constexpr std::chrono::hours kHour{1};
  for (int times = 0; times < 12; ++times) pause.after({refused, back}, kHour);
  EXPECT_EQ(pause.after({refused, back}, kHour), kHour);
  EXPECT_EQ(pause.after({refused, busy}, kHour), std::chrono::minutes(1)) << "the port may be idle soon";
  EXPECT_EQ(pause.after({gone}, kHour), std::chrono::minutes(1)) << "the card may return";
  EXPECT_EQ(pause.after({refused, {.outcome = Outcome::pending, .wait = WaitsFor::other_setting}}, kHour), kHour)
      << "it waits for the refused one";
  Change unprotected = refused;
  unprotected.is_unprotected = true;
  unprotected.setting = SettingId::pause;
  EXPECT_EQ(pause.after({refused, unprotected}, kHour), std::chrono::minutes(1)) << "a job has no global pause";
  unprotected.setting = SettingId::pfc;
  EXPECT_EQ(pause.after({refused, unprotected}, kHour), std::chrono::minutes(10)) << "each try may restart the link";
}

// The guard's act leaves a file: the tree shows the effects of a separate process.
class Guard : public testing::Test {
 protected:
  void SetUp() override { tree_.file("proc/sys/kernel/random/boot_id", "this boot\n"); }
  Record put_record(std::chrono::seconds patience) {
    Record record = record_of(this_moment(tree_.root()), patience);
    EXPECT_TRUE(save(tree_.path(), record).ok());
    return record;
  }
  bool start(const Record& record) {
    const std::string mark = tree_.path() + "/acted";
    return start_guard(tree_.path(), record.id, nullptr,
                       [mark, directory = tree_.path(), record] {
                         std::ofstream(mark) << ::getpid() << " " << ::getsid(0);
                         Record lapsed = record;
                         lapsed.reverted = "now";
                         (void)save(directory, lapsed);
                         return std::chrono::seconds(1);
                       })
        .ok();
  }
  bool acted() const { return tree_.root().exists("acted"); }
  Tree tree_;
};

TEST_F(Guard, OutlivesTheKilledShell) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t shell = ::fork();
  if (shell == 0) {
    const bool stands = start(put_record(std::chrono::seconds(1)));
    (void)!::write(ready[1], stands ? "y" : "n", 1);
    ::pause();
    ::_exit(0);
  }
  char stands = 0;
  ASSERT_EQ(::read(ready[0], &stands, 1), 1);
  ASSERT_EQ(stands, 'y');
  ::kill(shell, SIGKILL);
  ASSERT_EQ(::waitpid(shell, nullptr, 0), shell);
  EXPECT_TRUE(becomes([&] { return acted(); }));
  pid_t guard = 0, session = 0;
  EXPECT_TRUE(becomes([&] { return static_cast<bool>(std::ifstream(tree_.path() + "/acted") >> guard >> session); }));
  EXPECT_NE(session, ::getsid(0)) << "a hang-up of the terminal does not reach it";
  EXPECT_TRUE(becomes([&] { return has_ended(guard); })) << "done, it ends";
}

// `--config /tmp/new.toml apply --confirm`, and then the file is gone, or half edited.
TEST_F(Guard, NeedsTheConfigurationThatWasAppliedNoMore) {
  tree_.file("proc/sys/net/ipv4/tcp_ecn", "1\n");
  ctl::Options options;
  options.root = tree_.path();
  options.config = tree_.path() + "/gone.toml";
  options.confirm = std::chrono::seconds(1);
  ctl::Output output;
  ctl::Output ignored;
  auto trial = ctl::Trial::begin(options, Policy{}, ignored);
  ASSERT_TRUE(trial.ok()) << trial.error().text();
  ASSERT_TRUE(trial->remember("net.ipv4.tcp_ecn", "2").ok());
  ASSERT_TRUE(trial->await(output).ok());
  EXPECT_TRUE(becomes([this] { return tree_.content("proc/sys/net/ipv4/tcp_ecn") == "2"; }));
}

// The time starts again when all is written: the guard that has waited for the lock of the apply until then still acts.
TEST_F(Guard, RestoresAfterAnApplyThatTookLongerThanItsTime) {
  tree_.file("proc/sys/net/ipv4/tcp_ecn", "1\n");
  ctl::Options options;
  options.root = tree_.path();
  options.confirm = std::chrono::seconds(1);
  ctl::Output output;
  auto lock = state::take_lock(tree_.path());
  ASSERT_TRUE(lock.ok());
  ctl::Output ignored;
  auto trial = ctl::Trial::begin(options, Policy{}, ignored);
  ASSERT_TRUE(trial.ok()) << trial.error().text();
  std::this_thread::sleep_for(std::chrono::milliseconds(2'500));
  ASSERT_TRUE(trial->remember("net.ipv4.tcp_ecn", "2").ok());
  ASSERT_TRUE(trial->await(output).ok());
  lock->reset();
  EXPECT_TRUE(becomes([this] { return tree_.content("proc/sys/net/ipv4/tcp_ecn") == "2"; }));
}

// A card whose serial number is in its VPD, as in real ones.
struct Card : Guard {
  void SetUp() override {
    Guard::SetUp();
    const std::string function = add_pci(tree_, {.parent = "pci0000:20/0000:20:01.0", .pci = "0000:24:00.0"}),
                      device = function + "/infiniband/mlx5_0";
    tree_.folder("sys/bus/pci/drivers/mlx5_core").link(function + "/driver", "../../../../bus/pci/drivers/mlx5_core");
    tree_.link("sys/class/infiniband/mlx5_0", "../../../" + device).link(device + "/device", "../..");
    tree_.file(device + "/ports/1/link_layer", "Ethernet\n").file(device + "/ports/1/gid_attrs/ndevs/0", "eth0\n");
    tree_.file(function + "/vpd", std::string_view("\x90\x0b\0SN\x08MT2244X1\x78", 15));
    tree_.file("etc/fabric-agent/fabric-agent.toml", "mode = \"audit\"\n[[port]]\nmtu = 4200\n");
    options_.root = options_.host = tree_.path();
    options_.disruptive = Disruptive::now;
    options_.open = [this](const std::string&) -> Result<Kernel> { return nics_.kernel(tree_.path()); };
  }
  Port port() {
    auto world = ctl::open_machine(options_);
    EXPECT_TRUE(world.ok());
    const Node node = ctl::scan_for_writing(*world);
    EXPECT_EQ(node.ports.size(), 1u);
    return node.ports.at(0);
  }
  // The record is from before the reboot, which ended its guard process.
  void leave_overdue(uint32_t mtu, const BootMoment& begun = {"an earlier boot", 0}) {
    Record record = record_of(begun, std::chrono::seconds(0));
    remember(record, port(), {.mtu = mtu}, keys_of({.mtu = mtu}));
    ASSERT_TRUE(save(tree_.path(), record).ok());
  }

  test::SimKernel nics_;
  SimNic& nic_ = nics_.add_nic("eth0", Personality::mlx5);
  ctl::Options options_;
  ctl::Output output_;
};

// The plan reads the policy's settings alone. Other values that the scan has read stay: rules judge them
// (pfc-watchdog).
TEST_F(Card, SettingsThatThePolicyLacksAreShown) {
  nic_.ethtool.ring_rx = {512, 8192};
  options_.verb = "show";
  options_.json = true;
  ASSERT_EQ(ctl::find_verb("show")->run(options_, output_), ctl::kDone) << output_.errors;
  const Json settings = Json::parse(output_.text).at("ports").at(0).at("settings");
  EXPECT_EQ(settings.at("mtu").at("wanted"), 4200);
  EXPECT_EQ(settings.at("ring_rx").at("read"), 512) << output_.text;
}

TEST_F(Card, IsFoundByItsSerialNumber) {
  options_.confirm = std::chrono::seconds(1);
  const Port card = port();
  ASSERT_EQ(card.card, "serial:MT2244X1/0.1");
  auto trial = ctl::Trial::begin(options_, Policy{}, output_);
  ASSERT_TRUE(trial.ok()) << trial.error().text();
  ASSERT_TRUE(trial->remember(card, {.mtu = 1500}, keys_of({.mtu = 1500})).ok());
  ASSERT_TRUE(trial->await(output_).ok());
  EXPECT_TRUE(becomes([this] {
    const auto record = load(tree_.path());
    return record && *record && !is_pending(**record);
  })) << "the guard has put it back";
}

// `--config trial.toml apply --confirm` of a port that the configuration in /etc excludes.
TEST_F(Card, ThatTheConfigurationExcludesIsPutBackToo) {
  options_.confirm = std::chrono::seconds(1);
  const Port card = port();
  auto trial = ctl::Trial::begin(options_, Policy{}, output_);
  ASSERT_TRUE(trial.ok()) << trial.error().text();
  ASSERT_TRUE(trial->remember(card, {.mtu = 1500}, keys_of({.mtu = 1500})).ok());
  tree_.file("etc/fabric-agent/fabric-agent.toml",
             "mode = \"audit\"\n[exporter]\nexclude = [\"mlx5_0\"]\n[[port]]\nmtu = 4200\n");
  ASSERT_TRUE(trial->await(output_).ok());
  EXPECT_TRUE(becomes([this] {
    const auto record = load(tree_.path());
    return record && *record && !is_pending(**record);
  })) << "by the guard";
  nic_.mtu = 9000;
  Record record = record_of({"an earlier boot", 0}, std::chrono::seconds(0));
  remember(record, card, {.mtu = 1500}, keys_of({.mtu = 1500}));
  ASSERT_TRUE(save(tree_.path(), record).ok());
  options_.confirm.reset();
  EXPECT_EQ(ctl::find_verb("apply")->run(options_, output_), ctl::kDone) << output_.text << output_.errors;
  EXPECT_EQ(nic_.mtu, 1500U) << "by the next apply";
}

// plan names no command that would refuse.
TEST_F(Card, WithAFileOfANewerReleaseHasNoApplyInItsPlan) {
  for (const char* file : {state::kOriginalsFile, qos::kSysctlOriginalsFile, state::kSelfTestFile}) {
    SCOPED_TRACE(file);
    tree_.file(file, R"({"format":2,"cards":[]})");
    output_ = {};
    EXPECT_EQ(ctl::find_verb("plan")->run(options_, output_), ctl::kChanges) << output_.errors;
    EXPECT_TRUE(has(output_.text, "written by a newer release")) << output_.text;
    EXPECT_TRUE(has(output_.text, "Next: ")) << output_.text;
    EXPECT_FALSE(has(output_.text, "fabric-agentctl apply")) << output_.text;
    tree_.remove(file);
  }
}

// apply cannot end the overdue one, and refuses.
TEST_F(Card, WhoseApplyCannotBeEndedOnTheDefaultRouteHasNoApplyInItsPlan) {
  tree_.file("proc/sys/net/ipv4/tcp_ecn", "2\n");
  tree_.file("etc/fabric-agent/fabric-agent.toml",
             "mode = \"audit\"\n[[port]]\nmtu = 4200\n[sysctl]\n\"net.ipv4.tcp_ecn\" = \"1\"\n");
  nic_.mtu = 9000;
  nic_.has_default_route = true;
  leave_overdue(1500, this_moment(tree_.root()));
  EXPECT_EQ(ctl::find_verb("plan")->run(options_, output_), ctl::kChanges) << output_.errors;
  EXPECT_TRUE(has(output_.text, "an apply was not confirmed by")) << output_.text;
  EXPECT_FALSE(has(output_.text, "fabric-agentctl apply")) << output_.text;
  output_ = {};
  EXPECT_EQ(ctl::find_verb("apply")->run(options_, output_), ctl::kFailure) << output_.text;
  EXPECT_EQ(nic_.mtu, 9000U);
  Record named = **load(tree_.path());
  allow_front_end(named, port());
  ASSERT_TRUE(save(tree_.path(), named).ok());
  output_ = {};
  EXPECT_EQ(ctl::find_verb("plan")->run(options_, output_), ctl::kChanges) << output_.errors;
  EXPECT_TRUE(has(output_.text, "fabric-agentctl apply")) << output_.text;
}

TEST_F(Card, WhoseApplyIsOverdueIsPutBackByTheNextRestore) {
  nic_.mtu = 9000;
  leave_overdue(1500);
  EXPECT_EQ(ctl::find_verb("restore")->run(options_, output_), ctl::kDone) << output_.text << output_.errors;
  EXPECT_EQ(nic_.mtu, 1500u);
  EXPECT_TRUE(has(output_.errors, "its previous settings were restored"));
  EXPECT_TRUE(has(output_.text, "mtu")) << output_.text;
}

TEST_F(Card, WhoseApplyIsOverdueIsNoObstacleToTheNextOne) {
  nic_.mtu = 9000;
  leave_overdue(1500);
  EXPECT_EQ(ctl::find_verb("apply")->run(options_, output_), ctl::kDone) << output_.text << output_.errors;
  EXPECT_EQ(nic_.mtu, 4200u);
  EXPECT_FALSE(load(tree_.path())->has_value());
}

// Another process has given up on it: the record has what it could not restore.
TEST_F(Card, WhoseApplyWasRevertedInPartIsRestoredByTheNextOne) {
  nic_.mtu = 9000;
  Record record = record_of(this_moment(tree_.root()), std::chrono::seconds(0));
  record.reverted = "2026-01-01T00:00:00Z";
  remember(record, port(), {.mtu = 1500}, keys_of({.mtu = 1500}));
  ASSERT_TRUE(save(tree_.path(), record).ok());
  EXPECT_EQ(ctl::find_verb("restore")->run(options_, output_), ctl::kDone) << output_.text << output_.errors;
  EXPECT_EQ(nic_.mtu, 1500u);
  EXPECT_TRUE(has(output_.errors, "its previous settings were restored")) << output_.errors;
}

TEST_F(Card, WhoseApplyCannotBeRevertedIsNotForgottenWithoutAWord) {
  nic_.mtu = 9000;
  nic_.faults["setmtu"] = {test::Fault::refuse, EBUSY, -1};
  for (const bool reverted : {false, true}) {
    SCOPED_TRACE(reverted);
    leave_overdue(1500, this_moment(tree_.root()));
    if (reverted) {
      Record record = **load(tree_.path());
      record.reverted = "2026-01-01T00:00:00Z";
      ASSERT_TRUE(save(tree_.path(), record).ok());
    }
    output_ = {};
    EXPECT_EQ(ctl::find_verb("apply")->run(options_, output_), reverted ? ctl::kChanges : ctl::kFailure)
        << output_.text << output_.errors;
    EXPECT_FALSE(has(output_.errors, "restored.")) << output_.errors;
    EXPECT_FALSE(has(output_.errors, "were restored")) << output_.errors;
    const std::string left = state::port_key(port()) + " mtu";
    EXPECT_TRUE(has(output_.errors, left)) << output_.errors;
    EXPECT_EQ(load(tree_.path())->has_value(), !reverted) << "it is tried for ten minutes";
    if (!reverted) continue;
    EXPECT_TRUE(has(output_.errors, "not restored: " + left)) << output_.errors;
    EXPECT_TRUE(has(output_.errors, "not restored any more: " + left)) << output_.errors;
  }
}

TEST_F(Card, WithARecordOfANewerReleaseIsNotWritten) {
  const std::string newer = R"({"format":2,"trials":[]})";
  for (const std::vector<std::string>& verb : std::vector<std::vector<std::string>>{
           {"apply"}, {"apply", "60"}, {"restore"}, {"confirm"}, {"selftest", "eth0"}}) {
    SCOPED_TRACE(verb[0]);
    nic_.mtu = 9000;
    tree_.file(kFile, newer);
    state::Originals originals;
    originals[state::port_key(port())].mtu = 1500;
    ASSERT_TRUE(state::save_originals(tree_.path(), originals).ok());
    ctl::Options options = options_;
    if (verb[0] == "selftest") options.arguments = {verb[1]};
    else if (verb.size() == 2) options.confirm = std::chrono::seconds(60);
    options.yes = true;
    const auto calls = nic_.calls["setmtu"];
    ctl::Output output;
    EXPECT_EQ(ctl::find_verb(verb[0])->run(options, output), ctl::kFailure) << output.text;
    EXPECT_TRUE(has(output.errors, "confirm.json: written by a newer release")) << output.errors;
    EXPECT_TRUE(has(output.errors, "Install that release again, or move the file away")) << output.errors;
    EXPECT_EQ(nic_.calls["setmtu"], calls);
    EXPECT_EQ(nic_.mtu, 9000u);
    EXPECT_EQ(tree_.content(kFile), newer);
  }
}

// A self-test that is killed has the settings of the apply in its record. Its end would bring them back after the
// revert.
TEST_F(Card, WhoseApplyAwaitsConfirmationIsNotTested) {
  Record record = record_of(this_moment(tree_.root()), std::chrono::seconds(600));
  remember(record, port(), {.mtu = 1500}, keys_of({.mtu = 1500}));
  ASSERT_TRUE(save(tree_.path(), record).ok());
  options_.arguments = {"eth0"};
  options_.yes = true;
  EXPECT_EQ(ctl::find_verb("selftest")->run(options_, output_), ctl::kFailure) << output_.text;
  EXPECT_TRUE(has(output_.errors, "an apply awaits confirmation until")) << output_.errors;
  EXPECT_EQ(nic_.calls["setmtu"], 0U);
}

// No verb writes beside the originals of a newer release, or beside its record of a self-test.
TEST_F(Card, WithOriginalsOfANewerReleaseIsNotWritten) {
  const std::string newer = R"({"format":2,"cards":[]})";
  for (const char* file : {state::kOriginalsFile, qos::kSysctlOriginalsFile, state::kSelfTestFile})
    for (const char* verb : {"apply", "restore", "selftest"}) {
      SCOPED_TRACE(std::string(file) + " " + verb);
      nic_.mtu = 9000;
      state::Originals originals;
      originals[state::port_key(port())].mtu = 1500;
      ASSERT_TRUE(state::save_originals(tree_.path(), originals).ok());
      tree_.file(file, newer);
      ctl::Options options = options_;
      if (verb == std::string("selftest")) options.arguments = {"eth0"};
      options.yes = true;
      const auto calls = nic_.calls["setmtu"];
      ctl::Output output;
      EXPECT_EQ(ctl::find_verb(verb)->run(options, output), ctl::kFailure) << output.text;
      EXPECT_TRUE(has(output.errors, std::string(file) + ": written by a newer release")) << output.errors;
      EXPECT_TRUE(has(output.errors, "Install that release again; or")) << output.errors;
      EXPECT_EQ(nic_.calls["setmtu"], calls);
      EXPECT_EQ(tree_.content(file), newer);
      tree_.remove(file);
    }
}

TEST_F(Card, ThatIsGoneIsSaid) {
  leave_overdue(1500, this_moment(tree_.root()));
  tree_.remove("sys/class/infiniband/mlx5_0");
  EXPECT_EQ(ctl::find_verb("apply")->run(options_, output_), ctl::kFailure);
  EXPECT_TRUE(has(output_.errors, "when the ports are idle and present")) << output_.errors;
  EXPECT_FALSE(has(output_.errors, "were restored")) << output_.errors;
}

// The configuration as shipped also matches the NIC that the machine is reached by.
TEST_F(Card, WithTheDefaultRouteIsNamedInThePlan) {
  EXPECT_EQ(ctl::find_verb("plan")->run(options_, output_), ctl::kChanges) << output_.errors;
  EXPECT_FALSE(has(output_.text, "default route")) << output_.text;
  nic_.has_default_route = true;
  EXPECT_EQ(ctl::find_verb("plan")->run(options_, output_), ctl::kChanges);
  EXPECT_TRUE(has(output_.text, "The default route leaves by eth0: disruptive writes are not made")) << output_.text;
  EXPECT_TRUE(has(output_.text, "name = \"management\"\\nmatch = { netdev = [\"eth0\"] }")) << output_.text;
}

// An unprivileged user writes nothing, so no lock is needed.
TEST_F(Card, TriesARestoreWithoutTheLock) {
  nic_.mtu = 9000;
  state::Originals originals;
  originals[state::port_key(port())].mtu = 1500;
  ASSERT_TRUE(state::save_originals(tree_.path(), originals).ok());
  const auto held = state::take_lock(tree_.path());
  ASSERT_TRUE(held.ok());
  options_.dry_run = true;
  EXPECT_EQ(ctl::find_verb("restore")->run(options_, output_), ctl::kChanges) << output_.errors;
  EXPECT_TRUE(has(output_.text, "mtu")) << output_.text;
}

// Two processes race for the settings of one record: one as agentd, without the privilege for kernel.numa_balancing,
// and the guard. Either is killed now and then. Nothing is forgotten.
class Race : public Guard {
 protected:
  static constexpr const char* kNuma = "proc/sys/kernel/numa_balancing";
  static constexpr const char* kEcn = "proc/sys/net/ipv4/tcp_ecn";
  enum class First { agent, guard, either };

  static bool lapse_once(const std::string& directory) {
    const auto lock = state::take_lock(directory, std::chrono::seconds(5));
    auto record = load(directory);
    const auto root = Root::open(directory);
    if (!lock || !record || !*record || !root || !has_work(**record, this_moment(*root))) return false;
    test::SimKernel none;
    Kernel kernel = none.kernel(directory);
    std::vector<Port> ports;
    test::FreeTurns turns(kernel);
    return lapse(directory, kernel, ports, **record, {.in_use = test::kIdle, .turns = turns, .sleep = {}}).ok();
  }
  pid_t start_agent(First first) {
    const pid_t agent = ::fork();
    if (agent != 0) return agent;
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[2]{};
    if (::syscall(SYS_capset, &header, none) != 0) ::_exit(1);
    for (;; ::usleep(2'000)) {
      if (first == First::guard && !acted()) continue;
      if (lapse_once(tree_.path())) std::ofstream(tree_.path() + "/agent") << "acted";
    }
  }
};

TEST_F(Race, IsWonByNobodyInPart) {
  if (::geteuid() != 0) GTEST_SKIP() << "requires root, to give up a privilege";
  for (const First first : {First::agent, First::guard, First::either})
    for (const bool killed : {false, true}) {
      tree_.remove("acted").remove("agent").remove(kNuma);
      tree_.file(kNuma, "0\n").file(kEcn, "1\n");
      ASSERT_EQ(::chmod((tree_.path() + "/" + kNuma).c_str(), 0444), 0);
      Record record = record_of(this_moment(tree_.root()), std::chrono::seconds(0));
      record.sysctl = {{"kernel.numa_balancing", "1"}, {"net.ipv4.tcp_ecn", "2"}};
      ASSERT_TRUE(save(tree_.path(), record).ok());
      pid_t agent = start_agent(first);
      ASSERT_TRUE(start_guard(tree_.path(), record.id, nullptr, [directory = tree_.path(), first] {
                    const bool waits = first == First::agent && !std::filesystem::exists(directory + "/agent");
                    if (!waits && lapse_once(directory)) std::ofstream(directory + "/acted") << "guard";
                    return std::chrono::seconds(0);
                  }).ok());
      for (int times = 0; killed && times < 20; ++times) {
        ::usleep(static_cast<useconds_t>(500 + times * 700));
        ::kill(agent, SIGKILL);
        ::waitpid(agent, nullptr, 0);
        agent = start_agent(first);
      }
      EXPECT_TRUE(becomes([&] {
        const auto now = load(tree_.path());
        return now && *now && !is_pending(**now);
      }));
      ::kill(agent, SIGKILL);
      ::waitpid(agent, nullptr, 0);
      EXPECT_EQ(tree_.content(kNuma).substr(0, 1), "1");
      EXPECT_EQ(tree_.content(kEcn).substr(0, 1), "2");
      EXPECT_TRUE((*load(tree_.path()))->is_restored());
    }
}

TEST_F(Guard, LeavesNothingOpenWhenItCannotBeStarted) {
  if (::geteuid() != 0) GTEST_SKIP() << "requires root, to become a user with a limit";
  const Record record = put_record(std::chrono::seconds(3'600));
  const pid_t starter = ::fork();
  if (starter == 0) {
    const auto count = [] { return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}); };
    const rlimit no_process{0, 0};
    if (::setrlimit(RLIMIT_NPROC, &no_process) != 0 || ::setuid(65'534) != 0 || ::prctl(PR_SET_DUMPABLE, 1) != 0)
      ::_exit(2);
    const auto before = count();
    const auto started = start_guard(tree_.path(), record.id, nullptr, kNothing);
    if (started) ::_exit(3);
    ::_exit(count() == before ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(starter, &status, 0), starter);
  EXPECT_EQ(status, 0) << "exit status 1: descriptors are left open; 2, 3: the limit had no effect";
}

TEST_F(Guard, EndsWithoutActingWhenConfirmed) {
  const Record record = put_record(std::chrono::seconds(3'600));
  const std::string pid_file = tree_.path() + "/guard";
  ASSERT_TRUE(start_guard(
                  tree_.path(), record.id, [&] { std::ofstream(pid_file) << ::getpid(); }, kNothing)
                  .ok());
  pid_t guard = 0;
  ASSERT_TRUE(std::ifstream(pid_file) >> guard) << "detached before start_guard() returns";
  ASSERT_EQ(::kill(guard, 0), 0);
  ASSERT_TRUE(remove(tree_.path()).ok());
  EXPECT_TRUE(becomes([&] { return has_ended(guard); }));
  EXPECT_FALSE(acted());
}

TEST_F(Guard, EndsWhenItsTreeIsDeleted) {
  const Tree beside;
  const std::string pid_file = beside.path() + "/guard";
  const Record record = put_record(std::chrono::seconds(3'600));
  ASSERT_TRUE(start_guard(
                  tree_.path(), record.id, [&] { std::ofstream(pid_file) << ::getpid(); }, kNothing)
                  .ok());
  pid_t guard = 0;
  ASSERT_TRUE(std::ifstream(pid_file) >> guard);
  std::filesystem::remove_all(tree_.path());
  EXPECT_TRUE(becomes([&] { return has_ended(guard); }));
}

TEST_F(Guard, HoldsNoLockOfItsStarter) {
  auto lock = state::take_lock(tree_.path());
  ASSERT_TRUE(lock.ok());
  ASSERT_TRUE(start(put_record(std::chrono::seconds(3'600))));
  lock->reset();
  EXPECT_TRUE(state::take_lock(tree_.path()).ok());
  ASSERT_TRUE(remove(tree_.path()).ok());  // ends the guard
}

TEST_F(Guard, IsOnlyForItsOwnApply) {
  Record record = put_record(std::chrono::seconds(0));
  Record other = record;
  other.id = "another";
  ASSERT_TRUE(save(tree_.path(), other).ok());
  ASSERT_TRUE(start(record));
  Record own = record;
  own.id = "a third";  // overdue, too
  ASSERT_TRUE(save(tree_.path(), own).ok());
  ASSERT_TRUE(start(own));
  EXPECT_TRUE(becomes([&] { return acted(); }));
  EXPECT_EQ((*load(tree_.path()))->id, "a third");
}

}  // namespace
}  // namespace fabric::confirm
