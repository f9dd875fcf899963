// SPDX-License-Identifier: Apache-2.0
// RoCE's class of traffic moves as a whole, as in traffic_test.cpp, on cards with more than dcbnl: switches of
// congestion control and marks of RoCE's packets in files (OFED, bnxt_re, rdma_cm), and drivers that know VLAN
// priorities only. After every single change of the NIC and before every change of a file, an oracle judges by the
// NIC's own state and the files.
#include "base/parse.h"
#include "enforce/restore.h"
#include "support/protection.h"
#include "support/sim_files_bnxt.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"

namespace fabric::test {
namespace {

// forced: OFED with a traffic class forced on all queue pairs; the others with DSCPs mark by rdma_cm's default.
enum class Card : uint8_t { ofed, forced, bnxt, ice, full, i40e, qede, mlx4 };
constexpr Card kAllCards[]{Card::ofed, Card::forced, Card::bnxt, Card::ice,
                           Card::full, Card::i40e,   Card::qede, Card::mlx4};
constexpr const char* kCardNames[]{"ofed", "forced", "bnxt", "ice", "full", "i40e", "qede", "mlx4"};
std::string name_of(Card card) { return kCardNames[static_cast<size_t>(card)]; }

constexpr Personality kPersonalities[]{Personality::mlx5, Personality::mlx5, Personality::bnxt, Personality::ice,
                                       Personality::full, Personality::i40e, Personality::qede, Personality::mlx4};
Personality personality_of(Card card) { return kPersonalities[static_cast<size_t>(card)]; }

bool is_ofed(Card card) { return card == Card::ofed || card == Card::forced; }
bool knows_dscps(Card card) { return card != Card::i40e && card != Card::qede && card != Card::mlx4; }

struct CardBed : FileBed {
  explicit CardBed(Card which) : FileBed(personality_of(which)), card(which), congestion(*files) {
    if (is_ofed(card)) {
      add_ofed_ecn(*files, "eth0");
      add_ofed_traffic_class(*files, port.rdma, 1);
    }
    if (card == Card::bnxt) congestion.add_debugfs(port.pci);
    tree.file(tos_file(), "0\n");
    files->on_write(tos_file(), store_number(0, 255));
    if (!knows_dscps(card)) {
      tree.folder("sys/class/net/eth0/upper_eth0.100");
      tree.file("proc/net/vlan/eth0.100", "");
    }
  }
  [[nodiscard]] std::string tos_file() const {
    return "sys/kernel/config/rdma_cm/" + port.rdma + "/ports/1/default_roce_tos";
  }
  [[nodiscard]] std::string shown(const std::string& file) const { return std::string(trim(tree.content(file))); }

  const Card card;
  SimBnxtRe congestion;
};

// ---- the oracle

// Congestion control for packets of this priority: CNPs slow the sender down, and marks are answered with CNPs.
bool has_ecn(const CardBed& bed, unsigned priority) {
  if (bed.card == Card::bnxt)
    return bed.congestion.firmware.at("enable_cc") != 0 && bed.congestion.firmware.at("tos_ecn") != 0;
  if (!is_ofed(bed.card)) return false;
  const auto is_on = [&](const std::string& half, unsigned number) {
    return bed.shown("sys/class/net/eth0/ecn/" + half + "/enable/" + std::to_string(number)) == "1";
  };
  bool notifies = false;  // the notification point is on for the port while it is on for a priority
  for (unsigned number = 0; number < 8; ++number) notifies = notifies || is_on("roce_np", number);
  return is_on("roce_rp", priority) && notifies;
}

// protection_of() the NIC, and 16: congestion control.
unsigned protection_of(const CardBed& bed, unsigned priority) {
  return test::protection_of(bed.nic, priority) | (has_ecn(bed, priority) ? 16U : 0U);
}

// `mark`: a DSCP, or a priority of VLAN tags.
unsigned protection_on(const CardBed& bed, unsigned mark) {
  return protection_of(bed, knows_dscps(bed.card) ? priority_on(bed.nic, mark).value_or(0) : mark);
}

// The DSCP that the host gives RoCE's packets now; nullopt: the jobs choose the tag.
std::optional<unsigned> mark_now(const CardBed& bed) {
  if (!knows_dscps(bed.card)) return std::nullopt;
  std::string text = bed.shown(bed.tos_file());
  if (bed.card == Card::forced) {
    text = bed.shown("sys/class/infiniband/" + bed.port.rdma + "/tc/1/traffic_class");
    if (!text.starts_with("Global tclass=")) return std::nullopt;
    text = text.substr(text.find('=') + 1);
  }
  return parse_number<unsigned>(text).value_or(0) >> 2;
}

// ---- the policies

struct RocePolicy {
  std::string name;
  unsigned mark = 0;  // of RoCE's packets
  Qos want{};
};

RocePolicy roce(Card card, const std::string& name, unsigned dscp, unsigned priority, uint8_t pfc) {
  RocePolicy out{name, knows_dscps(card) ? dscp : priority};
  Qos& want = out.want;
  if (card != Card::qede) want.dcbx = Dcbx::host;
  want.pfc = PrioSet{pfc};
  Ets& ets = want.ets.emplace();
  if (card == Card::ice) {
    ets = shares(kIdentity, {});
    ets.bw[0] = ets.bw[priority] = 50;
  } else {
    for (unsigned other = 0; other < 8; ++other)
      if (other == priority || (pfc >> other & 1) != 0) ets.prio_tc[other] = 1;
    ets.prio_tc[6] = 2;
    ets.tsa[0] = ets.tsa[1] = Tsa::ets;
    ets.bw[0] = ets.bw[1] = 50;
  }
  if (!knows_dscps(card)) return out;
  want.trust = Trust::dscp;
  want.dscp_map = DscpMap{{static_cast<uint8_t>(dscp), static_cast<uint8_t>(priority)}, {48, 6}};
  if (card == Card::forced) want.traffic_class = OrNone{dscp << 2 | 2};
  else want.roce_tos = dscp << 2 | 2;
  if (is_ofed(card)) want.ecn_rp = want.ecn_np = PrioSet{static_cast<uint8_t>(1U << priority)};
  if (card == Card::bnxt) want.cc = true;
  return out;
}

std::vector<RocePolicy> policies(Card card) {
  std::vector<RocePolicy> out{
      roce(card, "26 to 3", 26, 3, 0x08),
      roce(card, "26 to 4", 26, 4, 0x10),
      roce(card, "34 to 5", 34, 5, 0x20),
      roce(card, "34 to 3", 34, 3, 0x08),
      roce(card, "26 to 3, PFC on 3 and 4", 26, 3, 0x18),
      roce(card, "26 to 3 without PFC", 26, 3, 0),
  };
  if (is_ofed(card) || card == Card::bnxt) {
    Qos& without = out.emplace_back(roce(card, "26 to 4 without ECN", 26, 4, 0x10)).want;
    if (card == Card::bnxt) without.cc = false;
    else without.ecn_rp = without.ecn_np = PrioSet{};
  }
  if (is_ofed(card)) {
    Qos& buffers = out.emplace_back(roce(card, "34 to 2, buffers", 34, 2, 0x04)).want;
    buffers.prio2buffer.emplace()[2] = 1;
    buffers.buffer_size = Buffers{.automatic = true};
    buffers.cable_length = 30;
    // CNPs of the receiver alone.
    out.emplace_back(roce(card, "26 to 4, np alone", 26, 4, 0x10)).want.ecn_rp = PrioSet{};
  }
  return out;
}

// ---- the runs

// The n-th change of the NIC, or of a file, is refused; the firmware of ice refuses the n-th change that the driver
// sends, and the driver keeps it; a setting is held by another writer; a job starts before the n-th question whether
// the port is in use.
struct Hindrance {
  unsigned refused = 0, refused_file = 0, refused_firmware = 0;
  std::optional<SettingId> held{};
  std::optional<unsigned> busy_from{};
  [[nodiscard]] std::string text() const {
    if (refused != 0) return "change " + std::to_string(refused) + " is refused";
    if (refused_file != 0) return "change " + std::to_string(refused_file) + " of a file is refused";
    if (refused_firmware != 0) return "the firmware refuses change " + std::to_string(refused_firmware);
    if (held) return std::string(key_text(*held)) + " is held by another writer";
    if (busy_from) return "a job starts before question " + std::to_string(*busy_from);
    return "nothing hinders";
  }
};

struct WatchedMove {
  WatchedMove(Card card, const RocePolicy& old_policy, const RocePolicy& new_policy)
      : bed(card), from(old_policy), to(new_policy) {
    bed.settle_to(from.want);
    bed.settle_to(from.want);
    start = protection_on(bed, from.mark);
    log_before = bed.nic.log.size();
    files_before = bed.files->changes();
  }

  // The protection that RoCE has before and after must not be less in between.
  void judge(const std::string& when, const std::string& op = {}) {
    const unsigned old_now = protection_on(bed, from.mark), new_now = protection_on(bed, to.mark);
    // These drivers cannot replace an entry of a DSCP: it is unmapped until it is added again.
    const bool cannot_replace = bed.card == Card::bnxt || bed.card == Card::ice;
    // A deletion that ice's firmware has refused is sent again with ETS.
    const bool is_sent_again = bed.card == Card::ice && op == "setets";
    const bool is_replaced = cannot_replace && (op == "delapp" || op == "setapp" || is_sent_again);
    if (is_replaced && !priority_on(bed.nic, from.mark)) return;
    const auto mark = mark_now(bed);
    const bool is_kept = (least & ~old_now) == 0 || (least & ~new_now) == 0;
    const unsigned marked_now = mark ? protection_on(bed, *mark) : least;
    if (is_kept && (least & ~marked_now) == 0) return;
    faults += when + ": mark " + std::to_string(from.mark) + " has " + std::to_string(old_now) + ", mark " +
              std::to_string(to.mark) + " has " + std::to_string(new_now) + ", RoCE's mark " +
              (mark ? std::to_string(*mark) : "-") + " has " + std::to_string(marked_now) + "; RoCE must have " +
              std::to_string(least) + "\n";
  }
  void watch(unsigned end) {
    least = start & end;
    bed.nic.after_change = [this](const std::string& op) { judge("after " + bed.nic.log.back(), op); };
    bed.files->before = [this](unsigned, const std::string& file) { judge("before " + file); };
  }
  [[nodiscard]] std::string log() const {
    std::string out;
    for (size_t i = log_before; i < bed.nic.log.size(); ++i) out += bed.nic.log[i] + "\n";
    for (size_t i = files_before; i < bed.files->log.size(); ++i) out += bed.files->log[i] + "\n";
    return out;
  }

  CardBed bed;
  const RocePolicy &from, &to;
  unsigned start = 0, least = 0, questions = 0, files_before = 0;
  size_t log_before = 0;
  std::string faults;
};

void expect_protected(Card card, const RocePolicy& from, const RocePolicy& to, const Hindrance& hindrance, unsigned end,
                      bool by_restore = false) {
  WatchedMove run(card, from, to);
  CardBed& bed = run.bed;
  // While a job runs, nothing is taken away, even if the policy does.
  run.watch(hindrance.busy_from == 1U ? ~0U : end);
  bed.nic.refuse_change = hindrance.refused;
  if (hindrance.refused_file != 0)
    bed.files->fault({.code = EIO, .nth = run.files_before + hindrance.refused_file, .times = 1});
  if (hindrance.refused_firmware != 0)
    bed.nic.faults["fwdcb"] = {
        .action = Fault::refuse, .code = EIO, .times = 1, .passes = hindrance.refused_firmware - 1};
  bed.terms.in_conflict = [&](SettingId id) { return hindrance.held == id; };
  bed.terms.in_use = [&](const Port&) { return hindrance.busy_from && ++run.questions >= *hindrance.busy_from; };
  const Changes changes = by_restore ? test::write_back(bed.kernel, bed.port, to.want, bed.terms) : bed.apply(to.want);
  bed.nic.link_up();
  run.judge("at the end");
  const std::string what = name_of(card) + ": from \"" + from.name + "\" to \"" + to.name + "\", " + hindrance.text() +
                           (by_restore ? ", by write_back()" : "") + "\n";
  EXPECT_TRUE(run.faults.empty()) << what << run.faults << run.log() << text(changes);
  // A pass that nothing hinders completes the move.
  bed.nic.after_change = [](const auto&) {};
  bed.files->before = [](unsigned, const auto&) {};
  bed.nic.refuse_change = 0;
  bed.nic.faults.clear();
  bed.files->heal();
  bed.terms = free_terms();
  bed.settle_to(to.want);
  const Changes last = bed.settle_to(to.want);
  EXPECT_TRUE(keys_with(last, Outcome::pending).empty() && keys_with(last, Outcome::refused).empty())
      << what << text(last);
  EXPECT_EQ(protection_on(bed, to.mark), end) << what << text(last);
}

// A card, and of how many hindrances one is tried; with all of them also all pairs of policies, else one of kPairs.
constexpr unsigned kPairs = 5;
class TrafficOfCards : public testing::TestWithParam<std::tuple<Card, unsigned>> {};
const auto kCards = testing::ValuesIn(kAllCards);
const auto kCardName = [](const auto& each) { return name_of(std::get<0>(each.param)); };
INSTANTIATE_TEST_SUITE_P(Cards, TrafficOfCards, testing::Combine(kCards, testing::Values(20U)), kCardName);
INSTANTIATE_TEST_SUITE_P(CardsHarder, TrafficOfCards, testing::Combine(kCards, testing::Values(1U)), kCardName);

TEST_P(TrafficOfCards, IsNeverLeftWithLessProtection) {
  const auto [card, every] = GetParam();
  std::mt19937 random(43);
  for (const RocePolicy& from : policies(card))
    for (const RocePolicy& to : policies(card)) {
      if (from.name == to.name || (every > 1 && random() % kPairs != 0)) continue;
      // Without hindrance: the end, and the numbers of changes and questions.
      WatchedMove free(card, from, to);
      unsigned changes = 0;
      const unsigned sent_before = free.bed.nic.calls["fwdcb"];
      free.bed.nic.after_change = [&](const auto&) { ++changes; };
      free.bed.terms.in_use = [&](const Port&) { return ++free.questions == 0; };
      free.bed.settle_to(to.want);
      const unsigned end = protection_on(free.bed, to.mark);
      std::vector<Hindrance> all{{.busy_from = 1}};
      for (unsigned n = 1; n <= changes; ++n) all.push_back({.refused = n});
      for (unsigned n = free.files_before; n < free.bed.files->changes(); ++n)
        all.push_back({.refused_file = n - free.files_before + 1});
      for (unsigned n = sent_before; n < free.bed.nic.calls["fwdcb"]; ++n)
        all.push_back({.refused_firmware = n - sent_before + 1});
      for (unsigned n = 2; n <= free.questions; ++n) all.push_back({.busy_from = n});
      for (const Setting& setting : kSettings)
        if (has_value(setting, to.want) && setting.traffic != TrafficPart::none) all.push_back({.held = setting.id});
      expect_protected(card, from, to, {}, end);
      for (const Hindrance& hindrance : all) {
        if (random() % every != 0) continue;
        expect_protected(card, from, to, hindrance, end);
        expect_protected(card, from, to, hindrance, end, true);
        if (HasFailure()) return;
      }
    }
}

// The oracle sees what the runs are about: without this, a bed that offers nothing would pass.
TEST(TrafficBeds, EveryCardProtectsAndMarks) {
  for (const Card card : kAllCards) {
    SCOPED_TRACE(name_of(card));
    CardBed bed(card);
    const RocePolicy policy = roce(card, "26 to 4", 26, 4, 0x10);
    bed.settle_to(policy.want);
    const Changes changes = bed.settle_to(policy.want);
    const unsigned ecn = is_ofed(card) || card == Card::bnxt ? 16 : 0;
    EXPECT_EQ(protection_on(bed, policy.mark), 1U | 4U | 8U | ecn) << text(changes);
    if (knows_dscps(card)) EXPECT_EQ(mark_now(bed), policy.mark) << text(changes);
  }
}

}  // namespace
}  // namespace fabric::test
