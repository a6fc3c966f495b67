import ButtonModel
import JSON
import Simulator
import TestSupport
import Testing

@testable import CommandSupport
@testable import DemoCommands
@testable import Platform
@testable import Setup

extension DemoRun: StateMachine {}

@Suite("The course of the demo")
struct DemoRunTests {
    typealias Talk = Transcript<DemoRun>

    static func request(_ name: JSONValue, _ data: JSONValue = .object([])) -> DemoRun.Effect {
        .send(["request": name, "transaction": name, "data": data])
    }

    static func answer(_ name: JSONValue, _ data: JSONValue = .object([])) -> DemoRun.Input {
        .received(["status": "ok", "data": data, "transaction": name])
    }

    static func line(_ kind: JSONValue, _ members: (String, JSONValue)...) -> JSONValue {
        .object([.init("kind", kind)] + members.map { JSONValue.Member($0.0, $0.1) })
    }

    static func status(adapter: JSONValue = "powered_on", broker: JSONValue = "connected") -> JSONValue {
        [
            "adapter": ["state": adapter],
            "broker": ["state": broker, "url": "unix:/tmp/tryck-demo.abcdef/state/broker/mqtt.sock"],
            "simulated_buttons": ["kitchen", "hall"],
        ]
    }

    /// A demo whose buttons are paired.
    static func playing(_ script: String?) throws -> Talk {
        let script = try script.map { try DemoScript(parsing: $0) }
        var talk = Talk(DemoRun(script: script))
        talk.when(
            .connected, expect: .send(["request": "watch"]), request("status"), .setTimer(talk.now + .seconds(10)))
        talk.when(.received(["status": "ok", "data": .object([])]), expect: .nothing)
        talk.when(
            answer("status", status()),
            expect: .subscribe(broker: "unix:/tmp/tryck-demo.abcdef/state/broker/mqtt.sock"))
        talk.when(.subscribed, expect: request("permit_join", ["time": 30]), .setTimer(talk.now + .seconds(30)))
        talk.when(answer("permit_join"), expect: .nothing)
        let first = line("button", ("id", "1"), ("state", "ready"))
        talk.when(.received(first), expect: .nothing)
        talk.when(.received(first), expect: .nothing)
        talk.when(
            .received(line("button", ("id", "2"), ("state", "ready"))), expect: request("permit_join", ["time": 0]))
        return talk
    }

    static let ready = DemoRun.Effect.ready(
        ["kitchen", "hall"], broker: "unix:/tmp/tryck-demo.abcdef/state/broker/mqtt.sock")

    static func press(_ button: JSONValue, _ press: JSONValue) -> DemoRun.Effect {
        request("simulator/press", ["button": button, "press": press])
    }

    @Test("a script presses one button after another and ends when all is done")
    func script() throws {
        var talk = try Self.playing("kitchen:click,hall:up")
        let deadline = talk.now + .seconds(30)
        talk.when(
            Self.answer("permit_join"), expect: .cancelTimer, Self.ready, Self.press("kitchen", "click"),
            .setTimer(deadline))
        for event in ["down", "up"] as [JSONValue] {
            let line = Self.line("event", ("id", "1"), ("event", event))
            talk.when(.received(line), expect: .show(line))
        }
        let click = Self.line("event", ("id", "1"), ("event", "click"))
        talk.when(.received(click), expect: .show(click), Self.request("health_check"))

        // Read only after the probe was sent: the press is not over.
        let started = Self.line("rule", ("rule", "r"), ("run", 1), ("outcome", "started"))
        talk.when(.received(started), expect: .show(started))
        talk.when(.received(Self.line("publish", ("topic", "a"), ("payload", "on"))), expect: .nothing)
        talk.when(Self.answer("health_check"), expect: .nothing)

        let completed = Self.line("rule", ("rule", "r"), ("run", 1), ("outcome", "completed"))
        talk.when(.received(completed), expect: .show(completed))
        let sent = Self.line("publish", ("topic", "a"), ("payload", "on"))
        talk.when(
            .delivered(.init(topicName: "a", payload: "on"), qos: 0), expect: .show(sent), Self.request("health_check"))
        talk.when(
            Self.answer("health_check"), expect: .cancelTimer, Self.press("hall", "up"), .setTimer(deadline))

        let up = Self.line("event", ("id", "2"), ("event", "up"))
        talk.when(.received(up), expect: .show(up), Self.request("health_check"))
        talk.when(Self.answer("health_check"), expect: .cancelTimer, .finish)
        talk.when(.timerFired, expect: .nothing)
    }

    /// A demo with this script, in which the first press of `hall` is a click and has started a run.
    private static func runningAfterClick(_ script: String) throws -> Talk {
        var talk = try playing(script)
        talk.given(answer("permit_join"))
        talk.given(.received(line("rule", ("rule", "r"), ("run", 1), ("outcome", "started"))))
        for event in ["down", "up"] as [JSONValue] {
            talk.given(.received(line("event", ("id", "2"), ("event", event))))
        }
        return talk
    }

    private static func click(_ button: JSONValue) -> JSONValue { line("event", ("id", button), ("event", "click")) }

    @Test("a run that waits does not keep the next press back, but the end of the script")
    func waitingRun() throws {
        var talk = try Self.runningAfterClick("hall:click,hall:up")
        talk.when(.received(Self.click("2")), expect: .show(Self.click("2")), .setTimer(talk.now + DemoRun.patience))
        talk.wait(DemoRun.patience)
        talk.when(.timerFired, expect: Self.press("hall", "up"), .setTimer(talk.now + .seconds(30)))
        let up = Self.line("event", ("id", "2"), ("event", "up"))
        talk.when(.received(up), expect: .show(up))
        let completed = Self.line("rule", ("rule", "r"), ("run", 1), ("outcome", "completed"))
        talk.when(.received(completed), expect: .show(completed), Self.request("health_check"))
        talk.when(Self.answer("health_check"), expect: .cancelTimer, .finish)
    }

    @Test("a run that ends soon is over before the next press")
    func shortRun() throws {
        var talk = try Self.runningAfterClick("hall:click,hall:up")
        let limit = talk.now + .seconds(30)
        talk.given(.received(Self.click("2")))
        let completed = Self.line("rule", ("rule", "r"), ("run", 1), ("outcome", "completed"))
        talk.when(
            .received(completed), expect: .show(completed), .setTimer(limit), Self.request("health_check"))
        talk.when(
            Self.answer("health_check"), expect: .cancelTimer, Self.press("hall", "up"),
            .setTimer(talk.now + .seconds(30)))
    }

    @Test("wait: keeps the next press back for a time, and at the end the script back from its end")
    func waits() throws {
        var talk = try Self.playing("wait:2s,hall:up,wait:1s")
        talk.when(
            Self.answer("permit_join"), expect: .cancelTimer, Self.ready, .setTimer(talk.now + .seconds(2)))
        talk.wait(.seconds(2))
        talk.when(.timerFired, expect: Self.press("hall", "up"), .setTimer(talk.now + .seconds(30)))
        let up = Self.line("event", ("id", "2"), ("event", "up"))
        talk.when(.received(up), expect: .show(up), Self.request("health_check"))
        talk.when(Self.answer("health_check"), expect: .cancelTimer, .setTimer(talk.now + .seconds(1)))
        let started = Self.line("rule", ("rule", "r"), ("run", 1), ("outcome", "started"))
        talk.when(.received(started), expect: .show(started))
        talk.wait(.seconds(1))
        talk.when(.timerFired, expect: .setTimer(talk.now + .seconds(30)))
        let completed = Self.line("rule", ("rule", "r"), ("run", 1), ("outcome", "completed"))
        talk.when(.received(completed), expect: .show(completed), Self.request("health_check"))
        talk.when(Self.answer("health_check"), expect: .cancelTimer, .finish)
    }

    @Test("a run that does not end after the last press is named")
    func endlessRun() throws {
        var talk = try Self.runningAfterClick("hall:click")
        talk.when(.received(Self.click("2")), expect: .show(Self.click("2")))
        talk.wait(.seconds(30))
        talk.when(
            .timerFired,
            expect: .fail(
                Failure(
                    .negativeResult,
                    "Rule r still runs 30 s after the last press. Give its waits a shorter time, or end them with another press."
                )))
    }

    @Test("a button may be called wait")
    func buttonCalledWait() throws {
        #expect(try DemoScript(parsing: "wait:click").steps == [.press("wait", .press(.click))])
        #expect(try DemoScript(parsing: "wait:1m30s").steps == [.wait(.seconds(90))])
        for text in ["wait:2", "wait:", "wait:2h"] {
            #expect(throws: Failure.self) { try DemoScript(parsing: text) }
        }
    }

    @Test("a rule that failed ends the script with its reason")
    func failedRule() throws {
        var talk = try Self.playing("hall:up")
        talk.given(Self.answer("permit_join"))
        talk.given(.received(Self.line("rule", ("rule", "r"), ("run", 1), ("outcome", "started"))))
        talk.given(.received(Self.line("rule", ("rule", "r"), ("run", 1), ("outcome", "failed"))))
        talk.given(.received(Self.line("event", ("id", "2"), ("event", "up"))))
        talk.when(Self.answer("health_check"), expect: .fail(Failure(.negativeResult, "Rule r failed.")))
    }

    @Test("with keys, a move is a press, and nothing ends by itself")
    func keys() throws {
        var talk = try Self.playing(nil)
        talk.when(.act(button: "hall", .press(.down)), expect: .nothing)
        talk.when(Self.answer("permit_join"), expect: .cancelTimer, Self.ready)
        talk.when(.act(button: "hall", .press(.down)), expect: Self.press("hall", "down"))
        talk.when(Self.answer("simulator/press"), expect: .nothing)
        let down = Self.line("event", ("id", "2"), ("event", "down"))
        talk.when(.received(down), expect: .show(down))
    }

    @Test("it waits until the controller and the broker are there")
    func waiting() {
        var talk = Talk(DemoRun(script: nil))
        talk.given(.connected)
        talk.when(Self.answer("status", Self.status(adapter: "resetting", broker: "disconnected")), expect: .nothing)
        talk.when(.received(Self.line("adapter", ("state", "powered_on"))), expect: Self.request("status"))
        talk.when(Self.answer("status", Self.status(broker: "disconnected")), expect: .nothing)
        talk.when(.received(Self.line("broker", ("state", "connected"))), expect: Self.request("status"))
        talk.when(
            Self.answer("status", Self.status()),
            expect: .subscribe(broker: "unix:/tmp/tryck-demo.abcdef/state/broker/mqtt.sock"))
        talk.when(Self.answer("status", Self.status()), expect: .nothing)
    }

    @Test("an unknown button is an error before anything is pressed")
    func unknownButton() throws {
        var talk = Talk(DemoRun(script: try DemoScript(parsing: "attic:click")))
        talk.given(.connected)
        talk.when(
            Self.answer("status", Self.status()),
            expect: .fail(Failure(.negativeResult, "There is no button \"attic\". The buttons are: kitchen, hall.")))
        var misspelt = Talk(DemoRun(script: try DemoScript(parsing: "hal:click")))
        misspelt.given(.connected)
        misspelt.when(
            Self.answer("status", Self.status()),
            expect: .fail(
                Failure(
                    .negativeResult,
                    "There is no button \"hal\". Did you mean \"hall\"? The buttons are: kitchen, hall.")))
    }

    @Test("with rules that have errors nothing is played")
    func faultyRules() {
        var talk = Talk(DemoRun(script: nil))
        talk.given(.connected)
        let status: JSONValue = ["simulated_buttons": ["kitchen"], "rules": ["state": "error"]]
        talk.when(
            Self.answer("status", status),
            expect: .fail(Failure(.configuration, "The rules have errors. See them with: tryck check FILE")))
    }

    @Test("when nothing more happens it says what it waited for")
    func timeout() throws {
        var talk = try Self.playing("hall:up")
        talk.given(Self.answer("permit_join"))
        talk.wait(.seconds(30))
        talk.when(
            .timerFired,
            expect: .fail(
                Failure(
                    .internalError,
                    "Nothing happened for 30 s; still waiting for the button to move. Please report this.")))
    }

    @Test("a broker that does not come up is named with the daemon's reason")
    func noBroker() {
        var talk = Talk(DemoRun(script: nil))
        talk.given(.connected)
        talk.when(
            Self.answer("status", ["simulated_buttons": ["kitchen"], "faults": ["There is no mosquitto."]]),
            expect: .nothing)
        talk.wait(DemoRun.startTimeLimit)
        talk.when(
            .timerFired,
            expect: .fail(
                Failure(
                    .unavailable, "The controller or the broker is not ready after 10 s. There is no mosquitto.")))
    }

    @Test("what the bridge says of itself is not shown")
    func bridgeMessages() throws {
        var talk = try Self.playing(nil)
        talk.given(Self.answer("permit_join"))
        talk.given(.delivered(.init(topicName: "tryck/bridge/event", payload: "{}"), qos: 1))
        talk.when(Self.answer("order"), expect: .nothing)
    }

    @Test("a message that arrives before the daemon tells of it is shown behind what has caused it")
    func order() throws {
        var talk = try Self.playing(nil)
        talk.given(Self.answer("permit_join"))
        let order = DemoRun.Effect.send(["request": "health_check", "transaction": "order"])
        talk.when(.delivered(.init(topicName: "a", payload: "on"), qos: 0), expect: order)
        let click = Self.line("event", ("id", "1"), ("event", "click"))
        talk.when(.received(click), expect: .show(click))
        let sent = Self.line("publish", ("topic", "a"), ("payload", "on"), ("rule", "r"), ("run", 1))
        talk.when(.received(sent), expect: .show(sent))
        talk.when(Self.answer("order"), expect: .nothing)

        // The daemon does not tell of messages that others publish.
        talk.when(.delivered(.init(topicName: "b", payload: "1"), qos: 1), expect: order)
        talk.when(.delivered(.init(topicName: "b", payload: "2"), qos: 1), expect: .nothing)
        func foreign(_ payload: JSONValue) -> DemoRun.Effect {
            .show(["kind": "publish", "topic": "b", "payload": payload, "qos": 1])
        }
        talk.when(Self.answer("order"), expect: foreign("1"), order)
        talk.when(Self.answer("order"), expect: foreign("2"))
    }

    @Test("with --all, also what the bridge says of itself and the states of buttons and broker are shown")
    func all() {
        var talk = Talk(DemoRun(script: nil, showsAll: true))
        talk.given(.connected)
        let state = Self.line("space", ("waiting", .array([])))
        talk.when(.received(state), expect: .show(state))
        let broker = Self.line("broker", ("state", "connected"))
        talk.when(.received(broker), expect: .show(broker), Self.request("status"))
        talk.when(
            .delivered(.init(topicName: "tryck/bridge/event", payload: "{}"), qos: 1),
            expect: .send(["request": "health_check", "transaction": "order"]))
        talk.when(
            Self.answer("order"),
            expect: .show(["kind": "publish", "topic": "tryck/bridge/event", "payload": "{}", "qos": 1]))
    }

    @Test("what the button has no part for is a usage error")
    func impossible() throws {
        let models: [String: FlicModel] = ["sofa": .duo, "desk": .twist]
        try DemoScript(parsing: "sofa:small_swipe_left,desk:push_turn_10,attic:swipe_up").check(models: models)
        let script = try DemoScript(parsing: "sofa:swipe_left,desk:swipe_left")
        let failure = #expect(throws: Failure.self) { try script.check(models: models) }
        #expect(failure?.status == .usage && failure?.sentence.hasPrefix("desk is a twist") == true)
    }

    @Test(
        "a script that cannot be read says how to write one",
        arguments: ["", "kitchen", ":click", "kitchen:fly", "kitchen:click,"])
    func badScript(text: String) {
        let failure = #expect(throws: Failure.self) { try DemoScript(parsing: text) }
        #expect(failure?.status == .usage)
    }
}
