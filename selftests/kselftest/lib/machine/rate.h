/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How often this machine can be sampled.
 */
#ifndef TEST_RATE_H
#define TEST_RATE_H

/*
 * Samples a second and CPU that leave most of a CPU's time to what is sampled,
 * @want at the most.  An emulated CPU with all checkers on manages two thousand
 * if it does nothing else, and a test that asks for more never ends.
 */
unsigned int affordable_hz(unsigned int want);
/* ... that leave just enough for the test to go on */
unsigned int bearable_hz(unsigned int want);

#endif /* TEST_RATE_H */
