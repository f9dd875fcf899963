// SPDX-License-Identifier: Apache-2.0
#include "node/state.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <thread>

#include "base/files.h"
#include "base/json.h"
#include "base/parse.h"
#include "setting/setting_table.h"

namespace fabric {

FABRIC_JSON_MEMBERS(SettingState, detail, repairs, last_repair, drifts, last_drift, drift_from, drift_to, drift_by,
                    reason)

// A word that a newer release has added is unknown here. It is no reason to reject the file.
template <HasWords Enum>
static void read_word(const Json& json, const char* name, std::optional<Enum>& out) {
  std::string word;
  read_member(json, name, word);
  out = parse_word<Enum>(word);
}

static void to_json(Json& json, const SettingState& state) {
  json["outcome"] = state.outcome;
  write_members(json, state);
}

static void from_json(const Json& json, SettingState& state) {
  read_members(json, state);
  read_word(json, "outcome", state.outcome);
}

// Text of several lines as an array, because parse_state() keeps no line breaks. Null if the text is empty.
static Json lines_json(std::string_view text) {
  if (text.empty()) return {};
  return split(text, '\n');
}

static void to_json(Json& json, const AgentState& state) {
  json = {{"version", state.version},
          {"mode", state.mode},
          {"updated", state.updated},
          {"config_error", lines_json(state.config_error)},
          {"held", state.held},
          {"originals_error", lines_json(state.lost_originals ? state.lost_originals->why : "")},
          {"lost_entry", state.lost_entry},
          {"left_of_self_tests", state.left_of_self_tests},
          {"ports", state.ports},
          {"config", state.config}};
  if (!state.held_until_reload.empty()) json["held_until_reload"] = state.held_until_reload;
  if (!state.lost_originals) return;
  json["originals_file"] = state.lost_originals->file;
  json["originals_newer"] = state.lost_originals->is_newer;
}

static void from_json(const Json& json, AgentState& state) {
  std::vector<std::string> config_error, originals_error;
  read_member(json, "version", state.version);
  read_member(json, "config", state.config);
  read_word(json, "mode", state.mode);
  read_member(json, "updated", state.updated);
  read_member(json, "config_error", config_error);
  read_member(json, "held", state.held);
  read_member(json, "held_until_reload", state.held_until_reload);
  read_member(json, "originals_error", originals_error);
  read_member(json, "lost_entry", state.lost_entry);
  read_member(json, "left_of_self_tests", state.left_of_self_tests);
  read_member(json, "ports", state.ports);
  state.config_error = joined(config_error, "\n");
  if (originals_error.empty()) return;
  LostOriginals& lost = state.lost_originals.emplace();
  lost.why = joined(originals_error, "\n");
  read_member(json, "originals_file", lost.file);
  read_member(json, "originals_newer", lost.is_newer);
}

namespace state {

// Null: no setting of this release.
static const Setting* setting_named(const Json& name) {
  return find_where(kSettings, [&](const Setting& setting) { return name == setting.key; });
}

void to_json(Json& json, const Original& original) {
  Json out = Json::object();
  if (!original.as_read.empty()) out = Json::parse(original.as_read);
  const Json now = static_cast<const Qos&>(original);
  Json& settings = out["settings"];
  if (!settings.is_object()) settings = Json::object();
  Qos before;
  from_json(settings, before);
  for (const Setting& setting : kSettings) {
    const std::string key(setting.key);
    if (!now.contains(key)) settings.erase(key);
    else if (!settings.contains(key) || !same_value(setting, before, original)) settings[key] = now[key];
  }
  const std::pair<const char*, const std::string&> names[]{{"place", original.place},
                                                           {"address", original.address},
                                                           {"driver", original.driver},
                                                           {"pci_id", original.pci_id},
                                                           {"bond", original.bond}};
  for (const auto& [key, text] : names) {
    if (text.empty()) out.erase(key);
    else out[key] = text;
  }
  const std::pair<const char*, bool> marks[]{{"front_end", original.front_end},
                                             {"may_lack_pause_and_pfc", original.may_lack_pause_and_pfc}};
  for (const auto& [key, holds] : marks) {
    if (holds) out[key] = true;
    else out.erase(key);
  }
  Json unknown = Json::array();
  for (const Json& name : out.value("unknown", Json::array()))
    if (setting_named(name) == nullptr) unknown.push_back(name);
  for (const Setting& setting : kSettings)
    if (has_key(original.unknown, setting.id)) unknown.push_back(setting.key);
  if (unknown.empty()) out.erase("unknown");
  else out["unknown"] = std::move(unknown);
  json = std::move(out);
}

void from_json(const Json& json, Original& original) {
  read_member(json, "place", original.place);
  read_member(json, "address", original.address);
  read_member(json, "driver", original.driver);
  read_member(json, "pci_id", original.pci_id);
  read_member(json, "bond", original.bond);
  read_member(json, "front_end", original.front_end);
  read_member(json, "may_lack_pause_and_pfc", original.may_lack_pause_and_pfc);
  read_member(json, "settings", static_cast<Qos&>(original));
  for (const Json& name : json.value("unknown", Json::array()))
    if (const Setting* setting = setting_named(name)) original.unknown.set(index(setting->id));
  original.as_read = json.dump();
}

bool is_empty(const Original& original) {
  if (keys_of(original).any()) return false;
  const Json entry = original;
  for (const auto& [key, value] : entry.items())
    if (!contains(std::array{"place", "address", "driver", "pci_id", "settings", "front_end", "may_lack_pause_and_pfc",
                             "bond"},
                  key))
      return false;
  return entry.at("settings").empty();
}

namespace {

struct OriginalsFile {
  Originals ports;
};

void from_json(const Json& json, OriginalsFile& file) { read_required(json, "ports", file.ports); }

// The member of the state file that AgentState lacks.
struct DevicesMember {
  Devices devices;
};

void from_json(const Json& json, DevicesMember& member) { read_member(json, "devices", member.devices); }

void note_names(Original& entry, const Port& port) {
  if (entry.driver.empty()) entry.driver = port.kernel_driver;
  if (entry.pci_id.empty()) entry.pci_id = port.pci_id;
  if (port.card.empty()) return;
  entry.place = port_place(port);
  if (port.card != port.card_address) entry.address = port.card_address;
}

// Whether the entry is the port's, whose serial number cannot be read at present.
bool is_same_card(const Original& entry, const Port& port) {
  return !entry.address.empty() && entry.address == port.card_address && port_key(port) == port.card_address;
}

// Whether the entry's settings are of the port's driver. A port that is known by its place alone must also be of the
// entry's model.
bool is_of_driver(const Original& entry, const Port& port) {
  const auto differ = [](const std::string& a, const std::string& b) { return !a.empty() && !b.empty() && a != b; };
  if (differ(entry.driver, port.kernel_driver)) return false;
  return !port.card.empty() || !differ(entry.pci_id, port.pci_id);
}

// The key of an entry whose own key is another card's now.
std::string key_aside(const std::string& key, const std::string& driver, const std::string& pci_id) {
  return key + " (" + driver + " " + pci_id + ")";
}

// Whether the entry of this key is the port's.
bool is_its(const std::string& key, const Original& entry, const Port& port) {
  const std::string own = port_key(port);
  return is_of_driver(entry, port) &&
         (key == own || is_same_card(entry, port) || key == key_aside(own, port.kernel_driver, port.pci_id));
}

}  // namespace

std::string port_place(const Port& port) {
  return port.pci.empty() ? "netdev:" + port.netdev : port.pci + "/" + std::to_string(port.number);
}

std::string port_key(const Port& port) { return port.card.empty() ? port_place(port) : port.card; }

Originals::iterator find_original(Originals& originals, const Port& port) {
  const std::string key = port_key(port);
  if (const auto old = originals.find(port.card_address);
      port.card_address != key && old != originals.end() && is_of_driver(old->second, port)) {
    // The port's own settings move to the entry of its key. A bond and its member shared the old entry.
    Original& entry = original_of(originals, port);
    if (entry.as_read.empty()) std::swap(entry.as_read, old->second.as_read);
    note_names(entry, port);
    const Keys own = qos::own_keys(port);
    if (own[index(SettingId::mtu)] && !entry.mtu) entry.bond = std::exchange(old->second.bond, {});
    for (size_t i = 0; i < kSettingCount; ++i) {
      if (!own[i]) continue;
      if (!has_value(kSettings[i], entry)) copy_value(kSettings[i], old->second, entry);
      copy_value(kSettings[i], Qos{}, old->second);
    }
    entry.unknown |= old->second.unknown & own;
    old->second.unknown &= ~own;
    if (is_empty(old->second)) originals.erase(old);
    if (is_empty(entry)) originals.erase(key);
  }
  const auto found = originals.find(key);
  if (found != originals.end() && is_its(key, found->second, port)) return found;
  return std::ranges::find_if(originals, [&](const auto& each) { return is_its(each.first, each.second, port); });
}

std::optional<Original> original_for(Originals originals, const Port& port) {
  const auto found = find_original(originals, port);
  if (found == originals.end()) return std::nullopt;
  return std::move(found->second);
}

Original& original_of(Originals& originals, const Port& port) {
  const std::string key = port_key(port);
  for (auto& [name, entry] : originals)
    if (is_its(name, entry, port)) return entry;
  if (auto other = originals.extract(key)) {
    const Original& entry = other.mapped();
    other.key() = key_aside(key, entry.driver, entry.pci_id);
    originals.insert(std::move(other));
  }
  Original& entry = originals[key];
  entry.driver = port.kernel_driver;
  entry.pci_id = port.pci_id;
  return entry;
}

bool is_entry_of(const Originals::value_type& entry, const Port& port) {
  const auto& [key, original] = entry;
  return is_its(key, original, port) || (key == port.card_address && is_of_driver(original, port));
}

std::vector<Originals::const_iterator> absent_originals(const Originals& originals, const std::vector<Port>& ports) {
  std::vector<Originals::const_iterator> out;
  for (auto entry = originals.begin(); entry != originals.end(); ++entry)
    if (std::ranges::none_of(ports, [&](const Port& port) { return is_entry_of(*entry, port); })) out.push_back(entry);
  return out;
}

std::string originals_text(const Originals& originals) { return state_text({{"ports", originals}}); }

Result<Originals> parse_originals(std::string_view text, const std::string& name) {
  auto file = read_state<OriginalsFile>(text, name);
  if (!file) return file.error();
  return std::move(file->ports);
}

std::string agent_state_text(const AgentState& state, const Devices& devices) {
  Json out = state;
  out["devices"] = devices;
  return state_text(std::move(out));
}

Result<AgentState> parse_agent_state(std::string_view text, const std::string& name) {
  return read_state<AgentState>(text, name);
}

Result<Originals> load_originals(const Root& root, const char* file) {
  auto found = parse_file(root.read(file), file, parse_originals);
  if (!found) return found.error();
  return std::move(*found).value_or(Originals{});
}

Result<Originals> load_originals(const std::string& directory, const char* file) {
  const auto root = Root::open(directory);
  if (!root) return root.error();
  return load_originals(*root, file);
}

Result<void> save_originals(const std::string& directory, const Originals& originals, const char* file) {
  return replace_kept_file(directory, file, originals_text(originals));
}

Result<void> replace_kept_file(const std::string& directory, const char* file, std::string_view text) {
  const auto root = Root::open(directory);
  if (!root) return root.error();
  const auto present = root->read(file);
  if (!present && present.error().code == ENOENT) return replace_file(directory, file, text);
  if (!present) return present.error();
  const auto old = parse_state(*present, std::string("/") + file);
  if (!old) return old.error();
  Json whole = Json::parse(text);
  for (const auto& [key, value] : old->items())
    if (!whole.contains(key)) whole[key] = value;
  return replace_file(directory, file, json_line(whole));
}

Result<std::string> set_originals_aside(const std::string& directory) {
  auto folder = make_directory_of(directory, kOriginalsFile);
  if (!folder) return folder.error();
  const std::string name = base_name(kOriginalsFile);
  for (int i = 1; i < 100; ++i) {
    std::string aside = name + ".corrupt";
    if (i > 1) aside += "." + std::to_string(i);
    if (::renameat2(folder->get(), name.c_str(), folder->get(), aside.c_str(), RENAME_NOREPLACE) == 0) return aside;
    if (errno != EEXIST) break;
  }
  return error(errno, std::string("/") + kOriginalsFile + ": cannot be renamed");
}

// With the settings from before a self-test that has not ended: the present ones are of its trials.
static Result<Qos> before_self_test(const std::string& directory, const Port& port, Qos before) {
  auto record = load_originals(directory, kSelfTestFile);
  if (!record && record.error().code != EBADMSG) return record.error();
  if (!record) return before;
  const auto entry = find_original(*record, port);
  if (entry == record->end()) return before;
  for (const Setting& setting : kSettings)
    if (has_value(setting, before) && has_value(setting, entry->second)) copy_value(setting, entry->second, before);
  return before;
}

Result<void> save_original(const std::string& directory, Originals& originals, const Port& port, const Qos& before,
                           const std::string& bond) {
  const auto original = before_self_test(directory, port, before);
  if (!original) return original.error();
  const Originals old = originals;
  end_bond(originals, port, bond);
  (void)find_original(originals, port);  // an entry under the card's other name becomes its own
  Original& entry = original_of(originals, port);
  note_names(entry, port);
  const Keys own = qos::own_keys(port);
  if (own[index(SettingId::mtu)] && !entry.mtu) entry.bond = bond;
  for (size_t i = 0; i < kSettingCount; ++i)
    if (own[i] && !entry.unknown[i] && !has_value(kSettings[i], entry)) copy_value(kSettings[i], *original, entry);
  if (entry.fec == kUnknownFec) {
    entry.fec.reset();
    entry.unknown.set(index(SettingId::fec));
  }
  if (originals == old) return {};
  auto saved = save_originals(directory, originals);
  if (!saved) originals = old;
  return saved;
}

void end_bond(Originals& originals, const Port& port, const std::string& bond) {
  const auto entry = find_original(originals, port);
  if (entry == originals.end() || entry->second.bond.empty() || entry->second.bond == bond) return;
  forget(originals, port, Keys().set(index(SettingId::mtu)));
}

void forget(Originals& originals, const Port& port, const Keys& keys) {
  const auto entry = find_original(originals, port);
  if (entry == originals.end()) return;
  for (size_t i = 0; i < kSettingCount; ++i)
    if (keys[i]) copy_value(kSettings[i], Qos{}, entry->second);
  entry->second.unknown &= ~keys;
  if (!entry->second.mtu) entry->second.bond.clear();
  if (is_empty(entry->second)) originals.erase(entry);
}

Result<std::shared_ptr<const AgentState>> AgentStateReader::load(const Root& root) {
  using StatePointer = std::shared_ptr<const AgentState>;
  auto text = root.read_foreign(kStateFile);
  if (!text && text.error().code == ENOENT) return StatePointer{};
  if (!text) return text.error();
  if (!last_ || *text != text_) {
    auto parsed = parse_agent_state(*text, std::string("/") + kStateFile);
    if (parsed) last_ = StatePointer(std::make_shared<const AgentState>(std::move(*parsed)));
    else last_ = Result<StatePointer>(parsed.error());
    text_ = std::move(*text);
  }
  if (!*last_) return *last_;
  if (const bool running = root.is_locked(kAgentLockFile); running != (**last_)->running) {
    AgentState state = ***last_;
    state.running = running;
    last_ = StatePointer(std::make_shared<const AgentState>(std::move(state)));
  }
  return *last_;
}

Result<std::optional<AgentState>> load_agent_state(const Root& root) {
  auto state = AgentStateReader().load(root);
  if (!state) return state.error();
  if (*state == nullptr) return std::optional<AgentState>{};
  return std::optional<AgentState>(**state);
}

Result<void> save_agent_state(const std::string& directory, const AgentState& state, const Devices& devices) {
  return replace_file(directory, kStateFile, agent_state_text(state, devices));
}

Result<Devices> agent_devices(const Root& root) {
  const auto text = root.read_foreign(kStateFile);
  if (!text) return text.error();
  auto member = read_state<DevicesMember>(*text, std::string("/") + kStateFile);
  if (!member) return member.error();
  return std::move(member->devices);
}

namespace {

struct flock whole_file(short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  return lock;
}

// 0 if the lock is taken, EWOULDBLOCK if another process holds it, or the errno that prevents taking it.
int try_lock(int fd) {
  struct flock lock = whole_file(F_WRLCK);
  if (::fcntl(fd, F_OFD_SETLK, &lock) == 0) return 0;
  if (errno == EAGAIN || errno == EACCES) return EWOULDBLOCK;
  return errno;
}

}  // namespace

// Locks are open file description locks (fcntl(2), Linux 3.15): a process can query the holder without taking the lock
// and without permission to write.
Result<Fd> take_lock(const std::string& directory, std::chrono::milliseconds patience, const char* file) {
  const std::string path = file, shown = "/" + path, name = base_name(path);
  auto folder = make_directory_of(directory, path);
  if (!folder) return folder.error();
  Fd fd(::openat(folder->get(), name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return error(errno, shown + ": cannot open the lock");
  // Every user may read the agent's lock, to see whether the agent runs. The other locks are private: a reader could
  // block them for ever.
  const bool public_lock = path == kAgentLockFile;
  if (!public_lock) (void)!::fchmod(fd.get(), 0600);
  int failure = try_lock(fd.get());
  if (failure == EWOULDBLOCK && public_lock) {
    // A user who may read the file may also lock it for reading. A file that only readers hold is created again.
    struct flock writer = whole_file(F_RDLCK);
    if (::fcntl(fd.get(), F_OFD_GETLK, &writer) == 0 && writer.l_type == F_UNLCK) {
      Fd fresh;
      if (::unlinkat(folder->get(), name.c_str(), 0) == 0)
        fresh = Fd(::openat(folder->get(), name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
      if (!fresh) return error(errno, shown + ": cannot re-create the lock file");
      fd = std::move(fresh);
    }
  }
  constexpr std::chrono::milliseconds kRetry{20};
  const auto end = std::chrono::steady_clock::now() + patience;
  while ((failure = try_lock(fd.get())) == EWOULDBLOCK && std::chrono::steady_clock::now() < end)
    std::this_thread::sleep_for(kRetry);
  if (failure == 0) {
    // Another process may have re-created the file since it was opened: a lock on the old one has no effect.
    struct stat open {
    }, named{};
    const bool is_named = ::fstat(fd.get(), &open) == 0 &&
                          ::fstatat(folder->get(), name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                          open.st_dev == named.st_dev && open.st_ino == named.st_ino;
    if (!is_named) return take_lock(directory, patience, file);
  }
  if (failure == EWOULDBLOCK) {
    char text[32];
    const ssize_t count = ::pread(fd.get(), text, sizeof text, 0);
    const auto pid = parse_number<int>(std::string_view(text, count > 0 ? static_cast<size_t>(count) : 0));
    const std::string holder = pid ? "process " + std::to_string(*pid) : "another process";
    return error(EWOULDBLOCK, shown + ": held by " + holder);
  }
  if (failure != 0) return error(failure, shown + ": cannot take the lock");
  if (public_lock) (void)!::fchmod(fd.get(), 0644);  // whatever the umask
  // The holder's pid is for people. If /run is full they must do without it; the ports need not.
  const std::string pid = std::to_string(::getpid()) + "\n";
  if (::ftruncate(fd.get(), 0) == 0) (void)!::pwrite(fd.get(), pid.data(), pid.size(), 0);
  return fd;
}

}  // namespace state
}  // namespace fabric
