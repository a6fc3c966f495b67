import ButtonModel
import ESPHome
import Radios

extension FuzzTarget {
    /// Two proxies say anything in any order to a fleet of radios: each link that is reported as attached or over was reported as
    /// connected, its end is reported once, a button has one link at a time, and nothing is written to a link that is over.
    static let proxies = FuzzTarget(name: "proxies") { octets throws(BrokenPromise) in
        var input = FuzzInput(octets)
        var bench = ProxyBench()
        while let step = input.step() { try bench.take(step, &input) }
    }
}

/// A fleet of two radios behind proxies that the script controls.
private struct ProxyBench {
    private static let addresses = [
        BluetoothAddress(rawValue: 0x80E4_DA00_0001), BluetoothAddress(rawValue: 0x80E4_DA00_0002),
    ]

    private var fleet = RadioFleet([.esphome(key: nil), .esphome(key: nil, maximumLinks: 1)])
    private var proxies = (0..<2).map { _ in ESPHomeConnection(role: .proxy(name: "p", mac: "m"), key: nil) }
    private var now = Instant(sinceBoot: .seconds(100))
    private var timer: Instant?
    private var connected: [LinkID: BluetoothAddress] = [:]
    private var attached: Set<LinkID> = []
    private var seen: Set<LinkID> = []

    mutating func take(_ step: UInt8, _ input: inout FuzzInput) throws(BrokenPromise) {
        let radio = RadioID(rawValue: step >> 7)
        let place = Int(radio.rawValue)
        let button = Self.addresses[Int(step >> 6 & 1)]
        let address = button.rawValue
        let octet = input.octet()
        switch step & 0x1F {
        case 0:
            proxies[place] = ESPHomeConnection(role: .proxy(name: "p", mac: "m"), key: nil)
            _ = proxies[place].handle(.opened(entropy: []))
            // A radio is closed before it is opened again.
            try give(.closed, radio)
            try give(.transportOpened(entropy: []), radio)
        case 1: try give(.closed, radio)
        case 2: try give(.perform(.expect([ExpectedButton(button, .flic2)], unwanted: [])), .first)
        case 3: try give(.perform(.expect(Self.addresses.map { ExpectedButton($0, .twist) }, unwanted: [])), .first)
        case 4: try give(.perform(.listen([.off, .background, .active][Int(octet) % 3])), .first)
        case 5: for link in connected.keys.sorted() { try give(.perform(.write(link, input.chunk())), .first) }
        case 6:
            guard let link = connected.keys.min() else { break }
            try give(.perform(.disconnect(link)), .first)
        case 7: try give(.perform(.forget(button, wasKnown: true)), .first)
        case 8:
            guard let link = connected.keys.max() else { break }
            let parameters = LinkParameters(
                minimumInterval: 80, maximumInterval: 90, latency: UInt16(octet), supervisionTimeout: 800)
            try give(
                .perform(
                    [.keepDiscovery(link), .measureSignal(link), .update(link, parameters)][Int(octet) % 3]), .first)
        case 9:
            now = now + input.pause()
            if let timer, timer <= now { try give(.timerFired, .first) }
        case 10: try give(.received(input.chunk()), radio)
        case 11:
            try say(
                .helloResponse(HelloResponse(major: UInt32(octet & 1) + 1, minor: 9, serverInfo: "", name: "")), place)
        case 12:
            try say(
                .deviceInfo(
                    DeviceInfo(name: "", version: "2026", features: BluetoothProxyFeatures(rawValue: UInt32(octet)))),
                place)
        case 13:
            try say(
                .scannerState(ScannerState(rawValue: UInt32(octet & 7)), mode: .passive, configuredMode: .passive),
                place)
        case 14, 15:
            try say(
                .rawAdvertisements([
                    RawAdvertisement(address: address, rssi: -Int32(octet & 127), data: input.chunk())
                ]), place)
        case 16, 17:
            try say(
                .deviceConnection(
                    address: address, isConnected: octet & 1 == 0, mtu: UInt32(octet) << 4, error: Int32(octet >> 1)),
                place)
        case 18: try say(.services(address: address, Self.services), place)
        case 19: try say(.servicesDone(address: address), place)
        case 20: try say(.writeResponse(address: address, handle: UInt32(octet & 15)), place)
        case 21: try say(.notified(address: address, handle: UInt32(octet & 15), value: input.chunk()), place)
        case 22: try say(.gattError(address: address, handle: UInt32(octet), error: Int32(octet) - 1), place)
        case 23:
            try say(
                .connectionsFree(
                    free: UInt32(octet & 3), limit: 3, allocated: octet & 4 == 0 ? [] : [address, UInt64(octet)]),
                place)
        case 24: try say(octet & 1 == 0 ? .pingRequest : .disconnectRequest, place)
        case 26: try say(.connectionParametersSet(address: address, error: Int32(octet) - 1), place)
        case 25: try give(.perform(.expect([], unwanted: [button])), .first)
        default: try say(.other(UInt32(octet)), place)
        }
    }

    private static let services = [
        GATTService(
            uuid: uuid(0), handle: 1,
            characteristics: [
                GATTCharacteristic(uuid: uuid(1), handle: 3, properties: 4),
                GATTCharacteristic(
                    uuid: uuid(2), handle: 5, properties: 16,
                    descriptors: [GATTDescriptor(uuid: .short(0x2902), handle: 6)]),
            ])
    ]

    private static func uuid(_ number: UInt64) -> GATTUUID {
        GATTUUID(high: 0x0042_0000_8F59_4420 | number << 32, low: 0x870D_84F3_B617_E493)
    }

    private mutating func say(_ message: ESPHomeMessage, _ place: Int) throws(BrokenPromise) {
        for effect in proxies[place].handle(.send([message])) {
            guard case .send(let octets) = effect else { continue }
            try give(.received(octets), RadioID(rawValue: UInt8(place)))
        }
    }

    private mutating func give(_ input: RadioInput, _ radio: RadioID) throws(BrokenPromise) {
        for output in fleet.handle(input, of: radio, at: now) {
            switch output.effect {
            case .setTimer(let deadline): timer = deadline
            case .cancelTimer: timer = nil
            case .event(.connected(let link, let address)):
                try promise("a link has a new number", seen.insert(link).inserted)
                try promise("a button has one link", !connected.values.contains(address))
                try promise("a link has the number of its radio", link.radio == output.radio)
                connected[link] = address
            case .event(.attached(let link, _, _)):
                try promise("a link that is attached was connected", connected[link] != nil)
                attached.insert(link)
            case .event(.notified(let link, _)):
                try promise("a link is attached that notifies", attached.contains(link))
            case .event(.attachFailed(let link)):
                try promise("a link that cannot be attached was connected", connected[link] != nil)
            case .event(.disconnected(let link, _)):
                try promise("a link that is over was connected", connected.removeValue(forKey: link) != nil)
                attached.remove(link)
            case .event(.ready), .event(.failed), .event(.unusable), .event(.heard), .event(.signal),
                .event(.attemptFailed),
                .event(.assignmentChanged), .event(.homeChanged), .event(.linkLimit), .event(.linkFreed),
                .event(.takingTurns),
                .event(.linkLimitReached),
                .event(.anomaly), .send:
                break
            case .bus: try promise("a proxy has no system bus", false)
            }
        }
        // The owner of the radios ends the links of a radio that is lost.
        if case .closed = input {
            for link in connected.keys where link.radio == radio {
                connected[link] = nil
                attached.remove(link)
            }
        }
        #if DEBUG
            try promise("the invariants hold: \(fleet.problems())", fleet.problems().isEmpty)
            try promise("the links are those that were reported", fleet.reportedLinks == Set(connected.keys))
        #endif
    }
}
