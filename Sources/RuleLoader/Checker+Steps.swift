import Diagnostics
import JSON
import Rules

/// Reads the steps of a rule.
extension Checker {
    static let maximumSteps = 100
    static let maximumArgument = 64 << 10
    static let maximumArguments = 128 << 10

    mutating func steps(_ node: YAMLNode) -> [Action] {
        let nodes = oneOrMany(node, emptyCode: "E213", empty: "\"actions\" needs at least one step")
        guard nodes.count <= Checker.maximumSteps else {
            error(
                "E205", at: nodes[Checker.maximumSteps],
                "a list may have at most \(Checker.maximumSteps) steps, not \(nodes.count)")
            return []
        }
        return nodes.compactMap { step($0) }
    }

    private static let actionKeys = ["publish", "run", "shell", "log"]

    private mutating func step(_ node: YAMLNode) -> Action? {
        if case .scalar(let text, _) = node.content {
            error(
                "E203", at: node, "a step must be a mapping, not the text \"\(shown(text))\"",
                hint: "write publish:, run:, shell: or log:")
            return nil
        }
        guard let fields = fields(node, .step) else { return nil }
        let written = Checker.actionKeys.compactMap { fields.keys[$0] }.sorted { $0.start < $1.start }
        guard let key = written.first else {
            if fields.misspelt.isEmpty, case .mapping(let entries) = node.content,
                entries.allSatisfy({ fields.keys[$0.key.text] != nil })
            {
                let (start, end) = firstKey(of: node)
                error(
                    "E213", from: start, to: end, alias: node.alias, "a step needs exactly one action",
                    hint: "add publish:, run:, shell: or log:")
            }
            return nil
        }
        guard written.count == 1 else {
            error(
                "E213", from: written[0].start, to: written[0].end, alias: written[0].alias,
                "a step needs exactly one action; this one has "
                    + written.map { "\"\($0.text)\"" }.joined(separator: " and "))
            return nil
        }
        guard let value = fields.node(key.text) else { return nil }
        switch key.text {
        case "publish": return publish(value)
        case "run": return environment.allowsRun ? run(value) : forbidden(key)
        case "shell": return environment.allowsShell ? shell(value) : forbidden(key)
        default: return log(value)
        }
    }

    private mutating func forbidden(_ key: YAMLNode.Key) -> Action? {
        error("E204", at: key, "\"\(key.text)\" is forbidden here", hint: "actions.\(key.text) is false in tryck.yaml")
        return nil
    }

    // MARK: publish

    private mutating func publish(_ node: YAMLNode) -> Action? {
        guard let fields = fields(node, .publish, owner: "\"publish\"") else { return nil }
        if let payload = fields.keys["payload"], let json = fields.keys["json"] {
            error(
                "E210", at: payload.start < json.start ? json : payload, "give either \"payload\" or \"json\", not both"
            )
            return nil
        }
        var payload: [UInt8]? = []
        if fields.isWritten("payload") { payload = fields.string("payload").map { Array($0.utf8) } }
        if fields.isWritten("json") { payload = fields.node("json").flatMap { json($0) }?.encoded() }
        guard let topic = fields.string("topic"), let topicNode = fields.node("topic"),
            checkTopicName(topic, topicNode), let payload
        else { return nil }
        return .publish(
            PublishAction(
                topicName: topic, payload: payload, qos: fields.integer("qos") ?? 0,
                retain: fields.boolean("retain") ?? false, maximumAge: fields.duration("max_age") ?? .seconds(5)))
    }

    private mutating func checkTopicName(_ topic: String, _ node: YAMLNode) -> Bool {
        if topic.isEmpty {
            error("E508", at: node, "a publish topic cannot be empty")
        } else if let wildcard = topic.first(where: { $0 == "#" || $0 == "+" }) {
            let start = place(of: String(wildcard), in: node)
            error(
                "E508", from: start, to: start.advanced(by: 1), alias: node.alias,
                "a publish topic cannot contain # or +")
        } else if topic.utf8.contains(0) {
            error("E508", at: node, "a publish topic cannot contain NUL")
        } else if topic.utf8.count > 65_535 {
            error("E508", at: node, "a publish topic is at most 65535 bytes long")
        } else {
            return true
        }
        return false
    }

    // MARK: run and shell

    private mutating func run(_ node: YAMLNode) -> Action? {
        var action = ProcessAction(arguments: [])
        var list = node
        switch node.content {
        case .invalid: return nil
        case .sequence: break
        case .scalar(let text, _):
            let words = text.split(separator: " ").joined(separator: ", ")
            error(
                "E203", at: node, "\"run\" must be a list or a mapping",
                hint: "write run: [\(shown(words))], or shell: \(shown(text))")
            return nil
        case .mapping:
            guard let fields = fields(node, .run, owner: "\"run\""), let argv = fields.node("argv") else { return nil }
            guard readProcess(fields, into: &action) else { return nil }
            list = argv
        }
        guard case .sequence(let nodes) = list.content else {
            error("E203", at: list, "\"argv\" must be a list", hint: "write argv: [mpc, next]")
            return nil
        }
        guard !nodes.isEmpty else {
            error("E212", from: list.start, to: list.start.advanced(by: 1), "an empty list starts no program")
            return nil
        }
        guard let words = arguments(nodes, key: "run") else { return nil }
        if words[0].isEmpty {
            error("E203", at: nodes[0], "the name of a program cannot be empty")
            return nil
        }
        action.arguments = words
        return .process(action)
    }

    private mutating func shell(_ node: YAMLNode) -> Action? {
        var action = ProcessAction(arguments: [], isShell: true)
        var scriptNode = node
        var words: [String] = []
        switch node.content {
        case .invalid: return nil
        case .scalar: break
        case .sequence:
            error(
                "E203", at: node, "\"shell\" must be a text or a mapping, not a list",
                hint: "for a list of arguments write run:")
            return nil
        case .mapping:
            guard let fields = fields(node, .shell, owner: "\"shell\""), let script = fields.node("script") else {
                return nil
            }
            guard readProcess(fields, into: &action) else { return nil }
            if let args = fields.node("args") {
                guard case .sequence(let nodes) = args.content else {
                    error("E203", at: args, "\"args\" must be a list", hint: "write args: [one, two]")
                    return nil
                }
                guard let read = arguments(nodes, key: "args") else { return nil }
                words = read
            }
            scriptNode = script
        }
        guard let script = script(scriptNode) else { return nil }
        action.arguments = ["/bin/sh", "-c", script, "sh"] + words
        return .process(action)
    }

    private mutating func script(_ node: YAMLNode) -> String? {
        guard let text = text(node, key: "shell", .areText) else { return nil }
        if node.tag == nil, text.string.contains("{{") {
            let start = place(of: "{{", in: node)
            error(
                "E507", from: start, to: start.advanced(by: 2), alias: node.alias,
                "templates are not allowed in a shell script", hint: "pass the value with args: and write \"$1\"")
            return nil
        }
        if text.isSecret { warnOfSecret(node) }
        return argument(text.string, node) ? text.string : nil
    }

    private mutating func arguments(_ nodes: [YAMLNode], key: String) -> [String]? {
        var words: [String] = []
        var isComplete = true
        for node in nodes {
            if node.isNull {
                error(
                    "E114", from: node.start, to: node.start.advanced(by: 1), "this entry has no value",
                    hint: "write \"\" for an empty argument")
                isComplete = false
            } else if let text = text(node, key: key, .arePlanned), argument(text.string, node) {
                if text.isSecret { warnOfSecret(node) }
                words.append(text.string)
            } else {
                isComplete = false
            }
        }
        if let last = nodes.last, words.reduce(0, { $0 + $1.utf8.count }) > Checker.maximumArguments {
            error("E205", at: last, "all arguments together may have at most \(Checker.maximumArguments >> 10) KiB")
            return nil
        }
        return isComplete ? words : nil
    }

    private mutating func argument(_ text: String, _ node: YAMLNode) -> Bool {
        if text.utf8.contains(0) {
            error("E203", at: node, "an argument cannot contain NUL")
        } else if text.utf8.count > Checker.maximumArgument {
            error("E205", at: node, "an argument may have at most \(Checker.maximumArgument >> 10) KiB")
        } else {
            return true
        }
        return false
    }

    private mutating func warnOfSecret(_ node: YAMLNode) {
        warning("W708", at: node, "a secret in argv can be seen in the process list", hint: "use env or stdin")
    }

    /// What `run` and `shell` share: environment, directory, input.
    private mutating func readProcess(_ fields: Fields, into action: inout ProcessAction) -> Bool {
        action.directory = fields.string("cwd")
        action.standardInput = Array((fields.string("stdin") ?? "").utf8)
        guard let env = fields.node("env") else { return !fields.isWritten("env") }
        guard case .mapping(let entries) = env.content else {
            error("E203", at: env, "\"env\" must be a mapping of name to text", hint: "write env: {NAME: value}")
            return false
        }
        var isComplete = true
        for entry in entries {
            guard isVariableName(entry.key.text) else {
                error(
                    "E209", at: entry.key, "\"\(shown(entry.key.text))\" is not the name of an environment variable",
                    hint: "A-Z, a-z, 0-9 and _, not beginning with a digit")
                isComplete = false
                continue
            }
            if entry.value.isNull {
                error("E114", at: entry.key, "\"\(entry.key.text)\" has no value", hint: "write \"\" for an empty one")
                isComplete = false
            } else if let text = text(entry.value, key: entry.key.text, .arePlanned), argument(text.string, entry.value)
            {
                action.environment.append((name: entry.key.text, value: text.string))
            } else {
                isComplete = false
            }
        }
        return isComplete
    }

    private func isVariableName(_ text: String) -> Bool {
        guard let first = text.utf8.first, !YAMLNumber.isDigit(first) else { return false }
        return text.utf8.allSatisfy {
            (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || YAMLNumber.isDigit($0) || $0 == 0x5F
        }
    }

    // MARK: log

    private mutating func log(_ node: YAMLNode) -> Action? {
        if case .mapping = node.content {
            guard let fields = fields(node, .log, owner: "\"log\""), let message = fields.string("message") else {
                return nil
            }
            return .log(fields.string("level").flatMap(LogLevel.init(rawValue:)) ?? .info, message)
        }
        return text(node, key: "log", .arePlanned).map { .log(.info, $0.string) }
    }
}
