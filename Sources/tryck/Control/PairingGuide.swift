import Daemon
import JSON

/// One `tryck pair`, from the first request to the verdict.
///
/// It watches before it lets buttons join, so that no step is missed.
///
/// | state     | on                        | becomes  | and we                                    |
/// |-----------|---------------------------|----------|-------------------------------------------|
/// | watching  | the answer                | joining  | permit joining                            |
/// | joining   | a step of pairing         | joining  | show it                                   |
/// | joining   | paired, one is enough     | stopping | show it, stop joining                     |
/// | joining   | ended: the time is over   | done     | finish                                    |
/// | joining   | interrupted               | stopping | stop joining                              |
/// | stopping  | the answer, or interrupted again | done | finish                                 |
/// | any       | an answer that says no    | done     | fail with its sentence                    |
///
/// The daemon answers requests in their order, so answers need no names.
struct PairingGuide: Hashable, Sendable {
    enum Input: Hashable, Sendable {
        case connected
        case received(JSONValue)
        case interrupted
    }

    enum Effect: Hashable, Sendable {
        case send(JSONValue)
        /// A line of the kind `pairing`.
        case show(JSONValue)
        case finish
        case fail(Failure)
    }

    private enum State: Hashable {
        case watching, joining, stopping, done
    }

    private let seconds: Int
    private let pairsAll: Bool
    private var state = State.watching
    private var pairedCount = 0
    private var wasInterrupted = false
    private var lastAdvice: String?

    /// - Parameter pairsAll: go on until the time is over.
    init(seconds: Int, pairsAll: Bool) {
        self.seconds = seconds
        self.pairsAll = pairsAll
    }

    mutating func handle(_ input: Input) -> [Effect] {
        switch (state, input) {
        case (.watching, .connected): return [.send(["request": "watch"])]
        case (.watching, .interrupted): return finish()
        case (.joining, .interrupted):
            wasInterrupted = true
            return stop()
        case (.stopping, .interrupted): return finish()
        case (.done, _), (.joining, .connected), (.stopping, .connected): return []
        case (_, .received(let line)):
            return line["kind"] == nil ? answered(line) : line["kind"] == "pairing" ? progressed(line) : []
        }
    }

    private mutating func answered(_ answer: JSONValue) -> [Effect] {
        if case .failure(let failure) = answer.requestOutcome {
            state = .done
            return [.fail(Failure(.unavailable, failure.sentence))]
        }
        switch state {
        case .watching:
            state = .joining
            return [.send(["request": "permit_join", "data": ["time": .integer(Int64(seconds))]])]
        case .stopping: return finish()
        case .joining, .done: return []
        }
    }

    private mutating func progressed(_ step: JSONValue) -> [Effect] {
        // Before our own search begins, somebody else's may be going on.
        guard state == .joining else { return [] }
        switch step.text("step") {
        case "paired":
            pairedCount += 1
            return [.show(step)] + (pairsAll ? [] : stop())
        case "failed":
            lastAdvice = step.text("advice")
            return [.show(step)]
        case "ended": return finish()
        default: return [.show(step)]
        }
    }

    private mutating func stop() -> [Effect] {
        state = .stopping
        return [.send(["request": "permit_join", "data": ["time": 0]])]
    }

    private mutating func finish() -> [Effect] {
        state = .done
        if pairedCount > 0 { return [.finish] }
        if wasInterrupted { return [.fail(.silent(.no))] }
        // The advice has been shown with its step.
        if lastAdvice != nil { return [.fail(.silent(.no))] }
        return [
            .fail(
                Failure(
                    .no, "No button was paired. Hold it down for 7 seconds, until its light changes; then try again."))
        ]
    }
}
