// SPDX-License-Identifier: Apache-2.0
// How much of the program stays in memory.
#pragma once

namespace fabric::exporter {

// Gives back the pages of the program and its libraries that are never written to (code and constants: each PT_LOAD
// segment without PF_W, by dl_iterate_phdr(3)). Most were touched once, when libraries set themselves up; what is
// called again comes from the page cache. To be called when the start is over.
void forget_start();

}  // namespace fabric::exporter
