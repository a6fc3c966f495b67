package import ButtonModel
package import CommandSupport
import Diagnostics
import Hub
package import JSON
import Platform
import Rules
import Setup

/// The history of a state directory, as `tryck history --json` and `tryck what-if --json` show it, for other programs.
///
/// Reading takes up to a second for each few MiB, so an event loop leaves it to a helper thread. No daemon is needed, and one that runs
/// is not disturbed.
package enum Past {
    package enum Occurrence: Hashable, Sendable {
        /// A line of `tryck history --json`.
        case line(JSONValue)
        /// A part of the history cannot be shown; a sentence without its full stop.
        case gap(String)
    }

    /// Calls a function with each line of `tryck history --json` and each gap, in order.
    ///
    /// - Parameters:
    ///   - beginning: of what is shown; `nil` for the whole history.
    ///   - end: what happened at this time or later is left out; `nil`: nothing is.
    ///   - button: the name or id of the only button of interest; `nil` for everything.
    ///   - body: returns false to end.
    /// - Throws: `Failure` with status 69 if there is no history.
    package static func forEach(
        in stateDirectory: String, from beginning: UTCTime? = nil, to end: UTCTime? = nil, button: String? = nil,
        _ body: (Occurrence) -> Bool
    ) throws(Failure) {
        let files = try HistoryFiles(ofStateDirectory: stateDirectory)
        var run = HistoryRun(since: beginning, button: button)
        var isOver = false
        try files.read(since: beginning) { item in
            guard !isOver else { return false }
            let (occurrences, isUsable) = run.take(item)
            for occurrence in occurrences where !isOver {
                switch occurrence {
                case .gap(let reason): isOver = !body(.gap(reason))
                case .line(let line, let time):
                    if let end, time >= end { continue }
                    isOver = !body(.line(ReplayJSON.value(line, at: time)))
                }
            }
            return isUsable && !isOver
        }
    }

    /// The object of `tryck what-if --json` for drafts of rule files.
    ///
    /// - Parameters:
    ///   - drafts: texts of files by the names that the last rules of the history have for them, such as `rules/home.yaml`. They
    ///     replace those texts or are added. The other files stay.
    ///   - beginning: events before this time are not compared; `nil`: all are.
    ///   - button: the name or id of the only button of interest; `nil` for all.
    /// - Throws: `Failure` with status 69 if there is no history, and with status 78 and its `problems` if the rules have errors.
    package static func comparison(
        in stateDirectory: String, with drafts: [String: [UInt8]], since beginning: UTCTime? = nil,
        button: String? = nil
    ) throws(Failure) -> JSONValue {
        let files = try HistoryFiles(ofStateDirectory: stateDirectory)
        var rules = files.lastRules() ?? RecordedRules(files: [])
        for index in rules.files.indices {
            if let draft = drafts[rules.files[index].name] { rules.files[index].text = draft }
        }
        let known = Set(rules.files.map(\.name))
        for (name, text) in drafts.sorted(by: { $0.key < $1.key }) where !known.contains(name) {
            rules.files.append(RecordedRules.File(name: name, text: text))
        }
        let set: RuleSet
        do throws(ReplayRun.UnreadableRules) {
            set = try ReplayRun.load(rules)
        } catch {
            throw Failure(
                .configuration, "The rules have errors.", problems: error.diagnostics.problemList, report: error.report)
        }
        var comparison = Comparison(with: set, since: beginning, button: button)
        try files.read(since: beginning) { comparison.take($0) }
        return WhatIfText.json(comparison.result())
    }
}
