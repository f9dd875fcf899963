// SPDX-License-Identifier: Apache-2.0
// Random walks: the programs write one port in any order (apply, restore, self-test, an apply that is not confirmed),
// while a job runs, the driver refuses a change or the program is killed. Each operation starts from the state that the
// one before it left: only so it shows whether one of them leaves RoCE's class with less protection than it had. An
// oracle judges by the NIC's own state.
#include <bit>

#include "enforce/restore.h"
#include "enforce/selftest.h"
#include "support/protection.h"
#include "support/roce_policies.h"
#include "support/sim_nic_bed.h"
#include "support/test.h"
#include "support/turns.h"

namespace fabric::test {
namespace {

constexpr unsigned kDscps[]{26, 34, 48};  // that the policies map
constexpr unsigned kSteps = 4;            // of a walk

struct Killed {};

enum class Operation : uint8_t { apply, restore, self_test, lapse };
std::string text(Operation operation) {
  constexpr const char* kTexts[]{"apply", "restore", "self-test", "apply that is not confirmed"};
  return kTexts[static_cast<size_t>(operation)];
}

struct Obstacle {
  enum Kind : uint8_t { none, job, later_job, killed, refused, refused_by_firmware };  // the last one: of ice
  Kind kind = none;
  unsigned at = 0;  // the number of the change, or of the question whether the port is in use
  [[nodiscard]] std::string text() const {
    constexpr const char* kTexts[]{"nothing hinders",      "a job runs",         "a job starts before question ",
                                   "killed after change ", "refused is change ", "the firmware refuses change "};
    return kTexts[kind] + (kind == none || kind == job ? "" : std::to_string(at));
  }
};

// The protection of the packets with one DSCP when the job or the operation began.
struct Start {
  unsigned protection = 0;  // protection_on()
  bool is_lossless = false;
  std::optional<unsigned> priority{};
};

bool is_paused(const SimNic& nic) { return nic.pause.rx && nic.pause.tx; }

bool has_pfc(const Qos& qos) { return qos.pfc && qos.pfc->bits != 0; }

// Whether the settings make the packets with this DSCP lossless by PFC.
bool is_lossless_by(const Qos& qos, unsigned dscp) {
  if (qos.trust != Trust::dscp || !qos.dscp_map || !qos.pfc) return false;
  const auto entry = qos.dscp_map->find(static_cast<uint8_t>(dscp));
  return entry != qos.dscp_map->end() && qos.pfc->has(entry->second);
}

class Walk {
 public:
  Walk(Personality personality, unsigned seed)
      : bed_(personality), turns_(bed_.kernel), policies_(policies(personality)), random_(seed) {
    story_ = name_of(personality) + ", seed " + std::to_string(seed) + "\n";
    const RocePolicy first = pick_policy();
    bed_.settle_to(first.want);
    bed_.settle_to(first.want);
    // Global pause is on from the factory, or another program has switched it on beside PFC, which ice does not allow.
    const bool may_be_paused = personality != Personality::ice || bed_.nic.pfc.pfc_en == 0;
    if (pick(2) == 0 && may_be_paused) bed_.nic.pause = {.rx = true, .tx = true};
    story_ += "at first: " + first.name + (is_paused(bed_.nic) ? "; global pause is on\n" : "\n");
    bed_.save = [this](const Port& port, const Qos& before) {
      return state::save_original(bed_.tree.path(), originals_, port, before);
    };
  }

  // The faults that the oracle has seen; empty: none.
  std::string run() {
    for (unsigned i = 0; i < kSteps && fault_.empty(); ++i) step();
    if (fault_.empty()) finish();
    bed_.nic.after_change = [](const auto&) {};
    return fault_.empty() ? std::string() : story_ + fault_;
  }

 private:
  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }

  RocePolicy pick_policy() {
    RocePolicy out = policies_[pick(static_cast<unsigned>(policies_.size()))];
    if (pick(4) == 0) {
      out.want.pfc = PrioSet{};
      out.name += ", no PFC";
    }
    switch (pick(3)) {
      case 0: break;
      case 1:
        out.want.pause = Pause{};
        out.name += ", pause off";
        break;
      default:
        if (has_pfc(out.want)) break;  // no driver offers both; the configuration's check says so
        out.want.pause = Pause{.rx = true, .tx = true};
        out.name += ", pause on";
    }
    if (pick(6) == 0) {  // a write that stops the traffic of some drivers
      out.want.mtu = 4200;
      out.name += ", MTU";
    }
    return out;
  }

  void step() {
    const RocePolicy policy = pick_policy();
    const auto operation = static_cast<Operation>(pick(4));
    const unsigned kinds = bed_.nic.personality == Personality::ice ? 6 : 5;
    obstacle_ = {static_cast<Obstacle::Kind>(pick(kinds)), 1 + pick(8)};
    const bool shows_original = pick(2) != 0;
    story_ += text(operation) + ": " + policy.name + "; " + obstacle_.text() +
              (shows_original ? "; the saved original is known\n" : "\n");
    goals_.clear();
    starts_.clear();
    changes_ = questions_ = 0;
    has_job_ = false;
    log_before_ = bed_.nic.log.size();
    bed_.terms = free_terms();
    bed_.terms.in_use = [this](const Port&) { return ask(); };
    if (shows_original || was_killed_)
      bed_.terms.original = [this](const Port& port) { return state::original_for(originals_, port); };
    bed_.nic.after_change = [this](const auto&) { judge_change(); };
    bed_.nic.refuse_change = obstacle_.kind == Obstacle::refused ? obstacle_.at : 0;
    if (obstacle_.kind == Obstacle::refused_by_firmware)
      bed_.nic.faults["fwdcb"] = {.action = Fault::refuse, .code = EIO, .times = 1, .passes = obstacle_.at - 1};
    report_.clear();
    bool killed = false;
    try {
      end_interrupted();
      if (!trial_ && fault_.empty()) operate(operation, policy.want);
    } catch (const Killed&) {
      killed = true;
    }
    was_killed_ = killed || (was_killed_ && obstacle_.kind != Obstacle::none);
    bed_.nic.refuse_change = 0;
    bed_.nic.faults.clear();
    bed_.nic.link_up();
    if (!killed) judge_end();
    if (fault_.empty()) return;
    for (size_t i = log_before_; i < bed_.nic.log.size(); ++i) fault_ += "\n  " + bed_.nic.log[i];
    fault_ += "\n" + test::text(report_);
  }

  // As every program does before it writes.
  void end_interrupted() {
    if (trial_) revert();
    auto record = state::load_originals(bed_.tree.path(), state::kSelfTestFile);
    ASSERT_TRUE(record.ok()) << record.error().text();
    const auto before = state::original_for(*record, bed_.port);
    if (!before) return;
    begin(*before);
    auto ended = qos::end_self_test(bed_.kernel, {&bed_.port, 1}, bed_.tree.path(), bed_.terms.in_use, turns_);
    ASSERT_TRUE(ended.ok()) << ended.error().text();
    note(std::move(*ended));
  }

  void operate(Operation operation, const Qos& want) {
    switch (operation) {
      case Operation::apply: return apply(want);
      case Operation::restore: return restore();
      case Operation::self_test: return self_test(want);
      case Operation::lapse:
        trial_ = confirm::begin({"boot", 0}, std::chrono::seconds(1), Policy{}, "digest");
        const Qos before = bed_.read();
        confirm::remember(*trial_, bed_.port, before, confirm::keys_changed(bed_.port, want, before));
        apply(want);
        return revert();
    }
  }
  void apply(const Qos& want) {
    begin(want);
    Changes changes = bed_.apply(want);
    Keys done;
    for (const Change& change : changes)
      if (is_done(change.outcome)) done.set(index(change.setting));
    const auto kept = qos::keep_from_self_test(bed_.tree.path(), bed_.port, done);
    EXPECT_TRUE(kept.ok()) << kept.error().text();
    note(std::move(changes));
  }
  void restore() {
    const auto original = state::original_for(originals_, bed_.port);
    if (!original) return;
    begin(*original);
    note(qos::restore(bed_.kernel, bed_.port, originals_, turns_.terms_for(bed_.port, bed_.terms, {})).changes);
  }
  // If its restore is refused, what the tested policy does not protect stays as the test has left it.
  void self_test(const Qos& want) {
    begin(bed_.read());
    begin(want);
    auto test =
        qos::self_test(bed_.kernel, bed_.port, want,
                       {.directory = bed_.tree.path(), .in_use = bed_.terms.in_use, .turns = turns_, .patience = {}});
    if (test) note(std::move(test->restored));
  }
  void revert() {
    const auto before = state::original_for(trial_->before, bed_.port);
    if (before) begin(*before);
    std::vector<Port> ports{bed_.port};
    note(test::revert(bed_.kernel, ports, *trial_, {"boot", 10'000}, bed_.terms.in_use));
    if (trial_->is_restored()) trial_.reset();
  }

  // A part of the operation, which leads to these settings.
  void begin(const Qos& goal) {
    goals_.push_back(goal);
    if (starts_.empty()) note_start();
    if (obstacle_.kind == Obstacle::job) has_job_ = true;
  }
  void note(Changes changes) { std::ranges::move(changes, std::back_inserter(report_)); }

  // Whether the port is in use. The link is up again when a program asks.
  bool ask() {
    bed_.nic.link_up();
    ++questions_;
    if (obstacle_.kind == Obstacle::later_job && questions_ == obstacle_.at) {
      has_job_ = true;
      note_start();
    }
    return has_job_;
  }

  void note_start() {
    for (const unsigned dscp : kDscps)
      starts_[dscp] = {protection_on(bed_.nic, dscp), is_lossless(dscp), priority_on(bed_.nic, dscp)};
    was_paused_ = is_paused(bed_.nic);
  }

  [[nodiscard]] bool is_lossless(unsigned dscp) const {
    return is_paused(bed_.nic) || (protection_on(bed_.nic, dscp) & 1) != 0;
  }
  [[nodiscard]] bool is_goal(unsigned dscp) const {
    return std::ranges::all_of(goals_, [=](const Qos& goal) { return is_lossless_by(goal, dscp); });
  }
  // Global pause protects every packet, and PFC that replaces it those only for which the policy wants it.
  [[nodiscard]] bool loses_pause(unsigned dscp) const {
    return std::ranges::any_of(goals_, [=](const Qos& goal) { return has_pfc(goal) && !is_lossless_by(goal, dscp); });
  }
  [[nodiscard]] bool counts(unsigned dscp) const {
    const Start& start = starts_.at(dscp);
    return (start.protection & 1) != 0 || (start.is_lossless && !loses_pause(dscp));
  }

  // A job keeps what it has found.
  void judge_change() {
    ++changes_;
    if (has_job_ && fault_.empty())
      for (const unsigned dscp : kDscps) {
        if (!counts(dscp)) continue;
        const Start& start = starts_.at(dscp);
        const std::string what = "DSCP " + std::to_string(dscp) + " of a job, after " + bed_.nic.log.back() + ": ";
        if (!is_lossless(dscp)) fault_ = what + "neither pause nor PFC";
        else if (!is_paused(bed_.nic) && !was_paused_ && priority_on(bed_.nic, dscp) != start.priority)
          fault_ = what + "on another priority";
        else if (!is_paused(bed_.nic) && (start.protection & ~protection_on(bed_.nic, dscp)) != 0)
          fault_ = what + "protection " + std::to_string(start.protection) + " became " +
                   std::to_string(protection_on(bed_.nic, dscp));
      }
    if (obstacle_.kind == Obstacle::killed && changes_ == obstacle_.at) throw Killed();
  }

  // A DSCP that was lossless and shall be lossless, is; whatever was refused.
  void judge_end() {
    if (!fault_.empty() || goals_.empty()) return;
    for (const unsigned dscp : kDscps)
      if (counts(dscp) && is_goal(dscp) && !is_lossless(dscp))
        fault_ = "at the end: DSCP " + std::to_string(dscp) + " with neither pause nor PFC";
  }

  // Nothing hinders any more: the port ends as a policy wants it.
  void finish() {
    bed_.nic.after_change = [](const auto&) {};
    bed_.terms = free_terms();
    obstacle_ = {};
    has_job_ = false;
    end_interrupted();
    bed_.nic.link_up();
    const unsigned pfc_before = bed_.nic.pfc.pfc_en;
    const RocePolicy policy = pick_policy();
    story_ += "at last: " + policy.name + "\n";
    bed_.settle_to(policy.want);
    const Changes last = bed_.settle_to(policy.want);
    // bnxt has PFC on two priorities at most. If packets that the policy does not name use both, none becomes free, and
    // the policy stays pending.
    if (bed_.nic.personality == Personality::bnxt && std::popcount(pfc_before) >= 2) return;
    const bool is_settled =
        keys_with(last, Outcome::pending).empty() && keys_with(last, Outcome::refused).empty() &&
        (!is_lossless_by(policy.want, policy.dscp) || (protection_on(bed_.nic, policy.dscp) & 1) != 0);
    if (!is_settled) fault_ = "not as the policy wants:\n" + test::text(last);
  }

  FileBed bed_;
  FreeTurns turns_;
  const std::vector<RocePolicy> policies_;
  std::mt19937 random_;
  state::Originals originals_;
  std::optional<confirm::Record> trial_;  // an apply that is not yet reverted
  bool was_killed_ = false;               // and no operation has run unhindered since
  // The present step:
  Obstacle obstacle_;
  std::vector<Qos> goals_;
  std::map<unsigned, Start> starts_;
  bool was_paused_ = false, has_job_ = false;
  unsigned changes_ = 0, questions_ = 0;
  size_t log_before_ = 0;
  Changes report_;
  std::string story_, fault_;
};

// A driver, and how many walks.
class TrafficWalk : public testing::TestWithParam<std::tuple<Personality, unsigned>> {};
const auto kWalkers = testing::Values(Personality::mlx5, Personality::bnxt, Personality::ice, Personality::full);
const auto kWalkerName = [](const auto& each) { return name_of(std::get<0>(each.param)); };
INSTANTIATE_TEST_SUITE_P(Drivers, TrafficWalk, testing::Combine(kWalkers, testing::Values(25U)), kWalkerName);
INSTANTIATE_TEST_SUITE_P(DriversHarder, TrafficWalk, testing::Combine(kWalkers, testing::Values(500U)), kWalkerName);

TEST_P(TrafficWalk, NeverLeavesRoceWithLessProtection) {
  const auto [personality, walks] = GetParam();
  for (unsigned seed = 1; seed <= walks; ++seed) {
    const std::string fault = Walk(personality, seed).run();
    ASSERT_TRUE(fault.empty()) << fault;
  }
}

}  // namespace
}  // namespace fabric::test
