import ButtonModel
import Expressions
import Gestures
import RuleLoader
import Rules
import Testing

/// A trigger, key by key. The house has a `kitchen` and a `hall` (flic2), a `sofa` (duo) and a `desk` (twist).
@Suite("What a trigger says")
struct TriggerTests {
    @Test(
        "every event has its word",
        arguments: [
            ("event: down", TriggerEvent.down), ("event: up", .up), ("event: click", .pattern([.short])),
            ("event: double_click", .pattern([.short, .short])), ("event: hold", .hold(after: nil)),
            ("event: hold_release", .holdRelease), ("event: swipe_left", .swipe(.left)),
            ("event: swipe_right", .swipe(.right)), ("event: swipe_up", .swipe(.up)),
            ("event: swipe_down", .swipe(.down)),
            ("event: rotate_clockwise", .rotate(.clockwise, collect: .milliseconds(100))),
            ("event: rotate_counter_clockwise", .rotate(.counterClockwise, collect: .milliseconds(100))),
            ("event: connected", .connected), ("event: disconnected", .disconnected),
            ("event: battery_low", .batteryLow), ("clicks: 1", .click), ("clicks: 2", .doubleClick),
            ("clicks: 8", .pattern(Array(repeating: .short, count: 8))),
            ("pattern: [short, long]", .pattern([.short, .long])), ("pattern: [short, short]", .doubleClick),
            ("event: hold, for: 3s", .hold(after: .seconds(3))),
            ("event: [hold], for: 30s", .hold(after: .seconds(30))),
            ("event: rotate_clockwise, collect: 0s", .rotate(.clockwise, collect: .zero)),
            ("event: rotate_clockwise, collect: 2s", .rotate(.clockwise, collect: .seconds(2))),
        ])
    func event(line: String, event: TriggerEvent) throws {
        let trigger = try LoadedText.trigger("{button: sofa, \(line)}")
        #expect(trigger.origin == .buttons([.declared(2)], [event], parts: []))
    }

    @Test(
        "buttons are named one by one, by their groups, all together, or by their hardware",
        arguments: [
            ("kitchen", [ButtonSelector.declared(0)]), ("[hall, kitchen]", [.declared(1), .declared(0)]),
            ("everyone", [.declared(0), .declared(1)]), ("[mixed, any]", [.declared(1), .declared(2), .any]),
            ("{serial: BF12-C34568}", [.declared(1)]), ("{serial: ZZ99-Z99999}", [.hardware(.serial("ZZ99-Z99999"))]),
        ])
    func buttons(text: String, selectors: [ButtonSelector]) throws {
        let house = LoadedText.triggers("{button: \(text), event: click}")
        let set = try LoadedText.good(house)
        #expect(set.rules.first?.triggers.first?.origin == .buttons(selectors, [.click], parts: []))
    }

    @Test("parts and a name go with a trigger")
    func parts() throws {
        let trigger = try LoadedText.trigger("{button: sofa, event: [click, swipe_up], part: [big, small], id: upper}")
        #expect(trigger.origin == .buttons([.declared(2)], [.click, .swipe(.up)], parts: [.big, .small]))
        #expect(trigger.id == "upper")
        let push = try LoadedText.trigger("{button: desk, event: rotate_clockwise, part: push}")
        #expect(
            push.origin == .buttons([.declared(3)], [.rotate(.clockwise, collect: .milliseconds(100))], parts: [.push]))
    }

    @Test("a chord has its members, its time and its event")
    func chord() throws {
        #expect(
            try LoadedText.trigger("{chord: [kitchen, hall]}").origin
                == .chord([0, 1], within: .milliseconds(300), .down))
        #expect(
            try LoadedText.trigger("{chord: [desk, hall, sofa, kitchen], within: 1s, event: hold, id: both}")
                == Trigger(origin: .chord([3, 1, 2, 0], within: .seconds(1), .hold), id: "both"))
    }

    @Test("a time has its days, its offset, and how late it may be")
    func times() throws {
        #expect(
            try LoadedText.trigger("{at: \"21:00\", id: late}")
                == Trigger(origin: .times(TimeTrigger([.time(secondOfDay: 75_600)])), id: "late"))
        #expect(
            try LoadedText.trigger("{at: [\"07:30\", \"19:30:15\"], weekday: [sat-mon], missed: 12h}").origin
                == .times(
                    TimeTrigger(
                        [.time(secondOfDay: 27_000), .time(secondOfDay: 70_215)], on: [.sat, .sun, .mon],
                        missed: .seconds(43_200))))
    }

    @Test("a state has the values before and after, of its type, and how long the new one must last")
    func states() throws {
        #expect(
            try LoadedText.trigger("{state: door}", states: Self.states)
                == Trigger(origin: .states(StateTrigger(["door"]))))
        #expect(
            try LoadedText.trigger("{state: [lux, level], from: 10, to: [20, 30], for: 5m, id: b}", states: Self.states)
                == Trigger(
                    origin: .states(
                        StateTrigger(
                            ["lux", "level"], from: [.integer(10)], to: [.integer(20), .integer(30)],
                            for: .seconds(300))), id: "b"))
    }

    @Test(
        "a text with old or new is an expression, and for a state with texts only if it is a condition",
        arguments: [
            ("{state: lux, from: old <= 25, to: new > 25}", 1, 1, 0), ("{state: lux, to: [3, new > old + 5]}", 0, 1, 1),
            ("{state: lux, to: new > (states.level ?? 0)}", 0, 1, 0), ("{state: door, to: \"new != old\"}", 0, 1, 0),
            ("{state: door, to: [new, old, new-york, very old, \"new ==\"]}", 0, 0, 5),
            ("{state: door, to: open}", 0, 0, 1),
        ])
    func changeExpressions(text: String, from: Int, to: Int, values: Int) throws {
        guard case .states(let trigger) = try LoadedText.trigger(text, states: Self.states).origin else {
            Issue.record("no trigger of a state")
            return
        }
        #expect(trigger.fromExpressions.count == from)
        #expect(trigger.toExpressions.count == to)
        #expect(trigger.to.count == values)
    }

    private static let states =
        "{door: {topic: a}, lux: {topic: b, type: integer}, level: {topic: c, type: integer}, "
        + "windows: {topic: d/+, as: count}}"

    @Test(
        "a trigger of states is valid if at least one change matches",
        arguments: [
            "{state: lux, from: [1, 2], to: 1}", "{state: lux, from: 1, to: [1, 2]}", "{state: lux, from: 1}",
            "{state: lux, from: 1, to: [1, new > 5]}", "{state: lux, from: [1, old < 0], to: 1}",
            "{state: door, from: open, to: Open}",
            "{state: windows, from: 0, to: 256}", "{state: [windows, lux], to: -1}",
        ])
    func possibleStates(text: String) {
        #expect(LoadedText.complaints(LoadedText.triggers(text, states: Self.states)) == [])
    }

    @Test(
        "a trigger of states that does not fit is refused, and said once",
        arguments: [
            ("{state: doors}", "E305"), ("{state: []}", "E212"), ("{state: lux, to: high}", "E204"),
            ("{state: lux, from: [1, \"2\"]}", "E204"), ("{state: door, from: {a: b}}", "E204"),
            ("{state: [lux, door], to: 1}", "E210"), ("{state: door, for: 8d}", "E205"),
            ("{state: door, to: []}", "E212"), ("{state: lux, to: new}", "E404"),
            ("{state: lux, to: new > now.hour}", "E402"),
            ("{state: lux, to: new.x > 1}", "E402"), ("{state: lux, from: old > }", "E401"),
            ("{state: lux, to: trigger.new > 1}", "E402"), ("{state: door, to: new > 100}", "E404"),
            ("{state: door, to: new > old + 3}", "E404"), ("{state: door, from: 3 == old}", "E404"),
            ("{state: door, event: click}", "E210"), ("{state: door, within: 1s}", "E210"),
            ("{state: door, missed: 1h}", "E210"), ("{state: door, button: any}", "E210"),
            ("{at: \"21:00\", from: 1}", "E210"), ("{button: any, event: click, to: 1}", "E210"),
            ("{state: door, from: open, to: open}", "E212"), ("{state: lux, from: [1, 1], to: 1}", "E212"),
            ("{state: [lux, level], from: 1, to: [1, 1], for: 5m}", "E212"), ("{state: windows, to: -1}", "E205"),
            ("{state: windows, from: [1, 257], to: 3}", "E205"),
        ])
    func wrongStates(text: String, code: String) {
        let complaints = LoadedText.complaints(LoadedText.triggers(text, states: Self.states))
        #expect(complaints.map { String($0.prefix(4)) } == [code], "\(complaints)")
    }

    @Test(
        "what does not fit is refused, and said once",
        arguments: [
            ("{button: kitchen, event: hold, for: 0s}", "E205"), ("{button: kitchen, clicks: 0}", "E205"),
            ("{button: kitchen, pattern: [short]}", "E205"),
            ("{button: kitchen, pattern: [\(repeatElement("long", count: 9).joined(separator: ", "))]}", "E205"),
            ("{button: kitchen, event: [hold, down], for: 1s}", "E210"),
            ("{button: kitchen, clicks: 2, for: 1s}", "E210"),
            ("{button: sofa, event: [rotate_clockwise, click], collect: 1s}", "E210"),
            ("{chord: [kitchen, hall], part: big}", "E210"), ("{button: kitchen, event: click, within: 1s}", "E210"),
            ("{button: kitchen, event: }", "E114"), ("{button: {serial: BF12-C34567, uuid: a}, event: click}", "E210"),
            ("{button: {}, event: click}", "E210"), ("{button: [[kitchen]], event: click}", "E203"),
            ("{chord: [kitchen], within: 300ms}", "E503"), ("{chord: [[kitchen], hall]}", "E203"),
            ("{chord: [kitchen, hall], event: [down]}", "E203"), ("{chord: [kitchen, halll]}", "E301"),
            ("{button: desk, event: swipe_left}", "E501"), ("{button: mixed, event: swipe_left}", nil),
            ("{button: everything, event: click}", "E301"), ("{button: kitchen, event: {click: 2}}", "E203"),
            ("click", "E203"), ("{button: kitchen, event: click, id: 1a}", "E209"),
            ("{at: 9pm}", "E207"), ("{at: sunset}", "E512"), ("{at: \"21:00\", offset: 5m}", "E210"),
            ("{at: \"21:00\", event: click}", "E210"), ("{at: \"21:00\", missed: 13h}", "E205"), ("{at: }", "E114"),
            ("{time: \"21:00\"}", "E201"), ("{att: \"21:00\"}", "E201"),
        ])
    func wrong(text: String, code: String?) {
        let complaints = LoadedText.complaints(
            LoadedText.triggers(text))
        #expect(complaints.map { String($0.prefix(4)) } == [code].compactMap(\.self), "\(complaints)")
    }

    @Test("a group's E501 is for whole groups: one member that has the event is enough")
    func group() {
        let plain = LoadedText.triggers("{button: everyone, event: swipe_left}")
        #expect(LoadedText.complaints(plain).map { $0.prefix(4) } == ["E501"])
    }

    @Test("groups that are written out beyond any use are refused, not written out")
    func manyMembers() {
        let names = (0..<1000).map { "b\($0)" }
        let buttons = names.enumerated().map { "  \($1): BF12-C\(String($0 + 10_000))" }.joined(separator: "\n")
        let triggers = repeatElement("*t", count: 1001).joined(separator: ", ")
        let complaints = LoadedText.complaints(
            """
            buttons:
            \(buttons)
            groups: {everyone: [\(names.joined(separator: ", "))]}
            x-trigger: &t {button: everyone, event: down}
            rules: [{id: one, triggers: [\(triggers)], actions: {log: a}}]
            """)
        #expect(complaints == ["E112 triggers name more than 1000000 buttons together"])
    }
}
