import HTTPTypes
import Hummingbird
import Settings
import WebService

/// Refuses requests that `RequestPolicy` does not let in, such as those that a page of another site may have caused, and turns
/// errors of the router into sentences.
struct PolicyMiddleware: RouterMiddleware {
    let site: Site

    func handle(
        _ request: Request, context: SiteContext, next: (Request, SiteContext) async throws -> Response
    ) async throws -> Response {
        let isChange = request.method != .get && request.method != .head
        let head = RequestPolicy.Head(
            isChange: isChange, peer: context.peer, host: request.head.authority,
            origin: request.headers[values: .origin].isEmpty
                ? nil : request.headers[values: .origin].joined(separator: ", "),
            isMarked: request.headers[values: .mark] == ["1"])
        if let sentence = site.setup.policy.refusal(of: head) { throw WebFailure(.forbidden, sentence) }
        do {
            return try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            throw WebFailure(
                .notFound,
                "there is nothing at \(request.uri.path.prefix(200)); deploy/openapi.yaml lists what there is")
        }
    }
}

/// Lets only requests with a session pass.
struct SignInMiddleware: RouterMiddleware {
    let site: Site

    func handle(
        _ request: Request, context: SiteContext, next: (Request, SiteContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        guard !site.setup.web.trustsIngress else { return try await next(request, context) }
        let now = Site.wallClock
        guard let session = request.sessionCookies.lazy.compactMap({ site.signIn.session(of: $0, at: now) }).first
        else {
            let way = site.signIn.hasPassword ? "sign in" : "open the link that tryck web prints"
            throw WebFailure(.unauthorized, "nobody is signed in: \(way)")
        }
        context.session = session
        return try await next(request, context)
    }
}
