import JSON

extension Discovery {
    /// Octets of an older announcement, at most; ours have 6000, those of a Twist 12000.
    static let maximumAnnouncementLength = 65_536
    /// Components that are withdrawn at once, at most.
    static let maximumWithdrawn = 64
    /// Octets of a component's key, at most.
    static let maximumKeyLength = 64

    /// Of an older announcement, the components that the newer one does not have: their keys and platforms. Empty, too, for
    /// what is no announcement.
    ///
    /// The older one comes from the broker, where anybody may have put it: what could not be a component of ours is left
    /// out. A component that says nothing but its platform has been withdrawn already.
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
