import ButtonModel
import Bytes
package import JSON
import Rules

// The form of buttons in a file that is as secret as the database.

extension StoredButton {
    /// Everything that is kept of the button, with its pairing key.
    package var kept: JSONValue {
        let pairing = self.pairing.map {
            ["identifier": JSONValue($0.identifier), "key": .string($0.key.octets.hex)] as JSONValue
        }
        return json(hiding: Redaction([])).adding("pairing", pairing ?? .null, if: true)
    }

    /// - Throws: `RecordingFailure` for what `kept` does not write.
    init(keptThrowing json: JSONValue) throws(RecordingFailure) {
        try self.init(recorded: json)
        pairing = try json.optional("pairing") { $0 }.map { (pairing) throws(RecordingFailure) in
            Pairing(
                identifier: try pairing.integer("identifier"),
                key: try pairing.member("key") { $0.stringValue.flatMap { [UInt8](hex: $0) }.flatMap(PairingKey.init) })
        }
    }

    /// - Returns: `nil` for what `kept` does not write.
    package init?(kept json: JSONValue) {
        guard let button = try? StoredButton(keptThrowing: json), (button.pairing == nil) != (button.source == nil)
        else { return nil }
        self = button
    }
}

extension ButtonSettings {
    package var kept: JSONValue { json }

    /// - Returns: `nil` for what `kept` does not write.
    package init?(kept json: JSONValue) {
        guard let settings = try? ButtonSettings(recorded: json) else { return nil }
        self = settings
    }
}
