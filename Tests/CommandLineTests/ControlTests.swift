import JSON
import Testing

@testable import tryck

@Suite("The control socket")
struct ControlTests {
    @Test("the chosen place is the only one; else the system's, then the user's")
    func places() {
        #expect(ControlSocket.candidates(chosen: "/a", runtimeDirectory: "/run/user/1") == ["/a"])
        #expect(
            ControlSocket.candidates(chosen: nil, runtimeDirectory: "/run/user/1") == [
                "/run/tryck/control.sock", "/run/user/1/tryck/control.sock",
            ])
        #expect(ControlSocket.candidates(chosen: nil, runtimeDirectory: nil) == ["/run/tryck/control.sock"])
        #expect(ControlSocket.candidates(chosen: nil, runtimeDirectory: "") == ["/run/tryck/control.sock"])
    }

    @Test("lines are the same wherever the stream is cut", arguments: 0...9)
    func cut(at place: Int) throws {
        let stream = Array("{}\n\n[1]\n{\"".utf8)
        var buffer = LineBuffer()
        let lines = try buffer.append(stream.prefix(place)) + buffer.append(stream.dropFirst(place))
        #expect(lines == [Array("{}".utf8), Array("[1]".utf8)])
        #expect(try buffer.append("\n".utf8) == [Array("{\"".utf8)])
    }

    @Test("a line of the greatest length is taken, a longer one is not")
    func bound() throws {
        let longest = [UInt8](repeating: 0x20, count: LineBuffer.maximumLength)
        var buffer = LineBuffer()
        #expect(try buffer.append(longest + [0x0A]) == [longest])
        #expect(try buffer.append(longest) == [])
        #expect(throws: LineBuffer.LineTooLong.self) { try buffer.append([0x20]) }
        var second = LineBuffer()
        #expect(throws: LineBuffer.LineTooLong.self) { try second.append(longest + [0x20, 0x0A]) }
    }

    @Test("an answer is its data or the reason for the no")
    func answers() throws {
        #expect(try JSONValue(parsing: #"{"status":"ok","data":{"a":1}}"#).requestOutcome == .success(["a": 1]))
        #expect(
            try JSONValue(parsing: #"{"status":"error","error":"no","data":{}}"#).requestOutcome
                == .failure(Failure(.no, "no")))
        #expect(throws: Failure.self) { try JSONValue.null.requestOutcome.get() }
    }
}
