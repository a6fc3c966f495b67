import ArgumentParser
import ButtonModel
import CommandSupport
import JSON
import LanguageServer
import Platform
import Reactor
import RuleLoader
import Synchronization

extension BenchCommand {
    struct Complete: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "complete",
            abstract: "Measure how long an editor waits for completions in a large rule set.",
            discussion: """
                Opens ten thousand rules in a language server, types lines into one of them, and asks for a completion after \
                each character. Prints the time of one core for a character with its completion, for a completion that comes \
                when a check of the rules is due or under way, and for the check itself, which takes a thread of its own and \
                during which other requests wait. Also prints how long completions take while a check runs on such a thread. \
                Build for release first: swift build -c release

                  tryck-bench complete
                  tryck-bench complete --rules 1000
                """)

        @Option(help: "The number of rules.")
        var rules = 10_000
        @Option(help: "How often the lines are typed.")
        var times = 3

        func validate() throws {
            guard (1...100_000).contains(rules) else { throw ValidationError("--rules takes 1 to 100000") }
            guard (1...1_000).contains(times) else { throw ValidationError("--times takes 1 to 1000") }
        }

        func run() throws {
            var bench = BenchCompletion(rules: rules)
            Output.standardOutput.write(text: try bench.run(times: times))
        }
    }
}

/// An editor that types into a large rules file. Its disk is empty and its clock stands still but for the delay of checks, so
/// that only the server is measured.
private struct BenchCompletion {
    private static let uri: JSONValue = "file:///r/home.yaml"
    /// The lines that are typed at the end of a rule: keys, a name of a state, a name of a script, and ids of rules.
    private static let lines = [
        "    cooldown: 1s", "    description: text", "    conditions: states.lux < 20 and not variables.guest",
        "    on_error: {script: light, with: {lamp: hall}}", "    on_error: {enable: rule123}",
    ]

    private let text: [UInt8]
    /// The line, from 0, below a rule in the middle of the file.
    private let line: Int64
    private let rules: Int
    private var server = LanguageServer(variables: [:], version: "1")
    private var now = Instant(sinceBoot: .seconds(100))
    private var version: Int64 = 1
    private var lastID: Int64 = 0
    private var answerCount = 0

    init(rules: Int) {
        self.rules = rules
        text = BenchRuleFile.text(rules: rules)
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let rule = lines.firstIndex { $0 == "  - id: rule\(rules / 2)" } ?? 0
        line = Int64(lines[(rule + 1)...].firstIndex { $0.hasPrefix("  - id:") } ?? rule + 1)
    }

    mutating func run(times: Int) throws(Failure) -> String {
        give(message("initialize", ["capabilities": [:]], isRequest: true))
        let opening = try coreTime {
            give(
                message(
                    "textDocument/didOpen",
                    [
                        "textDocument": [
                            "uri": Self.uri, "version": 1, "text": .string(String(decoding: text, as: UTF8.self)),
                        ]
                    ]
                ))
        }
        var completions: [Int64] = []
        var duringDelay: [Int64] = []
        var duringCheck: [Int64] = []
        var checks: [Int64] = []
        for _ in 0..<times {
            for typed in Self.lines {
                change(at: 0, removing: 0, "\n")
                for (column, character) in typed.unicodeScalars.enumerated() {
                    let (column, request) = (Int64(column), completionRequest(at: Int64(column) + 1))
                    let time = try coreTime {
                        change(at: column, removing: 0, String(character))
                        give(request)
                    }
                    completions.append(Int64(time))
                }
                now = now + LanguageServer.delay
                // The completion comes first, so its time ends with its answer, and the check is done then.
                let times = try completionsBesideCheck(at: Int64(typed.unicodeScalars.count))
                duringDelay.append(times.before)
                duringCheck.append(times.during)
                checks.append(times.check)
                change(at: 0, removing: Int64(typed.unicodeScalars.count), "")
            }
        }
        let besideThread = try completionsBesideThread(times: times)
        guard
            answerCount == completions.count + duringDelay.count + duringCheck.count + besideThread.elapsed.count + 1
        else {
            throw Failure(.unavailable, "The language server has not answered each request.")
        }
        return """
            \(rules) rules, \(text.count { $0 == 10 }) lines, \(completions.count) completions; time of one core
            opening                    \(Self.milliseconds(Int64(opening)))
            character and completion   \(Self.row(completions))
            completion, check is due   \(Self.row(duringDelay))
            completion during a check  \(Self.row(duringCheck))
            check                      \(Self.row(checks))
            while a check runs on a thread, \(besideThread.elapsed.count) completions
            time of one core           \(Self.row(besideThread.core))
            elapsed                    \(Self.row(besideThread.elapsed))

            """
    }

    /// Replaces characters of the typed line, and with a line feed inserts the line.
    private mutating func change(at column: Int64, removing count: Int64, _ text: String) {
        version += 1
        // A removed line includes its end.
        let end: JSONValue =
            text.isEmpty
            ? ["line": .integer(line + 1), "character": 0]
            : ["line": .integer(line), "character": .integer(column + count)]
        give(
            message(
                "textDocument/didChange",
                [
                    "textDocument": ["uri": Self.uri, "version": .integer(version)],
                    "contentChanges": [
                        [
                            "range": ["start": ["line": .integer(line), "character": .integer(column)], "end": end],
                            "text": .string(text),
                        ]
                    ],
                ]))
    }

    /// The times for a completion when a check is due, for one during the check, and for the check.
    private mutating func completionsBesideCheck(
        at column: Int64
    ) throws(Failure) -> (before: Int64, during: Int64, check: Int64) {
        let requests = [completionRequest(at: column), completionRequest(at: column)]
        let count = answerCount
        var effects: [LanguageServer.Effect] = []
        let before = try coreTime { effects = server.handle(.received(requests[0]), at: now) }
        var later: [LanguageServer.Effect] = []
        let during = try coreTime { later = server.handle(.received(requests[1]), at: now) }
        perform(later)
        guard answerCount == count + 1 else { throw Failure(.unavailable, "The completion has waited for the check.") }
        let check = try coreTime { perform(effects) }
        guard answerCount == count + 2 else { throw Failure(.unavailable, "A completion was not answered.") }
        return (Int64(before), Int64(during), Int64(check))
    }

    /// The times of completions that follow one another while a check runs on a thread, as in `tryck language-server`.
    private mutating func completionsBesideThread(
        times: Int
    ) throws(Failure) -> (core: [Int64], elapsed: [Int64]) {
        var core: [Int64] = []
        var elapsed: [Int64] = []
        let clock = ContinuousClock()
        let typed = Self.lines[0]
        change(at: 0, removing: 0, "\n")
        change(at: 0, removing: 0, typed)
        for _ in 0..<times {
            change(at: 0, removing: 1, " ")
            now = now + LanguageServer.delay
            let checked = BackgroundCheck()
            var isRunning = false
            for effect in server.handle(.timerFired, at: now) {
                guard case .check(let check) = effect else { continue }
                isRunning = HelperThread { checked.end(with: check.run(answering: Self.answer)) }.start()
            }
            guard isRunning else { throw Failure(.unavailable, "No check has begun on a thread.") }
            var result: SetCheck?
            while result == nil {
                let request = completionRequest(at: Int64(typed.unicodeScalars.count))
                let start = clock.now
                let time = try coreTime { give(request) }
                elapsed.append(Int64((clock.now - start) / .nanoseconds(1)))
                core.append(Int64(time))
                result = checked.take()
            }
            if let result { perform(server.handle(.checked(result), at: now)) }
        }
        return (core, elapsed)
    }

    private mutating func completionRequest(at column: Int64) -> [UInt8] {
        message(
            "textDocument/completion",
            [
                "textDocument": ["uri": Self.uri],
                "position": ["line": .integer(line), "character": .integer(column)],
            ], isRequest: true)
    }

    private mutating func message(_ method: String, _ parameters: JSONValue, isRequest: Bool = false) -> [UInt8] {
        var members: [JSONValue.Member] = [.init("method", .string(method)), .init("params", parameters)]
        if isRequest {
            lastID += 1
            members.append(.init("id", .integer(lastID)))
        }
        let octets = JSONValue.object(members).encoded()
        return Array("Content-Length: \(octets.count)\r\n\r\n".utf8) + octets
    }

    private mutating func give(_ octets: [UInt8]) { perform(server.handle(.received(octets), at: now)) }

    private mutating func perform(_ effects: [LanguageServer.Effect]) {
        var effects = effects[...]
        while let effect = effects.popFirst() {
            switch effect {
            case .send(let octets):
                // Notifications of the server have no identifier.
                if String(decoding: octets.prefix(200), as: UTF8.self).contains("\"id\":") { answerCount += 1 }
            case .find(let request): effects += server.handle(.found(Self.answer(to: request)), at: now)
            case .check(let check): effects += server.handle(.checked(check.run(answering: Self.answer)), at: now)
            case .askDaemon: effects += server.handle(.lastRuns(.notRunning), at: now)
            case .setTimer, .exit: break
            }
        }
    }

    private static func answer(to request: DiskRequest) -> DiskAnswer {
        switch request {
        case .file, .ofSet(.files, _): .set(.noSuchFile)
        case .ofSet(.timeZone, _): .set(.timeZone(nil))
        case .systemTimeZone: .systemTimeZone(nil)
        case .missingPrograms: .missingPrograms([])
        case .names: .names([])
        }
    }

    private static func row(_ samples: [Int64]) -> String {
        let sorted = samples.sorted()
        guard let last = sorted.last else { return "none" }
        return "median \(milliseconds(sorted[sorted.count / 2])), longest \(milliseconds(last))"
    }

    private static func milliseconds(_ nanoseconds: Int64) -> String { "\(Double(nanoseconds / 10_000) / 100) ms" }
}

/// The result of a check that runs on a thread.
private final class BackgroundCheck: Sendable {
    private let result = Mutex<SetCheck?>(nil)

    func end(with check: SetCheck) { result.withLock { $0 = check } }

    func take() -> SetCheck? { result.withLock { $0 } }
}
