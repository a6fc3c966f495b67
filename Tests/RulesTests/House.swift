import ButtonModel
import Rules

/// Two buttons, of which the rules know one, and steps of each kind.
enum House {
    static let start = Instant(sinceBoot: .zero)
    static let kitchenAddress = BluetoothAddress(rawValue: 0x80E4_DA00_0001)
    static let hallAddress = BluetoothAddress(rawValue: 0x80E4_DA00_0002)
    static let kitchenID = ButtonID(kitchenAddress)
    static let hallID = ButtonID(hallAddress)
    static let declared = [DeclaredButton(name: "kitchen", hardware: .address(kitchenID))]
    static let identities = [
        ButtonIdentity(
            address: kitchenAddress, uuid: "00112233445566778899aabbccddeeff", serial: "BA00-K00001",
            nickname: "Kitchen", firmwareVersion: 10),
        ButtonIdentity(
            address: hallAddress, uuid: "ffeeddccbbaa99887766554433221100", serial: "BA00-H00002", nickname: "",
            firmwareVersion: 10),
    ]

    static let publish = Action.publish(PublishAction(topicName: "lamp/set", payload: Array("on".utf8)))
    static let program = Action.process(ProcessAction(arguments: ["/bin/true"]))
    static let log = Action.log(.info, "hello")

    static let lastOnly = rule(
        "last", queued: .limited(maximumAge: .seconds(10), keepLast: true), actions: [log])

    static func rule(_ id: String, queued: QueuedPolicy? = nil, actions: [Action]) -> Rule {
        Rule(
            id: id, triggers: [Trigger(buttons: [.named("kitchen")], events: [.gesture(.click)])], queued: queued,
            actions: actions)
    }

    static func engine(_ rules: [Rule], buttons: [DeclaredButton] = declared) -> RuleEngine {
        var engine = RuleEngine(RuleSet(buttons: buttons, rules: rules))
        _ = engine.handle(.buttonsChanged(identities), at: start)
        return engine
    }

    /// - Parameter age: `nil` for a live event.
    static func kitchen(_ gesture: Gesture, age: Duration? = nil, last: Bool = false) -> Occurrence {
        Occurrence(
            button: kitchenID, event: .gesture(gesture), wasQueued: age != nil, wasQueuedLast: last, age: age ?? .zero)
    }

    static func run(_ number: UInt64) -> RunID { RunID(rawValue: number) }
    static func step(_ number: UInt64, _ index: Int) -> StepID { StepID(run: run(number), index: index) }
}
