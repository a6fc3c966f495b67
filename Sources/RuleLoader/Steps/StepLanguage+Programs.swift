import ButtonModel
import Expressions
import JSON
import Rules
import YAMLFiles

extension StepLanguage {
    static let run = StepLanguage(
        summary: "run a program without a shell",
        detail: KeyDetail(.either([.arguments, .mapping(.fields(of: .run))]), ["mpc", "next"]),
        snippet: "run: [${1:program}, ${2:argument}]",
        fields: .init(
            name: "run", table: .run,
            details: processDetails(with: ["argv": KeyDetail(.arguments, ["mpc", "volume", "{{ variables.volume }}"])])),
        expectation: Expectation(
            summary: "a program",
            detail: KeyDetail(.either([.texts, .mapping(.expectation(of: .run))]), ["mpc", "next"]),
            fields: .init(
                name: "expected_run", table: .expectedRun,
                details: expectedProcessDetails(with: ["argv": KeyDetail(.texts, ["mpc", "next"])])),
            read: { $0.expectedRun($1) })
    ) { reader, node, fields, context in reader.readRun(node, fields.key("run"), in: context.scope) }

    static let shell = StepLanguage(
        summary: "run a literal script with `/bin/sh`",
        detail: KeyDetail(.either([.text, .mapping(.fields(of: .shell))]), "date >> presses"),
        snippet: "shell: ${0:date >> presses}",
        fields: .init(
            name: "shell", table: .shell,
            details: processDetails(with: [
                "script": KeyDetail(.text, #"echo "$1" >> presses"#),
                "args": KeyDetail(.list(.template, 0...Int.max), ["{{ trigger.button }}"]),
            ])),
        expectation: Expectation(
            summary: "a script",
            detail: KeyDetail(.either([.text, .mapping(.expectation(of: .shell))]), "date >> presses"),
            fields: .init(
                name: "expected_shell", table: .expectedShell,
                details: expectedProcessDetails(with: [
                    "script": KeyDetail("date >> presses"), "args": KeyDetail(.texts, ["hall"]),
                ])),
            read: { $0.expectedShell($1) })
    ) { reader, node, fields, context in reader.readShell(node, fields.key("shell"), in: context.scope) }

    private static func processDetails(with own: [String: KeyDetail]) -> [String: KeyDetail] {
        own.merging([
            "env": KeyDetail(.environment, ["LAMP": "{{ trigger.button }}"]),
            "cwd": KeyDetail(else: .described("the state directory"), "/srv/music"),
            "stdin": KeyDetail(else: .described("nothing"), "{{ trigger.at }}"),
        ]) { first, _ in first }
    }

    private static func expectedProcessDetails(with own: [String: KeyDetail]) -> [String: KeyDetail] {
        own.merging([
            "env": KeyDetail(.matching(.environmentVariable, .text), ["LAMP": "hall"]),
            "cwd": KeyDetail("/srv/music"), "stdin": KeyDetail("hello"),
        ]) { first, _ in first }
    }
}

extension MappingTable {
    static let run = MappingTable(
        name: "\"run\"", keys: [Key("argv", .anything, required: true, "the program and its arguments")] + processKeys,
        foreignHints: processHints)

    static let shell = MappingTable(
        name: "\"shell\"",
        keys: [
            Key("script", .anything, required: true, "the script, without templates"),
            Key("args", .anything, "`$1`, `$2`, … of the script"),
        ] + processKeys,
        foreignHints: processHints)

    private static let processKeys = [
        Key("env", .anything, "variables that are added to the environment"),
        Key("cwd", .text(.areForbidden), "the working directory"),
        Key("stdin", .template, "the standard input"),
    ]

    static let processHints = [
        "user": "write run: [sudo, -n, -u, NAME, --, …] and allow exactly that in sudoers",
        "command": "use argv: or script:",
    ]

    fileprivate static let expectedRun = MappingTable(
        name: "an expected \"run\"", keys: [Key("argv", .anything, "all arguments")] + expectedProcessKeys)

    fileprivate static let expectedShell = MappingTable(
        name: "an expected \"shell\"",
        keys: [Key("script", .text(.areText), "the whole script"), Key("args", .anything, "all arguments")]
            + expectedProcessKeys)

    private static let expectedProcessKeys = [
        Key("env", .anything, "some of the environment variables"),
        Key("cwd", .text(.areForbidden), "the working directory"),
        Key("stdin", .text(.areForbidden), "the standard input"),
    ]
}

extension RuleSetReader {
    static let maximumArgument = 64 << 10
    static let maximumArguments = 128 << 10

    fileprivate mutating func readRun(_ node: YAMLNode, _ key: YAMLNode.Key?, in scope: Scope) -> StepAction? {
        var process = ProcessStep(arguments: [])
        var list = node
        switch node.content {
        case .invalid: return nil
        case .sequence: break
        case .scalar(let text, _):
            let words = text.split(separator: " ").joined(separator: ", ")
            checker.error(
                "E203", at: node, "\"run\" must be a list or a mapping",
                hint: Hint(
                    "write run: [\(checker.shown(words))], or shell: \(checker.shown(text))",
                    [.init(nil, "[\(words)]", isGuess: true)]
                        + checker.changes(of: key, into: "shell")))
            return nil
        case .mapping:
            guard let fields = checker.fields(node, .run, owner: "\"run\"") else { return nil }
            let isComplete = readProcess(fields, in: scope, into: &process)
            guard let argv = fields.node("argv"), isComplete else { return nil }
            list = argv
        }
        guard case .sequence(let nodes) = list.content else {
            if !list.isInvalid {
                let words = list.scalar.map { $0.split(separator: " ").joined(separator: ", ") }
                checker.error(
                    "E203", at: list, "\"argv\" must be a list",
                    hint: Hint(
                        "write argv: [\(checker.shown(words ?? "mpc, next"))]",
                        words.map { [.init(nil, "[\($0)]", isGuess: true)] } ?? []))
            }
            return nil
        }
        guard let program = nodes.first else {
            checker.error(
                "E212", from: list.start, to: list.start.advanced(by: 1), alias: list.alias,
                "the list names no program")
            return nil
        }
        let isLiteral = checkProgram(program)
        guard let arguments = arguments(nodes, key: "run", in: scope, first: isLiteral ? 0 : 1), isLiteral else {
            return nil
        }
        guard let name = arguments.first?.literal, !name.isEmpty else {
            checker.error("E203", at: program, "the name of a program cannot be empty")
            return nil
        }
        if !program.isSecret, !name.utf8.contains(UInt8(ascii: "/")) {
            checker.mention(
                program: name, "W702", at: program, "program \"\(checker.shown(name))\" was not found",
                hint: "install it, or write its whole path")
        }
        process.arguments = arguments
        return .process(process)
    }

    /// Returns whether the name of a program is literal, and reports a template in it (E506).
    private mutating func checkProgram(_ node: YAMLNode) -> Bool {
        guard node.holdsTemplate else { return true }
        checker.refuse(
            "E506", templateIn: node, "the program name must be literal",
            hint: "choose between programs with if: or choose:")
        return false
    }

    fileprivate mutating func readShell(_ node: YAMLNode, _ key: YAMLNode.Key?, in scope: Scope) -> StepAction? {
        var process = ProcessStep(arguments: [], isShell: true)
        var scriptNode = node
        var arguments: [Template] = []
        switch node.content {
        case .invalid: return nil
        case .scalar: break
        case .sequence:
            checker.error(
                "E203", at: node, "\"shell\" must be a text or a mapping, not a list",
                hint: Hint(
                    "for a list of arguments write run:", checker.changes(of: key, into: "run")))
            return nil
        case .mapping:
            guard let fields = checker.fields(node, .shell, owner: "\"shell\"") else { return nil }
            var isComplete = readProcess(fields, in: scope, into: &process)
            if let args = fields.node("args") {
                if case .sequence(let nodes) = args.content {
                    let read = self.arguments(nodes, key: "args", in: scope)
                    arguments = read ?? []
                    isComplete = isComplete && read != nil
                } else {
                    checker.error("E203", at: args, "\"args\" must be a list", hint: "write args: [one, two]")
                    isComplete = false
                }
            }
            guard let script = fields.node("script") else { return nil }
            guard isComplete else {
                _ = self.script(script)
                return nil
            }
            scriptNode = script
        }
        guard let script = script(scriptNode) else { return nil }
        process.arguments = ["/bin/sh", "-c", script, "sh"].map(Template.init(literal:)) + arguments
        return .process(process)
    }

    private mutating func script(_ node: YAMLNode) -> String? {
        guard let text = checker.text(node, key: "shell", .areText) else { return nil }
        if node.tag == nil, text.string.contains("{{") {
            checker.refuse(
                "E507", templateIn: node, "templates are not allowed in a shell script",
                hint: "pass the value with args: or env: and write \"$1\" or \"$NAME\"")
            return nil
        }
        guard !text.string.allSatisfy(\.isWhitespace) else {
            checker.error("E203", at: node, "an empty script does nothing")
            return nil
        }
        if text.isSecret { warnOfSecret(node) }
        return checkArgument(text.string, node) ? text.string : nil
    }

    /// - Parameter first: the index to begin with. Entries before it are already refused.
    private mutating func arguments(
        _ nodes: [YAMLNode], key: String, in scope: Scope, first: Int = 0
    ) -> [Template]? {
        var arguments: [Template] = []
        arguments.reserveCapacity(nodes.count)
        var size = 0
        for node in nodes.dropFirst(first) {
            if checker.reportsNullArgument(node) { continue }
            guard let argument = template(node, key: key, in: scope), checkArgument(argument, node) else { continue }
            if node.isSecret { warnOfSecret(node) }
            size += argument.literalSize
            arguments.append(argument)
        }
        if let last = nodes.last, size > RuleSetReader.maximumArguments {
            checker.error(
                "E205", at: last, "all arguments together may have at most \(RuleSetReader.maximumArguments >> 10) KiB")
            return nil
        }
        return arguments.count == nodes.count ? arguments : nil
    }

    private mutating func checkArgument(_ template: Template, _ node: YAMLNode) -> Bool {
        for case .literal(let text) in template.parts where !checkArgument(text, node) { return false }
        return true
    }

    private mutating func checkArgument(_ text: String, _ node: YAMLNode) -> Bool {
        if text.utf8.contains(0) {
            checker.error("E203", at: node, "an argument cannot contain NUL")
        } else if text.utf8.count > RuleSetReader.maximumArgument {
            checker.error("E205", at: node, "an argument may have at most \(RuleSetReader.maximumArgument >> 10) KiB")
        } else {
            return true
        }
        return false
    }

    private mutating func warnOfSecret(_ node: YAMLNode) {
        checker.warning("W708", at: node, "a secret in argv can be seen in the process list", hint: "use env or stdin")
    }

    // MARK: Environment

    /// Reads the keys that `run` and `shell` share: `cwd`, `stdin` and `env`. Returns whether all of them are valid.
    private mutating func readProcess(_ fields: CheckedMapping, in scope: Scope, into process: inout ProcessStep)
        -> Bool
    {
        var isComplete = true
        if fields.isWritten("cwd") {
            process.directory = fields.string("cwd")
            isComplete = process.directory != nil
        }
        if let node = fields.node("stdin") {
            if let input = template(node, key: "stdin", in: scope) {
                process.standardInput = input
            } else {
                isComplete = false
            }
        }
        if let node = fields.node("env") {
            isComplete = readEnvironment(node, in: scope, &process.environment) && isComplete
        }
        return isComplete
    }

    private mutating func readEnvironment(
        _ node: YAMLNode, in scope: Scope, _ variables: inout [ProcessStep.Variable]
    ) -> Bool {
        guard case .mapping(let entries) = node.content else {
            if !node.isInvalid {
                checker.noMapping(
                    "E203", at: node, "\"env\" must be a mapping of name to text", hint: "write env: {NAME: value}")
            }
            return false
        }
        for entry in entries {
            guard checker.reportsMissingSpace(entry) == nil, checkVariableName(entry),
                !checker.reportsNull(entry, hint: "write \"\" for an empty one")
            else {
                continue
            }
            guard let value = template(entry.value, key: entry.key.text, in: scope), checkArgument(value, entry.value)
            else { continue }
            variables.append(.init(entry.key.text, value))
        }
        return variables.count == entries.count
    }

    private static let literalVariables: Set<String> = ["PATH", "IFS", "ENV", "BASH_ENV"]

    /// Checks that a name can be that of an environment variable (E209), and that the value of a variable such as
    /// `PATH` holds no template (E407).
    private mutating func checkVariableName(_ entry: YAMLNode.Entry) -> Bool {
        let name = entry.key.text
        let isName =
            name.utf8.allSatisfy {
                (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || YAMLNumber.isDigit($0) || $0 == 0x5F
            } && name.utf8.first.map { !YAMLNumber.isDigit($0) } == true
        guard isName else {
            checker.error(
                "E209", at: entry.key, "\"\(checker.shown(name))\" is not the name of an environment variable",
                hint: "A-Z, a-z, 0-9 and _, not beginning with a digit")
            return false
        }
        let node = entry.value
        if RuleSetReader.literalVariables.contains(name) || name.hasPrefix("LD_"), node.holdsTemplate {
            checker.refuse(
                "E407", templateIn: node, "no template is allowed in \"\(name)\"",
                hint: "it decides which programs and libraries are started")
            return false
        }
        return true
    }

    // MARK: Expectations of tests

    fileprivate mutating func expectedRun(_ node: YAMLNode) -> ExpectedEffect.Kind? {
        switch node.content {
        case .invalid: return nil
        case .sequence:
            return texts(node, key: "run").map { .run(arguments: $0, environment: [], directory: nil, stdin: nil) }
        case .scalar(let text, _):
            let words = text.split(separator: " ").joined(separator: ", ")
            checker.error(
                "E603", at: node, "\"run\" must be a list or a mapping",
                hint: .write("run", "[\(words)]", shown: "[\(checker.shown(words))]"))
            return nil
        case .mapping: break
        }
        guard let fields = checker.fields(node, .expectedRun, owner: "\"run\"") else { return nil }
        var arguments: [String]?
        if let argv = fields.node("argv") { arguments = texts(argv, key: "argv") }
        guard let environment = expectedFields(fields, "env") else { return nil }
        return .run(
            arguments: arguments, environment: environment, directory: fields.string("cwd"),
            stdin: fields.string("stdin"))
    }

    fileprivate mutating func expectedShell(_ node: YAMLNode) -> ExpectedEffect.Kind? {
        guard case .mapping = node.content else {
            return checker.text(node, key: "shell", .areText).map {
                .shell(script: $0.string, arguments: nil, environment: [], directory: nil, stdin: nil)
            }
        }
        guard let fields = checker.fields(node, .expectedShell, owner: "\"shell\"") else { return nil }
        var arguments: [String]?
        if let args = fields.node("args") { arguments = texts(args, key: "args") }
        guard let environment = expectedFields(fields, "env") else { return nil }
        return .shell(
            script: fields.string("script"), arguments: arguments, environment: environment,
            directory: fields.string("cwd"), stdin: fields.string("stdin"))
    }
}

extension YAMLNode {
    /// True for `!secret` and `!env_var`, whose values must not be shown.
    var isSecret: Bool { tag == .secret || tag == .environmentVariable }
}

extension Template {
    /// The size of the literal parts, in octets.
    fileprivate var literalSize: Int {
        parts.reduce(0) { size, part in
            if case .literal(let text) = part { size + text.utf8.count } else { size }
        }
    }
}
