import ButtonModel
import JSON
import Rules

/// An action that the rules performed in a test.
struct PerformedAction {
    var action: Action
    /// The time since the latest `expect`.
    var after: Duration

    /// True if the action is a log line that a test may leave out of `expect`.
    var isQuietLog: Bool {
        switch action {
        case .log(let level, _): level == .debug || level == .info
        case .message, .external: false
        }
    }

    /// The action as failures show it. Of the environment of a program, the variables of its step are shown, and those that a
    /// test expects.
    ///
    /// - Parameter wanted: the effects that the test expects.
    func text(besides wanted: [ExpectedEffect]) -> String {
        switch action {
        case .message(.publish(let publish)):
            "publish \(publish.topicName) \(String(decoding: publish.payload, as: UTF8.self))"
        case .external(.process(let process)):
            (PerformedAction.words(of: process)
                + process.shownVariables(besides: Set(wanted.flatMap(\.environment).map(\.name)))
                + [process.directory.map { "cwd \($0)" }].compactMap(\.self)
                + (process.standardInput.isEmpty
                    ? [] : ["stdin", String(decoding: process.standardInput, as: UTF8.self)]))
                .joined(separator: " ")
        case .external(.http(let request)):
            "http \(request.method) \(request.url) \(String(decoding: request.body, as: UTF8.self))"
        case .log(let level, let message): "log \(level.rawValue) \(message)"
        }
    }

    /// The word for the step, then the script or program with its arguments.
    private static func words(of process: ProcessAction) -> [String] {
        guard process.isShell else { return ["run"] + process.arguments }
        return ["shell"] + process.arguments.dropFirst(2).prefix(1) + process.arguments.dropFirst(4)
    }
}

extension ExpectedEffect {
    /// True if an action agrees with everything that the test expects of it.
    func matches(_ happened: PerformedAction) -> Bool {
        if let at, at != happened.after { return false }
        switch (kind, happened.action) {
        case (.publish(let topic, let payload, let qos, let retain), .message(.publish(let publish))):
            return matches(topic, publish.topicName) && matches(payload, publish.payload) && matches(qos, publish.qos)
                && matches(retain, publish.retain)
        case (.run(let arguments, let environment, let directory, let stdin), .external(.process(let process))):
            return !process.isShell && matches(arguments, process.arguments)
                && matches(environment, directory, stdin, process)
        case (
            .shell(let script, let arguments, let environment, let directory, let stdin),
            .external(.process(let process))
        ):
            return process.isShell && matches(script, process.arguments.dropFirst(2).first ?? "")
                && matches(arguments, Array(process.arguments.dropFirst(4)))
                && matches(environment, directory, stdin, process)
        case (.http(let url, let method, let headers, let body), .external(.http(let request))):
            return matches(url, request.url) && matches(method, request.method) && matches(body, request.body)
                && headers.allSatisfy { wanted in
                    request.headers.contains {
                        $0.lowercased().hasPrefix("\(wanted.name.lowercased()): ")
                            && $0.dropFirst(wanted.name.count + 2) == wanted.value
                    }
                }
        case (.log(let level, let message), .log(let happenedLevel, let happenedMessage)):
            return matches(level, happenedLevel) && matches(message, happenedMessage)
        case (.publish, _), (.run, _), (.shell, _), (.http, _), (.log, _):
            return false
        }
    }

    private func matches<Value: Equatable>(_ wanted: Value?, _ value: Value) -> Bool {
        wanted.map { $0 == value } ?? true
    }

    private func matches(
        _ environment: [ExpectedField], _ directory: String?, _ stdin: String?, _ process: ProcessAction
    ) -> Bool {
        environment.allSatisfy { process.value(ofVariable: $0.name) == $0.value }
            && (directory == nil || directory == process.directory)
            && matches(stdin.map { Array($0.utf8) }, process.standardInput)
    }

    private func matches(_ wanted: ExpectedContent?, _ octets: [UInt8]) -> Bool {
        switch wanted {
        case nil: true
        case .text(let text): Array(text.utf8) == octets
        case .json(let value): (try? JSONValue(parsing: octets)).map { $0.isSame(as: value) } ?? false
        case .jsonIncluding(let value): (try? JSONValue(parsing: octets)).map { $0.includes(value) } ?? false
        }
    }

    /// The lines that explain how the JSON of an action differs; empty if both are not the same kind of action with JSON.
    func differences(of happened: PerformedAction) -> [String] {
        switch (kind, happened.action) {
        case (.publish(_, let payload, _, _), .message(.publish(let publish))):
            payload?.differences(of: publish.payload) ?? []
        case (.http(_, _, _, let body), .external(.http(let request))): body?.differences(of: request.body) ?? []
        case (.publish, _), (.run, _), (.shell, _), (.http, _), (.log, _): []
        }
    }

    var isLog: Bool { if case .log = kind { true } else { false } }

    /// The environment variables that are expected.
    var environment: [ExpectedField] {
        switch kind {
        case .run(_, let environment, _, _), .shell(_, _, let environment, _, _): environment
        case .publish, .http, .log: []
        }
    }

    var text: String {
        let words: [String?] =
            switch kind {
            case .publish(let topic, let payload, let qos, let retain):
                ["publish", topic, payload?.text, qos.map { "qos \($0)" }, retain.map { "retain \($0)" }]
            case .run(let arguments, let environment, let directory, let stdin):
                ["run", arguments?.joined(separator: " ")] + ExpectedEffect.words(environment, directory, stdin)
            case .shell(let script, let arguments, let environment, let directory, let stdin):
                ["shell", script, arguments?.joined(separator: " ")]
                    + ExpectedEffect.words(environment, directory, stdin)
            case .http(let url, let method, let headers, let body):
                ["http", method, url, body?.text] + headers.map { "\($0.name): \($0.value)" }
            case .log(let level, let message): ["log", level?.rawValue, message]
            }
        return (words + [at.map { "at \($0.milliseconds)ms" }]).compactMap(\.self).joined(separator: " ")
    }

    private static func words(_ environment: [ExpectedField], _ directory: String?, _ stdin: String?) -> [String?] {
        environment.map { "\($0.name)=\($0.value)" } + [directory.map { "cwd \($0)" }, stdin.map { "stdin \($0)" }]
    }
}

extension ProcessAction {
    /// The value of an environment variable of the program; `PATH` is that of every program, unless the step sets it.
    fileprivate func value(ofVariable name: String) -> String? {
        let prefix = "\(name)="
        if let variable = environment.last(where: { $0.hasPrefix(prefix) }) {
            return String(variable.dropFirst(prefix.count))
        }
        return name == "PATH" ? ProcessAction.searchPath : nil
    }

    /// The variables that the step sets, and those of these names, as `NAME=value`.
    fileprivate func shownVariables(besides names: Set<String>) -> [String] {
        let own = ownVariables
        let others = names.sorted().filter { name in !own.contains { $0.hasPrefix("\(name)=") } }
        return others.compactMap { name in value(ofVariable: name).map { "\(name)=\($0)" } } + own
    }
}

extension ExpectedContent {
    fileprivate var text: String {
        switch self {
        case .text(let text): text
        case .json(let value): value.description
        case .jsonIncluding(let value): "including \(value)"
        }
    }
}

extension JSONValue {
    /// True if two values are equal, regardless of the order of members; 1 equals 1.0.
    func isSame(as other: JSONValue) -> Bool {
        switch (self, other) {
        case (.integer(let left), .number(let right)): Double(left) == right
        case (.number(let left), .integer(let right)): left == Double(right)
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.isSame(as: $1) }
        case (.object(let left), .object(let right)):
            left.count == right.count
                && left.allSatisfy { member in other[member.name].map { member.value.isSame(as: $0) } ?? false }
        case (.null, _), (.bool, _), (.integer, _), (.number, _), (.string, _), (.array, _), (.object, _):
            self == other
        }
    }
}
