import JSON

extension Discovery {
    /// Whether this bridge made an announcement. `via_device` identifies another bridge that has the same base topic by
    /// mistake.
    package func isOurs(_ payload: [UInt8]) -> Bool {
        guard payload.count <= Self.maximumAnnouncementLength, let message = try? JSONValue(parsing: payload)
        else { return false }
        return message["device"]?["via_device"]?.stringValue == bridgeNode
    }
}
