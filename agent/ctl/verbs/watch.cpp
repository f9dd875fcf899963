// SPDX-License-Identifier: Apache-2.0
#include "ctl/verbs/watch.h"

#include <poll.h>
#include <sys/signalfd.h>

namespace fabric::ctl {
namespace {

// xterm's control sequences: alternate screen, no cursor, no wrapping, clear; and back. A terminal without an alternate
// screen is cleared.
constexpr const char* kEnter = "\033[?1049h\033[?25l\033[?7l\033[2J";
constexpr const char* kLeave = "\033[H\033[J\033[?7h\033[?25h\033[?1049l";

}  // namespace

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
