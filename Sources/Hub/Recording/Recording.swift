package import ButtonModel
import JSON

/// What came in to a running daemon, from which the same session can be run again through the whole machine without
/// radio, broker or disk. JSON, a line each:
///
///     {"format":"tryck-recording","version":2,"started_at_ms":…,"configuration":{…},"rules":{…},"state":{…}}
///     {"at_ns":0,"input":"wall_clock","utc_ms":1795000000000}
///     {"at_ns":0,"input":"start"}
///     {"at_ns":81200412,"input":"received","reports":[{"report":"events","button":"80e4da000001",…}]}
///
/// | line   | what it is                                                                                         |
/// |--------|----------------------------------------------------------------------------------------------------|
/// | header | the daemon starts: what it knew before anything came in. One in the middle is a daemon that started again |
/// | input  | an input of the hub, when it came (since the start), and what the buttons' side reported because of it |
///
/// It begins above the authentication of packets: of the radio it has what the buttons reported, and neither packets nor
/// keys nor random octets. Values of `!secret` and `!env_var` and the broker's password are three asterisks in it, and
/// the rules have their names only. Payloads and outputs are kept up to `maximumOctets`.
///
/// A test, whose keys are worth nothing, may begin at the radio instead. Such a recording is read and never written here:
/// its header has `"radio":{"trust_roots":[…],"pairings":[…]}`, each `received` has its `packet`, and there is the input
/// `entropy` with its `octets`; reports are not looked at.
///
/// A member that a version does not know is ignored; what cannot be understood without it raises `version`.
package enum Recording {
    package static let format = "tryck-recording"
    package static let version: Int64 = 2
    /// Of one payload, or of one output of a program. What is longer is cut.
    package static let maximumOctets = 64 * 1024
    /// Of a line, without its end. The longest rules file fits in.
    package static let maximumLineLength = 40 * 1024 * 1024
}

/// One line of a recording.
package enum RecordingLine: Hashable, Sendable {
    case header(RecordingHeader)
    case input(RecordedInput)

    /// - Parameter octets: without the line's end.
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

/// What a daemon knew before anything came in.
package struct RecordingHeader: Hashable, Sendable {
    package var startedAt: UTCTime
    package var configuration: HubConfiguration
    /// `nil`: none ran.
    package var rules: RecordedRules?
    /// With a placeholder for each pairing, unless it begins at the radio.
    package var stored: StoredState
    package var beginsAtRadio = false

    package init(
        startedAt: UTCTime, configuration: HubConfiguration, rules: RecordedRules? = nil, stored: StoredState
    ) {
        self.startedAt = startedAt
        self.configuration = configuration
        self.rules = rules
        self.stored = stored
    }
}

/// An input of the hub, as a recording has it.
package struct RecordedInput: Hashable, Sendable {
    /// Counted from the recording's start.
    package var at: Instant
    /// A `received` without octets stands for a packet that is not kept.
    package var input: Hub.Input
    /// Of a `rulesLoaded` of a recording: whoever runs it again loads these and puts the set in.
    package var rulesToLoad: RecordedRules? {
        guard case .rulesLoaded(_, let loaded) = input, loaded.set == nil else { return nil }
        return loaded.source
    }
    /// What the buttons' side had to say, in order.
    var reports: [ButtonReport] = []
}
