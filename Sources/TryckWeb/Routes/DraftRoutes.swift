import HTTPTypes
import Hummingbird
import JSON
import WebService

/// The routes for questions of the page about texts that are not saved: `POST /api/rules/check`, `test`, `explain`,
/// `complete`, `hints`.
func addDraftRoutes(to api: RouterGroup<SiteContext>, _ site: Site) {
    let rules = site.rules
    add("check") { body throws(RuleDesk.Failure) in try rules.check(body) }
    add("test") { body throws(RuleDesk.Failure) in try rules.test(body) }
    add("explain") { body throws(RuleDesk.Failure) in try rules.explain(body) }
    add("complete") { body throws(RuleDesk.Failure) in try rules.complete(body) }
    add("hints") { body throws(RuleDesk.Failure) in try rules.hints(body) }

    func add(_ name: String, _ answer: @escaping @Sendable (JSONValue) throws(RuleDesk.Failure) -> JSONValue) {
        api.post("rules/\(name)") { request, context in
            let octets = try await site.octets(of: request, context)
            guard let body = try? JSONValue(parsing: octets), body.objectValue != nil else {
                throw WebFailure(.badRequest, #"the body looks like {"files":{"home.yaml":"…"}}"#)
            }
            let result = try await site.work.run {
                Result { () throws(RuleDesk.Failure) in try answer(body) }
            }
            return Response(json: try result.draftValue)
        }
    }
}

extension Result where Failure == RuleDesk.Failure {
    /// Like `value`, but a body that names a file which does not belong to the rule set is rejected as a bad request
    /// (400).
    var draftValue: Success {
        get throws(WebFailure) {
            if case .failure(.unknownFile(let name)) = self {
                throw WebFailure(
                    .badRequest, "the rules have no file \(name.prefix(200)); GET /api/rules lists the files")
            }
            return try value
        }
    }
}
