// SPDX-License-Identifier: Apache-2.0
// Nothing: the file that the tests' precompiled headers are made with.
