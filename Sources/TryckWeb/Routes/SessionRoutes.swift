import ButtonModel
import HTTPTypes
import Hummingbird
import JSON
import Platform
import Settings
import WebService

/// Signing in and out: `/api/session`, `/login`, `/logout`.
func addSessionRoutes(to router: Router<SiteContext>, _ site: Site) {
    router.get("api/session") { request, _ in
        let now = Site.wallClock
        let isSignedIn =
            site.setup.web.trustsIngress
            || request.sessionCookies.contains { site.signIn.session(of: $0, at: now) != nil }
        return Response(json: [
            "signed_in": .bool(isSignedIn), "password": .bool(site.signIn.hasPassword),
            "edit_rules": .bool(site.setup.web.editsRules), "version": .string(Version.string),
            "ingress": .bool(site.setup.web.trustsIngress),
        ])
    }

    router.post("login") { request, context in
        guard site.signIn.hasPassword else {
            throw WebFailure(.unauthorized, "there is no password; open the link that tryck web prints")
        }
        let octets = try await site.octets(of: request, context, upTo: 8192)
        guard let body = try? JSONValue(parsing: octets), let password = body["password"]?.stringValue else {
            throw WebFailure(.badRequest, #"the body looks like {"password":"…"}"#)
        }
        let address = site.setup.policy.visitor(
            peer: context.peer, forwarded: request.headers[values: .forwardedFor])
        if let wait = site.signIn.admit(address, at: Site.now) {
            throw WebFailure(
                .tooManyRequests, "too many wrong passwords; wait a minute",
                headers: [.retryAfter: "\(max(1, (wait.milliseconds + 999) / 1000))"])
        }
        let outcome = try await site.work.run { site.signIn.signIn(password, from: address, at: Site.wallClock) }
        switch outcome {
        case .signedIn(let cookie):
            return Response(status: .noContent, headers: [.setCookie: cookieText(cookie, site)])
        case .wrong:
            TryckWeb.log("a wrong password from \(address)")
            throw WebFailure(.unauthorized, "the password is wrong; it is web.password of tryck.yaml")
        case .impossible: throw WebFailure.busy
        case .lockedOut(let wait):
            throw WebFailure(
                .tooManyRequests, "too many wrong passwords; wait a minute",
                headers: [.retryAfter: "\(max(1, (wait.milliseconds + 999) / 1000))"])
        }
    }

    router.post("logout") { request, _ in
        let now = Site.wallClock
        for cookie in request.sessionCookies {
            guard let session = site.signIn.session(of: cookie, at: now) else { continue }
            site.signIn.end(session)
            await site.feed.end(session)
        }
        return Response(status: .noContent, headers: [.setCookie: cookieText(nil, site)])
    }
}

/// The header of the session's cookie. Scripts cannot read the cookie, and other sites cannot make a browser send it.
///
/// - Parameter value: `nil` removes the cookie.
func cookieText(_ value: String?, _ site: Site) -> String {
    let age = value == nil ? 0 : SessionTable.lifetime.milliseconds / 1000
    return "tryck_session=\(value ?? ""); Path=\(site.setup.web.basePath); Max-Age=\(age); HttpOnly; SameSite=Strict"
}
