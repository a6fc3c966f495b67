import Almanac
import ButtonModel
import CommandSupport
import Expressions
import Platform
import Rules

/// Parses options of a command line as values of a rule set.
enum GivenValues {
    static func given(
        at time: String?, states: [String], variables: [String], in set: RuleSet
    ) throws(Failure) -> RuleTest.Given {
        var given = RuleTest.Given()
        let now = SystemEnvironment.wallClock
        given.now = try time.map { (text) throws(Failure) in try moment(text, now, in: set) } ?? now
        for text in states { given.states.append(try state(text, "--state", in: set)) }
        for text in variables {
            let (name, value) = try pair(text, "--variable")
            guard let variable = set.variables.first(where: { $0.name == name }) else {
                throw Failure(.negativeResult, unknown("variable", name, among: set.variables.map(\.name)))
            }
            given.variables.append(.init(name, try typed(value, variable.type, name)))
        }
        return given
    }

    /// The value of a state that an option gives.
    static func state(_ text: String, _ option: String, in set: RuleSet) throws(Failure) -> RuleTest.Assigned {
        let (name, value) = try pair(text, option)
        guard let state = set.states.first(where: { $0.name == name }) else {
            throw Failure(.negativeResult, unknown("state", name, among: set.states.map(\.name)))
        }
        return RuleTest.Assigned(name, try typed(value, state.type, name))
    }

    static func unknown(_ kind: String, _ name: String, among names: [String]) -> String {
        "there is no \(kind) \"\(name)\" in the rules." + DidYouMean.sentence(name, among: names)
    }

    private static func pair(_ text: String, _ option: String) throws(Failure) -> (String, String) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else { throw Failure(.usage, "\(option) takes name=value, not \"\(text)\"") }
        return (String(parts[0]), String(parts[1]))
    }

    private static func typed(_ text: String, _ type: ExpressionType.Scalar, _ name: String) throws(Failure) -> Value {
        let value: Value? =
            switch type {
            case .boolean: ["true": .boolean(true), "false": .boolean(false)][text]
            case .integer: Int64(text).map { .integer($0) }
            case .number: Double(text).flatMap { $0.isFinite ? .number($0) : nil }
            case .string: .string(text)
            case .duration: nil
            }
        guard let value else {
            throw Failure(.negativeResult, "\(name) takes values of type \(type.rawValue), not \"\(text)\"")
        }
        return value
    }

    /// A time of today, `23:15`, or of any day, `2026-01-10 23:15`, in the time zone of the rules.
    private static func moment(_ text: String, _ now: UTCTime, in set: RuleSet) throws(Failure) -> UTCTime {
        let today = set.timeZone.localTime(at: now)
        var day = [today.year, today.month, today.day]
        var time = Substring(text)
        if let space = text.firstIndex(of: " ") {
            day = text[..<space].split(separator: "-").compactMap { Int($0) }
            time = text[text.index(after: space)...]
        }
        let clock = time.split(separator: ":").compactMap { Int($0) }
        guard day.count == 3, clock.count == 2 || clock.count == 3 else {
            throw Failure(.usage, "--at takes 23:15 or \"2026-01-10 23:15\", not \"\(text)\"")
        }
        guard (0..<24).contains(clock[0]), clock.dropFirst().allSatisfy((0..<60).contains) else {
            throw Failure(.usage, "--at takes a time from 00:00 to 23:59:59, not \"\(text)\"")
        }
        let moments = set.timeZone.moments(
            year: day[0], month: day[1], day: day[2], hour: clock[0], minute: clock[1],
            second: clock.count == 3 ? clock[2] : 0)
        guard let moment = moments.first else {
            throw Failure(.usage, "\(text) does not exist in \(set.timeZone.name)")
        }
        return moment
    }
}
