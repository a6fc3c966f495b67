import ButtonModel
import CommandSupport
import CommandText
import JSON
import MQTTTopics
import Platform
import Simulator

/// The course of the demo from the moment its daemon can be reached: wait for adapter and broker, subscribe at the
/// broker, pair the buttons, then let them be pressed.
///
/// | state       | on                                   | becomes     | and we                               |
/// |-------------|--------------------------------------|-------------|--------------------------------------|
/// | starting    | a status with adapter and broker     | listening   | subscribe to everything              |
/// | starting    | news of the adapter or the broker    | starting    | ask for the status again             |
/// | listening   | subscribed                           | pairing     | permit joining                       |
/// | pairing     | every button is ready                | closing     | stop joining                         |
/// | closing     | the answer                           | playing     | show the keys, or begin the script   |
/// | playing     | a press has no effects to wait for   | probing     | send any request                     |
/// | probing     | the answer, and still no effects     | playing     | next press, or finish                |
/// | probing     | the answer, and more effects         | playing     | wait                                 |
/// | playing     | only runs have not ended, before the | playing     | give them `patience`                 |
/// |             | last press                           |             |                                      |
/// | playing     | the timer of `patience` or `wait:`   | playing     | next press; after the last, wait     |
/// | any         | the timer of a time limit            | done        | fail with what was awaited           |
///
/// The probe closes a gap: the daemon's lines come in order, so its answer comes after all lines about the press,
/// including those that have not been read yet.
///
/// A run may wait for the next press, in a `wait_for` or a delay. Therefore only the last press waits for the end of all runs.
struct DemoRun: Hashable, Sendable {
    enum Input: Hashable, Sendable {
        /// The control socket is connected.
        case connected
        /// A line came from the control socket.
        case received(JSONValue)
        case subscribed
        /// The broker delivered a message that was published after the subscription.
        case delivered(PressTracker.Message, qos: Int)
        /// A key was pressed.
        case act(button: String, SimulatedAction)
        case timerFired
    }

    enum Effect: Hashable, Sendable {
        case send(JSONValue)
        /// Subscribe to `#` at this broker.
        case subscribe(broker: String)
        /// Print one line in the daemon's own form.
        case show(JSONValue)
        /// Tell the user that the buttons can be pressed now.
        case ready([String], broker: String)
        case setTimer(Instant)
        case cancelTimer
        case finish
        case fail(Failure)
    }

    private enum State: Hashable {
        case starting, listening, pairing, closing, playing, probing, done
    }

    /// How long the adapter and the broker may take to be ready.
    static let startTimeLimit = Duration.seconds(10)
    /// How long pairing all buttons may take, and each press of a script.
    static let timeLimit = Duration.seconds(30)

    /// How long a press waits for the ends of runs if another press follows. Runs that do not wait end sooner.
    static let patience = Duration.milliseconds(500)

    /// What the timer is for while a script is played.
    private enum Pause: Hashable {
        /// The runs may still end, until the timer fires.
        case runs
        /// The script waits.
        case wait
    }

    /// The transaction of the request after whose answer messages without lines are shown (`DemoMessages`).
    private static let orderTransaction = "order"

    /// The presses to perform; `nil` if keys on the terminal press the buttons.
    private let script: DemoScript?
    /// True if every line of the daemon and every message is shown.
    private let showsAll: Bool
    private var remaining: ArraySlice<DemoScript.Step>
    private var state = State.starting
    /// `nil` if the timer is a time limit.
    private var pause: Pause?
    /// When the press under way becomes a failure.
    private var limit = Instant(nanoseconds: 0)
    private var buttons: [String] = []
    private var readyButtons: Set<String> = []
    private var broker = ""
    private var tracker = PressTracker()
    private var messages = DemoMessages()
    /// The latest complaints of the daemon or of pairing, a sentence each.
    private var complaints: [String] = []

    init(script: DemoScript?, showsAll: Bool = false) {
        self.script = script
        self.showsAll = showsAll
        remaining = script?.steps[...] ?? []
    }

    mutating func handle(_ input: Input, at now: Instant) -> [Effect] {
        guard state != .done else { return [] }
        switch input {
        case .connected:
            return [
                .send(.request(ControlRequestName.watch)), request(ControlRequestName.status),
                .setTimer(now + Self.startTimeLimit),
            ]
        case .received(let line):
            return line["kind"] == nil ? answered(line, at: now) : lineReceived(line, at: now)
        case .subscribed:
            guard state == .listening else { return [] }
            state = .pairing
            return [permitJoin(for: Self.timeLimit), .setTimer(now + Self.timeLimit)]
        case .delivered(let message, let qos):
            return delivered(message, qos: qos, at: now)
        case .act(let button, let action):
            guard state == .playing, script == nil else { return [] }
            return [press(action, button)]
        case .timerFired: return pause == nil ? timeLimitReached() : pauseIsOver(at: now)
        }
    }

    private mutating func timeLimitReached() -> [Effect] {
        let complaint = complaints.isEmpty ? "" : " " + complaints.joined(separator: " ")
        switch state {
        case .starting, .listening:
            return fail(.unavailable, "The controller or the broker is not ready after 10 s.\(complaint)")
        case .pairing, .closing:
            return fail(.internalError, "Not every button could be paired within 30 s.\(complaint) Please report this.")
        case .playing, .probing, .done:
            if tracker.isInRunsOnly, let rule = tracker.runningRule {
                return fail(
                    .negativeResult,
                    "Rule \(rule) still runs 30 s after the last press. Give its waits a shorter time, or end them with another press."
                )
            }
            let awaited = tracker.awaited ?? "the daemon to answer"
            return fail(.internalError, "Nothing happened for 30 s; still waiting for \(awaited). Please report this.")
        }
    }

    // MARK: The control socket

    private mutating func answered(_ answer: JSONValue, at now: Instant) -> [Effect] {
        let data: JSONValue
        switch answer.requestOutcome {
        case .success(let value): data = value
        case .failure(let failure): return fail(.internalError, failure.sentence)
        }
        switch (state, answer.text("transaction")) {
        case (_, Self.orderTransaction):
            return messages.answered().flatMap(show) + askForOrder()
        case (.starting, ControlRequestName.status.rawValue): return statusReceived(data)
        case (.closing, BridgeRequestName.permitJoin.rawValue):
            state = .playing
            return [.cancelTimer, .ready(buttons, broker: broker)] + nextStep(at: now)
        case (.probing, BridgeRequestName.healthCheck.rawValue):
            state = .playing
            guard tracker.isSettled else { return probeIfSettled(at: now) }
            if let failure = tracker.failure { return fail(.negativeResult, failure) }
            return [.cancelTimer] + nextStep(at: now)
        case (.starting, _), (.listening, _), (.pairing, _), (.closing, _), (.playing, _), (.probing, _), (.done, _):
            return []
        }
    }

    private mutating func statusReceived(_ status: JSONValue) -> [Effect] {
        complaints = (status["faults"]?.arrayValue ?? []).compactMap(\.stringValue)
        buttons = (status["simulated_buttons"]?.arrayValue ?? []).compactMap(\.stringValue)
        guard !buttons.isEmpty else { return fail(.configuration, "The simulator file has no buttons; add one.") }
        do throws(Failure) {
            try script?.check(buttons: buttons)
        } catch {
            state = .done
            return [.fail(error)]
        }
        guard status["rules"]?["state"] != "error" else {
            return fail(.configuration, "The rules have errors. See them with: tryck check FILE")
        }
        guard status["adapter"]?["state"] == "powered_on", status["broker"]?["state"] == "connected",
            let url = status["broker"]?["url"]?.stringValue
        else { return [] }
        broker = url
        complaints = []
        state = .listening
        return [.subscribe(broker: url)]
    }

    private mutating func lineReceived(_ line: JSONValue, at now: Instant) -> [Effect] {
        let shown: [Effect] = showsAll ? [.show(line)] : []
        let kind = StreamKind(line)
        if kind == .adapter || kind == .broker {
            return shown + (state == .starting ? [request(ControlRequestName.status)] : [])
        }
        if kind == .pairing {
            if line.text("step") == "failed" { complaints = [line.text("advice")] }
            return [.show(line)]
        }
        if kind == .button {
            if line.text("state") == "ready" { readyButtons.insert(line.text("id")) }
            guard state == .pairing, readyButtons.count >= buttons.count else { return shown }
            state = .closing
            return shown + [permitJoin(for: .zero)]
        }
        guard kind?.isCausedByRulesOrPresses == true else { return shown }
        tracker.received(line)
        // A message is shown only if the broker delivers it.
        guard kind == .publish else { return [.show(line)] + probeIfSettled(at: now) }
        // The broker does not deliver what was published before the subscription.
        guard state != .starting, state != .listening else { return [] }
        return show(messages.told(line)) + probeIfSettled(at: now)
    }

    // MARK: The broker

    private mutating func delivered(_ message: PressTracker.Message, qos: Int, at now: Instant) -> [Effect] {
        tracker.delivered(message)
        return show(messages.delivered(message, qos: qos)) + askForOrder() + probeIfSettled(at: now)
    }

    /// Shows the line of a message. Messages of the bridge about itself are no effect of a press.
    private func show(_ line: JSONValue?) -> [Effect] {
        guard let line else { return [] }
        let isAboutBridge = line.text("topic").split(separator: "/").dropFirst().first == "bridge"
        return showsAll || (state == .playing || state == .probing) && !isAboutBridge ? [.show(line)] : []
    }

    private mutating func askForOrder() -> [Effect] {
        messages.asks()
            ? [
                .send([
                    "request": .string(BridgeRequestName.healthCheck.rawValue),
                    "transaction": .string(Self.orderTransaction),
                ])
            ] : []
    }

    // MARK: The script

    private mutating func nextStep(at now: Instant) -> [Effect] {
        guard script != nil else { return [] }
        switch remaining.popFirst() {
        case nil:
            state = .done
            return [.finish]
        case .wait(let duration):
            pause = .wait
            return [.setTimer(now + duration)]
        case .press(let button, let action):
            tracker.begin(action)
            limit = now + Self.timeLimit
            return [press(action, button), .setTimer(limit)]
        }
    }

    private mutating func probeIfSettled(at now: Instant) -> [Effect] {
        guard script != nil, state == .playing, pause != .wait else { return [] }
        if tracker.isSettled {
            state = .probing
            defer { pause = nil }
            return (pause == nil ? [] : [.setTimer(limit)]) + [request(BridgeRequestName.healthCheck)]
        }
        guard tracker.isInRunsOnly, !remaining.isEmpty, pause == nil else { return [] }
        pause = .runs
        return [.setTimer(now + Self.patience)]
    }

    private mutating func pauseIsOver(at now: Instant) -> [Effect] {
        if let failure = tracker.failure { return fail(.negativeResult, failure) }
        let ended = pause
        pause = nil
        // During the pause, a run may have sent a message that has not come back.
        if !remaining.isEmpty, ended == .wait || tracker.isInRunsOnly { return nextStep(at: now) }
        if ended == .wait { limit = now + Self.timeLimit }
        return [.setTimer(limit)] + probeIfSettled(at: now)
    }

    private mutating func fail(_ status: ExitStatus, _ sentence: String) -> [Effect] {
        state = .done
        return [.fail(Failure(status, sentence))]
    }

    private func permitJoin(for duration: Duration) -> Effect {
        request(BridgeRequestName.permitJoin, ["time": .integer(duration.milliseconds / 1000)])
    }

    private func press(_ action: SimulatedAction, _ button: String) -> Effect {
        request(ControlRequestName.pressSimulated, ["button": .string(button), "press": .string(action.name)])
    }

    /// A request whose `transaction` is its name, so that the answer carries the name.
    private func request(_ name: some RequestName, _ data: JSONValue = .object([])) -> Effect {
        .send(["request": .string(name.rawValue), "transaction": .string(name.rawValue), "data": data])
    }
}
