import Glibc
import Hub
import JSON
import MQTTTopics
import Rules

/// Searches everything that leaves the house for keys and secrets.
struct Secrecy {
    /// Octets that are public.
    private var shown: [UInt8] = []
    /// Octets of places that may contain secrets of rules, but no keys.
    private var sent: [UInt8] = []

    mutating func see(_ effect: Hub.Effect) {
        switch effect {
        case .publish(_, let message, _):
            if message.topicName == "did/kitchen_vault" { sent += message.payload } else { shown += message.payload }
            shown += message.topicName.utf8
        case .uplink(.publish(let message, _)): shown += Array(message.topicName.utf8) + message.payload
        case .startJob(_, .process(let request)):
            for text in request.arguments + request.environment { shown += text.utf8 }
            shown += request.standardInput
        case .startJob(_, .http(let request)):
            shown += request.url.utf8
            for header in request.headers { sent += header.utf8 }
            sent += request.body
        case .respond(_, let line): shown += line.encoded()
        case .broadcast(_, let line):
            // A rule publishes a secret to this topic on purpose.
            if line["topic"] == "did/kitchen_vault" { sent += line.encoded() } else { shown += line.encoded() }
        case .log(_, let sentence), .status(let sentence): shown += sentence.utf8
        case .writeMetrics(let text): shown += text
        case .flicd(.send(_, let octets)): shown += octets
        case .setTimer, .cancelTimer, .needsEntropy, .goOn, .openTransport, .closeTransport, .send, .bus, .source,
            .flicd, .uplink, .record,
            .sync, .subscribe, .unsubscribe, .cancelJob, .loadRules, .discard, .readFirmware,
            .pressSimulated, .setLogLevel, .finish:
            break
        }
        shown.append(0x0A)
        sent.append(0x0A)
    }

    mutating func see(recorded line: [UInt8]) { shown += line }

    /// The leaked keys and secrets, with their kinds.
    func findings(keys: [[UInt8]], secrets: [String]) -> [String] {
        var findings: [String] = []
        let (shown, sent) = (Self.text(shown), Self.text(sent))
        for secret in secrets where Self.find(Array(secret.utf8), in: shown) {
            findings.append("a secret of the rules")
        }
        for key in keys {
            for (name, form) in Self.forms(of: key) where Self.find(form, in: shown) || Self.find(form, in: sent) {
                findings.append("a pairing key, \(name)")
            }
        }
        return findings
    }

    private static func forms(of key: [UInt8]) -> [(String, [UInt8])] {
        let digits = key.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return [
            ("as it is", key), ("in hexadecimal", Array(digits.utf8)),
            ("in hexadecimal", Array(digits.uppercased().utf8)),
            ("in base64", base64(key)), ("in numbers", Array(key.map { String($0) }.joined(separator: ",").utf8)),
            ("in numbers", Array(key.map { String($0) }.joined(separator: ", ").utf8)),
        ]
    }

    /// Without the last two digits, which depend on what follows.
    private static func base64(_ octets: [UInt8]) -> [UInt8] {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: octets.count - 2, by: 3) {
            let group = octets[start..<start + 3].reduce(0) { $0 << 8 | Int($1) }
            text += [18, 12, 6, 0].map { digits[group >> $0 & 63] }
        }
        return text
    }

    private static func find(_ part: [UInt8], in text: [CChar]) -> Bool {
        strstr(text, Self.text(part)) != nil
    }

    /// A text for the search functions of the C library: zero octets are replaced by ones.
    private static func text(_ octets: [UInt8]) -> [CChar] {
        var octets = octets + [0]
        octets.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            let end = start + buffer.count - 1
            var place = start
            while place < end, let zero = memchr(place, 0, end - place) {
                place = zero.assumingMemoryBound(to: UInt8.self)
                place.pointee = 1
            }
        }
        return octets.withUnsafeBytes { Array($0.bindMemory(to: CChar.self)) }
    }
}
