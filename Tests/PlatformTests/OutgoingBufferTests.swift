import Glibc
import ReactorTestSupport
import TestSupport
import Testing

@testable import Platform

@Suite struct OutgoingBufferTests {
    @Test("what a descriptor does not take at once follows in order")
    func order() {
        let (near, far) = socketPair()
        defer {
            close(near)
            close(far)
        }
        var random = SeededGenerator(seed: 1)
        let octets = random.bytes(800_000)
        var buffer = OutgoingBuffer()
        #expect(buffer.append(octets) == true)
        var received: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 50_000)
        #expect(buffer.write(to: near) == .blocked)
        while received.count < octets.count {
            let count = read(far, &chunk, chunk.count)
            guard count > 0 else { break }
            received.append(contentsOf: chunk.prefix(count))
            _ = buffer.write(to: near)
        }
        #expect(received == octets)
        #expect(buffer.write(to: near) == .empty)
    }

    @Test("it holds its bound, and an octet more is refused whole")
    func bound() {
        var buffer = OutgoingBuffer()
        #expect(buffer.append([UInt8](repeating: 0, count: OutgoingBuffer.maximumCount - 1)) == true)
        #expect(buffer.append([1, 2]) == false)
        #expect(buffer.append([1]) == true)
        #expect(buffer.append([1]) == false)
        #expect(buffer.count == OutgoingBuffer.maximumCount)
    }

    @Test("a peer that has gone is an error")
    func brokenPipe() {
        signal(SIGPIPE, SIG_IGN)
        let (near, far) = socketPair()
        close(far)
        defer { close(near) }
        var buffer = OutgoingBuffer()
        #expect(buffer.append([1]) == true)
        #expect(buffer.write(to: near) == .failed(errno: EPIPE))
    }
}
