import ESPHome

extension ESPHomeFault {
    var adapterFault: AdapterFault {
        switch self {
        case .wrongKey, .keyNeeded, .keyNotWanted: .wrongKey
        case .refused, .unknownProtocol, .malformed, .tagMismatch, .weakEphemeralKey, .wrongEntropy, .unsendable,
            .sentTooEarly, .cryptographyFailed:
            .failed
        }
    }

    /// A sentence for users.
    var advice: String {
        switch self {
        case .wrongKey:
            "The proxy has another key. Copy `api: encryption: key:` from its ESPHome configuration to `key:` here."
        case .keyNeeded:
            "The proxy wants a key. Copy `api: encryption: key:` from its ESPHome configuration to `key:` here."
        case .keyNotWanted: "The proxy has no key. Take `key:` out here, or set `api: encryption: key:` there."
        case .refused(let text):
            // The text is not authenticated, so only a short part of it is shown.
            "The proxy refuses the connection: \(text.filter { $0.isASCII && !$0.isNewline }.prefix(80))."
        case .unknownProtocol, .malformed, .tagMismatch, .weakEphemeralKey, .wrongEntropy, .unsendable, .sentTooEarly,
            .cryptographyFailed:
            "The connection to the proxy failed: \(self)."
        }
    }
}
