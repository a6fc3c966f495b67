import JSON
import Testing

@testable import CommandSupport
@testable import ControlClient
@testable import Platform

@Suite("The control socket")
struct ControlTests {
    @Test("the chosen place is the only one; else the system's, then the user's")
    func places() {
        #expect(ControlSocket.candidates(chosen: "/a", configured: "/b", runtimeDirectory: "/run/user/1") == ["/a"])
        #expect(ControlSocket.candidates(chosen: nil, configured: "/b", runtimeDirectory: "/run/user/1") == ["/b"])
        #expect(
            ControlSocket.candidates(chosen: nil, runtimeDirectory: "/run/user/1") == [
                "/run/tryck/control.sock", "/run/user/1/tryck/control.sock",
            ])
        #expect(ControlSocket.candidates(chosen: nil, runtimeDirectory: nil) == ["/run/tryck/control.sock"])
        #expect(ControlSocket.candidates(chosen: nil, runtimeDirectory: "") == ["/run/tryck/control.sock"])
    }

    @Test("the next socket is tried if no process listens on the first")
    func nextPlace() throws {
        let found = try ControlSocket.first(of: ["/a", "/b"]) { path throws(ControlClientFailure) in
            guard path == "/b" else { throw .notRunning(path: path) }
            return path
        }
        #expect(found == "/b")
    }

    @Test("a socket without permission is reported before absent sockets")
    func refusal() throws {
        let cause = try #require(
            #expect(throws: ControlClientFailure.self) {
                try ControlSocket.first(of: ["/a", "/b"]) { path throws(ControlClientFailure) in
                    throw path == "/a" ? .notPermitted(path: path) : .notRunning(path: path)
                }
            })
        let failure = Failure(cause, candidates: ["/a", "/b"])
        #expect(failure.status == .unavailable)
        #expect(failure.sentence.hasPrefix("You have no permission to use /a."))
    }

    @Test("an answer is its data or the reason for the no")
    func answers() throws {
        #expect(try JSONValue(parsing: #"{"status":"ok","data":{"a":1}}"#).requestOutcome == .success(["a": 1]))
        #expect(
            try JSONValue(parsing: #"{"status":"error","error":"no","data":{}}"#).requestOutcome
                == .failure(Failure(.negativeResult, "no")))
        #expect(throws: Failure.self) { try JSONValue.null.requestOutcome.get() }
    }
}
