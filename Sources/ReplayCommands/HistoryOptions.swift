import ArgumentParser
package import ButtonModel
import CommandSupport
import Expressions
import Glibc
import Platform
import Setup

/// The options of commands that read the history.
struct HistoryOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only this button: its name or id.", valueName: "name"))
    var button: String?

    @Option(
        help: ArgumentHelp(
            """
            Only events since then: a duration such as 2h or 3d, today, yesterday, or a local time such as 2026-11-21 or \
            2026-11-21T02:30. The default is the whole history.
            """, valueName: "time"))
    var since: String?

    @OptionGroup var paths: PathOptions

    /// The beginning of what is shown; `nil` for the whole history.
    ///
    /// - Throws: `Failure` with status 64.
    func beginning(now: UTCTime) throws(Failure) -> UTCTime? {
        guard let since else { return nil }
        guard let time = HistoryTime.parse(since, now: now) else {
            throw Failure(
                .usage,
                "--since takes 2h, 3d, today, yesterday or a local time such as 2026-11-21T02:30, not \"\(since)\".")
        }
        return time
    }

    /// Says that there is no such event, and which events there are.
    ///
    /// - Parameter known: the names of the buttons that have events.
    static func noEvents(of button: String, known: Set<String>) -> String {
        let near = Suggestions.nearest(to: button, among: known.sorted()).map { "did you mean \"\($0)\"?" }
        let others =
            known.isEmpty ? "no button has" : near ?? "events are there of \(known.sorted().joined(separator: ", "))"
        return "there is no event of \(button) in this time; \(others)"
    }

    /// The history.
    func files() throws(Failure) -> HistoryFiles {
        try HistoryFiles(ofStateDirectory: try stateDirectory())
    }

    private func stateDirectory() throws(Failure) -> String {
        do throws(Setup.Failure) {
            return try Setup.stateDirectory(
                DaemonOptions(configuration: paths.config, stateDirectory: paths.stateDirectory),
                environment: SystemEnvironment.environmentVariables)
        } catch {
            throw Failure(error.status, error.text)
        }
    }
}

/// Times of the history in the local time of the machine.
package enum HistoryTime {
    package static func parse(_ text: String, now: UTCTime) -> UTCTime? {
        if text == "today" || text == "yesterday" {
            var local = localTime(now)
            if text == "yesterday" { local.tm_mday -= 1 }
            (local.tm_hour, local.tm_min, local.tm_sec, local.tm_isdst) = (0, 0, 0, -1)
            return UTCTime(milliseconds: Int64(mktime(&local)) * 1000)
        }
        if let milliseconds = try? DurationText.milliseconds(text) { return now - .milliseconds(milliseconds) }
        return local(text)
    }

    /// `2026-11-21`, `2026-11-21T02:30` or `2026-11-21T02:30:05`.
    private static func local(_ text: String) -> UTCTime? {
        func numbers(_ text: Substring, _ separator: Character) -> [Int32]? {
            let numbers = text.split(separator: separator, omittingEmptySubsequences: false).map { Int32($0) }
            let known = numbers.compactMap(\.self)
            return known.count == numbers.count ? known : nil
        }
        let parts = text.split(separator: "T", maxSplits: 1, omittingEmptySubsequences: false)
        guard let day = numbers(parts[0], "-"), day.count == 3, (1970...9999).contains(day[0]),
            (1...12).contains(day[1]), (1...31).contains(day[2])
        else { return nil }
        var local = tm()
        (local.tm_year, local.tm_mon, local.tm_mday, local.tm_isdst) = (day[0] - 1900, day[1] - 1, day[2], -1)
        if parts.count == 2 {
            guard let clock = numbers(parts[1], ":"), (2...3).contains(clock.count), (0...23).contains(clock[0]),
                clock.dropFirst().allSatisfy({ (0...59).contains($0) })
            else { return nil }
            (local.tm_hour, local.tm_min, local.tm_sec) = (clock[0], clock[1], clock.count == 3 ? clock[2] : 0)
        }
        return UTCTime(milliseconds: Int64(mktime(&local)) * 1000)
    }

    /// The day `2026-11-21` and the time `02:30:00.123`, both local.
    static func dayAndTime(_ time: UTCTime) -> (day: String, time: String) {
        let offset = localTime(time).tm_gmtoff
        let parts = (time + .seconds(offset)).description.split(separator: "T", maxSplits: 1)
        return (String(parts.first ?? ""), String(parts.last?.dropLast() ?? ""))
    }

    private static func localTime(_ time: UTCTime) -> tm {
        var seconds = time_t(time.milliseconds / 1000)
        var local = tm()
        localtime_r(&seconds, &local)
        return local
    }
}
