import Bytes
import JSON
import Testing

@testable import ESPHome

@Suite("Refusals")
struct RefusalTests {
    @Test("every refusal of the vectors has a test")
    func complete() throws {
        #expect(try Vectors.load().values("refused").count == 8)
    }

    @Test("a wrong key is refused by the proxy, and known from its answer")
    func wrongKey() throws {
        let vector = try Vectors.handshake()
        let refused = try Vectors.refused("wrong key")
        let answer = try refused.octets("answer")
        var proxy = vector.openedProxy()
        let hello = try vector.value.octets("client_hello_frame")
        #expect(
            try proxy.handle(.received(hello + refused.octets("client_handshake_frame"))) == [
                .send(vector.serverHello), .send(answer), .failed(.wrongKey),
            ])
        var client = vector.openedClient()
        #expect(client.handle(.received(vector.serverHello + answer)) == [.failed(.wrongKey)])
    }

    @Test("other refusals are known by their words")
    func words() throws {
        let vector = try Vectors.handshake()
        var client = vector.openedClient()
        let answer = FrameStream.encryptedFrame([1] + Array("Handshake error".utf8))
        #expect(client.handle(.received(vector.serverHello + answer)) == [.failed(.refused("Handshake error"))])
    }

    @Test("a proxy without a key is known from its first octet")
    func keyNotWanted() throws {
        let answer = try Vectors.refused("the proxy has no key").octets("answer")
        let vector = try Vectors.handshake()
        var client = vector.openedClient()
        #expect(client.handle(.received(answer)) == [.failed(.keyNotWanted)])
        var proxy = ESPHomeConnection(role: .proxy(name: "hall", mac: ""), key: nil)
        _ = proxy.handle(.opened(entropy: []))
        #expect(
            proxy.handle(.received(vector.firstWrite)) == [
                .send(answer + Array("Bad indicator byte".utf8)), .failed(.keyNotWanted),
            ])
    }

    @Test("a proxy with a key is known from its first octet")
    func keyNeeded() throws {
        let answer = try Vectors.refused("the proxy has a key").octets("answer")
        var client = ESPHomeConnection(role: .client, key: nil)
        _ = client.handle(.opened(entropy: []))
        #expect(client.handle(.received(answer)) == [.failed(.keyNeeded)])
        var proxy = try Vectors.handshake().openedProxy()
        #expect(proxy.handle(.received([0])) == [.send(answer), .failed(.keyNeeded)])
    }

    @Test("a changed answer to the handshake is refused")
    func changedMessage() throws {
        let vector = try Vectors.handshake()
        var client = vector.openedClient()
        let changed = try Vectors.refused("message 2 with one bit").octets("server_handshake_frame")
        #expect(client.handle(.received(vector.serverHello + changed)) == [.failed(.tagMismatch)])
    }

    @Test("a changed bit anywhere in the handshake is noticed")
    func changedBits() throws {
        let vector = try Vectors.handshake()
        for index in vector.secondMessage.indices {
            var changed = vector.secondMessage
            changed[index] ^= 0x40
            var client = vector.openedClient()
            let effects = client.handle(.received(vector.serverHello + changed))
            #expect(!effects.contains(.established), "octet \(index)")
        }
        for index in 3..<vector.firstWrite.count {
            var changed = vector.firstWrite
            changed[index] ^= 0x40
            var proxy = vector.openedProxy()
            #expect(!proxy.handle(.received(changed)).contains(.established), "octet \(index)")
        }
    }

    @Test("every fault has its own description")
    func descriptions() {
        let faults: [ESPHomeFault] = [
            .wrongKey, .keyNeeded, .keyNotWanted, .refused("x"), .unknownProtocol(2), .tagMismatch, .weakEphemeralKey,
            .wrongEntropy, .unsendable(id: 7), .sentTooEarly, .cryptographyFailed, .malformed(.indicator(7)),
            .malformed(.headerTooLong), .malformed(.messageTooLong(7)), .malformed(.handshakeLength(7)),
            .malformed(.frameTooShort(7)), .malformed(.innerLength(promised: 7, present: 6)), .malformed(.truncated),
            .malformed(.numberTooLong), .malformed(.wireType(7)), .malformed(.fieldNumber(7)),
            .malformed(.tooMany(.links)), .malformed(.valueTooLong(7)), .malformed(.uuidParts(7)),
        ]
        #expect(Set(faults.map(\.description)).count == faults.count)
        #expect("\(ESPHomeFault.refused("Bad day"))" == "the proxy refused the handshake: Bad day")
    }

    @Test("an unknown protocol and an empty hello are refused")
    func hellos() throws {
        let vector = try Vectors.handshake()
        var client = vector.openedClient()
        #expect(
            try client.handle(.received(Vectors.refused("an unknown protocol").octets("server_hello_frame")))
                == [.failed(.unknownProtocol(2))])
        client = vector.openedClient()
        #expect(
            try client.handle(.received(Vectors.refused("empty hello").octets("server_hello_frame")))
                == [.failed(.malformed(.handshakeLength(0)))])
    }

    @Test("a frame that was changed, repeated or left out is refused")
    func changedFrames() throws {
        let client = try Vectors.handshake().establishedClient()
        let frames = try Vectors.session().filter { !$0.isOfClient }.map(\.encryptedFrame)
        for index in 3..<frames[0].count {
            var changed = frames[0]
            changed[index] ^= 1
            var connection = client
            #expect(connection.handle(.received(changed)) == [.failed(.tagMismatch)])
        }
        var connection = client
        #expect(connection.handle(.received(frames[0] + frames[0])).last == .failed(.tagMismatch))
        connection = client
        #expect(connection.handle(.received(frames[1])) == [.failed(.tagMismatch)])
        connection = client
        #expect(connection.handle(.received([1, 0, 0])) == [.failed(.tagMismatch)])
        connection = client
        #expect(connection.handle(.received([0])) == [.failed(.malformed(.indicator(0)))])
    }

    @Test("after a failure everything is passed over")
    func afterFailure() throws {
        let vector = try Vectors.handshake()
        let frame = try #require(try Vectors.session().first { !$0.isOfClient }).encryptedFrame
        var client = vector.establishedClient()
        #expect(client.handle(.received([7])) == [.failed(.malformed(.indicator(7)))])
        #expect(client.handle(.received(frame)) == [])
        #expect(client.handle(.send([.pingRequest])) == [])
        #expect(client.handle(.opened(entropy: vector.initiatorEntropy)) == [])
    }

    @Test("before the connection is open and when it is opened twice, nothing happens")
    func order() throws {
        let vector = try Vectors.handshake()
        var client = ESPHomeConnection(role: .client, key: vector.key)
        #expect(client.handle(.received(vector.serverHello)) == [])
        client = vector.establishedClient()
        #expect(client.handle(.opened(entropy: vector.initiatorEntropy)) == [])
    }

    @Test("a proxy says why it refuses a handshake")
    func explanations() throws {
        let vector = try Vectors.handshake()
        let hello: [UInt8] = [1, 0, 0]
        let cases: [([UInt8], String)] = [
            (hello + [1, 0, 0], "Empty handshake message"), (hello + [1, 0, 129], "Bad handshake packet len"),
            (hello + [1, 0, 1, 9], "Bad handshake error byte"), (hello + [1, 0, 2, 0, 0], "Handshake error"),
            (hello + [9], "Bad indicator byte"),
        ]
        for (octets, words) in cases {
            var proxy = vector.openedProxy()
            let effects = proxy.handle(.received(octets))
            let answer = FrameStream.encryptedFrame([1] + Array(words.utf8))
            #expect(effects.dropLast().last == .send(answer), "\(words)")
        }
    }
}
