import ButtonModel

/// A POSIX TZ string: the yearly rule for setting the clocks of a zone, in the years after the last change that its
/// zone file lists.
///
///     CET-1CEST,M3.5.0,M10.5.0/3
///     std offset [ dst [ offset ] [ , start [ / time ] , end [ / time ] ] ]
///
/// A name is at least three letters, or any text in `<>`. An offset is `[+-]hh[:mm[:ss]]`, positive to the west. A day
/// is `Jn` (1…365, never 29 February), `n` (0…365, counting 29 February) or `Mm.w.d` (week 5 is the last, day 0 is
/// Sunday). A time is −167…167 hours.
///
/// - Source: POSIX.1-2017, 8.3; RFC 8536, 3.3.1 for the range of the time.
struct ClockRule: Hashable, Sendable {
    /// In seconds east of UTC.
    let standardOffset: Int
    let saving: Saving?

    struct Saving: Hashable, Sendable {
        /// In seconds east of UTC. In Ireland it is less than `standardOffset`, because winter time is the "saving"
        /// time there.
        var offset: Int
        var start, end: YearlyChange
    }

    /// A change of the clock in each year. Its local time is that of the offset before the change.
    struct YearlyChange: Hashable, Sendable {
        enum Day: Hashable, Sendable {
            case withoutLeapDay(Int)
            case withLeapDay(Int)
            case weekday(month: Int, week: Int, day: Int)
        }

        var day: Day
        var secondsAfterMidnight = 7200
    }

    var offsets: Set<Int> { saving.map { [standardOffset, $0.offset] } ?? [standardOffset] }

    func offset(at moment: Int64) -> Int {
        guard let saving else { return standardOffset }
        let year = UTCTime.civil(fromDaysSinceEpoch: moment.dividedRoundingDown(by: 86_400).quotient).year
        // A time of ±167 hours can move a change into the neighbouring year, so the neighbouring years' changes are
        // examined, too.
        let years = (year - 2)...(year + 1)
        let isOver: (Int64) -> Bool = { $0 <= moment }
        let starts = years.map { saving.start.moment(in: $0, offset: standardOffset) }.filter(isOver)
        let ends = years.map { saving.end.moment(in: $0, offset: saving.offset) }.filter(isOver)
        // When an end and a start coincide, the start wins: TZ strings express daylight saving time all year by such a
        // pair.
        return (starts.max() ?? .min) >= (ends.max() ?? .min) ? saving.offset : standardOffset
    }
}

extension ClockRule.YearlyChange {
    fileprivate func moment(in year: Int64, offset: Int) -> Int64 {
        days(in: year) * 86_400 + Int64(secondsAfterMidnight - offset)
    }

    private func days(in year: Int64) -> Int64 {
        switch day {
        case .withoutLeapDay(let number):
            let leapDay = number >= 60 && CivilDate.isLeap(Int(year)) ? 1 : 0
            return CivilDate.daysSinceEpoch(year: year, month: 1, day: number + leapDay)
        case .withLeapDay(let number):
            return CivilDate.daysSinceEpoch(year: year, month: 1, day: number + 1)
        case .weekday(let month, let week, let day):
            let first = CivilDate.daysSinceEpoch(year: year, month: month, day: 1)
            // 1970-01-01 was a Thursday, day 4 of a week that begins with Sunday as day 0.
            let firstWeekday = Int((first + 4).dividedRoundingDown(by: 7).remainder)
            let dayOfMonth = (day - firstWeekday + 7) % 7 + 1 + (week - 1) * 7
            let isOverTheEnd = dayOfMonth > CivilDate.length(ofMonth: month, in: Int(year))
            return first + Int64(isOverTheEnd ? dayOfMonth - 8 : dayOfMonth - 1)
        }
    }
}

extension ClockRule {
    /// Parses a TZ string. `nil` for anything else, including the form `:name` that refers to a file.
    init?(_ text: ArraySlice<UInt8>) {
        var text = Text(rest: text)
        guard text.skipName(), let standard = text.offset() else { return nil }
        standardOffset = -standard
        guard !text.rest.isEmpty else {
            saving = nil
            return
        }
        guard text.skipName() else { return nil }
        var offset = standardOffset + 3600
        if let next = text.rest.first, next != UInt8(ascii: ",") {
            guard let written = text.offset() else { return nil }
            offset = -written
        }
        guard !text.rest.isEmpty else {
            // A string without dates gets the current rule of the United States, as in the C library.
            saving = Saving(
                offset: offset, start: YearlyChange(day: .weekday(month: 3, week: 2, day: 0)),
                end: YearlyChange(day: .weekday(month: 11, week: 1, day: 0)))
            return
        }
        guard text.skip(","), let start = text.yearly(), text.skip(","), let end = text.yearly(), text.rest.isEmpty
        else { return nil }
        saving = Saving(offset: offset, start: start, end: end)
    }

    private struct Text {
        var rest: ArraySlice<UInt8>

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        mutating func skipName() -> Bool {
            if skip("<") {
                rest = rest.drop { $0 != UInt8(ascii: ">") }
                return skip(">")
            }
            let count = rest.count
            rest = rest.drop { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
            return count - rest.count >= 3
        }

        mutating func number(_ range: ClosedRange<Int>) -> Int? {
            let digits = rest.prefix { (0x30...0x39).contains($0) }
            guard (1...3).contains(digits.count) else { return nil }
            rest = rest.dropFirst(digits.count)
            let number = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
            return range.contains(number) ? number : nil
        }

        /// Parses `[+-]hh[:mm[:ss]]`, and returns seconds.
        mutating func time(hours: ClosedRange<Int>) -> Int? {
            let isNegative = skip("-")
            if !isNegative { _ = skip("+") }
            guard var seconds = number(hours).map({ $0 * 3600 }) else { return nil }
            for unit in [60, 1] {
                guard skip(":") else { break }
                guard let number = number(0...59) else { return nil }
                seconds += number * unit
            }
            return isNegative ? -seconds : seconds
        }

        mutating func offset() -> Int? { time(hours: 0...24) }

        mutating func yearly() -> YearlyChange? {
            guard let day = day() else { return nil }
            guard skip("/") else { return YearlyChange(day: day) }
            return time(hours: 0...167).map { YearlyChange(day: day, secondsAfterMidnight: $0) }
        }

        private mutating func day() -> YearlyChange.Day? {
            if skip("J") { return number(1...365).map(YearlyChange.Day.withoutLeapDay) }
            guard skip("M") else { return number(0...365).map(YearlyChange.Day.withLeapDay) }
            guard let month = number(1...12), skip("."), let week = number(1...5), skip("."), let day = number(0...6)
            else { return nil }
            return .weekday(month: month, week: week, day: day)
        }
    }
}
