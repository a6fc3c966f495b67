import ButtonModel
import Expressions
import Gestures
import TestSupport
import Testing

@testable import Rules

@Suite("Messages with QoS 0")
struct HandOverTests {
    private static func send(_ topic: String, qos: Int = 0) -> Step {
        Step(.publish(PublishStep(topicName: Template(literal: topic), payload: .nothing, qos: qos)))
    }

    private static func talk(_ rules: Rule..., broker: Bool = true) -> Transcript<RuleEngine> {
        var talk = House.talk(House.set(rules))
        if broker { talk.given(.brokerChanged(isConnected: true)) }
        return talk
    }

    @Test(
        "with a broker, runs that send messages with QoS 0 do not wait, and follow each other in the order of the rules"
    )
    func order() {
        var talk = Self.talk(
            .on(.click, id: "a", do: Self.send("a1"), Self.send("a2")),
            .on(.click, id: "b", do: Self.send("b1"), Self.send("b2")))
        #expect(
            talk.click() == [
                "started 1 a", "started 2 b", "1 publishes a1", "1 publishes a2", "completed 1", "2 publishes b1",
                "2 publishes b2", "completed 2",
            ])
        #expect(talk.machine.runCount == 0)
    }

    @Test("two presses in one notification both start the rule, although it sends a message")
    func pressByPress() {
        var talk = Self.talk(.on(.down, queued: .accept, do: Self.send("lamp")))
        var first = ButtonEvent(button: House.kitchen, bootID: 1, counter: 1, step: .down, ticks: 0)
        first.wasQueued = true
        first.age = .seconds(9)
        var second = first
        second.counter = 5
        second.ticks = 65_536
        second.wasQueuedLast = true
        second.age = .seconds(7)
        #expect(
            talk.tell(.pressed([first, second])) == [
                "started 1 rule", "1 publishes lamp", "completed 1", "started 2 rule", "2 publishes lamp",
                "completed 2",
            ])
    }

    @Test("a run waits for a message with QoS 1 or 2, and for any message while the broker is disconnected")
    func waits() {
        for (qos, isConnected) in [(1, true), (2, true), (0, false), (1, false)] {
            var talk = Self.talk(.on(.click, do: Self.send("a", qos: qos), Self.send("b")), broker: isConnected)
            #expect(talk.click() == ["started 1 rule", "1 publishes a"])
            #expect(talk.click() == ["stopped rule, dropped_busy: single: a run is in progress"])
            talk.given(.brokerChanged(isConnected: true))
            #expect(talk.done(1) == ["1 publishes b", "completed 1"])
        }
    }

    @Test("a retry of a message with QoS 0 succeeds when the message is handed to the broker client")
    func retry() {
        var step = Self.send("a")
        step.retry = Retry(count: 2, delay: .seconds(1), backOff: 1)
        var talk = Self.talk(.on(.click, do: step), broker: false)
        _ = talk.click()
        #expect(talk.done(1, .failed(code: "R824", message: "away")) == [])
        talk.given(.brokerChanged(isConnected: true))
        #expect(talk.pass(.seconds(1)) == ["1 publishes a", "completed 1"])
    }
}
