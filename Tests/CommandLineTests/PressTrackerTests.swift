import ButtonModel
import JSON
import Rules
import Simulator
import Testing

@testable import DemoCommands

@Suite("What a press still has to bring about")
struct PressTrackerTests {
    static func event(_ event: JSONValue, on button: JSONValue = "1") -> JSONValue {
        ["kind": "event", "button": "kitchen", "id": button, "event": event]
    }

    static func rule(_ outcome: JSONValue, run: JSONValue = 1) -> JSONValue {
        ["kind": "rule", "rule": "evening", "outcome": outcome, "run": run]
    }

    static func publish(_ payload: JSONValue) -> JSONValue { ["kind": "publish", "topic": "a", "payload": payload] }

    static func tracker(_ press: SimulatedAction, _ lines: JSONValue...) -> PressTracker {
        var tracker = PressTracker()
        tracker.begin(press)
        for line in lines { tracker.received(line) }
        return tracker
    }

    @Test(
        "a press is over when all of it is part of a gesture, whatever the trigger mode",
        arguments: [
            (SimulatedAction.press(.click), ["down", "click", "up"]),
            (.press(.click), ["down", "up", "click"]),
            (.press(.doubleClick), ["down", "up", "down", "up", "double_click"]),
            (.press(.doubleClick), ["down", "click", "up", "down", "click", "up"]),
            (.press(.doubleClick), ["down", "up", "click", "down", "up", "click"]),
            (.press(.hold), ["down", "hold", "up", "hold_release"]),
            (.press(.hold), ["down", "up", "click"]),
            (.press(.makePublic), ["down", "hold", "up", "hold_release"]),
            (.press(.down), ["down"]),
            (.press(.up), ["up"]),
            (.swipe(.left), ["down", "up", "swipe_left"]),
            (.turn(hundredths: 10), ["rotate_clockwise"]),
        ])
    func gestures(press: SimulatedAction, events: [String]) {
        var tracker = Self.tracker(press)
        for event in events {
            #expect(!tracker.isSettled)
            tracker.received(Self.event(.string(event)))
        }
        #expect(tracker.isSettled)
    }

    private static func turn(_ steps: Int64, part: JSONValue = "big") -> JSONValue {
        .object([
            .init("kind", "event"), .init("id", "1"),
            .init("event", steps < 0 ? "rotate_counter_clockwise" : "rotate_clockwise"),
            .init("steps", .integer(steps)), .init("part", part),
        ])
    }

    @Test(
        "a press that is turned far enough is over with that, another is a click",
        arguments: [
            (["down"], [-10], ["up"]), (["down"], [3, 3], ["up"]), (["down", "up"], [7, 7], []),
            (["down"], [4], ["up", "click"]), (["down", "hold"], [20], ["up", "hold_release"]),
        ])
    func turned(before: [String], turns: [Int64], after: [String]) {
        var tracker = Self.tracker(.pushTurn(hundredths: 10))
        for event in before { tracker.received(Self.event(.string(event))) }
        #expect(!tracker.isSettled)
        for steps in turns { tracker.received(Self.turn(steps)) }
        for event in after { tracker.received(Self.event(.string(event))) }
        #expect(tracker.isSettled)
    }

    @Test("a dial that is turned takes no press")
    func dial() {
        let tracker = Self.tracker(
            .pushTurn(hundredths: 10), Self.event("down"), Self.turn(50, part: "dial"), Self.event("up"))
        #expect(tracker.awaited == "the press to become a gesture")
    }

    @Test("another button that is held down does not keep a press from its end")
    func otherButton() {
        var tracker = Self.tracker(.press(.down), Self.event("down", on: "2"), Self.event("hold", on: "2"))
        #expect(tracker.isSettled)
        tracker.begin(.press(.click))
        for event in ["down", "up", "click"] { tracker.received(Self.event(.string(event))) }
        #expect(tracker.isSettled)
    }

    @Test("a run counts until it ends")
    func runs() {
        var tracker = Self.tracker(.press(.up), Self.event("up"), Self.rule("started"), Self.rule("started", run: 2))
        tracker.received(Self.rule("completed"))
        #expect(tracker.awaited == "rule evening to end")
        tracker.received(Self.rule("completed", run: 2))
        #expect(tracker.isSettled)
    }

    @Test("a press is in runs only when its gesture is decided and its messages came back")
    func runsOnly() {
        var tracker = Self.tracker(.press(.click), Self.event("down"), Self.event("up"), Self.rule("started"))
        #expect(!tracker.isInRunsOnly)
        tracker.received(Self.event("click"))
        #expect(tracker.isInRunsOnly && tracker.runningRule == "evening")
        tracker.received(Self.publish("x"))
        #expect(!tracker.isInRunsOnly)
        tracker.delivered(.init(topicName: "a", payload: "x"))
        #expect(tracker.isInRunsOnly && !tracker.isSettled)
        tracker.received(Self.rule("completed"))
        #expect(!tracker.isInRunsOnly && tracker.isSettled)
    }

    @Test("a rule that a gate stopped is no run")
    func gates() {
        let stopped: JSONValue = ["kind": "rule", "rule": "evening", "outcome": "dropped_busy"]
        #expect(Self.tracker(.press(.up), Self.event("up"), stopped).isSettled)
    }

    @Test("a message counts until it came back, on whichever road it was first")
    func messages() {
        var tracker = Self.tracker(.press(.up), Self.event("up"), Self.publish("x"), Self.publish("x"))
        tracker.delivered(.init(topicName: "a", payload: "x"))
        #expect(tracker.awaited == "the message on a to arrive")
        tracker.delivered(.init(topicName: "a", payload: "x"))
        #expect(tracker.isSettled)
        tracker.delivered(.init(topicName: "a", payload: "y"))
        #expect(tracker.isSettled)
        tracker.received(Self.publish("y"))
        #expect(tracker.isSettled)
    }

    @Test("a run is over with each result", arguments: RunResult.allCases)
    func ends(result: RunResult) {
        var tracker = Self.tracker(.press(.up), Self.event("up"), Self.rule("started"))
        #expect(tracker.awaited == "rule evening to end")
        tracker.received(Self.rule(.string(result.rawValue)))
        #expect(tracker.isSettled)
    }

    @Test("the first failure names its step")
    func failure() {
        let step: JSONValue = [
            "kind": "rule", "rule": "evening", "run": 1, "outcome": "step_failed", "step": "actions[1].run",
            "code": "R822", "reason": "exit status 1",
        ]
        let tracker = Self.tracker(.press(.up), Self.event("up"), Self.rule("started"), step, Self.rule("failed"))
        #expect(tracker.isSettled)
        #expect(tracker.failure == "Rule evening failed at actions[1].run: exit status 1 (R822).")
    }

    @Test("after a mere down, the up waits for the gesture of both")
    func downThenUp() {
        var tracker = Self.tracker(.press(.down), Self.event("down"))
        #expect(tracker.isSettled)
        tracker.begin(.press(.up))
        tracker.received(Self.event("up"))
        #expect(tracker.awaited == "the press to become a gesture")
        tracker.received(Self.event("click"))
        #expect(tracker.isSettled)
    }

    @Test("what a press that was not waited for began has to end, too")
    func leftOver() {
        var tracker = Self.tracker(.press(.down), Self.event("down"), Self.event("hold"), Self.rule("started"))
        tracker.begin(.press(.up))
        tracker.received(Self.event("up"))
        tracker.received(Self.event("hold_release"))
        #expect(tracker.awaited == "rule evening to end")
    }
}
