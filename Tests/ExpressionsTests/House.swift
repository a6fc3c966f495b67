import ButtonModel
import Expressions
import JSON

/// The names a rules file declares, and one environment with values for them.
enum House {
    static let scope: Scope = {
        var scope = Scope()
        scope.states = [
            "hall_light": .init(slot: 0, type: .string, location: "7:3", remedy: .giveType),
            "lux": .init(slot: 1, type: .number.optional, location: "8:3"),
            "door": .init(slot: 2, type: .string.optional, location: "9:3", remedy: .giveType),
            "people": .init(slot: 3, type: .integer, location: "10:3"),
        ]
        scope.variables = [
            "scene": .init(
                slot: 0, type: .string, values: [.string("bright"), .string("cosy"), .string("off")], location: "13:3"),
            "guest": .init(slot: 1, type: .boolean, location: "14:3"),
            "volume": .init(slot: 2, type: .integer, location: "15:3"),
            "ratio": .init(slot: 3, type: .number, values: [.integer(1), .number(1.5)], location: "16:3"),
            "label": .init(slot: 4, type: .string, location: "17:3", remedy: .removeQuotes),
        ]
        scope.buttons = ["kitchen": 0, "hall": 1]
        scope.rules = ["goodnight": 0]
        scope.results = [
            "answer": .always(slot: 0), "maybe": .notOnEveryPath, "later": .always(slot: 1),
            "second": .awaited(slot: 0),
        ]
        return scope
    }()

    /// A scope with every name there is: inside a script, inside `on_error`, inside a `repeat`, and with a location.
    static let wholeScope: Scope = {
        var scope = House.scope
        scope.absent = [:]
        scope.inputs = [
            "lamp": .init(slot: 0, type: .string), "brightness": .init(slot: 1, type: .integer),
            "fade": .init(slot: 2, type: .duration),
        ]
        return scope
    }()

    static let environment: EvaluationContext = {
        var environment = EvaluationContext()
        environment.trigger.button = "hall"
        environment.trigger.event = "double_click"
        environment.trigger.clicks = 2
        environment.trigger.steps = -3
        environment.trigger.heldFor = .milliseconds(1250)
        environment.trigger.at = "2026-03-29T01:30:00+01:00"
        environment.states = [.string("ON"), .unknown, .string("open"), .integer(2)]
        environment.variables = [.string("cosy"), .boolean(true), .integer(30), .number(1.5), .string("0")]
        var kitchen = ButtonFacts()
        kitchen.isConnected = true
        kitchen.battery = 88
        environment.buttons = [kitchen, ButtonFacts()]
        var goodnight = RuleFacts()
        goodnight.lastRunAge = .seconds(90)
        goodnight.lastResult = "completed"
        environment.rules = [goodnight]
        var answer = ResultFacts()
        answer.isOK = true
        answer.status = 200
        answer.body = #"{"state":"on","lamps":[{"level":0.5},{"a/b":true,"n":null}]}"#
        environment.results = [answer, nil]
        environment.inputs = [.string("porch"), .integer(254), .duration(milliseconds: 2000)]
        environment.error.code = "R822"
        environment.error.step = "actions[2].run"
        environment.now.year = 2026
        environment.now.month = 3
        environment.now.day = 29
        environment.now.weekday = .sun
        environment.now.hour = 1
        environment.now.minute = 30
        environment.now.unix = 1_774_744_200
        environment.sun.elevation = -12.5
        environment.sun.sunrise = 7 * 3600
        environment.sun.sunset = 20 * 3600
        environment.sun.dawn = 6 * 3600
        environment.sun.dusk = 21 * 3600
        environment.brokerIsConnected = true
        environment.repetition.index = 4
        environment.repetition.elapsed = .milliseconds(800)
        return environment
    }()

    /// The type and the value, or the failure: `integer 3`, `string 'a'`, `R802 0..<5 division by zero`.
    static func outcome(
        _ text: String, in scope: Scope = wholeScope, _ environment: EvaluationContext = environment
    ) throws(ExpressionProblems) -> String {
        let expression = try Expression(compiling: text, in: scope)
        do {
            return "\(expression.type) \(shown(try expression.evaluate(in: environment)))"
        } catch {
            return shown(error)
        }
    }

    /// The problems of a text, one on each line: `E404 0..<5 message; hint`.
    static func problems(
        _ text: String, in scope: Scope = scope, expecting expectation: RequiredType = .anything
    ) -> String {
        do throws(ExpressionProblems) {
            _ = try Expression(compiling: text, in: scope, expecting: expectation)
            return "none"
        } catch {
            return shown(error)
        }
    }

    static func shown(_ problems: ExpressionProblems) -> String {
        problems.list.map { "\($0.code) \($0.range) \($0.message)" + ($0.hint?.sentence.map { "; " + $0 } ?? "") }
            .joined(separator: "\n")
    }

    static func shown(_ failure: EvaluationFailure) -> String {
        "\(failure.code.rawValue) \(failure.range) \(failure.message)"
    }

    static func shown(_ value: Value) -> String {
        switch value {
        case .unknown: "null"
        case .string(let text): "'\(text)'"
        case .list(let values): "[\(values.map(shown).joined(separator: ", "))]"
        case .boolean, .integer, .number, .duration: value.text ?? ""
        }
    }
}
