/// An action to perform for a step, with all templates evaluated.
package enum Action: Hashable, Sendable {
    case publish(PublishAction)
    case process(ProcessAction)
    case http(HTTPAction)
    case log(LogLevel, String)

    /// The key of the step in the file: `publish`, `run`, `shell`, `http` or `log`.
    package var word: String {
        switch self {
        case .publish: "publish"
        case .process(let process): process.isShell ? "shell" : "run"
        case .http: "http"
        case .log: "log"
        }
    }
}

/// A message to publish.
package struct PublishAction: Hashable, Sendable {
    /// A topic name without wildcards, at most 65 535 octets.
    package var topicName: String
    package var payload: [UInt8]
    /// The quality of service, 0…2.
    package var qos: Int
    package var retain: Bool
    /// How long the message may wait while the broker is not connected.
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

/// An HTTP request. Only redirects to the same host are followed.
package struct HTTPAction: Hashable, Sendable {
    /// The URL, with scheme `http` or `https`.
    package var url: String
    package var method: String
    /// `Name: value` lines without line breaks. Only headers that the protocol requires are added, so there is no
    /// `Content-Type` by default.
    package var headers: [String]
    package var body: [UInt8]

    package init(url: String, method: String = "GET", headers: [String] = [], body: [UInt8] = []) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}
