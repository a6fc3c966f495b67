import ButtonModel
import Radios

extension FuzzTarget {
    /// bluetoothd says anything in any order: each link that is reported as attached or over was reported as connected,
    /// its end is reported once, nothing is written to a link that is not attached, and the timer is always set for the
    /// time that is left to something.
    static let bluez = FuzzTarget(name: "bluez") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        var bench = BlueZBench()
        while let step = input.step() { try bench.take(step, &input) }
    }
}

/// A radio, and a bluetoothd that the script controls.
private struct BlueZBench {
    private static let adapter = "/org/bluez/hci0"
    private static let addresses = [
        BluetoothAddress(rawValue: 0x80E4_DA00_0001), BluetoothAddress(rawValue: 0x80E4_DA00_0002),
    ]
    private static let interfaces = [
        "org.bluez.Adapter1", "org.bluez.GattManager1", "org.bluez.Device1", "org.bluez.GattCharacteristic1",
    ]
    private static let names = [
        "Address", "AddressType", "Powered", "Connected", "ServicesResolved", "Trusted", "Blocked", "UUIDs", "UUID",
        "RSSI", "ManufacturerData", "Name",
    ]
    private static let texts =
        FlicService.uuidTexts + ["00420001-8f59-4420-870d-84f3b617e493", "00420002-8f59-4420-870d-84f3b617e493"]
        + addresses.map(\.description) + ["public", "random", ""]
    private static let errors = [
        "org.bluez.Error.NotPermitted", "org.bluez.Error.Failed", "org.freedesktop.DBus.Error.AccessDenied", "",
    ]

    private var radio = BlueZRadio()
    private var now = Instant(sinceBoot: .seconds(100))
    private var timer: Instant?
    private var calls: [(id: BusCallID, call: BlueZCall)] = []
    private var connected: Set<LinkID> = []
    private var attached: Set<LinkID> = []

    mutating func take(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        let button = ExpectedButton(Self.addresses[Int(step >> 7)], step & 0x40 == 0 ? .flic2 : .twist)
        let link = LinkID(rawValue: 1 << 31 + UInt64(input.octet() & 7))
        switch step & 0x1F {
        case 0: try give(.busOpened(.any))
        case 1: try give(.closed)
        case 2: try give(.perform(.expect([button], unwanted: [])))
        case 3: try give(.perform(.expect(Self.addresses.map { ExpectedButton($0, .flic2) }, unwanted: [])))
        case 4: try give(.perform(.expect([], unwanted: [button.address])))
        case 5: try give(.perform(.listen([.off, .background, .active][Int(step >> 5) % 3])))
        case 6: try give(.perform(.write(link, input.chunk())))
        case 7: try give(.perform(.disconnect(link)))
        case 8: try give(.perform(.forget(button.address, wasKnown: step & 0x20 == 0)))
        case 9:
            now = now + input.pause()
            if let timer, timer <= now { try give(.timerFired) }
        case 10: try give(.bus(.ownerLost))
        case 11: try give(.bus(.received(link, input.chunk())))
        case 12: try give(.bus(.ended(link)))
        case 13, 14, 15: try give(.bus(.interfacesAdded(path(&input), objects(&input))))
        case 16:
            try give(.bus(.interfacesRemoved(path(&input), [Self.interfaces[Int(step >> 5) % Self.interfaces.count]])))
        case 17, 18, 19:
            let interface = Self.interfaces[Int(step >> 5) % Self.interfaces.count]
            let path = path(&input)
            try give(.bus(.propertiesChanged(path, interface: interface, properties(&input), invalidated: [])))
        case 20...27: try answer(step, &input)
        default: try give(.bus(.answered(BusCallID(rawValue: UInt32(step)))))
        }
    }

    /// Answers the oldest or the newest call in the way that BlueZ does, or refuses it.
    private mutating func answer(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        guard !calls.isEmpty else { return }
        let (id, call) = step & 0x20 == 0 ? calls.removeFirst() : calls.removeLast()
        if step & 0xC0 == 0xC0 {
            let name = Self.errors[Int(input.octet()) % Self.errors.count]
            return try give(.bus(.refused(id, BusError(name: name, message: ""))))
        }
        switch call {
        case .getManagedObjects:
            var all: [String: BusInterfaces] = [
                Self.adapter: [
                    "org.bluez.Adapter1": ["Address": .string("00:1A:7D:DA:71:13"), "Powered": .bool(true)],
                    "org.bluez.GattManager1": [:],
                ]
            ]
            for _ in 0..<(input.octet() & 7) { all[path(&input)] = objects(&input) }
            try give(.bus(.objects(id, all)))
        case .acquireNotify, .acquireWrite: try give(.bus(.acquired(id, attMTU: Int(input.octet()))))
        case .registerApplication, .setDiscoveryFilter, .startDiscovery, .stopDiscovery, .connect, .disconnect,
            .setTrusted, .setBlocked, .removeDevice:
            try give(.bus(.answered(id)))
        }
    }

    // MARK: What bluetoothd says

    private func path(_ input: inout FuzzInput) -> String {
        let octet = input.octet()
        let device = Self.adapter + "/dev_\(octet & 1)"
        return switch octet >> 1 & 3 {
        case 0: device
        case 1: device + "/service0001/char\(octet >> 3 & 3)"
        case 2: Self.adapter
        default: "/\(octet)"
        }
    }

    private func objects(_ input: inout FuzzInput) -> BusInterfaces {
        var interfaces: BusInterfaces = [:]
        for _ in 0..<(1 + input.octet() % 2) {
            interfaces[Self.interfaces[Int(input.octet()) % Self.interfaces.count]] = properties(&input)
        }
        return interfaces
    }

    private func properties(_ input: inout FuzzInput) -> [String: BusValue] {
        var properties: [String: BusValue] = [:]
        for _ in 0..<(input.octet() & 7) {
            properties[Self.names[Int(input.octet()) % Self.names.count]] = value(&input)
        }
        return properties
    }

    private func value(_ input: inout FuzzInput, depth: Int = 0) -> BusValue {
        let octet = input.octet()
        switch octet % 8 {
        case 0, 1: return .bool(octet & 8 == 0)
        case 2: return .integer(Int64(octet) - 128)
        case 3, 4: return .string(Self.texts[Int(octet >> 3) % Self.texts.count])
        case 5: return .octets(input.chunk())
        case 6 where depth < 2: return .list([value(&input, depth: depth + 1)])
        case 7 where depth < 2: return .dictionary(["783": value(&input, depth: depth + 1)])
        default: return .string("")
        }
    }

    // MARK: What the radio does

    private mutating func give(_ input: RadioInput) throws(BrokenPromise) {
        for effect in radio.handle(input, at: now) {
            switch effect {
            case .setTimer(let deadline): timer = deadline
            case .cancelTimer: timer = nil
            case .bus(.call(let id, let call)):
                try promise("the number of a call is new", !calls.contains { $0.id == id })
                calls.append((id, call))
            case .bus(.write(let link, _)):
                try promise("a link is attached that is written to", attached.contains(link))
            case .bus(.closeChannels(let link)): attached.remove(link)
            case .event(.connected(let link, _)):
                try promise("a link has a new number", connected.insert(link).inserted)
            case .event(.attached(let link, _, _)):
                try promise("a link that is attached was connected", connected.contains(link))
                attached.insert(link)
            case .event(.notified(let link, _)):
                try promise("a link is attached that notifies", attached.contains(link))
            case .event(.attachFailed(let link)):
                try promise("a link that cannot be attached was connected", connected.contains(link))
            case .event(.disconnected(let link, _)):
                try promise("a link that is over was connected", connected.remove(link) != nil)
                attached.remove(link)
            case .event(.ready), .event(.failed), .event(.unusable), .event(.heard), .event(.signal),
                .event(.attemptFailed),
                .event(.assignmentChanged), .event(.homeChanged), .event(.linkLimit), .event(.linkFreed),
                .event(.takingTurns),
                .event(.linkLimitReached), .event(.anomaly):
                break
            case .send: try promise("BlueZ gets no HCI packets", false)
            }
        }
        if case .closed = input { calls = [] }
        #if DEBUG
            try promise("the invariants hold: \(radio.problems())", radio.problems().isEmpty)
            try promise("the links are those that were reported", radio.reportedLinks == connected)
        #endif
    }
}
