import JSON

extension Discovery {
    /// Whether an announcement is one that this bridge made: another that was given the same base topic by mistake names
    /// itself.
    package func isOurs(_ payload: [UInt8]) -> Bool {
        guard payload.count <= Self.maximumAnnouncementLength, let message = try? JSONValue(parsing: payload)
        else { return false }
        return message["device"]?["via_device"]?.stringValue == bridgeNode
    }
}
