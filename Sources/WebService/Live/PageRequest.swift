package import JSON
import MQTTTopics

/// A line of the control socket that a program or the page may send.
package struct PageRequest: Hashable, Sendable {
    package struct Refusal: Error, Hashable, Sendable {
        /// Says what to do next.
        package var sentence: String
    }

    /// The line without its line feed.
    package let line: JSONValue
    /// True if it runs a rule, and so can start programs.
    package let startsPrograms: Bool

    /// The names of all requests but `watch`, which `GET /api/events` makes: its answers do not end.
    private static let names: Set<String> = Set(
        BridgeRequestName.allCases.map(\.rawValue) + ControlRequestName.allCases.map(\.rawValue)
            + ButtonRequestName.allCases.map(\.rawValue) + RuleRequestName.allCases.map(\.rawValue)
    ).subtracting([ControlRequestName.watch.rawValue])

    package init(_ octets: [UInt8]) throws(Refusal) {
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: octets)
        } catch {
            throw Refusal(sentence: "the body is not JSON: \(error)")
        }
        guard value.objectValue != nil, let name = value["request"]?.stringValue else {
            throw Refusal(sentence: #"a request looks like {"request":"status"}"#)
        }
        guard name != ControlRequestName.watch.rawValue else {
            throw Refusal(sentence: "the live stream is at GET /api/events")
        }
        guard Self.names.contains(name) else {
            throw Refusal(sentence: "unknown request \"\(name.prefix(100))\"; MQTT.md lists the requests")
        }
        line = value
        let isDry = value["data"]?["dry_run"]?.boolValue ?? false
        startsPrograms = name == RuleRequestName.run.rawValue && !isDry
    }
}
