// SPDX-License-Identifier: Apache-2.0
// Resources that others can make a program spend. Readers of lists, ranges and products with small inputs that expand:
// none continues without end, none takes memory by the gigabyte; a loop without end shows as a test that does not end.
// Others decide how often something happens, but not how many lines the journal gets.
#include <malloc.h>

#include <atomic>
#include <new>

#include "agentd/messages.h"
#include "base/log_limit.h"
#include "base/parse.h"
#include "enforce/confirm.h"
#include "judge/health_state.h"
#include "kernel/capture/tape.h"
#include "node/machine.h"
#include "node/neighbor_state.h"
#include "node/optics_state.h"
#include "node/pci_state.h"
#include "node/state.h"
#include "node/systemd.h"
#include "node/vnic_state.h"
#include "policy/cabling.h"
#include "policy/config.h"
#include "support/test.h"
#include "wire/lldp.h"

namespace {

std::atomic<size_t> live{0}, peak{0};

void* counted(size_t size) {
  void* memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  const size_t now = live += ::malloc_usable_size(memory);
  for (size_t most = peak; now > most && !peak.compare_exchange_weak(most, now);) continue;
  return memory;
}

void uncounted(void* memory) {
  if (memory != nullptr) live -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return counted(size); }
void* operator new[](size_t size) { return counted(size); }
void operator delete(void* memory) noexcept { uncounted(memory); }
void operator delete[](void* memory) noexcept { uncounted(memory); }
void operator delete(void* memory, size_t) noexcept { uncounted(memory); }
void operator delete[](void* memory, size_t) noexcept { uncounted(memory); }

namespace fabric {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using Lines = std::vector<std::string>;

// -- Memory and time

constexpr size_t kInput = size_t{16} << 10;
constexpr size_t kMostMemory = size_t{32} << 20;

// `part` again and again, up to 16 KiB.
std::string many(const std::string& part, const std::string& before = {}, const std::string& after = {}) {
  std::string out = before;
  while (out.size() + part.size() + after.size() < kInput) out += part;
  return out + after;
}

struct Reader {
  const char* name;
  std::function<void(const std::string&)> read;
  std::vector<std::string> inputs;
};

std::vector<Reader> lists() {
  return {
      {"CPU list",
       [](const std::string& text) { (void)machine::parse_cpus(text); },
       {"4294967295", "0-4294967295", "4294967294-4294967295", "1-4294967295,0", "18446744073709551615", "5-1", "-",
        "0-", many("0-65535,"), many("0-4294967295,"), many("4294967295,"), many(",")}},
      {"limit of a unit",
       [](const std::string& text) {
         (void)unit_file::parse_memory_limit(text);
         (void)unit_file::parse_count_limit(text);
         (void)unit_file::parse(text);
       },
       {"18446744073709551615", "99999999999999999999E", many("9"), many("1K "), many("a=\\\n"), many("[a]\n")}},
      {"cabling plan",
       [](const std::string& text) { (void)parse_cabling(text, "x", "a"); },
       {many("a,", "Device A;Termination A;Device B;Termination B\n", ";") + many("b,") + ";" + many("a,") + ";" +
            many("c,") + "\n",
        "Device A;Termination A;Device B;Termination B\n" + many("a,a,a,a,a,a,a,a;1,2,3,4,5,6,7,8;b;1,2,3,4,5,6,7,8\n"),
        many(",", "Device A"), many("[", "", ""),
        many("{\"a_terminations\":[{}],\"b_terminations\":[{}]},", "[", "{}]"),
        many("{\"name\":\"1\",\"device\":{\"name\":\"a\"}},", "[{\"a_terminations\":[", "{}],\"b_terminations\":[") +
            many("{\"name\":\"1\",\"device\":{\"name\":\"a\"}},") + "{}]}]"}}};
}

std::vector<Reader> files() {
  const std::string mode = "mode = \"audit\"\n";
  const auto entry = [&](const std::string& key, const std::string& part) {
    return many(part, mode + "[[port]]\n" + key + " = [", "]\n");
  };
  std::vector<std::string> ours;
  for (const std::string& members :
       {many("[", "\"a\":"), many("{\"a\":", "\"a\":"), many("\"a\":1,", "\"a\":{", "\"b\":1}"),
        many("{},", "\"modules\":{\"eth0\":{\"lanes\":[", "{}]}}"), many("{},", "\"neighbors\":[", "{}]"),
        many("{},", "\"acks\":[", "{}]"), many("1,", "\"ports\":{\"a\":{\"settings\":{\"pfc\":[", "1]}}}")})
    ours.push_back("{\"format\":1,\"read\":1,\"interval\":1,\"updated\":1," + members + "}");
  return {
      {"configuration",
       [](const std::string& text) { (void)parse_config(text, "x"); },
       {many("[", "a = "), many("{a=", "a = "), many("a.", "", "a = 1"), many("[[a]]\n"), entry("pfc", "3,"),
        entry("pfc", "4294967295,"), entry("buffer_size", "4294967295,"), entry("maxrate", "1,"),
        entry("optional_counters", "\"a\","), entry("fec", "\"rs\","), many("[[port]]\n", mode),
        many("[[port]]\nmatch = { netdev = [\"*\"] }\n", mode), many("0 = 1,", mode + "[[port]]\ndscp_map = {", "}\n"),
        mode + "reread = \"18446744073709551615h\"\n", mode + "[[port]]\nmtu = 9223372036854775807\n"}},
      {"file of ours",
       [](const std::string& text) {
         (void)state::parse_originals(text, "x");
         (void)state::parse_agent_state(text, "x");
         (void)state::parse_optics(text, "x", {});
         (void)state::parse_vnic(text, "x", {});
         (void)state::parse_neighbors(text, "x", 1);
         (void)state::parse_pci_state(text, "x");
         (void)parse_health(text, "x");
         (void)parse_acks(text, "x");
         (void)confirm::parse(text, "x");
       },
       std::move(ours)}};
}

std::vector<Reader> streams() {
  const std::string header(
      "\x01\x80\xc2\x00\x00\x0e\x00\x00\x00\x00\x00\x01\x88\xcc\x02\x02\x07"
      "a\x04\x02\x05"
      "b\x06\x02\x00\x78",
      26);
  return {{"capture's answers",
           [](const std::string& text) { (void)parse_answers(text, "x"); },
           {many("= x\n", "fabric-agent capture 1\nread now a\n", "end\n"),
            many("read now a\n", "fabric-agent capture 1\n", "end\n")}},
          {"LLDP frame",
           [](const std::string& text) { (void)lldp::parse_frame(std::as_bytes(std::span(text))); },
           {many(std::string("\x10\x00", 2), header),
            many("\x10\x0c\x05\x01\x01\x01\x01\x01\x02\x03\x04\x05\x06\x07", header),
            many(std::string("\xfe\x04\x00\x80\xc2\x0c", 6), header)}}};
}

TEST(HostileLists, CostNoMoreThanTheySay) {
  size_t inputs = 0, most = 0;
  for (const auto& group : {lists(), files(), streams()})
    for (const Reader& reader : group)
      for (const std::string& input : reader.inputs) {
        const size_t before = live;
        peak = before;
        reader.read(input);
        const size_t used = peak - before;
        EXPECT_LT(used, kMostMemory) << reader.name << ": " << input.substr(0, 60) << " (" << input.size() << " bytes)";
        most = std::max(most, used);
        ++inputs;
      }
  std::printf("hostile lists: %zu inputs, at most %zu KiB of memory\n", inputs, most >> 10U);
}

TEST(HostileLists, AProductIsRefusedBeforeItIsMade) {
  const std::string sides = many("a,") + ";" + many("1,") + ";b;" + many("1,") + "\n";
  const auto plan = parse_cabling("Device A;Termination A;Device B;Termination B\n" + sides, "plan.csv", "a");
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.error().text().find("ends on one side"), std::string::npos) << plan.error().text();
}

// char is signed on x86 and unsigned on arm64; names sort as bytes on both.
TEST(HostileNames, SortTheSameOnEveryProcessor) {
  EXPECT_TRUE(natural_less("eth2", "eth10"));
  EXPECT_TRUE(natural_less("eth\x7f", "eth\xc3"));
  EXPECT_FALSE(natural_less("eth\xc3", "eth\x7f"));
}

TEST(HostileLists, CpusEndAtTheLastOneThereCanBe) {
  EXPECT_FALSE(machine::parse_cpus("0-4294967295"));
  EXPECT_FALSE(machine::parse_cpus("4294967295"));
  EXPECT_FALSE(machine::parse_cpus("65536"));
  EXPECT_EQ(machine::parse_cpus("65534-65535"), (std::vector<unsigned>{65534, 65535}));
}

// -- Lines of the journal

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

// -- Agentd's journal

struct Journal {
  std::vector<agentd::JournalEntry> entries;
  agentd::JournalLimit limit{[this](const agentd::JournalEntry& entry) { entries.push_back(entry); }};
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

// In audit mode nothing stops a process that writes a setting ten times a second.
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
  for (const agentd::JournalEntry& entry : journal.entries)
    told += test::has(entry.message, " more in the last minute)");
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
