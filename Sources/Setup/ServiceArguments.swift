/// The parsed command line of a service. Every option of a service takes a value, except `--help` and `--version`.
package enum ServiceArguments<Options> {
    case run(Options)
    case help
    case version
    /// The error in the arguments, as a sentence for the user.
    case usage(String)

    /// - Parameters:
    ///   - arguments: the command line without the name of the program.
    ///   - program: the name of the program, for messages.
    ///   - options: the options of a command line without arguments.
    ///   - names: the name of each option, such as `--config`, with the property that gets its value.
    package init(
        _ arguments: [String], of program: String, _ options: Options,
        _ names: [String: WritableKeyPath<Options, String?>]
    ) {
        var options = options
        var remaining = arguments[...]
        while var argument = remaining.popFirst() {
            var attached: String?
            if argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") {
                attached = String(argument[argument.index(after: equals)...])
                argument = String(argument[..<equals])
            }
            switch argument {
            case "--help", "-h":
                self = .help
                return
            case "--version":
                self = .version
                return
            default:
                guard let place = names[argument] else {
                    self = .usage("unknown argument \"\(argument)\"; see \(program) --help")
                    return
                }
                guard let value = attached ?? remaining.popFirst(), !value.isEmpty else {
                    self = .usage("\(argument) needs a value; see \(program) --help")
                    return
                }
                options[keyPath: place] = value
            }
        }
        self = .run(options)
    }
}

extension ServiceArguments: Equatable where Options: Equatable {}
extension ServiceArguments: Hashable where Options: Hashable {}
extension ServiceArguments: Sendable where Options: Sendable {}
