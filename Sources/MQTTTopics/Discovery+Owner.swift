import JSON

extension Discovery {
    /// True if this bridge made an announcement, and not another that has the same base topic by mistake.
    package func isOurs(_ payload: [UInt8]) -> Bool {
        guard payload.count <= Self.maximumAnnouncementLength, let message = try? JSONValue(parsing: payload)
        else { return false }
        return message["device"]?["via_device"]?.stringValue == bridgeNode
    }
}
