import CommandSupport
import ControlClient
import JSON
import Platform
import Reactor

/// The course of a command that exchanges several messages with the daemon, as a value.
protocol Guide: Sendable {
    typealias Input = GuideInput
    typealias Effect = GuideEffect

    mutating func handle(_ input: GuideInput) -> [GuideEffect]
}

enum GuideInput: Hashable, Sendable {
    case connected
    /// An answer, or a line of the live stream, which has a `kind`.
    case received(JSONValue)
    case interrupted
}

enum GuideEffect: Hashable, Sendable {
    case send(JSONValue)
    /// Print the line, or the trace of a run.
    case show(JSONValue)
    case finish
    case fail(Failure)
}

extension Guide {
    /// Connects to the daemon, and carries out the effects until the guide finishes or fails.
    ///
    /// - Parameters:
    ///   - candidates: the sockets to try, in this order.
    ///   - show: prints a line.
    func run(_ candidates: [String], show: @escaping @ReactorActor (JSONValue) -> Void) throws(Failure) {
        try Conversation<Void>.run { conversation in
            var guide = self
            let take: @ReactorActor (GuideInput) -> Void = { input in
                for effect in guide.handle(input) {
                    switch effect {
                    case .send(let request): conversation.send(request)
                    case .show(let line): show(line)
                    case .finish: conversation.end(.success(()))
                    case .fail(let failure): conversation.end(.failure(failure))
                    }
                }
            }
            conversation.onInterrupt { take(.interrupted) }
            conversation.connect(candidates) { event in
                switch event {
                case .received(let line): take(.received(line))
                case .closed(let sentence): conversation.end(.failure(Failure(.unavailable, sentence)))
                }
            }
            take(.connected)
        }
    }
}
