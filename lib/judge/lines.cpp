// SPDX-License-Identifier: Apache-2.0
#include "judge/lines.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/find.h"
#include "base/parse.h"
#include "judge/lines/tables.h"

namespace fabric::lines {
namespace {

bool is_word_letter(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_';
}

// Removes the text before the next separator from `rest` and returns it. Does not allocate: a log has millions of
// lines.
std::string_view cut(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(part.size() + 1, rest.size()));
  return part;
}

// Whether the parts of the pattern, which '*' separates, follow each other in the line. A part that ends in a number
// matches whole numbers only: "12" is not found in "120".
bool has_parts(std::string_view line, std::string_view pattern) {
  size_t from = 0;  // after the parts found so far
  while (!pattern.empty()) {
    const std::string_view part = cut(pattern, '*');
    size_t at = line.find(part, from);
    const bool ends_in_number = !part.empty() && is_digit(part.back());
    while (ends_in_number && at != std::string_view::npos && at + part.size() < line.size() &&
           is_word_letter(line[at + part.size()]))
      at = line.find(part, at + 1);
    if (at == std::string_view::npos) return false;
    from = at + part.size();
  }
  return true;
}

std::optional<unsigned> number_after(std::string_view line, std::string_view prefix) {
  const size_t at = line.find(prefix);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view number = line.substr(at + prefix.size());
  int base = 10;
  if (number.starts_with("0x")) {
    base = 16;
    number.remove_prefix(2);
  }
  size_t length = 0;
  while (length < number.size() && is_word_letter(number[length])) ++length;
  return parse_number<unsigned>(number.substr(0, length), base);
}

// enum ibv_wc_status by name, from 1.
constexpr std::string_view kStatusNames[] = {
    "LOC_LEN_ERR",   "LOC_QP_OP_ERR", "LOC_EEC_OP_ERR",    "LOC_PROT_ERR",     "WR_FLUSH_ERR",
    "MW_BIND_ERR",   "BAD_RESP_ERR",  "LOC_ACCESS_ERR",    "REM_INV_REQ_ERR",  "REM_ACCESS_ERR",
    "REM_OP_ERR",    "RETRY_EXC_ERR", "RNR_RETRY_EXC_ERR", "LOC_RDD_VIOL_ERR", "REM_INV_RD_REQ_ERR",
    "REM_ABORT_ERR", "INV_EECN_ERR",  "INV_EEC_STATE_ERR", "FATAL_ERR",        "RESP_TIMEOUT_ERR",
    "GENERAL_ERR"};

// The status of a work completion, as NCCL (old, new), perftest, mlx5_ib and Open MPI print it. 0: none.
unsigned completion_status(std::string_view line) {
  constexpr std::string_view kName = "IBV_WC_";
  if (const size_t at = line.find(kName); at != std::string_view::npos) {
    const std::string_view name = line.substr(at + kName.size());
    for (unsigned i = 0; i < std::size(kStatusNames); ++i)
      if (name.starts_with(kStatusNames[i]) &&
          (name.size() == kStatusNames[i].size() || !is_word_letter(name[kStatusNames[i].size()])))
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

// `status`: completion_status(line).
bool fits(const LineMessage& message, std::string_view line, unsigned status) {
  if (status != 0 && message.status == status) return true;
  for (std::string_view patterns = message.patterns; !patterns.empty();)
    if (has_parts(line, cut(patterns, '|'))) return true;
  return false;
}

// vendor_err of mlx5, from the statuses printed with them in the issue threads of NCCL and UCX.
constexpr std::pair<unsigned, std::string_view> kVendorErrors[] = {{129, "no acknowledgment came back"},
                                                                   {136, "the peer denied access to its memory"},
                                                                   {137, "the peer reported an error of its own"},
                                                                   {138, "the peer rejected the request as invalid"},
                                                                   {249, "flushed after an earlier error"}};

}  // namespace

std::string_view to_text(Cause value) {
  constexpr std::string_view kTexts[] = {"host", "cable", "network", "peer", "software"};
  return kTexts[static_cast<size_t>(value)];
}

const std::vector<LineMessage>& messages() {
  static const std::vector<LineMessage> all = [] {
    std::vector<LineMessage> out;
    for (const std::span<const LineMessage> table : {kCompletionMessages, kNcclMessages, kLibraryMessages,
                                                     kDriverMessages, kKernelMessages, kGpuMessages, kProgramMessages})
      out.insert(out.end(), table.begin(), table.end());
    return out;
  }();
  return all;
}

bool matches(const LineMessage& message, std::string_view line) { return fits(message, line, completion_status(line)); }

const LineMessage* recognize(std::string_view line) {
  line = line.substr(0, kMaxLine);
  const unsigned status = completion_status(line);
  return find_where(messages(), [&](const LineMessage& message) { return fits(message, line, status); });
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

}  // namespace fabric::lines
