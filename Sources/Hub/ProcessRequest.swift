import ButtonModel
import Rules

/// A program to start.
package struct ProcessRequest: Hashable, Sendable {
    /// At least one; the first is the program. Without a slash it is looked up in the fixed search path.
    package var arguments: [String]
    /// All of it, in this order: `NAME=value`.
    package var environment: [String]
    /// `nil` is where the daemon is.
    package var directory: String?
    /// What it can read before its standard input ends.
    package var standardInput: [UInt8]

    package init(
        arguments: [String], environment: [String] = [], directory: String? = nil, standardInput: [UInt8] = []
    ) {
        self.arguments = arguments
        self.environment = environment
        self.directory = directory
        self.standardInput = standardInput
    }
}

/// How a program ended, and what it said: the first 64 KiB of each stream.
package struct ProcessResult: Hashable, Sendable {
    package enum Status: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        /// A sentence for people.
        case couldNotStart(String)
    }

    package var status: Status
    package var standardOutput, standardError: [UInt8]
    /// From the start to the end of the program itself, whatever its descendants do.
    package var duration: Duration

    package init(status: Status, standardOutput: [UInt8], standardError: [UInt8], duration: Duration) {
        self.status = status
        self.standardOutput = standardOutput
        self.standardError = standardError
        self.duration = duration
    }

    /// The exit status; 128 and the signal's number when it was killed, 127 when it never started.
    package var exitStatus: Int64 {
        switch status {
        case .exited(let status): Int64(status)
        case .signalled(let signal): 128 + Int64(signal)
        case .couldNotStart: 127
        }
    }
}

extension ProcessRequest {
    /// The step's own variables come last and win.
    init(_ action: ProcessAction, in configuration: HubConfiguration) {
        let named = Set(action.environment.map { $0.prefix { $0 != "=" } })
        let fixed = configuration.processEnvironment.filter { !named.contains($0.prefix { $0 != "=" }) }
        self.init(
            arguments: action.arguments, environment: fixed + action.environment,
            directory: action.directory ?? configuration.stateDirectory, standardInput: action.standardInput)
    }
}
