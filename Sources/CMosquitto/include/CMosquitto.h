// libmosquitto, and checks that protect the process from a broker that breaks the protocol.
//
// libmosquitto 2.0.11 ends the process (assert) when a broker sends a property that MQTT 5 does not have, takes a packet
// of up to 256 MiB into memory, and compares each user property of a packet with all others. A `struct
// cmosquitto_reader` checks everything that the library reads, and ends the connection before any of this happens. If an
// assertion fails nevertheless, the loop function returns CMOSQUITTO_ASSERTED.
//
// To do so, the program defines `__assert_fail`, `read`, `SSL_read` and `SSL_get_error`, and the dynamic linker
// resolves the library's calls to these definitions. Outside of cmosquitto_loop_read, cmosquitto_loop_write and
// cmosquitto_loop_misc they only call the definitions that they override.
#ifndef CMOSQUITTO_H
#define CMOSQUITTO_H

#include <mosquitto.h>
#include <mqtt_protocol.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The reason why a reader ended a connection. To the library, it looks as if the broker had closed the connection.
enum cmosquitto_refusal {
	CMOSQUITTO_NOTHING_REFUSED,
	// A packet is longer than its limit; `command` and `length` describe it.
	CMOSQUITTO_TOO_LONG,
	// The QoS 2 messages that wait for their PUBREL have more than `maximum_publish` octets together, or are more than
	// CMOSQUITTO_MAXIMUM_HELD.
	CMOSQUITTO_TOO_MUCH_HELD,
	// A property does not exist in MQTT 5, or there are too many of them.
	CMOSQUITTO_MALFORMED,
};

// The number of messages with QoS 2 that the broker may have in flight to this client. Brokers use 20 to 32 by default.
#define CMOSQUITTO_MAXIMUM_HELD 64

// A message that the library keeps until its PUBREL arrives.
struct cmosquitto_held {
	uint32_t length;
	uint16_t id;
};

// The limits of a connection, and its position in a packet. All fields except the limits begin as zero.
struct cmosquitto_reader {
	// Limits for the octets after the fixed header, of PUBLISH and of all other packets.
	uint32_t maximum_publish;
	uint32_t maximum_other;
	// True if the connection uses MQTT 5; other versions have no properties.
	int has_properties;
	// True if properties are checked before the library reads them.
	int checks_properties;

	// The octets and packets that may still be read in this turn of the event loop; then the socket appears to be empty.
	size_t octets_left;
	unsigned packets_left;
	// With TLS: the octets that libssl may still read from the socket in this turn.
	size_t encrypted_octets_left;
	bool is_encrypted;

	int refusal;
	uint8_t command;
	uint32_t length;

	// The number of packets that the library has answered. Each answer stays in the library's memory until the socket
	// accepts it. The owner sets this to zero when everything was written.
	unsigned answered;

	// Fields that only the reader uses.
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

// Returned if an assertion of the library failed. The handle must not be used any more.
#define CMOSQUITTO_ASSERTED (-1000)

// Call the library's functions with the same suffix. A failed assertion makes them return CMOSQUITTO_ASSERTED.
int cmosquitto_loop_read(struct mosquitto *client, struct cmosquitto_reader *reader);
int cmosquitto_loop_write(struct mosquitto *client);
int cmosquitto_loop_misc(struct mosquitto *client);

// Returns the assertion that failed last on this thread, as "FUNCTION: EXPRESSION".
const char *cmosquitto_assertion(void);
// True if that assertion fails at a point where the library holds no lock, so that the handle may be destroyed.
int cmosquitto_may_destroy(void);

// True if the library must not read the properties of a packet. `packet` begins after the fixed header.
int cmosquitto_is_malformed(uint8_t command, const uint8_t *packet, uint32_t length);

// The callbacks of the library. An assertion that fails inside a callback ends the process, as without this file.
struct cmosquitto_callbacks {
	void (*connected)(void *context, int reason_code, const mosquitto_property *properties);
	void (*disconnected)(void *context, int code);
	void (*published)(void *context, int message_id, int reason_code);
	void (*subscribed)(void *context, int message_id, int count, const int *granted);
	void (*message)(void *context, const struct mosquitto_message *message, const mosquitto_property *properties);
	// Errors and warnings.
	void (*logged)(void *context, const char *text);
};

// Sets the functions that all handles call. Must be called once, before the first handle connects.
void cmosquitto_set_callbacks(const struct cmosquitto_callbacks *callbacks);
// Sets the callbacks of this handle; their context is its user data.
void cmosquitto_use_callbacks(struct mosquitto *client);

// Calls mosquitto_publish_v5. The library logs nothing meanwhile; a failure is the result.
int cmosquitto_publish(
	struct mosquitto *client, int *message_id, const char *topic, int length, const void *payload, int qos, bool retain,
	const mosquitto_property *properties);

// Returns the number of octets that TLS has decrypted and the library has not read. epoll does not report them.
int cmosquitto_pending(struct mosquitto *client);

#endif
