// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/watch.h"

#include <poll.h>
#include <sys/signalfd.h>

#include "base/parse.h"

namespace fabric::ctl {
namespace {

// xterm's control sequences: alternate screen, no cursor, no wrapping, clear; and back. A terminal without an alternate
// screen is cleared.
constexpr const char* kEnter = "\033[?1049h\033[?25l\033[?7l\033[2J";
constexpr const char* kLeave = "\033[H\033[J\033[?7h\033[?25h\033[?1049l";

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

Watch::Watch(Output& output, bool in_place) : output_(output), in_place_(in_place && output.height > 0) {
  sigset_t received;
  ::sigemptyset(&received);
  for (int signal : {SIGINT, SIGTERM}) ::sigaddset(&received, signal);
  if (in_place_)
    for (int signal : {SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH}) ::sigaddset(&received, signal);
  ::pthread_sigmask(SIG_BLOCK, &received, &before_);
  signals_ = Fd(::signalfd(-1, &received, SFD_CLOEXEC | SFD_NONBLOCK));
}

Watch::~Watch() {
  if (entered_) leave();
  ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void Watch::enter() {
  entered_ = true;
  output_.text += kEnter;
  if (output_.keys < 0 || ::tcgetattr(output_.keys, &modes_) != 0) return;
  termios quiet = modes_;
  quiet.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  quiet.c_cc[VMIN] = 0;  // ^C discards typed keys: a read after poll() must not wait for them
  quiet.c_cc[VTIME] = 0;
  quiet_ = ::tcsetattr(output_.keys, TCSANOW, &quiet) == 0;
}

void Watch::leave() {
  entered_ = false;
  output_.text += kLeave;
  if (quiet_) ::tcsetattr(output_.keys, TCSANOW, &modes_);
  quiet_ = false;
}

bool Watch::show(const Draw& draw) {
  if (in_place_ && output_.measure) output_.measure(output_);
  if (in_place_ && !entered_) enter();
  if (in_place_) output_.text += screen(draw(output_), output_);
  else output_.text += printable(draw(output_), output_);
  return !output_.flush || output_.flush(output_);
}

Watch::Event Watch::on_signal() {
  signalfd_siginfo received{};
  if (::read(signals_.get(), &received, sizeof received) != sizeof received) return Event::time;
  if (received.ssi_signo == SIGWINCH) return Event::drawn;
  if (received.ssi_signo != SIGTSTP) return Event::end;
  leave();
  if (output_.flush && !output_.flush(output_)) return Event::unread;
  ::raise(SIGSTOP);
  return Event::drawn;
}

Watch::Event Watch::on_key() {
  char key = 0;
  if (::read(output_.keys, &key, 1) < 0 || key == 'q' || key == 'Q') return Event::end;
  return Event::time;
}

// Irrelevant events are reported as Event::time.
Watch::Event Watch::wait(std::chrono::steady_clock::time_point until) {
  const auto left =
      std::max<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now(), std::chrono::nanoseconds(0)).count();
  const timespec span{left / 1'000'000'000, left % 1'000'000'000};
  int keys = -1;
  if (quiet_) keys = output_.keys;
  std::array<pollfd, 3> received{pollfd{signals_.get(), POLLIN, 0}, {output_.descriptor, 0, 0}, {keys, POLLIN, 0}};
  if (::ppoll(received.data(), received.size(), &span, nullptr) <= 0) return Event::time;
  if (received[0].revents != 0) return on_signal();
  if (received[1].revents != 0) return Event::unread;
  if (received[2].revents == POLLIN) return on_key();
  return Event::end;
}

bool Watch::next(std::chrono::steady_clock::time_point until, const Draw& draw) {
  if (!show(draw)) return false;
  for (;;) {
    switch (wait(until)) {
      case Event::unread: return false;
      case Event::end:
        if (entered_) leave();
        if (in_place_) output_.text += cut(draw(output_), output_);
        return false;
      case Event::drawn:
        if (!show(draw)) return false;
        break;
      case Event::time:
        if (std::chrono::steady_clock::now() >= until) return true;
    }
  }
}

}  // namespace fabric::ctl
