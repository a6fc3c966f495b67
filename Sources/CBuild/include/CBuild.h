// Values that only the build knows.
#ifndef CBUILD_H
#define CBUILD_H

// The first eight digits of the commit, if TRYCK_COMMIT was set at the build; otherwise empty.
const char *build_commit(void);

#endif
