// SPDX-License-Identifier: Apache-2.0
// Input from outside: files of less privileged services, captured trees, and text that strangers write. Every file that
// we read, cut off: a full disk, a crash in the middle of a copy, a module that is pulled while it is read. A part is
// refused, or its result does not contradict the whole; it is never taken for the whole without a message.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/files.h"
#include "base/json.h"
#include "base/parse.h"
#include "enforce/confirm.h"
#include "judge/health_state.h"
#include "kernel/capture/tape.h"
#include "node/machine.h"
#include "node/neighbor_state.h"
#include "node/optics_state.h"
#include "node/pci_state.h"
#include "node/state.h"
#include "node/topology.h"
#include "node/topology_xml.h"
#include "node/vnic_state.h"
#include "policy/cabling.h"
#include "policy/config.h"
#include "policy/show_config.h"
#include "support/ctl.h"
#include "support/module_image.h"
#include "support/test.h"
#include "support/tree.h"
#include "wire/eeprom.h"
#include "wire/lldp.h"

namespace fabric {
namespace {

namespace fs = std::filesystem;
using test::code_of;
using test::has;
using test::Tree;

// An LLDP frame with the names of chassis and port, and `text` as port description, system name and system description.
std::string lldp_frame(const std::string& chassis, const std::string& port, const std::string& text) {
  std::string frame("\x01\x80\xc2\x00\x00\x0e\x00\x00\x00\x00\x00\x01\x88\xcc", 14);
  const auto tlv = [&](unsigned type, const std::string& value) {
    frame += static_cast<char>(type << 1U);
    frame += static_cast<char>(value.size());
    frame += value;
  };
  tlv(1, "\x07" + chassis);
  tlv(2, "\x05" + port);
  tlv(3, std::string("\0\x78", 2));
  for (const unsigned type : {4U, 5U, 6U}) tlv(type, text);
  tlv(0, "");
  return frame;
}

// -- Files that a service writes into a folder of its own

struct Foreign {
  const char* file;
  std::string whole;
  std::function<int(const Root&)> load;
};

std::vector<Foreign> foreign_files() {
  return {{state::kNeighborFile, state::neighbors_text({.source = state::kLldpSource}, 5),
           [](const Root& root) { return code_of(state::load_neighbors(root)); }},
          {kHealthFile, health_text({}), [](const Root& root) { return code_of(load_health(root)); }},
          {kReportFile, published_text({{}, 5}), [](const Root& root) { return code_of(load_report(root)); }},
          {state::kOpticsFile, state::optics_text({}, 5),
           [](const Root& root) { return code_of(state::load_optics(root)); }},
          {state::kVnicFile, state::vnic_text({}, 5), [](const Root& root) { return code_of(state::load_vnic(root)); }},
          {state::kPciFile, state::pci_state_text({"2026-01-01T00:00:00Z", {}}),
           [](const Root& root) { return code_of(state::load_pci_state(root)); }},
          {state::kStateFile, state::agent_state_text({}),
           [](const Root& root) { return code_of(state::load_agent_state(root)); }}};
}

// Objects that the service may put in the place of its file, and the error of a reader with more privileges.
struct Attack {
  const char* what;
  int code;
  std::function<bool(const std::string& path, const std::string& secret)> plant;
};

const std::vector<Attack>& attacks() {
  static const std::vector<Attack> all{
      {"a link", ELOOP,
       [](const std::string& path, const std::string& secret) { return ::symlink(secret.c_str(), path.c_str()) == 0; }},
      {"a FIFO", EINVAL, [](const std::string& path, const std::string&) { return ::mkfifo(path.c_str(), 0644) == 0; }},
      {"a folder", EISDIR,
       [](const std::string& path, const std::string&) { return ::mkdir(path.c_str(), 0755) == 0; }},
      {"a device", EINVAL,
       [](const std::string& path, const std::string&) {
         return ::mknod(path.c_str(), S_IFCHR | 0644, makedev(1, 3)) == 0;
       }},
      {"a hard link to another's file", EPERM,
       [](const std::string& path, const std::string& secret) {
         return ::chown(secret.c_str(), 12345, 12345) == 0 && ::link(secret.c_str(), path.c_str()) == 0;
       }},
      {"a huge file", EFBIG, [](const std::string& path, const std::string&) {
         std::ofstream(path) << "x";
         return ::truncate(path.c_str(), Root::kMostBytes + 1) == 0;
       }}};
  return all;
}

TEST(ForeignFiles, OnlyAFileOfTheServicesOwnIsOpened) {
  size_t refused = 0, impossible = 0;
  for (const Foreign& foreign : foreign_files())
    for (const Attack& attack : attacks()) {
      Tree tree;
      tree.file("proc/uptime", "10 10\n").file(foreign.file, foreign.whole).file("secret", foreign.whole);
      const std::string path = tree.path() + "/" + foreign.file;
      const int healthy = foreign.load(tree.root());
      EXPECT_TRUE(healthy == 0 || healthy == ESTALE) << foreign.file;
      tree.remove(foreign.file);
      if (!attack.plant(path, tree.path() + "/secret")) {
        ++impossible;  // device nodes require root
        continue;
      }
      EXPECT_EQ(foreign.load(tree.root()), attack.code) << foreign.file << ": " << attack.what;
      ++refused;
    }
  std::printf("files of other services: %zu attacks refused, %zu not possible here\n", refused, impossible);
  EXPECT_GT(refused, 0u);
}

TEST(ForeignFiles, CaptureDoesNotPackWhatALinkNames) {
  for (const Foreign& foreign : foreign_files()) {
    Tree tree, out;
    tree.file("etc/shadow", "root:SECRET:1::::::\n").link(foreign.file, "/etc/shadow");
    tree.file("proc/uptime", "10 10\n").file("proc/sys/kernel/hostname", "gpu01\n");
    tree.file("etc/fabric-agent/fabric-agent.toml", "mode = \"audit\"\n");
    const std::string to = out.path() + "/capture";
    const std::string said = test::ran_on(tree, {"capture", to, "-i", "100ms"}).all();
    ASSERT_TRUE(fs::exists(to)) << said;
    size_t files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(to)) {
      EXPECT_FALSE(entry.is_symlink() && has(entry.path().string(), foreign.file)) << entry.path();
      if (!entry.is_regular_file() || entry.is_symlink()) continue;
      EXPECT_FALSE(has(test::slurp(entry.path()), "SECRET")) << entry.path();
      ++files;
    }
    EXPECT_GT(files, 0u);
    EXPECT_FALSE(has(said, "SECRET"));
  }
}

// -- Captured trees

// A file below a captured tree, a verb that reads it, and the verb's output.
struct InTree {
  const char* file;
  std::string text, shown;
  std::vector<std::string> words;
};

TEST(CapturedTree, NoLinkOfItShowsAFileOutside) {
  const std::string config = "etc/fabric-agent/fabric-agent.toml";
  const std::vector<InTree> files{
      {"etc/fabric-agent/fabric-agent.toml",
       "mode = \"audit\"\n[[port]]\nname = \"SECRET\"\nmtu = 4200\n",
       "SECRET",
       {"config", "show"}},
      {"etc/fabric-agent/conf.d/10.toml", "[[port]]\nname = \"SECRET\"\nmtu = 4200\n", "SECRET", {"config", "show"}},
      {"etc/fabric-agent/profiles/site.toml", "SECRET = 1\n", "SECRET", {"config", "check"}},
      {"etc/fabric-agent/cables.csv",
       "Device A,Termination A,Device B,Termination B\nSECRET,1\n",
       "2 fields",
       {"config", "check"}},
      {"var/lib/fabric-agent/acks.json",
       acks_text({{"pfc", "", 1, 4102444800, "root", "SECRET"}}),
       "SECRET",
       {"ack", "--list"}},
      {"run/fabric-agent/state.json",
       R"({"format":1,"mode":"audit","config_error":["SECRET"]})",
       "SECRET",
       {"status"}}};
  for (const InTree& each : files)
    for (const char* kind : {"the file", "its link", "its folder's link"}) {
      Tree tree, outside;
      tree.file("proc/sys/kernel/hostname", "gpu01\n")
          .file("sys/class/net/lo/mtu", "65536\n")
          .file("proc/uptime", "9 9\n");
      tree.file(config,
                "mode = \"audit\"\ncabling = { file = \"/etc/fabric-agent/cables.csv\" }\n[[port]]\nname = "
                "\"p\"\nprofile = \"site\"\n");
      if (!has(each.file, "profiles")) tree.file("etc/fabric-agent/profiles/site.toml", "mtu = 4200\n");
      tree.remove(each.file);
      outside.file(each.file, each.text);
      const fs::path path(each.file);
      if (kind == std::string("the file")) tree.file(each.file, each.text);
      else if (kind == std::string("its link")) tree.link(each.file, outside.path() + "/" + each.file);
      else tree.remove(path.parent_path()).link(path.parent_path(), outside.path() + "/" + path.parent_path().string());
      for (const std::string& name : {tree.path(), tree.path() + "/."}) {
        std::vector<std::string> words = each.words;
        words.insert(words.end(), {"--root", name});
        EXPECT_EQ(static_cast<bool>(has(test::ran(words).all(), each.shown)), kind == std::string("the file"))
            << each.file << ", " << kind << ", --root " << name;
      }
    }
}

// A verb that writes is a row here; so is every new one.
TEST(CapturedTree, IsNotWritten) {
  const std::vector<std::vector<std::string>> verbs{
      {"apply"},      {"apply", "--confirm", "60"}, {"restore"}, {"confirm"}, {"selftest", "mlx5_0/1"},
      {"ack", "pfc"}, {"ack", "pfc", "--remove"}};
  const auto files = [](const Tree& tree) {
    std::set<std::string> out;
    for (const auto& entry : fs::recursive_directory_iterator(tree.path())) out.insert(entry.path().string());
    return out;
  };
  for (const auto& words : verbs) {
    Tree tree;
    tree.file("proc/sys/kernel/hostname", "gpu01\n").file("proc/uptime", "9 9\n");
    tree.file("etc/fabric-agent/fabric-agent.toml", "mode = \"audit\"\n[[port]]\nname = \"roce\"\npfc = [3]\n");
    tree.file("sys/class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet\n")
        .file("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n")
        .file("sys/class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "eth0\n")
        .file("sys/class/net/eth0/mtu", "9000\n");
    const auto before = files(tree);
    const test::Ran result = test::ran_on(tree, words);
    EXPECT_NE(result.code, 0) << words.front();
    EXPECT_TRUE(has(result.all(), "captured tree")) << words.front();
    EXPECT_EQ(files(tree), before) << words.front();
  }
}

// -- Text of strangers

// An escape sequence, line breaks, an override of the writing direction, the one-byte form of ESC [, bytes that are not
// UTF-8.
const std::string kEvil =
    "a\x1b[2Jb\nc\rd\u202e"
    "e\x9b"
    "f\u2028g\x7f";
const std::string kEvilQuoted = R"("a\u001b[2Jb\nc\rd\u202Ee\u009Bf\u2028g\u007F")";

bool is_shown(const std::string& text, Breaks breaks = Breaks::replace) { return clean_text(text, breaks) == text; }

std::vector<std::string> of_lldp() {
  const std::string frame = lldp_frame(kEvil, kEvil, kEvil);
  const auto heard = lldp::parse_frame(std::as_bytes(std::span(frame)));
  if (!heard) return {};
  return {heard->chassis_id, heard->port_id, heard->port_description, heard->system_name, heard->system_description};
}

std::vector<std::string> of_module() {
  test::ModuleImage image;
  for (unsigned at = 0; at < 256; ++at) image.at(0, at) = 0;
  image.at(0, 0) = 0x11;
  image.text(0, 148, kEvil.substr(0, 16));
  image.text(0, 196, kEvil.substr(4, 16));
  const eeprom::Page lower = *image.read(eeprom::kFirstPage), upper = *image.read({.offset = 128});
  const auto module = eeprom::decode(std::vector{lower, upper});
  return module ? std::vector{module->vendor, module->serial_number} : std::vector<std::string>{};
}

std::vector<std::string> of_optics() {
  const auto read = state::parse_optics(R"({"format":1,"read":1,"interval":1,"modules":{"eth0":{"vendor":)" +
                                            kEvilQuoted + R"(,"bad_checksums":[)" + kEvilQuoted + "]}}}",
                                        "x", {});
  if (!read || read->modules.empty()) return {};
  const auto& [netdev, module] = *read->modules.begin();
  return {netdev, module.vendor, module.bad_checksums.front()};
}

std::vector<std::string> of_neighbors() {
  const auto read = state::parse_neighbors(R"({"format":1,"updated":1,"source":)" + kEvilQuoted +
                                               R"(,"neighbors":[{"ttl":120,"heard":1,"netdev":)" + kEvilQuoted +
                                               R"(,"chassis_id":)" + kEvilQuoted + R"(,"port_id":)" + kEvilQuoted +
                                               R"(,"system_name":)" + kEvilQuoted + "}]}",
                                           "x", 1);
  if (!read || read->heard.empty()) return {};
  const Neighbor& one = read->heard.front();
  return {one.netdev, one.source, one.chassis_id, one.port_id, one.system_name};
}

std::vector<std::string> of_acks() {
  const auto acks = parse_acks(acks_text({{"link", kEvil, 1, 2, kEvil, kEvil}}), "x");
  if (!acks || acks->empty()) return {};
  return {acks->front().subject, acks->front().by, acks->front().comment};
}

std::vector<std::string> of_agent_state() {
  const auto state = state::parse_agent_state(
      R"({"format":1,"mode":)" + kEvilQuoted + R"(,"ports":{"mlx5_0/1":{"pfc":{"outcome":)" + kEvilQuoted +
          R"(,"detail":)" + kEvilQuoted + R"(,"drift_by":)" + kEvilQuoted + "}}}}",
      "x");
  if (!state || state->ports.empty()) return {};
  const auto& [port, settings] = *state->ports.begin();
  const auto& [key, setting] = *settings.begin();
  return {port, key, setting.detail, setting.drift_by};
}

std::vector<std::string> of_cabling() {
  const auto cables = parse_cabling(
      "Device A,Termination A,Device B,Termination B\ngpu01,\"" + kEvil + "\",\"" + kEvil + "\",\"" + kEvil + "\"\n",
      "x", "gpu01");
  if (!cables || cables->empty()) return {};
  return {cables->front().port, cables->front().peer.device, cables->front().peer.port};
}

std::vector<std::string> of_host() {
  Tree tree;
  tree.file("proc/sys/kernel/hostname", kEvil + "\n");
  return {machine::hostname(tree.root())};
}

TEST(StrangersText, IsCleanWhereItIsRead) {
  const std::vector<std::pair<const char*, std::function<std::vector<std::string>()>>> sources{
      {"LLDP", of_lldp},          {"module memory", of_module},
      {"optics.json", of_optics}, {"neighbors.json", of_neighbors},
      {"acks.json", of_acks},     {"state.json", of_agent_state},
      {"cabling", of_cabling},    {"host name", of_host}};
  size_t texts = 0;
  for (const auto& [name, read] : sources) {
    const auto found = read();
    EXPECT_FALSE(found.empty()) << name;
    for (const std::string& text : found) {
      EXPECT_FALSE(text.empty()) << name;
      EXPECT_TRUE(is_shown(text)) << name << ": " << ::testing::PrintToString(text);
      ++texts;
    }
  }
  std::printf("texts of strangers: %zu texts of %zu sources, all clean\n", texts, sources.size());
}

// A configuration is an administrator's, but its names go everywhere: such a name is a mistake, and refused.
TEST(StrangersText, AConfigurationDoesNotHaveIt) {
  for (const std::string& line :
       {"[[port]]\nname = " + kEvilQuoted, "[[port]]\nmatch = { netdev = [" + kEvilQuoted + "] }", kEvilQuoted + " = 1",
        "[cabling]\nhost = " + kEvilQuoted, std::string("mode = \"\x1b[2J\"")}) {
    const auto config = parse_config("mode = \"audit\"\n" + line + "\n", "fabric-agent.toml");
    ASSERT_FALSE(config.ok()) << line;
    EXPECT_TRUE(is_shown(config.error().text(), Breaks::keep)) << ::testing::PrintToString(config.error().text());
  }
}

// All of it at once, through the verbs that show it.
TEST(StrangersText, DoesNotReachATerminal) {
  Tree tree;
  const std::string port = "sys/class/infiniband/mlx5_0/ports/1";
  tree.file("proc/sys/kernel/hostname", kEvil + "\n").file("proc/uptime", "9 9\n");
  tree.file(port + "/state", "4: ACTIVE" + kEvil + "\n").file(port + "/link_layer", "Ethernet\n");
  tree.file(port + "/phys_state", "5: LinkUp\n").file(port + "/rate", "400 Gb/sec (4X " + kEvil + ")\n");
  tree.file(port + "/gid_attrs/ndevs/0", "eth0\n").file(port + "/gid_attrs/types/0", kEvil + "\n");
  tree.file("sys/class/infiniband/mlx5_0/fw_ver", kEvil + "\n").file("sys/class/infiniband/mlx5_0/board_id", kEvil);
  tree.file("sys/class/net/eth0/mtu", "9000\n").file("sys/class/net/eth0/ifalias", kEvil);
  tree.file("etc/fabric-agent/fabric-agent.toml", "mode = \"audit\"\n[[port]]\nname = \"roce\"\npfc = [3]\n");
  tree.file(
      state::kNeighborFile,
      R"({"format":1,"updated":9,"source":"fabric-lldp","listening":{"eth0":1},"neighbors":[{"netdev":"eth0","ttl":120,)"
      R"("heard":8,"chassis_id":)" +
          kEvilQuoted + R"(,"port_id":)" + kEvilQuoted + R"(,"system_name":)" + kEvilQuoted + "}]}");
  tree.file(state::kOpticsFile,
            R"({"format":1,"read":9,"interval":60,"modules":{"eth0":{"vendor":)" + kEvilQuoted + "}}}");
  tree.file(state::kStateFile, R"({"format":1,"mode":"enforce","config_error":[)" + kEvilQuoted +
                                   R"(],"ports":{"mlx5_0/1":{"pfc":{"outcome":)" + kEvilQuoted + R"(,"detail":)" +
                                   kEvilQuoted + "}}}}");
  tree.file(kAckFile, acks_text({{"link", kEvil, 1, 4102444800, kEvil, kEvil}}));
  size_t shown = 0;
  for (const std::vector<std::string>& verb : {std::vector<std::string>{"status"},
                                               {"check", "-i", "100ms"},
                                               {"diagnose", "-i", "100ms"},
                                               {"show"},
                                               {"neighbors"},
                                               {"ack", "--list"},
                                               {"topo"},
                                               {"counters", "-i", "100ms"},
                                               {"config", "show"},
                                               {"status", "--json"},
                                               {"check", "--json", "-i", "100ms"},
                                               {"neighbors", "--json"}}) {
    const std::string said = test::ran_on(tree, verb).all();
    EXPECT_FALSE(said.empty()) << verb.front();
    EXPECT_TRUE(is_shown(said, Breaks::keep)) << verb.front() << ": " << ::testing::PrintToString(said);
    shown += said.size();
  }
  EXPECT_GT(shown, 1000u);
}

// The two who write an acknowledgement's text: the option and the environment.
TEST(StrangersText, IsNotWrittenByAck) {
  Tree tree;
  tree.folder("var/lib/fabric-agent").file("proc/uptime", "9 9\n").file("proc/sys/kernel/hostname", "gpu01\n");
  ctl::Options options;
  options.verb = "ack";
  options.arguments = {"pfc"};
  options.root = options.host = tree.path();
  options.comment = kEvil;
  ::setenv("SUDO_USER", kEvil.c_str(), 1);
  ctl::Output output;
  const int code = ctl::find_verb("ack")->run(options, output);
  ::unsetenv("SUDO_USER");
  ASSERT_EQ(code, 0) << output.errors;
  const std::string written = tree.content(kAckFile);
  for (const char* escape : {"\\u001B", "\\u001b", "\u202e"}) EXPECT_FALSE(has(written, escape));
  EXPECT_TRUE(is_shown(written, Breaks::keep)) << written;
}

// -- Locks

// Another process replaced the lock file after we had opened it: a lock on the old file would exclude no process.
TEST(Lock, IsOnTheFileThatHasTheNameNow) {
  Tree tree;
  auto first = state::take_lock(tree.path());
  ASSERT_TRUE(first.ok());
  const std::string path = tree.path() + "/" + state::kLockFile;
  const auto inode = [](int fd, const char* name) {
    struct stat status {};
    const int failed = fd >= 0 ? ::fstat(fd, &status) : ::stat(name, &status);
    return failed == 0 ? status.st_ino : ino_t{0};
  };
  std::thread replacer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    fs::rename(path, path + ".old");
    std::ofstream(path) << "";
    first = Fd();  // the waiting one gets the lock of the old file
  });
  auto second = state::take_lock(tree.path(), std::chrono::seconds(20));
  replacer.join();
  ASSERT_TRUE(second.ok()) << second.error().text();
  EXPECT_EQ(inode(second->get(), nullptr), inode(-1, path.c_str()));
  EXPECT_EQ(code_of(state::take_lock(tree.path())), EWOULDBLOCK);
}

// -- Files that are cut off

constexpr size_t kStep = 64;
constexpr const char* kConfig = "etc/fabric-agent/fabric-agent.toml";

// A reader's result for a text, in a form that can be compared; nullopt: refused.
using Reading = std::optional<std::string>;

// How a kind of file shows where it ends.
enum class End : uint8_t {
  marked,   // a last line, a bracket: each part is refused, or says the same
  line,     // a person's or another program's text: a part that ends with a whole line looks like the whole
  lengths,  // bytes with a place or a length: missing parts are absent, and the rest is the same as in the whole
};
struct Kind {
  const char* name;
  std::string text;
  End end;
  std::function<Reading(const std::string&)> read;
};

// The text as replace_file() writes it to the disk.
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
  agent.mode = Mode::enforce;
  for (const char* port : {"mlx5_0/1", "mlx5_1/1"})
    agent.ports[port]["pfc"] = {.outcome = Outcome::in_sync, .detail = "pfc [3]"};
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
          {"report.json", stored(published_text(report)), End::marked,
           [](const std::string& text) { return shown(parse_report(text, "x"), published_text); }},
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
  const std::string frame = lldp_frame("leaf01", "Ethernet1", std::string(60, 'x'));
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
