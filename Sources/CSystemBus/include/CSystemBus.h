// The functions of libsystemd's sd-bus that are used. The library is opened when BlueZ is first used, so that other
// installations do without it. Swift cannot call sd-bus's variadic functions and macros, which are not among these.
#ifndef CSYSTEMBUS_H
#define CSYSTEMBUS_H

#include <systemd/sd-bus.h>

#define CSYSTEMBUS_FUNCTIONS(X) \
	X(open_system) X(flush_close_unref) X(process) X(get_fd) X(get_events) X(get_timeout) X(send) \
	X(add_match_async) X(add_fallback) X(call_async) X(message_new_method_call) X(message_new_method_return) \
	X(message_set_auto_start) X(message_unref) X(message_append_basic) X(message_open_container) \
	X(message_close_container) X(message_is_method_call) X(message_is_signal) X(message_get_error) X(message_get_path) \
	X(message_peek_type) X(message_read_basic) X(message_read_array) X(message_enter_container) \
	X(message_exit_container) X(message_at_end) X(message_skip)

struct csystembus {
#define CSYSTEMBUS_MEMBER(name) __typeof__(sd_bus_##name) *_Nonnull name;
	CSYSTEMBUS_FUNCTIONS(CSYSTEMBUS_MEMBER)
#undef CSYSTEMBUS_MEMBER
};

// Returns the functions, or NULL if the library cannot be opened; `failure` is then a sentence without a full stop.
const struct csystembus *_Nullable csystembus_open(const char *_Nullable *_Nonnull failure);

#endif
