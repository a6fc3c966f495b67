import JSON

extension Discovery {
    /// The maximum length of an older announcement in octets. Announcements have 6000 octets, those of a Twist 12000.
    static let maximumAnnouncementLength = 65_536
    /// The maximum number of components that one announcement withdraws.
    static let maximumWithdrawn = 64
    /// The maximum length of a component's key in octets.
    static let maximumKeyLength = 64

    /// The platforms, by key, of the components that an older announcement has and a newer one does not. Empty if the
    /// older payload is not an announcement.
    ///
    /// The older payload comes from the broker, to which any client may publish, so components that cannot be from
    /// Tryck are left out. A component that consists of its platform only is withdrawn already.
    package static func withdrawn(from older: [UInt8], to newer: [UInt8]) -> [String: String] {
        let kept = Set(components(in: newer).map(\.name))
        var withdrawn: [String: String] = [:]
        for component in components(in: older) where !kept.contains(component.name) && isKey(component.name) {
            guard withdrawn.count < maximumWithdrawn else { break }
            guard let platform = component.value["platform"]?.stringValue.flatMap(Component.Platform.init),
                let members = component.value.objectValue, members.count > 1
            else { continue }
            withdrawn[component.name] = platform.rawValue
        }
        return withdrawn
    }

    private static func components(in announcement: [UInt8]) -> [JSONValue.Member] {
        guard announcement.count <= maximumAnnouncementLength else { return [] }
        return (try? JSONValue(parsing: announcement))?["components"]?.objectValue ?? []
    }

    private static func isKey(_ text: String) -> Bool {
        let isWritable = text.utf8.allSatisfy { octet in
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"):
                true
            default: false
            }
        }
        return isWritable && (1...maximumKeyLength).contains(text.utf8.count)
    }
}
