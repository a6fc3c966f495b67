import LanguageServer
import RuleLoader
import Setup

/// Answers the language server's requests from the disk of this machine.
struct DiskFiles {
    /// The environment variables.
    let variables: [String: String]
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
}
