import ButtonModel
import Radios
import TestSupport
import Testing

/// A conversation of a radio with bluetoothd. A test says what the radio is told, and then names everything that the radio
/// does and reports, in order. An effect that the test does not name is recorded as an issue at the next input.
struct BlueZTalk {
    static let adapter = "/org/bluez/hci0"
    static let own = BluetoothAddress(rawValue: 0x001A_7DDA_7113)
    static let hall = BluetoothAddress(rawValue: 0x80E4_DA7B_0001)
    static let hallPath = path(of: hall)
    static let services = ["00420000-8f59-4420-870d-84f3b617e493"]

    private(set) var radio: RadioMachine
    private(set) var now = Instant(sinceBoot: .seconds(1000))
    private(set) var effects: [RadioEffect] = []
    private var timer: Instant?
    /// The calls that are not answered.
    private var calls: [(id: BusCallID, call: BlueZCall)] = []

    init(maximumLinks: Int? = nil) { radio = RadioMachine(.first, .local(maximumLinks: maximumLinks)) }

    static func path(of address: BluetoothAddress) -> String {
        adapter + "/dev_" + address.description.split(separator: ":").joined(separator: "_")
    }

    /// The objects of an adapter.
    static func objects(
        isPowered: Bool = true, hasManager: Bool = true, and others: [String: BusInterfaces] = [:]
    ) -> [String: BusInterfaces] {
        var adapter: BusInterfaces = [
            "org.bluez.Adapter1": ["Address": .string(own.description), "Powered": .bool(isPowered)]
        ]
        if hasManager { adapter["org.bluez.GattManager1"] = [:] }
        return [self.adapter: adapter, "/org/bluez": ["org.bluez.AgentManager1": [:]]].merging(others) { $1 }
    }

    static func device(_ address: BluetoothAddress = hall, _ more: [String: BusValue] = [:]) -> BusInterfaces {
        let properties: [String: BusValue] = [
            "Address": .string(address.description), "AddressType": .string("public"), "Trusted": .bool(false),
            "Blocked": .bool(false), "Connected": .bool(false), "ServicesResolved": .bool(false),
        ]
        return ["org.bluez.Device1": properties.merging(more) { $1 }]
    }

    /// What the radio says of itself when it is ready.
    static let info = RadioInfo(
        address: own, acceptListSize: 255, connectionTime: .milliseconds(500), isShared: true)

    /// A device with the service and the characteristics of a Flic 2, as BlueZ remembers them.
    static func known(_ more: [String: BusValue] = [:]) -> [String: BusInterfaces] {
        [
            hallPath: device(
                hall,
                ["Trusted": .bool(true), "UUIDs": .list(services.map { .string($0) })].merging(more) { $1 }),
            hallPath + "/service0010/char0011": characteristic("00420001-8f59-4420-870d-84f3b617e493"),
            hallPath + "/service0010/char0013": characteristic("00420002-8f59-4420-870d-84f3b617e493"),
        ]
    }

    static func characteristic(_ uuid: String) -> BusInterfaces {
        ["org.bluez.GattCharacteristic1": ["UUID": .string(uuid)]]
    }

    static let write = hallPath + "/service0010/char0011"
    static let notify = hallPath + "/service0010/char0013"

    /// The radio is ready, and the search for absent buttons is over.
    static func ready(
        _ objects: [String: BusInterfaces] = objects(), expecting buttons: [ExpectedButton] = [],
        maximumLinks: Int? = nil
    ) -> BlueZTalk {
        var talk = BlueZTalk(maximumLinks: maximumLinks)
        talk.when(.perform(.expect(buttons, unwanted: [])))
        talk.when(.busOpened(.any))
        talk.calls(.getManagedObjects)
        talk.answers(.objects(objects))
        talk.calls(.registerApplication(adapter: adapter))
        talk.answers(.success)
        talk.reports(.ready(info))
        return talk
    }

    /// The radio is opened again, and BlueZ knows the button.
    mutating func reopens(sourceLocation: SourceLocation = #_sourceLocation) {
        calls = []
        when(.busOpened(.any), sourceLocation: sourceLocation)
        calls(.getManagedObjects, sourceLocation: sourceLocation)
        answers(.objects(Self.objects(and: Self.known())), sourceLocation: sourceLocation)
        calls(.registerApplication(adapter: Self.adapter), sourceLocation: sourceLocation)
        answers(.success, sourceLocation: sourceLocation)
        reports(.ready(Self.info), sourceLocation: sourceLocation)
    }

    /// A link to a button that BlueZ knows, which is attached.
    static func attached() -> (BlueZTalk, LinkID) {
        var talk = ready(objects(and: known()), expecting: [ExpectedButton(hall, .flic2)])
        talk.changes(["Connected": .bool(true)])
        let id = talk.connects()
        talk.changes(["ServicesResolved": .bool(true)])
        talk.acquires(id)
        return (talk, id)
    }

    /// The radio is parking a button that BlueZ knows, and has no answers yet.
    static func parking(isElsewhere: Bool = true) -> BlueZTalk {
        var talk = ready(objects(and: known()))
        talk.when(
            .perform(.expect([], unwanted: isElsewhere ? [] : [hall], elsewhere: isElsewhere ? [hall] : [])))
        talk.parks()
        return talk
    }

    // MARK: What the radio is told

    mutating func when(_ input: RadioInput, sourceLocation: SourceLocation = #_sourceLocation) {
        ends(sourceLocation: sourceLocation)
        feed(input, sourceLocation)
    }

    enum Answer {
        case success
        case objects([String: BusInterfaces])
        case acquired(Int)
        case error(String, String = "")
    }

    /// bluetoothd answers a call: the oldest, or the newest with `isLast`.
    mutating func answers(
        _ answer: Answer, isLast: Bool = false, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        guard !calls.isEmpty else {
            Issue.record("nothing is called", sourceLocation: sourceLocation)
            return
        }
        let id = isLast ? calls.removeLast().id : calls.removeFirst().id
        switch answer {
        case .success: when(.bus(.answered(id)), sourceLocation: sourceLocation)
        case .objects(let objects): when(.bus(.objects(id, objects)), sourceLocation: sourceLocation)
        case .acquired(let mtu): when(.bus(.acquired(id, attMTU: mtu)), sourceLocation: sourceLocation)
        case .error(let name, let message):
            when(.bus(.refused(id, BusError(name: name, message: message))), sourceLocation: sourceLocation)
        }
    }

    mutating func changes(
        _ properties: [String: BusValue], of path: String = hallPath, interface: String = "org.bluez.Device1",
        sourceLocation: SourceLocation = #_sourceLocation
    ) {
        when(
            .bus(.propertiesChanged(path, interface: interface, properties, invalidated: [])),
            sourceLocation: sourceLocation)
    }

    /// Advances the clock, and fires the timer at each deadline until then.
    mutating func wait(_ duration: Duration, sourceLocation: SourceLocation = #_sourceLocation) {
        ends(sourceLocation: sourceLocation)
        let end = now + duration
        while let deadline = timer, deadline <= end {
            now = max(now, deadline)
            timer = nil
            feed(.timerFired, sourceLocation)
        }
        now = end
    }

    private mutating func feed(_ input: RadioInput, _ sourceLocation: SourceLocation) {
        for effect in radio.handle(input, at: now) {
            switch effect {
            case .setTimer(let deadline): timer = deadline
            case .cancelTimer: timer = nil
            case .bus(.call(let id, let call)):
                calls.append((id, call))
                effects.append(effect)
            case .bus, .send, .event:
                if case .event(.connected(let id, _)) = effect { lastLink = id }
                effects.append(effect)
            }
        }
        #expect(radio.problems() == [], sourceLocation: sourceLocation)
    }

    // MARK: What the radio does

    mutating func calls(_ call: BlueZCall, sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .bus(.call(_, let next))? = effects.first else {
            Issue.record("\(call) is not called, but \(effects)", sourceLocation: sourceLocation)
            return
        }
        effects.removeFirst()
        #expect(next == call, sourceLocation: sourceLocation)
    }

    /// The radio keeps BlueZ from connecting to a trusted device by itself.
    mutating func parks(_ path: String = hallPath, sourceLocation: SourceLocation = #_sourceLocation) {
        calls(.setTrusted(device: path, false), sourceLocation: sourceLocation)
        calls(.disconnect(device: path), sourceLocation: sourceLocation)
        calls(.setTrusted(device: path), sourceLocation: sourceLocation)
    }

    /// The radio lets BlueZ connect to a parked device by itself again.
    mutating func arms(_ path: String = hallPath, sourceLocation: SourceLocation = #_sourceLocation) {
        calls(.connect(device: path), sourceLocation: sourceLocation)
        calls(.disconnect(device: path), sourceLocation: sourceLocation)
    }

    mutating func does(_ effect: BusEffect, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(effects.first == .bus(effect), sourceLocation: sourceLocation)
        effects = Array(effects.dropFirst())
    }

    mutating func reports(_ event: RadioEvent, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(effects.first == .event(event), sourceLocation: sourceLocation)
        effects = Array(effects.dropFirst())
    }

    /// The radio reports something for the log.
    mutating func warns(_ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        guard case .event(.anomaly(let anomaly))? = effects.first else {
            Issue.record("no anomaly, but \(effects)", sourceLocation: sourceLocation)
            return
        }
        effects.removeFirst()
        #expect(anomaly.contains(text), sourceLocation: sourceLocation)
    }

    /// The radio starts a discovery, which bluetoothd accepts.
    mutating func discovers(_ filter: DiscoveryFilter, sourceLocation: SourceLocation = #_sourceLocation) {
        calls(.setDiscoveryFilter(adapter: Self.adapter, filter), sourceLocation: sourceLocation)
        answers(.success, sourceLocation: sourceLocation)
        calls(.startDiscovery(adapter: Self.adapter), sourceLocation: sourceLocation)
        answers(.success, sourceLocation: sourceLocation)
    }

    /// The radio searches for the button by its address, BlueZ finds it, and the radio connects to it.
    mutating func searchesAndConnects(sourceLocation: SourceLocation = #_sourceLocation) {
        discovers(.addressPrefix("80:E4:DA:7B:00:01"), sourceLocation: sourceLocation)
        when(.bus(.interfacesAdded(Self.hallPath, Self.device())))
        calls(.stopDiscovery(adapter: Self.adapter), sourceLocation: sourceLocation)
        answers(.success, sourceLocation: sourceLocation)
        calls(.connect(device: Self.hallPath), sourceLocation: sourceLocation)
    }

    /// The radio reports an advertisement of the button in public mode, and its scan response.
    mutating func hears(isConnectedElsewhere: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
        for kind in [HeardAdvertisement.Kind.connectable, .scanResponse] {
            reports(
                .heard(
                    HeardAdvertisement(
                        kind: kind, address: Self.hall, rssi: -60, service: .flic2, name: "Flic",
                        isConnectedElsewhere: isConnectedElsewhere)), sourceLocation: sourceLocation)
        }
    }

    /// The radio reports a link.
    mutating func connects(
        to address: BluetoothAddress = hall, sourceLocation: SourceLocation = #_sourceLocation
    ) -> LinkID {
        guard case .event(.connected(let id, let peer))? = effects.first else {
            Issue.record("no link, but \(effects)", sourceLocation: sourceLocation)
            return LinkID(rawValue: 0)
        }
        effects.removeFirst()
        #expect(peer == address, sourceLocation: sourceLocation)
        return id
    }

    /// The radio acquires both characteristics of `hall`, and its link is attached.
    mutating func acquires(_ link: LinkID, sourceLocation: SourceLocation = #_sourceLocation) {
        calls(.acquireNotify(characteristic: Self.notify, link), sourceLocation: sourceLocation)
        calls(.acquireWrite(characteristic: Self.write, link), sourceLocation: sourceLocation)
        answers(.acquired(140), sourceLocation: sourceLocation)
        answers(.acquired(140), sourceLocation: sourceLocation)
        reports(.attached(link, .flic2, attMTU: 140), sourceLocation: sourceLocation)
    }

    /// The link that was reported last.
    private(set) var lastLink: LinkID?

    /// The oldest call that is not answered.
    var openCall: (id: BusCallID, call: BlueZCall)? { calls.first }

    /// Passes over what the test does not name.
    mutating func forgetEffects() { effects = [] }

    /// The radio closes the channels of a link of `hall` and disconnects it, bluetoothd does so, and the radio reports it.
    mutating func disconnectsHall(_ link: LinkID, sourceLocation: SourceLocation = #_sourceLocation) {
        does(.closeChannels(link), sourceLocation: sourceLocation)
        calls(.disconnect(device: Self.hallPath), sourceLocation: sourceLocation)
        answers(.success)
        changes(["Connected": .bool(false)])
        does(.closeChannels(link), sourceLocation: sourceLocation)
        reports(.disconnected(link, .localHostTerminated), sourceLocation: sourceLocation)
    }

    /// The test has named all effects.
    mutating func ends(sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(effects.isEmpty, sourceLocation: sourceLocation)
        effects = []
    }
}
