// SPDX-License-Identifier: Apache-2.0
#include "judge/lines/names.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "base/find.h"
#include "base/ip.h"
#include "base/parse.h"
#include "judge/lines.h"
#include "judge/lines/codes.h"
#include "nic/capabilities.h"

namespace fabric::lines {
namespace {

constexpr size_t kMaxNames = 200;  // words of a line that are looked up
constexpr size_t kMaxWord = 64;
constexpr size_t kHostWithin = 160;  // bytes of a line

constexpr unsigned kFirstMulticastLid = 0xc000;  // libraries print multicast LIDs for RoCE ports, which have no LID

enum class Side : uint8_t { unknown, local, remote };

struct Word {
  std::string text;
  Side side = Side::unknown;
  bool is_lid = false;
};

bool is_in_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
         std::string_view("_.:-/").find(letter) != std::string_view::npos;
}

bool strip_prefix(std::string_view& text, std::initializer_list<std::string_view> prefixes) {
  for (const std::string_view prefix : prefixes) {
    if (!text.starts_with(prefix)) continue;
    text.remove_prefix(prefix.size());
    return true;
  }
  return false;
}

std::string_view without_punctuation(std::string_view text) {
  if (text.ends_with(':') && !text.ends_with("::")) text.remove_suffix(1);
  while (text.ends_with('.') || text.ends_with('/')) text.remove_suffix(1);
  return text;
}

// Whether "to" is followed by an address of this host: "bind to 10.0.0.1", "binding CM ID to 10.0.0.1:4420".
bool binds(const std::vector<Word>& before) {
  constexpr size_t kNear = 3;  // words
  for (size_t at = before.size(); at > 0 && before.size() - at < kNear; --at) {
    const std::string word = lower(before[at - 1].text);
    if (word.starts_with("connect")) return false;
    if (word.starts_with("bind") || word.starts_with("listen")) return true;
  }
  return false;
}

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> out;
  Side next_side = Side::unknown;
  bool next_is_lid = false;
  for (size_t at = 0; at < line.size() && out.size() < kMaxNames;) {
    size_t end = at;
    while (end < line.size() && is_in_word(line[end])) ++end;
    std::string_view text = line.substr(at, end - at);
    at = end + 1;
    if (text.empty()) continue;
    Side side = next_side;
    next_side = Side::unknown;
    const std::string key = lower(text.ends_with(':') ? text.substr(0, text.size() - 1) : text);
    if (key == "lid" || key == "dlid" || key == "rlid" || key == "slid") {
      next_is_lid = true;
      if (key == "dlid" || key == "rlid") next_side = Side::remote;
      continue;
    }
    if (std::exchange(next_is_lid, false)) {
      out.push_back({std::string(without_punctuation(text.substr(0, kMaxWord))), side, true});
      continue;
    }
    // NCCL prints "remoteGids" and the GID without a blank; UCX and others print "name=GID" or "name GID".
    // The next word is the other end: "Got completion from peer", "Connect to", "Call to recv from", "remote GID",
    // "Refusing connection from".
    // Mooncake: "peer_nic: 10.0.0.2:15428@mlx5_1", with the peer's name of its NIC.
    const bool leads =
        text == "peer" || text == "Peer:" || (text == "to" && !binds(out)) || text == "remote" ||
        key.ends_with("peer_nic") || key.ends_with("peer_nic_path") ||
        (text == "from" && !out.empty() && (out.back().text == "recv" || out.back().text == "connection"));
    if (leads || strip_prefix(text, {"remoteGids", "remoteGid", "dgid"})) side = Side::remote;
    else if (text == "local" || strip_prefix(text, {"localGid", "sgid"})) side = Side::local;
    const bool continues = end < line.size() && line[end] == '@';
    // Lustre names the other end first: "Timed out tx for 10.0.0.2@o2ib", "Can't accept conn from 10.0.0.2@o2ib ...:
    // bad dst nid 10.0.0.1@o2ib".
    const auto is_other_end = [](const Word& word) { return word.side == Side::remote && parse_ip(word.text); };
    if (continues && line.substr(end + 1).starts_with("o2ib") && std::ranges::none_of(out, is_other_end))
      side = Side::remote;
    if (leads || continues || text.empty() || text == "local" || text == "GID") next_side = side;
    if (leads || text.empty() || text == "local" || text == "GID") continue;
    if (text.size() <= kMaxWord) out.push_back({std::string(without_punctuation(text)), side, false});
  }
  return out;
}

// How the word names the port: "device mlx5_0", "GID ::ffff:10.1.0.1". Empty if it does not name it.
std::string match_port(const Port& port, const std::string& word, const std::optional<Ip>& ip) {
  const std::string own = port.rdma + ":" + std::to_string(port.number);
  if (word == port.rdma || word == port.id() || word == own || word.starts_with(own + "/"))
    return "device " + word;  // UCX: "mlx5_0:1/RoCE"
  if (!port.netdev.empty() && (word == port.netdev || contains(port.altnames, word))) return "netdev " + word;
  // A bond has the PCI function of its first member. The kernel's VT-d driver omits the domain.
  const bool is_bond = !port.bond.empty() && !port.is_member();
  if (!is_bond && !port.pci.empty() && (word == port.pci || "0000:" + word == port.pci)) return "PCI address " + word;
  if (ip && contains(port.gids, gid_text(*ip), &Gid::gid)) return "GID " + word;
  return {};
}

// Not of a function or a module, mlx5_core or mlx5_cmd_out_err: a digit ends the name.
bool looks_like_a_device(std::string_view word) {
  constexpr size_t kMost = 24;
  return word.size() < kMost && is_like_rdma_name(word.substr(0, word.find_first_of(":/")));
}

void add(std::vector<std::string>& list, const std::string& text) {
  if (!contains(list, text)) list.push_back(text);
}

void add_port(Named& out, const Port& port, const std::string& matched_by) {
  if (contains(out.ports, &port)) return;
  out.ports.push_back(&port);
  out.by.push_back(matched_by);
}

constexpr size_t kMostOfThread = 7;  // digits: the kernel's limit is 4194304 (PID_MAX_LIMIT)

// The level of a message, in the place of a host or of a program.
bool is_level(std::string_view word) {
  constexpr std::string_view kLevels[] = {"trace", "debug", "info",  "notice",   "warn", "warning",
                                          "error", "err",   "fatal", "critical", "crit"};
  while (word.ends_with(':')) word.remove_suffix(1);
  return contains(kLevels, lower(word));
}

// An object with a number in a line: the word for it, and its name in our text.
struct NumberedWord {
  std::string_view word, name;
};
constexpr NumberedWord kNumbered[] = {
    {"vf", "virtual function"}, {"vf_id", "virtual function"}, {"gpu", "GPU"},        {"rank", "rank"},
    {"src_rank", "rank"},       {"dst_rank", "rank"},          {"peer_rank", "rank"}, {"remote_rank", "rank"},
    {"queue", "queue"},         {"queue_id", "queue"},         {"slot", "PCIe slot"},
};

// "GPU 2" of "GPU2", of "vf_id(3" and "queue=4", or of "3" after "rank"; empty: nothing with a number. In small
// letters.
std::string numbered_in(std::string_view before, std::string_view word) {
  size_t end = word.find_first_not_of("abcdefghijklmnopqrstuvwxyz_");
  if (end == std::string_view::npos) return {};
  std::string_view noun = word.substr(0, end);
  if (noun.empty()) noun = before;
  else if (word[end] == '(' || word[end] == '=' || word[end] == '#') ++end;
  const std::string_view number = word.substr(end);
  constexpr size_t kMostDigits = 6;
  if (number.empty() || number.size() > kMostDigits || !std::ranges::all_of(number, is_digit)) return {};
  for (const NumberedWord& each : kNumbered)
    if (each.word == noun) return std::string(each.name) + " " + std::string(number);
  return {};
}

// "node-a" and "node-a.cluster.example". Empty names are of no host.
bool is_same_host(std::string_view one, std::string_view other) {
  const auto first = [](std::string_view name) { return name.substr(0, name.find('.')); };
  if (one.empty() || other.empty() || first(one) != first(other)) return false;
  return one == other || one == first(one) || other == first(other);
}

}  // namespace

Named names_in(std::string_view line, const Node& node, const PortsByLid& lids) {
  Named out;
  for (const Word& word : words_of(line.substr(0, kMaxLine))) {
    if (word.is_lid) {
      int base = 10;
      if (word.text.starts_with("0x")) base = 16;
      const auto lid = parse_number<unsigned>(word.text, base);
      if (!lid || *lid == 0 || *lid >= kFirstMulticastLid) continue;
      const std::string text = "LID " + std::to_string(*lid);
      if (const auto own = lids.find(*lid); own != lids.end()) add_port(out, *own->second, text);
      else if (word.side == Side::remote) out.peer_lid = text;
      else add(out.elsewhere, text);
      continue;
    }
    if (word.side == Side::remote) {
      // "10.0.0.1:18515" has a TCP port; IPv6 addresses are printed without one.
      std::string peer = word.text;
      const size_t colon = peer.find(':');
      if (colon != std::string::npos && colon == peer.rfind(':') && peer.find('.') < colon) peer.resize(colon);
      if (parse_ip(peer)) out.peer = peer;
      else if (is_same_host(peer, host_of(line))) out.is_peer_writer = true;
      continue;
    }
    const auto ip = parse_ip(word.text);
    std::string matched_by;
    for (const Port& port : node.ports) {
      matched_by = match_port(port, word.text, ip);
      if (matched_by.empty()) continue;
      add_port(out, port, matched_by);
      break;
    }
    if (!matched_by.empty()) continue;
    // "/sys/class/infiniband/mlx5_0", "ud/hrn0_1:1" of UCX.
    const std::string last = word.text.substr(word.text.rfind('/') + 1);
    for (const std::string& name : {word.text, last})
      if (looks_like_a_device(name)) {
        add(out.elsewhere, "device " + name);
        add(out.devices_elsewhere, name);
        break;
      }
    if (ip && word.side == Side::local) add(out.elsewhere, "GID " + word.text);
    std::string_view address = word.text;  // "PCI:0000:3b:00", "GPU0000:3b:00.0" of NVIDIA's programs
    strip_prefix(address, {"PCI:", "GPU"});
    if (is_pci_address(address)) add(out.pci, std::string(address));
  }
  // ping and ip(8) accept an IPv4 address only without "::ffff:".
  constexpr std::string_view kMapped = "::ffff:";
  if (out.peer.starts_with(kMapped) && out.peer.find('.') != std::string::npos) out.peer.erase(0, kMapped.size());
  return out;
}

std::vector<std::string> objects_in(std::string_view line) {
  constexpr size_t kMost = 3, kShortest = 4;
  constexpr std::string_view kAround = "'\"`()[]{}<>,;:=*";
  std::vector<std::string> out;
  std::string before;  // the word before this one, in small letters
  for (std::string_view word : words(line.substr(0, kMaxLine))) {
    word = word.substr(std::min(word.find_first_not_of(kAround), word.size()));
    word = word.substr(0, word.find_last_not_of(".'\"`()[]{}<>,;:=*") + 1);
    // "open(file_name=/proc/7/fd/20", "libfoo.so: cannot open"
    if (const size_t value = word.find("=/"); value != std::string_view::npos) word.remove_prefix(value + 1);
    const size_t file = word.rfind('/') + 1;  // 0: no folder
    const std::string_view name = word.substr(file);
    const size_t library = name.find(".so");
    const bool is_library =
        library > 0 && library != std::string_view::npos && (library + 3 == name.size() || name[library + 3] == '.');
    const bool is_path = word.starts_with('/') && word.size() > kShortest &&
                         word.find("//") == std::string_view::npos && word.find(':') == std::string_view::npos &&
                         std::isalpha(static_cast<unsigned char>(word[1])) != 0;
    const bool is_module = before == "module" &&
                           word.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_-") == std::string_view::npos &&
                           word.find('_') != std::string_view::npos;
    const std::string small = lower(word);
    const std::string numbered = numbered_in(before, small);
    before = small;
    if (word.size() > kMaxWord * 2 || out.size() == kMost) continue;
    if (is_library) add(out, "the library " + std::string(name.substr(0, name.find_first_of("(+"))));
    else if (word.starts_with("/dev/")) add(out, "the device file " + std::string(word));
    else if (is_path) add(out, "the file " + std::string(word));
    else if (is_module) add(out, "the kernel module " + std::string(word));
    else if (word.ends_with(".service") && word.find('/') == std::string_view::npos)
      add(out, "the unit " + std::string(word));
    else if (!numbered.empty()) add(out, numbered);
  }
  return out;
}

std::string host_of(std::string_view line) {
  // HOST:PID:TID or HOST:PID:THREAD, with blanks before the second colon in UCX.
  for (size_t colon = line.find(':'); colon != std::string_view::npos && colon < kHostWithin;
       colon = line.find(':', colon + 1)) {
    size_t end = colon + 1;
    while (end < line.size() && is_digit(line[end])) ++end;
    if (end == colon + 1) continue;
    while (end < line.size() && line[end] == ' ') ++end;
    if (end + 1 >= line.size() || line[end] != ':' || !is_digit(line[end + 1])) continue;
    const size_t number = end + 1;
    while (++end < line.size() && is_digit(line[end]))
      ;
    if (end - number > kMostOfThread) continue;  // "libfabric:4411:1731999999:", its time
    if (end < line.size() && line[end] != ' ' && line[end] != ']' && line[end] != ':') continue;
    size_t begin = colon;
    while (begin > 0 && (is_in_word(line[begin - 1]) && line[begin - 1] != ':')) --begin;
    const std::string_view host = line.substr(begin, colon - begin);
    // "PCI:0000:05:00.0" of NVIDIA's drivers has the form, and is an address.
    size_t word_end = colon + 1;
    while (word_end < line.size() && is_in_word(line[word_end])) ++word_end;
    if (is_pci_address(without_punctuation(line.substr(colon + 1, word_end - colon - 1)))) continue;
    if (host.size() > 1 && host.size() <= kMaxWord && !is_digit(host.front())) return std::string(host);
  }
  // "Nov 29 13:04:29 HOST program:" and "2026-06-12T09:02:55Z HOST program:".
  const auto parts = words(line.substr(0, kHostWithin));
  for (size_t i = 0; i + 2 < parts.size() && i < 4; ++i) {
    const bool is_clock = parts[i].size() >= 8 && std::ranges::count(parts[i], ':') >= 2 &&
                          is_digit(parts[i].front()) && !is_pci_address(without_punctuation(parts[i]));
    const std::string_view host = parts[i + 1], program = parts[i + 2];
    if (is_clock && (program.ends_with(':') || program == "kernel") && !is_level(program) && !is_level(host) &&
        host.find_first_of("[]:()*") == std::string_view::npos &&
        std::isalpha(static_cast<unsigned char>(host.front())) != 0 && host.size() <= kMaxWord)
      return std::string(host);
  }
  return {};
}

std::string process_of(std::string_view line) {
  for (const std::string_view prefix : {"(pid ", "pid="})
    if (const size_t at = line.find(prefix); at != std::string_view::npos) {
      size_t end = at + prefix.size();
      while (end < line.size() && is_digit(line[end])) ++end;
      const std::string_view number = line.substr(at + prefix.size(), end - at - prefix.size());
      if (!number.empty() && number.size() < 12 && number != "0") return std::string(number);
    }
  return {};
}

}  // namespace fabric::lines
