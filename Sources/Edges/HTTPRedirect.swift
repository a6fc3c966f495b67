import CCurl
import Hub
import Rules

/// The reaction to a redirect response.
///
/// A redirect is followed to the same host and port, or from `http` to `https` on any port of the same host. Headers
/// and body may contain secrets, which must not be sent to another host, nor in clear text if the request used TLS.
enum HTTPRedirect: Hashable, Sendable {
    case none
    /// The reason, as a sentence.
    case refused(String)
    case follow(HTTPAction)

    /// - Parameter target: an absolute URL.
    init(of request: HTTPAction, _ status: Int, to target: String?) {
        guard [301, 302, 303, 307, 308].contains(status), let target else {
            self = .none
            return
        }
        guard let old = Origin(request.url), let new = Origin(target) else {
            self = .refused("its redirect has no http or https URL")
            return
        }
        guard new.host == old.host else {
            self = .refused("its redirect to another host, \(new.host), is not followed")
            return
        }
        guard !old.isSecure || new.isSecure else {
            self = .refused("its redirect from https to http is not followed")
            return
        }
        guard new.port == old.port || new.isSecure != old.isSecure else {
            self = .refused("its redirect to another port, \(new.port), is not followed")
            return
        }
        var next = request
        next.url = target
        // Browsers do the same (Fetch Standard, HTTP-redirect fetch): 303 changes the method to GET, and so do 301 and
        // 302 for POST; the status codes 307 and 308 keep it (RFC 9110, 15.4).
        let becomesGet = status == 303 ? request.method != "HEAD" : status < 303 && request.method == "POST"
        if becomesGet {
            next.method = "GET"
            next.body = []
            next.headers.removeAll { $0.lowercased().hasPrefix("content-") }
        }
        self = .follow(next)
    }

    private struct Origin {
        var host, port: String
        var isSecure: Bool

        init?(_ url: String) {
            guard let scheme = part(CURLUPART_SCHEME, of: url), ["http", "https"].contains(scheme),
                let host = part(CURLUPART_HOST, of: url), let port = part(CURLUPART_PORT, of: url)
            else { return nil }
            self.host = host.lowercased()
            self.port = port
            isSecure = scheme == "https"
        }
    }

    /// A component of a URL as parsed by libcurl, which also sends the request: with two parsers, the host that is
    /// checked could differ from the host that is contacted.
    static func part(_ part: CURLUPart, of url: String) -> String? {
        guard let text = ccurl_url_part(url, part) else { return nil }
        defer { ccurl_free(text) }
        return String(cString: text)
    }
}
