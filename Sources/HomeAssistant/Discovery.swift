package import ButtonModel

/// Announces the bridge and its buttons to Home Assistant, one retained message for each device.
package struct Discovery: Hashable, Sendable {
    package var topics: Topics
    /// `homeassistant`; may have several levels.
    package var prefix: String
    /// Four hexadecimal digits.
    package var installationID: String
    /// Of this program.
    package var version: String
    /// Whether requests over MQTT are answered: without that there is nothing to set, and no control is announced.
    package var takesRequests: Bool

    package init(topics: Topics, prefix: String, installationID: String, version: String, takesRequests: Bool) {
        self.topics = topics
        self.prefix = prefix
        self.installationID = installationID
        self.version = version
        self.takesRequests = takesRequests
    }

    package func configTopic(of button: ButtonID) -> String { "" }
    package var bridgeConfigTopic: String { "" }
    /// The button whose config topic this is.
    package func button(ofConfigTopic topicName: String) -> ButtonID? { nil }

    /// The payload of `configTopic(of:)`.
    ///
    /// - Parameter withdrawn: keys of components that were announced before and are not any more, and their platforms.
    ///   Home Assistant drops a component only when it is told so once.
    package func payload(_ device: ButtonDevice, withdrawn: [String: String] = [:]) -> [UInt8] { [] }
    package func bridgePayload(withdrawn: [String: String] = [:]) -> [UInt8] { [] }

    /// Of an older announcement, the components that the newer one does not have: their keys and platforms. Empty, too, for
    /// what is no announcement.
    package static func withdrawn(from older: [UInt8], to newer: [UInt8]) -> [String: String] { [:] }
}
