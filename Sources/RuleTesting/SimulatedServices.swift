import ButtonModel
import Expressions
import Rules

/// The simulated broker, programs and web servers of a test.
struct SimulatedServices {
    /// An action whose outcome arrives at a known time.
    private struct Pending {
        var at: Instant
        var step: ActionID
        var outcome: ActionResult
    }

    /// A message that waits for the broker to come online.
    private struct WaitingMessage {
        var step: ActionID
        var message: MessageAction
        var deadline: Instant
    }

    /// The topic and the pointer of a value of a state, which identify its value at the broker independently of its name.
    private struct StateAddress: Hashable {
        var topicName, pointer: String

        /// - Parameter topicName: for a state with `as`: the topic.
        init(_ state: DeclaredState, topicName: String? = nil) {
            self.topicName = topicName ?? state.topicName
            pointer = state.pointer
        }
    }

    /// The maximum number of messages that wait for the broker. If there are more, the oldest fails.
    static let maximumWaiting = 1000

    var brokerIsOnline = true
    /// The messages with QoS 1 that the broker has not acknowledged yet, in the order in which they were handed over.
    private var unacknowledged: [ActionID] = []
    private var retainedValues: [StateAddress: Value] = [:]
    /// Sorted by time. Entries with the same time keep the order in which they were added.
    private var pending: [Pending] = []
    private var waiting: [WaitingMessage] = []

    var nextMoment: Instant? { (pending.map(\.at) + waiting.map(\.deadline)).min() }

    /// True if an action is performed immediately. A message is performed when it is handed over to the broker, which
    /// may be later or never.
    func isPerformedImmediately(_ action: Action) -> Bool {
        if case .message = action { sendsAtOnce } else { true }
    }

    /// True if a message goes to the broker at once. As in the daemon, it waits behind others, also while these are handed over
    /// because the broker is back.
    private var sendsAtOnce: Bool { brokerIsOnline && waiting.isEmpty }

    /// Performs an action and returns the inputs that follow at once.
    mutating func perform(
        _ action: Action, for step: ActionID, _ results: [RuleTest.SimulatedResult], at now: Instant
    ) -> [RuleEngine.Input] {
        switch action {
        case .log: return []
        case .message where sendsAtOnce: return [.handedOver(step), SimulatedServices.acknowledgement(of: step)]
        case .message(let message):
            waiting.append(WaitingMessage(step: step, message: message, deadline: now + message.maximumAge))
            guard waiting.count > SimulatedServices.maximumWaiting else { return takeExpired(at: now) }
            return [SimulatedServices.undelivered(waiting.removeFirst().step, "too many messages wait for the broker")]
        case .external(let external):
            let (outcome, takes) = SimulatedAnswer.to(external, results)
            guard takes > .zero else { return [.actionFinished(step, outcome)] }
            let index = pending.firstIndex { $0.at > now + takes } ?? pending.endIndex
            pending.insert(Pending(at: now + takes, step: step, outcome: outcome), at: index)
            return []
        }
    }

    mutating func cancel(_ step: ActionID) {
        pending.removeAll { $0.step == step }
        waiting.removeAll { $0.step == step }
        unacknowledged.removeAll { $0 == step }
    }

    /// Forgets all actions after a restart of the program. The broker keeps its state.
    mutating func forgetSteps() {
        pending = []
        waiting = []
        unacknowledged = []
    }

    mutating func takeDue(at now: Instant) -> [RuleEngine.Input] {
        let due = pending.prefix { $0.at <= now }
        pending.removeFirst(due.count)
        return due.map { .actionFinished($0.step, $0.outcome) } + takeExpired(at: now)
    }

    private mutating func takeExpired(at now: Instant) -> [RuleEngine.Input] {
        let expired = waiting.filter { $0.deadline <= now }
        waiting.removeAll { $0.deadline <= now }
        return expired.map { SimulatedServices.undelivered($0.step, "the broker was disconnected for too long") }
    }

    /// Hands over the message that has waited longest, when the broker comes back.
    ///
    /// A message with QoS 0 is done then. The broker acknowledges one with QoS 1 after it has taken all that wait:
    /// `takeAcknowledgement`.
    mutating func takeWaiting() -> (message: MessageAction, answer: RuleEngine.Input)? {
        guard !waiting.isEmpty else { return nil }
        let (step, message) = (waiting[0].step, waiting[0].message)
        waiting.removeFirst()
        guard message.qos > 0 else { return (message, SimulatedServices.acknowledgement(of: step)) }
        unacknowledged.append(step)
        return (message, .handedOver(step))
    }

    /// The broker acknowledges the message that was handed over first.
    mutating func takeAcknowledgement() -> RuleEngine.Input? {
        unacknowledged.isEmpty ? nil : SimulatedServices.acknowledgement(of: unacknowledged.removeFirst())
    }

    private static func acknowledgement(of step: ActionID) -> RuleEngine.Input {
        .actionFinished(step, .completed())
    }

    private static func undelivered(_ step: ActionID, _ reason: String) -> RuleEngine.Input {
        .actionFinished(step, .failed(code: "R824", message: reason))
    }

    // MARK: States

    mutating func setRetainedValue(_ value: Value, for state: DeclaredState, on topicName: String?) {
        retainedValues[StateAddress(state, topicName: topicName)] = value
    }

    /// The values of states, as retained messages deliver them after a subscription.
    func retainedInputs(for states: [DeclaredState]) -> [RuleEngine.Input] {
        states.flatMap { state -> [RuleEngine.Input] in
            guard state.combination != nil else {
                return retainedValues[StateAddress(state)].map { [.given(.state(state.name, $0))] } ?? []
            }
            let filter = TopicFilter(state.topicName)
            return retainedValues.filter { $0.key.pointer == state.pointer && filter.matches($0.key.topicName) }
                .sorted { $0.key.topicName < $1.key.topicName }
                .map { .given(.state(state.name, $0.value, topicName: $0.key.topicName)) }
        }
    }
}
