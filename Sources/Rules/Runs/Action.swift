/// Something to be done in the world for a step, with every value in its place.
package enum Action: Hashable, Sendable {
    case publish(PublishAction)
    case process(ProcessAction)
    case http(HTTPAction)
    case log(LogLevel, String)

    /// The step's key in the file: `publish`, `run`, `shell`, `http`, `log`.
    package var word: String {
        switch self {
        case .publish: "publish"
        case .process(let process): process.isShell ? "shell" : "run"
        case .http: "http"
        case .log: "log"
        }
    }
}

/// A message for the broker.
package struct PublishAction: Hashable, Sendable {
    /// Without wildcards, at most 65 535 octets.
    package var topicName: String
    package var payload: [UInt8]
    /// 0…2.
    package var qos: Int
    package var retain: Bool
    /// How long it may wait while the broker is away.
    package var maximumAge: Duration

    package init(
        topicName: String, payload: [UInt8], qos: Int = 0, retain: Bool = false, maximumAge: Duration = .seconds(5)
    ) {
        self.topicName = topicName
        self.payload = payload
        self.qos = qos
        self.retain = retain
        self.maximumAge = maximumAge
    }
}

/// A program to start, without a shell; a `shell` step is `/bin/sh -c SCRIPT sh ARGS…`.
package struct ProcessAction: Hashable, Sendable {
    /// At least the program. It contains a slash, or is looked up in the fixed search path.
    package var arguments: [String]
    /// `NAME=value`, added to the fixed environment, in this order: what is said of the event, then the step's own.
    package var environment: [String]
    /// `nil`: the state directory.
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

/// A request to a web server. Redirects are followed within the host only.
package struct HTTPAction: Hashable, Sendable {
    /// `http` or `https`.
    package var url: String
    package var method: String
    /// `Name: value`, without line breaks. Nothing is added but what the protocol needs; in particular no `Content-Type`.
    package var headers: [String]
    package var body: [UInt8]

    package init(url: String, method: String = "GET", headers: [String] = [], body: [UInt8] = []) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}
