// SPDX-License-Identifier: Apache-2.0
#include "policy/cabling.h"

#include <algorithm>
#include <cctype>

#include "base/json.h"
#include "base/parse.h"
#include "node/machine.h"

namespace fabric {
namespace {

// One side of a cable. A breakout has several ends.
using CableSide = std::vector<CableEnd>;

constexpr size_t kMaxFields = 256;   // of a CSV record; NetBox exports some 20
constexpr size_t kMaxEnds = 64;      // of one side; a breakout has 8
constexpr size_t kMaxCables = 4096;  // of one host

bool is_not_connected(std::string_view status) {
  const std::string word = lower(trim(status));
  return word == "planned" || word == "decommissioning";
}

// LLDP sees only interfaces among NetBox's types of terminations, not the ports of patch panels ("dcim.frontport",
// "dcim.rearport"), power and consoles. A termination without a type may be an interface.
bool may_be_interface(std::string_view type) { return type.empty() || lower(trim(type)).ends_with("interface"); }

// Adds the cables from one side to the other that have an end at the host.
Result<void> add_cables(const Result<CableSide>& a, const Result<CableSide>& b, const std::string& host,
                        const std::string& where, std::vector<Cable>& out) {
  for (const auto* side : {&a, &b})
    if (!*side) return error(0, where + ": " + side->error().what);
  for (const auto& [ours, theirs] : {std::pair(&*a, &*b), std::pair(&*b, &*a)})
    for (const CableEnd& end : *ours)
      if (same_device(end.device, host))
        for (const CableEnd& other : *theirs) out.push_back({end.port, other, where});
  if (out.size() > kMaxCables)
    return error(0, where + ": more than " + std::to_string(kMaxCables) + " cables of " + host);
  return {};
}

Error too_many_ends() { return error(0, "more than " + std::to_string(kMaxEnds) + " ends on one side of a cable"); }

// Reads the records of a CSV text one by one.
class CsvReader {
 public:
  CsvReader(std::string_view text, char separator) : text_(text), separator_(separator) {}

  // Skips empty lines. nullopt: end of the text. Error: an unterminated quote, too many fields, or no line break at the
  // end of the text.
  Result<std::optional<std::vector<std::string>>> read_record() {
    for (;;) {
      line_ = next_line_;
      if (at_ == text_.size()) return std::optional<std::vector<std::string>>{};
      std::vector<std::string> fields;
      for (bool more = true; more;) {
        auto field = read_field(more);
        if (!field) return field.error();
        if (fields.size() == kMaxFields) return error(0, "more than " + std::to_string(kMaxFields) + " fields");
        fields.push_back(std::move(*field));
      }
      if (fields.size() > 1 || !fields.front().empty()) return std::optional(std::move(fields));
    }
  }
  [[nodiscard]] size_t line() const { return line_; }  // the line on which the record begins

 private:
  // Sets `more` if another field of the record follows.
  Result<std::string> read_field(bool& more) {
    std::string field;
    bool quoted = false, blank = true, ended = false;
    for (more = false; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++next_line_;
      if (quoted && c == '"' && text_.substr(at_ + 1).starts_with('"')) field += text_[++at_];
      else if (c == '"' && (quoted || blank)) quoted = !quoted;
      else if (!quoted && (c == separator_ || c == '\n')) {
        more = c == separator_;
        ended = true;
        ++at_;
        break;
      } else {
        field += c;
        blank = blank && std::isspace(static_cast<unsigned char>(c)) != 0;
      }
    }
    if (quoted) return error(0, "unterminated quote");
    // The file may be truncated: "swp1" may be the beginning of "swp12".
    if (!ended) return error(0, "no line break at the end of the file: it may be truncated");
    return std::string(trim(field));
  }

  std::string_view text_;
  char separator_;
  size_t at_ = 0, line_ = 1, next_line_ = 1;
};

constexpr size_t kColumns = 7;
enum CableColumn : size_t { kDeviceA, kPortA, kDeviceB, kPortB, kTypeA, kTypeB, kStatus };
constexpr const char* kRequired[] = {
    "the device of end A (\"Device A\", \"side_a_device\")", "the port of end A (\"Termination A\", \"side_a_name\")",
    "the device of end B (\"Device B\", \"side_b_device\")", "the port of end B (\"Termination B\", \"side_b_name\")"};

std::optional<size_t> column_of(std::string_view heading) {
  std::string name;  // letters and digits only: "Termination A Device" and "termination_a_device" are the same
  for (const char c : lower(trim(heading)))
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  if (name == "status") return kStatus;
  if (name == "sideatype" || name == "terminationatype") return kTypeA;
  if (name == "sidebtype" || name == "terminationbtype") return kTypeB;
  constexpr const char* kDeviceNames[] = {
      "device%", "side%", "side%device", "termination%device", "termination%parent", "side%parent"};
  constexpr const char* kPortNames[] = {"port%",     "termination%", "termination%name",
                                        "side%name", "interface%",   "interface%name"};
  struct End {
    char letter;
    CableColumn device, port;
  };
  for (const End& end : {End{'a', kDeviceA, kPortA}, End{'b', kDeviceB, kPortB}}) {
    for (std::string known : kDeviceNames)
      if (name == known.replace(known.find('%'), 1, 1, end.letter)) return end.device;
    for (std::string known : kPortNames)
      if (name == known.replace(known.find('%'), 1, 1, end.letter)) return end.port;
  }
  return std::nullopt;
}

std::vector<std::string> parts_of(std::string_view list) {
  std::vector<std::string> out;
  for (const std::string_view part : split(list, ','))
    if (!trim(part).empty()) out.push_back(clean_text(trim(part)));
  return out;
}

// The lists are separated by commas, as NetBox joins the terminations of a breakout.
Result<CableSide> side_of(std::string_view devices, std::string_view ports) {
  const auto first = parts_of(devices), second = parts_of(ports);
  if (first.size() > kMaxEnds || first.size() * second.size() > kMaxEnds) return too_many_ends();
  CableSide out;
  for (const std::string& device : first)
    for (const std::string& port : second) out.push_back({device, port});
  return out;
}

Result<std::vector<Cable>> parse_csv(std::string_view text, const std::string& name, const std::string& host) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const std::string_view header = text.substr(0, text.find('\n'));
  char separator = ',';
  if (header.find(',') == std::string_view::npos) {
    if (header.find(';') != std::string_view::npos) separator = ';';
    else if (header.find('\t') != std::string_view::npos) separator = '\t';
  }
  CsvReader reader(text, separator);
  std::array<std::optional<size_t>, kColumns> columns;  // CableColumn -> index of the field
  size_t width = 0;                                     // fields of the header; 0: not yet read
  std::vector<Cable> out;
  for (;;) {
    auto record = reader.read_record();
    const std::string where = name + ":" + std::to_string(reader.line());
    if (!record) return error(0, where + ": " + record.error().what);
    if (!*record) break;
    const std::vector<std::string>& fields = **record;
    if (width == 0) {
      width = fields.size();
      for (size_t i = 0; i < width; ++i)
        if (const auto column = column_of(fields[i]); column && !columns[*column]) columns[*column] = i;
      for (const size_t column : {kDeviceA, kPortA, kDeviceB, kPortB})
        if (!columns[column]) return error(0, where + ": no column for " + kRequired[column] + " in the header");
      continue;
    }
    if (fields.size() != width)
      return error(
          0, where + ": " + std::to_string(fields.size()) + " fields, but the header has " + std::to_string(width));
    std::array<std::string, kColumns> value;  // empty if there is no such column
    for (size_t column = 0; column < kColumns; ++column)
      if (columns[column]) value[column] = fields[*columns[column]];
    if (is_not_connected(value[kStatus]) || !may_be_interface(value[kTypeA]) || !may_be_interface(value[kTypeB]))
      continue;
    const auto a = side_of(value[kDeviceA], value[kPortA]), b = side_of(value[kDeviceB], value[kPortB]);
    if (auto added = add_cables(a, b, host, where, out); !added) return added.error();
  }
  if (width == 0) return error(0, name + ":1: empty; expected a header line and one line for each cable");
  return out;
}

// The text at `path`; empty if there is none.
std::string json_text(const Json& node, const char* path) {
  const Json::json_pointer pointer(path);
  if (!node.contains(pointer) || !node.at(pointer).is_string()) return {};
  return node.at(pointer).get<std::string>();
}

// A termination, or its "object" since NetBox 3.3: { "device": { "name": ... }, "name": ... }.
void add_end(const Json& termination, const std::string& type, CableSide& side) {
  if (!may_be_interface(type)) return;
  const Json& object = termination.contains("object") ? termination["object"] : termination;
  const std::string device = json_text(object, "/device/name"), port = json_text(object, "/name");
  if (!device.empty() && !port.empty()) side.push_back({clean_text(device), clean_text(port)});
}

Result<CableSide> json_side(const Json& cable, const std::string& letter) {
  CableSide out;
  if (const auto list = cable.find(letter + "_terminations"); list != cable.end()) {
    if (list->is_array())
      for (const Json& termination : *list) add_end(termination, json_text(termination, "/object_type"), out);
  } else if (const auto termination = cable.find("termination_" + letter); termination != cable.end()) {
    add_end(*termination, json_text(cable, ("/termination_" + letter + "_type").c_str()), out);
  }
  if (out.size() > kMaxEnds) return too_many_ends();
  return out;
}

Result<std::vector<Cable>> parse_json(std::string_view text, const std::string& name, const std::string& host) {
  Json document;
  try {
    document = Json::parse(text);
  } catch (const Json::parse_error& fault) {
    const auto before = text.substr(0, std::min(fault.byte, text.size()));
    return error(0, name + ":" + std::to_string(1 + std::ranges::count(before, '\n')) + ": invalid JSON");
  }
  const Json& list = document.contains("results") ? document["results"] : document;
  if (!list.is_array()) return error(0, name + ":1: neither a list of cables nor one in \"results\"");
  if (!json_text(document, "/next").empty())
    return error(0, name + ":1: only one page of several; query the API with ?limit=0");
  std::vector<Cable> out;
  for (size_t i = 0; i < list.size(); ++i) {
    const std::string where = name + ": cable " + std::to_string(i + 1);
    if (!list[i].is_object()) return error(0, where + ": not a JSON object");
    std::string status = json_text(list[i], "/status/value");
    if (status.empty()) status = json_text(list[i], "/status");
    if (is_not_connected(status)) continue;
    if (auto added = add_cables(json_side(list[i], "a"), json_side(list[i], "b"), host, where, out); !added)
      return added.error();
  }
  return out;
}

}  // namespace

Result<std::vector<Cable>> parse_cabling(std::string_view text, const std::string& name, const std::string& host) {
  const size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  const bool is_json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  if (is_json) return parse_json(text, name, host);
  return parse_csv(text, name, host);
}

void load_cabling(const Root& root, Policy& policy) {
  Cabling& cabling = policy.cabling;
  if (cabling.file.empty()) return;
  if (cabling.host.empty()) cabling.host = machine::hostname(root);
  cabling.problem.clear();
  cabling.cables.clear();
  // A cluster has tens of thousands of cables, which is more than read() takes by default.
  constexpr size_t kMaxBytes = size_t{32} << 20;
  const size_t name = std::min(cabling.file.find_first_not_of('/'), cabling.file.size());
  const auto text = root.read(cabling.file.substr(name), kMaxBytes);
  if (!text) {
    cabling.problem = text.error().text();
    return;
  }
  auto cables = parse_cabling(*text, cabling.file, cabling.host);
  if (cables) cabling.cables = std::move(*cables);
  else cabling.problem = cables.error().text();
}

}  // namespace fabric
