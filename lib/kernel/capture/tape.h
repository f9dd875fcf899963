// SPDX-License-Identifier: Apache-2.0
// The recorded answers of a machine to all questions, so that it can be checked elsewhere.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
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

// Counters are read in both samples and compared.
enum class Sample : uint8_t { before, now };
template <>
inline constexpr std::string_view kEnumWords<Sample>[] { "before", "now" };

// One text for a file's content or a link's end, several for a folder's names or netlink replies (type as u16,
// payload).
using Answer = Result<std::vector<std::string>>;

class Tape {
 public:
  // Limits of a recording. A node of 16 ports has some 50,000 questions with 10 MB; the paths of sysfs have 25 levels.
  static constexpr size_t kMostBytes = size_t{64} << 20, kMostQuestions = size_t{1} << 18, kMostLevels = 64;
  using Question = std::pair<Ask, std::string>;
  using Answers = std::map<Sample, Answer>;  // at least one

  explicit Tape(bool replays = false) : replays_(replays) {}
  [[nodiscard]] bool replays() const { return replays_; }
  void begin(Sample sample) { sample_ = sample; }

  // Records an answer. The first one in a sample applies: repeated reads in a sample are one reading.
  void note(Ask ask, const std::string& what, const Answer& answer);
  // Records the links on the way to the requested file, and where it is without links.
  void note_links(const std::string& file, const std::map<std::string, std::string>& met);
  void note_place(const std::string& file, std::string place);
  // EFBIG, with the question: it exceeded a limit of a recording. From then on nothing is recorded, and all questions
  // fail, since the machine or the tree would only cost more.
  [[nodiscard]] const std::optional<Error>& beyond() const { return beyond_; }
  // The answer in this sample, else in the other one; null: neither has it.
  [[nodiscard]] const Answer* find(Ask ask, const std::string& what) const;
  // Calls `live` and records its answer; during a replay, the recorded answer, else `missing`.
  Answer ask(Ask ask, const std::string& what, const std::function<Answer()>& live, const Error& missing);
  // Whether the tape has questions of this kind.
  [[nodiscard]] bool holds(Ask ask) const;

  std::map<Question, Answers> answers;
  // A recording has the symbolic links on the paths by their place ("sys/class/net/eth0"), and for each requested file
  // its path without links.
  std::map<std::string, std::string> links, places;

 private:
  void count(size_t bytes, std::string_view what);

  bool replays_;
  size_t bytes_ = 0;
  std::optional<Error> beyond_;
  Sample sample_ = Sample::now;
};

// The file of answers: for each question a line "ASK SAMPLE WHAT", then "! ERRNO TEXT" if it failed, or "= PART" for
// each part. Netlink messages are hexadecimal digits; in other texts blanks, control characters and % are written as
// %XX.
std::string answers_text(const std::map<Tape::Question, Tape::Answers>& answers);
// Errors name the line: a part of the file is invalid, or its end is missing.
Result<std::map<Tape::Question, Tape::Answers>> parse_answers(std::string_view text, const std::string& name);

}  // namespace fabric
