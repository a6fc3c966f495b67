#define _GNU_SOURCE
#include "CCurl.h"

#include <dlfcn.h>
#include <errno.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/types.h>

#define FUNCTIONS(X) \
	X(global_init) X(easy_init) X(easy_pause) X(easy_cleanup) X(easy_setopt) X(easy_getinfo) X(easy_strerror) \
	X(slist_append) X(slist_free_all) X(multi_init) X(multi_cleanup) X(multi_setopt) X(multi_add_handle) \
	X(multi_remove_handle) X(multi_socket_action) X(multi_info_read) X(version_info) X(url) X(url_cleanup) X(url_set) X(url_get) X(free)

/* Some of these names are function-like macros in libcurl's headers, which do not expand without parentheses. */
static struct {
#define MEMBER(name) __typeof__(curl_##name) *name;
	FUNCTIONS(MEMBER)
} curl;

/* Debian's names of the OpenSSL build (package libcurl4) and of the GnuTLS build, on which git depends. */
static const char *const libraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

/* True if libcurl uses the libssl with which this program is linked, so that our authorities are of its type. */
static bool is_ours;

static const char *load(void)
{
	static char failure[256];
	void *library = NULL;
	const char *tls;
	size_t i;

	for (i = 0; !library && i < sizeof libraries / sizeof *libraries; i++)
		library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return "libcurl is not installed (on Debian: the package libcurl4)";
#define RESOLVE(member) \
	if (!(curl.member = (__typeof__(curl_##member) *)dlsym(library, "curl_" #member))) { \
		snprintf(failure, sizeof failure, "libcurl is too old: it has no curl_" #member); \
		return failure; \
	}
	FUNCTIONS(RESOLVE)
	if (curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return "libcurl cannot be initialised";
	tls = curl.version_info(CURLVERSION_NOW)->ssl_version;
	is_ours = tls && strncmp(tls, "OpenSSL/", 8) == 0
		&& dlsym(library, "SSL_CTX_set1_cert_store") == dlsym(RTLD_DEFAULT, "SSL_CTX_set1_cert_store");
	return NULL;
}

const char *ccurl_open(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	static bool is_loaded;
	const char *failure = NULL;

	pthread_mutex_lock(&mutex);
	/* After a failure, the next call tries again, because libcurl may be installed meanwhile. */
	if (!is_loaded)
		is_loaded = (failure = load()) == NULL;
	pthread_mutex_unlock(&mutex);
	return failure;
}

// MARK: Received octets

/* What libcurl may receive during one call of it. */
struct receiving {
	/* The octets that it may still receive. */
	size_t left;
	/* Is told of each piece; may be NULL. */
	ccurl_receive_callback on_receive;
	void *context;
};

/* NULL while this thread calls no function of libcurl. */
static __thread struct receiving *receiving;

/* The dynamic linker resolves libcurl's calls to this function, because the program is searched before the C library. */
__attribute__((visibility("default"), used)) ssize_t recv(int socket, void *octets, size_t count, int flags)
{
	struct receiving *now = receiving;
	ssize_t result;

	if (now && now->left == 0) {
		errno = EAGAIN;
		return -1;
	}
	/* This is what the C library's recv does. */
	result = recvfrom(socket, octets, now && now->left < count ? now->left : count, flags, NULL, NULL);
	if (now && result > 0 && !(flags & MSG_PEEK)) {
		now->left -= (size_t)result;
		if (now->on_receive)
			now->on_receive(socket, (size_t)result, now->context);
	}
	return result;
}

#define RECEIVING(octets, callback, data, call) \
	({ \
		struct receiving limits = {(octets), (callback), (data)}; \
		struct receiving *outer = receiving; \
		receiving = &limits; \
		__typeof__(call) code = (call); \
		receiving = outer; \
		code; \
	})

#define RECEIVING_AT_MOST(octets, call) RECEIVING(octets, NULL, NULL, call)

// MARK: Authorities

const char *ccurl_authorities(void)
{
	const curl_version_info_data *version = curl.version_info(CURLVERSION_NOW);

	return version->age >= CURLVERSION_SEVENTH ? version->cainfo : NULL;
}

bool ccurl_takes_authorities(void) { return is_ours; }

void *ccurl_read_authorities(const char *path)
{
	X509_STORE *store = X509_STORE_new();

	if (!store || X509_STORE_load_file(store, path) != 1) {
		X509_STORE_free(store);
		return NULL;
	}
	/* libcurl sets these flags for the authorities that it reads itself. */
	X509_STORE_set_flags(store, X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
	return store;
}

void ccurl_free_authorities(void *authorities) { X509_STORE_free(authorities); }

static CURLcode use_authorities(CURL *easy, void *context, void *authorities)
{
	(void)easy;
	SSL_CTX_set1_cert_store(context, authorities);
	return CURLE_OK;
}

CURLcode ccurl_set_authorities(CURL *easy, void *authorities)
{
	/* Without its own files, libcurl would verify with an empty list until the function has replaced it. */
	CURLcode code = curl.easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, use_authorities);

	if (code == CURLE_OK)
		code = curl.easy_setopt(easy, CURLOPT_SSL_CTX_DATA, authorities);
	if (code == CURLE_OK)
		code = curl.easy_setopt(easy, CURLOPT_CAINFO, NULL);
	return code != CURLE_OK ? code : curl.easy_setopt(easy, CURLOPT_CAPATH, NULL);
}

// MARK: Transfers

const char *ccurl_describe(CURLcode code) { return curl.easy_strerror(code); }

CURL *ccurl_easy(void) { return curl.easy_init(); }

void ccurl_easy_cleanup(CURL *easy) { curl.easy_cleanup(easy); }

CURLcode ccurl_set_number(CURL *easy, CURLoption option, long value) { return curl.easy_setopt(easy, option, value); }

CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, const void *value)
{
	return curl.easy_setopt(easy, option, value);
}

CURLcode ccurl_set_body(CURL *easy, const void *octets, curl_off_t count)
{
	CURLcode code = curl.easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, count);

	return code != CURLE_OK ? code : curl.easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, count > 0 ? octets : "");
}

CURLcode ccurl_set_writer(CURL *easy, curl_write_callback writer, void *context)
{
	CURLcode code = curl.easy_setopt(easy, CURLOPT_WRITEFUNCTION, writer);

	return code != CURLE_OK ? code : curl.easy_setopt(easy, CURLOPT_WRITEDATA, context);
}

CURLcode ccurl_set_header_writer(CURL *easy, curl_write_callback writer, void *context)
{
	CURLcode code = curl.easy_setopt(easy, CURLOPT_HEADERFUNCTION, writer);

	return code != CURLE_OK ? code : curl.easy_setopt(easy, CURLOPT_HEADERDATA, context);
}

CURLcode ccurl_unpause(CURL *easy)
{
	return RECEIVING_AT_MOST(CCURL_OCTETS_PER_CALL, curl.easy_pause(easy, CURLPAUSE_CONT));
}

long ccurl_status(CURL *easy)
{
	long status = 0;

	curl.easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	return status;
}

const char *ccurl_redirect(CURL *easy)
{
	char *url = NULL;

	curl.easy_getinfo(easy, CURLINFO_REDIRECT_URL, &url);
	return url;
}

struct curl_slist *ccurl_append(struct curl_slist *list, const char *string)
{
	return curl.slist_append(list, string);
}

void ccurl_free_list(struct curl_slist *list) { curl.slist_free_all(list); }

CURLM *ccurl_multi(curl_socket_callback on_socket, curl_multi_timer_callback on_timer, void *context)
{
	CURLM *multi = curl.multi_init();

	if (!multi)
		return NULL;
	curl.multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl.multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
	curl.multi_setopt(multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl.multi_setopt(multi, CURLMOPT_TIMERDATA, context);
	return multi;
}

/* Before libcurl closes an encrypted connection, it reads what has arrived. This could be very much, and it ignores it. */
void ccurl_multi_cleanup(CURLM *multi) { (void)RECEIVING_AT_MOST(0, curl.multi_cleanup(multi)); }

CURLMcode ccurl_add(CURLM *multi, CURL *easy)
{
	return RECEIVING_AT_MOST(CCURL_OCTETS_PER_CALL, curl.multi_add_handle(multi, easy));
}

CURLMcode ccurl_remove(CURLM *multi, CURL *easy)
{
	return RECEIVING_AT_MOST(0, curl.multi_remove_handle(multi, easy));
}

CURLMcode ccurl_act(CURLM *multi, curl_socket_t socket, ccurl_receive_callback on_receive, void *context)
{
	int running = 0;

	/* With an event mask of 0, libcurl polls the socket itself. Passing on an error that epoll reports would end the
	   transfer before its last octets are read. */
	return RECEIVING(
		CCURL_OCTETS_PER_CALL, on_receive, context, curl.multi_socket_action(multi, socket, 0, &running));
}

CURL *ccurl_next_done(CURLM *multi, CURLcode *result)
{
	int rest = 0;
	CURLMsg *message;

	while ((message = curl.multi_info_read(multi, &rest)) != NULL) {
		if (message->msg != CURLMSG_DONE)
			continue;
		*result = message->data.result;
		return message->easy_handle;
	}
	return NULL;
}

char *ccurl_url_part(const char *url, CURLUPart part)
{
	CURLU *handle = curl.url();
	char *text = NULL;

	if (!handle)
		return NULL;
	if (curl.url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK)
		curl.url_get(handle, part, &text, CURLU_DEFAULT_PORT);
	curl.url_cleanup(handle);
	return text;
}

void ccurl_free(void *pointer) { curl.free(pointer); }
