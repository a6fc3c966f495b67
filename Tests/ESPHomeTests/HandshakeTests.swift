import Bytes
import Cryptography
import JSON
import Testing

@testable import ESPHome

@Suite("Handshake")
struct HandshakeTests {
    @Test("both sides compute every intermediate value of the reference")
    func steps() throws {
        let vector = try Vectors.handshake()
        let steps = try vector.value.values("steps")
        let psk = try vector.value.octets("psk")
        var state = SymmetricState(protocolName: NoiseHandshake.protocolName)
        var compared = 0

        func compare(_ name: String) throws -> JSONValue {
            let step = try #require(steps.first { $0["step"]?.stringValue?.hasPrefix(name) == true }, "\(name)")
            if step["h"] != nil { try #expect(state.hash == step.octets("h"), "\(name)") }
            if step["ck"] != nil { try #expect(state.chainingKey == step.octets("ck"), "\(name)") }
            if step["k"] != nil { try #expect(state.cipher?.key == step.octets("k"), "\(name)") }
            compared += 1
            return step
        }

        _ = try compare("name")
        let prologue = NoiseHandshake.prologue(clientHello: [])
        try #expect(prologue == vector.value.octets("prologue"))
        state.mixHash(prologue)
        _ = try compare("prologue")
        try state.mixKeyAndHash(psk)
        _ = try compare("psk")

        let first = try #require(Curve25519.agreementPublicKey(privateKey: vector.initiatorEntropy))
        state.mixHash(first)
        try state.mixKey(first)
        try #expect(compare("e of the initiator").octets("e") == first)
        let firstTag = try state.encryptAndHash([])
        try #expect(compare("payload of message 1").octets("tag") == firstTag)
        try #expect(vector.value.octets("message1") == first + firstTag)

        let second = try #require(Curve25519.agreementPublicKey(privateKey: vector.responderEntropy))
        state.mixHash(second)
        try state.mixKey(second)
        try #expect(compare("e of the responder").octets("e") == second)
        let secret = try #require(Curve25519.sharedSecret(privateKey: vector.initiatorEntropy, publicKey: second))
        #expect(Curve25519.sharedSecret(privateKey: vector.responderEntropy, publicKey: first) == secret)
        try state.mixKey(secret)
        try #expect(compare("ee").octets("dh") == secret)
        let secondTag = try state.encryptAndHash([])
        try #expect(compare("payload of message 2").octets("tag") == secondTag)
        try #expect(vector.value.octets("message2") == second + secondTag)

        let ciphers = try state.split()
        let split = try compare("split")
        try #expect(ciphers.fromInitiator.key == split.octets("initiator_to_responder"))
        try #expect(ciphers.fromResponder.key == split.octets("responder_to_initiator"))
        #expect(compared == steps.count)
    }

    @Test("the client's first octets and the proxy's answers are the reference's")
    func frames() throws {
        let vector = try Vectors.handshake()
        var client = ESPHomeConnection(role: .client, key: vector.key)
        #expect(client.handle(.opened(entropy: vector.initiatorEntropy)) == [.send(vector.firstWrite)])
        var proxy = ESPHomeConnection(role: .proxy(name: "hall", mac: "063569abf679"), key: vector.key)
        #expect(proxy.handle(.opened(entropy: vector.responderEntropy)) == [])
        #expect(
            proxy.handle(.received(vector.firstWrite)) == [
                .send(vector.serverHello), .send(vector.secondMessage), .established,
            ])
        #expect(client.handle(.received(vector.serverHello)) == [])
        #expect(client.serverHello == ServerHello(name: "hall", mac: "063569abf679"))
        #expect(client.handle(.received(vector.secondMessage)) == [.established])
    }

    @Test("hellos of old proxies have less to say")
    func oldHellos() throws {
        let vector = try Vectors.handshake()
        let hellos = [
            ("an old proxy: hello without a name", ServerHello()),
            ("an old proxy: hello with a name and no address", ServerHello(name: "hall")),
        ]
        for (what, expected) in hellos {
            var client = vector.openedClient()
            let frame = try Vectors.refused(what).octets("server_hello_frame")
            #expect(client.handle(.received(frame + vector.secondMessage)) == [.established], "\(what)")
            #expect(client.serverHello == expected)
        }
    }

    @Test("what a client said in its hello is part of the handshake")
    func clientHello() throws {
        let vector = try Vectors.handshake()
        var handshake = try NoiseHandshake(
            key: vector.key, clientHello: [1, 2, 3], ephemeralPrivateKey: vector.initiatorEntropy)
        let message = try handshake.firstMessage()
        let frame = FrameStream.encryptedFrame([0] + message)
        var proxy = vector.openedProxy()
        #expect(proxy.handle(.received(FrameStream.encryptedFrame([1, 2, 3]) + frame)).last == .established)
        var other = vector.openedProxy()
        #expect(
            other.handle(.received(FrameStream.encryptedFrame([1, 2, 4]) + frame)).last == .failed(.wrongKey))
    }

    @Test("entropy of a wrong length is refused", arguments: [0, 31, 33])
    func entropy(count: Int) throws {
        let vector = try Vectors.handshake()
        let entropy = [UInt8](repeating: 7, count: count)
        for role in [ESPHomeConnection.Role.client, .proxy(name: "hall", mac: "")] {
            var connection = ESPHomeConnection(role: role, key: vector.key)
            #expect(connection.handle(.opened(entropy: entropy)) == [.failed(.wrongEntropy)])
        }
    }
}

@Suite("Keys")
struct KeyTests {
    @Test("a key is the base64 of 32 octets")
    func base64() throws {
        let vector = try Vectors.handshake()
        let key = try ESPHomeKey(base64: vector.value.text("psk_base64"))
        #expect(key == vector.key)
        try #expect(key?.octets == vector.value.octets("psk"))
    }

    @Test(
        "other texts are no keys",
        arguments: [
            "", "=", "====", "bOFFzzvfpg5DB94DuBGLXD/hMnhpDKgP9UQyBulwWVU",
            "bOFFzzvfpg5DB94DuBGLXD/hMnhpDKgP9UQyBulwWVU==", "bOFFzzvfpg5DB94DuBGLXD/hMnhpDKgP9UQyBulwWVV=",
            " bOFFzzvfpg5DB94DuBGLXD/hMnhpDKgP9UQyBulwWVU=", "bOFFzzvfpg5DB94DuBGLXD/hMnhpDKgP9UQyBulwWVU=\n",
            "bOFFzzvfpg5DB94DuBGLXD_hMnhpDKgP9UQyBulwWVU=", "bOFFzzvfpg5DB94DuBGLXD/hMnhpDKgP9UQyBulwWVUA",
            "bOFFzzvfpg5DB94DuBGLXD/hMnhpDKgP9UQyBulwWQ==", "bOFF=zvfpg5DB94DuBGLXD/hMnhpDKgP9UQyBulwWVU=",
            "bOFFzzvfpg5DB94DuBGLXD/hMnhpDKgP9UQyBulwWVé=",
        ])
    func otherTexts(text: String) { #expect(ESPHomeKey(base64: text) == nil) }

    @Test("base64 is decoded as in RFC 4648, section 10")
    func decoding() {
        let texts = ["": "", "Zg==": "f", "Zm8=": "fo", "Zm9v": "foo", "Zm9vYg==": "foob", "Zm9vYmE=": "fooba"]
        for (text, expected) in texts { #expect(Base64.decode(text) == Array(expected.utf8)) }
        #expect(Base64.decode("Zh==") == nil)
        #expect(Base64.decode("+/+/") == [0xFB, 0xFF, 0xBF])
        #expect(Base64.decode("Z===") == nil)
    }

    @Test("no description shows a key")
    func descriptions() throws {
        let vector = try Vectors.handshake()
        #expect("\(vector.key)" == "***")
        #expect(String(reflecting: vector.key) == "***")
        for connection in [vector.openedClient(), vector.establishedClient(), vector.establishedProxy()] {
            var text = String(reflecting: connection)
            dump(connection, to: &text)
            #expect(text.contains("***"))
            // An array of octets would be shown by its elements.
            #expect(!text.contains("[UInt8]") && !text.contains("108, 225, 69") && !text.contains("- 225\n"))
        }
    }

    @Test("a public key of small order is refused")
    func smallOrder() throws {
        let vector = try Vectors.handshake()
        let points = [
            [UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31),
            try #require([UInt8](hex: "e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800")),
        ]
        for point in points {
            #expect(Curve25519.sharedSecret(privateKey: vector.initiatorEntropy, publicKey: point) == nil)
            var client = vector.openedClient()
            let message = FrameStream.encryptedFrame([0] + point + [UInt8](repeating: 0, count: 16))
            #expect(client.handle(.received(vector.serverHello + message)) == [.failed(.weakEphemeralKey)])
        }
    }
}
