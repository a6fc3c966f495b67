import ButtonModel
import JSON
import LanguageServer
import RuleLoader
import YAMLFiles

/// An editor with a disk in memory, which talks to a language server and keeps what it answers.
struct Editor {
    var server: LanguageServer
    var disk: [String: SourceFile] = [:]
    var programs: Set<String> = ["mpc"]
    var zones: [String: [UInt8]] = [:]
    /// What the daemon says about its rules.
    var lastRuns = LastRunsAnswer.notRunning
    /// True if daemons take long to answer: `answerDaemon` gives the answer.
    var holdsDaemons = false
    /// The configurations whose daemons were asked, in the order of the requests.
    private(set) var askedDaemons: [String] = []
    private(set) var now = Instant(sinceBoot: .seconds(100))
    private(set) var timer: Instant?
    /// All messages of the server, in their order.
    private(set) var messages: [JSONValue] = []
    /// The last diagnostics of each URI.
    private(set) var diagnostics: [String: JSONValue] = [:]
    private(set) var exitStatus: Int32?
    /// How often the server has asked for something on the disk.
    private(set) var requestCount = 0
    /// True if checks take long: what the server is given meanwhile comes before their results.
    var holdsChecks = false
    private(set) var heldCheck: SetCheck?
    private var nextID: Int64 = 1
    /// The octets that the server has sent and that are not a whole message yet.
    private var received: [UInt8] = []

    init(_ disk: [String: String] = [:], variables: [String: String] = ["HOME": "/root"]) {
        server = LanguageServer(variables: variables, version: "1")
        for (path, text) in disk { self.disk[path] = SourceFile(name: path, text: Array(text.utf8)) }
    }

    /// An editor that has initialized the server.
    static func ready(_ disk: [String: String] = [:], capabilities: JSONValue = [:]) -> Editor {
        var editor = Editor(disk)
        editor.request("initialize", ["capabilities": capabilities])
        editor.notify("initialized", [:])
        return editor
    }

    // MARK: Talking

    /// Ends the check that was held, and holds no further ones.
    mutating func finishCheck() {
        holdsChecks = false
        guard let check = heldCheck else { return }
        heldCheck = nil
        let checked = carryOut(check)
        give(.checked(checked))
    }

    /// Gives the answer of the daemon that was asked.
    mutating func answerDaemon() { give(.lastRuns(lastRuns)) }

    private mutating func carryOut(_ check: SetCheck) -> SetCheck {
        var count = 0
        let checked = check.run { request in
            count += 1
            return answer(to: request)
        }
        requestCount += count
        return checked
    }

    mutating func give(_ input: LanguageServer.Input) {
        var effects = server.handle(input, at: now)[...]
        while let effect = effects.popFirst() {
            switch effect {
            case .send(let octets): receive(octets)
            case .find(let request):
                requestCount += 1
                effects += server.handle(.found(answer(to: request)), at: now)
            case .check(let check):
                guard !holdsChecks else {
                    heldCheck = check
                    continue
                }
                let checked = carryOut(check)
                effects += server.handle(.checked(checked), at: now)
            case .askDaemon(let configuration):
                askedDaemons.append(configuration)
                if !holdsDaemons { effects += server.handle(.lastRuns(lastRuns), at: now) }
            case .setTimer(let time): timer = time
            case .exit(let status): exitStatus = status
            }
        }
    }

    mutating func send(_ message: JSONValue) { give(.received(Editor.frame(message))) }

    static func frame(_ message: JSONValue) -> [UInt8] {
        let octets = message.encoded()
        return Array("Content-Length: \(octets.count)\r\n\r\n".utf8) + octets
    }

    @discardableResult
    mutating func request(_ method: String, _ parameters: JSONValue) -> JSONValue {
        let id = nextID
        nextID += 1
        send(["jsonrpc": "2.0", "id": .integer(id), "method": .string(method), "params": parameters])
        return messages.last { $0["id"] == .integer(id) } ?? .null
    }

    /// The result of a request about a position of a document.
    @discardableResult
    mutating func ask(
        _ method: String, _ path: String, _ line: Int, _ character: Int, _ more: [JSONValue.Member] = []
    ) -> JSONValue {
        request(
            "textDocument/\(method)",
            .object(
                [
                    .init("textDocument", ["uri": .string(Editor.uri(path))]),
                    .init("position", ["line": .integer(Int64(line)), "character": .integer(Int64(character))]),
                ] + more))
    }

    mutating func notify(_ method: String, _ parameters: JSONValue) {
        send(["jsonrpc": "2.0", "method": .string(method), "params": parameters])
    }

    mutating func open(_ path: String, _ text: String? = nil) {
        let text = text ?? String(decoding: disk[path]?.text ?? [], as: UTF8.self)
        notify(
            "textDocument/didOpen",
            [
                "textDocument": [
                    "uri": .string(Editor.uri(path)), "languageId": "yaml", "version": 1, "text": .string(text),
                ]
            ])
    }

    mutating func change(_ path: String, version: Int64, _ changes: JSONValue...) {
        notify(
            "textDocument/didChange",
            [
                "textDocument": ["uri": .string(Editor.uri(path)), "version": .integer(version)],
                "contentChanges": .array(changes),
            ])
    }

    mutating func close(_ path: String) {
        notify("textDocument/didClose", ["textDocument": ["uri": .string(Editor.uri(path))]])
    }

    /// Lets time pass, with the timer of the server.
    mutating func wait(_ duration: Duration) {
        let end = now + duration
        while let time = timer, time <= end {
            now = max(now, time)
            timer = nil
            give(.timerFired)
        }
        now = end
    }

    /// Lets time pass in which the process is busy, so that the timer of the server does not fire.
    mutating func pass(_ duration: Duration) { now = now + duration }

    static func uri(_ path: String) -> String { "file://\(path)" }

    /// The codes and lines, from 1, of the last diagnostics of a file: `E301:4`.
    func problems(_ path: String) -> [String] {
        (diagnostics[Editor.uri(path)]?["diagnostics"]?.arrayValue ?? []).map { diagnostic in
            let line = diagnostic["range"]?["start"]?["line"]?.integerValue ?? -2
            return "\(diagnostic["code"]?.stringValue ?? ""):\(line + 1)"
        }
    }

    // MARK: The server's side

    private mutating func receive(_ octets: [UInt8]) {
        received += octets
        let separator = Array("\r\n\r\n".utf8)
        while let end = received.indices.first(where: { received[$0...].starts(with: separator) }) {
            let header = String(decoding: received[..<end], as: UTF8.self)
            let length = header.split(separator: " ").last.flatMap { Int($0) } ?? 0
            guard received.count >= end + 4 + length else { return }
            let message = try? JSONValue(parsing: Array(received[(end + 4)..<(end + 4 + length)]))
            received.removeFirst(end + 4 + length)
            messages.append(message ?? .null)
            if let parameters = message?["params"], let uri = parameters["uri"]?.stringValue {
                diagnostics[uri] = parameters
            }
        }
    }

    private func answer(to request: DiskRequest) -> DiskAnswer {
        switch request {
        case .file(let path): .set(disk[path].map { .files([$0]) } ?? .noSuchFile)
        case .systemTimeZone: .systemTimeZone(nil)
        case .missingPrograms(let names): .missingPrograms(names.subtracting(programs))
        case .names(let directory):
            .names(
                Set(
                    disk.keys.filter { $0.hasPrefix(directory + "/") }.map { path in
                        let rest = path.dropFirst(directory.count + 1)
                        return rest.contains("/") ? rest.prefix { $0 != "/" } + "/" : String(rest)
                    }
                ).sorted())
        case .ofSet(.timeZone(let name), _): .set(.timeZone(zones[name]))
        case .ofSet(.files(let pattern, let origin), let entry): .set(files(pattern, origin, entry))
        }
    }

    private func files(_ pattern: PathPattern, _ origin: String, _ entry: String) -> RuleSetLoader.Answer {
        let path = PathPattern.path(pattern.text, relativeTo: origin)
        guard path.hasPrefix(PathPattern.path(".", relativeTo: entry) + "/") else { return .isOutside }
        guard !pattern.isLiteral else { return disk[path].map { .files([$0]) } ?? .noSuchFile }
        return .files(disk.values.filter { PathPattern(path).matches($0.name) }.sorted { $0.name < $1.name })
    }
}
