package import ButtonModel
import JSON

/// The announcements of the bridge and its buttons to Home Assistant's MQTT discovery, one retained message for each
/// device.
///
/// Home Assistant rejects a whole message with an unknown key or a `null` at the root or in `device`, without `origin`,
/// with an empty name, or with an entity without `unique_id`. Node ids, component keys and unique ids never change,
/// because they consist of the base topic and the address, without a name. There is no `expire_after`, because a button
/// may be silent for weeks.
package struct Discovery: Hashable, Sendable {
    package var topics: Topics
    /// The discovery prefix, such as `homeassistant`; it may have several levels.
    package var prefix: String
    /// Four hexadecimal digits that identify this installation.
    package var installationID: String
    /// The version of this program.
    package var version: String
    /// The address of the page, which Home Assistant shows as the link *Visit* of each device; `nil`: none.
    package var pageURL: String?
    /// The public address of the project, which Home Assistant shows as the origin of each device; `nil`: none.
    package var supportURL: String?
    /// True if requests over MQTT are accepted. If not, no controls are announced.
    package var acceptsRequests: Bool
    /// True if a restart is among the accepted requests.
    package var acceptsRestart: Bool
    /// The names of the radios if there are several, in the order of the configuration; else empty.
    package var radios: [String]

    package init(
        topics: Topics, prefix: String, installationID: String, version: String, pageURL: String? = nil,
        supportURL: String? = nil, acceptsRequests: Bool, acceptsRestart: Bool, radios: [String] = []
    ) {
        self.topics = topics
        self.prefix = prefix
        self.installationID = installationID
        self.version = version
        self.pageURL = pageURL
        self.supportURL = supportURL
        self.acceptsRequests = acceptsRequests
        self.acceptsRestart = acceptsRestart
        self.radios = radios
    }

    /// The payload for `configTopic(of:)`.
    ///
    /// - Parameters:
    ///   - withdrawn: the platforms, by key, of components that are no longer announced. Home Assistant removes a component
    ///     only when an announcement has its key with nothing but the platform.
    ///   - entities: whether the entities are announced as usual, removed, or given new ids.
    package func payload(
        _ device: ButtonDevice, withdrawn: [String: String] = [:], entities: EntityAnnouncement = .usual
    ) -> [UInt8] {
        let node = node(of: device.id)
        return payload(
            [
                "identifiers": [.string(node)],
                // The address is in upper case, because Home Assistant compares it with that of its own Bluetooth device.
                "connections": [["bluetooth", .string(device.address.description)]],
                "name": .string(device.displayName), "manufacturer": .string(ButtonDevice.manufacturer),
                "model": .string(device.model.productName), "serial_number": .string(device.serial),
                "sw_version": .string(String(device.firmwareVersion)), "via_device": .string(bridgeNode),
            ], components(of: device).map { $0.announced(entities, deviceName: device.displayName) }, withdrawn)
    }

    /// The payload for `bridgeConfigTopic`.
    package func bridgePayload(withdrawn: [String: String] = [:]) -> [UInt8] {
        payload(
            [
                "identifiers": [.string(bridgeNode)], "name": "Flic bridge", "manufacturer": "tryck",
                "model": "MQTT bridge", "sw_version": .string(version),
            ], bridgeComponents, withdrawn)
    }

    private func payload(
        _ device: KeyValuePairs<String, JSONValue>, _ components: [Component], _ withdrawn: [String: String]
    ) -> [UInt8] {
        let keys = Set(components.map(\.key))
        let gone = withdrawn.filter { !keys.contains($0.key) }.sorted { $0.key < $1.key }
        let link = pageURL.map { [JSONValue.Member("configuration_url", .string($0))] } ?? []
        let origin: [JSONValue.Member] =
            [.init("name", "tryck"), .init("sw_version", .string(version))]
            + (supportURL.map { [.init("support_url", .string($0))] } ?? [])
        let message: JSONValue = [
            "device": .object(device.map { JSONValue.Member($0, $1) } + link),
            "origin": .object(origin),
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

    /// The button that a config topic belongs to; `nil` for other topics.
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

    /// The base topic, with `_` for characters that a node id may not have. With it, a button that is paired with two
    /// bridges becomes two devices.
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
    /// The device's name; never empty, because Home Assistant refuses a device without a name.
    fileprivate var displayName: String {
        [name, serial].first { !$0.allSatisfy(\.isWhitespace) } ?? id.description
    }
}
