import ArgumentParser
import Glibc
import JSON
import Reactor

/// How a command finds the daemon.
struct ControlOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The daemon's socket. Otherwise \(ControlSocket.systemPath), then the one in $XDG_RUNTIME_DIR.",
            valueName: "path"))
    var controlSocket: String?

    var candidates: [String] {
        ControlSocket.candidates(
            chosen: controlSocket, runtimeDirectory: getenv("XDG_RUNTIME_DIR").map { String(cString: $0) })
    }

    /// Asks the daemon one thing.
    ///
    /// - Returns: the answer's `data`.
    /// - Throws: `Failure`: 69 when there is no daemon or it does not answer, 1 when it says no.
    func ask(_ request: String) throws -> JSONValue {
        let candidates = candidates
        return try Conversation<JSONValue>.run { conversation in
            conversation.limitTime()
            conversation.connect(candidates) { event in
                switch event {
                case .received(let answer): conversation.end(answer.requestOutcome)
                case .closed(let sentence): conversation.end(.failure(Failure(.unavailable, sentence)))
                }
            }
            conversation.send(["request": .string(request)])
        }
    }
}

extension JSONValue {
    /// The `data` of an answer, or why there is none.
    var requestOutcome: Result<JSONValue, Failure> {
        self["status"]?.stringValue == "ok"
            ? .success(self["data"] ?? .null)
            : .failure(Failure(.no, self["error"]?.stringValue ?? "The daemon gave no reason."))
    }
}
