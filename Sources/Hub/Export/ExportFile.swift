import Bytes
import JSON

/// The file of an export, one JSON object on one line:
///
///     {"format":"tryck-export","version":1,"seal":{"cipher":"aes-256-gcm",…},"contents":"…"}
///
/// With `seal`, the contents are the ciphertext followed by its tag, in hexadecimal digits. The members before them are
/// the associated data, encoded in this order and spelling. Without `seal`, the contents are the JSON object itself.
package enum ExportFile: Hashable, Sendable {
    case clear(ExportedState)
    case sealed(ExportSeal, ciphertext: [UInt8])

    static let format = "tryck-export"
    package static let version: Int64 = 1
    /// The limit in octets for reading and writing.
    package static let maximumLength = 2 * 1024 * 1024

    /// The octets that are encrypted.
    package static func plaintext(of state: ExportedState) -> [UInt8] { state.json.encoded() }

    /// The state from the decrypted octets.
    package static func state(fromPlaintext octets: [UInt8]) throws(ExportFailure) -> ExportedState {
        guard let json = try? JSONValue(parsing: octets) else { throw .badMember("contents") }
        return try ExportedState(exported: json)
    }

    /// The associated data of AES-GCM: the members before the contents.
    package static func authenticated(_ seal: ExportSeal) -> [UInt8] { JSONValue.object(header(seal)).encoded() }

    private static func header(_ seal: ExportSeal?) -> [JSONValue.Member] {
        let header: [JSONValue.Member] = [.init("format", .string(format)), .init("version", .integer(version))]
        return header + (seal.map { [.init("seal", $0.json)] } ?? [])
    }

    /// The octets of the file.
    ///
    /// - Throws: `.tooLong`.
    package func encoded() throws(ExportFailure) -> [UInt8] {
        let members: [JSONValue.Member] =
            switch self {
            case .clear(let state): Self.header(nil) + [.init("contents", state.json)]
            case .sealed(let seal, let ciphertext): Self.header(seal) + [.init("contents", .string(ciphertext.hex))]
            }
        let octets = JSONValue.object(members).encoded() + [UInt8(ascii: "\n")]
        guard octets.count <= Self.maximumLength else { throw .tooLong }
        return octets
    }

    package init(decoding octets: [UInt8]) throws(ExportFailure) {
        guard octets.count <= Self.maximumLength else { throw .tooLong }
        guard let json = try? JSONValue(parsing: octets), json["format"]?.stringValue == Self.format,
            let version = json["version"]?.integerValue
        else { throw .notAnExport }
        guard version <= Self.version else { throw .newerVersion(version) }
        guard version == Self.version else { throw .badMember("version") }
        guard let contents = json["contents"] else { throw .badMember("contents") }
        guard let seal = json["seal"] else {
            self = .clear(try ExportedState(exported: contents))
            return
        }
        guard let ciphertext = contents.stringValue.flatMap({ [UInt8](hex: $0) }),
            ciphertext.count >= ExportSeal.tagLength
        else { throw .badMember("contents") }
        self = .sealed(try ExportSeal(seal), ciphertext: ciphertext)
    }
}
