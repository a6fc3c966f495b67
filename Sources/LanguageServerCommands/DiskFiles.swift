import ButtonModel
import CommandSupport
import CommandText
import ControlClient
import JSON
import LanguageServer
import MQTTTopics
import Platform
import RuleLoader
import Setup

/// Answers the language server's requests from the disk of this machine, and from daemons.
struct DiskFiles {
    /// The environment variables.
    let variables: [String: String]
    /// How long the connection to a daemon, and then its answer, may take. The lenses of the editor wait for it.
    private static let timeLimit = Duration.milliseconds(250)
    private let zones = ZoneFiles()

    init(variables: [String: String]) { self.variables = variables }

    func answer(to request: DiskRequest) -> DiskAnswer {
        switch request {
        case .file(let path): .set(RuleSetLoader.Answer(RuleFiles.file(path)))
        case .ofSet(.timeZone(let name), _): .set(.timeZone(zones.zone(name)))
        case .ofSet(.files(let pattern, let origin), let entry):
            .set(
                RuleSetLoader.Answer(
                    RuleFiles.files(matching: pattern.text, relativeTo: origin, entry: entry) {
                        PathPattern.matches(name: $0, pattern: $1)
                    }))
        case .systemTimeZone:
            .systemTimeZone(
                zones.system(variables["TZ"]).map { LoadInputs.ZoneFile(name: $0.name, octets: $0.octets) })
        case .names(let directory): .names(RuleFiles.names(of: directory))
        case .missingPrograms(let names): .missingPrograms(names.filter { !RuleFiles.isProgram($0) })
        }
    }

    /// The last runs of the rules in the daemon that a configuration belongs to.
    func lastRuns(_ configuration: String) -> LastRunsAnswer {
        let candidates = ControlSocket.candidates(
            chosen: nil, configured: ControlSocket.configured(configuration, environment: variables),
            runtimeDirectory: variables["XDG_RUNTIME_DIR"])
        let answer: JSONValue?
        do throws(ControlClientFailure) {
            let client = try ControlSocket.first(of: candidates) { path throws(ControlClientFailure) in
                try ControlClient(path: path, connectingWithin: DiskFiles.timeLimit)
            }
            answer = try client.ask(.request(RuleRequestName.rules), within: DiskFiles.timeLimit)
        } catch {
            switch error {
            case .notRunning, .notPermitted: return .notRunning
            case .closed, .timedOut, .lineTooLong, .system: return .silent
            }
        }
        guard let rules = try? answer?.requestOutcome.get().arrayValue else { return .silent }
        let now = SystemEnvironment.wallClock
        return .runs(
            rules.compactMap { rule in
                guard let id = rule["id"]?.stringValue, let run = rule["last_run"],
                    let result = run["result"]?.stringValue
                else { return nil }
                let start = run["started_at"]?.stringValue.flatMap { UTCTime(parsing: $0) }
                return LastRun(
                    rule: id, result: result,
                    age: start.map { Quantity.span(seconds: (now.milliseconds - $0.milliseconds) / 1000) })
            })
    }
}
