import ButtonModel

/// The last run of a rule in a daemon.
package struct LastRun: Hashable, Sendable {
    package var rule: String
    /// The outcome, such as `completed`, as `tryck rules` shows it.
    package var result: String
    /// How long ago the run began, such as `5 min`; `nil` if the daemon does not say.
    package var age: String?

    package init(rule: String, result: String, age: String?) {
        self.rule = rule
        self.result = result
        self.age = age
    }

    var title: String { "last run: \(result)\(age.map { ", \($0) ago" } ?? "")" }
}

/// The answer to `LanguageServer.Effect.askDaemon`.
package enum LastRunsAnswer: Hashable, Sendable {
    /// The last runs of the rules that have run.
    case runs([LastRun])
    /// No daemon listens, which is found out at once.
    case notRunning
    /// A daemon did not answer in time.
    case silent
}

/// The answers of the daemons of the configurations about their rules, and when the daemons are asked again.
///
/// Editors request lenses after each change of a text. A daemon is therefore asked only now and then, and rarely if it did not
/// answer, because the lenses wait for it.
struct LastRuns: Sendable {
    /// How long an answer is used.
    static let lifetime = Duration.seconds(5)
    /// How long a daemon is left alone that did not answer in time.
    static let pause = Duration.seconds(60)

    private struct Known: Sendable {
        var runs: [String: LastRun]
        var nextRequest: Instant
    }

    /// By the path of the configuration.
    private var known: [String: Known] = [:]

    /// True if the daemon is to be asked before lenses are shown.
    func isDue(_ configuration: String, at now: Instant) -> Bool {
        known[configuration].map { $0.nextRequest <= now } ?? true
    }

    /// The last run of a rule; `nil` if it is not known.
    func run(of rule: String, _ configuration: String) -> LastRun? { known[configuration]?.runs[rule] }

    mutating func take(_ answer: LastRunsAnswer, _ configuration: String, at now: Instant) {
        var runs: [String: LastRun] = [:]
        var pause = LastRuns.lifetime
        switch answer {
        case .runs(let answered): for run in answered { runs[run.rule] = run }
        case .notRunning: break
        case .silent: pause = LastRuns.pause
        }
        known[configuration] = Known(runs: runs, nextRequest: now + pause)
    }

    mutating func keepOnly(_ configurations: Set<String>) {
        known = known.filter { configurations.contains($0.key) }
    }
}
