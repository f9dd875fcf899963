// SPDX-License-Identifier: Apache-2.0
// Where in a recording hardware is named: in which files, in which netlink attributes.
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/if_addr.h>
#include <linux/if_link.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <rdma/rdma_netlink.h>

#include <algorithm>

#include "base/find.h"
#include "base/parse.h"
#include "kernel/capture/anonymize.h"
#include "wire/vpd.h"

namespace fabric {
namespace {

constexpr uint16_t kPermanentAddress = 54;  // IFLA_PERM_ADDRESS, since Linux 5.6
constexpr size_t kType = sizeof(uint16_t);  // in front of a message's payload on the tape

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

// `hide` of the text after each `key`, up to `end`.
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

// Where messages of rtnetlink have addresses; other attributes are as long and are none.
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
    {RTM_NEWNEIGH, sizeof(ndmsg), {NDA_DST, NDA_LLADDR}}};

class Disguise {
 public:
  explicit Disguise(bool hardware) : hardware_(hardware) {}

  std::string name(const std::string& text) {  // of a file, a device, a question
    return hardware_ ? pseudonyms_.in_bytes(pseudonyms_.in_text(text)) : text;
  }

  std::string request(const std::string& bytes) { return hardware_ ? pseudonyms_.in_bytes(bytes) : bytes; }

  std::string part(Ask ask, const std::string& what, std::string text) {
    if (ask == Ask::generic && hardware_) module_memory(what, text);
    if (is_of_netlink(ask)) return hardware_ ? pseudonyms_.in_bytes(message(ask, std::move(text))) : text;
    if (ask == Ask::read && hardware_ && what.ends_with("/vpd")) return pseudonyms_.in_bytes(vpd(std::move(text)));
    const bool binary = text.find('\0') != std::string::npos && !what.starts_with("proc/");
    if (binary) return hardware_ ? pseudonyms_.in_bytes(config_space(what, std::move(text))) : text;
    const bool ours = what.starts_with("sys/") || what.find("/fabric-agent/") != std::string::npos;
    if (!ours && (ask == Ask::read || ask == Ask::query)) text = without_secrets(text);
    if (!hardware_) return text;
    if (ask == Ask::read && is_serial(what)) return whole_word(text);
    if (ask == Ask::read && what.ends_with("/properties"))
      text = with_values(text, "unique_id ", '\n', [this](const std::string& value) { return unique_id(value); });
    if (ask == Ask::read && what.ends_with("/optics.json"))
      text = with_values(text, "\"serial_number\":\"", '"', [this](const std::string& value) {
        return value.empty() ? value : pseudonyms_.of_word(value);
      });
    // "serial:MT2233X12345/0.1": the serial number, the function and the port.
    if (ask == Ask::read && what.ends_with("/originals.json"))
      text = with_values(text, "\"serial:", '"', [this](const std::string& rest) { return word_before(rest, '/'); });
    return name(text);
  }

 private:
  // Files whose content is one thing's own number: of DMI, GPUs, disks, the installation.
  static bool is_serial(const std::string& path) {
    const std::string_view file = std::string_view(path).substr(path.rfind('/') + 1);
    for (const std::string_view word : {"serial", "uuid", "unique_id", "machine-id", "boot_id", "wwid", "asset_tag"})
      if (file.find(word) != std::string_view::npos) return true;
    return false;
  }

  std::string whole_word(const std::string& text) {
    const std::string_view word = trim(text);
    if (word.empty()) return text;
    const size_t at = text.find(word);
    return text.substr(0, at) + pseudonyms_.of_word(word) + text.substr(at + word.size());
  }

  // "unique_id 1234567890123456789" of a node of /sys/class/kfd: the GPU's, in decimal digits.
  std::string unique_id(const std::string& digits) {
    const auto id = parse_number<uint64_t>(digits);
    if (!id) return digits;
    std::string bytes;
    for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(*id >> shift & 0xff);
    uint64_t hidden = 0;
    for (const char byte : pseudonyms_.of_guid(bytes)) hidden = hidden << 8 | static_cast<unsigned char>(byte);
    return std::to_string(hidden);
  }

  // `rest` with a pseudonym for the serial number before the last `end`.
  std::string word_before(const std::string& rest, char end) {
    const size_t at = rest.rfind(end);
    return at == std::string::npos ? rest : pseudonyms_.of_word(rest.substr(0, at)) + rest.substr(at);
  }

  // Serial number and the vendor's fields, of which some are UUIDs.
  std::string vpd(std::string bytes) {
    std::string out = bytes;
    for (const VpdField& field : vpd_fields(bytes))
      if (field.key == "SN" || field.key.starts_with('V'))
        out.replace(static_cast<size_t>(field.text.data() - bytes.data()), field.text.size(),
                    pseudonyms_.of_word(field.text));
    return out;
  }

  // The Device Serial Number capability of a PCI function: an EUI-64, its last byte first (PCI Express Base
  // Specification 6.0, section 7.9.3; linux/pci_regs.h).
  std::string config_space(const std::string& path, std::string bytes) {
    if (!path.ends_with("/config")) return bytes;
    size_t at = 0x100;
    for (int hops = 0; hops < 64 && at >= 0x100 && at + 12 <= bytes.size(); ++hops) {
      const auto header = number_at<uint32_t>(bytes, at);
      if ((header & 0xffff) == 0x0003) reversed_guid(bytes, at + 4);
      at = header >> 20 & 0xffc;
    }
    return bytes;
  }

  // The answer to ETHTOOL_MSG_MODULE_EEPROM_GET for the half page that holds the module's serial number.
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
    const size_t start = at + (is_sfp || is_qsfp ? 68 : 38), check = at + (is_sfp || is_qsfp ? 95 : 94);
    constexpr size_t kLength = 16;
    const std::string real = bytes.substr(start, kLength);
    const std::string_view word = trim(real);
    if (word.empty()) return;
    std::string hidden = real;
    hidden.replace(static_cast<size_t>(word.data() - real.data()), word.size(), pseudonyms_.of_word(word));
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

  // Some link types have further addresses (a bond's partner, a bridge's root): every attribute of six bytes.
  void link_info(std::string& bytes, size_t at, size_t size, int depth = 0) {
    each_attribute(bytes, at, at + size, [&](uint16_t, size_t inner, size_t length) {
      if (length == 6) address(bytes, inner, length);
      else if (depth < 4 && length >= sizeof(nlattr)) link_info(bytes, inner, length, depth + 1);
    });
  }

  void card_serials(std::string& bytes) {
    each_attribute(bytes, kType + sizeof(genlmsghdr), bytes.size(), [&](uint16_t type, size_t at, size_t size) {
      if (type != DEVLINK_ATTR_INFO_SERIAL_NUMBER && type != DEVLINK_ATTR_INFO_BOARD_SERIAL_NUMBER) return;
      const std::string serial = bytes.substr(at, size).c_str();
      bytes.replace(at, serial.size(), pseudonyms_.of_word(serial));
    });
  }

  std::string message(Ask ask, std::string bytes) {
    const auto kind = number_at<uint16_t>(bytes, 0);
    for (const Addresses& row : kAddresses)
      if (ask == Ask::route && kind == row.message)
        each_attribute(bytes, kType + row.header, bytes.size(), [&](uint16_t type, size_t at, size_t size) {
          if (contains(row.types, type)) address(bytes, at, size);
          if (kind == RTM_NEWLINK && type == IFLA_LINKINFO) link_info(bytes, at, size);
        });
    if (ask == Ask::generic && number_at<uint8_t>(bytes, kType) == DEVLINK_CMD_INFO_GET) card_serials(bytes);
    if (ask == Ask::rdma)
      each_attribute(bytes, kType, bytes.size(), [&](uint16_t attribute, size_t at, size_t size) {
        // As numbers of this machine's byte order (nla_put_u64_64bit in fill_dev_info,
        // drivers/infiniband/core/nldev.c).
        if ((attribute == RDMA_NLDEV_ATTR_NODE_GUID || attribute == RDMA_NLDEV_ATTR_SYS_IMAGE_GUID) && size == 8)
          reversed_guid(bytes, at);
      });
    return bytes;
  }

  bool hardware_;
  Pseudonyms pseudonyms_;
};

Answer disguised(Disguise& disguise, const Tape::Question& question, const Answer& answer) {
  if (!answer) return error(answer.error().code, disguise.name(answer.error().what));
  std::vector<std::string> parts;
  for (const std::string& part : *answer) parts.push_back(disguise.part(question.first, question.second, part));
  return parts;
}

}  // namespace

void disguise(Tape& tape, bool hardware) {
  Disguise disguise(hardware);
  // Two passes: values found late also occur in earlier answers.
  for (const bool learnt : {false, true}) {
    std::map<Tape::Question, Tape::Answers> answers;
    std::map<std::string, std::string> links, places;
    for (const auto& [question, samples] : tape.answers) {
      const auto& [ask, what] = question;
      const Tape::Question named{ask, is_of_netlink(ask) ? disguise.request(what) : disguise.name(what)};
      for (const auto& [sample, answer] : samples)
        answers[named].emplace(sample, disguised(disguise, question, answer));
    }
    for (const auto& [from, to] : tape.links) links.emplace(disguise.name(from), disguise.name(to));
    for (const auto& [from, to] : tape.places) places.emplace(disguise.name(from), disguise.name(to));
    if (!learnt) continue;
    tape.answers = std::move(answers);
    tape.links = std::move(links);
    tape.places = std::move(places);
  }
}

}  // namespace fabric
