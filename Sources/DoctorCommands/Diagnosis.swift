import ButtonModel
import CommandSupport
import CommandText
import ControlClient
import JSON
import Platform
import Setup

/// Derives findings from observations: what is wrong, and which command corrects it.
///
/// The answer of a running daemon counts more than other observations, because the daemon holds the adapter and the
/// broker's session, and writes the state directory as its own user.
struct Diagnosis: Hashable, Sendable {
    private let seen: Observations
    private let status: JSONValue?

    init(_ observations: Observations) {
        seen = observations
        status = observations.status
    }

    /// A finding for each check that could be made, in the order in which problems are best mended.
    var findings: [Finding] {
        let directory = StateDirectoryDiagnosis(seen)
        let radios = RadioDiagnosis(seen)
        let connections = ConnectionDiagnosis(seen)
        return [
            clock, configuration, rules, directory.state, directory.space, directory.database, daemon, radios.adapter,
            radios.sharing, radios.signal, batteries, connections.sources, connections.broker, connections.uplink,
            connections.engine, connections.flicd,
        ].compactMap(\.self)
    }

    private var clock: Finding {
        guard seen.now < Version.builtAt else { return .ok(.clock, seen.now.description) }
        return .problem(
            .clock, "it shows \(seen.now), before this version was released: certificates and times of rules fail",
            mend: "sudo timedatectl set-ntp true")
    }

    private var configuration: Finding? {
        file(.configuration, seen.configuration, mend: seen.edit)
            ?? .ok(.configuration, "there is none: the defaults are used")
    }

    private var rules: Finding? {
        if case .unknown = seen.rules { return nil }
        let found = file(.rules, seen.rules, mend: "tryck check") ?? absentRules
        guard found.state == .ok else { return found }
        if seen.failingTests > 0 {
            return .warning(
                .rules, "tests fail: \(Quantity.count(Int64(seen.failingTests), "failure"))",
                mend: "tryck test")
        }
        guard status?["rules"]?.text("state") != "error" else {
            return .warning(.rules, "they have no errors, but the daemon has not loaded them yet", mend: "tryck reload")
        }
        if let sentence = status?["rules"]?["contradictions"]?.arrayValue?.first?.stringValue,
            case .good(let path, _, _) = seen.rules
        {
            return .warning(.rules, sentence, mend: Observations.edit(path, then: "tryck reload"))
        }
        if let sentence = status?["rules"]?["notices"]?.arrayValue?.first?.stringValue {
            let hasRules = status?["rules"]?["loaded"]?.integerValue ?? 0 > 0
            return .warning(
                .rules, sentence,
                mend: hasRules ? "tryck pair" : Observations.edit(seen.rulesPath, then: "tryck reload"))
        }
        return found
    }

    /// A site may leave all rules to its engines.
    private var absentRules: Finding {
        guard !seen.isSite, status?["uplink"]?["topic"]?.stringValue == nil else {
            return .ok(.rules, "none: its engines have the rules")
        }
        return .warning(
            .rules, "none: \(seen.rulesPath) does not exist: create it, or put tryck.yaml beside your rules",
            mend: Observations.edit(seen.rulesPath, then: "tryck reload"))
    }

    private func file(_ check: Finding.Check, _ file: Observations.File, mend: String) -> Finding? {
        switch file {
        case .absent, .unknown: nil
        case .good(let name, let content, warnings: 0): .ok(check, "\(name): \(content)")
        case .good(let name, _, let warnings):
            .warning(
                check, "\(name) has \(Quantity.count(Int64(warnings), "warning"))",
                mend: "tryck check \(name.shellWord)")
        case .bad(let name, let errors, let position, let code):
            .problem(
                check, "\(name) has \(Quantity.count(Int64(errors), "error")), the first at \(position) (\(code))",
                mend: "tryck check \(name.shellWord)")
        case .unusable(let sentence): .problem(check, sentence.asFinding, mend: mend)
        }
    }

    private var batteries: Finding? {
        guard let buttons = seen.buttons else { return nil }
        let low = buttons.filter { $0["battery_low"]?.boolValue == true }.map { $0.text("name").visible }
        guard !low.isEmpty else { return .ok(.batteries, "none is low") }
        let others = low.count > 3 ? " and \(Quantity.count(Int64(low.count - 3), "other"))" : ""
        return .warning(
            .batteries, "low: \(low.prefix(3).joined(separator: ", "))\(others): change it, a CR2032",
            mend: "tryck buttons")
    }

    private var daemon: Finding {
        switch seen.daemon {
        case .status(let status) where status.text("version") != Version.string:
            .warning(
                .daemon, "the daemon has version \(status.text("version")), this command \(Version.string)",
                mend: "sudo systemctl restart tryck")
        case .status(let status):
            .ok(
                .daemon,
                "\(status.text("version")), up \(Quantity.span(seconds: status["uptime_s"]?.integerValue ?? 0))")
        case .silent(.notPermitted(let path)):
            .problem(
                .daemon, "\(seen.user) has no permission to use \(path)", mend: "sudo usermod -aG tryck \(seen.user)")
        case .silent(.notRunning(let path)):
            .problem(
                .daemon, "no daemon listens on \(path)",
                mend: path == ControlSocket.systemPath
                    ? "sudo systemctl start tryck"
                    : seen.configuration == .absent
                        ? "sudo tryck run" : "tryck run --config \(seen.configurationPath.shellWord)")
        case .silent(let failure): .problem(.daemon, "\(failure)", mend: "journalctl -u tryck -n 50")
        }
    }
}
