import Bytes
import TestSupport
import Testing

@testable import ESPHome

@Suite("Session")
struct SessionTests {
    @Test("every message of the session is decoded to its fields, and encoded to the reference's octets")
    func messages() throws {
        let session = try Vectors.session()
        #expect(session.count == 39)
        for vector in session {
            let message = try ESPHomeMessage(id: vector.id, payload: vector.payload)
            #expect(message == vector.message, "\(vector.name)")
            #expect(message.id == vector.id)
            if vector.isWritten { #expect(message.encoded() == vector.payload, "\(vector.name)") }
            let again = try ESPHomeMessage(id: vector.id, payload: message.encoded())
            #expect(again == message, "\(vector.name)")
        }
    }

    @Test("a client writes and reads the encrypted frames of the session")
    func encryptedClient() throws {
        var client = try Vectors.handshake().establishedClient()
        for vector in try Vectors.session() {
            if vector.isOfClient {
                #expect(client.handle(.send([vector.message])) == [.send(vector.encryptedFrame)], "\(vector.name)")
            } else {
                #expect(
                    client.handle(.received(vector.encryptedFrame)) == [.message(vector.message)], "\(vector.name)")
            }
        }
    }

    @Test("a proxy reads and writes the encrypted frames of the session")
    func encryptedProxy() throws {
        var proxy = try Vectors.handshake().establishedProxy()
        for vector in try Vectors.session() {
            if vector.isOfClient {
                #expect(
                    proxy.handle(.received(vector.encryptedFrame)) == [.message(vector.message)], "\(vector.name)")
            } else {
                let effects = proxy.handle(.send([vector.message]))
                if vector.isWritten { #expect(effects == [.send(vector.encryptedFrame)], "\(vector.name)") }
            }
        }
    }

    @Test("the ciphers write every encrypted frame of both sides")
    func ciphers() throws {
        let vector = try Vectors.handshake()
        var fromClient = NoiseCipher(key: vector.keyFromClient)
        var fromProxy = NoiseCipher(key: vector.keyFromProxy)
        for vector in try Vectors.session() {
            let inner = FrameStream.inner(id: vector.id, message: vector.payload)
            let body = vector.isOfClient ? try fromClient.encrypt(inner) : try fromProxy.encrypt(inner)
            #expect(FrameStream.encryptedFrame(body) == vector.encryptedFrame, "\(vector.name)")
        }
    }

    @Test("both sides write and read the plain frames of the session")
    func plain() throws {
        var client = ESPHomeConnection(role: .client, key: nil)
        var proxy = ESPHomeConnection(role: .proxy(name: "hall", mac: ""), key: nil)
        #expect(client.handle(.opened(entropy: [])) == [.established])
        #expect(proxy.handle(.opened(entropy: [])) == [.established])
        for vector in try Vectors.session() {
            #expect(FrameStream.plainFrame(id: vector.id, message: vector.payload) == vector.plainFrame)
            let received = [ESPHomeConnection.Effect.message(vector.message)]
            let sent = [ESPHomeConnection.Effect.send(vector.plainFrame)]
            if vector.isOfClient {
                #expect(client.handle(.send([vector.message])) == sent, "\(vector.name)")
                #expect(proxy.handle(.received(vector.plainFrame)) == received, "\(vector.name)")
            } else {
                if vector.isWritten { #expect(proxy.handle(.send([vector.message])) == sent, "\(vector.name)") }
                #expect(client.handle(.received(vector.plainFrame)) == received, "\(vector.name)")
            }
        }
    }

    @Test("messages that are sent together are one piece")
    func batch() throws {
        let session = try Vectors.session().filter(\.isOfClient)
        var client = try Vectors.handshake().establishedClient()
        #expect(client.handle(.send(session.map(\.message))) == [.send(session.flatMap(\.encryptedFrame))])
        var plain = ESPHomeConnection(role: .client, key: nil)
        _ = plain.handle(.opened(entropy: []))
        #expect(plain.handle(.send(session.map(\.message))) == [.send(session.flatMap(\.plainFrame))])
        #expect(plain.handle(.send([])) == [])
    }

    @Test("messages that are sent too early are kept back until the connection is established")
    func early() throws {
        let vector = try Vectors.handshake()
        let session = try Vectors.session().filter(\.isOfClient)
        var client = ESPHomeConnection(role: .client, key: vector.key)
        #expect(client.handle(.send([session[0].message])) == [])
        #expect(client.handle(.opened(entropy: vector.initiatorEntropy)) == [.send(vector.firstWrite)])
        #expect(client.handle(.send([session[1].message])) == [])
        #expect(
            client.handle(.received(vector.serverHello + vector.secondMessage)) == [
                .established, .send(session[0].encryptedFrame + session[1].encryptedFrame),
            ])
        #expect(client.handle(.send([session[2].message])) == [.send(session[2].encryptedFrame)])
    }

    @Test("a client and a proxy understand each other, whatever the entropy and the cuts", arguments: [true, false])
    func bothSides(hasKey: Bool) throws {
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<50 {
            let key = hasKey ? ESPHomeKey(generator.bytes(32)) : nil
            var client = ESPHomeConnection(role: .client, key: key)
            var proxy = ESPHomeConnection(role: .proxy(name: "hall", mac: "063569abf679"), key: key)
            var fromClient = client.handle(.opened(entropy: generator.bytes(32)))
            var fromProxy = proxy.handle(.opened(entropy: generator.bytes(32)))
            let session = try Vectors.session()
            fromClient += client.handle(.send(session.filter(\.isOfClient).map(\.message)))
            fromProxy += proxy.handle(.send(session.filter { !$0.isOfClient }.map(\.message)))
            var heardByClient: [ESPHomeMessage] = []
            var heardByProxy: [ESPHomeMessage] = []
            while !fromClient.isEmpty || !fromProxy.isEmpty {
                let toProxy = fromClient
                let toClient = fromProxy
                fromClient = Self.carry(toClient, to: &client, &generator)
                fromProxy = Self.carry(toProxy, to: &proxy, &generator)
                heardByClient += fromClient.compactMap(\.received)
                heardByProxy += fromProxy.compactMap(\.received)
            }
            // What has no fields here, because it is passed over, arrives as it was sent.
            #expect(heardByProxy == session.filter(\.isOfClient).map(\.message))
            #expect(heardByClient == session.filter { !$0.isOfClient }.map(\.message))
        }
    }

    /// Delivers the octets of these effects in random pieces.
    private static func carry(
        _ effects: [ESPHomeConnection.Effect], to connection: inout ESPHomeConnection,
        _ generator: inout SeededGenerator
    ) -> [ESPHomeConnection.Effect] {
        var answers: [ESPHomeConnection.Effect] = []
        for case .send(let octets) in effects {
            var rest = octets[...]
            while !rest.isEmpty {
                let piece = rest.prefix(Int.random(in: 1...100, using: &generator))
                rest = rest.dropFirst(piece.count)
                answers += connection.handle(.received(Array(piece)))
            }
        }
        return answers
    }
}

extension ESPHomeConnection.Effect {
    var received: ESPHomeMessage? {
        if case .message(let message) = self { message } else { nil }
    }
}

@Suite("Streams")
struct StreamTests {
    typealias Effect = ESPHomeConnection.Effect

    @Test("the plain stream of a proxy can be cut anywhere")
    func plain() throws {
        let stream = try Vectors.load().octets("plain_stream_of_the_proxy")
        let expected = try Vectors.session().filter { !$0.isOfClient }.map { Effect.message($0.message) }
        var opened = ESPHomeConnection(role: .client, key: nil)
        _ = opened.handle(.opened(entropy: []))
        Self.cut(stream, for: opened, expect: expected)
    }

    @Test("the encrypted stream of a proxy can be cut anywhere")
    func encrypted() throws {
        let vector = try Vectors.handshake()
        let session = try Vectors.session().filter { !$0.isOfClient }
        let stream = vector.serverHello + vector.secondMessage + session.flatMap(\.encryptedFrame)
        let expected = [Effect.established] + session.map { Effect.message($0.message) }
        Self.cut(stream, for: vector.openedClient(), expect: expected)
    }

    @Test("the encrypted stream of a client can be cut anywhere")
    func ofClient() throws {
        let vector = try Vectors.handshake()
        let session = try Vectors.session().filter(\.isOfClient)
        let stream = vector.firstWrite + session.flatMap(\.encryptedFrame)
        let answers: [Effect] = [.send(vector.serverHello), .send(vector.secondMessage), .established]
        Self.cut(stream, for: vector.openedProxy(), expect: answers + session.map { Effect.message($0.message) })
    }

    /// Delivers the stream in two pieces, cut at every octet, and octet by octet.
    private static func cut(_ stream: [UInt8], for opened: ESPHomeConnection, expect expected: [Effect]) {
        #expect(stream.count > 500)
        for position in 0...stream.count {
            var connection = opened
            let effects =
                connection.handle(.received(Array(stream[..<position])))
                + connection.handle(.received(Array(stream[position...])))
            #expect(effects == expected, "cut at \(position)")
        }
        var connection = opened
        #expect(stream.flatMap { connection.handle(.received([$0])) } == expected)
    }

    @Test("a stream that ends early says nothing that is not complete")
    func prefixes() throws {
        let stream = try Vectors.load().octets("plain_stream_of_the_proxy")
        for position in stream.indices {
            var connection = ESPHomeConnection(role: .client, key: nil)
            _ = connection.handle(.opened(entropy: []))
            let effects = connection.handle(.received(Array(stream[..<position])))
            #expect(effects.allSatisfy { $0.received != nil })
        }
    }
}
