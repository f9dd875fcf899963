// SPDX-License-Identifier: Apache-2.0
// The agent's files: published state (/run/fabric-agent/state.json), saved originals
// (/var/lib/fabric-agent/originals.json) and the locks. Files are written whole and renamed into place: a reader, or a
// start after a crash, sees the old or the new one, never a part.
#pragma once

#include "base/fd.h"
#include "kernel/capture/root.h"
#include "node/node.h"
#include "setting/setting_table.h"

namespace fabric::state {

inline constexpr const char* kStateFile = "run/fabric-agent/state.json";
// Held while ports are written, by agentd and by `fabric-agentctl apply` and `restore`.
inline constexpr const char* kLockFile = "run/fabric-agent/lock";
// Held by agentd as long as it lives.
inline constexpr const char* kAgentLockFile = "run/fabric-agent/agentd.lock";
inline constexpr const char* kOriginalsFile = "var/lib/fabric-agent/originals.json";

// The settings from before a self-test that has not ended, in the format of kOriginalsFile.
inline constexpr const char* kSelfTestFile = "var/lib/fabric-agent/selftest.json";

// The original settings of a port of a card, whichever slot the card is in now.
struct Original : Qos {
  Original(Qos qos = {}) : Qos(std::move(qos)) {}  // NOLINT: implicit by design
  std::string place{};                             // port_place() at the last save; empty: unknown
  std::string address{};                           // Port::card_address, if the key is a serial number
  // Port::kernel_driver and pci_id at the first save: settings of one driver are never given to another. Empty:
  // unknown.
  std::string driver{}, pci_id{};
  // Settings that were written while their original was unknown (kUnknownFec): they have none, also if a later reading
  // shows a value.
  Keys unknown{};
  // Only in kSelfTestFile: the test may write the port while it carries the default route (qos::Terms::front_end).
  bool front_end = false;
  // Only in kSelfTestFile: the test may have ended the global pause or the PFC of the settings, and not have come to
  // the other one, which replaces it. False once one of the two is known to be on.
  bool may_lack_pause_and_pfc = false;
  // The bond of which the port was a member when its MTU was saved (end_bond()); empty: none.
  std::string bond{};
  // The entry as it was read, JSON: members that this release does not know, at any depth, are written again as they
  // are. Empty: the entry is new.
  std::string as_read{};
  bool operator==(const Original& other) const {
    return static_cast<const Qos&>(*this) == static_cast<const Qos&>(other) && place == other.place &&
           address == other.address && driver == other.driver && pci_id == other.pci_id && unknown == other.unknown &&
           front_end == other.front_end && may_lack_pause_and_pfc == other.may_lack_pause_and_pfc && bond == other.bond;
  }
};
void to_json(Json& json, const Original& original);
void from_json(const Json& json, Original& original);
using Originals = std::map<std::string, Original>;  // by port_key()
// The card's own identity (Port::card), else the port's place.
std::string port_key(const Port& port);
// The PCI address and port number ("0000:24:00.0/1"), or "netdev:NAME" of software devices.
std::string port_place(const Port& port);
// The port's entry. An entry under the card's other name (Port::card_address) becomes that of the card. The entry of
// another driver's card, or of another model in the same place, is not the port's.
Originals::iterator find_original(Originals& originals, const Port& port);
// A copy of the entry that find_original() would return; nullopt: there is none.
std::optional<Original> original_for(Originals originals, const Port& port);
// The entry that find_original() would return, or a new one. An entry of another card under the port's key is kept
// under a key of its own, with its driver and model, by which that card finds it again.
Original& original_of(Originals& originals, const Port& port);
// Whether nothing is left to restore, also nothing that only a newer release knows.
bool is_empty(const Original& original);

std::string originals_text(const Originals& originals);
Result<Originals> parse_originals(std::string_view text, const std::string& name);
// The devices that the agent manages: port id -> ifindex of its netdev.
using Devices = std::map<std::string, int>;
// The state file's text, which lacks `running`.
std::string agent_state_text(const AgentState& state, const Devices& devices = {});
Result<AgentState> parse_agent_state(std::string_view text, const std::string& name);

// `directory`: the root below which the files lie ("/" on a running machine). A missing file is empty, not an error.
// EBADMSG: the file is damaged; the message names the member. kNewerFormat: a newer release wrote it. Neither is ever
// overwritten.
Result<Originals> load_originals(const std::string& directory, const char* file = kOriginalsFile);
Result<Originals> load_originals(const Root& root, const char* file = kOriginalsFile);
Result<void> save_originals(const std::string& directory, const Originals& originals,
                            const char* file = kOriginalsFile);
// Replaces a file of var/lib/fabric-agent by `text`. Members of the present file that `text` lacks, which a newer
// release has written, are carried over. EBADMSG, kNewerFormat: the present file stays.
Result<void> replace_kept_file(const std::string& directory, const char* file, std::string_view text);
// Whether the entry is the port's, under its key or under the card's other name.
bool is_entry_of(const Originals::value_type& entry, const Port& port);
// The saved originals of cards that are not among `ports`, by key.
std::vector<Originals::const_iterator> absent_originals(const Originals& originals, const std::vector<Port>& ports);
// Renames the originals to originals.json.corrupt (.corrupt.2, ...), for a person to look at, and returns the new name.
Result<std::string> set_originals_aside(const std::string& directory);

// Adds the port's entry, or its missing settings, and makes it durable: a saved original is never replaced. Bonds and
// their members save their own settings only. If a self-test of the port has not ended, the settings from before it are
// saved. `bond`: qos::bond_above() the port.
Result<void> save_original(const std::string& directory, Originals& originals, const Port& port, const Qos& before,
                           const std::string& bond = {});

// A bond sets the MTU of its members, and gives each its own back when it leaves (bond_enslave() and
// __bond_release_one() of drivers/net/bonding/bond_main.c): an MTU that was saved below another bond than the present
// one, `bond`, is forgotten.
void end_bond(Originals& originals, const Port& port, const std::string& bond);

// Removes these settings from the port's entry, and an empty entry from the originals. A bond shares its entry with the
// member on whose function its RDMA device is.
void forget(Originals& originals, const Port& port, const Keys& keys);

// nullopt: no state file. `running`: a process holds agentd's lock now.
Result<std::optional<AgentState>> load_agent_state(const Root& root);
// load_agent_state() for repeated calls: only a changed file is parsed, else the same state is returned. Null: no state
// file.
class AgentStateReader {
 public:
  Result<std::shared_ptr<const AgentState>> load(const Root& root);

 private:
  std::string text_;
  std::optional<Result<std::shared_ptr<const AgentState>>> last_;
};
Result<void> save_agent_state(const std::string& directory, const AgentState& state, const Devices& devices = {});
// The devices that the agent published; empty: it did not.
Result<Devices> agent_devices(const Root& root);

// Takes the lock until the Fd is closed, also by the holder's death (fcntl open file description lock). EWOULDBLOCK:
// another process holds it for longer than `patience`; the message has its pid. The file keeps the last holder's pid.
Result<Fd> take_lock(const std::string& directory, std::chrono::milliseconds patience = {},
                     const char* file = kLockFile);

}  // namespace fabric::state
