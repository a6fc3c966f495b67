#define _GNU_SOURCE
#include "CMosquitto.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

// Overriding symbols must be visible, so that the dynamic linker resolves the library's calls to them.
#define EXPORTED __attribute__((visibility("default"), used))

// Declared here, because libssl's header would add all of OpenSSL to this module.
struct ssl_st;
int SSL_pending(const struct ssl_st *connection);
int SSL_read(struct ssl_st *connection, void *octets, int count);
int SSL_get_error(const struct ssl_st *connection, int result);
enum { SSL_ERROR_WANT_READ = 2, SSL_ERROR_ZERO_RETURN = 6 };

// Set while this thread is inside a loop function of the library, but not inside a callback: where a failed assertion
// jumps to, and the reader that checks what the library reads.
static __thread sigjmp_buf *way_out;
static __thread struct cmosquitto_reader *current;

// The C library's or libssl's definition of a function that this file overrides. Threads need no lock, because all find
// the same address.
#define NEXT(name) \
	({ \
		static __typeof__(&name) next; \
		__typeof__(&name) found = __atomic_load_n(&next, __ATOMIC_RELAXED); \
		if (!found) { \
			found = (__typeof__(&name))dlsym(RTLD_NEXT, #name); \
			__atomic_store_n(&next, found, __ATOMIC_RELAXED); \
		} \
		found; \
	})

// MARK: Assertions

static __thread char assertion[200];
static __thread int may_destroy;

EXPORTED void __assert_fail(const char *expression, const char *file, unsigned line, const char *function)
{
	sigjmp_buf *jump = way_out;

	if (jump) {
		way_out = NULL;
		current = NULL;
		snprintf(assertion, sizeof assertion, "%s: %s", function ? function : "?", expression ? expression : "?");
		/* The library asserts in log__printf because it passes no handle while it reads properties; no lock is held. */
		may_destroy = function && strcmp(function, "log__printf") == 0;
		siglongjmp(*jump, 1);
	}
	NEXT(__assert_fail)(expression, file, line, function);
	abort();
}

const char *cmosquitto_assertion(void) { return assertion; }

int cmosquitto_may_destroy(void) { return may_destroy; }

/* The signal mask is not saved, because that needs a system call, and the library does not change the mask. */
#define PROTECTED(call) \
	({ \
		sigjmp_buf jump; \
		volatile int code = CMOSQUITTO_ASSERTED; \
		if (sigsetjmp(jump, 0) == 0) { \
			way_out = &jump; \
			code = (call); \
			way_out = NULL; \
		} \
		code; \
	})

int cmosquitto_loop_read(struct mosquitto *client, struct cmosquitto_reader *reader)
{
	int code;

	reader->descriptor = mosquitto_socket(client);
	reader->is_encrypted = mosquitto_ssl_get(client) != NULL;
	reader->pretended = 0;
	current = reader;
	code = PROTECTED(mosquitto_loop_read(client, 1));
	current = NULL;
	return code;
}

int cmosquitto_loop_write(struct mosquitto *client) { return PROTECTED(mosquitto_loop_write(client, 1)); }

int cmosquitto_loop_misc(struct mosquitto *client) { return PROTECTED(mosquitto_loop_misc(client)); }

// MARK: Reading

enum part { COMMAND, LENGTH, BODY };

/* The library compares each property with all others, which takes 0.1 ms for this number. */
enum { MAXIMUM_PROPERTIES = 256, MAXIMUM_LENGTH_SHIFT = 21 };

static int read_varint(const uint8_t **next, const uint8_t *end, uint32_t *value)
{
	unsigned shift;

	*value = 0;
	for (shift = 0; shift <= MAXIMUM_LENGTH_SHIFT; shift += 7) {
		uint8_t octet;
		if (*next == end)
			return -1;
		octet = *(*next)++;
		*value |= (uint32_t)(octet & 0x7F) << shift;
		if (!(octet & 0x80))
			return (int)(shift / 7 + 1);
	}
	return -1;
}

/* The octets of a property's value: 1, 2 or 4, or TEXT, PAIR (two strings), VARINT, or 0 for a property that MQTT does
   not define. Source: MQTT 5.0, 2.2.2.2. */
static int width_of(uint8_t property)
{
	enum { TEXT = 10, PAIR = 20, VARINT = 30 };

	switch (property) {
	case 0x01: case 0x17: case 0x19: case 0x24: case 0x25: case 0x28: case 0x29: case 0x2A:
		return 1;
	case 0x13: case 0x21: case 0x22: case 0x23:
		return 2;
	case 0x02: case 0x11: case 0x18: case 0x27:
		return 4;
	case 0x03: case 0x08: case 0x09: case 0x12: case 0x15: case 0x16: case 0x1A: case 0x1C: case 0x1F:
		return TEXT;
	case 0x26:
		return PAIR;
	case 0x0B:
		return VARINT;
	}
	return 0;
}

/* The offset of the properties; -1 if there are none, or if the library rejects the packet before it reads them. */
static int64_t start_of_properties(uint8_t command, const uint8_t *packet, uint32_t length)
{
	switch (command >> 4) {
	case 2: /* CONNACK */
		return 2;
	case 3: /* PUBLISH */
		if (length < 2)
			return -1;
		return 2 + ((int64_t)packet[0] << 8 | packet[1]) + (command & 0x06 ? 2 : 0);
	case 4: case 5: case 6: case 7: /* PUBACK, PUBREC, PUBREL, PUBCOMP */
		return length > 3 ? 3 : -1;
	case 9: case 11: /* SUBACK, UNSUBACK */
		return 2;
	case 14: /* DISCONNECT */
		return length > 2 ? 1 : -1;
	case 15: /* AUTH */
		return 1;
	}
	return -1;
}

int cmosquitto_is_malformed(uint8_t command, const uint8_t *packet, uint32_t length)
{
	const uint8_t *next = packet, *end = packet + length;
	int64_t start = start_of_properties(command, packet, length);
	unsigned count = 0;
	uint32_t left, value;

	if (start < 0 || start >= (int64_t)length)
		return 0;
	next += start;
	if (read_varint(&next, end, &left) < 0)
		return 0;
	/* Like the library, this continues after a value that exceeds the length of all properties. */
	while (left != 0) {
		int width, texts;
		if (next == end)
			return 0;
		width = width_of(*next++);
		left -= 1;
		if (width == 0 || ++count > MAXIMUM_PROPERTIES)
			return 1;
		if (width == 30) {
			int octets = read_varint(&next, end, &value);
			if (octets < 0)
				return 0;
			left -= (uint32_t)octets;
			continue;
		}
		for (texts = width / 10; texts > 0; texts--) {
			uint32_t text;
			if (end - next < 2)
				return 0;
			text = (uint32_t)next[0] << 8 | next[1];
			if ((uint32_t)(end - next) - 2 < text)
				return 0;
			next += 2 + text;
			left -= 2 + text;
		}
		if (width < 10) {
			if (end - next < width)
				return 0;
			next += width;
			left -= (uint32_t)width;
		}
	}
	return 0;
}

/* The types of packets that the checks treat specially (MQTT 5, 2.1.2). */
enum kind { PUBLISH = 3, PUBREC = 5, PUBREL = 6, PINGREQ = 12 };

static int qos_of(uint8_t command) { return command >> 1 & 3; }

/* True if the rest of the packet may be read, after its fixed header is complete. */
static int begin_body(struct cmosquitto_reader *reader)
{
	int kind = reader->command >> 4;

	if (reader->length > (kind == PUBLISH ? reader->maximum_publish : reader->maximum_other))
		return CMOSQUITTO_TOO_LONG;
	if (kind == PUBLISH && qos_of(reader->command) == 2
		&& (reader->held_count == CMOSQUITTO_MAXIMUM_HELD
			|| reader->length > reader->maximum_publish - reader->held_length))
		return CMOSQUITTO_TOO_MUCH_HELD;
	return CMOSQUITTO_NOTHING_REFUSED;
}

/* The packet identifier of a PUBLISH or PUBREL; 0, which is not a valid identifier, if the packet has none. */
static uint16_t message_id(const struct cmosquitto_reader *reader)
{
	const uint8_t *packet = reader->packet;
	uint32_t start = 0;

	if (reader->command >> 4 == PUBLISH && packet && reader->length >= 2)
		start = 2 + ((uint32_t)packet[0] << 8 | packet[1]);
	if (!packet || reader->length < start + 2)
		return 0;
	return (uint16_t)(packet[start] << 8 | packet[start + 1]);
}

/* The library keeps each QoS 2 PUBLISH until a PUBREL with its identifier arrives, even several with one identifier. */
static void follow_held(struct cmosquitto_reader *reader)
{
	int kind = reader->command >> 4;
	unsigned i;

	if (kind == PUBLISH && qos_of(reader->command) == 2) {
		reader->held[reader->held_count++] = (struct cmosquitto_held){reader->length, message_id(reader)};
		reader->held_length += reader->length;
	} else if (kind == PUBREL) {
		for (i = 0; i < reader->held_count; i++) {
			if (reader->held[i].id != message_id(reader))
				continue;
			reader->held_length -= reader->held[i].length;
			reader->held[i] = reader->held[--reader->held_count];
			return;
		}
	}
}

static int is_answered(uint8_t command)
{
	switch (command >> 4) {
	case PUBLISH:
		return qos_of(command) > 0;
	case PUBREC: case PUBREL: case PINGREQ:
		return 1;
	}
	return 0;
}

static int end_packet(struct cmosquitto_reader *reader)
{
	reader->part = COMMAND;
	reader->packets_left--;
	reader->answered += (unsigned)is_answered(reader->command);
	follow_held(reader);
	if (reader->has_properties && reader->checks_properties && reader->packet
		&& cmosquitto_is_malformed(reader->command, reader->packet, reader->length))
		return CMOSQUITTO_MALFORMED;
	return CMOSQUITTO_NOTHING_REFUSED;
}

/* Parses the packet boundaries in the octets that the library has read, and checks each packet against the limits. */
static int follow(struct cmosquitto_reader *reader, const uint8_t *octets, size_t count)
{
	size_t i = 0;

	while (i < count && !reader->refusal) {
		if (reader->part == COMMAND) {
			reader->command = octets[i++];
			reader->part = LENGTH;
			reader->length = reader->shift = reader->received = 0;
			reader->packet = NULL;
		} else if (reader->part == LENGTH) {
			uint8_t octet = octets[i++];
			reader->length |= (uint32_t)(octet & 0x7F) << reader->shift;
			if (octet & 0x80 && reader->shift < MAXIMUM_LENGTH_SHIFT) {
				reader->shift += 7;
				continue;
			}
			reader->part = BODY;
			reader->refusal = octet & 0x80 ? CMOSQUITTO_TOO_LONG : begin_body(reader);
			if (!reader->refusal && reader->length == 0)
				reader->refusal = end_packet(reader);
		} else {
			size_t part = reader->length - reader->received;
			if (part > count - i)
				part = count - i;
			/* The library reads the parts of a packet into one buffer. If it does not, the properties cannot be checked. */
			if (reader->received == 0)
				reader->packet = octets + i;
			else if (reader->packet && reader->packet + reader->received != octets + i)
				reader->packet = NULL;
			reader->received += (uint32_t)part;
			i += part;
			if (reader->received == reader->length)
				reader->refusal = end_packet(reader);
		}
	}
	return reader->refusal;
}

static int may_read(const struct cmosquitto_reader *reader)
{
	return reader->octets_left > 0 && (reader->part != COMMAND || reader->packets_left > 0);
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

ssize_t read(int descriptor, void *octets, size_t count);

EXPORTED ssize_t read(int descriptor, void *octets, size_t count)
{
	struct cmosquitto_reader *reader = current;
	ssize_t result;

	if (!reader || reader->descriptor != descriptor)
		return NEXT(read)(descriptor, octets, count);
	if (reader->is_encrypted) {
		/* libssl handles messages of TLS itself, such as KeyUpdate, and returns only when the socket is empty. */
		if (reader->encrypted_octets_left == 0) {
			errno = EAGAIN;
			return -1;
		}
		result = NEXT(read)(descriptor, octets, least(count, reader->encrypted_octets_left));
		if (result > 0)
			reader->encrypted_octets_left -= (size_t)result;
		return result;
	}
	if (reader->refusal)
		return 0;
	if (!may_read(reader)) {
		errno = EAGAIN;
		return -1;
	}
	result = NEXT(read)(descriptor, octets, least(count, reader->octets_left));
	if (result > 0) {
		reader->octets_left -= (size_t)result;
		if (follow(reader, octets, (size_t)result))
			return 0;
	}
	return result;
}

EXPORTED int SSL_read(struct ssl_st *connection, void *octets, int count)
{
	struct cmosquitto_reader *reader = current;
	int result;

	if (!reader || count < 0)
		return NEXT(SSL_read)(connection, octets, count);
	if (!reader->refusal && !may_read(reader)) {
		reader->pretended = SSL_ERROR_WANT_READ;
		return -1;
	}
	if (!reader->refusal) {
		result = NEXT(SSL_read)(connection, octets, (int)least((size_t)count, reader->octets_left));
		if (result <= 0)
			return result;
		reader->octets_left -= (size_t)result;
		if (!follow(reader, octets, (size_t)result))
			return result;
	}
	reader->pretended = SSL_ERROR_ZERO_RETURN;
	return 0;
}

EXPORTED int SSL_get_error(const struct ssl_st *connection, int result)
{
	int pretended = current ? current->pretended : 0;

	if (!pretended)
		return NEXT(SSL_get_error)(connection, result);
	current->pretended = 0;
	return pretended;
}

int cmosquitto_pending(struct mosquitto *client)
{
	const struct ssl_st *connection = (const struct ssl_st *)mosquitto_ssl_get(client);

	return connection ? SSL_pending(connection) : 0;
}

// MARK: Callbacks

static struct cmosquitto_callbacks callbacks;

/* During a callback, siglongjmp must not skip our code, and our reads must not be checked. */
#define UNPROTECTED(call) \
	do { \
		sigjmp_buf *jump = way_out; \
		struct cmosquitto_reader *reader = current; \
		way_out = NULL; \
		current = NULL; \
		call; \
		way_out = jump; \
		current = reader; \
	} while (0)

static void connected(
	struct mosquitto *client, void *context, int code, int flags, const mosquitto_property *properties)
{
	(void)client, (void)flags;
	UNPROTECTED(callbacks.connected(context, code, properties));
}

static void disconnected(struct mosquitto *client, void *context, int code, const mosquitto_property *properties)
{
	(void)client, (void)properties;
	UNPROTECTED(callbacks.disconnected(context, code));
}

static void published(
	struct mosquitto *client, void *context, int message_id, int code, const mosquitto_property *properties)
{
	(void)client, (void)properties;
	UNPROTECTED(callbacks.published(context, message_id, code));
}

static void subscribed(
	struct mosquitto *client, void *context, int message_id, int count, const int *granted,
	const mosquitto_property *properties)
{
	(void)client, (void)properties;
	UNPROTECTED(callbacks.subscribed(context, message_id, count, granted));
}

static void received(
	struct mosquitto *client, void *context, const struct mosquitto_message *message,
	const mosquitto_property *properties)
{
	(void)client;
	UNPROTECTED(callbacks.message(context, message, properties));
}

static void logged(struct mosquitto *client, void *context, int level, const char *text)
{
	(void)client;
	if (level & (MOSQ_LOG_ERR | MOSQ_LOG_WARNING))
		UNPROTECTED(callbacks.logged(context, text));
}

int cmosquitto_publish(
	struct mosquitto *client, int *message_id, const char *topic, int length, const void *payload, int qos, bool retain,
	const mosquitto_property *properties)
{
	int code;

	/* While there is a callback, the library formats a line for each message, which costs as much as the rest of its work. */
	mosquitto_log_callback_set(client, NULL);
	code = mosquitto_publish_v5(client, message_id, topic, length, payload, qos, retain, properties);
	mosquitto_log_callback_set(client, logged);
	return code;
}

void cmosquitto_set_callbacks(const struct cmosquitto_callbacks *ours) { callbacks = *ours; }

void cmosquitto_use_callbacks(struct mosquitto *client)
{
	mosquitto_connect_v5_callback_set(client, connected);
	mosquitto_disconnect_v5_callback_set(client, disconnected);
	mosquitto_publish_v5_callback_set(client, published);
	mosquitto_subscribe_v5_callback_set(client, subscribed);
	mosquitto_message_v5_callback_set(client, received);
	mosquitto_log_callback_set(client, logged);
}
