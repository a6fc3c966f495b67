import Expressions
import Testing

@Suite("Time windows of the day")
struct TimeWindowTests {
    private func contains(_ after: String, _ before: String, at time: String, sun: SunFacts = sunny) throws -> Bool {
        guard case .time(let second) = try TimeOfDay(time) else { return false }
        var now = LocalTime()
        now.hour = second / 3600
        now.minute = second / 60 % 60
        now.second = second % 60
        return TimeWindow(after: try TimeOfDay(after), before: try TimeOfDay(before)).contains(now, sun: sun)
    }

    private static let sunny: SunFacts = {
        var sun = SunFacts()
        (sun.dawn, sun.sunrise, sun.sunset, sun.dusk) = (6 * 3600, 7 * 3600, 20 * 3600, 21 * 3600)
        return sun
    }()

    @Test("a window contains its after time and not its before time")
    func bounds() throws {
        #expect(try contains("07:00", "09:00", at: "07:00"))
        #expect(try contains("07:00", "09:00", at: "08:59:59"))
        #expect(try !contains("07:00", "09:00", at: "09:00"))
        #expect(try !contains("07:00", "09:00", at: "06:59:59"))
        #expect(try contains("07:00:30", "07:00:31", at: "07:00:30"))
    }

    @Test("a window whose after time is later than its before time spans midnight")
    func midnight() throws {
        #expect(try contains("22:00", "06:00", at: "22:00"))
        #expect(try contains("22:00", "06:00", at: "00:00"))
        #expect(try !contains("22:00", "06:00", at: "06:00"))
        #expect(try !contains("22:00", "06:00", at: "12:00"))
    }

    @Test("a window's bounds follow the sun, and an offset may move them over midnight")
    func sun() throws {
        #expect(try contains("sunset - 30m", "sunrise", at: "19:30"))
        #expect(try !contains("sunset - 30m", "sunrise", at: "19:29:59"))
        #expect(try contains("dusk+4h", "dawn-1h", at: "01:00"))
        #expect(try !contains("dusk+4h", "dawn-1h", at: "00:59:59"))
        #expect(try !contains("sunset", "sunset - 24h", at: "12:00"))
    }

    @Test("in a day without sunrise it is always night, and in a day without sunset never")
    func polar() throws {
        var dark = SunFacts()
        (dark.dawn, dark.sunrise, dark.sunset, dark.dusk) = (43_000, 43_000, 43_000, 43_000)
        dark.polar = .neverRises
        var light = dark
        light.polar = .neverSets
        for time in ["00:00", "12:00", "23:59"] {
            #expect(try contains("sunset", "sunrise", at: time, sun: dark))
            #expect(try !contains("sunrise", "sunset", at: time, sun: dark))
            #expect(try !contains("sunset", "sunrise", at: time, sun: light))
            #expect(try contains("dawn", "dusk", at: time, sun: light))
            #expect(try !contains("sunset", "dusk", at: time, sun: dark))
        }
    }

    @Test("a sun time before or after the day is moved into the day by 24 hours")
    func outside() throws {
        var sun = TimeWindowTests.sunny
        sun.sunset = 86_400 + 600
        #expect(try contains("sunset", "01:00", at: "00:10", sun: sun))
        sun.sunset = -600
        #expect(try contains("sunset", "23:55", at: "23:50", sun: sun))
    }

    @Test(
        "times of day have two digits for each part; other text is refused with the right form",
        arguments: [
            ("22:00", nil), ("23:59:59", nil), ("sunset", nil), ("dawn+1h30m", nil), ("dusk - 5m", nil),
            ("24:00", #""24:00" is not a time of day (00:00 to 23:59:59); write 00:00"#),
            ("12:60", #""12:60" is not a time of day (00:00 to 23:59:59)"#),
            ("7:00", #""7:00" is not a time of day; write 07:00"#),
            ("7:5:9", #""7:5:9" is not a time of day; write 07:05:09"#),
            ("noon", #""noon" is not a time of day (00:00 to 23:59:59); write 12:00"#),
            ("midnight", #""midnight" is not a time of day (00:00 to 23:59:59); write 00:00"#),
            ("7am", #""7am" is not a time of day (00:00 to 23:59:59); write 07:00"#),
            ("12am", #""12am" is not a time of day (00:00 to 23:59:59); write 00:00"#),
            ("12 PM", #""12 PM" is not a time of day (00:00 to 23:59:59); write 12:00"#),
            ("7:30 pm", #""7:30 pm" is not a time of day (00:00 to 23:59:59); write 19:30"#),
            ("13pm", #""13pm" is not a time of day (00:00 to 23:59:59)"#),
            ("pm", #""pm" is not a time of day (00:00 to 23:59:59)"#),
            ("", #""" is not a time of day (00:00 to 23:59:59)"#),
            ("12", #""12" is not a time of day (00:00 to 23:59:59)"#),
            ("sunset +", #""" is not a duration; write 10s, 500ms or 1h30m"#),
            ("sunset 5m", #""sunset 5m" is not a time of day (00:00 to 23:59:59)"#),
            ("٠٧:٠٠", #""٠٧:٠٠" is not a time of day (00:00 to 23:59:59)"#),
        ])
    func clocks(text: String, problem: String?) {
        do throws(TimeOfDay.Fault) {
            _ = try TimeOfDay(text)
            #expect(problem == nil)
        } catch {
            #expect(problem == error.message + (error.hint?.sentence.map { "; " + $0 } ?? ""))
        }
    }
}
