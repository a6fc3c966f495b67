import Glibc
import ReactorTestSupport
import TestSupport
import Testing

@testable import Platform

@Suite struct OutgoingBufferTests {
    @Test("octets that a descriptor does not accept at once are written later, in order")
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

    @Test("octets that would exceed the limit are refused completely")
    func bound() {
        var buffer = OutgoingBuffer()
        #expect(buffer.append([UInt8](repeating: 0, count: OutgoingBuffer.maximumCount - 1)) == true)
        #expect(buffer.append([1, 2]) == false)
        #expect(buffer.append([1]) == true)
        #expect(buffer.append([1]) == false)
        #expect(buffer.count == OutgoingBuffer.maximumCount)
    }

    @Test("writing to a peer that has closed fails with EPIPE")
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
