/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What each program of failures begins with.
 */
#ifndef FAULTS_FAULTS_H
#define FAULTS_FAULTS_H

#include "inject.h"
#include "module.h"
#include "points.h"
#include "recorder.h"
#include "test.h"

/* Each operation of an array fails at every point. */
#define EXPECT_ALL_FAIL(world, ops) do {				\
	for (unsigned int i_ = 0; i_ < ARRAY_SIZE(ops); i_++) {		\
		EXPECT_TRUE(fail_all(world, &(ops)[i_]));		\
	}								\
} while (0)

/* A guard against hangs only, here too. */
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT	600

/* Once for all tests, which are processes of their own. */
__attribute__((constructor))
static void prepare_kernel(void)
{
	points_begin();
}

#endif /* FAULTS_FAULTS_H */
