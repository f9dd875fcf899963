// SPDX-License-Identifier: Apache-2.0
// Nothing: the file that the precompiled headers (CMakeLists.txt) are made with.
