import ButtonModel
import CommandSupport
import CommandText
import Diagnostics
import Hub
import JSON
import MQTTTopics
import Platform
import RuleLoader
import Rules
import YAMLFiles

/// Replays a recording through the hub, line by line.
///
/// | before            | line                      | becomes           | and we                                  |
/// |-------------------|---------------------------|-------------------|-----------------------------------------|
/// | any               | header                    | a new hub         | load its rules, report the start        |
/// | a hub             | input                     | the same hub      | give it to the hub, report its lines    |
/// | a hub             | not JSON                  | the same hub, cut | wait for the next line                  |
/// | cut               | header                    | a new hub         | as above: the process before was stopped |
/// | cut               | any other                 |                   | fail                                    |
/// | nothing           | any but a header          |                   | fail                                    |
///
/// The sentence of a failure continues after the file's name.
struct ReplayRun {
    enum Occurrence: Hashable, Sendable {
        case began(RecordingHeader, ruleCount: Int)
        /// A line of the live stream.
        case line(JSONValue, at: UTCTime)
    }

    struct Summary: Hashable, Sendable {
        var presses = 0
        var gestures = 0
        var runs = 0
        var messages = 0
        var programs = 0
        var isCutOff = false
    }

    private struct Session {
        var hub: Hub
        var clock: (utc: UTCTime, at: Instant)
        var now = Instant(nanoseconds: 0)

        var time: UTCTime { clock.utc + (now - clock.at) }
    }

    /// A client that no recording contains.
    static let watcher = Hub.ClientID(rawValue: .max)

    private var session: Session?
    private var counts = Summary()
    /// A line that is not JSON, which is only valid as the last line of a process.
    private var cut: (line: RecordingReader.Line, failure: RecordingFailure)?

    mutating func take(_ line: RecordingReader.Line) throws(Failure) -> [Occurrence] {
        let parsed: RecordingLine
        do throws(RecordingFailure) {
            parsed = try RecordingLine(parsing: line.octets)
        } catch {
            if let cut { throw Self.failure(cut.failure, cut.line) }
            guard case .notJSON = error else { throw Self.failure(error, line) }
            guard session != nil else { throw Self.failure(.notARecording, line) }
            cut = (line, error)
            return []
        }
        switch parsed {
        case .header(let header):
            cut = nil
            return [.began(header, ruleCount: try begin(header))]
        case .input(let input):
            if let cut { throw Self.failure(cut.failure, cut.line) }
            guard let now = session?.now else { throw Self.failure(.notARecording, line) }
            // Time never goes back in a recording.
            guard input.at >= now else { throw Self.failure(.badMember("at_ns"), line) }
            session?.now = input.at
            if case .wallClock(let utc) = input.input { session?.clock = (utc, input.at) }
            return occurrences(of: session?.hub.replay(try Self.loading(input)) ?? [])
        }
    }

    /// The summary, after the last line.
    ///
    /// - Throws: `Failure` when the last line is whole but not a line of a recording, or when there was no line.
    func summary() throws(Failure) -> Summary {
        guard session != nil else { throw Failure(.configuration, "\(RecordingFailure.notARecording).") }
        guard let cut else { return counts }
        guard !cut.line.isWhole else { throw Self.failure(cut.failure, cut.line) }
        var counts = counts
        counts.isCutOff = true
        return counts
    }

    /// - Returns: the number of rules.
    private mutating func begin(_ header: RecordingHeader) throws(Failure) -> Int {
        let set = try Self.loadRecorded(header.rules)
        var hub = Hub(replaying: header, rules: set)
        let start = Instant(nanoseconds: 0)
        _ = hub.handle(.controlLine(Self.watcher, Array(#"{"request":"watch"}"#.utf8)), at: start)
        session = Session(hub: hub, clock: (header.startedAt, start))
        return set.rules.count
    }

    /// Rules that this version refuses.
    struct UnreadableRules: Error, Hashable, Sendable {
        /// The first error, in one line.
        var reason: String
        /// All errors, with their lines.
        var report: String
        var diagnostics: [Diagnostic]
    }

    static func load(_ rules: RecordedRules?) throws(UnreadableRules) -> RuleSet {
        guard let rules,
            let loaded = FileLoader.recordedRules(
                rules.files.map { SourceFile(name: $0.name, text: $0.text) }, timeZones: rules.timeZones,
                systemTimeZone: rules.systemTimeZone, forbiddenSteps: rules.forbiddenSteps,
                in: FileInputs(hasPlaceholders: true, identities: rules.identities))
        else { return RuleSet() }
        if let set = loaded.value { return set }
        let sources = Dictionary(rules.files.map { ($0.name, $0.text) }) { first, _ in first }
        let report = DiagnosticReport(loaded.diagnostics, sources: sources)
        throw UnreadableRules(
            reason: report.firstError, report: report.text(), diagnostics: loaded.diagnostics)
    }

    /// Loads the rules of a disk as a replay needs them: with placeholders for secrets, but with the real buttons.
    ///
    /// - Parameter real: the same rules with their secrets.
    static func load(_ rules: RecordedRules, as real: RuleSet) throws(UnreadableRules) -> RuleSet {
        var rules = rules
        for (value, placeholder) in real.placeholders { rules.identities[placeholder] = value }
        return try load(rules)
    }

    private static func loadRecorded(_ rules: RecordedRules?) throws(Failure) -> RuleSet {
        do throws(UnreadableRules) {
            return try load(rules)
        } catch {
            throw Failure(.configuration, "this version cannot read the rules of the recording:\n\(error.report)")
        }
    }

    /// The input, with the rule set that is to be loaded.
    private static func loading(_ input: RecordedInput) throws(Failure) -> RecordedInput {
        guard let rules = input.rulesToLoad, case .rulesLoaded(let id, var loaded) = input.input else { return input }
        var input = input
        loaded.set = try loadRecorded(rules)
        input.input = .rulesLoaded(id, loaded)
        return input
    }

    private mutating func occurrences(of effects: [Hub.Effect]) -> [Occurrence] {
        guard let time = session?.time else { return [] }
        var occurrences: [Occurrence] = []
        for effect in effects {
            switch effect {
            case .broadcast(_, let line):
                count(line)
                occurrences.append(.line(line, at: time))
            case .startJob(_, let job): if job.kind == .process { counts.programs += 1 }
            case .setTimer, .cancelTimer, .needsEntropy, .goOn, .openTransport, .closeTransport, .send, .bus, .source,
                .record, .sync, .subscribe, .unsubscribe, .publish, .uplink, .cancelJob, .loadRules, .discard,
                .readFirmware, .respond, .flicd, .pressSimulated, .log,
                .setLogLevel, .status, .writeMetrics, .finish:
                break
            }
        }
        return occurrences
    }

    private mutating func count(_ line: JSONValue) {
        let kind = StreamKind(line)
        if kind == .event {
            switch RawEvent(rawValue: line.text("event")) {
            case .down: counts.presses += 1
            case .up: break
            case nil: counts.gestures += 1
            }
        }
        if kind == .rule, line.text("outcome") == "started" { counts.runs += 1 }
        if kind == .publish { counts.messages += 1 }
    }

    private static func failure(_ failure: RecordingFailure, _ line: RecordingReader.Line) -> Failure {
        Failure(.configuration, "line \(line.number): \(failure).")
    }
}
