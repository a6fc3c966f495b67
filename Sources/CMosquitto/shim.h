#include <mosquitto.h>
#include <mqtt_protocol.h>

// libssl's own header would put all of OpenSSL into this module.
struct ssl_st;
int SSL_pending(const struct ssl_st *connection);

/// Octets that TLS has decrypted and nobody has read yet; the socket does not become readable for them.
static inline int cmosquitto_pending(struct mosquitto *client) {
    const struct ssl_st *connection = (const struct ssl_st *)mosquitto_ssl_get(client);
    return connection ? SSL_pending(connection) : 0;
}
