// SPDX-License-Identifier: Apache-2.0
// Who runs the event loop: one thread at a time, which does the readings that the loop's sources ask for between two
// events. Where one of them takes too long, another thread takes the loop over, so that HTTP is answered whatever
// hangs.
#pragma once

#include <systemd/sd-event.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>

#include "base/fd.h"

namespace fabric::exporter {

class LoopTurn : public std::enable_shared_from_this<LoopTurn> {
 public:
  // All but read() is called by whoever has the loop.
  struct Steps {
    std::function<bool()> asked;  // has a reading been asked for since the last time?
    std::function<bool()> read;   // may take long or hang. True: everything is read; false: `wake` will be written to
    std::function<void()> done;   // after a reading that was whole
  };
  // `wake` is an eventfd that is a source of the loop: written to where a whole reading ends in a thread that has lost
  // the loop. A copy of it is kept.
  LoopTurn(sd_event* loop, Steps steps, int wake);

  // As sd_event_loop(3), for the process's first thread; one loop is run once. Where that thread hangs when the loop
  // ends, the process ends from the thread that has it, by _exit(2), as main() does.
  int run();
  // From any thread: the reading under way takes too long. Without a further thread, it is waited for.
  void overdue();

 private:
  // Until the loop ends (true) or is taken away.
  bool turn(uint64_t mine);
  bool read(uint64_t mine);
  void end(int status);

  sd_event* const loop_;
  const Steps steps_;
  const Fd wake_;
  std::mutex mutex_;
  std::condition_variable changed_;
  uint64_t turn_ = 0;  // grows with every taking over
  bool reading_ = false, ended_ = false, first_waits_ = true;
  int status_ = 0;
};

}  // namespace fabric::exporter
