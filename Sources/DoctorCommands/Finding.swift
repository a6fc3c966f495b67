import CommandSupport
import JSON

/// The result of one check.
struct Finding: Hashable, Sendable {
    enum Check: String, CaseIterable, Hashable, Sendable {
        case clock, configuration, rules, daemon, adapter, sharing, signal, batteries, sources, broker, uplink, engine,
            flicd,
            state, space, database

        /// False for what `status` says as well, and for what only the daemon's user can see.
        var isSeenBesideDaemon: Bool {
            switch self {
            case .clock, .configuration, .rules, .sharing, .signal, .sources, .uplink, .engine, .flicd: true
            case .daemon, .adapter, .batteries, .broker, .state, .space, .database: false
            }
        }
    }

    enum State: String, Hashable, Sendable {
        case ok
        /// The part works, but needs attention.
        case warning
        case problem
    }

    var check: Check
    var state: State
    /// A sentence without a full stop. It quotes no file, so it contains no secret.
    var sentence: String
    /// The command that mends the problem, or helps to mend it.
    var mend: String?

    static func ok(_ check: Check, _ sentence: String) -> Finding {
        Finding(check: check, state: .ok, sentence: sentence)
    }

    static func warning(_ check: Check, _ sentence: String, mend: String) -> Finding {
        Finding(check: check, state: .warning, sentence: sentence, mend: mend)
    }

    static func problem(_ check: Check, _ sentence: String, mend: String) -> Finding {
        Finding(check: check, state: .problem, sentence: sentence, mend: mend)
    }
}

/// The output of `tryck doctor`.
///
///     ✓ clock          2026-11-22T02:30:00.000Z
///     ✗ broker         the connection to localhost:1883 was refused: is mosquitto running there, and listening on that port?
///         sudo systemctl restart mosquitto
enum FindingText {
    static func lines(_ findings: [Finding], style: Style) -> [Line] {
        findings.flatMap { finding in
            let (mark, ink): (String, Ink) =
                switch finding.state {
                case .ok: (style.checkMark, .good)
                case .warning: ("!", .doubtful)
                case .problem: (style.cross, .bad)
                }
            let title = finding.check.rawValue.padded(to: 14)
            return [Line(mark.padded(to: style.cross.columns), ink) + (" " + title, .strong) + " \(finding.sentence)"]
                + (finding.mend.map { [Line("    \($0)")] } ?? [])
        }
    }

    static func json(_ findings: [Finding]) -> JSONValue {
        [
            "ok": .bool(findings.allSatisfy { $0.state != .problem }),
            "findings": .array(
                findings.map { finding in
                    [
                        "check": .string(finding.check.rawValue), "state": .string(finding.state.rawValue),
                        "sentence": .string(finding.sentence), "mend": finding.mend.map { .string($0) } ?? .null,
                    ]
                }),
        ]
    }
}
