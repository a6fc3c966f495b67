import HTTPTypes
import Hummingbird
import JSON
import NIOCore
import WebService

/// The files of the rule set: `GET /api/rules`, `GET` and `PUT /api/rules/FILE`.
func addRuleRoutes(to api: RouterGroup<SiteContext>, _ site: Site) {
    api.get("rules") { _, _ in
        let list = try await site.work.run { site.rules.list() }
        return Response(json: list)
    }

    api.get("rules/**") { request, context in
        let name = try fileName(context)
        let text = try await site.work.run { Result { () throws(RuleDesk.Failure) in try site.rules.text(of: name) } }
            .value
        if request.headers[.ifNoneMatch] == text.etag {
            return Response(status: .notModified, headers: [.eTag: text.etag, .cacheControl: "no-cache"])
        }
        return Response(
            status: .ok,
            headers: [.contentType: "text/plain; charset=utf-8", .eTag: text.etag, .cacheControl: "no-cache"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: text.octets)))
    }

    api.put("rules/**") { request, context in
        let name = try fileName(context)
        guard let etag = request.headers[.ifMatch] else {
            throw WebFailure(
                .preconditionRequired, "the header If-Match is missing; send the ETag with which the text was read")
        }
        let octets = try await site.octets(of: request, context)
        let insists = request.uri.queryParameters["anyway"] == "true"
        let saved = try await site.work.run {
            Result { () throws(RuleDesk.Failure) in
                try site.rules.save(octets, as: name, ifMatch: etag, insists: insists)
            }
        }.value
        var response = Response(json: ["etag": .string(saved.etag), "diagnostics": .array(saved.diagnostics)])
        response.headers[.eTag] = saved.etag
        return response
    }
}

/// The name of a rule file in the path of a request.
private func fileName(_ context: SiteContext) throws(WebFailure) -> String {
    guard let name = RuleFileName.decoded(context.parameters.getCatchAll()) else {
        throw WebFailure(.notFound, "this is no name of a file; GET /api/rules lists the files")
    }
    return name
}

extension Result where Failure == RuleDesk.Failure {
    /// The value, or the response for the failure.
    var value: Success {
        get throws(WebFailure) {
            switch self {
            case .success(let value): return value
            case .failure(let failure): throw WebFailure(failure)
            }
        }
    }
}

extension WebFailure {
    init(_ failure: RuleDesk.Failure) {
        switch failure {
        case .unknownFile(let name):
            self.init(.notFound, "the rules have no file \(name.prefix(200)); GET /api/rules lists the files")
        case .noRules(let path):
            self.init(.notFound, "there is no rules file \(path); create it, or set rules: in tryck.yaml")
        case .bad(let sentence): self.init(.badRequest, sentence)
        case .notWritable(let sentence): self.init(.forbidden, sentence)
        case .changed(let present):
            self.init(
                .preconditionFailed, "the file has changed meanwhile; compare both texts and save again",
                headers: [.eTag: present.etag],
                members: [
                    .init("text", .string(String(decoding: present.octets, as: UTF8.self))),
                    .init("etag", .string(present.etag)),
                ])
        case .wrong(let sentence, let diagnostics):
            self.init(.unprocessableContent, sentence, members: [.init("diagnostics", .array(diagnostics))])
        }
    }
}
