import ButtonModel
import JSON
import Platform
import RuleTesting
import Rules

/// A press that the page asks about, with what the live stream says of it and what the daemon knows now.
struct PressQuestion {
    /// The greatest age that is told apart; a press that was stored for longer is explained as one of this age.
    private static let greatestAge: Int64 = 365 * 86_400_000

    var event: SimulatedEvent
    var given = RuleTest.Given()

    /// - Parameter set: gets the button if it declares none with this name, so that rules for any button can be explained.
    init(_ body: JSONValue, in set: inout RuleSet) throws(RuleDesk.Failure) {
        guard let button = body["button"]?.stringValue, let word = body["event"]?.stringValue else {
            throw .bad(#"the body needs "button" and "event", such as "kitchen" and "click""#)
        }
        let known = try Self.declaration(of: button, body)
        if !set.buttons.contains(where: { $0.name == button }) {
            guard let declared = known else {
                throw .bad("there is no button \"\(button.prefix(100))\" in the rules")
            }
            set.buttons.append(declared)
        }
        guard let named = RuleExplainer.event(named: word) else {
            throw .bad(
                "there is no event \"\(word.prefix(100))\"; the events are click, double_click, clicks_3 … clicks_8, hold, "
                    + "hold_release, down, up, swipe_left … and rotate_clockwise …")
        }
        event = SimulatedEvent(button: button, event: named)
        event.part = try Self.value("part", in: body, #"is "big", "small", "dial" or "push""#) {
            $0.stringValue.flatMap(ButtonPart.init)
        }
        event.steps = try Self.number("steps", in: body, 1...1000) ?? 1
        event.position = try Self.number("position", in: body, 0...100)
        event.slot = try Self.number("slot", in: body, Dial.slots)
        event.wasQueued = try Self.value("queued", in: body, "is true or false", \.boolValue) ?? false
        event.wasQueuedLast = event.wasQueued
        let age = try Self.value("age_ms", in: body, "is a number of milliseconds") {
            $0.integerValue.flatMap { $0 < 0 ? nil : $0 }
        }
        event.age = .milliseconds(min(age ?? 0, Self.greatestAge))
        let time = try Self.value("at", in: body, "looks like 2026-11-21T02:30:00Z") {
            $0.stringValue.flatMap(TimeText.time)
        }
        given.now = time ?? SystemEnvironment.wallClock
        if let live = body["live"] { given.complete(with: try Self.values(live), in: set) }
    }

    /// The declaration of a button that only the daemon knows; `nil` if the body does not have its id.
    private static func declaration(of name: String, _ body: JSONValue) throws(RuleDesk.Failure) -> DeclaredButton? {
        let id = try value("id", in: body, "is a button's id, twelve hexadecimal digits") {
            $0.stringValue.flatMap { ButtonID($0) }
        }
        let model = try value("model", in: body, "is flic2, duo or twist") {
            $0.stringValue.flatMap(FlicModel.init).flatMap { FlicModel.pairable.contains($0) ? $0 : nil }
        }
        return id.map { DeclaredButton(name: name, hardware: .address($0), model: model ?? .flic2) }
    }

    private static func values(_ live: JSONValue) throws(RuleDesk.Failure) -> LiveValues {
        guard live.objectValue != nil else { throw .bad(#""live" looks like {"states":[{"name":"lux","value":3}]}"#) }
        func list(_ name: String) throws(RuleDesk.Failure) -> [JSONValue] {
            try value(name, in: live, "is a list, as the daemon answers it", \.arrayValue) ?? []
        }
        return LiveValues(states: try list("states"), variables: try list("variables"), rules: try list("rules"))
    }

    private static func number(
        _ name: String, in body: JSONValue, _ range: ClosedRange<Int>
    ) throws(RuleDesk.Failure) -> Int? {
        try value(name, in: body, "is \(range.lowerBound) to \(range.upperBound)") {
            $0.integerValue.flatMap { Int(exactly: $0) }.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// A member of the body; `nil` if it is missing or null.
    ///
    /// - Parameter form: what the member has to be, as the end of a sentence.
    private static func value<Parsed>(
        _ name: String, in body: JSONValue, _ form: String, _ parse: (JSONValue) -> Parsed?
    ) throws(RuleDesk.Failure) -> Parsed? {
        guard let member = body[name], member != .null else { return nil }
        guard let parsed = parse(member) else { throw .bad("\"\(name)\" \(form)") }
        return parsed
    }
}
