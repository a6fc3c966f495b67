import Almanac
import ButtonModel
import Foundation
import Testing

/// The reference tables, computed once by other programs, and the zone files they were computed from (Debian's tzdata
/// 2025b).
enum Resources {
    struct Offset: Sendable {
        var zone: String
        var moment: Int64
        var offset: Int
    }

    static func octets(ofZone name: String) throws -> [UInt8] {
        let file = name.replacingOccurrences(of: "/", with: "-")
        let url = try #require(Bundle.module.url(forResource: file, withExtension: nil, subdirectory: "Zones"))
        return [UInt8](try Data(contentsOf: url))
    }

    static func zone(_ name: String) throws -> Almanac.TimeZone {
        try #require(Almanac.TimeZone(named: name, try octets(ofZone: name)))
    }

    /// The fields of each line that is not a comment.
    static func lines(of table: String) throws -> [[String]] {
        let url = try #require(Bundle.module.url(forResource: table, withExtension: "txt", subdirectory: "Tables"))
        return try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
            .filter { !$0.hasPrefix("#") }
            .map { $0.split(separator: " ").map(String.init) }
    }

    static func offsets() throws -> [Offset] {
        try lines(of: "offsets").map {
            Offset(zone: $0[0], moment: try #require(Int64($0[1])), offset: try #require(Int($0[2])))
        }
    }
}

extension UTCTime {
    init(seconds: Int64) { self.init(milliseconds: seconds * 1000) }
}
