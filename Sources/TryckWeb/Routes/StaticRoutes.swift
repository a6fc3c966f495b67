import HTTPTypes
import Hummingbird
import NIOCore
import Settings
import WebService

/// Adds the routes for the files of the page, and for the link with which a browser signs in.
func addStaticRoutes(to router: Router<SiteContext>, _ site: Site) {
    @Sendable func file(_ request: Request, _ path: String) throws -> Response {
        guard let file = site.files.file(path) else {
            throw WebFailure(
                .notFound,
                path.isEmpty
                    ? "the files of the page are missing; install the package tryck, or start tryck-web with --public"
                    : "there is no file \(path.prefix(200)); open the page at \(site.setup.web.basePath)")
        }
        var headers: HTTPFields = [
            .contentType: file.contentType, .eTag: file.etag,
            .cacheControl: file.isLibrary ? "max-age=86400" : "no-cache",
        ]
        if (request.headers[.ifNoneMatch] ?? "").split(separator: ",").contains(where: {
            $0.drop { $0 == " " } == file.etag
        }) {
            return Response(status: .notModified, headers: headers)
        }
        headers[.contentLength] = "\(file.octets.count)"
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.octets)))
    }

    router.get("/") { request, _ in
        guard let token = request.uri.queryParameters["token"], request.method == .get else {
            return try file(request, "")
        }
        guard let cookie = site.signIn.redeem(String(token), at: Site.now, Site.wallClock) else {
            throw WebFailure(
                .unauthorized, "this link was used or is too old; tryck web prints another one",
                advice: .link(hasPassword: site.signIn.hasPassword))
        }
        return Response(status: .seeOther, headers: [.location: "./", .setCookie: cookieText(cookie, site)])
    }
    router.get("**") { request, _ in try file(request, String(request.uri.path.dropFirst())) }
}
