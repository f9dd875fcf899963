// SPDX-License-Identifier: Apache-2.0
// Output on a terminal: nothing is wider than it, and pager and color follow systemctl(1).
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctl/options.h"
#include "ctl/output/report_text.h"
#include "ctl/output/table.h"
#include "ctl/verbs.h"
#include "ctl/verbs/neighbors_verb.h"
#include "support/golden.h"
#include "support/healthy_node.h"
#include "support/test.h"
#include "support/tree.h"

namespace fabric::ctl {
namespace {

using test::has;

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

TEST(Widths, Neighbors) {
  test::Healthy machine;
  Node& node = machine.now;
  node.neighbors.heard.at(1).system_name = "leaf1-row-12-rack-07.fabric.example.com";
  node.neighbors.heard.at(1).malformed = {"TLV 127 at offset 143: 802.1 PFC of 3 bytes, which should have 6 bytes"};
  test::expect_goldens("ctl_neighbors",
                       [&](const Output& output) { return neighbors_text(Options(), node, &machine.policy, output); });
  node.neighbors = {.why_none = "the LLDP listener (fabric-lldp) is not running"};
  test::expect_goldens("ctl_neighbors_none",
                       [&](const Output& output) { return neighbors_text(Options(), node, &machine.policy, output); });
}

using Environment = std::map<std::string, std::string>;

// Runs fabric-agentctl's main function in a child. With rows, on a terminal of 80 columns; without, on a pipe. What
// reaches the terminal or the pipe.
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

  // What the pagers noted since the last call.
  std::string noted() {
    const std::string file = tree_.path() + "/log";
    std::ifstream in(file);
    std::string text(std::istreambuf_iterator<char>(in), {});
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

}  // namespace
}  // namespace fabric::ctl
