import ButtonModel
import Bytes
import JSON
import Rules

/// The part of the stored state that makes the buttons usable on another machine without pairing them again.
///
/// It leaves out buttons that come from a flicd, because the flicd has their pairings. It also leaves out undecided press
/// trains, the messages that were not acknowledged, and rules with their variables and runs, which belong to the machine.
package struct ExportedState: Hashable, Sendable {
    package var installationID: String
    /// In the order of their ids, without duplicates.
    package var buttons: [StoredButton]

    package static let maximumButtonCount = 1024

    package init(_ state: StoredState) {
        installationID = state.installationID
        buttons = state.buttons.filter { $0.pairing != nil }.map { button in
            var button = button
            button.recogniser = ""
            button.publishWatermark = button.sequence.value
            return button
        }
    }
}

extension ExportedState {
    /// With the pairing keys: only for the file that was asked for.
    var json: JSONValue {
        [
            "installation_id": .string(installationID),
            "buttons": .array(buttons.map(\.exported)),
        ]
    }

    /// - Throws: `.badMember`, `.tooManyButtons`.
    init(exported json: JSONValue) throws(ExportFailure) {
        guard let id = json["installation_id"]?.stringValue, let octets = [UInt8](hex: id), octets.count == 2,
            // The id becomes part of a topic.
            octets.hex == id
        else { throw .badMember("installation_id") }
        guard let values = json["buttons"]?.arrayValue else { throw .badMember("buttons") }
        guard values.count <= Self.maximumButtonCount else { throw .tooManyButtons }
        installationID = id
        buttons = []
        for value in values { buttons.append(try StoredButton(exported: value)) }
        buttons.sort { $0.id < $1.id }
        guard zip(buttons, buttons.dropFirst()).allSatisfy({ $0.id != $1.id }) else { throw .badMember("buttons") }
    }
}

extension StoredButton {
    fileprivate var exported: JSONValue {
        .object((kept.objectValue ?? []).filter { !["heard", "source", "battery_percent"].contains($0.name) })
    }

    fileprivate init(exported json: JSONValue) throws(ExportFailure) {
        do throws(RecordingFailure) {
            try self.init(keptThrowing: json)
            source = nil
            guard pairing != nil else { throw .badMember("pairing") }
        } catch .badMember(let name) {
            throw .badMember(name)
        } catch {
            throw .badMember("buttons")
        }
    }
}
