#include "CSystemBus.h"

#include <dlfcn.h>
#include <stdio.h>

const struct csystembus *csystembus_open(const char **failure)
{
	static struct csystembus functions;
	static char text[256];
	static int is_loaded;
	void *library;

	*failure = text;
	if (is_loaded)
		return &functions;
	/* After a failure, the next call tries again, because the library may be installed meanwhile. */
	library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
	if (!library) {
		snprintf(text, sizeof text, "libsystemd is not installed (on Debian: the package libsystemd0)");
		return NULL;
	}
#define RESOLVE(name) \
	if (!(functions.name = (__typeof__(sd_bus_##name) *)dlsym(library, "sd_bus_" #name))) { \
		snprintf(text, sizeof text, "libsystemd is too old: it has no sd_bus_" #name); \
		return NULL; \
	}
	CSYSTEMBUS_FUNCTIONS(RESOLVE)
	is_loaded = 1;
	return &functions;
}
