// SPDX-License-Identifier: Apache-2.0
// A log, line by line: its messages, each with everything that its lines name, and the error lines that no rule knows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/lines.h"
#include "judge/lines/condition.h"
#include "judge/lines/envelope.h"
#include "judge/lines/names.h"

namespace fabric::lines {

struct Counted {
  std::string text;
  size_t count = 0;
};

// A consequence, shown with its cause; or an unknown message of a component that was printed right after it, or by the
// same program around it.
struct Consequence {
  const LineMessage* message = nullptr;
  std::string line;             // the first
  size_t first = 0, count = 0;  // number of the first line; number of lines
  std::vector<Counted> codes, peers;
  bool may_be_own = false;  // it was printed after the cause, and names no device: another cause is possible
};

// Another message of the same component.
struct OtherLine {
  std::string line, shape;      // the first
  size_t first = 0, count = 0;  // number of the first line; number of lines
};

// A message, or a component, that one or several lines report for the same ports.
struct Found {
  const LineMessage* message = nullptr;  // nullptr: an error line that no rule knows
  Named named;                           // of the first line
  std::string line;                      // the first
  std::optional<int64_t> time;
  size_t first = 0, count = 0;  // number of the first line; number of lines
  std::vector<Counted> codes, peers, elsewhere, devices_elsewhere, pci, hosts, processes;
  size_t at_start = 0;           // of a link that went down: lines before it first came up, and it did
  std::optional<bool> is_fatal;  // Codes::is_fatal of `line`
  std::string vendor_error;      // the first of `codes` that is one of a work completion; empty: none
  std::vector<Consequence> consequences;
  std::vector<OtherLine> others;  // of a component
  // For a component or an unknown line: the first errno, and the condition that its words name.
  std::string_view error;
  const Condition* condition = nullptr;
  // If the line reports no error and no rule knows it: the component that prints it.
  const LineMessage* printer = nullptr;
  // The error line before the first one, if the message refers to it.
  std::string before;
  size_t before_number = 0;
  size_t wrapped = std::string::npos;  // the finding of that line, by its index; npos: none
};

// The usual cause of the component's errors, if no message is known. If it has several, the one that the words name, or
// that of the errno. Words about settings, and about no fault, are more certain than the component.
FaultLocation cause_of(const Found& found);
// Whether it is of a connection to another host: of the other end, of the path, or silence that shows no place.
bool is_of_path(const Found& found);

class Log {
 public:
  // Names are resolved on the node. now, uptime: of this node, for the times of the lines.
  Log(const Node& node, const PortsByLid& lids, int64_t now, double uptime)
      : node_(&node), lids_(&lids), now_(now), uptime_(uptime) {}

  // The next line of the log; at most kMaxRaw bytes of it are read.
  void add(std::string_view raw);
  // After the last line. The causes come first, then components, consequences, unknown lines and harmless ones; but an
  // earlier line that names a cause comes before a message that names none. A log of one line that no rule knows, and
  // that is no error, has kInformation or kNoError.
  void finish();

  const std::vector<Found>& found() const { return found_; }
  size_t lines() const { return lines_; }
  size_t known() const { return known_; }  // lines with a known message
  size_t cut() const { return cut_; }      // lines longer than kMaxLine

 private:
  struct Line {
    std::string text;
    std::optional<int64_t> time;
    size_t number = 0;
    LineLevel level = LineLevel::none;
  };

  // A NIC whose driver has made its netdev, and whose link has not been up since: the finding of its lines "link down".
  struct Starting {
    size_t found = std::string::npos, lines = 0;
  };

  void take(Line line);
  void note_start(const LogLine& line);
  void add_unknown(const Line& line, Found found);
  void judge_unknown(const Line& only_line);

  const Node* node_;
  const PortsByLid* lids_;
  int64_t now_;
  double uptime_;
  std::string part_;             // of a line that the next entry continues
  std::optional<Line> pending_;  // a line that the next one may continue
  Line last_error_;
  std::string release_;  // "NCCL version 2.21.5"
  std::vector<Found> found_;
  std::map<std::string, size_t> unknown_;     // the findings of the unknown lines, by shape
  std::vector<size_t> near_;                  // unknown lines that are shown if a known one follows within kNear lines
  size_t last_found_ = std::string::npos;     // index of the finding of last_error_; npos: none
  std::map<std::string, Starting> starting_;  // by host and PCI address
  size_t lines_ = 0, known_ = 0, cut_ = 0, last_known_ = 0;
};

}  // namespace fabric::lines
