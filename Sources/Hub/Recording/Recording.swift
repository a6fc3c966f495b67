package import ButtonModel
import JSON

/// A recording of all inputs of a running daemon, from which the session can be replayed without radio, broker or disk.
/// Each line is a JSON object:
///
///     {"format":"tryck-recording","version":2,"started_at_ms":…,"configuration":{…},"rules":{…},"state":{…}}
///     {"at_ns":0,"input":"wall_clock","utc_ms":1795000000000}
///     {"at_ns":0,"input":"start"}
///     {"at_ns":81200412,"input":"received","reports":[{"report":"events","button":"80e4da000001",…}]}
///
/// | line   | meaning                                                                                              |
/// |--------|------------------------------------------------------------------------------------------------------|
/// | header | the daemon starts: its configuration, rules and stored state. Another header is another start        |
/// | input  | an input of the hub, its time since the start, and the reports of the `ButtonManager` that it caused |
///
/// Recording takes place above the authentication of packets: it contains the reports about buttons, and neither
/// packets nor keys nor random octets. Values of `!secret` and `!env_var` are replaced by `***NAME***`, which is the value that
/// they have in a replay, and the broker's password by three asterisks. Received messages and requests keep values of less than
/// eight octets (`Redaction.ofReceived`), and `RecordedRules.identities` has those that identify buttons. Payloads and outputs
/// are cut to `maximumOctets`.
///
/// A recording made by a test, whose keys are not secret, may begin at the radio instead. These recordings are read,
/// but never written, by the daemon: the header has `"radio":{"trust_roots":[…],"pairings":[…]}`, each `received` has
/// its `packet`, the input `entropy` has its `octets`, and reports are ignored.
///
/// An input that has started programs or web requests lists them in `started`, with the fingerprints of their redacted
/// arguments.
///
/// A segment of a history has the same lines, but not all inputs (`HistoryWriter`), and `"history":true` in its header.
///
/// Unknown members are ignored. A change for which that is wrong increases `version`.
package enum Recording {
    package static let format = "tryck-recording"
    package static let version: Int64 = 2
    /// The limit in octets for a payload, and for each output of a program. Longer contents are cut.
    package static let maximumOctets = 64 * 1024
    /// The limit in octets for a line without its line feed. It is sufficient for the longest rule file.
    package static let maximumLineLength = 40 * 1024 * 1024
}

/// A line of a recording.
package enum RecordingLine: Hashable, Sendable {
    case header(RecordingHeader)
    case input(RecordedInput)

    /// - Parameter octets: the line without its line feed.
    package init(parsing octets: [UInt8]) throws(RecordingFailure) {
        let line: JSONValue
        do {
            line = try JSONValue(parsing: octets)
        } catch {
            throw .notJSON(error)
        }
        if line["format"] != nil {
            self = .header(try RecordingHeader(line))
        } else if line["input"] != nil {
            self = .input(try RecordedInput(line))
        } else {
            throw .notARecording
        }
    }
}

/// A line of a recording that is to be written, redacted and without its line feed.
package struct RecordedLine: Hashable, Sendable {
    package var octets: [UInt8]
    /// True if the input has caused reports of buttons, or has started programs or web requests.
    var hasConsequences: Bool
}

/// The state of a daemon at its start, before its first input.
package struct RecordingHeader: Hashable, Sendable {
    package var startedAt: UTCTime
    package var configuration: HubConfiguration
    /// `nil` if no rules were loaded.
    package var rules: RecordedRules?
    /// Pairings are replaced by placeholders, unless the recording begins at the radio.
    package var stored: StoredState
    package var beginsAtRadio = false
    /// True for a segment of a history, which contains only some of the inputs; see `HistoryWriter`.
    package var isHistory = false
    /// True for a segment that the same process continues. `stored` is then the state at the beginning of the segment, and
    /// the times of the following inputs count from the start of the process.
    package var continues = false

    package init(
        startedAt: UTCTime, configuration: HubConfiguration, rules: RecordedRules? = nil, stored: StoredState
    ) {
        self.startedAt = startedAt
        self.configuration = configuration
        self.rules = rules
        self.stored = stored
    }
}

/// An input of the hub in a recording.
package struct RecordedInput: Hashable, Sendable {
    /// The time since the start of the recording.
    package var at: Instant
    /// A `received` without octets represents a packet that is not recorded.
    package var input: Hub.Input
    /// For a recorded `rulesLoaded`: the rules that the replaying program has to load and put into the input.
    package var rulesToLoad: RecordedRules? {
        guard case .rulesLoaded(_, let loaded) = input, loaded.set == nil else { return nil }
        return loaded.source
    }
    /// The reports that the input caused, in order.
    var reports: [ButtonReport] = []
    /// The programs and web requests that were started when the input was handled.
    package var started: [RecordedJob] = []
    /// True for an input that a history repeats at the beginning of a segment, for readers that begin there.
    package var isRepeated = false

    /// The topic and payload of a message that was received; `nil` for other inputs.
    package var message: (topicName: String, payload: [UInt8])? {
        if case .messageReceived(let topicName, let payload, _) = input { return (topicName, payload) }
        if case .expiringMessageReceived(let topicName, let payload, _, _) = input { return (topicName, payload) }
        return nil
    }

    /// True if buttons reported something.
    package var hasReports: Bool { !reports.isEmpty }
}

/// A program or a web request that rules started, in a recording.
package struct RecordedJob: Hashable, Sendable {
    package var id: JobID
    /// Identifies the program or the web request. A replay with other rules uses it to find the recorded result of the same job.
    package var fingerprint: String

    package init(id: JobID, fingerprint: String) {
        self.id = id
        self.fingerprint = fingerprint
    }
}
