package import JSON

/// Why a payload of the feed could not be read. The description says what to do next.
package enum FeedPayloadFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The payload has this many octets.
    case tooLong(Int)
    case notJSON(JSONError)
    /// The member `v` of a hello has another value than `FeedHello.version`.
    case unsupportedVersion(Int)
    case missing(String)
    /// The member has another type, or a value out of its range.
    case invalid(String)
    /// The array or object of this name has too many members.
    case tooMany(String)

    package var description: String {
        switch self {
        case .tooLong(let count):
            "the payload has \(count) octets, which is too long; check which program publishes on this topic"
        case .notJSON(let error): "the payload is not JSON (\(error)); check which program publishes on this topic"
        case .unsupportedVersion(let version):
            "version \(version) of the feed is unknown; install the same version of Tryck on both machines"
        case .missing(let name): "`\(name)` is missing; install the same version of Tryck on both machines"
        case .invalid(let name): "`\(name)` has an invalid value; install the same version of Tryck on both machines"
        case .tooMany(let name): "`\(name)` has too many members; check which program publishes on this topic"
        }
    }
}
