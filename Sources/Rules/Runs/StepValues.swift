import ButtonModel
import Expressions
import JSON

/// Evaluates the templates of a step, and checks each value for the text that it is inserted in.
///
/// - Source: rules/README.md, "Where a value lands".
struct StepValues {
    /// The maximum sum of all delays of a run.
    static let longestDelay = Duration.seconds(7 * 86_400)

    /// An evaluation changes only its random numbers.
    var environment: EvaluationContext
    let rule: String

    mutating func text(_ template: Template) throws(StepFailure) -> String {
        do { return try template.text(in: &environment) } catch { throw StepFailure(error) }
    }

    mutating func value(_ template: ValueTemplate) throws(StepFailure) -> Value {
        switch template {
        case .value(let value): return value
        case .template(let template): return try value(template)
        }
    }

    private mutating func value(_ template: Template) throws(StepFailure) -> Value {
        do { return try template.value(in: &environment) } catch { throw StepFailure(error) }
    }

    /// - Throws: R803 for a value that is not a duration, is negative, or exceeds `longestDelay`.
    mutating func delay(_ template: Template) throws(StepFailure) -> Duration {
        let value = try value(template)
        let duration: Duration
        switch value {
        case .duration(let milliseconds): duration = .milliseconds(milliseconds)
        case .string(let text):
            do {
                duration = .milliseconds(try DurationText.milliseconds(text))
            } catch {
                throw StepFailure("R803", "\(text.utf8.count > 40 ? "a long text" : "\"\(text)\"") \(error.message)")
            }
        case .unknown, .boolean, .integer, .number, .list:
            throw StepFailure("R803", "\(value.text ?? "an unknown value") is not a duration")
        }
        guard duration >= .zero else { throw StepFailure("R803", "a delay cannot be \(value.text ?? "negative")") }
        guard duration <= StepValues.longestDelay else { throw StepValues.tooLong }
        return duration
    }

    static let tooLong = StepFailure("R803", "the delays of one run are at most 7 days together")
}

// MARK: - Content

extension StepValues {
    mutating func octets(_ content: PayloadTemplate) throws(StepFailure) -> [UInt8] {
        switch content {
        case .nothing: return []
        case .text(let template): return Array(try text(template).utf8)
        case .json(let template):
            var room = Limits.textLength
            return try json(template, &room).encoded()
        }
    }

    /// - Parameter room: the remaining octets for inserted values; literals are not counted.
    private mutating func json(_ template: JSONTemplate, _ room: inout Int) throws(StepFailure) -> JSONValue {
        switch template {
        case .value(let value): return value
        case .template(let template):
            let value: JSONValue
            do { value = try template.json(in: &environment) } catch { throw StepFailure(error) }
            room -= value.encoded().count
            guard room >= 0 else { throw StepFailure("R804", "the values in the JSON are longer than 64 KiB") }
            return value
        case .array(let elements):
            var values: [JSONValue] = []
            for element in elements { values.append(try json(element, &room)) }
            return .array(values)
        case .object(let members):
            var values: [JSONValue.Member] = []
            for member in members { values.append(JSONValue.Member(member.name, try json(member.value, &room))) }
            return .object(values)
        }
    }
}
