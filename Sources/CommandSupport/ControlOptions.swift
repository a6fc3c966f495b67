package import ArgumentParser
import ControlClient
import Glibc
package import JSON
package import MQTTTopics
import Platform

/// The option with which a command finds the daemon.
package struct ControlOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The daemon's socket. The default is the control_socket of $TRYCK_CONFIG, ./tryck.yaml or \
            /etc/tryck/tryck.yaml, or else \(ControlSocket.systemPath), or the socket in $XDG_RUNTIME_DIR.
            """,
            valueName: "path"))
    package var controlSocket: String?

    package init() {}

    /// The sockets to try, in this order.
    package var candidates: [String] {
        ControlSocket.candidates(
            chosen: controlSocket,
            configured: controlSocket == nil
                ? ControlSocket.configured(environment: SystemEnvironment.environmentVariables) : nil,
            runtimeDirectory: getenv("XDG_RUNTIME_DIR").map { String(cString: $0) })
    }

    /// Sends the daemon one request and waits for the answer.
    ///
    /// - Parameters:
    ///   - data: the `data` of the request.
    ///   - timeLimit: how long the answer may take.
    /// - Returns: the answer's `data`.
    /// - Throws: `Failure`: 69 when there is no daemon or it does not answer, 1 when it refuses.
    package func ask(
        _ request: some RequestName, _ data: JSONValue = .object([]), within timeLimit: Duration = .seconds(10)
    ) throws(Failure) -> JSONValue {
        let answer: JSONValue?
        do throws(ControlClientFailure) {
            let client = try ControlSocket.first(of: candidates) { path throws(ControlClientFailure) in
                try ControlClient(path: path)
            }
            answer = try client.ask(.request(request, data), within: timeLimit)
        } catch {
            throw Failure(error, candidates: candidates)
        }
        guard let answer else {
            throw Failure(.unavailable, "The answer is not JSON. Is another program listening on the daemon's socket?")
        }
        return try answer.requestOutcome.get()
    }
}

extension JSONValue {
    /// A request to the daemon, as a line of the control socket.
    ///
    /// - Parameter data: `nil` for a request without `data`.
    package static func request(_ name: some RequestName, _ data: JSONValue? = nil) -> JSONValue {
        var members = [Member("request", .string(name.rawValue))]
        if let data { members.append(Member("data", data)) }
        return .object(members)
    }

    /// The `data` of an answer, or the reason why the request was refused, with the problems in rule files if these are
    /// the reason.
    package var requestOutcome: Result<JSONValue, Failure> {
        if self["status"]?.stringValue == "ok" { return .success(self["data"] ?? .null) }
        var failure = Failure(.negativeResult, self["error"]?.stringValue ?? "The daemon gave no reason.")
        failure.problems = self["data"]?["problems"]?.arrayValue ?? []
        return .failure(failure)
    }
}
