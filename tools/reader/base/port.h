/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef READER_PORT_H
#define READER_PORT_H

#include <stdbool.h>
#include <stdlib.h>

/* False: a number that is no port.  getaddrinfo(3) would take another one for it. */
static inline bool port_is_valid(const char *port)
{
	char *end;
	unsigned long n = strtoul(port, &end, 10);

	return *end || n <= 65535;
}

#endif /* READER_PORT_H */
