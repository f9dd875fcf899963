// SPDX-License-Identifier: Apache-2.0
#include "ctl/output/terminal.h"

#include <fcntl.h>
#include <poll.h>
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

constexpr unsigned kUsualWidth = 80;  // of an output that is not a terminal

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

// A pager can start a shell, which sudo(8) may not permit: as systemctl, unless the caller is who has logged in.
bool must_be_secure() {
  if (const char* asked = std::getenv("SYSTEMD_PAGERSECURE")) return !is_off(asked);
  uid_t owner = 0;
  return ::sd_pid_get_owner_uid(0, &owner) < 0 || owner != ::geteuid();
}

// $SYSTEMD_PAGER, $PAGER, else less(1) with systemctl's options; "cat" or an empty SYSTEMD_PAGER: none. less(1) alone
// is known to be secure.
std::string pager(bool secure) {
  const bool trusted = !secure || std::getenv("SYSTEMD_PAGERSECURE") != nullptr;
  for (const char* name : {"SYSTEMD_PAGER", "PAGER"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    const std::string_view asked = value;
    if (asked.empty() || asked == "cat") return {};
    if (trusted) return value;
    break;
  }
  return "less";
}

// False: the pager could not be started, nothing is printed.
bool print_paged(const Output& output) {
  const bool secure = must_be_secure();
  const std::string program = pager(secure);
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
    ::setenv("LESSCHARSET", "utf-8", 0);  // the text is, in any locale
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

}  // namespace

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t size = ::write(fd, text.data(), text.size());
    if (size < 0 && errno == EAGAIN) {
      pollfd room{fd, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (size < 0 && errno != EINTR) return false;
    text.remove_prefix(static_cast<size_t>(std::max<ssize_t>(size, 0)));
  }
  return true;
}

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
  const bool is_long =
      output.paged && output.height > 0 && static_cast<size_t>(std::ranges::count(output.text, '\n')) >= output.height;
  const bool printed =
      output.descriptor >= 0 && ((is_long && print_paged(output)) || write_all(output.descriptor, output.text));
  if (!printed && output.descriptor >= 0) std::perror("fabric-agentctl: standard output");
  if (!printed) output.descriptor = -1;
  output.text.clear();
  output.errors.clear();
  return printed;
}

}  // namespace fabric::ctl
