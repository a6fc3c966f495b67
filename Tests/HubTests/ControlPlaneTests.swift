import ButtonModel
import JSON
import MQTTTopics
import Rules
import Testing

@testable import Hub

@Suite("The control plane")
struct ControlPlaneTests {
    private static let client = Hub.ClientID(rawValue: 1)

    private static func plane(_ control: MQTTControl) -> ControlPlane {
        ControlPlane(HubConfiguration(version: "0", control: control))
    }

    private static func read(
        _ topicName: String, _ payload: String = "", _ control: MQTTControl = .all, isRetained: Bool = false
    ) -> ControlPlane.Incoming? {
        plane(control).read(topicName, Array(payload.utf8), isRetained: isRetained)
    }

    @Test("a line of the socket is a request of the owner, with the transaction that its answer repeats")
    func socket() {
        let plane = Self.plane(.none)
        let line = Array(#"{"request":"status","transaction":7}"#.utf8)
        #expect(
            plane.read(line, from: Self.client)
                == .request(
                    ControlPlane.Request(
                        name: "status", data: .object([]), requester: .client(Self.client, transaction: 7),
                        privilege: .owner)))
        guard case .refused(.error, .client(Self.client, nil)) = plane.read(Array("{".utf8), from: Self.client) else {
            Issue.record("a line that is not JSON is not refused")
            return
        }
    }

    @Test("each request that a program sends has a row in the table")
    func names() {
        var names: [String] = []
        names += BridgeRequestName.allCases.map(\.rawValue)
        names += ControlRequestName.allCases.map(\.rawValue)
        names += ButtonRequestName.allCases.map(\.rawValue)
        names += RuleRequestName.allCases.map(\.rawValue)
        #expect(names.filter { Hub.requests[$0] == nil } == [])
    }

    @Test("a request over MQTT has the privilege of the configuration, or none")
    func privilege() {
        let topicName = "tryck/bridge/request/permit_join"
        let privileges = MQTTControl.allCases.map { control -> Privilege? in
            guard case .request(let request) = Self.read(topicName, #"{"time":9}"#, control) else { return nil }
            return request.privilege
        }
        #expect(privileges == [nil, .settings, .all])
        #expect(Self.read("tryck/rules/light/run", "", .settings) == nil)
        #expect(Self.plane(.none).filters.isEmpty)
    }

    @Test("a request that the broker retains is ignored, whatever it is for")
    func retained() {
        for topicName in ["tryck/bridge/request/restart", "tryck/variables/mode/set"] {
            let sentence = "\(topicName): a retained request is ignored; clear the topic"
            #expect(Self.read(topicName, "", isRetained: true) == .ignored(.retainedRequest, sentence))
        }
    }

    @Test("a request that is too long is refused without being read, with an answer where there is one")
    func long() {
        let payload = String(repeating: " ", count: ControlPlane.maximumRequestLength + 1)
        let sentence = "a request has at most 16 KiB, and this one has 16385 octets"
        #expect(
            Self.read("tryck/bridge/request/options", payload)
                == .refused(.error(sentence), .mqtt("options", transaction: nil)))
        #expect(
            Self.read("tryck/variables/mode/set", payload)
                == .ignored(.longRequest, "tryck/variables/mode/set: \(sentence)"))
    }

    @Test("clients that watch are in the order of their ids, until they disconnect")
    func watchers() {
        var plane = Self.plane(.none)
        #expect(!plane.isWatched)
        for id in [2, 1, 2] as [UInt64] { plane.watch(Hub.ClientID(rawValue: id)) }
        #expect(plane.audience.map(\.rawValue) == [1, 2])
        plane.gone(Hub.ClientID(rawValue: 2))
        plane.gone(Hub.ClientID(rawValue: 2))
        #expect(plane.isWatched && plane.audience == [Self.client])
    }

    @Test("an occurrence is a line with its kind first")
    func line() {
        let button = ButtonName(id: ButtonID(BluetoothAddress(rawValue: 0x80E4_DA00_0001)), label: "hall")
        #expect(
            Occurrence.disconnected(button, reason: "connection_timeout").line == [
                "kind": "disconnected", "button": "hall", "id": .string(button.id.description),
                "reason": "connection_timeout",
            ])
        #expect(
            Occurrence.runEnded(RunID(rawValue: 3), rule: "light", .completed).line == [
                "kind": "rule", "rule": "light", "run": 3, "outcome": "completed",
            ])
    }
}
