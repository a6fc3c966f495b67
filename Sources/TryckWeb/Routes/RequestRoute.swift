import HTTPTypes
import Hummingbird
import JSON
import Settings
import WebService

/// `POST /api/request`: a line of the control socket, and its answer.
func addRequestRoute(to api: RouterGroup<SiteContext>, _ site: Site) {
    api.post("request") { request, context in
        let octets = try await site.octets(of: request, context)
        let line: PageRequest
        do throws(PageRequest.Refusal) {
            line = try PageRequest(octets)
        } catch {
            throw WebFailure(.badRequest, error.sentence)
        }
        guard site.setup.web.editsRules || !line.startsPrograms else {
            throw WebFailure(
                .forbidden,
                "web.edit_rules is false in tryck.yaml, so rules are not run from here; set dry_run, or use the command tryck"
            )
        }
        switch await site.daemon.ask(line.line) {
        case .answer(let answer):
            let isOK = answer["status"]?.stringValue == "ok"
            return Response(json: answer.withoutPasswords, status: isOK ? .ok : .badRequest)
        case .noDaemon(let sentence): throw WebFailure(.serviceUnavailable, sentence)
        case .tooMany: throw WebFailure(.serviceUnavailable, "too many requests wait for the daemon; try again")
        case .tooLate: throw WebFailure(.gatewayTimeout, "the daemon did not answer within 10 s; see tryck status")
        }
    }
}
