// SPDX-License-Identifier: BSD-2-Clause
#include "log/causes.h"

#define NAME(cause, name, text)	[PMCLOG_DROP_##cause] = name,
#define TEXT(cause, name, text)	[PMCLOG_DROP_##cause] = text,

const char *const drop_names[PMCLOG_DROP_NCAUSE] = { DROP_CAUSES(NAME) };
const char *const drop_texts[PMCLOG_DROP_NCAUSE] = { DROP_CAUSES(TEXT) };
