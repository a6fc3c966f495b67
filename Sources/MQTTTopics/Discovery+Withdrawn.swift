import JSON

extension Discovery {
    /// The most octets of an older announcement that is read. Our announcements have 6000 octets, those of a Twist
    /// 12000.
    static let maximumAnnouncementLength = 65_536
    /// The most components that one announcement withdraws.
    static let maximumWithdrawn = 64
    /// The most octets in the key of a component.
    static let maximumKeyLength = 64

    /// The components of an older announcement that a newer one does not have: their platforms by key. Empty when the
    /// older payload is no announcement.
    ///
    /// The older payload comes from the broker, where any client may have put it, so components that cannot be ours are
    /// left out. A component that has nothing but its platform is already withdrawn.
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
