// SPDX-License-Identifier: Apache-2.0
#include "judge/health_state.h"

#include <algorithm>

#include "base/files.h"
#include "node/optics_state.h"
#include "setting/record.h"

namespace fabric {

namespace {

// ESTALE: the file was `updated` (seconds since boot) more than `most` seconds ago.
Result<void> check_age(const Root& root, const std::string& file, double updated, double most) {
  const double age = state::uptime(root).value_or(updated) - updated;
  return age <= most ? Result<void>() : stale("/" + file, age, "fabric-exporter is gone or hangs");
}

struct AckFile {
  std::vector<Ack> acks;
};

}  // namespace

template <>
inline constexpr std::tuple kFields<Ack>{Field{"id", &Ack::id, {.required = true}},
                                         Field{"subject", &Ack::subject},
                                         Field{"at", &Ack::at},
                                         Field{"until", &Ack::until},
                                         Field{"by", &Ack::by},
                                         Field{"comment", &Ack::comment}};
template <>
inline constexpr std::tuple kFields<AckFile>{Field{"ack", &AckFile::acks, {.strict = true}}};

std::string acks_toml(const std::vector<Ack>& acks) {
  return document_toml("# Written by fabric-agentctl ack; see fabric-agentctl(1). Times are seconds since 1970.\n",
                       AckFile{acks});
}

Result<std::vector<Ack>> parse_acks(std::string_view text, const std::string& name) {
  auto file = parse_record<AckFile>(text, name);
  if (!file) return file.error();
  return std::move(file->acks);
}

Result<std::vector<Ack>> load_acks(const Root& root) {
  auto acks = parse_file(root.read(kAckFile), kAckFile, parse_acks);
  if (!acks) return acks.error();
  return std::move(*acks).value_or(std::vector<Ack>{});
}

Result<void> save_acks(const std::string& directory, const std::vector<Ack>& acks) {
  return replace_file(directory, kAckFile, acks_toml(acks));
}

namespace {

constexpr double kFreshFor = 60;
constexpr FieldRule kWall{.min = 0, .max = 253402300799};  // the end of the year 9999

struct StoredDevice : HealthDevice {
  std::string port;
};

struct StoredState : HealthState {
  std::string rule, subject;
};

struct HealthFile {
  double updated = 0;
  int64_t wall = 0;
  std::optional<double> watched;
  std::vector<StoredDevice> devices;
  std::vector<StoredState> states;
  std::vector<PastFinding> past;
  std::vector<AckSeen> acks;
};

}  // namespace

template <>
inline constexpr std::tuple kFields<HealthTrigger>{
    Field{"on", &HealthTrigger::on}, Field{"since", &HealthTrigger::since}, Field{"turning", &HealthTrigger::turning}};
template <>
inline constexpr std::tuple kFields<StoredState>{Field{"rule", &StoredState::rule, {.required = true}},
                                                 Field{"subject", &StoredState::subject, {.required = true}},
                                                 Field{"seen", &HealthState::seen, {.required = true}},
                                                 Field{"value", &HealthState::value},
                                                 Field{"evidence", &HealthState::evidence},
                                                 Field{"onsets", &HealthState::onsets, {.max = 1'000'000'000'000'000}},
                                                 Field{"first_onset", &HealthState::first_onset},
                                                 Field{"struck", &HealthState::struck},
                                                 Field{"warning", &HealthState::warning},
                                                 Field{"critical", &HealthState::critical},
                                                 Field{"parts", &HealthState::parts}};
template <>
inline constexpr std::tuple kFields<StoredDevice>{Field{"port", &StoredDevice::port},
                                                  Field{"identity", &HealthDevice::identity},
                                                  Field{"since", &HealthDevice::since}};
template <>
inline constexpr std::tuple kFields<PastFinding>{
    Field{"rule", &PastFinding::rule},     Field{"subject", &PastFinding::subject},
    Field{"status", &PastFinding::status}, Field{"from", &PastFinding::from, {.required = true}},
    Field{"until", &PastFinding::until},   Field{"evidence", &PastFinding::evidence}};
template <>
inline constexpr std::tuple kFields<AckSeen>{Field{"id", &AckSeen::id}, Field{"subject", &AckSeen::subject},
                                             Field{"at", &AckSeen::at, kWall}, Field{"met", &AckSeen::met, kWall},
                                             Field{"spent", &AckSeen::spent}};
template <>
inline constexpr std::tuple kFields<HealthFile>{Field{"updated", &HealthFile::updated, {.required = true}},
                                                Field{"wall", &HealthFile::wall, kWall},
                                                Field{"watched", &HealthFile::watched},
                                                Field{"device", &HealthFile::devices},
                                                Field{"state", &HealthFile::states},
                                                Field{"past", &HealthFile::past},
                                                Field{"acknowledged", &HealthFile::acks}};

// Short, as there are many: [from, amount, base].
static std::string value_toml(const HealthPart& part) {
  return value_toml(std::array{part.from, part.amount, part.base});
}

static MaybeProblem read_value(const toml::node& node, const FieldRule&, HealthPart& out) {
  std::vector<double> three;
  if (auto problem = read_value(node, {.strict = true}, three)) return problem;
  if (three.size() != 3) return expected(node, "three numbers");
  out = {three[0], three[1], three[2]};
  return std::nullopt;
}

namespace {

bool is_plain(const HealthState& state) {
  return state.phase() == HealthPhase::ok && state.onsets == 0 && !state.struck &&
         std::ranges::all_of(state.parts, [](const HealthPart& part) { return part.amount == 0; });
}

// Nothing began after the subject was `seen` last: a time that is damaged must not hold a state.
HealthState restored(HealthState state) {
  for (HealthTrigger* trigger : {&state.warning, &state.critical}) {
    trigger->since = std::min(trigger->since, state.seen);
    if (trigger->turning) trigger->turning = std::min(*trigger->turning, state.seen);
  }
  if (state.first_onset) state.first_onset = std::min(*state.first_onset, state.seen);
  return state;
}

}  // namespace

std::string health_toml(const HealthMemory& memory) {
  const Health& health = memory.health;
  HealthFile file{health.now, health.wall, memory.history.since, {}, {}, memory.history.past, memory.acks};
  for (const auto& [port, device] : health.devices) file.devices.push_back({device, port});
  for (const auto& [rule, subjects] : health.rules)
    for (const auto& [subject, state] : subjects)
      if (!is_plain(state)) file.states.push_back({state, rule, subject});
  return document_toml(
      "# Written by fabric-exporter; see fabric-exporter(8). Times are seconds since boot, those of acknowledgements "
      "since 1970.\n",
      file);
}

Result<HealthMemory> parse_health(std::string_view text, const std::string& name) {
  auto file = parse_record<HealthFile>(text, name);
  if (!file) return file.error();
  HealthMemory out{Health{}, {file->watched, std::move(file->past)}, file->acks};
  out.health.now = file->updated;
  out.health.wall = file->wall;
  for (const StoredDevice& device : file->devices) out.health.devices[device.port] = device;
  for (const StoredState& state : file->states) out.health.rules[state.rule][state.subject] = restored(state);
  for (PastFinding& past : out.history.past)
    if (past.status != Status::critical) past.status = Status::warning;
  return out;
}

Result<std::optional<HealthMemory>> load_health(const Root& root) {
  auto memory = parse_file(root.read_foreign(kHealthFile), kHealthFile, parse_health);
  if (!memory || !*memory) return memory;
  if (auto fresh = check_age(root, kHealthFile, (*memory)->health.now, kFreshFor); !fresh) return fresh.error();
  return memory;
}

namespace {

constexpr int64_t kMostOk = 10'000;  // of all checks: a node of 64 ports has some 3,000

// One that cannot be read is not ok.
struct StoredFinding : Finding {
  StoredFinding() { status = Status::unknown; }
  StoredFinding(Finding finding) : Finding(std::move(finding)) {}  // NOLINT: implicit by design
};

struct ReportFile {
  double updated = 0;
  std::map<std::string, int64_t> ok;
  std::vector<StoredFinding> findings;
};

}  // namespace

template <>
inline constexpr std::tuple kFields<StoredFinding>{Field{"id", &Finding::id},
                                                   Field{"subject", &Finding::subject},
                                                   Field{"status", &Finding::status},
                                                   Field{"observed", &Finding::observed},
                                                   Field{"expected", &Finding::expected},
                                                   Field{"acknowledged", &Finding::acknowledged}};
template <>
inline constexpr std::tuple kFields<ReportFile>{
    Field{"updated", &ReportFile::updated, {.required = true}},
    Field{"ok", &ReportFile::ok, {.strict = true, .min = 0, .max = kMostOk}},
    Field{"finding", &ReportFile::findings, {.strict = true}}};

std::string report_toml(const PublishedReport& published) {
  ReportFile file{published.updated, {}, {}};
  for (const Finding& finding : published.report.findings)
    if (finding.status == Status::ok) ++file.ok[finding.id];
    else file.findings.push_back(finding);
  return document_toml(
      "# Written by fabric-exporter; see fabric-exporter(8). Seconds since boot; subjects that are ok.\n", file);
}

Result<PublishedReport> parse_report(std::string_view text, const std::string& name) {
  auto file = parse_record<ReportFile>(text, name);
  if (!file) return file.error();
  PublishedReport out{{}, file->updated};
  auto& findings = out.report.findings;
  findings.assign(file->findings.begin(), file->findings.end());
  std::ranges::stable_sort(findings, {}, [](const Finding& finding) { return rank(finding.status); });
  int64_t left = kMostOk;
  for (const auto& [id, count] : file->ok) {
    left -= count;
    if (left < 0) return error(EBADMSG, name + ": too many subjects");
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
  auto saved = replace_file(directory, kReportName, report_toml(published));
  return saved ? saved : error(saved.error().code, directory + saved.error().what);
}

}  // namespace fabric
