import Bytes
import Foundation
import JSON
import Testing

@testable import ESPHome

/// The file of `Vectors/`: a handshake with all intermediate values, a whole session, refusals, and payloads that are
/// unusual or invalid. Other implementations of the messages and of Noise have written it.
enum Vectors {
    static func load() throws -> JSONValue {
        let url = try #require(
            Bundle.module.url(forResource: "esphome", withExtension: "json", subdirectory: "Vectors"))
        return try JSONValue(parsing: [UInt8](Data(contentsOf: url)))
    }

    static func handshake() throws -> HandshakeVector { try HandshakeVector(load()) }

    static func session() throws -> [SessionVector] { try load().values("session").map(SessionVector.init) }

    /// The refusal whose description begins with these words.
    static func refused(_ what: String) throws -> JSONValue {
        try #require(try load().values("refused").first { $0["what"]?.stringValue?.hasPrefix(what) == true }, "\(what)")
    }
}

struct HandshakeVector {
    var key: ESPHomeKey
    var initiatorEntropy, responderEntropy: [UInt8]
    var firstWrite, serverHello, secondMessage: [UInt8]
    var keyFromClient, keyFromProxy: [UInt8]
    var value: JSONValue

    init(_ file: JSONValue) throws {
        value = try #require(file["handshake"])
        key = try #require(ESPHomeKey(value.octets("psk")))
        initiatorEntropy = try value.octets("initiator_ephemeral_private")
        responderEntropy = try value.octets("responder_ephemeral_private")
        firstWrite = try value.octets("first_write_of_the_client")
        serverHello = try #require(value["server_hello"]).octets("frame")
        secondMessage = try value.octets("server_handshake_frame")
        let keys = try #require(value["keys"])
        keyFromClient = try keys.octets("client_to_server")
        keyFromProxy = try keys.octets("server_to_client")
    }

    /// A client after `opened`, which has sent its first octets.
    func openedClient(key other: ESPHomeKey? = nil) -> ESPHomeConnection {
        var client = ESPHomeConnection(role: .client, key: other ?? key)
        _ = client.handle(.opened(entropy: initiatorEntropy))
        return client
    }

    func openedProxy() -> ESPHomeConnection {
        var proxy = ESPHomeConnection(role: .proxy(name: "hall", mac: "063569abf679"), key: key)
        _ = proxy.handle(.opened(entropy: responderEntropy))
        return proxy
    }

    func establishedClient() -> ESPHomeConnection {
        var client = openedClient()
        #expect(client.handle(.received(serverHello + secondMessage)) == [.established])
        return client
    }

    func establishedProxy() -> ESPHomeConnection {
        var proxy = openedProxy()
        #expect(proxy.handle(.received(firstWrite)).last == .established)
        return proxy
    }
}

struct SessionVector {
    var name: String
    var isOfClient: Bool
    var id: UInt32
    var payload, plainFrame, encryptedFrame: [UInt8]
    var message: ESPHomeMessage

    init(_ value: JSONValue) throws {
        name = try value.text("message")
        isOfClient = try value.text("from") == "client"
        id = try value.integer("id")
        payload = try value.octets("payload")
        plainFrame = try value.octets("plain_frame")
        encryptedFrame = try value.octets("noise_frame")
        message = try VectorMessage(name, value["fields"]).message
    }

    /// False for the two messages with fields that are passed over, and that are therefore not written again.
    var isWritten: Bool { name != "DeviceInfoResponse" && name != "DeviceCapabilitiesResponse" }
}

extension JSONValue {
    func values(_ name: String) throws -> [JSONValue] { try #require(self[name]?.arrayValue, "no array \(name)") }
    func text(_ name: String) throws -> String { try #require(self[name]?.stringValue, "no string \(name)") }
    func octets(_ name: String) throws -> [UInt8] { try #require([UInt8](hex: text(name)), "no octets \(name)") }

    func integer<T: FixedWidthInteger>(_ name: String, as type: T.Type = T.self) throws -> T {
        let value = try #require(self[name]?.integerValue, "no integer \(name)")
        return try #require(T(exactly: value))
    }
}
