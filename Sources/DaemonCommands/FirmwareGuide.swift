import Bytes
import CommandSupport
import CommandText
import JSON
import MQTTTopics
import Platform

/// The course of `tryck button … firmware`, from the first request to the end of the update.
///
/// It sends `watch` before the request for the update, so that no progress is missed. The daemon answers requests in
/// order.
struct FirmwareGuide: Guide {
    private enum State: Hashable {
        case watching
        /// Lines about updates that came before the answer. They may be about this update.
        case asking(earlierLines: [JSONValue])
        /// The button's id.
        case updating(String)
        case done
    }

    private let button: String
    private let image: [UInt8]
    private var state = State.watching
    /// The least progress between two lines that are shown, in per cent.
    private static let stride: Int64 = 5
    private var shown: Int64 = -Self.stride

    init(button: String, image: [UInt8]) {
        self.button = button
        self.image = image
    }

    mutating func handle(_ input: Input) -> [Effect] {
        switch (state, input) {
        case (.watching, .connected): return [.send(.request(ControlRequestName.watch))]
        case (.done, _), (_, .connected): return []
        case (_, .interrupted): return end(.fail(.silent(.negativeResult)))
        case (_, .received(let line)) where line["kind"] == nil: return answered(line)
        case (.updating(let id), .received(let line)) where line["id"]?.stringValue == id: return progressed(line)
        case (.asking(let earlierLines), .received(let line)) where StreamKind(line) == .firmware:
            state = .asking(earlierLines: earlierLines + [line])
            return []
        case (.watching, .received), (.asking, .received), (.updating, .received): return []
        }
    }

    private mutating func answered(_ answer: JSONValue) -> [Effect] {
        switch (state, answer.requestOutcome) {
        case (_, .failure(let failure)): return end(.fail(failure))
        case (.watching, .success):
            state = .asking(earlierLines: [])
            return [
                .send(
                    .request(ButtonRequestName.update, ["id": .string(button), "image": .string(image.hex)]))
            ]
        case (.asking(let earlierLines), .success(let data)):
            state = .updating(data.text("id"))
            return earlierLines.flatMap { handle(.received($0)) }
        case (.updating, .success), (.done, .success): return []
        }
    }

    private mutating func progressed(_ line: JSONValue) -> [Effect] {
        let kind = StreamKind(line)
        if kind == .firmware { return updated(line) }
        guard kind == .button, ["removed", "unpaired"].contains(line.text("state")) else { return [] }
        return end(.fail(Failure(.negativeResult, "The button is not paired any more. Pair it, then try again.")))
    }

    private mutating func updated(_ line: JSONValue) -> [Effect] {
        switch line.text("state") {
        case "finished": return [.show(line)] + end(.finish)
        case "failed": return end(.fail(Failure(.negativeResult, line.text("advice"))))
        case "transferring":
            guard let percentage = line["percentage"]?.integerValue, percentage >= shown + Self.stride else {
                return []
            }
            shown = percentage
            return [.show(line)]
        default: return [.show(line)]
        }
    }

    private mutating func end(_ effect: Effect) -> [Effect] {
        state = .done
        return [effect]
    }
}
