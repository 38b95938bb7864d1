/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef READER_STDFDS_H
#define READER_STDFDS_H

/*
 * Opens each standard descriptor that the caller has closed, so that no file of ours
 * gets its number, and messages or output go into it.  Reading and writing them fails
 * as before.  To be called first in main().
 */
void stdfds_keep(void);

#endif /* READER_STDFDS_H */
