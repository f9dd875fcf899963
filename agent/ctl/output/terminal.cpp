// SPDX-License-Identifier: Apache-2.0
#include "ctl/output/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <systemd/sd-login.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "base/fd.h"
#include "base/parse.h"

namespace fabric::ctl {
namespace {

constexpr unsigned kUsualWidth = 80;  // if the output is not a terminal

std::string_view environment(const char* name) {
  if (const char* value = std::getenv(name)) return value;
  return {};
}

void measure(Output& output) {
  winsize window{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0) {
    output.width = window.ws_col;
    output.height = window.ws_row;
  }
  if (const auto columns = parse_number<unsigned>(environment("COLUMNS")); columns && *columns > 0)
    output.width = *columns;
  if (output.width == 0) output.width = kUsualWidth;
}

bool is_off(std::string_view value) { return value == "0" || value == "no" || value == "false" || value == "off"; }

// False: there is no pager or it could not be started; nothing is printed.
bool print_paged(const Output& output) {
  // A pager can start a shell, which sudo(8) may not permit. As in systemctl, the pager is secure unless the caller is
  // the user who has logged in.
  bool secure;
  const char* secure_setting = std::getenv("SYSTEMD_PAGERSECURE");
  if (secure_setting != nullptr) {
    secure = !is_off(secure_setting);
  } else {
    uid_t owner = 0;
    secure = ::sd_pid_get_owner_uid(0, &owner) < 0 || owner != ::geteuid();
  }

  // $SYSTEMD_PAGER, $PAGER, else less(1) with systemctl's options; "cat" or an empty value: none. Only less(1) is known
  // to be secure.
  std::string program = "less";
  for (const char* name : {"SYSTEMD_PAGER", "PAGER"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    const std::string_view asked = value;
    if (asked.empty() || asked == "cat") return false;
    if (!secure || secure_setting != nullptr) program = asked;
    break;
  }

  int ends[2];
  if (words(program).empty() || ::pipe2(ends, O_CLOEXEC) != 0) return false;
  Fd read_end(ends[0]), write_end(ends[1]);
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) {
    ::dup2(read_end.get(), STDIN_FILENO);
    std::string less(environment("SYSTEMD_LESS"));
    if (less.empty()) less = "FRSXMK";
    ::setenv("LESS", less.c_str(), 1);
    if (secure) ::setenv("LESSSECURE", "1", 1);
    ::setenv("LESSCHARSET", "utf-8", 0);  // the text is UTF-8 in any locale
    std::vector<std::string> arguments;
    for (const std::string_view word : words(program)) arguments.emplace_back(word);
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    pointers.push_back(nullptr);
    ::execvp(pointers.front(), pointers.data());
    ::_exit(127);
  }
  read_end = Fd();
  ::signal(SIGPIPE, SIG_IGN);  // the user may leave the pager before the end
  (void)write_all(write_end.get(), output.text);
  write_end = Fd();
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return !WIFEXITED(status) || WEXITSTATUS(status) != 127;
}

struct Fitted {
  std::string text;
  bool full = false;  // reaches the last column
};

// The character at `at` and its bytes; "?" for one that cannot be shown.
std::string_view shown(std::string_view line, size_t at, size_t& bytes) {
  bytes = std::max<size_t>(1, utf8_length(line, at));
  if (shown_length(line, at) == 0) return "?";
  return line.substr(at, bytes);
}

// Length of the color sequence (ECMA-48, SGR) at `at`, else 0.
size_t color_at(std::string_view line, size_t at) {
  if (!line.substr(at).starts_with("\033[")) return 0;
  const size_t end = line.find_first_not_of("0123456789;", at + 2);
  if (end == std::string_view::npos || line[end] != 'm') return 0;
  return end + 1 - at;
}

// The first columns of a line. Color sequences have no width; those after the cut are kept, since they end a color.
Fitted fitted(std::string_view line, unsigned width) {
  Fitted out;
  unsigned column = 0;
  for (size_t at = 0, bytes = 0; at < line.size(); at += bytes) {
    if ((bytes = color_at(line, at)) > 0) {
      out.text += line.substr(at, bytes);
      continue;
    }
    const std::string_view character = shown(line, at, bytes);
    if (width > 0 && column == width) continue;
    out.text += character;
    ++column;
  }
  out.full = width > 0 && column == width;
  return out;
}

// The lines that fit. The last one has the number of the others.
std::vector<Fitted> fitted_lines(std::string_view text, const Output& output) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  std::vector<Fitted> out;
  const auto lines = split(text, '\n');
  const bool too_many = output.height > 0 && lines.size() > output.height;
  size_t fits = lines.size();
  if (too_many) fits = std::max(output.height, 2U) - 1;
  for (size_t i = 0; i < fits; ++i) out.push_back(fitted(lines[i], output.width));
  if (too_many && output.height > 1)
    out.push_back(fitted("-- " + counted(lines.size() - fits, "more line") + " --", output.width));
  return out;
}

}  // namespace

Output standard_output() {
  Output output;
  output.flush = print;
  output.descriptor = STDOUT_FILENO;
  measure(output);
  const std::string_view name = environment("TERM");
  const bool terminal = ::isatty(STDOUT_FILENO) == 1 && !name.empty() && name != "dumb";
  output.color = terminal && environment("NO_COLOR").empty();
  if (const std::string_view asked = environment("SYSTEMD_COLORS"); !asked.empty()) output.color = !is_off(asked);
  if (::isatty(STDERR_FILENO) == 1) output.error_width = output.width;
  if (!terminal) {
    output.height = 0;
    return output;
  }
  output.measure = measure;
  if (::isatty(STDIN_FILENO) == 1) output.keys = STDIN_FILENO;
  return output;
}

bool print(Output& output) {
  std::fputs(output.errors.c_str(), stderr);
  bool printed = false;
  if (output.descriptor >= 0) {
    const bool is_long = output.paged && output.height > 0 &&
                         static_cast<size_t>(std::ranges::count(output.text, '\n')) >= output.height;
    printed = (is_long && print_paged(output)) || write_all(output.descriptor, output.text);
    if (!printed) {
      std::perror("fabric-agentctl: standard output");
      output.descriptor = -1;
    }
  }
  output.text.clear();
  output.errors.clear();
  return printed;
}

std::string screen(const std::string& text, const Output& output) {
  // Overwrites line by line and clears the rest, since clearing the screen first flickers. After a full line the cursor
  // is still on its last column: clearing from there would erase a character.
  std::string out = "\033[H";
  const auto lines = fitted_lines(text, output);
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out += "\r\n";
    out += lines[i].text;
    if (!lines[i].full) out += "\033[K";
  }
  if (lines.size() < output.height) out += "\r\n\033[J";
  return out;
}

std::string cut(const std::string& text, const Output& output) {
  Output room;
  room.width = output.width;
  room.height = std::max(output.height, 2U) - 1;
  std::string out;
  for (const Fitted& line : fitted_lines(text, room)) out += line.text + "\n";
  return out;
}

std::string printable(std::string_view text, const Output& output) {
  std::string out;
  for (size_t at = 0, bytes = 0; at < text.size(); at += bytes) {
    bytes = 0;
    if (text[at] == '\n' || text[at] == '\t') bytes = 1;
    else if (output.color) bytes = color_at(text, at);
    if (bytes > 0) out += text.substr(at, bytes);
    else out += shown(text, at, bytes);
  }
  return out;
}

}  // namespace fabric::ctl
