// SPDX-License-Identifier: Apache-2.0
// Output on a terminal: nothing is wider than it, and pager and color follow systemctl(1). --watch on a real terminal
// (pty(7)): keys, changes of its size, hangup. The lines of check --watch.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <csignal>

#include "base/fd.h"
#include "ctl/options.h"
#include "ctl/output/report_text.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "ctl/verbs/neighbors_verb.h"
#include "ctl/verbs/watch.h"
#include "support/golden.h"
#include "support/healthy_node.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::ctl {
namespace {

using test::has;
using test::Tree;

// -- Width, pager and color

std::string explained(std::vector<std::string> words, const Output& terminal) {
  Output output = terminal;
  words.insert(words.begin(), "explain");
  EXPECT_EQ(run(words, output), kDone) << output.errors;
  return output.text;
}

TEST(Widths, Explain) {
  test::expect_goldens("ctl_explain", [](const Output& output) {
    return explained({"pcie", "nofile", "damaged-link", "pfc", "not-enough-evidence"}, output);
  });
  test::expect_goldens("ctl_explain_list", [](const Output& output) { return explained({}, output); });
}

// The meaning of some rules begins with their title.
TEST(Explain, NoRuleSaysItsTitleTwice) {
  Output output;
  for (const Rule& rule : rules()) {
    const std::string text = explained({std::string(rule.id)}, output),
                      title(rule.title.substr(0, rule.title.find_last_not_of('.') + 1));
    EXPECT_EQ(test::count_of(text, title), 1u) << text;
  }
}

TEST(Widths, Neighbors) {
  test::Healthy machine;
  Node& node = machine.now;
  node.neighbors.heard.at(1).system_name = "leaf1-row-12-rack-07.fabric.example.com";
  node.neighbors.heard.at(1).malformed = {"TLV 127 at offset 143: 802.1 PFC of 3 bytes, which should have 6 bytes"};
  test::expect_goldens("ctl_neighbors",
                       [&](const Output& output) { return neighbors_table(Options(), node, &machine.policy, output); });
  node.neighbors = {.why_none = "the LLDP listener (fabric-lldp) is not running"};
  test::expect_goldens("ctl_neighbors_none",
                       [&](const Output& output) { return neighbors_table(Options(), node, &machine.policy, output); });
}

using Environment = std::map<std::string, std::string>;

// Runs fabric-agentctl's main function in a child: with rows on a terminal of 80 columns, without them on a pipe.
// Returns its output.
class Session {
 public:
  std::string run(unsigned short rows, Environment environment, const std::vector<std::string>& words) {
    environment.emplace("TERM", "xterm");
    environment.emplace("SYSTEMD_PAGERSECURE", "0");  // a test has no session
    environment.emplace("PATH", std::getenv("PATH"));
    int reader = -1, ends[2];
    const winsize window{rows, 80, 0, 0};
    if (rows == 0 && ::pipe(ends) != 0) return {};
    const pid_t child = rows == 0 ? ::fork() : ::forkpty(&reader, nullptr, nullptr, &window);
    if (child == 0) {
      if (rows == 0) ::dup2(ends[1], STDOUT_FILENO);
      ::clearenv();
      for (const auto& [name, value] : environment) ::setenv(name.c_str(), value.c_str(), 1);
      Output output = standard_output();
      const int code = ctl::run(words, output);
      output.text += colored(output, Status::critical, "COLORED") + "\n";
      ::_exit(print(output) ? code : kFailure);
    }
    if (rows == 0) ::close(ends[1]), reader = ends[0];
    std::string out;
    char buffer[4096];
    for (ssize_t size = 0; (size = ::read(reader, buffer, sizeof buffer)) > 0 || errno == EINTR;)
      if (size > 0) out.append(buffer, static_cast<size_t>(size));
    ::close(reader);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == kDone) << status << out;
    return out;
  }

  // A pager that notes its name and its input, and shows nothing.
  std::string pager(const std::string& name) {
    const std::string file = tree_.path() + "/" + name;
    std::ofstream(file) << "#!/bin/sh\nprintf '%s %s %s %s\\n' " << name
                        << " \"$LESS\" \"$(wc -l)\" \"$LESSCHARSET${LESSSECURE:+ $LESSSECURE}\" >> " + tree_.path() +
                               "/log\n";
    ::chmod(file.c_str(), 0755);
    return file;
  }

  // The notes of the pagers since the last call.
  std::string noted() {
    const std::string file = tree_.path() + "/log";
    std::string text = test::slurp(file);
    ::unlink(file.c_str());
    return text;
  }

 private:
  test::Tree tree_;
};

constexpr unsigned short kSmall = 10, kTall = 2000;
const std::vector<std::string> kLong{"explain"}, kUnpaged{"explain", "--no-pager"};

TEST(Pager, RunsOnceForALongText) {
  Session session;
  const std::string shown = session.run(kSmall, {{"SYSTEMD_PAGER", session.pager("mine")}}, kLong),
                    note = session.noted();
  EXPECT_FALSE(has(shown, "damaged-link")) << shown;
  EXPECT_TRUE(note.starts_with("mine FRSXMK ")) << note;
  EXPECT_GT(std::atoi(note.c_str() + 12), 60) << note;
  EXPECT_TRUE(note.ends_with(" utf-8\n")) << "LANG=C: less would print <E2><94><80>; " << note;
  EXPECT_EQ(std::count(note.begin(), note.end(), '\n'), 1) << note;
}

TEST(Pager, IsChosenAsBySystemctl) {
  Session session;
  const std::string one = session.pager("one"), two = session.pager("two");
  session.run(kSmall, {{"SYSTEMD_PAGER", one}, {"PAGER", two}}, kLong);
  EXPECT_TRUE(session.noted().starts_with("one ")) << "SYSTEMD_PAGER before PAGER";
  session.run(kSmall, {{"PAGER", two}, {"SYSTEMD_LESS", "XY"}}, kLong);
  EXPECT_TRUE(session.noted().starts_with("two XY "));
  session.pager("less");
  session.run(kSmall, {{"PATH", one.substr(0, one.rfind('/')) + ":" + std::getenv("PATH")}}, kLong);
  EXPECT_TRUE(session.noted().starts_with("less FRSXMK ")) << "the default";
}

// sudo(8) may permit this program and no shell.
TEST(Pager, StartsNoShellForAnotherUser) {
  Session session;
  const Environment pager{{"SYSTEMD_PAGER", session.pager("mine")}};
  Environment secure = pager;
  secure["SYSTEMD_PAGERSECURE"] = "1";
  session.run(kSmall, secure, kLong);
  EXPECT_TRUE(session.noted().ends_with(" utf-8 1\n")) << "LESSSECURE of less(1)";
}

TEST(Pager, DoesNotRun) {
  Session session;
  const std::string pager = session.pager("mine");
  const struct {
    const char* why;
    unsigned short rows;
    Environment environment;
    const std::vector<std::string>& words;
  } cases[] = {{"--no-pager", kSmall, {{"SYSTEMD_PAGER", pager}}, kUnpaged},
               {"an empty SYSTEMD_PAGER", kSmall, {{"SYSTEMD_PAGER", ""}, {"PAGER", pager}}, kLong},
               {"cat", kSmall, {{"SYSTEMD_PAGER", "cat"}, {"PAGER", pager}}, kLong},
               {"not a terminal", 0, {{"SYSTEMD_PAGER", pager}}, kLong},
               {"TERM=dumb", kSmall, {{"SYSTEMD_PAGER", pager}, {"TERM", "dumb"}}, kLong},
               {"the text fits", kTall, {{"SYSTEMD_PAGER", pager}}, kLong},
               {"no such program", kSmall, {{"SYSTEMD_PAGER", "/nonexistent"}}, kLong}};
  for (const auto& each : cases) {
    const std::string shown = session.run(each.rows, each.environment, each.words);
    EXPECT_TRUE(has(shown, "damaged-link")) << each.why << shown;
    EXPECT_EQ(session.noted(), "") << each.why;
  }
}

TEST(Color, IsChosenAsBySystemctl) {
  Session session;
  const struct {
    unsigned short rows;
    Environment environment;
    bool colored;
  } cases[] = {{kTall, {}, true},
               {kTall, {{"NO_COLOR", "1"}}, false},
               {kTall, {{"NO_COLOR", ""}}, true},
               {kTall, {{"SYSTEMD_COLORS", "0"}}, false},
               {kTall, {{"NO_COLOR", "1"}, {"SYSTEMD_COLORS", "1"}}, true},
               {kTall, {{"TERM", "dumb"}}, false},
               {0, {}, false},
               {0, {{"SYSTEMD_COLORS", "1"}}, true}};
  for (const auto& each : cases) {
    const std::string shown = session.run(each.rows, each.environment, kLong);
    EXPECT_TRUE(has(shown, "COLORED"));
    EXPECT_EQ(shown.find("\033[") != std::string::npos, each.colored)
        << each.rows << (each.environment.empty() ? "" : each.environment.begin()->first);
  }
}

// -- --watch on a real terminal

constexpr const char* kState = "sys/class/infiniband/mlx5_0/ports/1/state";
constexpr const char* kGone = "\033[?7h\033[?25h\033[?1049l";

// The whole program, as main() runs it.
[[noreturn]] void run_program(const std::vector<std::string>& words) {
  Output output = standard_output();
  const int code = run(words, output);
  ::_exit(print(output) ? code : kFailure);
}

winsize size_of(unsigned short rows, unsigned short columns) { return {rows, columns, 0, 0}; }

class Program {
 public:
  // On a terminal of this size.
  Program(const std::vector<std::string>& words, winsize size, const char* kind = "xterm", bool color = true) {
    std::fflush(nullptr);
    int terminal = -1;
    pid_ = ::forkpty(&terminal, nullptr, nullptr, &size);
    if (pid_ == 0) {
      ::signal(SIGINT, SIG_DFL);  // a shell in the background has it ignored
      ::setenv("TERM", kind, 1);
      if (color) ::unsetenv("NO_COLOR");
      else ::setenv("NO_COLOR", "1", 1);
      run_program(words);
    }
    reads_.reset(terminal);
    while (::tcgetpgrp(terminal) != pid_) ::usleep(1000);  // until then, no process receives a ^C
  }
  // Into a pipe.
  explicit Program(const std::vector<std::string>& words) {
    std::fflush(nullptr);
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe(ends), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(ends[1], STDOUT_FILENO);
      ::close(ends[0]);
      ::close(ends[1]);
      run_program(words);
    }
    ::close(ends[1]);
    reads_.reset(ends[0]);
  }
  ~Program() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  // Waits until this is printed, after the text that an earlier call has found. False: it is not.
  bool prints(const std::string& text) {
    for (;;) {
      if (const size_t at = printed_.find(text, found_); at != std::string::npos)
        return found_ = at + text.size(), true;
      if (!read()) return false;
    }
  }
  void type(char key) { EXPECT_EQ(::write(reads_.get(), &key, 1), 1); }
  void resize(winsize size) { EXPECT_EQ(::ioctl(reads_.get(), TIOCSWINSZ, &size), 0); }
  void signal(int number) { ::kill(pid_, number); }
  void hang_up() { reads_.reset(); }
  [[nodiscard]] bool echoes() const {
    termios modes{};
    return ::tcgetattr(reads_.get(), &modes) == 0 && (modes.c_lflag & ECHO) != 0 && (modes.c_lflag & ICANON) != 0;
  }
  // Does a read of the terminal wait for a key?
  [[nodiscard]] bool waits() const {
    termios modes{};
    return ::tcgetattr(reads_.get(), &modes) != 0 || modes.c_cc[VMIN] != 0;
  }
  bool stops() {
    int status = 0;
    return ::waitpid(pid_, &status, WUNTRACED) == pid_ && WIFSTOPPED(status);
  }
  // Its exit status, or minus the signal that ended it; -1000: it goes on after ten seconds.
  int end() {
    while (reads_ && read()) continue;
    for (int tenths = 0; tenths < 100; ++tenths, ::usleep(100'000)) {
      int status = 0;
      if (::waitpid(pid_, &status, WNOHANG) != pid_) continue;
      pid_ = 0;
      return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    }
    return -1000;
  }
  [[nodiscard]] const std::string& printed() const { return printed_; }

 private:
  bool read() {
    pollfd waiting{reads_.get(), POLLIN, 0};
    char bytes[4096];
    if (::poll(&waiting, 1, 10'000) != 1) return false;
    const ssize_t size = ::read(reads_.get(), bytes, sizeof bytes);
    if (size <= 0) return false;
    printed_.append(bytes, static_cast<size_t>(size));
    return true;
  }

  pid_t pid_ = 0;
  Fd reads_;
  std::string printed_;
  size_t found_ = 0;
};

class WatchOnATerminal : public ::testing::Test {
 protected:
  WatchOnATerminal() {
    add_roce_port(tree_);
    tree_.file("sys/class/infiniband/mlx5_0/ports/1/hw_counters/out_of_sequence", "4\n");
  }
  [[nodiscard]] std::vector<std::string> words(std::vector<std::string> verb) const {
    verb.insert(verb.end(), {"--root", tree_.path()});
    return verb;
  }
  Tree tree_;
};

TEST_F(WatchOnATerminal, HasAScreenOfItsOwnAndGivesItBack) {
  Program counters(words({"counters", "--watch", "100ms"}), size_of(24, 80));
  ASSERT_TRUE(counters.prints("\033[?1049h\033[?25l\033[?7l")) << counters.printed();
  ASSERT_TRUE(counters.prints("first rates after 100ms"));
  ASSERT_TRUE(counters.prints("\033[Hgpu01"));
  ASSERT_TRUE(counters.prints("0 of 1 counters moved"));
  EXPECT_FALSE(counters.echoes());
  EXPECT_FALSE(counters.waits()) << "^C discards an x that poll() has announced";
  counters.type('x');
  counters.type('\x03');
  ASSERT_TRUE(counters.prints(kGone)) << "and no x: " << counters.printed();
  EXPECT_TRUE(counters.prints("0 of 1 counters moved")) << "what was seen last stays";
  EXPECT_TRUE(counters.echoes());
  EXPECT_EQ(counters.end(), kDone);
  EXPECT_TRUE(counters.printed().ends_with("\n"));
}

TEST_F(WatchOnATerminal, FollowsItsSize) {
  Program check(words({"check", "--watch", "1h", "--interval", "0"}), size_of(200, 100));
  ASSERT_TRUE(check.prints(", every 1h")) << check.printed();
  EXPECT_FALSE(has(check.printed(), "more lines"));
  check.resize(size_of(6, 60));
  EXPECT_TRUE(check.prints("with fixes: fabric-agentctl")) << "cut to the width: " << check.printed();
  EXPECT_TRUE(check.prints("more lines --")) << check.printed();
  check.type('q');
  EXPECT_TRUE(check.prints(kGone));
  EXPECT_EQ(check.end(), static_cast<int>(Status::unknown)) << "that of the last round";
}

TEST_F(WatchOnATerminal, EndsCleanlyWhateverEndsIt) {
  for (int signal : {SIGTERM, SIGHUP, SIGQUIT}) {
    Program counters(words({"counters", "--watch", "1h"}), size_of(24, 80));
    ASSERT_TRUE(counters.prints("first rates after 1h")) << counters.printed();
    counters.signal(signal);
    EXPECT_TRUE(counters.prints(kGone)) << signal;
    EXPECT_EQ(counters.end(), kDone) << signal;
  }
  Program left(words({"counters", "--watch", "1h"}), size_of(24, 80));
  ASSERT_TRUE(left.prints("first rates after 1h"));
  left.hang_up();
  EXPECT_NE(left.end(), -1000) << "the terminal is gone";
}

TEST_F(WatchOnATerminal, StoppedItGivesTheTerminalBackAndTakesItAgain) {
  Program counters(words({"counters", "--watch", "100ms"}), size_of(24, 80));
  ASSERT_TRUE(counters.prints("counters moved")) << counters.printed();
  counters.type('\x1a');
  ASSERT_TRUE(counters.stops());
  EXPECT_TRUE(counters.prints(kGone));
  EXPECT_TRUE(counters.echoes());
  counters.signal(SIGCONT);
  EXPECT_TRUE(counters.prints("\033[?1049h"));
  EXPECT_TRUE(counters.prints("counters moved"));
  EXPECT_FALSE(counters.echoes());
  counters.type('q');
  EXPECT_EQ(counters.end(), kDone);
}

TEST_F(WatchOnATerminal, InterruptedBeforeTheFirstRoundItEndsAtOnce) {
  Program check(words({"check", "--watch", "--interval", "1h"}), size_of(24, 80));
  ::usleep(300'000);
  check.type('\x03');
  EXPECT_EQ(check.end(), -SIGINT);
}

TEST_F(WatchOnATerminal, ColoursAndPlacesAreForThoseThatHaveThem) {
  tree_.file(kState, "1: DOWN\n");
  const auto asked = words({"check", "--watch", "1h", "--interval", "0"});
  Program colours(asked, size_of(24, 80)), none(asked, size_of(24, 80), "xterm", false),
      dumb(asked, size_of(24, 80), "dumb");
  ASSERT_TRUE(colours.prints("\033[1;31mCRITICAL\033[0m")) << colours.printed();
  ASSERT_TRUE(none.prints("\033[Hgpu01: CRITICAL")) << none.printed();
  ASSERT_TRUE(dumb.prints("raised critical")) << dumb.printed();
  EXPECT_EQ(dumb.printed().find('\033'), std::string::npos) << dumb.printed();
  EXPECT_TRUE(dumb.echoes());
}

TEST_F(WatchOnATerminal, TheVerdictIsThereHoweverLongTheNameAndNarrowTheTerminal) {
  tree_.file("proc/sys/kernel/hostname", "gpu-node-0123.rack42.cluster.example.org\n");
  Program check(words({"check", "--watch", "1h", "--interval", "0"}), size_of(24, 40)),
      counters(words({"counters", "--watch", "100ms"}), size_of(24, 40));
  EXPECT_TRUE(check.prints("UNKNOWN")) << check.printed();
  EXPECT_TRUE(check.prints(", every 1h")) << check.printed();
  EXPECT_TRUE(counters.prints("counters moved")) << counters.printed();
}

TEST_F(WatchOnATerminal, AClosedPipeEndsItAtOnce) {
  tree_.file(kState, "1: DOWN\n");
  Program check(words({"check", "--watch", "1h", "--interval", "0"}));
  ASSERT_TRUE(check.prints("raised critical"));
  check.hang_up();
  EXPECT_EQ(check.end(), static_cast<int>(Status::critical)) << "it has nothing to write for an hour";
}

TEST_F(WatchOnATerminal, WhatChangedStandsAboveWhatStands) {
  Output output;
  output.width = output.height = 200;
  std::vector<std::string> rounds;
  output.flush = [&](Output& now) {
    rounds.push_back(std::exchange(now.text, {}));
    tree_.file(kState, rounds.size() == 1 ? "1: DOWN\n" : "4: ACTIVE\n");
    return rounds.size() < 3;
  };
  (void)run(words({"check", "--watch", "500ms", "--interval", "0", "--only", "port-state"}), output);
  ASSERT_EQ(rounds.size(), 3u);
  EXPECT_FALSE(has(rounds[0], "Last changes")) << "the first state is not a change: " << rounds[0];
  const size_t changes = rounds[1].find("Last changes:"),
               raised = rounds[1].find("raised critical port-state mlx5_0/1");
  EXPECT_LT(changes, raised) << rounds[1];
  EXPECT_LT(raised, rounds[1].find("observed")) << rounds[1];
  EXPECT_LT(rounds[2].find("cleared"), rounds[2].find("raised")) << "the newest first: " << rounds[2];
}

Output terminal(unsigned height, unsigned width) {
  Output output;
  output.height = height;
  output.width = width;
  return output;
}

TEST(Print, WaitsForOneWhoReadsSlowly) {
  int ends[2];
  ASSERT_EQ(::pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
  const Fd in(ends[0]);
  Fd out(ends[1]);
  size_t arrived = 0;
  std::thread reader([&] {
    std::array<char, 4096> bytes;
    pollfd more{in.get(), POLLIN, 0};
    for (ssize_t size = 1; size != 0;) {
      ::poll(&more, 1, -1);
      size = ::read(in.get(), bytes.data(), bytes.size());
      arrived += static_cast<size_t>(std::max<ssize_t>(size, 0));
    }
  });
  Output output;
  output.descriptor = out.get();
  const auto size = 4 * static_cast<size_t>(::fcntl(out.get(), F_GETPIPE_SZ));  // the pipe holds 16 pages
  output.text.assign(size, 'x');
  EXPECT_TRUE(print(output));
  out = Fd();
  reader.join();
  EXPECT_EQ(arrived, size);
}

TEST(Screen, IsCutToItsWidthAndHeightAndSaysSo) {
  EXPECT_EQ(screen("one\ntwo\n", terminal(3, 9)), "\033[Hone\033[K\r\ntwo\033[K\r\n\033[J");
  EXPECT_EQ(screen("one\ntwo\nthree\n", terminal(3, 9)), "\033[Hone\033[K\r\ntwo\033[K\r\nthree\033[K")
      << "all three fit";
  EXPECT_EQ(screen("1\n2\n3\n4\n", terminal(3, 90)), "\033[H1\033[K\r\n2\033[K\r\n-- 2 more lines --\033[K");
  EXPECT_EQ(screen("one\ntwo\n", terminal(1, 9)), "\033[Hone\033[K");
  EXPECT_EQ(screen("abcdef\nabc", terminal(2, 3)), "\033[Habc\r\nabc")
      << "what follows a full line would take its last column";
  EXPECT_EQ(cut("1\n2\n3\n4\n", terminal(3, 90)), "1\n-- 3 more lines --\n") << "room for the prompt";
}

TEST(Screen, CountsColumnsNotBytes) {
  EXPECT_EQ(cut("\033[1;31mabc\033[0m", terminal(9, 2)), "\033[1;31mab\033[0m\n") << "a color has no width, and ends";
  EXPECT_EQ(cut("µs→ab", terminal(9, 4)), "µs→a\n");
  EXPECT_EQ(cut("a\033]0;title\x07\x80z", terminal(9, 20)), "a?]0;title??z\n") << "nothing that a terminal obeys";
  EXPECT_EQ(cut("a\xc2\x9b"
                "2Jb\xc2\xa7",
                terminal(9, 20)),
            "a?2Jb\xc2\xa7\n")
      << "nor by one character alone";
  EXPECT_EQ(cut("\033[2Jno color despite the m", terminal(9, 12)), "?[2Jno color\n");
}

TEST(CheckWatch, PrintsEachChange) {
  const auto lines_of = [](const Report& before, const Report& now, int64_t wall = 0) {
    std::string out;
    for (const ReportChange& each : changes_of(before, now)) out += change_text(each, wall);
    return out;
  };
  const Finding lost{"loss", "mlx5_0/1", Status::warning, "50 packets", "none", "m.", "r."};
  Report before, now;
  now.findings = {lost, {"rate", "mlx5_0/1", Status::ok, "400 Gb/s", "", "", ""}};
  EXPECT_EQ(lines_of(before, now), "1970-01-01T00:00:00Z raised warning loss mlx5_0/1: 50 packets\n");
  before = now;
  now.findings[0].observed = "60 packets";
  EXPECT_EQ(lines_of(before, now), "") << "only the text changed";
  now.findings[0].status = Status::critical;
  EXPECT_EQ(lines_of(before, now), "1970-01-01T00:00:00Z worse critical loss mlx5_0/1: 60 packets\n");
  EXPECT_TRUE(has(change_json(changes_of(before, now).at(0), 0), "\"acknowledged\":null"));
  before = now;
  now.findings[0].acknowledged = true;
  EXPECT_EQ(lines_of(before, now),
            "1970-01-01T00:00:00Z acknowledged critical loss mlx5_0/1: 60 packets (acknowledged )\n");
  EXPECT_EQ(lines_of(now, before), "1970-01-01T00:00:00Z unacknowledged critical loss mlx5_0/1: 60 packets\n")
      << "the acknowledgement expired, so the finding counts again";
  before = now;
  now.findings.clear();
  EXPECT_EQ(lines_of(before, now, 60), "1970-01-01T00:01:00Z cleared critical loss mlx5_0/1 (acknowledged )\n");
  EXPECT_EQ(change_json(changes_of(before, now).at(0), 0),
            "{\"time\":\"1970-01-01T00:00:00Z\",\"change\":\"cleared\",\"id\":\"loss\",\"subject\":\"mlx5_0/1\","
            "\"status\":\"ok\",\"observed\":\"60 packets\",\"acknowledged\":\"\"}\n")
      << "a string or null, as in the report";

  before.findings = now.findings = {lost};
  before.findings[0].suppressed = true;
  before.findings[0].suppression = "until 2027-01-31: new cables";
  EXPECT_EQ(
      lines_of({}, before),
      "1970-01-01T00:00:00Z raised warning loss mlx5_0/1: 50 packets (suppressed until 2027-01-31: new cables)\n");
  EXPECT_TRUE(has(change_json(changes_of({}, before).at(0), 0), "\"suppressed\":\"until 2027-01-31: new cables\""));
  EXPECT_EQ(lines_of(before, now), "1970-01-01T00:00:00Z raised warning loss mlx5_0/1: 50 packets\n")
      << "the suppression has ended";
}

}  // namespace
}  // namespace fabric::ctl
