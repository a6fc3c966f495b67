package import ButtonModel
import JSON

/// Announces the bridge and its buttons to Home Assistant, one retained message for each device.
///
/// What is refused with the whole message: an unknown key or a `null` at the root or in `device`, no `origin`, an empty
/// name, an entity without `unique_id`. Node ids, keys of components and unique ids are for good: they are made of the
/// base topic and the address, never of a name. There is no `expire_after`: a button is silent for weeks, rightly.
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
    /// Whether one of these may be a restart.
    package var takesRestart: Bool

    package init(
        topics: Topics, prefix: String, installationID: String, version: String, takesRequests: Bool, takesRestart: Bool
    ) {
        self.topics = topics
        self.prefix = prefix
        self.installationID = installationID
        self.version = version
        self.takesRequests = takesRequests
        self.takesRestart = takesRestart
    }

    /// The payload of `configTopic(of:)`.
    ///
    /// - Parameter withdrawn: keys of components that were announced before and are not any more, and their platforms.
    ///   Home Assistant drops a component only when it is told so once.
    package func payload(_ device: ButtonDevice, withdrawn: [String: String] = [:]) -> [UInt8] {
        let node = node(of: device.id)
        return payload(
            [
                "identifiers": [.string(node)],
                // Home Assistant compares the text: in lower case this would be another device than its own.
                "connections": [["bluetooth", .string(device.address.description)]],
                "name": .string(device.displayName), "manufacturer": .string(ButtonDevice.manufacturer),
                "model": .string(device.model.productName), "serial_number": .string(device.serial),
                "sw_version": .string(String(device.firmwareVersion)), "via_device": .string(bridgeNode),
            ], components(of: device), withdrawn)
    }

    /// The payload of `bridgeConfigTopic`.
    package func bridgePayload(withdrawn: [String: String] = [:]) -> [UInt8] {
        payload(
            [
                "identifiers": [.string(bridgeNode)], "name": "Flic bridge", "manufacturer": "tryck",
                "model": "MQTT bridge", "sw_version": .string(version),
            ], bridgeComponents, withdrawn)
    }

    private func payload(_ device: JSONValue, _ components: [Component], _ withdrawn: [String: String]) -> [UInt8] {
        let keys = Set(components.map(\.key))
        let gone = withdrawn.filter { !keys.contains($0.key) }.sorted { $0.key < $1.key }
        let message: JSONValue = [
            "device": device, "origin": ["name": "tryck", "sw_version": .string(version)],
            "availability": [["topic": .string(topics.bridgeState)]],
            "components": .object(
                components.map(\.member)
                    + gone.map { .init($0.key, .object([.init("platform", .string($0.value))])) }),
        ]
        return message.encoded()
    }
}

extension Discovery {
    package func configTopic(of button: ButtonID) -> String { configTopic(node(of: button)) }
    package var bridgeConfigTopic: String { configTopic(bridgeNode) }

    /// The button whose config topic this is.
    package func button(ofConfigTopic topicName: String) -> ButtonID? {
        let (before, after) = ("\(prefix)/device/\(nodePrefix)_", "/config")
        let octets = topicName.utf8
        guard octets.count == before.utf8.count + 12 + after.utf8.count, octets.starts(with: before.utf8) else {
            return nil
        }
        let rest = octets.dropFirst(before.utf8.count)
        guard rest.dropFirst(12).elementsEqual(after.utf8) else { return nil }
        return ButtonID(Substring(rest.prefix(12)))
    }

    func node(of button: ButtonID) -> String { "\(nodePrefix)_\(button)" }
    var bridgeNode: String { "\(nodePrefix)_bridge_\(installationID)" }

    private func configTopic(_ node: String) -> String { "\(prefix)/device/\(node)/config" }

    /// The base topic in the characters that a node id may have, so that a button paired with two bridges is two devices'.
    private var nodePrefix: String {
        var text = ""
        for scalar in topics.base.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "-": text.unicodeScalars.append(scalar)
            default: text.append("_")
            }
        }
        return text
    }
}

extension ButtonDevice {
    /// Never empty: Home Assistant refuses a device without a name.
    fileprivate var displayName: String {
        [name, serial].first { !$0.allSatisfy(\.isWhitespace) } ?? id.description
    }
}
