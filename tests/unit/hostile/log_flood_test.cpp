// SPDX-License-Identifier: Apache-2.0
// Others decide how often something happens, but not how many lines the journal gets.
#include "agentd/messages.h"
#include "base/log_limit.h"
#include "support/test.h"

namespace fabric {
namespace {

using namespace std::chrono_literals;
using Lines = std::vector<std::string>;
using Clock = std::chrono::steady_clock;

constexpr Clock::time_point kStart{std::chrono::hours(100)};

struct Limited {
  Lines lines;
  LogLimit<std::string> limit{
      [this](const std::string& line, uint64_t more) { lines.push_back(with_more(line, more)); }};
};

TEST(LogFlood, OneLineAMinuteWithTheNumberOfTheOthers) {
  Limited log;
  for (int i = 0; i < 50'000; ++i) log.limit.log("eth2", "eth2: " + std::to_string(i % 2), kStart + i * 20us);
  EXPECT_EQ(log.lines, Lines{"eth2: 0"});
  log.limit.flush(kStart + 59s);
  EXPECT_EQ(log.lines.size(), 1u);
  log.limit.flush(kStart + 60s);
  EXPECT_EQ(log.lines.back(), "eth2: 1 (and 49998 more in the last minute)");
  log.limit.flush(kStart + 300s);
  EXPECT_EQ(log.lines.size(), 2u) << "the flood is over";
  log.limit.log("eth2", "again", kStart + 301s);
  EXPECT_EQ(log.lines.back(), "again");
}

TEST(LogFlood, AFloodWithoutEndHasALineAMinute) {
  Limited log;
  for (int i = 0; i < 3600; ++i) log.limit.log("eth2", "malformed", kStart + i * 1s);
  EXPECT_EQ(log.lines.size(), 60u);
  EXPECT_EQ(log.lines.back(), "malformed (and 59 more in the last minute)");
}

TEST(LogFlood, OthersAreNotSilenced) {
  Limited log;
  for (int i = 0; i < 1000; ++i) log.limit.log("eth2", "flood", kStart);
  log.limit.log("eth3", "once", kStart);
  EXPECT_EQ(log.lines, (Lines{"flood", "once"}));
}

TEST(LogFlood, ManySubjectsAreNoWayRound) {
  Limited log;
  for (int minute = 0; minute < 3; ++minute)
    for (int i = 0; i < 5'000; ++i)
      log.limit.log(std::to_string(minute) + "/" + std::to_string(i), "new", kStart + minute * 60s);
  EXPECT_LE(log.lines.size(), 3 * (LogLimit<std::string>::kMaxSubjects + 2));
}

TEST(LogFlood, TheFirstFewOfASubjectAreWhole) {
  Limited log;
  for (int i = 0; i < 20; ++i) log.limit.log("a", std::to_string(i), kStart, 10);
  EXPECT_EQ(log.lines.size(), 10u);
  log.limit.flush(kStart + 61s);
  EXPECT_EQ(log.lines.back(), "19 (and 9 more in the last minute)");
}

TEST(LogFlood, ASteadyFlowHasALineAMinute) {
  Limited log;
  for (int i = 0; i < 6 * 60; ++i) log.limit.log("a", "every ten seconds", kStart + i * 10s, 10);
  EXPECT_LE(log.lines.size(), 60 + 10u);
  EXPECT_GE(log.lines.size(), 60u);
  for (int minute = 60; minute < 120; ++minute) log.limit.flush(kStart + minute * 60s);
  const size_t before = log.lines.size();
  for (int i = 0; i < 20; ++i) log.limit.log("a", "after a quiet hour", kStart + 2h, 10);
  EXPECT_EQ(log.lines.size(), before + 10);
}

// ---- agentd's journal

struct Journal {
  std::vector<agentd::Entry> entries;
  agentd::JournalLimit limit{[this](const agentd::Entry& entry) { entries.push_back(entry); }};
};

Change change_of(const std::string& port, const char* from, Outcome outcome) {
  Change change;
  change.port = port;
  change.setting = SettingId::mtu;
  change.from = from;
  change.to = "9000";
  change.outcome = outcome;
  return change;
}

// In audit mode nothing stops whoever writes a setting ten times a second.
TEST(JournalFlood, OfASettingThatIsChangedBackAndForth) {
  Journal journal;
  std::optional<Change> before;
  for (int i = 0; i < 6'000; ++i) {
    const Change now =
        i % 2 == 0 ? change_of("mlx5_0/1", "1500", Outcome::differs) : change_of("mlx5_0/1", "9000", Outcome::in_sync);
    if (const auto entry = agentd::message_for(now, before ? &*before : nullptr, {}, {}))
      journal.limit.log(*entry, kStart + i * 100ms);
    before = now;
  }
  const auto other = agentd::message_for(change_of("mlx5_1/1", "1500", Outcome::differs), nullptr, {}, {});
  journal.limit.log(*other, kStart + 600s);
  EXPECT_LE(journal.entries.size(), 2 * (20 + 10) + 1u) << "ten minutes, two kinds of entries";
  EXPECT_GE(journal.entries.size(), 20u);
  EXPECT_TRUE(test::has(journal.entries.back().message, "mlx5_1/1")) << "another port is heard";
  size_t told = 0;
  for (const agentd::Entry& entry : journal.entries) told += test::has(entry.message, " more in the last minute)");
  EXPECT_GE(told, 10u);
}

TEST(JournalFlood, OfTroubleThatRecurs) {
  Journal journal;
  for (int i = 0; i < 1000; ++i) {
    journal.limit.log({agentd::message_id::trouble, LOG_NOTICE, "kernel notifications were lost"}, kStart);
    journal.limit.log({agentd::message_id::trouble,
                       LOG_WARNING,
                       "eth2: module memory: " + std::to_string(i),
                       {{"FABRIC_NETDEV", "eth2"}}},
                      kStart);
  }
  journal.limit.log({agentd::message_id::trouble, LOG_ERR, "/run/fabric-agent: no space"}, kStart);
  EXPECT_EQ(journal.entries.size(), 1 + 20 + 1u);
}

TEST(JournalFlood, AStartWithManyPortsIsWhole) {
  Journal journal;
  for (int port = 0; port < 32; ++port)
    for (const Outcome outcome : {Outcome::applied, Outcome::pending}) {
      const auto entry =
          agentd::message_for(change_of("mlx5_" + std::to_string(port) + "/1", "1500", outcome), nullptr, {}, {});
      journal.limit.log(*entry, kStart);
    }
  EXPECT_EQ(journal.entries.size(), 64u);
}

}  // namespace
}  // namespace fabric
