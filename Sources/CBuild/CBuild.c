#include "CBuild.h"

#ifndef TRYCK_COMMIT
#define TRYCK_COMMIT ""
#endif

const char *build_commit(void) { return TRYCK_COMMIT; }
