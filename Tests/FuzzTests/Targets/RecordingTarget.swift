import ButtonModel
import Hub
import Rules

extension FuzzTarget {
    /// An arbitrary recording: all readable lines are replayed, without a radio.
    static let recording = FuzzTarget(name: "recording") { octets throws(BrokenPromise) in
        guard var hub = begun else { throw BrokenPromise(promise: "a header is read") }
        var now = Instant(nanoseconds: 0)
        for line in octets.split(separator: UInt8(ascii: "\n")).prefix(16) {
            switch try? RecordingLine(parsing: Array(line)) {
            case .header(let header):
                hub = Hub(replaying: header, rules: RuleSet())
                now = Instant(nanoseconds: 0)
            case .input(let input) where input.at >= now:
                now = input.at
                _ = hub.replay(input)
            case .input, nil: continue
            }
        }
    }

    /// Added so that the fuzzer does not have to find a valid header first.
    private static let begun: Hub? = {
        let line = #"""
            {"format":"tryck-recording","version":1,"started_at_ms":1795278738601,"configuration":{"tryck":"0.1.0",\#
            "base_topic":"tryck","trust_roots":[],"transport":"simulated:a","has_transport":true,\#
            "maximum_connections":null,"broker":"embedded","has_broker":true,"requests_over_mqtt":true,\#
            "state_directory":"/","rule_count":0,"rule_fault":null,"simulated_buttons":["kitchen"]},\#
            "state":{"installation_id":"ad53","next_run":1,"buttons":[],"runs":[]}}
            """#
        guard case .header(let header)? = try? RecordingLine(parsing: Array(line.utf8)) else { return nil }
        return Hub(replaying: header, rules: RuleSet())
    }()
}
