// SPDX-License-Identifier: Apache-2.0
#include "judge/health_state.h"

#include <algorithm>
#include <cmath>

#include "base/files.h"
#include "base/json.h"
#include "node/published.h"

namespace fabric {

namespace {

// ESTALE: the file was `updated` (seconds since boot) more than `most` seconds ago.
Result<void> check_age(const Root& root, const std::string& file, double updated, double most) {
  const double age = state::uptime(root).value_or(updated) - updated;
  if (age <= most) return {};
  return stale("/" + file, age, "fabric-exporter is gone or hangs");
}

}  // namespace

FABRIC_JSON_MEMBERS(Ack, id, subject, at, until, by, comment)

static void to_json(Json& json, const Ack& ack) { write_members(json, ack); }

static void from_json(const Json& json, Ack& ack) {
  read_members(json, ack);
  require(json, "id");
}

namespace {

struct AckFile {
  std::vector<Ack> acks;
};

void from_json(const Json& json, AckFile& file) { read_member(json, "acks", file.acks); }

}  // namespace

std::string acks_text(const std::vector<Ack>& acks) { return state_text({{"acks", acks}}); }

Result<std::vector<Ack>> parse_acks(std::string_view text, const std::string& name) {
  auto file = read_state<AckFile>(text, name);
  if (!file) return file.error();
  return std::move(file->acks);
}

Result<std::vector<Ack>> load_acks(const Root& root) {
  auto acks = parse_file(root.read(kAckFile), kAckFile, parse_acks);
  if (!acks) return acks.error();
  return std::move(*acks).value_or(std::vector<Ack>{});
}

// Keeps the members that this release does not know, in the file and in each acknowledgement that stays.
Result<void> save_acks(const std::string& directory, const std::vector<Ack>& acks) {
  const auto root = Root::open(directory);
  if (!root) return root.error();
  const auto present = parse_file(root->read(kAckFile), kAckFile, parse_state);
  if (!present) return present.error();
  Json out = Json::parse(acks_text(acks));
  const auto carry_over = [](const Json& from, Json& to) {
    for (const auto& [key, value] : from.items())
      if (!to.contains(key)) to[key] = value;
  };
  if (*present) {
    carry_over(**present, out);
    for (Json& ack : out["acks"])
      for (const Json& before : (**present).value("acks", Json::array())) {
        const auto is_same = [&](const char* key) { return before.contains(key) && ack[key] == before[key]; };
        if (is_same("id") && is_same("subject") && is_same("at")) carry_over(before, ack);
      }
  }
  return replace_file(directory, kAckFile, json_line(out));
}

namespace {

constexpr double kFreshFor = 60;
constexpr int64_t kMostWall = 253402300799;  // the end of the year 9999

// Required, because the default is not a time.
void read_time(const Json& json, const char* name, double& out) {
  double value = 0;
  read_required(json, name, value);
  if (!(std::abs(value) <= state::kLatestTime)) throw std::range_error(std::string(name) + ": out of range");
  out = value;
}

}  // namespace

FABRIC_JSON(HealthTrigger, on, since, turning)

// Short, as there are many.
static void to_json(Json& json, const HealthPart& part) { json = {part.from, part.amount, part.base}; }

static void from_json(const Json& json, HealthPart& part) {
  if (json.size() != 3) throw std::range_error("expected [from, amount, base]");
  json.at(0).get_to(part.from);
  json.at(1).get_to(part.amount);
  json.at(2).get_to(part.base);
}

FABRIC_JSON_MEMBERS(HealthState, seen, value, evidence, onsets, first_onset, struck, warning, critical, parts)

static void to_json(Json& json, const HealthState& state) { write_members(json, state); }

static void from_json(const Json& json, HealthState& state) {
  read_members(json, state);
  read_time(json, "seen", state.seen);
  read_number(json, "onsets", state.onsets, uint64_t{0}, uint64_t{1'000'000'000'000'000});
  // Nothing began after the subject was `seen` last: a damaged time must not keep a state forever.
  for (HealthTrigger* trigger : {&state.warning, &state.critical}) {
    trigger->since = std::min(trigger->since, state.seen);
    if (trigger->turning) trigger->turning = std::min(*trigger->turning, state.seen);
  }
  if (state.first_onset) state.first_onset = std::min(*state.first_onset, state.seen);
}

FABRIC_JSON(HealthDevice, pci, ifindex, since)
FABRIC_JSON_MEMBERS(PastFinding, rule, subject, status, from, until, evidence)

static void to_json(Json& json, const PastFinding& past) { write_members(json, past); }

static void from_json(const Json& json, PastFinding& past) {
  read_members(json, past);
  read_time(json, "from", past.from);
  if (past.status != Status::critical) past.status = Status::warning;
}

FABRIC_JSON_MEMBERS(AckSeen, id, subject, at, met, spent)

static void to_json(Json& json, const AckSeen& ack) { write_members(json, ack); }

static void from_json(const Json& json, AckSeen& ack) {
  read_members(json, ack);
  read_number(json, "at", ack.at, int64_t{0}, kMostWall);
  read_number(json, "met", ack.met, int64_t{0}, kMostWall);
}

static void from_json(const Json& json, HealthMemory& memory) {
  read_time(json, "updated", memory.health.now);
  read_number(json, "wall", memory.health.wall, int64_t{0}, kMostWall);
  read_member(json, "watched", memory.history.since);
  read_member(json, "devices", memory.health.devices);
  read_member(json, "rules", memory.health.rules);
  read_member(json, "past", memory.history.past);
  read_member(json, "acknowledged", memory.acks);
}

std::string health_text(const HealthMemory& memory) {
  const Health& health = memory.health;
  Json rules = Json::object();
  for (const auto& [rule, subjects] : health.rules)
    for (const auto& [subject, state] : subjects) {
      bool is_default = state.phase() == HealthPhase::ok && state.onsets == 0 && !state.struck;
      for (const HealthPart& part : state.parts) is_default = is_default && part.amount == 0;
      if (!is_default) rules[rule][subject] = state;
    }
  return state_text({{"updated", health.now},
                     {"wall", health.wall},
                     {"watched", memory.history.since},
                     {"devices", health.devices},
                     {"rules", std::move(rules)},
                     {"past", memory.history.past},
                     {"acknowledged", memory.acks}});
}

Result<HealthMemory> parse_health(std::string_view text, const std::string& name) {
  return read_state<HealthMemory>(text, name);
}

Result<std::optional<HealthMemory>> load_health(const Root& root) {
  auto memory = parse_file(root.read_foreign(kHealthFile), kHealthFile, parse_health);
  if (!memory || !*memory) return memory;
  if (auto fresh = check_age(root, kHealthFile, (*memory)->health.now, kFreshFor); !fresh) return fresh.error();
  return memory;
}

namespace {

constexpr int64_t kMostOk = 10'000;  // subjects of all checks; a node of 64 ports has some 3,000

// The members of a finding that check --brief uses: verdict, counts, one line. check --json uses to_json(Report).
struct PublishedFinding : Finding {};

struct ReportFile {
  double updated = 0;
  std::map<std::string, int64_t> ok;
  std::vector<PublishedFinding> findings;
};

FABRIC_JSON_MEMBERS(PublishedFinding, id, subject, status, observed, expected, outcome, acknowledged, suppressed,
                    unjudged)

void to_json(Json& json, const PublishedFinding& finding) { write_members(json, finding); }

void from_json(const Json& json, PublishedFinding& finding) {
  read_members(json, finding);
  for (const char* name : {"id", "status"}) require(json, name);
}

void from_json(const Json& json, ReportFile& file) {
  read_time(json, "updated", file.updated);
  read_member(json, "ok", file.ok);
  read_member(json, "findings", file.findings);
}

}  // namespace

std::string published_text(const PublishedReport& published) {
  std::map<std::string, int64_t> ok;
  std::vector<PublishedFinding> findings;
  for (const Finding& finding : published.report.findings) {
    if (!is_listed(finding) && !is_unverified(finding)) ++ok[finding.id];
    else findings.push_back({finding});
  }
  return state_text({{"updated", published.updated}, {"ok", ok}, {"findings", findings}});
}

Result<PublishedReport> parse_report(std::string_view text, const std::string& name) {
  auto file = read_state<ReportFile>(text, name);
  if (!file) return file.error();
  PublishedReport out{{}, file->updated};
  auto& findings = out.report.findings;
  findings.assign(file->findings.begin(), file->findings.end());
  std::ranges::stable_sort(findings, {}, [](const Finding& finding) { return rank(finding.status); });
  int64_t left = kMostOk;
  for (const auto& [id, count] : file->ok) {
    if (count < 0 || count > left) return error(EBADMSG, name + ": ok: too many subjects");
    left -= count;
    Finding good;
    good.id = id;
    findings.insert(findings.end(), static_cast<size_t>(count), good);
  }
  return out;
}

Result<std::optional<PublishedReport>> load_report(const Root& root) {
  auto published = parse_file(root.read_foreign(kReportFile), kReportFile, parse_report);
  if (!published || !*published) return published;
  if (auto fresh = check_age(root, kReportFile, (*published)->updated, kReportAge); !fresh) return fresh.error();
  return published;
}

Result<void> save_report(const std::string& directory, const PublishedReport& published) {
  auto saved = replace_file(directory, kReportName, published_text(published));
  if (!saved) return error(saved.error().code, directory + saved.error().what);
  return saved;
}

}  // namespace fabric
