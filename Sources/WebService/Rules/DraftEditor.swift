import ButtonModel
import JSON
import LanguageServer
import Platform
import RuleLoader
import Setup
import YAMLFiles

/// Asks the language server about one draft. The server is a value, which lives for one question.
struct DraftEditor {
    private var server: LanguageServer
    private let loader: DraftLoader
    private let saved: RuleDrafts
    private let uri: String
    private var answers: [JSONValue] = []

    /// - Parameters:
    ///   - drafts: the texts that the page has in place of files.
    ///   - saved: the saved texts of these files, without their passwords. Their names are offered while a draft is not valid
    ///     YAML.
    init(
        _ name: String, _ text: [UInt8], drafts: RuleDrafts, saved: RuleDrafts, loader: DraftLoader,
        variables: [String: String]
    ) {
        server = LanguageServer(variables: variables, version: Version.string)
        self.loader = loader
        self.saved = saved
        uri = FileURI.uri(of: "\(loader.folder)/\(name)")
        send("initialize", ["capabilities": [:]], id: 0)
        send("initialized", [:])
        var texts = drafts
        texts[name] = text
        for (name, text) in texts.sorted(by: { $0.key < $1.key }) {
            send(
                "textDocument/didOpen",
                [
                    "textDocument": [
                        "uri": .string(FileURI.uri(of: "\(loader.folder)/\(name)")), "languageId": "yaml", "version": 1,
                        "text": .string(String(decoding: text, as: UTF8.self)),
                    ]
                ])
        }
        answers = []
    }

    mutating func completions(line: Int64, character: Int64) -> JSONValue {
        let result = ask(
            "textDocument/completion",
            [
                "textDocument": ["uri": .string(uri)],
                "position": ["line": .integer(line), "character": .integer(character)],
            ])
        let items = (result["items"]?.arrayValue ?? []).map { item -> JSONValue in
            [
                "label": item["label"] ?? .null, "kind": .string(Self.kind(item["kind"]?.integerValue)),
                "detail": item["detail"] ?? .null, "documentation": item["documentation"]?["value"] ?? .null,
                "insert": item["textEdit"]?["newText"] ?? item["label"] ?? .null,
                "from": item["textEdit"]?["range"]?["start"]?["character"] ?? .null,
            ]
        }
        return ["items": .array(items)]
    }

    mutating func hints() -> JSONValue {
        let end: JSONValue = ["line": .integer(Int64(Int32.max)), "character": 0]
        let result = ask(
            "textDocument/inlayHint",
            ["textDocument": ["uri": .string(uri)], "range": ["start": ["line": 0, "character": 0], "end": end]])
        let hints = (result.arrayValue ?? []).map { hint -> JSONValue in
            [
                "line": hint["position"]?["line"] ?? .null, "character": hint["position"]?["character"] ?? .null,
                "text": hint["label"] ?? .null, "detail": hint["tooltip"]?["value"] ?? .null,
            ]
        }
        return ["hints": .array(hints)]
    }

    /// The name of a `CompletionItemKind`.
    private static func kind(_ number: Int64?) -> String {
        switch number {
        case 3: "function"
        case 5: "field"
        case 6: "variable"
        case 10: "key"
        case 12: "value"
        case 14: "keyword"
        case 15: "snippet"
        default: "name"
        }
    }

    private mutating func ask(_ method: String, _ parameters: JSONValue) -> JSONValue {
        send(method, parameters, id: 1)
        return answers.first { $0["id"]?.integerValue == 1 }?["result"] ?? .null
    }

    private mutating func send(_ method: String, _ parameters: JSONValue, id: Int64? = nil) {
        var message: JSONValue = ["jsonrpc": "2.0", "method": .string(method), "params": parameters]
        if let id, case .object(let members) = message { message = .object(members + [.init("id", .integer(id))]) }
        let now = Instant(nanoseconds: 0)
        var effects = server.handle(.received(MessageFramer.frame(message.encoded())), at: now)[...]
        while let effect = effects.popFirst() {
            switch effect {
            case .find(let request): effects += server.handle(.found(answer(to: request)), at: now)
            case .check(let check): effects += server.handle(.checked(check.run(answering: answer)), at: now)
            // The page shows the last runs of rules itself.
            case .askDaemon: effects += server.handle(.lastRuns(.notRunning), at: now)
            case .send(let octets):
                var framer = MessageFramer()
                framer.append(octets)
                if case .message(let octets)? = framer.next(), let value = try? JSONValue(parsing: octets) {
                    answers.append(value)
                }
            // A document that was opened is checked at once.
            case .setTimer, .exit: break
            }
        }
    }

    /// Answers with texts without passwords, so that the answer has no password in clear. The server itself puts the drafts
    /// in place of files.
    private func answer(to request: DiskRequest) -> DiskAnswer {
        switch request {
        case .file(let path):
            return .set(withoutPasswords(RuleSetLoader.Answer(RuleFiles.file(path))))
        case .ofSet(.timeZone(let name), _): return .set(.timeZone(ZoneFiles().zone(name)))
        case .ofSet(.files(let pattern, let origin), let entry):
            let files = RuleFiles.files(matching: pattern.text, relativeTo: origin, entry: entry) {
                PathPattern.matches(name: $0, pattern: $1)
            }
            return .set(withoutPasswords(RuleSetLoader.Answer(files)))
        case .systemTimeZone: return .systemTimeZone(nil)
        case .missingPrograms: return .missingPrograms([])
        case .names(let directory):
            let isInside = directory == loader.folder || directory.hasPrefix(loader.folder + "/")
            return .names(isInside ? RuleFiles.names(of: directory) : [])
        }
    }

    private func withoutPasswords(_ answer: RuleSetLoader.Answer) -> RuleSetLoader.Answer {
        guard case .files(let files) = answer else { return answer }
        return .files(
            files.map { file in
                guard file.name.hasPrefix(loader.folder + "/"),
                    let text = saved[String(file.name.dropFirst(loader.folder.utf8.count + 1))]
                else { return file }
                var file = file
                file.text = text
                return file
            })
    }
}
