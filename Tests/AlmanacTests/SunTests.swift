import Almanac
import ButtonModel
import Expressions
import TestSupport
import Testing

@Suite("Sun times")
struct SunTests {
    /// A line of the reference table.
    struct Day {
        var place, date: String
        var location: Location
        var zone: TimeZone
        /// Local times in seconds since midnight; `nil` where the sun does not cross that elevation on this day.
        var dawn, sunrise, sunset, dusk: Int?
        var noon: Int
        /// In degrees at 16:00, without atmospheric refraction.
        var elevation: Double

        init(_ words: [String]) throws {
            place = words[0]
            location = Location(latitude: try #require(Double(words[1])), longitude: try #require(Double(words[2])))
            zone = try Resources.zone(words[3])
            date = words[4]
            let moments: [Int?] = words[5...9].map { word in
                let parts = word.split(separator: ":").compactMap { Int($0) }
                return parts.count == 3 ? parts[0] * 3600 + parts[1] * 60 + parts[2] : nil
            }
            (dawn, sunrise, sunset, dusk) = (moments[0], moments[1], moments[3], moments[4])
            noon = try #require(moments[2])
            elevation = try #require(Double(words[10]))
        }

        var isPolar: Bool { sunrise == nil && sunset == nil }

        func time(_ hour: Int, _ minute: Int = 0) throws -> UTCTime {
            let numbers = date.split(separator: "-").compactMap { Int($0) }
            return try #require(
                zone.moments(
                    year: numbers[0], month: numbers[1], day: numbers[2], hour: hour, minute: minute, second: 0
                ).first)
        }
    }

    static func days() throws -> [Day] { try Resources.lines(of: "sun").map(Day.init) }

    @Test("the sun rises and sets within half a minute of the reference, also near the poles and in summer time")
    func almanac() throws {
        let days = try SunTests.days()
        #expect(Set(days.map(\.place)).count == 16)
        for day in days where !day.isPolar {
            let facts = day.location.sun(at: try day.time(12), in: day.zone)
            #expect(facts.polar == nil, "\(day.place) \(day.date)")
            let computed = [facts.dawn, facts.sunrise, facts.sunset, facts.dusk]
            for (computed, expected) in zip(computed, [day.dawn, day.sunrise, day.sunset, day.dusk]) {
                guard let expected else { continue }
                #expect(abs(computed - expected) <= 30, "\(day.place) \(day.date): \(computed) is not \(expected)")
            }
        }
    }

    @Test("on a day without a sunrise all four moments are solar noon, and without a sunset solar midnight")
    func polarDays() throws {
        let days = try SunTests.days().filter(\.isPolar)
        #expect(Set(days.map(\.place)) == ["Tromso", "Longyearbyen", "Troll"])
        for day in days {
            let facts = day.location.sun(at: try day.time(12), in: day.zone)
            let isDark =
                day.location.latitude > 0 ? day.date > "2026-10" || day.date < "2026-03" : day.date == "2026-06-21"
            #expect(facts.polar == (isDark ? .neverRises : .neverSets), "\(day.place) \(day.date)")
            #expect(facts.isUp == !isDark)
            let moments = Set([facts.dawn, facts.sunrise, facts.sunset, facts.dusk])
            let moment = try #require(moments.first)
            #expect(moments.count == 1)
            #expect(abs(moment - (day.noon + (isDark ? 0 : 43_200)) % 86_400) <= 30, "\(day.place) \(day.date)")
        }
    }

    @Test("the elevation is the reference's plus the refraction of the air, which is large near the horizon")
    func elevation() throws {
        for day in try SunTests.days() {
            let facts = day.location.sun(at: try day.time(16), in: day.zone)
            let lift = facts.elevation - day.elevation
            let place = "\(day.place) \(day.date): \(facts.elevation) is not \(day.elevation)"
            #expect(facts.isUp == (day.elevation > -50.0 / 60), "\(place)")
            // Refraction lifts the sun by a tenth of a degree at ten degrees and by half a degree at the horizon.
            switch day.elevation {
            case 12...: #expect((-0.02...0.1).contains(lift), "\(place)")
            case 2..<12: #expect((0.05...0.31).contains(lift), "\(place)")
            case 0..<2: #expect((0.3...0.5).contains(lift), "\(place)")
            case ..<(-4): #expect((-0.02...0.1).contains(lift), "\(place)")
            default: #expect((0...0.5).contains(lift), "\(place)")
            }
        }
    }

    @Test("the sun is up from the second it rises to the second it sets")
    func edges() throws {
        for day in try SunTests.days() where day.place == "Utrecht" || day.place == "Apia" {
            let midnight = try day.time(0)
            let facts = day.location.sun(at: midnight, in: day.zone)
            // On a day on which the clock changes, it changes before the sun rises.
            let shift = day.zone.offset(at: try day.time(12)) - day.zone.offset(at: midnight)
            for (moment, isUp) in [(facts.sunrise, true), (facts.sunset, false)] {
                let time = midnight + .seconds(moment - shift)
                #expect(day.location.sun(at: time + .seconds(2), in: day.zone).isUp == isUp)
                #expect(day.location.sun(at: time - .seconds(2), in: day.zone).isUp == !isUp)
            }
        }
    }

    @Test("every time of a local day gives the same sunrise and dusk, also on days on which the clock changes")
    func wholeDay() throws {
        for day in try SunTests.days() where day.place == "Utrecht" {
            let noon = day.location.sun(at: try day.time(12), in: day.zone)
            for (hour, minute) in [(0, 0), (1, 59), (3, 0), (23, 59)] {
                let facts = day.location.sun(at: try day.time(hour, minute), in: day.zone)
                #expect(
                    abs(facts.sunrise - noon.sunrise) <= 1 && abs(facts.dusk - noon.dusk) <= 1, "\(day.date) \(hour)")
            }
        }
    }

    @Test("twilight that lasts all night lies between dawn and dusk, and never between dusk and dawn")
    func whiteNight() throws {
        let anchorage = try #require(try SunTests.days().first { $0.place == "Anchorage" && $0.date == "2026-06-21" })
        let light = TimeWindow(after: .sun(.dawn, offsetMilliseconds: 0), before: .sun(.dusk, offsetMilliseconds: 0))
        let dark = TimeWindow(after: .sun(.dusk, offsetMilliseconds: 0), before: .sun(.dawn, offsetMilliseconds: 0))
        for hour in 0..<24 {
            for minute in [0, 15, 30, 45] {
                let time = try anchorage.time(hour, minute)
                let facts = anchorage.location.sun(at: time, in: anchorage.zone)
                #expect(facts.polar == nil)
                #expect(light.contains(anchorage.zone.localTime(at: time), sun: facts))
                #expect(!dark.contains(anchorage.zone.localTime(at: time), sun: facts))
            }
        }
    }

    @Test("on the days around the last night before the polar day, noon is not between sunset and sunrise")
    func lastNight() throws {
        // Around 17 May in Tromsø: the sun that rises shortly after midnight stays up.
        let tromso = try #require(try SunTests.days().first { $0.place == "Tromso" })
        var kinds: [String] = []
        for day in 10...25 {
            let time = try #require(
                tromso.zone.moments(year: 2026, month: 5, day: day, hour: 12, minute: 0, second: 0).first)
            let facts = tromso.location.sun(at: time, in: tromso.zone)
            let kind = facts.polar == nil ? "night" : facts.polar == .neverSets ? "none" : "dark"
            if kinds.last != kind { kinds.append(kind) }
            if facts.polar == nil {
                let window = TimeWindow(
                    after: .sun(.sunset, offsetMilliseconds: 0), before: .sun(.sunrise, offsetMilliseconds: 0))
                #expect(!window.contains(tromso.zone.localTime(at: time), sun: facts), "\(day) May")
            }
        }
        #expect(kinds == ["night", "none"])
    }

    @Test("the sun's times are written in the clock of a zone that is far from the place")
    func foreignZone() throws {
        let sydney = try #require(try SunTests.days().first { $0.place == "Sydney" && $0.date == "2026-06-21" })
        let facts = sydney.location.sun(at: try sydney.time(12), in: .utc)
        let there = sydney.location.sun(at: try sydney.time(12), in: sydney.zone)
        #expect(abs((facts.sunrise + 36_000) % 86_400 - there.sunrise) <= 30)
        #expect(abs((facts.sunset + 36_000) % 86_400 - there.sunset) <= 30)
    }

    @Test("the sun's times can be computed for any place at any time", arguments: Array(1...4) as [UInt64])
    func anywhere(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let odd = [90, -90, 0, 180, -180, 1e300, .infinity, -.infinity, .nan]
        for count in 0..<300 {
            var location = Location(
                latitude: Double.random(in: -90...90, using: &random),
                longitude: Double.random(in: -180...180, using: &random))
            if count % 3 == 0 { location.latitude = odd.randomElement(using: &random) ?? 0 }
            if count % 5 == 0 { location.longitude = odd.randomElement(using: &random) ?? 0 }
            let scale: Int64 = count % 2 == 0 ? .max : 4_000_000_000_000
            let time = UTCTime(milliseconds: Int64.random(in: -scale...scale, using: &random))
            let facts = location.sun(at: time, in: .utc)
            for moment in [facts.dawn, facts.sunrise, facts.sunset, facts.dusk] {
                #expect((0..<86_400).contains(moment))
            }
        }
    }
}
