// SPDX-License-Identifier: Apache-2.0
// What a machine answered to everything that was asked of it, so that it can be judged elsewhere as on the spot.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/words.h"

namespace fabric {

// The file of a captured tree with the recorded answers.
inline constexpr const char* kAnswersFile = "fabric-agent/answers.txt";

// A question: to a file or folder (its path without leading slash), to a netlink socket (type and flags as u16,
// then the payload), to ethtool's statistics (a netdev), to a library or tool (a name chosen by the caller), to the
// clock.
enum class Ask : uint8_t {
  read,
  list,
  exists,
  resolve,
  locked,
  make_directory,
  remove_directory,
  route,
  generic,
  rdma,
  statistics,
  query,
  clock
};
template <>
inline constexpr std::string_view kEnumWords<Ask>[] {
  "read", "list", "exists", "resolve", "locked", "make_directory", "remove_directory", "route", "generic", "rdma",
      "statistics", "query", "clock"
};
constexpr bool is_of_files(Ask ask) { return ask <= Ask::remove_directory; }
constexpr bool is_of_netlink(Ask ask) { return ask >= Ask::route && ask <= Ask::rdma; }

// Counters are read twice and compared.
enum class Sample : uint8_t { before, now };
template <>
inline constexpr std::string_view kEnumWords<Sample>[] { "before", "now" };

// One text for a file's content or a link's end, several for a folder's names or netlink replies (type as u16,
// payload).
using Answer = Result<std::vector<std::string>>;

class Tape {
 public:
  using Question = std::pair<Ask, std::string>;
  using Answers = std::map<Sample, Answer>;  // at least one

  explicit Tape(bool replays = false) : replays_(replays) {}
  [[nodiscard]] bool replays() const { return replays_; }
  void begin(Sample sample) { sample_ = sample; }

  // The first answer in a sample applies: repeated reads in a sample are one reading.
  const Answer& note(Ask ask, const std::string& what, const Answer& answer);
  // Of this sample, else of the other one, else null.
  [[nodiscard]] const Answer* find(Ask ask, const std::string& what) const;
  // What `live` says, noted; of a tape that replays what it has, else `missing`.
  Answer ask(Ask ask, const std::string& what, const std::function<Answer()>& live, const Error& missing);
  // Was anything of the kind asked?
  [[nodiscard]] bool holds(Ask ask) const;

  std::map<Question, Answers> answers;
  // Of a recording: the symbolic links that were met, by their place ("sys/class/net/eth0"), and where each file that
  // was asked for lies, without links.
  std::map<std::string, std::string> links, places;

 private:
  bool replays_;
  Sample sample_ = Sample::now;
};

// The file of answers: a line "ASK SAMPLE WHAT" for each, then "! ERRNO TEXT" where it failed, or "= PART" for each
// part. Netlink is in hexadecimal digits; elsewhere blanks, control characters and % are written as %XX.
std::string answers_text(const std::map<Tape::Question, Tape::Answers>& answers);
// An Error with the line, and nothing, when any of it is not understood or its end is missing.
Result<std::map<Tape::Question, Tape::Answers>> parse_answers(std::string_view text, const std::string& name);

}  // namespace fabric
