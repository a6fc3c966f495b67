import CommandSupport
import CommandText
import JSON
import MQTTTopics
import Platform

/// The course of `tryck pair`, from the first request to the result.
///
/// It sends `watch` before buttons are permitted to join, so that no step is missed.
///
/// | state     | on                           | becomes  | and we                  |
/// |-----------|------------------------------|----------|-------------------------|
/// | watching  | the answer                   | joining  | permit joining          |
/// | watching  | interrupted                  | done     | fail                    |
/// | joining   | a step of pairing            | joining  | show it                 |
/// | joining   | paired, one is enough        | stopping | show it, stop joining   |
/// | joining   | ended: the time is over      | done     | finish                  |
/// | joining   | interrupted                  | stopping | stop joining            |
/// | stopping  | the answer, or interrupted   | done     | finish                  |
/// | any       | an answer that is an error   | done     | fail with its sentence  |
///
/// To finish is to fail when no button was paired. The daemon answers requests in order, so answers need no names.
struct PairingGuide: Guide {
    private enum State: Hashable {
        case watching, joining, stopping, done
    }

    private let seconds: Int
    private let pairsAll: Bool
    private let radio: String?
    private var state = State.watching
    private var pairedCount = 0
    private var wasInterrupted = false
    private var lastAdvice: String?

    /// - Parameters:
    ///   - pairsAll: whether to go on after the first button, until the time is over.
    ///   - radio: the name of the radio that pairs; `nil`: the one that hears a button best.
    init(seconds: Int, pairsAll: Bool, radio: String? = nil) {
        self.seconds = seconds
        self.pairsAll = pairsAll
        self.radio = radio
    }

    mutating func handle(_ input: Input) -> [Effect] {
        switch (state, input) {
        case (.watching, .connected): return [.send(.request(ControlRequestName.watch))]
        case (.watching, .interrupted): return finish()
        case (.joining, .interrupted):
            wasInterrupted = true
            return stop()
        case (.stopping, .interrupted): return finish()
        case (.done, _), (.joining, .connected), (.stopping, .connected): return []
        case (_, .received(let line)):
            return line["kind"] == nil ? answered(line) : StreamKind(line) == .pairing ? progressed(line) : []
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
            var data: [JSONValue.Member] = [.init("time", .integer(Int64(seconds)))]
            if let radio { data.append(.init("radio", .string(radio))) }
            return [.send(.request(BridgeRequestName.permitJoin, .object(data)))]
        case .stopping: return finish()
        case .joining, .done: return []
        }
    }

    private mutating func progressed(_ step: JSONValue) -> [Effect] {
        // Before our search has begun, these may be steps of a search that another client has asked for.
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
        return [.send(.request(BridgeRequestName.permitJoin, ["time": 0]))]
    }

    private mutating func finish() -> [Effect] {
        state = .done
        if pairedCount > 0 { return [.finish] }
        if wasInterrupted { return [.fail(.silent(.negativeResult))] }
        // The advice was shown with its step.
        if lastAdvice != nil { return [.fail(.silent(.negativeResult))] }
        return [
            .fail(
                Failure(
                    .negativeResult,
                    "No button was paired. Hold it down for 7 seconds, until its light changes; then try again."))
        ]
    }
}
