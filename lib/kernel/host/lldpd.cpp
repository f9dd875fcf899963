// SPDX-License-Identifier: Apache-2.0
#include "kernel/host/lldpd.h"

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <memory>
#include <optional>

#include "base/fd.h"
#include "base/parse.h"
#include "wire/lldp.h"

namespace fabric::lldpd {
namespace {

// Of lldpctl.h (lldpd 1.0.13 to 1.0.18, one ABI: liblldpctl.so.4). It cannot be included: its package pulls in the
// daemon.
enum Key : int {
  kInterfaceName = 1000,
  kPortNeighbors = 1200,
  kPortProtocol,
  kPortAge,
  kPortIdSubtype,
  kPortId,
  kPortDescription,
  kPortChassis = kPortDescription + 3,
  kPortTtl,
  kMaxFrame = 1300,
  kPortVlan = 1500,
  kChassisIdSubtype = 1801,
  kChassisId,
  kChassisName,
  kChassisDescription,
  kChassisManagement = kChassisDescription + 3,
  kManagementAddress = 3000,
  kCustomTlvs = 5000,
  kCustomOui = 5003,
  kCustomSubtype,
  kCustomInfo,
};
constexpr long kProtocolLldp = 1;                // LLDPD_MODE_LLDP, lldp-const.h
constexpr ssize_t kEof = -502, kFailure = -902;  // LLDPCTL_ERR_EOF, LLDPCTL_ERR_CALLBACK_FAILURE
constexpr timeval kPatience{2, 0};
constexpr unsigned kDefaultTtl = 120;
constexpr size_t kMaxNeighbors = 1024;

using Connection = void;
using Atom = void;
using Iterator = void;
using Transfer = ssize_t (*)(Connection*, const uint8_t*, size_t, void*);

// The functions of the library that are used.
struct Library {
  std::unique_ptr<void, int (*)(void*)> handle{nullptr, ::dlclose};
  Connection* (*create)(Transfer send, Transfer receive, void* data) = nullptr;
  int (*release)(Connection*) = nullptr;
  Atom* (*interfaces)(Connection*) = nullptr;
  Atom* (*port)(Atom*) = nullptr;
  Atom* (*get)(Atom*, int) = nullptr;
  const char* (*text)(Atom*, int) = nullptr;
  long (*number)(Atom*, int) = nullptr;
  const uint8_t* (*buffer)(Atom*, int, size_t*) = nullptr;
  Iterator* (*first)(Atom*) = nullptr;
  Iterator* (*next)(Atom*, Iterator*) = nullptr;
  Atom* (*value)(Atom*, Iterator*) = nullptr;
  void (*free)(Atom*) = nullptr;
};

template <class Function>
bool find(void* handle, const char* name, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(handle, name));
  return out != nullptr;
}

Result<Library> load() {
  Library out;
  out.handle.reset(::dlopen("liblldpctl.so.4", RTLD_NOW | RTLD_LOCAL));
  void* handle = out.handle.get();
  if (handle == nullptr)
    return error(ENOSYS, "lldpd runs, and liblldpctl.so.4, by which it is asked, is not installed");
  const bool whole =
      find(handle, "lldpctl_new", out.create) && find(handle, "lldpctl_release", out.release) &&
      find(handle, "lldpctl_get_interfaces", out.interfaces) && find(handle, "lldpctl_get_port", out.port) &&
      find(handle, "lldpctl_atom_get", out.get) && find(handle, "lldpctl_atom_get_str", out.text) &&
      find(handle, "lldpctl_atom_get_int", out.number) && find(handle, "lldpctl_atom_get_buffer", out.buffer) &&
      find(handle, "lldpctl_atom_iter", out.first) && find(handle, "lldpctl_atom_iter_next", out.next) &&
      find(handle, "lldpctl_atom_iter_value", out.value) && find(handle, "lldpctl_atom_dec_ref", out.free);
  if (!whole) return error(ENOSYS, "liblldpctl.so.4 lacks a function: it is of another version");
  return out;
}

// The library's own transport waits for a hung daemon for ever; ours does not.
Result<Fd> connect_to(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return error(ENAMETOOLONG, path);
  std::copy(path.begin(), path.end(), address.sun_path);
  Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) return error(errno, "lldpd: socket");
  ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &kPatience, sizeof kPatience);
  ::setsockopt(fd.get(), SOL_SOCKET, SO_SNDTIMEO, &kPatience, sizeof kPatience);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    // A socket that nobody listens on is what a killed lldpd leaves behind.
    return error(errno == ECONNREFUSED ? ENOENT : errno, "lldpd: " + path);
  }
  return fd;
}

ssize_t send_to(Connection*, const uint8_t* data, size_t size, void* fd) {
  const ssize_t sent = ::send(*static_cast<int*>(fd), data, size, MSG_NOSIGNAL);
  return sent < 0 ? kFailure : sent;
}

ssize_t receive_from(Connection*, const uint8_t* data, size_t size, void* fd) {
  const ssize_t got = ::recv(*static_cast<int*>(fd), const_cast<uint8_t*>(data), size, 0);
  return got < 0 ? kFailure : got == 0 ? kEof : got;
}

class Reader {
 public:
  explicit Reader(const Library& library) : library_(library) {}

  void read(Atom* interface, double runs, Neighbors& out) {
    const std::string netdev = text(interface, kInterfaceName);
    if (netdev.empty()) return;
    out.listening.emplace(netdev, runs);
    const auto port = own(library_.port(interface));
    if (!port) return;
    each(port.get(), kPortNeighbors, [&](Atom* atom) {
      if (library_.number(atom, kPortProtocol) != kProtocolLldp || out.heard.size() >= kMaxNeighbors) return;
      out.heard.push_back(neighbor(atom));
      out.heard.back().netdev = netdev;
    });
  }

  template <class Function>
  void each_of(Atom* list, Function&& function) {
    for (Iterator* at = library_.first(list); at != nullptr; at = library_.next(list, at))
      if (const auto value = own(library_.value(list, at))) function(value.get());
  }

  std::unique_ptr<Atom, void (*)(Atom*)> own(Atom* atom) const { return {atom, library_.free}; }

 private:
  template <class Function>
  void each(Atom* parent, int key, Function&& function) {
    if (const auto list = own(library_.get(parent, key))) each_of(list.get(), function);
  }

  // lldpd passes on what it was sent: nothing that is no text reaches a terminal.
  std::string text(Atom* atom, int key) const {
    const char* found = library_.text(atom, key);
    if (found == nullptr) return {};
    const std::string_view all(found);
    return lldp::port_id_text(0, std::as_bytes(std::span(all.data(), all.size())));
  }

  View8 bytes(Atom* atom, int key) const {
    size_t size = 0;
    const uint8_t* found = library_.buffer(atom, key, &size);
    return found == nullptr ? View8{} : std::as_bytes(std::span(found, size));
  }

  Neighbor neighbor(Atom* atom) {
    Neighbor out;
    out.source = "lldpd";
    out.port_id = lldp::port_id_text(static_cast<uint8_t>(library_.number(atom, kPortIdSubtype)), bytes(atom, kPortId));
    out.port_description = text(atom, kPortDescription);
    const long ttl = library_.number(atom, kPortTtl), changed = library_.number(atom, kPortAge);
    out.ttl = ttl > 0 ? static_cast<unsigned>(ttl) : kDefaultTtl;
    if (changed > 0) out.age = std::max(0.0, static_cast<double>(std::time(nullptr) - changed));
    if (const long size = library_.number(atom, kMaxFrame); size > 0) out.max_frame = static_cast<unsigned>(size);
    if (const long vlan = library_.number(atom, kPortVlan); vlan > 0) out.vlan = static_cast<unsigned>(vlan);
    if (const auto chassis = own(library_.get(atom, kPortChassis))) read_chassis(chassis.get(), out);
    each(atom, kCustomTlvs, [&](Atom* tlv) { read_custom(tlv, out); });
    return out;
  }

  void read_chassis(Atom* chassis, Neighbor& out) {
    out.chassis_id = lldp::chassis_id_text(static_cast<uint8_t>(library_.number(chassis, kChassisIdSubtype)),
                                           bytes(chassis, kChassisId));
    out.system_name = text(chassis, kChassisName);
    out.system_description = text(chassis, kChassisDescription);
    each(chassis, kChassisManagement, [&](Atom* address) {
      if (out.management.size() < lldp::kMaxAddresses) out.management.push_back(text(address, kManagementAddress));
    });
  }

  void read_custom(Atom* tlv, Neighbor& out) {
    const View8 oui = bytes(tlv, kCustomOui);
    if (oui.size() != 3) return;
    const auto at = [&](size_t i) { return static_cast<uint32_t>(oui[i]); };
    const auto subtype = static_cast<uint8_t>(library_.number(tlv, kCustomSubtype));
    if (!lldp::read_organization(at(0) << 16 | at(1) << 8 | at(2), subtype, bytes(tlv, kCustomInfo), out) &&
        out.malformed.size() < lldp::kMaxMalformed)
      out.malformed.push_back("organisation's TLV of subtype " + std::to_string(subtype) + " has the wrong length");
  }

  const Library& library_;
};

// Seconds since lldpd started, by its pid file and field 22 of proc/PID/stat, in clock ticks (proc(5)). Unknown: long
// ago.
double runs_for(const Root& root) {
  constexpr double kLong = 1e6;
  const auto pid = root.read_line("run/lldpd.pid"), uptime = root.read_line("proc/uptime");
  if (!pid || !uptime || !parse_number<int>(*pid)) return kLong;
  const auto stat = root.read_line("proc/" + *pid + "/stat");
  const size_t name_end = stat ? stat->rfind(')') : std::string::npos;
  if (name_end == std::string::npos) return kLong;
  const auto fields = words(std::string_view(*stat).substr(name_end + 1));
  const auto started = fields.size() > 19 ? parse_number<uint64_t>(fields[19]) : std::nullopt;
  const auto now = words(*uptime).empty() ? std::nullopt : parse_double(words(*uptime).front());
  if (!started || !now) return kLong;
  return std::max(0.0, *now - static_cast<double>(*started) / static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

}  // namespace

Result<Neighbors> neighbors(const Root& root, const std::string& socket) {
  auto fd = connect_to(socket);
  if (!fd) return fd.error();
  auto library = load();
  if (!library) return library.error();
  int number = fd->get();
  const std::unique_ptr<Connection, int (*)(Connection*)> connection(library->create(send_to, receive_from, &number),
                                                                     library->release);
  if (!connection) return error(ENOMEM, "lldpd: connection");
  Reader reader(*library);
  const auto interfaces = reader.own(library->interfaces(connection.get()));
  if (!interfaces) return error(EIO, "lldpd: it did not answer");
  Neighbors out;
  out.source = "lldpd";
  const double runs = runs_for(root);
  reader.each_of(interfaces.get(), [&](Atom* interface) { reader.read(interface, runs, out); });
  return out;
}

}  // namespace fabric::lldpd
