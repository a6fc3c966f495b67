import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Settings
import WebService

/// Serves HTTP until it fails.
///
/// Hummingbird's `Application` is not used, because it updates a clock every second for the header `Date`.
///
/// - Returns: why it failed, as a sentence.
func serve(_ site: Site, on group: any EventLoopGroup) async -> String {
    let logger = Logger(label: "tryck-web") { _ in SwiftLogNoOpLogHandler() }
    let router = routes(of: site)
    let address: BindAddress =
        switch site.setup.web.listen {
        case .tcp(let address): .hostname(address.host, port: address.port)
        case .unix(let path): .unixDomainSocket(path: path)
        }
    let configuration = HTTP1Channel.Configuration(
        additionalChannelHandlers: [ConnectionWatch(site.connections)], idleTimeout: .seconds(60),
        httpDecoderConfiguration: .init(maxHeaderFieldSize: 8192, maxHeaderListSize: 16384, maxHeaderFieldCount: 64))
    do {
        let connection = HTTP1Channel(
            responder: { request, writer, channel in
                let context = SiteContext(source: ApplicationRequestContextSource(channel: channel, logger: logger))
                site.connections.requestBegan(channel, hasBody: request.method != .get && request.method != .head)
                defer { site.connections.responseEnded(channel) }
                let response = await answer(request, context, router, site)
                try await writer.write(response: response.head, body: response.body)
            }, configuration: configuration)
        let server = Server(
            childChannelSetup: connection,
            configuration: ServerConfiguration(address: address),
            onServerRunning: { _ in await TryckWeb.listening(site) }, eventLoopGroup: group, logger: logger)
        try await server.run()
        return "the server has ended"
    } catch {
        return "\(site.setup.web.listen) cannot be listened on: \(error). Stop what listens there, or set web.listen"
    }
}

/// Answers a request: removes the base path, calls the router, and answers requests outside the base path itself.
private func answer(
    _ request: Request, _ context: SiteContext, _ router: RouterResponder<SiteContext>, _ site: Site
) async -> Response {
    let base = site.setup.web.basePath
    guard request.uri.path.hasPrefix(base), request.uri.path.first == "/" else {
        let isBaseItself = request.uri.path + "/" == base
        let response =
            isBaseItself
            ? Response(status: .permanentRedirect, headers: [.location: base])
            : WebFailure(.notFound, "the page is at \(base)")
                .response(to: request, path: request.head.path ?? "/", home: String(base.dropFirst()))
        return finished(response, site)
    }
    var head = request.head
    head.path = "/" + (head.path ?? "").dropFirst(base.utf8.count)
    do {
        return finished(try await router.respond(to: Request(head: head, body: request.body), context: context), site)
    } catch let failure as WebFailure {
        return finished(failure.response(to: request, path: head.path ?? "/"), site)
    } catch {
        return finished(WebFailure(.internalServerError, "the request failed; please report this").response, site)
    }
}

/// Adds the headers that every response has.
private func finished(_ response: Response, _ site: Site) -> Response {
    var response = response
    let ancestors = site.setup.web.trustsIngress ? "'self'" : "'none'"
    response.headers[.contentSecurityPolicy] =
        "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors \(ancestors)"
    response.headers[.xContentTypeOptions] = "nosniff"
    response.headers[HTTPField.Name.referrerPolicy] = "no-referrer"
    // A page at another port of this machine is the same site for cookies. It cannot include what is here.
    response.headers[.crossOriginResourcePolicy] = "same-origin"
    if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
    response.headers[.date] = HTTPDate.text(Site.wallClock)
    return response
}

private func routes(of site: Site) -> RouterResponder<SiteContext> {
    let router = Router(context: SiteContext.self, options: .autoGenerateHeadEndpoints)
    router.add(middleware: PolicyMiddleware(site: site))
    addSessionRoutes(to: router, site)
    let api = router.group("api").add(middleware: SignInMiddleware(site: site))
    addRequestRoute(to: api, site)
    addEventsRoute(to: api, site)
    addRuleRoutes(to: api, site)
    addDraftRoutes(to: api, site)
    addHistoryRoutes(to: api, site)
    addDoctorRoute(to: api, site)
    addStaticRoutes(to: router, site)
    return router.buildResponder()
}
