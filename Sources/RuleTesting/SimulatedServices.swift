import ButtonModel
import Expressions
import Rules

/// The broker, the programs and the web servers of a test: what they answer, and when.
struct SimulatedServices {
    /// A step whose outcome comes at a known time.
    private struct Pending {
        var at: Instant
        var step: StepID
        var outcome: StepOutcome
    }

    /// A message that waits for the broker to come online.
    private struct WaitingMessage {
        var step: StepID
        var message: MessageAction
        var deadline: Instant
    }

    /// The topic and the pointer of a state, which identify its value at the broker whatever the rules call the state.
    private struct Source: Hashable {
        var topicName, pointer: String

        init(_ state: DeclaredState) {
            topicName = state.topicName
            pointer = state.pointer
        }
    }

    /// The most messages that wait for the broker. One more makes the oldest fail.
    static let maximumWaiting = 1000

    var brokerIsOnline = true
    private var said: [Source: Value] = [:]
    /// Sorted by time. Entries with the same time keep the order in which they were added.
    private var pending: [Pending] = []
    private var waiting: [WaitingMessage] = []

    var nextMoment: Instant? { (pending.map(\.at) + waiting.map(\.deadline)).min() }

    /// Whether the action is carried out now. A message is carried out when it is handed over: without the broker that is
    /// later, or never.
    func takesAtOnce(_ action: Action) -> Bool {
        if case .message = action { brokerIsOnline } else { true }
    }

    /// Performs an action and returns the inputs that follow at once.
    mutating func perform(
        _ action: Action, for step: StepID, _ results: [RuleTest.SimulatedResult], at now: Instant
    ) -> [RuleEngine.Input] {
        switch action {
        case .log: return []
        case .message where brokerIsOnline: return SimulatedServices.delivered(step)
        case .message(let message):
            waiting.append(WaitingMessage(step: step, message: message, deadline: now + message.maximumAge))
            guard waiting.count > SimulatedServices.maximumWaiting else { return takeExpired(at: now) }
            return [SimulatedServices.undelivered(waiting.removeFirst().step, "too many messages wait for the broker")]
        case .external(let external):
            let (outcome, takes) = SimulatedAnswer.to(external, results)
            guard takes > .zero else { return [.stepFinished(step, outcome)] }
            let place = pending.firstIndex { $0.at > now + takes } ?? pending.endIndex
            pending.insert(Pending(at: now + takes, step: step, outcome: outcome), at: place)
            return []
        }
    }

    mutating func cancel(_ step: StepID) {
        pending.removeAll { $0.step == step }
        waiting.removeAll { $0.step == step }
    }

    /// Forgets all steps after a restart of the program. The broker keeps its state.
    mutating func forgetSteps() {
        pending = []
        waiting = []
    }

    mutating func takeDue(at now: Instant) -> [RuleEngine.Input] {
        let due = pending.prefix { $0.at <= now }
        pending.removeFirst(due.count)
        return due.map { .stepFinished($0.step, $0.outcome) } + takeExpired(at: now)
    }

    private mutating func takeExpired(at now: Instant) -> [RuleEngine.Input] {
        let expired = waiting.filter { $0.deadline <= now }
        waiting.removeAll { $0.deadline <= now }
        return expired.map { SimulatedServices.undelivered($0.step, "the broker was disconnected for too long") }
    }

    /// Hands over the message that has waited longest, when the broker comes back.
    mutating func takeWaiting() -> (message: MessageAction, answers: [RuleEngine.Input])? {
        guard !waiting.isEmpty else { return nil }
        let first = waiting.removeFirst()
        return (first.message, SimulatedServices.delivered(first.step))
    }

    private static func delivered(_ step: StepID) -> [RuleEngine.Input] {
        [.handedOver(step), .stepFinished(step, .completed())]
    }

    private static func undelivered(_ step: StepID, _ reason: String) -> RuleEngine.Input {
        .stepFinished(step, .failed(code: "R824", message: reason))
    }

    // MARK: States

    mutating func say(_ value: Value, for state: DeclaredState) { said[Source(state)] = value }

    /// The values of states, as retained messages deliver them after a subscription.
    func said(for states: [DeclaredState]) -> [RuleEngine.Input] {
        states.compactMap { state in said[Source(state)].map { .given(.state(state.name, $0)) } }
    }
}
