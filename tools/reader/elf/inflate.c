// SPDX-License-Identifier: BSD-2-Clause
/*
 * Decompresses sections in zstd, which Debian 12's libelf can't.  imagecheck_sections()
 * has found that all of them are not too large.
 */
#include <gelf.h>

#include "base/mem.h"
#include "elf/imagefile.h"
#include "libpmc_inflate.h"

static void inflate(struct image *im, Elf_Scn *scn)
{
	Elf_Data *data = elf_rawdata(scn, NULL);
	Elf_Data *cooked = elf_getdata(scn, NULL);
	GElf_Shdr sh;
	GElf_Chdr ch;
	size_t head;
	void *buf;

	if (!data || !data->d_buf || !cooked || !gelf_getshdr(scn, &sh) ||
	    !gelf_getchdr(scn, &ch) || ch.ch_type != PMC_INFLATE_ZSTD)
		return;
	head = gelf_fsize(im->elf, ELF_T_CHDR, 1, EV_CURRENT);
	if (data->d_size < head ||
	    !pmc_inflate_fits(PMC_INFLATE_ZSTD, data->d_size, ch.ch_size))
		return;
	/* the memory is freed with the image */
	buf = arena_alloc(&im->unpacked, ch.ch_size + 1);
	if (pmc_inflate(PMC_INFLATE_ZSTD, (char *)data->d_buf + head,
			data->d_size - head, buf, ch.ch_size))
		return;
	data->d_buf = cooked->d_buf = buf;
	data->d_size = cooked->d_size = ch.ch_size;
	sh.sh_flags &= ~(GElf_Xword)SHF_COMPRESSED;
	sh.sh_size = ch.ch_size;
	gelf_update_shdr(scn, &sh);
}

void image_inflate(struct image *im)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(im->elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_COMPRESSED)
			inflate(im, scn);
}
