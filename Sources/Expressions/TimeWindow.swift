/// A part of the day from `after`, inclusive, to `before`, exclusive. If `after` is later than `before`, the window
/// spans midnight.
package struct TimeWindow: Hashable, Sendable {
    package var after, before: TimeOfDay

    package init(after: TimeOfDay, before: TimeOfDay) {
        self.after = after
        self.before = before
    }

    package func contains(_ now: LocalTime, sun: SunFacts) -> Bool {
        let moment = (Int64(now.hour) * 3600 + Int64(now.minute) * 60 + Int64(now.second)) * 1000
        let start = after.millisecondOfDay(sun)
        let end = before.millisecondOfDay(sun)
        if start < end { return start <= moment && moment < end }
        if start > end { return start <= moment || moment < end }
        // Sunset and sunrise coincide only where the sun does not cross the horizon; then the night or the day lasts
        // all day.
        switch (after.mark, before.mark) {
        case (.sunset?, .sunrise?), (.sunset?, .dawn?), (.dusk?, .sunrise?), (.dusk?, .dawn?):
            return sun.polar == .neverRises
        case (.sunrise?, .sunset?), (.sunrise?, .dusk?), (.dawn?, .sunset?), (.dawn?, .dusk?):
            return sun.polar == .neverSets
        case (.sunrise?, _), (.sunset?, _), (.dawn?, _), (.dusk?, _), (nil, _):
            return false
        }
    }
}

/// A time of day, such as `22:00`, `06:30:15` or `sunset - 30m`.
package enum TimeOfDay: Hashable, Sendable {
    package enum SunEvent: String, CaseIterable, Hashable, Sendable { case sunrise, sunset, dawn, dusk }

    case time(secondOfDay: Int)
    case sun(SunEvent, offsetMilliseconds: Int64)

    static let dayLength: Int64 = 86_400_000

    package var mark: SunEvent? {
        if case .sun(let mark, _) = self { mark } else { nil }
    }

    /// The time as written in rule files: `21:00`, `06:30:15`, `sunset - 30m`.
    package var text: String {
        func digits(_ value: Int) -> String { (value < 10 ? "0" : "") + String(value) }
        switch self {
        case .time(let second):
            let time = "\(digits(second / 3600)):\(digits(second / 60 % 60))"
            return second % 60 == 0 ? time : time + ":" + digits(second % 60)
        case .sun(let event, 0): return event.rawValue
        case .sun(let event, let offset):
            let magnitude = DurationText.text(milliseconds: Int64(clamping: offset.magnitude))
            return "\(event.rawValue) \(offset < 0 ? "-" : "+") \(magnitude)"
        }
    }

    /// The time in milliseconds after local midnight, 0…86 399 999.
    package func millisecondOfDay(_ sun: SunFacts) -> Int64 {
        let (moment, offset): (Int, Int64) =
            switch self {
            case .time(let second): (second, 0)
            case .sun(.sunrise, let offset): (sun.sunrise, offset)
            case .sun(.sunset, let offset): (sun.sunset, offset)
            case .sun(.dawn, let offset): (sun.dawn, offset)
            case .sun(.dusk, let offset): (sun.dusk, offset)
            }
        let inDay = Int64(moment % 86_400) * 1000 + offset % TimeOfDay.dayLength
        return (inDay % TimeOfDay.dayLength + TimeOfDay.dayLength) % TimeOfDay.dayLength
    }
}

extension TimeOfDay {
    /// Why a text is not a time of day. The message is a complete sentence.
    package struct Fault: Error, Hashable, Sendable {
        package var message: String
        package var hint: Hint?
    }

    package init(_ text: String) throws(Fault) {
        let isLetter = { (octet: UInt8) in (0x61...0x7A).contains(octet) }
        guard let mark = SunEvent(rawValue: String(Substring(text.utf8.prefix(while: isLetter)))) else {
            self = try TimeOfDay.time(of: text)
            return
        }
        let rest = text.utf8.drop(while: isLetter).drop { $0 == 0x20 }
        guard let sign = rest.first else {
            self = .sun(mark, offsetMilliseconds: 0)
            return
        }
        guard sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") else { throw TimeOfDay.fault(text) }
        let written = String(Substring(rest.dropFirst().drop { $0 == 0x20 }))
        do {
            let offset = try DurationText.milliseconds(written)
            self = .sun(mark, offsetMilliseconds: sign == UInt8(ascii: "-") ? -offset : offset)
        } catch {
            // The message and its changes are about the whole text, and the fault is in the offset.
            let before = text.dropLast(written.count)
            let hint = error.hint.map { Hint($0.sentence, $0.changes.map { .init(nil, before + $0.text) }) }
            throw Fault(message: "\"\(written)\" \(error.message)", hint: hint)
        }
    }

    private static func time(of text: String) throws(Fault) -> TimeOfDay {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3 else { throw fault(text) }
        var numbers: [Int] = []
        for part in parts {
            guard (1...2).contains(part.utf8.count), part.utf8.allSatisfy(\.isDigit), let number = Int(part) else {
                throw fault(text)
            }
            numbers.append(number)
        }
        let second = numbers.count == 3 ? numbers[2] : 0
        guard numbers[0] < 24, numbers[1] < 60, second < 60 else { throw fault(text) }
        guard parts.allSatisfy({ $0.utf8.count == 2 }) else {
            let padded = parts.map { ($0.utf8.count == 1 ? "0" : "") + $0 }.joined(separator: ":")
            throw Fault(message: "\"\(text)\" is not a time of day", hint: .write(padded))
        }
        return .time(secondOfDay: numbers[0] * 3600 + numbers[1] * 60 + second)
    }

    private static func fault(_ text: String) -> Fault {
        Fault(message: "\"\(text)\" is not a time of day (00:00 to 23:59:59)", hint: meant(by: text).map { .write($0) })
    }

    /// The time of day that a text means in the notation of other programs, such as `19:30` for `7:30 pm`; `nil` if it means
    /// none.
    private static func meant(by text: String) -> String? {
        let lower = text.lowercased()
        switch lower {
        case "24:00", "24:00:00", "midnight": return "00:00"
        case "noon", "midday": return "12:00"
        default: break
        }
        guard lower.hasSuffix("am") || lower.hasSuffix("pm") else { return nil }
        let parts = lower.dropLast(lower.hasSuffix(" am") || lower.hasSuffix(" pm") ? 3 : 2)
            .split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count <= 2, parts.allSatisfy({ $0.utf8.count <= 2 && $0.utf8.allSatisfy(\.isDigit) }),
            let hour = Int(parts[0]), (1...12).contains(hour), let minute = parts.count == 2 ? Int(parts[1]) : 0,
            minute < 60
        else { return nil }
        let digits = { (number: Int) in (number < 10 ? "0" : "") + String(number) }
        return "\(digits(hour % 12 + (lower.hasSuffix("pm") ? 12 : 0))):\(digits(minute))"
    }
}
