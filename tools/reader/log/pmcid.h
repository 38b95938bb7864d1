/* SPDX-License-Identifier: BSD-2-Clause */
/* Decodes the id of a PMC; its layout differs in every version. */
#ifndef READER_PMCID_H
#define READER_PMCID_H

#include <stdint.h>

/* buffer size for pmcid_event() */
#define PMCID_EVENT_MAX	40

/* HWPMC_MODE_* of an id in a log whose INITIALIZE has @version. */
uint32_t pmcid_mode(uint32_t version, uint32_t id);
/*
 * Names the event of a PMC that was announced by number: the class of the PMC
 * and the number, because the reader does not have FreeBSD's tables.
 */
void pmcid_event(char buf[PMCID_EVENT_MAX], uint32_t version, uint32_t id,
		 uint32_t event, uint32_t flags);

#endif /* READER_PMCID_H */
