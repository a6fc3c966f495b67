// libcurl, opened when it is first needed: most rules make no web request, and a daemon that makes none does not carry it.
//
// Its variadic calls are here with the type of their last argument. None of them may be called before ccurl_open() has
// returned NULL; all of them on one thread. An option that this libcurl does not know is CURLE_UNKNOWN_OPTION.
#ifndef CCURL_H
#define CCURL_H

#include <curl/curl.h>

// Opens and prepares libcurl, the first time. NULL when it can be used, else why not.
const char *ccurl_open(void);

const char *ccurl_describe(CURLcode code);

CURL *ccurl_easy(void);
void ccurl_easy_cleanup(CURL *easy);
CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value);
// What it points to must stay while the transfer does, unless it is a string: that is copied.
CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value);
// The octets are copied.
CURLcode ccurl_set_body(CURL *easy, const void *octets, curl_off_t count);
CURLcode ccurl_set_writer(CURL *easy, curl_write_callback writer, void *context);
// It is given each line of the headers, of the trailers, and of responses before the last.
CURLcode ccurl_set_header_writer(CURL *easy, curl_write_callback writer, void *context);
// Goes on with a transfer whose writer returned CURL_WRITEFUNC_PAUSE: the writer may be called before this returns.
CURLcode ccurl_unpause(CURL *easy);
// 0 when there was no response.
long ccurl_status(CURL *easy);
// Where the response sends us, as an absolute URL; NULL if it does not. Valid as long as the handle.
const char *ccurl_redirect(CURL *easy);

struct curl_slist *ccurl_append(struct curl_slist *list, const char *string);
void ccurl_free_list(struct curl_slist *list);

CURLM *ccurl_multi(curl_socket_callback on_socket, curl_multi_timer_callback on_timer, void *context);
// All transfers must have been removed.
void ccurl_multi_cleanup(CURLM *multi);
CURLMcode ccurl_add(CURLM *multi, CURL *easy);
CURLMcode ccurl_remove(CURLM *multi, CURL *easy);
// Goes on with what the socket is ready for; CURL_SOCKET_TIMEOUT for the timer.
CURLMcode ccurl_act(CURLM *multi, curl_socket_t socket);
// A transfer that has ended, and how; NULL when there is none.
CURL *ccurl_next_done(CURLM *multi, CURLcode *result);

// One part of a URL, in the form in which libcurl will use it, or NULL. To be given to ccurl_free.
char *ccurl_url_part(const char *url, CURLUPart part);
void ccurl_free(void *pointer);

#endif
