package import Expressions

/// Parses and writes durations in files, such as `1h30m`.
extension DurationText {
    package static let longest = Duration.milliseconds(longestMilliseconds)

    package static func parse(_ text: String) -> Result<Duration, Fault> {
        if YAMLNumber.isInteger(text) {
            return .failure(.withoutUnit(text))
        }
        do throws(Fault) {
            return .success(.milliseconds(try milliseconds(text)))
        } catch {
            return .failure(Fault(message: error.message, hint: clock(text) ?? error.hint))
        }
    }

    /// The shortest notation for a duration of whole milliseconds.
    package static func text(_ duration: Duration) -> String {
        let (seconds, attoseconds) = duration.components
        return text(milliseconds: seconds * 1000 + attoseconds / 1_000_000_000_000_000)
    }

    /// Converts a mapping such as `{minutes: 1, seconds: 30}`, as Home Assistant writes durations, for a hint. `nil`
    /// when an entry is not a unit with a number.
    static func meant(by entries: [YAMLNode.Entry]) -> String? {
        var total: Int64 = 0
        for entry in entries {
            guard let unit = foreignUnits[entry.key.text], case .scalar(let text, _) = entry.value.content,
                let number = Int64(text), (0...1_000_000).contains(number)
            else { return nil }
            total += number * unit
        }
        return entries.isEmpty ? nil : text(milliseconds: total)
    }

    /// Milliseconds in each unit.
    private static let foreignUnits: [String: Int64] = [
        "days": 86_400_000, "hours": 3_600_000, "minutes": 60_000, "seconds": 1000, "milliseconds": 1,
    ]

    /// A hint for a duration that is written as a clock time: `00:00:10`.
    private static func clock(_ text: String) -> Hint? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).compactMap { Int64($0) }
        guard parts.count == 3, parts.allSatisfy({ (0...1000).contains($0) }), text.utf8.count <= 12 else { return nil }
        return .write(DurationText.text(milliseconds: (parts[0] * 3600 + parts[1] * 60 + parts[2]) * 1000))
    }
}
