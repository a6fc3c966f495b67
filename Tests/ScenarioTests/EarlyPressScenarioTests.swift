import ButtonModel
import MQTTTopics
import Rules
import Simulator
import TestSupport
import Testing

@testable import Hub

@Suite("The first effects of a press, before the hub handles it")
struct EarlyPressScenarioTests {
    private static func house(
        _ rule: String, other: String = "", hasBroker: Bool = true, isWitnessed: Bool = false,
        pausing pause: Duration? = nil
    ) -> Household {
        var house = Household(
            rules: HouseRules(
                stringLiteral: """
                    version: 1
                    buttons: {kitchen: 80:E4:DA:00:00:01, hall: 80:E4:DA:00:00:02}
                    variables: {mode: day}
                    rules:
                      - {id: first, triggers: {button: kitchen, event: down}, \(rule)}
                    \(other)
                    """), hasBroker: hasBroker, isWitnessed: isWitnessed, pausing: pause)
        house.pairAll()
        house.forgetWhatHappened()
        return house
    }

    @Test(
        "a rule acts early if what the event changes does not matter for it",
        arguments: [
            "actions: [publish: {topic: lamp, payload: x}]",
            "actions: [publish: {topic: lamp, payload: x, qos: 1}]",
            "actions: [publish: {topic: lamp, json: {on: true, level: [1, 2]}, retain: true}]",
            "actions: [publish: {topic: lamp, payload: x}, publish: {topic: lamp, payload: z}]",
            "scope: button, mode: parallel, max: 2, actions: [publish: {topic: lamp, payload: x}]",
            "conditions: variables.mode == 'day', actions: [publish: {topic: lamp, payload: x}]",
            "conditions: [{time: {after: '00:00'}}, trigger.button == 'kitchen'], actions: [publish: {topic: lamp, payload: x}]",
            "actions: [publish: {topic: lamp, payload: '{{ trigger.button }} {{ trigger.at }} {{ now.hour }}'}]",
        ])
    func early(rule: String) {
        var house = Self.house(rule)
        for _ in 0..<3 {
            house.press("kitchen", .click)
            house.wait(.seconds(3))
        }
        #expect(house.earlyPressCount == 3)
        #expect(house.payloads(on: "lamp").count == (rule.contains("payload: z") ? 6 : 3))
    }

    /// A change of the early effects, of which `goOn` is the last.
    private static func mistake(_ seed: UInt64, in effects: inout [Hub.Effect]) {
        var random = SeededGenerator(seed: seed)
        let original = effects
        while effects == original {
            guard let place = (0..<effects.count - 1).randomElement(using: &random) else { return }
            switch Int.random(in: 0..<4, using: &random) {
            case 0: effects.remove(at: place)
            case 1: effects.swapAt(place, Int.random(in: 0..<effects.count - 1, using: &random))
            // The numbers of all actions are later, as after one that was left out.
            case 2: effects = effects.map { $0.renumbered(by: 1) }
            default: effects[place] = effects[place].changed
            }
        }
    }

    @Test(
        "no action is carried out twice if the early effects are mistaken, and later presses are handled in the general way",
        arguments: UInt64(0)..<60)
    func mistaken(seed: UInt64) {
        var house = Self.house(
            "actions: [publish: {topic: lamp, payload: x}]",
            other: """
                  - {id: second, triggers: {button: kitchen, event: down}, actions: [publish: {topic: fan, payload: y, qos: 1}]}
                  - {id: third, triggers: {button: kitchen, event: down}, actions: [run: [notify, scene]]}
                """, isWitnessed: true)
        house.changeHub { $0.changesEarlyEffects = { Self.mistake(seed, in: &$0) } }
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        func count() -> [String: Int] {
            var actions = (house.payloads(on: "lamp") + house.payloads(on: "fan")).map { $0 }
            actions += house.started.map { $0.arguments.last ?? "" }
            return Dictionary(actions.map { ($0, 1) }, uniquingKeysWith: +)
        }
        // What is only missing from the early effects is carried out later, and is no mistake.
        let isMistaken = house.hub.hasMistakenPreview
        let earlyPresses = house.earlyPressCount
        #expect(isMistaken || earlyPresses == 1)
        let first = count()
        #expect(first.values.allSatisfy { $0 == 1 }, "\(first)")
        // An action that was changed early has been replaced by another.
        #expect(first["other"] != nil || Set(first.keys) == ["x", "y", "scene"], "\(first)")
        #expect(house.logged.count { $0.contains("handled early in another way") } == (isMistaken ? 1 : 0))
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.earlyPressCount == earlyPresses + (isMistaken ? 0 : 1))
        let second = count()
        for action in ["x", "y", "scene"] { #expect(second[action] == (first[action] ?? 0) + 1, "\(second)") }
        for case .problem(let problem) in house.sights.map(\.sight) {
            #expect(problem.contains("were not those of its handling"), "\(problem)")
        }
    }

    @Test("reports and answers follow the action of a press after a pause")
    func pause() {
        var house = Self.house("actions: [publish: {topic: lamp, payload: x}]", pausing: .milliseconds(20))
        func reports() -> Int { house.published.count { $0.topicName.hasPrefix("tryck/") } }
        house.press("kitchen", .down)
        let pressed = house.now
        while house.payloads(on: "lamp").isEmpty, house.now - pressed < .seconds(1) { house.wait(.milliseconds(1)) }
        let answers = house.responses.count
        house.ask(#"{"request":"status"}"#)
        house.wait(.milliseconds(18))
        #expect(reports() == 0 && house.responses.count == answers)
        house.wait(.milliseconds(2))
        #expect(reports() > 0 && house.responses.count > answers)
    }

    @Test("what arrives during the pause after a press does not pile up", arguments: [0, 20_000])
    func flood(length: Int) {
        var house = Self.house("actions: [publish: {topic: lamp, payload: x}]", pausing: .milliseconds(20))
        house.press("kitchen", .down)
        let pressed = house.now
        while house.payloads(on: "lamp").isEmpty, house.now - pressed < .seconds(1) { house.wait(.milliseconds(1)) }
        let (answered, padding) = (house.responses.count, String(repeating: " ", count: length))
        var most = 0
        for count in 1...3000 {
            house.ask(#"{"request":"ping"}"# + padding)
            most = max(most, count - (house.responses.count - answered))
        }
        // A long request is handled as soon as it is there.
        #expect(length == 0 ? (1...HubRunner.maximumWaiting).contains(most) : most == 0)
        #expect(house.responses.count == answered + 3000)
    }

    @Test("a packet from a radio ends the pause after a press")
    func nextPress() {
        var house = Self.house(
            "actions: [publish: {topic: lamp, payload: x}]",
            other: """
                  - {id: second, triggers: {button: hall, event: down}, actions: [publish: {topic: fan, payload: x}]}
                """,
            pausing: .milliseconds(80))
        house.press("kitchen", .down)
        house.press("hall", .down)
        let pressed = house.now
        while house.payloads(on: "lamp").isEmpty, house.now - pressed < .seconds(1) { house.wait(.milliseconds(1)) }
        let acted = house.now
        while house.payloads(on: "fan").isEmpty, house.now - acted < .seconds(1) { house.wait(.milliseconds(1)) }
        #expect(house.now - acted < .milliseconds(80))
    }

    @Test("a rule that starts a program acts early, and the next press, too, once the program has ended")
    func program() {
        var house = Self.house("actions: [run: [notify, scene]]")
        for _ in 0..<3 {
            house.press("kitchen", .click)
            house.wait(.seconds(3))
        }
        #expect(house.earlyPressCount == 3)
    }

    @Test("a rule that starts a program acts early without a broker, too", arguments: [true, false])
    func withoutBroker(hasBroker: Bool) {
        var house = Self.house("actions: [run: [notify, scene]]", hasBroker: hasBroker, isWitnessed: true)
        // The messages about the first press wait for the broker when the second is made.
        if hasBroker { house.loseBroker() }
        for _ in 0..<2 {
            house.press("kitchen", .click)
            house.wait(.seconds(1))
        }
        #expect(house.earlyPressCount == 2)
        if hasBroker { house.bringBrokerBack() }
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.earlyPressCount == 3)
        #expect(house.started.count == 3)
        for case .problem(let problem) in house.sights.map(\.sight) { Issue.record("\(problem)") }
    }

    @Test("a rule that publishes does not act early while the broker is away, nor do others of the same press")
    func awayBroker() {
        var house = Self.house(
            "actions: [publish: {topic: lamp, payload: x}]",
            other: "  - {id: second, triggers: {button: kitchen, event: down}, actions: [run: [notify, scene]]}")
        house.loseBroker()
        house.press("kitchen", .click)
        house.wait(.seconds(1))
        #expect(house.earlyPressCount == 0)
        #expect(house.started.count == 1)
        house.bringBrokerBack()
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.earlyPressCount == 1)
        #expect(house.payloads(on: "lamp").count == 2)
    }

    @Test(
        "a press is handled in the general way if what it starts is not known in advance",
        arguments: [
            "conditions: buttons.kitchen.held, actions: [publish: {topic: lamp, payload: x}]",
            "conditions: rules.first.running == 0, actions: [publish: {topic: lamp, payload: x}]",
            "cooldown: 1s, actions: [publish: {topic: lamp, payload: x}]",
            "actions: [publish: {topic: lamp, payload: '{{ rules.first.running }}'}]",
            "actions: [set: {mode: night}, publish: {topic: lamp, payload: x}]",
            "actions: [publish: {topic: lamp, payload: x}, delay: 1s, publish: {topic: lamp, payload: z}]",
            "on_restart: resume, actions: [publish: {topic: lamp, payload: x}]",
            "dry_run: true, actions: [publish: {topic: lamp, payload: x}]",
            "actions: [log: pressed]",
        ])
    func general(rule: String) {
        var house = Self.house(rule)
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.earlyPressCount == 0)
        #expect(
            house.payloads(on: "lamp").count
                == (rule.contains("payload: z") ? 2 : rule.contains("payload") && !rule.contains("dry") ? 1 : 0))
    }

    @Test(
        "a process that is killed after any effect of an early press neither loses the press nor acts on it twice",
        arguments: 0...16)
    func killed(effects: Int) {
        var house = Self.house("actions: [publish: {topic: lamp, payload: x}, publish: {topic: lamp, payload: z}]")
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.earlyPressCount == 1)
        house.forgetWhatHappened()
        house.end = (effects, false)
        house.press("kitchen", .click)
        house.wait(.seconds(30))
        let payloads = house.payloads(on: "lamp")
        #expect(["", "x", "xz"].contains(payloads.joined()), "\(payloads)")
        #expect(house.interruptedRuns.count <= 1)
        // Before the record, the button still has the press, and reports it when it is too late for the rule.
        #expect(payloads.count == 2 || house.interruptedRuns.count == (effects == 0 ? 0 : 1))
        #expect(house.store.state.buttons.first { $0.id == Household.kitchenID }?.pressCount == 2)
    }

    @Test(
        "a press is handled in the general way while another rule waits for a change, the disk is full, or the broker away"
    )
    func circumstances() {
        let waiting =
            "  - {id: other, triggers: {button: hall, event: down}, actions: [wait: {until: variables.mode == 'x', timeout: 9s}]}"
        var house = Self.house("actions: [publish: {topic: lamp, payload: x}]", other: waiting)
        house.press("hall", .click)
        house.wait(.seconds(2))
        house.press("kitchen", .click)
        house.wait(.seconds(20))
        #expect(house.earlyPressCount == 0)
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.earlyPressCount == 1)
        house.diskIsFull = true
        // The fault is known after this press.
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        house.press("kitchen", .click)
        house.wait(.seconds(3))
        #expect(house.earlyPressCount == 2)
        #expect(house.payloads(on: "lamp").count == 4)
    }
}

extension Hub.Effect {
    /// The action with a later number.
    fileprivate func renumbered(by distance: UInt64) -> Hub.Effect {
        if case .publish(.queued(let number), let message, let expiry) = self {
            return .publish(.queued(number + distance), message, expiry: expiry)
        }
        if case .startJob(let id, .process(let request)) = self {
            return .startJob(JobID(rawValue: id.rawValue + distance), .process(request))
        }
        return self
    }

    /// Another message or program, or a record without its first change.
    fileprivate var changed: Hub.Effect {
        if case .publish(let id, var message, let expiry) = self {
            message.payload = Array("other".utf8)
            return .publish(id, message, expiry: expiry)
        }
        if case .startJob(let id, .process(var request)) = self {
            request.arguments.append("other")
            return .startJob(id, .process(request))
        }
        if case .record(let token, let changes) = self { return .record(token, Array(changes.dropFirst())) }
        return self
    }
}
