// SPDX-License-Identifier: BSD-2-Clause
#include "log/causes.h"

#define DROP_NAME(cause, name, text)	[PMCLOG_DROP_##cause] = name,
#define DROP_TEXT(cause, name, text)	[PMCLOG_DROP_##cause] = text,
#define CUT_NAME(cause, name, text)	[PMCLOG_CUT_##cause] = name,
#define CUT_TEXT(cause, name, text)	[PMCLOG_CUT_##cause] = text,

const char *const drop_names[PMCLOG_DROP_NCAUSE] = { DROP_CAUSES(DROP_NAME) };
const char *const drop_texts[PMCLOG_DROP_NCAUSE] = { DROP_CAUSES(DROP_TEXT) };
const char *const cut_names[PMCLOG_CUT_NCAUSE] = { CUT_CAUSES(CUT_NAME) };
const char *const cut_texts[PMCLOG_CUT_NCAUSE] = { CUT_CAUSES(CUT_TEXT) };
