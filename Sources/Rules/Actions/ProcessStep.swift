import ButtonModel
package import Expressions
import JSON

/// A `run` step, or a `shell` step with the arguments `/bin/sh -c SCRIPT sh ARGS…`.
package struct ProcessStep: Hashable, Sendable {
    package struct Variable: Hashable, Sendable {
        package var name: String
        package var value: Template

        package init(_ name: String, _ value: Template) {
            self.name = name
            self.value = value
        }
    }

    /// The first argument is literal. `StepValues.action` refuses values that could become options.
    package var arguments: [Template]
    package var environment: [Variable]
    /// If `nil`, the state directory.
    package var directory: String?
    package var standardInput: Template
    package var isShell: Bool

    package init(
        arguments: [Template], environment: [Variable] = [], directory: String? = nil,
        standardInput: Template = Template(literal: ""), isShell: Bool = false
    ) {
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.standardInput = standardInput
        self.isShell = isShell
    }
}

/// A program to start. A `shell` step is the program `/bin/sh -c SCRIPT sh ARGS…`.
package struct ProcessAction: Hashable, Sendable {
    /// At least the program, which contains a slash or is searched in the fixed path.
    package var arguments: [String]
    /// `NAME=value` entries that are added to the fixed environment: first the facts of the event, then those of the
    /// step.
    package var environment: [String]
    /// If `nil`, the state directory.
    package var directory: String?
    package var standardInput: [UInt8]
    package var isShell: Bool

    package init(
        arguments: [String], environment: [String] = [], directory: String? = nil, standardInput: [UInt8] = [],
        isShell: Bool = false
    ) {
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.standardInput = standardInput
        self.isShell = isShell
    }
}

// MARK: - Evaluation

extension ProcessStep {
    func forEachTemplate(_ body: (Template) -> Void) {
        for argument in arguments { body(argument) }
        for variable in environment { body(variable.value) }
        body(standardInput)
    }

    /// The result as shown in traces: the first line of the program's error output.
    func traceSuffix(for facts: ResultFacts) -> String {
        let line = Run.firstLine(of: facts.stderr)
        return line.isEmpty ? "" : ": \(Run.traceText(line))"
    }
}

extension ProcessAction {
    /// The value of `PATH` for every program, unless its step sets another.
    package static let searchPath = "/usr/local/bin:/usr/bin:/bin"

    /// The subject is the script of a `shell` step, or the arguments of a `run` step.
    var simulation: (kind: RuleTest.SimulatedResult.Kind, subject: String) {
        isShell ? (.shell, arguments.dropFirst(2).first ?? "") : (.run, arguments.joined(separator: " "))
    }

    /// The variables of the step, without the facts of the event.
    package var ownVariables: [String] { environment.filter { !ProcessAction.isFact($0) } }

    /// True for an entry of the environment that has a fact of the event.
    package static func isFact(_ variable: String) -> Bool { variable.hasPrefix("TRYCK_") }

    var aspects: [ActionAspect] {
        [
            ActionAspect(name: "arguments", value: JSONValue.array(arguments.map { .string($0) }).description),
            ActionAspect(name: "cwd", value: directory ?? ""),
            ActionAspect(name: "stdin", value: String(decoding: standardInput, as: UTF8.self)),
        ]
            + ownVariables.map { variable in
                let name = variable.prefix { $0 != "=" }
                return ActionAspect(name: "env \(name)", value: String(variable.dropFirst(name.count + 1)))
            }
    }

    /// The program as shown in traces, without its environment and standard input.
    var summary: String {
        let arguments = isShell ? Array(arguments.dropFirst(2)) : arguments
        return "\(isShell ? "shell" : "run") \(Run.traceText(arguments.joined(separator: " ")))"
    }
}

extension StepValues {
    /// The maximum length of an argument or an environment variable in octets, and of all of them together.
    static let maximumArgumentLength = 65_536
    static let maximumArgumentsLength = 131_072

    /// Evaluates the arguments. An inserted value always stays within its argument, and cannot become an option.
    ///
    /// The arguments after the script of a `shell` step are checked as well, because scripts pass them on to programs.
    ///
    /// - Throws: R811 for a value that begins with `-` where it could be an option, R812 for a value with a NUL, R804
    ///   for arguments that are too long.
    /// - Source: rules/README.md, "Programs, safely".
    mutating func action(_ step: ProcessStep) throws(StepFailure) -> ProcessAction {
        var arguments: [String] = []
        var optionsHaveEnded = false
        for template in step.arguments {
            let argument = try text(template)
            if template.literal != nil {
                // A literal argument may be the name of another command, after which options are possible again.
                optionsHaveEnded = argument == "--"
            } else if !optionsHaveEnded, case .expression(let expression, _)? = template.parts.first,
                argument.utf8.first == UInt8(ascii: "-")
            {
                throw StepFailure(
                    "R811", "{{ \(expression.source) }} begins with - and would be an option; write \"--\" before it")
            }
            arguments.append(argument)
        }
        try check(arguments, "argument")
        return ProcessAction(
            arguments: arguments, environment: try variables(of: step), directory: step.directory,
            standardInput: Array(try text(step.standardInput).utf8), isShell: step.isShell)
    }

    /// The environment variables with the facts of the event, followed by those of the step.
    private mutating func variables(of step: ProcessStep) throws(StepFailure) -> [String] {
        let trigger = environment.trigger
        var variables = [
            "TRYCK_RULE=\(rule)",
            "TRYCK_BUTTON=\(trigger.button)",
            "TRYCK_UUID=\(trigger.uuid)",
            "TRYCK_SERIAL=\(trigger.serial)",
            "TRYCK_EVENT=\(trigger.event)",
            "TRYCK_CLICKS=\(trigger.clicks)",
            "TRYCK_STEPS=\(trigger.steps)",
            "TRYCK_QUEUED=\(trigger.press.wasQueued)",
            "TRYCK_AGE_MS=\(trigger.press.age.milliseconds)",
        ]
        for variable in step.environment { variables.append("\(variable.name)=\(try text(variable.value))") }
        try check(variables, "environment variable")
        return variables
    }

    private func check(_ texts: [String], _ noun: String) throws(StepFailure) {
        var total = 0
        for text in texts {
            guard !(text.utf8.withContiguousStorageIfAvailable { $0.contains(0) } ?? text.utf8.contains(0)) else {
                throw StepFailure("R812", "a value with a NUL cannot be part of an \(noun)")
            }
            guard text.utf8.count <= StepValues.maximumArgumentLength else {
                throw StepFailure("R804", "an \(noun) is longer than 64 KiB")
            }
            total += text.utf8.count
        }
        guard total <= StepValues.maximumArgumentsLength else {
            throw StepFailure("R804", "the \(noun)s together are longer than 128 KiB")
        }
    }
}
