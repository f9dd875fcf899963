// SPDX-License-Identifier: Apache-2.0
#include "loglines/loglines.h"

#include <algorithm>

#include "base/parse.h"

namespace fabric::loglines {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_word(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

// End of the first `part` at or after `from`; npos: none. A number at its end does not continue.
size_t find_part(std::string_view line, std::string_view part, size_t from) {
  for (size_t at = line.find(part, from); at != std::string_view::npos; at = line.find(part, at + 1)) {
    const size_t end = at + part.size();
    if (part.empty() || !is_digit(part.back()) || end == line.size() || !is_word(line[end])) return end;
  }
  return std::string_view::npos;
}

using Parts = std::vector<std::string_view>;

bool matches_parts(std::string_view line, const Parts& parts) {
  size_t at = 0;
  return std::ranges::all_of(parts, [&](std::string_view part) {
    at = find_part(line, part, at);
    return at != std::string_view::npos;
  });
}

std::vector<Parts> parts_of(const Message& message) {
  std::vector<Parts> out;
  for (const std::string_view pattern : split(message.patterns, '|')) out.push_back(split(pattern, '*'));
  return out;
}

std::optional<unsigned> number_after(std::string_view line, std::string_view prefix) {
  const size_t at = line.find(prefix);
  if (at == std::string_view::npos) return std::nullopt;
  size_t from = at + prefix.size(), to = from;
  const int base = line.substr(from).starts_with("0x") ? 16 : 10;
  if (base == 16) from = to = from + 2;
  while (to < line.size() && is_word(line[to])) ++to;
  return parse_number<unsigned>(line.substr(from, to - from), base);
}

// enum ibv_wc_status by name, from 1.
constexpr std::string_view kStatusNames[] = {
    "LOC_LEN_ERR",   "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR",    "LOC_PROT_ERR",     "WR_FLUSH_ERR",
    "MW_BIND_ERR",   "BAD_RESP_ERR",  "LOC_ACCESS_ERR",    "REM_INV_REQ_ERR",  "REM_ACCESS_ERR",
    "REM_OP_ERR",    "RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR",
    "REM_ABORT_ERR", "INV_EECN_ERR",  "INV_EEC_STATE_ERR", "FATAL_ERR",        "RESP_TIMEOUT_ERR",
    "GENERAL_ERR"};

// The status of a work completion: the ways in which NCCL (old, new), perftest, mlx5_ib and Open MPI print it. 0: none.
unsigned completion_status(std::string_view line) {
  constexpr std::string_view kName = "IBV_WC_";
  if (const size_t at = line.find(kName); at != std::string_view::npos) {
    const std::string_view name = line.substr(at + kName.size());
    for (unsigned i = 0; i < std::size(kStatusNames); ++i)
      if (name.starts_with(kStatusNames[i]) &&
          (name.size() == kStatusNames[i].size() || !is_word(name[kStatusNames[i].size()])))
        return i + 1;
  }
  for (const std::string_view prefix : {"ompletion with error ", "Failed status ", "WC error: ", "status number "})
    if (const auto number = number_after(line, prefix)) return *number;
  const size_t peer = line.find("ompletion from peer");
  if (peer == std::string_view::npos) return 0;
  for (const std::string_view prefix : {"with status=", " with error "})
    if (const auto number = number_after(line.substr(peer), prefix)) return *number;
  return 0;
}

struct VendorError {
  unsigned number;
  std::string_view text;
};
// Of mlx5, as they occur with their statuses in the threads of NCCL and UCX.
constexpr VendorError kVendorErrors[] = {{129, "no acknowledgment came back"},
                                         {136, "the peer denied access to its memory"},
                                         {137, "the peer reported an error of its own"},
                                         {138, "the peer rejected the request as invalid"},
                                         {249, "flushed after an earlier error"}};

}  // namespace

std::string_view to_text(Cause value) {
  constexpr std::string_view kTexts[] = {"host", "cable", "network", "peer", "software"};
  return kTexts[static_cast<size_t>(value)];
}

std::span<const Message> messages() {
  static const std::vector<Message> all = [] {
    std::vector<Message> out;
    for (const auto list :
         {completion_messages(), library_messages(), provider_messages(), application_messages(), kernel_messages()})
      out.insert(out.end(), list.begin(), list.end());
    return out;
  }();
  return all;
}

namespace {

bool matches_any(std::string_view line, const std::vector<Parts>& patterns) {
  return std::ranges::any_of(patterns, [&](const Parts& each) { return matches_parts(line, each); });
}

}  // namespace

bool matches(const Message& message, std::string_view line) {
  return (message.status != 0 && completion_status(line) == message.status) || matches_any(line, parts_of(message));
}

const Message* recognize(std::string_view line) {
  static const std::vector<std::vector<Parts>> patterns = [] {
    std::vector<std::vector<Parts>> out;
    for (const Message& message : messages()) out.push_back(parts_of(message));
    return out;
  }();
  line = line.substr(0, kMaxLine);
  const unsigned status = completion_status(line);
  const auto all = messages();
  for (size_t i = 0; i < all.size(); ++i)
    if ((status != 0 && all[i].status == status) || matches_any(line, patterns[i])) return &all[i];
  return nullptr;
}

std::string vendor_error(std::string_view line) {
  line = line.substr(0, kMaxLine);
  for (const std::string_view prefix : {"vendor err ", "vendor_err=", "vendor_err ", "vendor error ", " vend "}) {
    const auto number = number_after(line, prefix);
    if (!number) continue;
    for (const VendorError& each : kVendorErrors)
      if (each.number == *number) return "vendor error " + std::to_string(*number) + ": " + std::string(each.text);
  }
  return "";
}

}  // namespace fabric::loglines
