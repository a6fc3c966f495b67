#include "CCurl.h"

#include <dlfcn.h>
#include <stdio.h>

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

static const char *load(void)
{
	static char failure[256];
	void *library = NULL;
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
	return NULL;
}

const char *ccurl_open(void)
{
	static int is_loaded;
	static const char *failure;

	if (!is_loaded) {
		failure = load();
		/* After a failure, the next call tries again, because libcurl may be installed meanwhile. */
		is_loaded = failure == NULL;
	}
	return failure;
}

bool ccurl_has_authorities(void)
{
	const curl_version_info_data *version = curl.version_info(CURLVERSION_NOW);

	return version->age >= CURLVERSION_SEVENTH && version->cainfo;
}

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

CURLcode ccurl_unpause(CURL *easy) { return curl.easy_pause(easy, CURLPAUSE_CONT); }

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

void ccurl_multi_cleanup(CURLM *multi) { curl.multi_cleanup(multi); }

CURLMcode ccurl_add(CURLM *multi, CURL *easy) { return curl.multi_add_handle(multi, easy); }

CURLMcode ccurl_remove(CURLM *multi, CURL *easy) { return curl.multi_remove_handle(multi, easy); }

CURLMcode ccurl_act(CURLM *multi, curl_socket_t socket)
{
	int running = 0;

	/* With an event mask of 0, libcurl polls the socket itself. Passing on an error that epoll reports would end the
	   transfer before its last octets are read. */
	return curl.multi_socket_action(multi, socket, 0, &running);
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
