// For LD_PRELOAD: a process stays one that its own user may look into, whatever it asks of the kernel. A test that lists
// the descriptors of a tryckd needs this where it does not run as root.
#define _GNU_SOURCE
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int prctl(int option, ...)
{
	unsigned long words[4];
	va_list arguments;

	va_start(arguments, option);
	for (int index = 0; index < 4; index++)
		words[index] = va_arg(arguments, unsigned long);
	va_end(arguments);
	if (option == PR_SET_DUMPABLE)
		return 0;
	return (int)syscall(SYS_prctl, option, words[0], words[1], words[2], words[3]);
}
