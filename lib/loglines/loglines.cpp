// SPDX-License-Identifier: Apache-2.0
#include "loglines/loglines.h"

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

bool has_parts(std::string_view line, std::string_view pattern) {
  for (size_t from = 0, at = 0; from <= pattern.size();) {
    const std::string_view part = pattern.substr(from, pattern.find('*', from) - from);
    at = find_part(line, part, at);
    if (at == std::string_view::npos) return false;
    from += part.size() + 1;
  }
  return true;
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

// Of mlx5, as they occur with their statuses in the threads of NCCL and UCX.
constexpr std::pair<unsigned, std::string_view> kVendorErrors[] = {{129, "no acknowledgment came back"},
                                                                   {136, "the peer denied access to its memory"},
                                                                   {137, "the peer reported an error of its own"},
                                                                   {138, "the peer rejected the request as invalid"},
                                                                   {249, "flushed after an earlier error"}};

// `status`: completion_status(line).
bool fits(const Message& message, std::string_view line, unsigned status) {
  if (status != 0 && message.status == status) return true;
  for (size_t from = 0; from <= message.patterns.size();) {
    const std::string_view pattern = message.patterns.substr(from, message.patterns.find('|', from) - from);
    if (has_parts(line, pattern)) return true;
    from += pattern.size() + 1;
  }
  return false;
}

}  // namespace

std::string_view to_text(Cause value) {
  constexpr std::string_view kTexts[] = {"host", "cable", "network", "peer", "software"};
  return kTexts[static_cast<size_t>(value)];
}

bool matches(const Message& message, std::string_view line) { return fits(message, line, completion_status(line)); }

const Message* recognize(std::string_view line) {
  line = line.substr(0, kMaxLine);
  const unsigned status = completion_status(line);
  return find_where(messages(), [&](const Message& message) { return fits(message, line, status); });
}

std::string vendor_error(std::string_view line) {
  line = line.substr(0, kMaxLine);
  for (const std::string_view prefix : {"vendor err ", "vendor_err=", "vendor_err ", "vendor error ", " vend "}) {
    const auto number = number_after(line, prefix);
    if (!number) continue;
    for (const auto& [known, text] : kVendorErrors)
      if (known == *number) return "vendor error " + std::to_string(*number) + ": " + std::string(text);
  }
  return "";
}

}  // namespace fabric::loglines
