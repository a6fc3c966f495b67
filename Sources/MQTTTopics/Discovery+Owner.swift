import JSON

extension Discovery {
    /// Whether this bridge made an announcement. Another bridge that was given the same base topic by mistake names
    /// itself in `via_device`.
    package func isOurs(_ payload: [UInt8]) -> Bool {
        guard payload.count <= Self.maximumAnnouncementLength, let message = try? JSONValue(parsing: payload)
        else { return false }
        return message["device"]?["via_device"]?.stringValue == bridgeNode
    }
}
