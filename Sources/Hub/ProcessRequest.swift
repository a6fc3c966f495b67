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
    /// The step of a rule as a program: its own variables come last and win.
    ///
    /// - Source: rules reference, "Running programs safely".
    init(
        _ action: ProcessAction, rule: String, _ occurrence: Occurrence, of button: ButtonRecord?, named name: String,
        in configuration: HubConfiguration
    ) {
        var environment = configuration.processEnvironment
        environment.append("TRYCK_RULE=\(rule)")
        environment.append("TRYCK_BUTTON=\(name)")
        environment.append("TRYCK_UUID=\(button?.identity.uuid ?? "")")
        environment.append("TRYCK_SERIAL=\(button?.identity.serial ?? "")")
        environment.append("TRYCK_EVENT=\(occurrence.event.word)")
        environment.append("TRYCK_CLICKS=\(occurrence.event.clicks)")
        environment.append("TRYCK_STEPS=0")
        environment.append("TRYCK_QUEUED=\(occurrence.wasQueued)")
        environment.append("TRYCK_AGE_MS=\(occurrence.age.milliseconds)")
        let named = Set(action.environment.map(\.name))
        environment.removeAll { entry in named.contains(String(entry.prefix { $0 != "=" })) }
        environment += action.environment.map { "\($0.name)=\($0.value)" }
        self.init(
            arguments: action.arguments, environment: environment,
            directory: action.directory ?? configuration.stateDirectory, standardInput: action.standardInput)
    }
}

extension TriggerEvent {
    fileprivate var clicks: Int {
        switch self {
        case .gesture(.click): 1
        case .gesture(.doubleClick): 2
        case .gesture(.hold), .gesture(.holdRelease), .raw: 0
        }
    }
}
