// SPDX-License-Identifier: Apache-2.0
// Every file that we read, cut off: a full disk, a crash in the middle of a copy, a module that is pulled while it is
// read. A part is refused, or it says no other thing than the whole; it is never taken for the whole in silence.
#include "base/files.h"
#include "base/json.h"
#include "enforce/confirm.h"
#include "judge/health_state.h"
#include "kernel/capture/tape.h"
#include "node/neighbor_state.h"
#include "node/optics_state.h"
#include "node/pci_state.h"
#include "node/state.h"
#include "node/topology.h"
#include "node/topology_xml.h"
#include "node/vnic_state.h"
#include "policy/cabling.h"
#include "policy/config.h"
#include "support/lldp_frame.h"
#include "support/test.h"
#include "support/tree.h"
#include "wire/eeprom.h"
#include "wire/lldp.h"

namespace fabric {
namespace {

constexpr size_t kStep = 64;
constexpr const char* kConfig = "etc/fabric-agent/fabric-agent.toml";

// What a reader makes of a text, in a form that can be compared; nullopt: refused.
using Reading = std::optional<std::string>;

// How a kind of file shows where it ends.
enum class End : uint8_t {
  marked,   // a last line, a bracket: each part is refused, or says the same
  line,     // a person's or another program's text: a part that ends with a whole line cannot be told from the whole
  lengths,  // bytes with a place or a length: what is missing is absent, and nothing else is there than in the whole
};
struct Kind {
  const char* name;
  std::string text;
  End end;
  std::function<Reading(const std::string&)> read;
};

// As it is on disk when it was written by replace_file().
std::string stored(const std::string& text) {
  test::Tree tree;
  EXPECT_TRUE(replace_file(tree.path(), "file", text));
  return tree.content("file");
}

template <class T, class Show>
Reading shown(const Result<T>& parsed, Show show) {
  return parsed ? Reading(show(*parsed)) : std::nullopt;
}

// The configuration of a tree in which one file is `text`.
Reading config_with(const std::string& file, const std::string& text) {
  test::Tree tree;
  tree.file(kConfig, "mode = \"audit\"\n[[port]]\nname = \"a\"\nprofile = \"nvidia-dcqcn\"\n");
  for (const auto& profile : std::filesystem::directory_iterator(FABRIC_SOURCE_DIR "/etc/profiles"))
    tree.file("etc/fabric-agent/profiles/" + profile.path().filename().string(),
              test::of_source("etc/profiles/" + profile.path().filename().string()));
  tree.file(file, text);
  return shown(load_config(tree.root(), ""), [](const LoadedConfig& config) { return show_config(config.policy); });
}

std::vector<Kind> configurations() {
  const std::string drop_in = "[[port]]\nname = \"rail\"\nmatch = { netdev = \"ens*\" }\nmtu = 4200\npfc = [3]\n";
  const std::string profile = "etc/fabric-agent/profiles/nvidia-dcqcn.toml", added = "etc/fabric-agent/conf.d/10.toml";
  const auto in = [](const std::string& file) {
    return [file](const std::string& text) { return config_with(file, text); };
  };
  return {{"the sample configuration", test::of_source("etc/fabric-agent.toml"), End::line, in(kConfig)},
          {"a drop-in", drop_in, End::line, in(added)},
          {"a profile", test::of_source("etc/profiles/nvidia-dcqcn.toml"), End::line, in(profile)}};
}

// NetBox's CSV, and the JSON of its API.
std::vector<Kind> plans() {
  std::string csv = "Device A,Termination A,Device B,Termination B\n", json;
  for (int i = 0; i < 8; ++i) {
    const std::string n = std::to_string(i);
    csv += "gpu01,ens" + n + "np0,leaf" + n + ",Ethernet" + n + "\n";
    const auto end = [](const std::string& device, const std::string& port) {
      return R"([{"object":{"name":")" + port + R"(","device":{"name":")" + device + "\"}}}]";
    };
    json += std::string(json.empty() ? "" : ",") + R"({"a_terminations":)" + end("gpu01", "ens" + n + "np0") +
            R"(,"b_terminations":)" + end("leaf" + n, "Ethernet" + n) + "}";
  }
  const auto read = [](const std::string& text) {
    return shown(parse_cabling(text, "plan", "gpu01"), [](const std::vector<Cable>& cables) {
      std::string out;
      for (const Cable& cable : cables) out += cable.port + " " + cable.peer.device + " " + cable.peer.port + "\n";
      return out;
    });
  };
  return {{"a cabling plan (CSV)", csv, End::line, read},
          {"a cabling plan (JSON)", "[" + json + "]", End::marked, read}};
}

Transceiver module() {
  Transceiver out{.identifier = 0x11, .vendor = "Acme", .serial_number = "SN123456", .temperature = {35.5, {}}};
  for (unsigned lane = 1; lane <= 4; ++lane) out.lanes.push_back({.number = lane, .rx_power = {0.001, {}}});
  return out;
}

std::vector<Kind> published() {
  Neighbors neighbors{.source = state::kLldpSource, .listening = {{"eth0", 1}, {"eth1", 1}}};
  for (const char* netdev : {"eth0", "eth1"})
    neighbors.heard.push_back({.netdev = netdev,
                               .source = state::kLldpSource,
                               .chassis_id = "70:06:92:6e:32:64",
                               .port_id = "Ethernet1",
                               .ttl = 120,
                               .heard = 5});
  HealthMemory health;
  for (int i = 0; i < 6; ++i) health.acks.push_back({"link_flap", "mlx5_" + std::to_string(i) + "/1", 1, 2, false});
  PublishedReport report{{}, 5};
  for (const char* port : {"mlx5_0/1", "mlx5_1/1"})
    report.report.findings.push_back({"port-state", port, Status::critical, "DOWN", "ACTIVE", "", ""});
  AgentState agent;
  agent.mode = "enforce";
  for (const char* port : {"mlx5_0/1", "mlx5_1/1"})
    agent.ports[port]["pfc"] = {.outcome = "in_sync", .detail = "pfc [3]"};
  PciState pci{"2026-01-01T00:00:00Z", {}};
  for (const char* function : {"0000:17:00.0", "0000:18:00.0", "0000:19:00.0"}) pci.functions[function].mrrs = 4096;
  const state::Optics optics{{{"eth0", module()}, {"eth1", module()}}, 60, 0, 0};
  const state::Vnic vnic{{{"0000:17:00.0", {{"cq_overrun", 1}}}, {"0000:18:00.0", {{"cq_overrun", 2}}}}, 60, 0, 0};
  return {{"neighbors.json", stored(state::neighbors_text(neighbors, 5)), End::marked,
           [](const std::string& text) {
             return shown(state::parse_neighbors(text, "x", {}),
                          [](const Neighbors& n) { return state::neighbors_text(n, 5); });
           }},
          {"health.json", stored(health_text(health)), End::marked,
           [](const std::string& text) { return shown(parse_health(text, "x"), health_text); }},
          {"report.json", stored(report_text(report)), End::marked,
           [](const std::string& text) { return shown(parse_report(text, "x"), report_text); }},
          {"optics.json", stored(state::optics_text(optics, 5)), End::marked,
           [](const std::string& text) {
             return shown(state::parse_optics(text, "x", {}),
                          [](const state::Optics& o) { return state::optics_text(o, 5); });
           }},
          {"vnic.json", stored(state::vnic_text(vnic, 5)), End::marked,
           [](const std::string& text) {
             return shown(state::parse_vnic(text, "x", {}),
                          [](const state::Vnic& v) { return state::vnic_text(v, 5); });
           }},
          {"pci.json", stored(state::pci_state_text(pci)), End::marked,
           [](const std::string& text) { return shown(state::parse_pci_state(text, "x"), state::pci_state_text); }},
          {"state.json", stored(state::agent_state_text(agent)), End::marked, [](const std::string& text) {
             return shown(state::parse_agent_state(text, "x"),
                          [](const AgentState& s) { return state::agent_state_text(s); });
           }}};
}

std::vector<Kind> kept() {
  state::Originals originals;
  for (const char* port : {"0000:17:00.0/1", "0000:18:00.0/1", "0000:19:00.0/1"})
    originals[port] = {{.mtu = 4200, .pfc = PrioSet{8}}};
  confirm::Record record;
  record.id = record.boot_id = record.policy = "0123456789abcdef";
  record.until = "2026-01-01T00:00:00Z";
  record.before = originals;
  return {
      {"originals.json", stored(state::originals_text(originals)), End::marked,
       [](const std::string& text) { return shown(state::parse_originals(text, "x"), state::originals_text); }},
      {"confirm.json", stored(confirm::record_text(record)), End::marked,
       [](const std::string& text) { return shown(confirm::parse(text, "x"), confirm::record_text); }},
      {"acks.json",
       stored(acks_text({{"link", "mlx5_0/1", 1, 2, "root", "cable ordered"}, {"pfc", "mlx5_1/1", 1, 2, "root", ""}})),
       End::marked, [](const std::string& text) { return shown(parse_acks(text, "x"), acks_text); }}};
}

std::vector<Kind> recorded() {
  Tape::Answers answer{{Sample::now, std::vector<std::string>{"400 Gb/sec (4X NDR)\n"}}};
  std::map<Tape::Question, Tape::Answers> answers;
  for (int i = 0; i < 8; ++i)
    answers[{Ask::read, "sys/class/infiniband/mlx5_" + std::to_string(i) + "/ports/1/rate"}] = answer;
  std::vector<Kind> out{{"a capture's answers", answers_text(answers), End::marked,
                         [](const std::string& text) { return shown(parse_answers(text, "x"), answers_text); }}};
  if (const auto xml = discover_hwloc_xml("/"))
    out.push_back({"hwloc's XML", *xml, End::marked, [](const std::string& text) {
                     return shown(parse_hwloc_xml(text, "x"), [](const HwlocView& view) {
                       return std::to_string(view.functions.size()) + " " +
                              std::to_string(view.machine.numa_cpus.size());
                     });
                   }});
  return out;
}

// One value a line; an absent or empty one has no line. Bad checksums are about the bytes.
std::string lines_of(Transceiver module) {
  module.bad_checksums.clear();
  const Json flat = Json::parse(state::optics_text({{{"m", std::move(module)}}}, 0)).flatten();
  std::string out;
  for (const auto& [path, value] : flat.items())
    if (!value.is_null() && value != "" && value != false) out += path + " = " + value.dump() + "\n";
  return out;
}

std::vector<Kind> wire() {
  std::string memory(256, '\0');
  for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<char>('A' + i % 26);
  memory[0] = 0x11;
  const std::string frame = test::lldp_frame("leaf01", "Ethernet1", std::string(60, 'x'));
  return {{"a module's memory", memory, End::lengths,
           [](const std::string& bytes) {
             std::vector<eeprom::Page> pages;
             for (size_t at = 0; at < bytes.size(); at += 128) {
               const auto part = std::as_bytes(std::span(bytes)).subspan(at, std::min<size_t>(128, bytes.size() - at));
               pages.push_back({{.offset = static_cast<uint8_t>(at)}, Bytes(part.begin(), part.end())});
             }
             return shown(eeprom::decode(pages), lines_of);
           }},
          {"an LLDP frame", frame, End::lengths, [](const std::string& bytes) {
             return shown(lldp::parse_frame(std::as_bytes(std::span(bytes))), [](const Neighbor& heard) {
               std::string out;
               for (const std::string* text : {&heard.chassis_id, &heard.port_id, &heard.port_description,
                                               &heard.system_name, &heard.system_description})
                 if (!text->empty()) out += *text + "\n";
               return out;
             });
           }}};
}

// Each line of the part is one of the whole.
bool is_part_of(const std::string& part, const std::string& whole) {
  const auto lines = [](const std::string& text) {
    std::multiset<std::string> out;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) out.insert(line);
    return out;
  };
  const auto all = lines(whole), some = lines(part);
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

struct Counts {
  size_t cuts = 0, refused = 0, same = 0, at_a_line = 0, absent = 0;
};

void cut(const Kind& kind, Counts& counts) {
  const Reading whole = kind.read(kind.text);
  ASSERT_TRUE(whole) << kind.name << " is read whole";
  for (size_t size = 0; size < kind.text.size(); size += kStep) {
    const std::string part = kind.text.substr(0, size);
    const Reading reading = kind.read(part);
    ++counts.cuts;
    if (!reading) ++counts.refused;
    else if (*reading == *whole) ++counts.same;
    else if (kind.end == End::line && part.ends_with('\n')) ++counts.at_a_line;
    else if (kind.end == End::lengths && is_part_of(*reading, *whole)) ++counts.absent;
    else ADD_FAILURE() << kind.name << ": cut at byte " << size << " it says in silence:\n" << *reading;
  }
}

TEST(Truncation, APartIsNeverTakenForTheWhole) {
  std::vector<Kind> all;
  for (auto& kinds : {configurations(), plans(), published(), kept(), recorded(), wire()})
    all.insert(all.end(), kinds.begin(), kinds.end());
  Counts counts;
  for (const Kind& kind : all) cut(kind, counts);
  std::printf(
      "truncations: %zu files cut at each %zu bytes: %zu cuts, %zu refused, %zu mean the same, %zu end with a whole "
      "line, %zu lack values\n",
      all.size(), kStep, counts.cuts, counts.refused, counts.same, counts.at_a_line, counts.absent);
  EXPECT_GE(all.size(), 17u);
}

}  // namespace
}  // namespace fabric
