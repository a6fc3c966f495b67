/// The first frame of a proxy on an encrypted connection. It is not authenticated, so it may be used to explain an
/// error and for no decision.
package struct ServerHello: Hashable, Sendable {
    /// The name of the proxy; `nil` from proxies older than 2022.2.
    package var name: String?
    /// Twelve digits; `nil` from proxies older than 2025.4.
    package var mac: String?

    private static let noiseProtocol: UInt8 = 1

    package init(name: String? = nil, mac: String? = nil) {
        self.name = name
        self.mac = mac
    }

    /// - Throws: `unknownProtocol`, and `malformed` if there is nothing.
    init(decoding body: [UInt8]) throws(ESPHomeFault) {
        guard let first = body.first else { throw .malformed(.handshakeLength(0)) }
        guard first == Self.noiseProtocol else { throw .unknownProtocol(first) }
        // Each text ends with a zero octet. What comes behind the last one is no text.
        let texts = body.dropFirst().split(separator: 0, omittingEmptySubsequences: false).dropLast()
        name = texts.first.map { String(decoding: $0, as: UTF8.self) }
        mac = texts.dropFirst().first.map { String(decoding: $0, as: UTF8.self) }
    }

    func encoded() -> [UInt8] {
        [Self.noiseProtocol] + [name, mac].compactMap { $0 }.flatMap { Array($0.utf8) + [0] }
    }
}
