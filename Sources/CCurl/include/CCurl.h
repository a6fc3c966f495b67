// Functions of libcurl, which is loaded when it is first needed: a daemon whose rules make no web request never loads it.
//
// Swift cannot call libcurl's variadic functions, so there is a function for each type of their last argument. None of
// the functions may be called before ccurl_open() has returned NULL. Unless stated otherwise, all must be called on one
// thread. The setters return CURLE_UNKNOWN_OPTION for an option that the installed libcurl does not know.
//
// libssl returns to libcurl only when it has read data of the application, or when the socket is empty. A server that sends
// messages of TLS without end, such as KeyUpdate, would therefore hold the thread. So the program defines `recv`, to which
// the dynamic linker resolves libcurl's calls. It gives libcurl at most CCURL_OCTETS_PER_CALL in one call of a function;
// then the socket appears to be empty. Outside of libcurl, it does what the C library's `recv` does.
#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>
#include <stdbool.h>

#define CCURL_OCTETS_PER_CALL 16384

// Loads and initialises libcurl at the first call, which takes 23 ms. Returns NULL if libcurl can be used, otherwise the
// reason why not. May be called on any thread.
const char *ccurl_open(void);

// The file of certificate authorities that libcurl uses by itself; NULL if there is none.
const char *ccurl_authorities(void);
// True if ccurl_set_authorities can be used: if libcurl uses the OpenSSL that this program is linked with.
bool ccurl_takes_authorities(void);
// Reads certificate authorities from a file, which takes 50 ms for Debian's. Returns NULL if there are none. The result can
// be used, and must be freed, on any thread.
void *ccurl_read_authorities(const char *path);
void ccurl_free_authorities(void *authorities);

const char *ccurl_describe(CURLcode code);

CURL *ccurl_easy(void);
void ccurl_easy_cleanup(CURL *easy);
CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value);
// Strings are copied. Other objects that `value` points to must exist as long as the transfer.
CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value);
// Trusts these authorities and no others. They must exist as long as the transfer.
CURLcode ccurl_set_authorities(CURL *easy, void *authorities);
// Sets the body of the request. The octets are copied.
CURLcode ccurl_set_body(CURL *easy, const void *octets, curl_off_t count);
CURLcode ccurl_set_writer(CURL *easy, curl_write_callback writer, void *context);
// Sets the callback for each line of the headers, of the trailers, and of responses before the last.
CURLcode ccurl_set_header_writer(CURL *easy, curl_write_callback writer, void *context);
// Continues a transfer whose writer returned CURL_WRITEFUNC_PAUSE. The writer may be called before this returns.
CURLcode ccurl_unpause(CURL *easy);
// Returns the HTTP status of the response; 0 if there was none.
long ccurl_status(CURL *easy);
// The absolute URL that the response redirects to; NULL if it does not. Valid as long as the handle.
const char *ccurl_redirect(CURL *easy);

struct curl_slist *ccurl_append(struct curl_slist *list, const char *string);
void ccurl_free_list(struct curl_slist *list);

CURLM *ccurl_multi(curl_socket_callback on_socket, curl_multi_timer_callback on_timer, void *context);
// All transfers must have been removed before.
void ccurl_multi_cleanup(CURLM *multi);
CURLMcode ccurl_add(CURLM *multi, CURL *easy);
CURLMcode ccurl_remove(CURLM *multi, CURL *easy);
// Is told how many octets were received from a socket, whatever they are: headers, body, extensions of chunks, TLS.
typedef void (*ccurl_receive_callback)(curl_socket_t socket, size_t count, void *context);
// Continues the transfers of a socket that is ready, or with CURL_SOCKET_TIMEOUT those whose timer has fired.
CURLMcode ccurl_act(CURLM *multi, curl_socket_t socket, ccurl_receive_callback on_receive, void *context);
// Returns a transfer that has ended and stores its result; NULL if there is none.
CURL *ccurl_next_done(CURLM *multi, CURLcode *result);

// A part of a URL in the form in which libcurl will use it, or NULL. The caller frees it with ccurl_free.
char *ccurl_url_part(const char *url, CURLUPart part);
void ccurl_free(void *pointer);

#endif
