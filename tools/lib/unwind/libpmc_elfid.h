/* SPDX-License-Identifier: BSD-2-Clause */
/* Build-ids of ELF files. */
#ifndef LIBPMC_ELFID_H
#define LIBPMC_ELFID_H

#include <stddef.h>
#include <stdint.h>

#define ELFID_MAX	32

/* The GNU build-id among ELF notes; NULL if there is none. */
const unsigned char *pmc_elfid_in_notes(const unsigned char *p, size_t len,
				    uint32_t *idlen);
/* Bytes of the id of an open file, 0 without one. */
uint32_t pmc_elfid_of_file(int fd, unsigned char id[ELFID_MAX]);
/* The same for the vdso of this process. */
uint32_t pmc_elfid_of_vdso(unsigned char id[ELFID_MAX]);

#endif /* LIBPMC_ELFID_H */
