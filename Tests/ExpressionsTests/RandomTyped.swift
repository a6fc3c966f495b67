import TestSupport

@testable import Expressions

/// Makes the text of random expressions that compile in `House.wholeScope`.
struct RandomTyped {
    var random: SeededGenerator

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func expression(_ type: ExpressionType.Scalar, depth: Int) -> String {
        guard depth > 0 else { return atom(type) }
        let below = depth - 1
        func pick(_ choices: [String]) -> String { choices.randomElement(using: &random) ?? "" }
        if Int.random(in: 0..<7, using: &random) == 0 {
            return "(\(expression(type, depth: below)) if \(expression(.boolean, depth: below)) else "
                + "\(expression(type, depth: below)))"
        }
        switch type {
        case .boolean:
            let other = ExpressionType.Scalar.allCases.randomElement(using: &random) ?? .string
            let left = expression(other, depth: below)
            let right = expression(other, depth: below)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: return "(not \(expression(.boolean, depth: below)))"
            case 1: return "(\(left) == \(right))"
            case 2 where other != .boolean: return "(\(left) \(pick(["<", "<=", ">", ">="])) \(right))"
            case 3: return "(\(left) \(pick(["in", "not in"])) [\(right), \(left)])"
            case 4:
                let text = expression(.string, depth: below)
                let function = pick(["contains", "like", "starts_with", "ends_with"])
                return "\(function)(\(text), \(expression(.string, depth: below)))"
            default:
                return
                    "(\(expression(.boolean, depth: below)) \(pick(["and", "or"])) \(expression(.boolean, depth: below)))"
            }
        case .integer:
            let left = expression(.integer, depth: below)
            let right = expression(.integer, depth: below)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: return "(\(left) \(pick(["+", "-", "*", "//", "%"])) \(right))"
            case 1: return "\(pick(["round", "floor", "ceil", "integer"]))(\(expression(.number, depth: below)))"
            case 2: return "\(pick(["min", "max"]))(\(left), \(right))"
            case 3: return "length(\(expression(.string, depth: below)))"
            case 4: return "(\(pick(["-", "1 * "]))\(left))"
            default: return "next([\(left), 3], \(right))"
            }
        case .number:
            let left = expression(.number, depth: below)
            let right = expression(pick(["a", "b"]) == "a" ? .number : .integer, depth: below)
            switch Int.random(in: 0..<4, using: &random) {
            case 0: return "(\(left) \(pick(["+", "-", "*", "/"])) \(right))"
            case 1: return "round(\(left), \(expression(.integer, depth: below)))"
            case 2: return "clamp(\(left), \(right), 7)"
            default: return "number(\(expression(.string, depth: below)), 1.5)"
            }
        case .string:
            let left = expression(.string, depth: below)
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let other = ExpressionType.Scalar.allCases.randomElement(using: &random) ?? .string
                return "(\(left) ~ \(expression(other, depth: below)))"
            case 1: return "\(pick(["upper", "lower", "trim", "url", "json"]))(\(left))"
            case 2: return "replace(\(left), \(expression(.string, depth: below)), 'xy')"
            case 3:
                return "slice(\(left), \(expression(.integer, depth: below)), \(expression(.integer, depth: below)))"
            case 4: return "(json_get(\(left), '/a') ?? \(expression(.string, depth: below)))"
            default: return "string(\(expression(.number, depth: below)))"
            }
        case .duration:
            let left = expression(.duration, depth: below)
            switch Int.random(in: 0..<3, using: &random) {
            case 0: return "(\(left) \(pick(["+", "-"])) \(expression(.duration, depth: below)))"
            case 1: return "(\(left) \(pick(["*", "/"])) \(expression(.number, depth: below)))"
            default: return "(\(left) \(pick(["*", "/"])) \(expression(.integer, depth: below)))"
            }
        }
    }

    private mutating func atom(_ type: ExpressionType.Scalar) -> String {
        let choices =
            switch type {
            case .boolean: ["true", "false", "variables.guest", "known(states.lux)", "in_time('22:00', '06:00')"]
            case .integer:
                [
                    "0", "1", "-1", "-9223372036854775808", "9223372036854775807", "states.people", "trigger.steps",
                    "(buttons.hall.battery ?? 5)",
                ]
            case .number: ["0.5", "-2.5", "1000000000000000000000.5", "variables.ratio", "(states.lux ?? 0.5)"]
            case .string: ["''", "'ON'", "'*a?'", "'{\"a\": 1}'", "'größe'", "states.hall_light", "variables.scene"]
            case .duration: ["0s", "1ms", "1h30m", "36500d", "inputs.fade"]
            }
        return choices.randomElement(using: &random) ?? "0"
    }
}
