// SPDX-License-Identifier: Apache-2.0
#include "kernel/capture/anonymize.h"

#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/fib_rules.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/nexthop.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>

#include <algorithm>

#include "base/find.h"
#include "base/ip.h"
#include "base/parse.h"
#include "wire/vpd.h"

namespace fabric {
namespace {

constexpr std::string_view kTokenLetters = "0123456789abcdefABCDEF:-.";

bool is_word(char letter) {
  return is_hex(letter) || (letter >= 'g' && letter <= 'z') || (letter >= 'G' && letter <= 'Z') || letter == '_';
}

// The bytes of hexadecimal digits with any separators.
std::string bytes_of(std::string_view text) {
  std::string digits, out;
  std::ranges::copy_if(text, std::back_inserter(digits), is_hex);
  for (size_t at = 0; at + 1 < digits.size(); at += 2)
    out += static_cast<char>(*parse_number<uint8_t>(digits.substr(at, 2), 16));
  return out;
}

// The digits of `bytes` in the letters' places of `pattern`.
std::string written_as(std::string_view pattern, std::string_view bytes) {
  std::string digits = hex_digits(bytes);
  if (pattern.find_first_of("ABCDEF") != std::string_view::npos) digits = upper(digits);
  std::string out(pattern);
  size_t next = 0;
  for (char& letter : out)
    if (is_hex(letter) && next < digits.size()) letter = digits[next++];
  return out;
}

// Lengths of the groups of hexadecimal digits between separators of one kind: {2, 2, 2, 2, 2, 2} of a MAC address.
std::vector<size_t> groups(std::string_view token, char separator) {
  std::vector<size_t> out{0};
  for (const char letter : token) {
    if (letter == separator) out.push_back(0);
    else if (is_hex(letter)) ++out.back();
    else return {};
  }
  return out;
}

// A number in place of the bytes after `keep`. High numbers, which few vendors have reached: a pseudonym must not be
// the real address of another device.
std::string counted(std::string bytes, size_t keep, size_t number) {
  for (size_t i = bytes.size(); i-- > keep; number >>= 8) bytes[i] = static_cast<char>(number & 0xff);
  bytes[keep] = static_cast<char>(bytes[keep] | 0xf0);
  return bytes;
}

bool all_zero(std::string_view bytes) { return bytes.find_first_not_of('\0') == std::string_view::npos; }

constexpr int kUniversal = 2;  // the U/L bit, which EUI-64 inverts (RFC 4291, appendix A)

std::string swapped(std::string bytes) {
  bytes[0] = static_cast<char>(bytes[0] ^ kUniversal);
  return bytes;
}

// The middle of an EUI-64 that is derived from a MAC address: ff:fe, or 03:00 in Mellanox GUIDs.
constexpr std::string_view kMiddles[] = {{"\xff\xfe", 2}, {"\x03\x00", 2}};

// Whether the bytes are so distinct that a match in other bytes cannot be a coincidence.
bool is_strong(std::string_view bytes) {
  return std::ranges::count_if(bytes, [](unsigned char byte) { return byte != 0 && byte != 0xff; }) >= 4;
}

}  // namespace

void Pseudonyms::learn(std::string from, std::string to) {
  constexpr size_t kLongest = 64;  // a serial number; longer texts are replaced in their own file only
  if (from.size() < 4 || from.size() > kLongest || from == to) return;
  lengths_[from.substr(0, 4)].insert(from.size());
  known_.try_emplace(std::move(from), std::move(to));
}

void Pseudonyms::learn_number(const std::string& from, const std::string& to, bool as_bytes) {
  const std::string digits = hex_digits(from), others = hex_digits(to);
  learn(digits, others);
  if (upper(digits) != digits) learn(upper(digits), upper(others));
  if (from.size() == 6) {  // "0c42.a15e.779d", as some switches write it
    const auto dotted = [](const std::string& text) {
      return text.substr(0, 4) + "." + text.substr(4, 4) + "." + text.substr(8);
    };
    learn(dotted(digits), dotted(others));
    if (upper(digits) != digits) learn(upper(dotted(digits)), upper(dotted(others)));
  }
  if (!as_bytes) return;
  learn(from, to);
  if (from.size() == 8) learn({from.rbegin(), from.rend()}, {to.rbegin(), to.rend()});
}

std::string Pseudonyms::of_mac(std::string_view bytes) {
  if (bytes.size() != 6 || (bytes[0] & 1) != 0 || all_zero(bytes)) return std::string(bytes);
  // Its EUI-64 occurs with both values of the U/L bit.
  std::string key(bytes);
  key[0] = static_cast<char>(key[0] & ~kUniversal);
  auto [entry, is_new] = macs_.try_emplace(key);
  if (is_new) {
    entry->second = counted(key, 3, macs_.size());
    for (const bool turned : {false, true}) {
      std::string from = key, to = entry->second;
      if (turned) {
        from = swapped(from);
        to = swapped(to);
      }
      learn_number(from, to, is_strong(from));
      for (const std::string_view middle : kMiddles)
        learn_number(from.substr(0, 3).append(middle).append(from.substr(3)),
                     to.substr(0, 3).append(middle).append(to.substr(3)), is_strong(from));
    }
  }
  std::string out = entry->second;
  out[0] = bytes[0];
  return out;
}

std::string Pseudonyms::of_guid(std::string_view bytes) {
  if (bytes.size() != 8 || all_zero(bytes)) return std::string(bytes);
  if (contains(kMiddles, bytes.substr(3, 2))) {
    const std::string hidden = of_mac(std::string(bytes.substr(0, 3)).append(bytes.substr(5)));
    return hidden.substr(0, 3).append(bytes.substr(3, 2)).append(hidden.substr(3));
  }
  auto [entry, is_new] = guids_.try_emplace(std::string(bytes));
  if (is_new) {
    entry->second = counted(std::string(bytes), 3, guids_.size());
    learn_number(entry->first, entry->second, is_strong(bytes));
  }
  return entry->second;
}

std::string Pseudonyms::of_word(std::string_view word) {
  const bool digits = std::ranges::all_of(word, is_hex);
  if (digits && word.size() == 16) return written_as(word, of_guid(bytes_of(word)));
  if (digits && word.size() == 12 && (bytes_of(word).front() & 1) == 0)  // of_mac() keeps group addresses
    return written_as(word, of_mac(bytes_of(word)));
  if (word.find_first_not_of("0-.: ") == std::string_view::npos) return std::string(word);
  auto [entry, is_new] = words_.try_emplace(std::string(word));
  if (is_new) {
    size_t number = words_.size();
    entry->second = word;
    for (size_t i = word.size(); i-- > 0;)
      if (is_word(word[i])) {
        entry->second[i] = static_cast<char>('0' + number % 10);
        number /= 10;
      }
    if (word.size() >= 8) learn(std::string(word), entry->second);
  }
  return entry->second;
}

std::string Pseudonyms::of_ipv6(std::string_view address) {
  if (address.size() != 16) return std::string(address);
  const std::string_view prefix = address.substr(0, 8), identifier = address.substr(8);
  const bool local = prefix == std::string_view("\xfe\x80\0\0\0\0\0\0", 8);
  if (identifier.substr(3, 2) != "\xff\xfe" && !local) return std::string(address);
  return std::string(prefix).append(of_guid(identifier));
}

std::string Pseudonyms::in_text(std::string_view text) {
  const auto hide = [this](std::string_view token) -> std::string {
    using Groups = std::vector<size_t>;
    const Groups colons = groups(token, ':'), dashes = groups(token, '-');
    if (colons == Groups(6, 2) || dashes == Groups(6, 2) || groups(token, '.') == Groups(3, 4))
      return written_as(token, of_mac(bytes_of(token)));
    if (colons == Groups(8, 2) || dashes == Groups(8, 2) || colons == Groups(4, 4))
      return written_as(token, of_guid(bytes_of(token)));
    if (colons == Groups(8, 4)) return written_as(token, of_ipv6(bytes_of(token)));
    if (colons == Groups(20, 2)) {  // IPoIB: queue pair, then a GID (RFC 4391)
      const std::string bytes = bytes_of(token);
      return written_as(token, bytes.substr(0, 4) + of_ipv6(std::string_view(bytes).substr(4)));
    }
    if (dashes == Groups{8, 4, 4, 4, 12}) return of_word(token);
    const auto ip = token.size() >= 4 ? parse_ip(std::string(token)) : std::nullopt;
    if (!ip || !ip->v6) return std::string(token);
    const std::string_view bytes(reinterpret_cast<const char*>(ip->bytes.data()), ip->bytes.size());
    const std::string hidden = of_ipv6(bytes);
    if (hidden == bytes) return std::string(token);
    Ip shown = *ip;
    std::ranges::copy(hidden, shown.bytes.begin());
    return to_text(shown);
  };
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const bool starts = kTokenLetters.find(text[at]) != std::string_view::npos && (at == 0 || !is_word(text[at - 1]));
    size_t end = starts ? std::min(text.find_first_not_of(kTokenLetters, at), text.size()) : at + 1;
    if (starts && (end == text.size() || !is_word(text[end]))) {
      size_t last = end;  // without a full stop, or a colon before a blank
      while (last > at && !is_hex(text[last - 1])) --last;
      out.append(hide(text.substr(at, last - at))).append(text.substr(last, end - last));
    } else {
      out.append(text.substr(at, end - at));
    }
    at = end;
  }
  return out;
}

std::string Pseudonyms::in_bytes(std::string bytes) const {
  for (size_t at = 0; at + 4 <= bytes.size(); ++at) {
    const auto near = lengths_.find(bytes.substr(at, 4));
    if (near == lengths_.end()) continue;
    for (const size_t length : near->second) {
      const auto found = known_.find(bytes.substr(at, length));
      if (found == known_.end()) continue;
      bytes.replace(at, length, found->second);
      at += length - 1;
      break;
    }
  }
  return bytes;
}

// The places in a recording that name hardware: files and netlink attributes.
namespace {

constexpr uint16_t kPermanentAddress = 54;  // IFLA_PERM_ADDRESS, since Linux 5.6
constexpr size_t kType = sizeof(uint16_t);  // precedes a message's payload on the tape

template <class Number>
Number number_at(const std::string& bytes, size_t at) {
  Number out{};
  if (at + sizeof out <= bytes.size()) std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

// Calls `with(type, offset, size)` for each attribute's value in [from, to).
template <class With>
void each_attribute(const std::string& bytes, size_t from, size_t to, With&& with) {
  while (from + sizeof(nlattr) <= to) {
    const auto size = number_at<uint16_t>(bytes, from);
    if (size < sizeof(nlattr) || from + size > to) return;
    with(static_cast<uint16_t>(number_at<uint16_t>(bytes, from + 2) & NLA_TYPE_MASK), from + sizeof(nlattr),
         size - sizeof(nlattr));
    from += (size_t{size} + 3) & ~size_t{3};
  }
}

// Replaces the text after each `key`, up to `end`, with `hide` of it.
template <class Hide>
std::string with_values(const std::string& text, std::string_view key, char end, Hide&& hide) {
  std::string out;
  size_t done = 0;
  for (size_t at = 0; (at = text.find(key, at)) != std::string::npos;) {
    const size_t start = at + key.size();
    at = std::min(text.find(end, start), text.size());
    out.append(text, done, start - done).append(hide(text.substr(start, at - start)));
    done = at;
  }
  return out.append(text, done);
}

// `hide` of the text, which keeps the blanks around it.
template <class Hide>
std::string with_word(const std::string& text, Hide&& hide) {
  const std::string_view word = trim(text);
  if (word.empty()) return text;
  const size_t at = text.find(word);
  return text.substr(0, at) + hide(word) + text.substr(at + word.size());
}

// The attributes of rtnetlink messages that have addresses; other attributes may have the same length.
struct Addresses {
  uint16_t message;
  size_t header;
  std::vector<uint16_t> types;
};
const Addresses kAddresses[] = {
    {RTM_NEWLINK,
     sizeof(ifinfomsg),
     {IFLA_ADDRESS, IFLA_BROADCAST, kPermanentAddress, IFLA_PHYS_PORT_ID, IFLA_PHYS_SWITCH_ID}},
    {RTM_NEWADDR, sizeof(ifaddrmsg), {IFA_ADDRESS, IFA_LOCAL}},
    {RTM_NEWROUTE, sizeof(rtmsg), {RTA_DST, RTA_SRC, RTA_GATEWAY, RTA_PREFSRC}},
    {RTM_NEWNEXTHOP, sizeof(nhmsg), {NHA_GATEWAY}},
    {RTM_NEWRULE, sizeof(fib_rule_hdr), {FRA_DST, FRA_SRC}},
    {RTM_NEWNEIGH, sizeof(ndmsg), {NDA_DST, NDA_LLADDR}}};

bool is_of_host_name(char letter) { return is_word(letter) || letter == '-'; }

// Words of the names of files and programs, which a machine may also be called.
constexpr std::string_view kOrdinary[] = {"agent",  "config",  "exporter", "fabric",    "health",   "hostname",
                                          "limits", "local",   "modules",  "neighbors", "optics",   "originals",
                                          "policy", "release", "report",   "security",  "services", "slurm",
                                          "state",  "status",  "system",   "systemd",   "topology", "inventory"};

// The machine's names in texts: in upper or lower case, with or without their domain, and also as a part of a longer
// name, between - and _ ("to-gpu0123-p1").
class HostName {
 public:
  explicit HostName(const Tape& tape) {
    for (const char* file : {"etc/hostname", "proc/sys/kernel/hostname"}) {
      const Answer* answer = tape.find(Ask::read, file);
      if (answer == nullptr || !*answer || (*answer)->empty()) continue;
      const std::string full = lower(trim((*answer)->front()));
      const size_t dot = std::min(full.find('.'), full.size());
      const std::string label = full.substr(0, dot);
      if (full.size() > dot + 1) {
        words_.push_back(full);
        domains_.push_back(full.substr(dot));
      }
      bool is_distinct = label.size() >= 5 || label.find_first_of("0123456789-") != std::string::npos;
      if (contains(kOrdinary, std::string_view(label))) is_distinct = false;
      for (const char* folder : {"sys/class/net", "sys/class/infiniband"})
        if (const Answer* names = tape.find(Ask::list, folder); names != nullptr && *names)
          for (const std::string& name : **names)
            if (find_part(lower(name), label, 0) != std::string::npos) is_distinct = false;
      if (is_distinct) words_.push_back(label);
    }
  }

  // `as_shown`: what a name has become by the other pseudonyms, because a name may have a MAC address in it.
  template <class AsShown>
  [[nodiscard]] std::string hidden_in(std::string text, AsShown&& as_shown) const {
    const auto hide = [&text](const std::string& word) {
      const std::string low = lower(text);
      for (size_t at = 0; !word.empty() && (at = find_part(low, word, at)) != std::string::npos; at += word.size())
        text.replace(at, word.size(), host_pseudonym(word));
    };
    for (const std::string& word : words_) {
      hide(word);
      hide(lower(as_shown(word)));
    }
    for (const std::string& domain : domains_) {
      const std::string low = lower(text);
      for (size_t at = 0; (at = low.find(domain, at)) != std::string::npos; at += domain.size()) {
        const size_t end = at + domain.size();
        if (at > 0 && is_of_host_name(low[at - 1]) && (end == low.size() || !is_of_host_name(low[end])))
          text.replace(at, domain.size(), host_pseudonym(domain));
      }
    }
    return text;
  }

 private:
  // The word where no letter or digit is beside it.
  static size_t find_part(const std::string& text, const std::string& word, size_t at) {
    const auto is_border = [&](size_t place) {
      return place >= text.size() || !is_word(text[place]) || text[place] == '_';
    };
    while ((at = text.find(word, at)) != std::string::npos) {
      if ((at == 0 || is_border(at - 1)) && is_border(at + word.size())) break;
      ++at;
    }
    return at;
  }

  std::vector<std::string>
      words_;  // "gpu01.example.com", "gpu01"; a name that may be another word only with its domain
  std::vector<std::string> domains_;  // ".example.com"
};

// The value of `host` in [cabling]: this machine's name in the cabling plan.
std::string without_host_of_cabling(std::string text) {
  constexpr std::string_view kKey = "host";
  for (size_t at = 0; (at = text.find(kKey, at)) != std::string::npos;) {
    const bool is_end = at > 0 && is_of_host_name(text[at - 1]);
    size_t value = at += kKey.size();
    if (is_end) continue;
    if (value < text.size() && (text[value] == '"' || text[value] == '\'')) ++value;  // a quoted key
    value = text.find_first_not_of(" \t", value);
    if (value == std::string::npos || text[value] != '=') continue;
    value = text.find_first_not_of(" \t", value + 1);
    if (value == std::string::npos || (text[value] != '"' && text[value] != '\'')) continue;
    const char quote = text[value];
    if (text.compare(value, 3, std::string(3, quote)) == 0) value += 3;
    else ++value;
    if (value < text.size() && text[value] == '\n') ++value;
    const size_t end = std::min(text.find_first_of(std::string{quote, '\n'}, value), text.size());
    text.replace(value, end - value, host_pseudonym(std::string_view(text).substr(value, end - value)));
  }
  return text;
}

class Anonymizer {
 public:
  explicit Anonymizer(const Tape& tape) : host_(tape) {}

  // The name of a file, a device, a question.
  std::string name(const std::string& text, bool is_of_kernel = false) {
    return content(text, is_of_kernel || text.find("sys/") != std::string::npos);
  }

  std::string content(const std::string& text, bool is_of_kernel) {
    const auto hide = [this](const std::string& each) { return pseudonyms_.in_bytes(pseudonyms_.in_text(each)); };
    if (is_of_kernel) return hide(text);
    return host_.hidden_in(hide(text), hide);
  }

  std::string question(Ask ask, const std::string& what) {
    if (!is_of_netlink(ask)) return name(what, is_of_kernel(what));
    return pseudonyms_.in_bytes(what);
  }

  [[nodiscard]] size_t size() const { return pseudonyms_.size(); }

  // Whether the names and texts in the file are those of devices and drivers.
  static bool is_of_kernel(const std::string& path) { return path.starts_with("sys/") || path.starts_with("proc/"); }

  // A part of an answer.
  std::string part(Ask ask, const std::string& what, std::string text) {
    const bool is_text = !is_of_netlink(ask) && (text.find('\0') == std::string::npos || what.starts_with("proc/"));
    if (ask == Ask::generic) module_memory(what, text);
    if (is_of_netlink(ask)) return pseudonyms_.in_bytes(message(ask, std::move(text)));
    if (ask == Ask::read && what.ends_with("/vpd")) {
      // The serial number and the vendor's fields, of which some are UUIDs.
      std::string out = text;
      for (const VpdField& field : vpd_fields(text))
        if (field.key == "SN" || field.key.starts_with('V'))
          out.replace(static_cast<size_t>(field.text.data() - text.data()), field.text.size(),
                      pseudonyms_.of_word(field.text));
      return pseudonyms_.in_bytes(std::move(out));
    }
    if (!is_text) {
      // The Device Serial Number capability of a PCI function: an EUI-64, its last byte first (PCI Express Base
      // Specification 6.0, section 7.9.3; linux/pci_regs.h).
      size_t at = 0x100;
      for (int hops = 0; what.ends_with("/config") && hops < 64 && at >= 0x100 && at + 12 <= text.size(); ++hops) {
        const auto header = number_at<uint32_t>(text, at);
        if ((header & 0xffff) == 0x0003) reversed_guid(text, at + 4);
        at = header >> 20 & 0xffc;
      }
      return pseudonyms_.in_bytes(std::move(text));
    }
    const bool is_kernels = is_of_kernel(what);
    if (ask == Ask::resolve || ask == Ask::list) return name(text, is_kernels);
    if (ask != Ask::read) return content(text, is_kernels);
    // The host name is replaced in any case, also if it is a common word or the name of a device.
    if (what.ends_with("/hostname")) return with_word(text, host_pseudonym);
    if (!is_kernels) text = without_host_of_cabling(std::move(text));
    // Files whose content is one unique word: of DMI, GPUs, disks, the installation, an E-Switch (its NIC's GUID).
    const std::string_view file = std::string_view(what).substr(what.rfind('/') + 1);
    for (const std::string_view word :
         {"serial", "uuid", "unique_id", "machine-id", "boot_id", "wwid", "asset_tag", "phys_switch_id"})
      if (file.find(word) != std::string_view::npos) return serial(text);
    if (what.ends_with("/properties"))
      text = with_values(text, "unique_id ", '\n', [this](const std::string& value) { return unique_id(value); });
    if (what.ends_with("/optics.json"))
      text = with_values(text, "\"serial_number\":\"", '"', [this](const std::string& value) {
        if (value.empty()) return value;
        return pseudonyms_.of_word(value);
      });
    // "serial:MT2233X12345/0.1": the serial number, the function and the port.
    if (what.ends_with("/originals.json"))
      text = with_values(text, "\"serial:", '"', [this](const std::string& rest) {
        const size_t slash = rest.rfind('/');
        if (slash == std::string::npos) return rest;
        return pseudonyms_.of_word(rest.substr(0, slash)) + rest.substr(slash);
      });
    return content(text, is_kernels);
  }

 private:
  std::string serial(const std::string& text) {
    return with_word(text, [this](std::string_view word) { return pseudonyms_.of_word(word); });
  }

  // "unique_id 1234567890123456789" of a node of /sys/class/kfd: the GPU's number, in decimal digits.
  std::string unique_id(const std::string& digits) {
    const auto id = parse_number<uint64_t>(digits);
    if (!id) return digits;
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(*id >> shift & 0xff);
    uint64_t hidden = 0;
    for (const char byte : pseudonyms_.of_guid(bytes)) hidden = hidden << 8 | static_cast<unsigned char>(byte);
    return std::to_string(hidden);
  }

  // Replaces the serial number in an answer to ETHTOOL_MSG_MODULE_EEPROM_GET for the half page that has it.
  void module_memory(const std::string& question, std::string& bytes) {
    constexpr size_t kQuestion = 2 * sizeof(uint16_t);  // type and flags in front of the payload
    if (number_at<uint8_t>(question, kQuestion) != ETHTOOL_MSG_MODULE_EEPROM_GET ||
        number_at<uint16_t>(question, 0) == GENL_ID_CTRL)
      return;
    uint32_t offset = 0;
    uint8_t page = 0;
    each_attribute(question, kQuestion + sizeof(genlmsghdr), question.size(), [&](uint16_t type, size_t at, size_t) {
      if (type == ETHTOOL_A_MODULE_EEPROM_OFFSET) offset = number_at<uint32_t>(question, at);
      if (type == ETHTOOL_A_MODULE_EEPROM_PAGE) page = number_at<uint8_t>(question, at);
    });
    if (page != 0) return;
    each_attribute(bytes, kType + sizeof(genlmsghdr), bytes.size(), [&](uint16_t type, size_t at, size_t size) {
      if (type == ETHTOOL_A_MODULE_EEPROM_DATA && size == 128) module_serial(bytes, at, offset);
    });
  }

  // Offsets: SFF-8472 table 4-1 (A0h bytes 68-83, checksum 95), SFF-8636 table 6-14 (the same in upper page
  // 00h), CMIS 5.0 8.3 (page 00h, bytes 166-181, checksum 222). The checksum is updated; a wrong one stays wrong.
  void module_serial(std::string& bytes, size_t at, uint32_t offset) {
    const auto identifier = number_at<uint8_t>(bytes, at);
    const bool is_sfp = identifier == 0x03 || identifier == 0x0b,
               is_qsfp = identifier == 0x0c || identifier == 0x0d || identifier == 0x11;
    if (identifier == 0 || is_sfp != (offset == 0) || (offset != 0 && offset != 128)) return;
    size_t start = at + 38, check = at + 94;
    if (is_sfp || is_qsfp) {
      start = at + 68;
      check = at + 95;
    }
    constexpr size_t kLength = 16;
    const std::string real = bytes.substr(start, kLength);
    const std::string hidden = serial(real);
    int difference = 0;
    for (size_t i = 0; i < kLength; ++i)
      difference += static_cast<unsigned char>(hidden[i]) - static_cast<unsigned char>(real[i]);
    bytes.replace(start, kLength, hidden);
    bytes[check] = static_cast<char>(static_cast<unsigned char>(bytes[check]) + difference);
  }

  void reversed_guid(std::string& bytes, size_t at) {
    if (at + 8 > bytes.size()) return;
    std::string guid = bytes.substr(at, 8);
    std::ranges::reverse(guid);
    guid = pseudonyms_.of_guid(guid);
    std::ranges::reverse(guid);
    bytes.replace(at, 8, guid);
  }

  void address(std::string& bytes, size_t at, size_t size) {
    if (size == 6) bytes.replace(at, 6, pseudonyms_.of_mac(std::string_view(bytes).substr(at, 6)));
    if (size == 8) bytes.replace(at, 8, pseudonyms_.of_guid(std::string_view(bytes).substr(at, 8)));
    if (size == 16) bytes.replace(at, 16, pseudonyms_.of_ipv6(std::string_view(bytes).substr(at, 16)));
    if (size == 20) address(bytes, at + 12, 8);  // IPoIB
  }

  // Some kinds of links and encapsulations have further addresses (a bond's partner, the ends of a tunnel): all
  // attributes of the length of a MAC or an IPv6 address. An IPv6 address is changed only if it contains a MAC address,
  // or has the prefix of link-local ones, with which no other attribute of this length begins.
  void nested(std::string& bytes, size_t at, size_t size, int depth = 0) {
    each_attribute(bytes, at, at + size, [&](uint16_t, size_t inner, size_t length) {
      if (length == 6 || length == 16) address(bytes, inner, length);
      if (length != 6 && depth < 4 && length >= sizeof(nlattr)) nested(bytes, inner, length, depth + 1);
    });
  }

  // The ids of a bridge and its root, which is another machine (struct ifla_bridge_id): a priority, then an address.
  void bridge_ids(std::string& bytes, size_t at, size_t size) {
    std::map<uint16_t, std::string> kinds;  // by the attribute with the data of the kind
    each_attribute(bytes, at, at + size, [&](uint16_t type, size_t inner, size_t length) {
      if (type == IFLA_INFO_KIND) kinds[IFLA_INFO_DATA] = bytes.substr(inner, length).c_str();
      if (type == IFLA_INFO_SLAVE_KIND) kinds[IFLA_INFO_SLAVE_DATA] = bytes.substr(inner, length).c_str();
      if (const auto kind = kinds.find(type); kind == kinds.end() || kind->second != "bridge") return;
      const std::array<uint16_t, 2> ids = type == IFLA_INFO_DATA
                                              ? std::array<uint16_t, 2>{IFLA_BR_ROOT_ID, IFLA_BR_BRIDGE_ID}
                                              : std::array<uint16_t, 2>{IFLA_BRPORT_ROOT_ID, IFLA_BRPORT_BRIDGE_ID};
      each_attribute(bytes, inner, inner + length, [&](uint16_t value, size_t id, size_t id_size) {
        if (contains(ids, value) && id_size == sizeof(ifla_bridge_id))
          address(bytes, id + offsetof(ifla_bridge_id, addr), sizeof(ifla_bridge_id::addr));
      });
    });
  }

  // Gateways of another family (struct rtvia), encapsulations, and the same of each of several paths (struct
  // rtnexthop).
  void next_hop(std::string& bytes, uint16_t type, size_t at, size_t size) {
    if (type == RTA_VIA && size > sizeof(rtvia)) address(bytes, at + sizeof(rtvia), size - sizeof(rtvia));
    if (type == RTA_ENCAP) nested(bytes, at, size);
    if (type != RTA_MULTIPATH) return;
    for (const size_t end = at + size; at + sizeof(rtnexthop) <= end;) {
      const auto length = number_at<uint16_t>(bytes, at + offsetof(rtnexthop, rtnh_len));
      if (length < sizeof(rtnexthop) || at + length > end) return;
      each_attribute(bytes, at + sizeof(rtnexthop), at + length, [&](uint16_t inner, size_t value, size_t value_size) {
        if (inner == RTA_GATEWAY) address(bytes, value, value_size);
        if (inner != RTA_MULTIPATH) next_hop(bytes, inner, value, value_size);
      });
      at += (size_t{length} + 3) & ~size_t{3};
    }
  }

  // The addresses and GUIDs of virtual functions (struct ifla_vf_mac, _guid). A field has 32 bytes, and IPoIB's
  // address, that of the physical function, 20 (ipoib_get_vf_config() in drivers/infiniband/ulp/ipoib, Linux 6.12).
  // Up to the end of the message: the length of the list has 16 bits, and overflows with some hundred functions.
  void vf_info(std::string& bytes, size_t at) {
    constexpr size_t kVf = sizeof(uint32_t), kMac = 6, kIpoib = 20;
    each_attribute(bytes, at, bytes.size(), [&](uint16_t entry, size_t info, size_t length) {
      if (entry != IFLA_VF_INFO) return;
      each_attribute(bytes, info, info + length, [&](uint16_t type, size_t inner, size_t inner_size) {
        if (type == IFLA_VF_MAC && inner_size >= kVf + kIpoib) {
          const bool is_mac = all_zero(std::string_view(bytes).substr(inner + kVf + kMac, kIpoib - kMac));
          address(bytes, inner + kVf, is_mac ? kMac : kIpoib);
        }
        const bool is_guid = type == IFLA_VF_IB_NODE_GUID || type == IFLA_VF_IB_PORT_GUID;
        if (is_guid && inner_size >= sizeof(ifla_vf_guid)) reversed_guid(bytes, inner + offsetof(ifla_vf_guid, guid));
      });
    });
  }

  std::string message(Ask ask, std::string bytes) {
    const auto kind = number_at<uint16_t>(bytes, 0);
    for (const Addresses& row : kAddresses)
      if (ask == Ask::route && kind == row.message)
        each_attribute(bytes, kType + row.header, bytes.size(), [&](uint16_t type, size_t at, size_t size) {
          if (contains(row.types, type)) address(bytes, at, size);
          if (kind == RTM_NEWLINK && type == IFLA_LINKINFO) {
            nested(bytes, at, size);
            bridge_ids(bytes, at, size);
          }
          if (kind == RTM_NEWROUTE) next_hop(bytes, type, at, size);
          if (kind == RTM_NEWNEXTHOP && type == NHA_ENCAP) nested(bytes, at, size);
          if (kind == RTM_NEWLINK && type == IFLA_VFINFO_LIST) vf_info(bytes, at);
        });
    if (ask == Ask::generic && number_at<uint8_t>(bytes, kType) == DEVLINK_CMD_INFO_GET)
      each_attribute(bytes, kType + sizeof(genlmsghdr), bytes.size(), [&](uint16_t type, size_t at, size_t size) {
        if (type != DEVLINK_ATTR_INFO_SERIAL_NUMBER && type != DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER) return;
        const std::string serial = bytes.substr(at, size).c_str();
        bytes.replace(at, serial.size(), pseudonyms_.of_word(serial));
      });
    if (ask == Ask::rdma)
      each_attribute(bytes, kType, bytes.size(), [&](uint16_t attribute, size_t at, size_t size) {
        // Numbers in this machine's byte order (nla_put_u64_64bit in fill_dev_info,
        // drivers/infiniband/core/nldev.c).
        if ((attribute == RDMA_NLDEV_ATTR_NODE_GUID || attribute == RDMA_NLDEV_ATTR_SYS_IMAGE_GUID) && size == 8)
          reversed_guid(bytes, at);
      });
    return bytes;
  }

  HostName host_;
  Pseudonyms pseudonyms_;
};

}  // namespace

std::string without_alias(std::string message) {
  if (number_at<uint16_t>(message, 0) != RTM_NEWLINK) return message;
  each_attribute(message, kType + sizeof(ifinfomsg), message.size(), [&](uint16_t type, size_t at, size_t size) {
    if (type == IFLA_IFALIAS) message.replace(at, size, size, '\0');
  });
  return message;
}

std::string host_pseudonym(std::string_view hostname) {
  const size_t dot = std::min(hostname.find('.'), hostname.size());
  std::string out = "host";
  out.resize(dot, '0');
  for (const char letter : hostname.substr(dot)) out += letter == '.' ? '.' : 'x';
  return out;
}

Result<std::vector<std::string>> anonymize(Tape& tape, std::vector<std::string> names, size_t most) {
  Anonymizer anonymizer(tape);
  // Two passes, because values that are found late also occur in earlier answers.
  for (const bool learnt : {false, true}) {
    std::map<Tape::Question, Tape::Answers> answers;
    std::map<std::string, std::string> links, places;
    for (const auto& [question, samples] : tape.answers) {
      const auto& [ask, what] = question;
      const Tape::Question named{ask, anonymizer.question(ask, what)};
      for (const auto& [sample, answer] : samples) {
        if (!answer) {
          answers[named].emplace(sample, error(answer.error().code, anonymizer.name(answer.error().what)));
          continue;
        }
        std::vector<std::string> parts;
        for (const std::string& part : *answer) parts.push_back(anonymizer.part(ask, what, part));
        if (anonymizer.size() > most)
          return error(EFBIG, "more than " + std::to_string(most) +
                                  " MAC addresses, GUIDs and serial numbers; --with-addresses keeps them");
        answers[named].emplace(sample, std::move(parts));
      }
    }
    for (const auto& [from, to] : tape.links) {
      const bool is_kernels = Anonymizer::is_of_kernel(from);
      links.emplace(anonymizer.name(from, is_kernels), anonymizer.name(to, is_kernels));
    }
    for (const auto& [from, to] : tape.places)
      places.emplace(anonymizer.name(from, Anonymizer::is_of_kernel(from)),
                     anonymizer.name(to, Anonymizer::is_of_kernel(to)));
    if (!learnt) continue;
    tape.answers = std::move(answers);
    tape.links = std::move(links);
    tape.places = std::move(places);
  }
  for (std::string& name : names) name = anonymizer.name(name);
  return names;
}

}  // namespace fabric
