import ButtonModel
package import JSON

/// The voltages of a battery over time: the first measurement of each week of the last two years.
///
/// Weeks are counted from 1970-01-01, a Thursday. A battery lasts for a year or longer, so a week is fine enough to see it age,
/// and a button costs one more write to the disk in a week.
package struct BatteryTrend: Hashable, Sendable {
    /// The number of weeks, the one of the last measurement included, from which measurements are kept.
    package static let weekCount = 104
    private static let weekLength: Int64 = 604_800_000
    private static let millivolts = 0...65_535

    /// In millivolts, by the number of the week.
    private var weeks: [Int64: Int] = [:]

    package init() {}

    package var isEmpty: Bool { weeks.isEmpty }

    /// Keeps a measurement if it is the first of its week. Weeks after it are removed, because the clock was wrong then; if they were
    /// kept, a clock that was once years ahead would end the trend for years.
    ///
    /// - Returns: true if the trend has changed.
    mutating func add(millivolts: Int, at time: UTCTime) -> Bool {
        let week = time.milliseconds / Self.weekLength
        guard week >= 0, Self.millivolts.contains(millivolts) else { return false }
        let before = weeks
        weeks = weeks.filter { $0.key <= week && $0.key > week - Int64(Self.weekCount) }
        if weeks[week] == nil { weeks[week] = millivolts }
        return weeks != before
    }

    /// The form in the database and in recordings: `{"2967":3012}`, the millivolts by the number of the week.
    package var json: JSONValue {
        .object(weeks.sorted { $0.key < $1.key }.map { .init(String($0.key), .integer(Int64($0.value))) })
    }

    /// `nil` if the value is not one of `json`.
    package init?(_ json: JSONValue) {
        guard let members = json.objectValue, members.count <= Self.weekCount else { return nil }
        for member in members {
            guard let week = Int64(member.name), (0...Int64(UInt32.max)).contains(week),
                let millivolts = member.value.integerValue.flatMap(Int.init(exactly:)),
                Self.millivolts.contains(millivolts)
            else { return nil }
            weeks[week] = millivolts
        }
        guard let first = weeks.keys.min(), let last = weeks.keys.max() else { return }
        guard last - first < Int64(Self.weekCount) else { return nil }
    }

    /// The form for clients: `{"since":"2026-11-19T00:00:00.000Z","mv":[3012,null,3005]}`. `mv` has a place for each week, which is
    /// null if the battery was not measured then. Null if there is no measurement.
    var answer: JSONValue {
        guard let first = weeks.keys.min(), let last = weeks.keys.max() else { return .null }
        return [
            "since": .string(UTCTime(milliseconds: first * Self.weekLength).description),
            "mv": .array((first...last).map { weeks[$0].map { .integer(Int64($0)) } ?? .null }),
        ]
    }
}
