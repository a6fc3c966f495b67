// libmosquitto, and what protects the process from a broker that breaks the protocol.
//
// libmosquitto 2.0.11 ends the process (assert) when a broker sends a property that MQTT 5 does not have, takes a packet
// of up to 256 MiB into memory, and compares each user property of a packet with each other one. So what it reads goes
// through `struct cmosquitto_reader`, which ends the connection before any of this happens. An assertion that fails all
// the same becomes a return value.
//
// Both work by definitions of `__assert_fail`, `read`, `SSL_read` and `SSL_get_error` in the program: the dynamic linker
// resolves the library's calls to them. Outside of cmosquitto_loop_read, cmosquitto_loop_write and cmosquitto_loop_misc
// they only call the definitions that they take the place of.
#ifndef CMOSQUITTO_H
#define CMOSQUITTO_H

#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stddef.h>
#include <stdint.h>

// Why a connection was ended by its reader. To the library it looks as if the broker had closed it.
enum cmosquitto_refusal {
	CMOSQUITTO_NOTHING_REFUSED,
	// A packet is longer than its limit: `command` and `length` say which.
	CMOSQUITTO_TOO_LONG,
	// More is held of messages with QoS 2, whose end the broker does not send, than `maximum_publish` octets or
	// CMOSQUITTO_MAXIMUM_HELD messages.
	CMOSQUITTO_TOO_MUCH_HELD,
	// A property does not exist in MQTT 5, or there are too many of them.
	CMOSQUITTO_MALFORMED,
};

// How many messages with QoS 2 the broker may have under way to us. Brokers that we tell nothing have 20 to 32.
#define CMOSQUITTO_MAXIMUM_HELD 64

// A message that the library keeps until its PUBREL comes.
struct cmosquitto_held {
	uint32_t length;
	uint16_t id;
};

// What one connection may read, and how far it is in a packet. All zero at first but for the limits.
struct cmosquitto_reader {
	// Octets after the fixed header of a PUBLISH, and of every other packet.
	uint32_t maximum_publish;
	uint32_t maximum_other;
	// MQTT 5; the others have no properties.
	int has_properties;
	// Whether properties are looked at before the library does.
	int checks_properties;

	// What may still be read in this turn of the event loop; then the socket seems to be empty.
	size_t octets_left;
	unsigned packets_left;

	int refusal;
	uint8_t command;
	uint32_t length;

	// Packets that the library has answered: each answer stays in its memory until the socket takes it. Whoever sees that
	// everything was written sets this to zero.
	unsigned answered;

	// Its own.
	int part;
	unsigned shift;
	uint32_t received;
	const uint8_t *packet;
	struct cmosquitto_held held[CMOSQUITTO_MAXIMUM_HELD];
	unsigned held_count;
	uint32_t held_length;
	int descriptor;
	int pretended;
};

// Returned where an assertion of the library failed. The handle must not be used any more.
#define CMOSQUITTO_ASSERTED (-1000)

// As mosquitto_loop_read, mosquitto_loop_write and mosquitto_loop_misc.
int cmosquitto_loop_read(struct mosquitto *client, struct cmosquitto_reader *reader);
int cmosquitto_loop_write(struct mosquitto *client);
int cmosquitto_loop_misc(struct mosquitto *client);

// Which assertion failed last on this thread: "FUNCTION: EXPRESSION".
const char *cmosquitto_assertion(void);
// Whether it was one that fails between two changes, where the library holds no lock: then the handle may be destroyed.
int cmosquitto_may_destroy(void);

// Whether properties of a packet are such that the library must not see them: `packet` is what follows its fixed header.
int cmosquitto_is_malformed(uint8_t command, const uint8_t *packet, uint32_t length);

// What the library calls. An assertion that fails inside one of these ends the process, as it would without this file.
struct cmosquitto_callbacks {
	void (*connected)(void *context, int reason_code, const mosquitto_property *properties);
	void (*disconnected)(void *context, int code);
	void (*published)(void *context, int message_id, int reason_code);
	void (*subscribed)(void *context, int message_id, int count, const int *granted);
	void (*message)(void *context, const struct mosquitto_message *message);
	// Errors and warnings.
	void (*logged)(void *context, const char *text);
};

// Copies the functions that all handles call; to be called once, before the first handle is connected.
void cmosquitto_set_callbacks(const struct cmosquitto_callbacks *callbacks);
// Has this handle call them; their context is its user data.
void cmosquitto_use_callbacks(struct mosquitto *client);

// How many octets TLS has decrypted and the library has not read; the socket does not become readable for them.
int cmosquitto_pending(struct mosquitto *client);

#endif
