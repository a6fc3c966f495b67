import ButtonModel
import CommandSupport
import CommandText
import Hub
import JSON
import MQTTTopics
import Rules

/// Replays a history with the rules that ran, for `tryck history`.
struct HistoryRun {
    enum Occurrence: Hashable, Sendable {
        /// A line of the live stream.
        case line(JSONValue, at: UTCTime)
        /// A part of the history is left out; a sentence without its full stop.
        case gap(String)
    }

    private let beginning: UTCTime?
    private let button: String?
    private var house: ReplayedHouse?
    private var cache = RuleSetCache()
    /// The rules that could not be read last; `nil` once others could be read.
    private var unreadable: ReplayRun.UnreadableRules?
    /// The names and ids of the buttons that have events.
    private var known: (names: Set<String>, ids: Set<String>) = ([], [])
    /// True if a part of the history is of an engine with buttons of sites.
    private var hasSites = false
    /// The runs that `button` has started.
    private var runs: Set<Int64> = []

    /// - Parameters:
    ///   - beginning: what happened before is left out.
    ///   - button: the name or id of the only button of interest; `nil` for everything.
    init(since beginning: UTCTime?, button: String?) {
        self.beginning = beginning
        self.button = button
    }

    /// - Returns: what is shown, and false for `isUsable` if the rest of the segment cannot be used.
    mutating func take(_ item: HistoryFiles.Item) -> (occurrences: [Occurrence], isUsable: Bool) {
        do {
            return (try occurrences(of: item), true)
        } catch {
            let reason = item.gap(error, in: house)
            house = nil
            // A process whose rules cannot be read has the same rules in each of its segments.
            let unreadable = error as? ReplayRun.UnreadableRules
            defer { self.unreadable = unreadable }
            if let unreadable, unreadable == self.unreadable { return ([], false) }
            return ([.gap(reason)], false)
        }
    }

    private mutating func occurrences(of item: HistoryFiles.Item) throws -> [Occurrence] {
        switch item {
        case .gap(let reason, _): return [.gap(reason)]
        case .begin(let header):
            runs = []
            hasSites = hasSites || header.hasSites
            house = ReplayedHouse(header, rules: try cache.set(header.rules))
            unreadable = nil
            guard !header.continues else { return [] }
            let line: JSONValue = [
                "kind": "start", "version": .string(header.configuration.version),
                "buttons": .integer(Int64(header.stored.buttons.count)),
            ]
            return button == nil ? shown([line], at: header.startedAt) : []
        case .input(let input):
            let set = try input.rulesToLoad.map { try cache.set($0) }
            let moments = try house?.take(input, rules: set) ?? []
            return input.isRepeated ? [] : moments.flatMap { shown($0) }
        case .end(let end):
            defer { house = nil }
            return try house?.finish(end).flatMap { shown($0) } ?? []
        }
    }

    /// Says that `button` has no events; `nil` if it has some.
    var missing: String? {
        guard let button, !known.names.contains(button), !known.ids.contains(button) else { return nil }
        return HistoryOptions.noEvents(of: button, known: known.names)
    }

    /// What the history of an engine does not have.
    static let withoutSites =
        "the history of an engine has no presses of sites, and nothing that rules did because of them; the histories of the sites "
        + "have their presses"

    /// A sentence without its full stop; `nil` if nothing is missing.
    var absence: String? { hasSites ? Self.withoutSites : nil }

    private mutating func shown(_ moment: ReplayedHouse.Moment) -> [Occurrence] {
        guard let button else { return shown(moment.lines, at: moment.time) }
        var lines: [JSONValue] = []
        // In the live stream, a message appears when the broker takes it, which may be after later lines of its run. So the
        // lines about messages are made from the actions, and stand where the run published them.
        var actions = moment.actions.filter { $0.isMessage || $0.isLog }
        func takeMessages(of run: Int64, beforeLog: Bool) {
            while let index = actions.firstIndex(where: { $0.run == run }) {
                let action = actions.remove(at: index)
                if let line = action.line, runs.contains(run) { lines.append(line) }
                if beforeLog, action.isLog { return }
            }
        }
        for line in moment.lines {
            let isButton = line["button"]?.stringValue == button || line["id"]?.stringValue == button
            if StreamKind(line) == .event {
                known.names.insert(line.text("button"))
                known.ids.insert(line.text("id"))
            }
            let run = line["run"]?.integerValue
            if isButton, let run { runs.insert(run) }
            if let run, StreamKind(line) == .ruleLog { takeMessages(of: run, beforeLog: true) }
            if let run, StreamKind(line) == .rule, line["outcome"] != "started" {
                takeMessages(of: run, beforeLog: false)
            }
            if StreamKind(line) == .publish, run != nil { continue }
            if isButton || run.map({ runs.contains($0) }) ?? false { lines.append(line) }
        }
        for action in actions where runs.contains(action.run) { if let line = action.line { lines.append(line) } }
        return shown(lines, at: moment.time)
    }

    private func shown(_ lines: [JSONValue], at time: UTCTime) -> [Occurrence] {
        guard beginning.map({ $0 <= time }) ?? true else { return [] }
        return lines.map { .line($0, at: time) }
    }
}

extension RuleAction {
    fileprivate var run: Int64 { Int64(clamping: step.run.rawValue) }
    fileprivate var isMessage: Bool { if case .message = action { true } else { false } }
    fileprivate var isLog: Bool { if case .log = action { true } else { false } }

    /// The line of the live stream about a message; `nil` for other actions.
    fileprivate var line: JSONValue? {
        guard case .message(.publish(let publish)) = action else { return nil }
        return [
            "kind": .string(StreamKind.publish.rawValue), "rule": .string(rule), "topic": .string(publish.topicName),
            "payload": .string(String(decoding: publish.payload, as: UTF8.self)),
            "qos": .integer(Int64(publish.qos)), "retain": .bool(publish.retain),
        ]
    }
}
