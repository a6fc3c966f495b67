import BluetoothHost
import ButtonModel
import Radios

/// A simulated bluetoothd with its kernel, the far end of a `BlueZRadio`.
///
/// An `LEHost` stands for the kernel. It keeps its links when bluetoothd is killed. A device has an object while bluetoothd
/// knows it, and BlueZ connects to an *armed* device whenever it advertises:
///
/// | device    | on                                              | becomes   |
/// |-----------|-------------------------------------------------|-----------|
/// | unknown   | heard in a discovery                            | temporary |
/// | temporary | its services are resolved                       | armed     |
/// | temporary | trusted, blocked, or `Connect`                  | stored    |
/// | temporary | not heard for 30 s, and not connected           | unknown   |
/// | stored    | a profile is registered, its services are known | armed     |
/// | stored    | its services are resolved, or it is unblocked   | armed     |
/// | armed     | not trusted, and `Disconnect`                   | disarmed  |
/// | disarmed  | `Connect`, or a profile is registered           | armed     |
/// | any       | not trusted, and the link ends                  | temporary |
/// | any       | removed                                         | unknown   |
///
/// A device that becomes trusted without a link is therefore not armed. A block does not disarm: the kernel goes on connecting to
/// the device, and keeps a link that bluetoothd does not see and nobody can end.
///
/// - Source: BlueZ 5.66, as `Tests/Guest` runs it; Linux 6.1, net/bluetooth/hci_conn.c, `hci_le_conn_failed`.
struct SimulatedBluetoothd: Sendable {
    enum Trouble: Hashable, Sendable {
        /// bluetoothd ends in order, which ends all links and switches the adapter off, and is started again.
        case restart(after: Duration)
        /// bluetoothd is killed and started again. The kernel keeps its links, which nobody can use.
        case kill(restartAfter: Duration)
        case powerOff(for: Duration)
        /// The adapter is pulled.
        case pull(for: Duration)
        /// bluetoothd does nothing for a while, and then everything that it was asked for.
        case stall(for: Duration)
        /// Another program acquires the notifications of the button on its next link.
        case hold(BluetoothAddress, for: Duration)
        case disconnect(BluetoothAddress)
        case connect(BluetoothAddress)
        case remove(BluetoothAddress)
    }

    enum Key: Hashable, Sendable {
        case kernel
        /// The kernel tries again to connect after the adapter has refused a link.
        case kernelTriesAgain
        case start, adapterAppears, managerAppears
        case down, powerOn, plugIn
        case stallEnds
        case connect(BluetoothAddress)
        case disconnect(BluetoothAddress)
        case vanish(BluetoothAddress)
        case release(BluetoothAddress)
    }

    struct Device: Sendable {
        let address: BluetoothAddress
        var isTrusted = false
        var isBlocked = false
        var isTemporary = true
        /// True if the kernel connects to it whenever it advertises.
        var isArmed = false
        /// True if it was armed and is not any more, so that `Connect` arms it again.
        var isDisarmed = false
        /// The link, if there is one.
        var handle: ConnectionHandle?
        /// bluetoothd never resolves the services of a link that is older than itself.
        var isLinkOlder = false
        var isResolved = false
        var service: BluetoothUUID?
        var characteristics: [RemoteService.Characteristic] = []
        /// True if the characteristics have objects.
        var isExported = false
        /// True if another program has its notifications.
        var isHeld = false
    }

    /// The descriptors that the hub has for a link.
    private struct Channel: Sendable {
        var address: BluetoothAddress
        var hasNotify = false
        var hasWrite = false
    }

    private enum Held: Sendable {
        case event(LEHost.Event)
        case call(BusEffect)
        case key(Key)
    }

    static let adapterPath = "/org/bluez/hci0"
    private static let connectLimit = Duration.seconds(41)
    private static let temporaryLimit = Duration.seconds(30)
    private static let disconnectDelay = Duration.seconds(2)
    private static let kernelPause = Duration.seconds(1)
    private static let attMTU = 140
    private static let services = FlicService.uuidTexts.compactMap { BluetoothUUID($0) }

    let maximumLinks: Int
    let ownAddress: BluetoothAddress
    private(set) var deadlines = Deadlines<Key>()
    /// Links of the kernel begin with a supervision timeout of 420 ms.
    private var kernel = LEHost(
        .init(
            connectionParameters: .init(
                intervalMinimum: 24, intervalMaximum: 40, peripheralLatency: 0, supervisionTimeout: 42)))
    private var kernelLinks: [ConnectionHandle: BluetoothAddress] = [:]
    private var acceptList: [BluetoothAddress] = []
    private var isRunning = true
    private var isPlugged = true
    private var hasAdapter = true
    private var hasManager = true
    private var isPowered = true
    /// True if bluetoothd is about to end in order.
    private var isEnding = false
    private var devices: [BluetoothAddress: Device] = [:]
    private var stalled: [Held]?
    // What belongs to the hub's connection to the bus.
    private var isOpen = false
    private var isRegistered = false
    private var filter: DiscoveryFilter?
    /// True while bluetoothd searches for the hub, which is an active scan.
    private(set) var isDiscovering = false
    private var channels: [LinkID: Channel] = [:]
    private var acquiring: [(handle: ConnectionHandle, id: BusCallID, link: LinkID)] = []
    /// The attempts to connect, with the calls that wait for them; other programs have no call.
    private var connecting: [BluetoothAddress: BusCallID?] = [:]
    private var disconnecting: [BluetoothAddress: BusCallID?] = [:]
    private var removing: [BluetoothAddress: BusCallID?] = [:]
    /// The buttons that another program will acquire, and until when.
    private var wanted: [BluetoothAddress: Instant] = [:]
    private var effects: [FarEnd.Effect] = []

    init(maximumLinks: Int, ownAddress: BluetoothAddress) {
        self.maximumLinks = maximumLinks
        self.ownAddress = ownAddress
    }

    mutating func handle(_ input: FarEnd.Input, at now: Instant) -> [FarEnd.Effect] {
        switch input {
        case .begun: run(.transportOpened, at: now)
        case .received(let packet): run(.received(packet), at: now)
        case .timerFired:
            for key in deadlines.takeDue(at: now) { expire(key, at: now) }
        case .opened: isOpen = true
        case .closed: hubLeft(at: now)
        case .bus(let effect): asked(effect, at: now)
        case .trouble(.bluetoothd(let trouble)): strike(trouble, at: now)
        case .octets, .trouble(.proxy): break
        }
        updateKernel(at: now)
        defer { effects = [] }
        return effects
    }

    // MARK: The kernel

    private mutating func run(_ input: LEHost.Input, at now: Instant) {
        for effect in kernel.handle(input, at: now) {
            switch effect {
            case .send(let packet): effects.append(.send(packet))
            case .setTimer(let deadline): deadlines.set(.kernel, at: deadline)
            case .cancelTimer: deadlines.cancel(.kernel)
            case .event(let event): happened(event, at: now)
            }
        }
    }

    private mutating func happened(_ event: LEHost.Event, at now: Instant) {
        switch event {
        case .connected(let connection):
            kernelLinks[connection.handle] = connection.peer
            deadlines.cancel(.kernelTriesAgain)
        case .disconnected(let connection, _): kernelLinks[connection.handle] = nil
        case .linkLimitReached:
            // An `LEHost` then waits for a minute. Linux listens on, and tries again when it hears the device again.
            if kernelLinks.count < maximumLinks {
                deadlines.set(.kernelTriesAgain, at: now + Self.kernelPause)
            }
        case .failed:
            // The driver of the adapter resets it, which looks as if it was pulled.
            return strike(.pull(for: .seconds(2)), at: now)
        case .ready, .advertised, .connectionFailed, .acceptListShared, .connectionUpdateFailed,
            .scanningFailed, .parametersUpdated, .rssiRead, .mtuExchanged, .serviceDiscovered, .notificationsSet,
            .procedureFailed, .notified, .servicesDiscovered, .descriptorsDiscovered, .read, .writeCompleted,
            .indicationsSet, .indicated, .servicesChanged, .advertisingStarted, .advertisingFailed, .written,
            .subscribed, .subscribedToIndications, .indicationConfirmed, .indicationFailed, .channelOpened,
            .channelOpenFailed, .channelClosed, .sduReceived, .sduRefused, .channelWritable, .anomaly:
            break
        }
        guard isRunning else { return }
        if stalled != nil { stalled?.append(.event(event)) } else { saw(event, at: now) }
    }

    private mutating func saw(_ event: LEHost.Event, at now: Instant) {
        switch event {
        case .connected(let connection): linkBegan(connection, at: now)
        case .disconnected(let connection, _): linkEnded(connection, at: now)
        case .mtuExchanged(let handle, _): discover(handle, after: nil, at: now)
        case .serviceDiscovered(let handle, let service): resolved(handle, service, at: now)
        case .procedureFailed(let handle, .discoverService(let uuid), _): discover(handle, after: uuid, at: now)
        case .notificationsSet(let handle, _, true): notificationsSet(handle)
        case .procedureFailed(let handle, .setNotifications(_, true), _):
            guard let place = acquiring.firstIndex(where: { $0.handle == handle }) else { break }
            refuse(acquiring.remove(at: place).id, "org.bluez.Error.Failed", "Operation failed")
        case .notified(let handle, _, let value):
            guard let link = channels.first(where: { devices[$0.value.address]?.handle == handle })?.key,
                channels[link]?.hasNotify == true
            else { break }
            report(.received(link, value))
        case .advertised(let advertisement): heard(advertisement, at: now)
        case .ready, .failed, .connectionFailed, .acceptListShared, .linkLimitReached, .connectionUpdateFailed,
            .scanningFailed, .parametersUpdated, .rssiRead, .notificationsSet,
            .procedureFailed, .servicesDiscovered, .descriptorsDiscovered, .read, .writeCompleted,
            .indicationsSet, .indicated, .servicesChanged, .advertisingStarted, .advertisingFailed, .written,
            .subscribed, .subscribedToIndications, .indicationConfirmed, .indicationFailed, .channelOpened,
            .channelOpenFailed, .channelClosed, .sduReceived, .sduRefused, .channelWritable, .anomaly:
            break
        }
    }

    /// Tells the kernel to which devices it is to connect. Without bluetoothd it keeps what it was told last.
    private mutating func updateKernel(at now: Instant) {
        guard isRunning, stalled == nil else { return }
        let wanted = devices.values.filter { $0.isArmed || connecting.keys.contains($0.address) }.map(\.address)
            .sorted { $0.rawValue < $1.rawValue }
        guard wanted != acceptList else { return }
        acceptList = wanted
        run(.perform(.setAcceptList(wanted)), at: now)
    }

    private mutating func switchOff(at now: Instant) {
        run(.transportClosed, at: now)
        effects.append(.powerCycle)
    }

    // MARK: Links

    private mutating func linkBegan(_ connection: LEConnection, at now: Instant) {
        let address = connection.peer
        guard kernelLinks[connection.handle] == address else { return }
        guard let device = devices[address] else {
            return run(.perform(.disconnect(connection.handle, reason: .remoteUserTerminated)), at: now)
        }
        guard !device.isBlocked else { return kernelLinks[connection.handle] = nil }
        devices[address]?.handle = connection.handle
        devices[address]?.isLinkOlder = false
        deadlines.cancel(.vanish(address))
        change(address, ["Connected": .bool(true)])
        run(.perform(.exchangeMTU(connection.handle)), at: now)
    }

    private func device(_ handle: ConnectionHandle) -> Device? {
        devices.values.first { $0.handle == handle && !$0.isLinkOlder }
    }

    private mutating func discover(_ handle: ConnectionHandle, after uuid: BluetoothUUID?, at now: Instant) {
        guard let device = device(handle), !device.isResolved else { return }
        let place = uuid.flatMap { Self.services.firstIndex(of: $0) }.map { $0 + 1 } ?? 0
        guard place < Self.services.count else { return }
        run(.perform(.discoverService(handle, Self.services[place])), at: now)
    }

    private mutating func resolved(_ handle: ConnectionHandle, _ service: RemoteService, at now: Instant) {
        guard let address = device(handle)?.address else { return }
        devices[address]?.service = service.uuid
        devices[address]?.characteristics = service.characteristics
        devices[address]?.isResolved = true
        if devices[address]?.isExported == false {
            devices[address]?.isExported = true
            for characteristic in service.characteristics {
                report(.interfacesAdded(path(address, characteristic), Self.interfaces(characteristic)))
            }
        }
        if let until = wanted.removeValue(forKey: address), until > now {
            devices[address]?.isHeld = true
            deadlines.set(.release(address), at: until)
        }
        change(
            address, ["UUIDs": .list([.string(service.uuid.description)]), "ServicesResolved": .bool(true)])
        arm(address)
        endConnecting(address, nil)
    }

    /// BlueZ connects a device by itself whose services are known, if there is a profile for them.
    private mutating func arm(_ address: BluetoothAddress) {
        guard isRegistered, devices[address]?.service != nil else { return }
        devices[address]?.isArmed = true
        devices[address]?.isDisarmed = false
    }

    private mutating func disarm(_ address: BluetoothAddress) {
        guard devices[address]?.isArmed == true else { return }
        devices[address]?.isArmed = false
        devices[address]?.isDisarmed = true
    }

    private mutating func linkEnded(_ connection: LEConnection, at now: Instant) {
        let address = connection.peer
        guard devices[address]?.handle == connection.handle else { return }
        acquiring.removeAll { entry in
            guard entry.handle == connection.handle else { return false }
            effects.append(.bus(.refused(entry.id, BusError(name: "org.bluez.Error.Failed", message: "Not connected"))))
            return true
        }
        for link in channels.filter({ $0.value.address == address }).keys.sorted() {
            channels[link] = nil
            report(.ended(link))
        }
        devices[address]?.handle = nil
        devices[address]?.isResolved = false
        devices[address]?.isHeld = false
        deadlines.cancel(.release(address))
        change(address, ["Connected": .bool(false), "ServicesResolved": .bool(false)])
        endConnecting(address, "le-connection-abort-by-remote")
        deadlines.cancel(.disconnect(address))
        if let call = disconnecting.removeValue(forKey: address) { answer(call) }
        if let call = removing.removeValue(forKey: address) {
            answer(call)
            return remove(address)
        }
        becomeTemporary(address, at: now)
    }

    private mutating func becomeTemporary(_ address: BluetoothAddress, at now: Instant) {
        guard let device = devices[address], !device.isTrusted, !device.isBlocked, device.handle == nil else { return }
        devices[address]?.isTemporary = true
        disarm(address)
        deadlines.set(.vanish(address), at: now + Self.temporaryLimit)
    }

    private mutating func remove(_ address: BluetoothAddress) {
        guard let device = devices.removeValue(forKey: address) else { return }
        deadlines.cancel(.vanish(address))
        endConnecting(address, "le-connection-canceled")
        removeObjects(of: device)
    }

    private mutating func removeObjects(of device: Device) {
        if device.isExported {
            for characteristic in device.characteristics {
                report(
                    .interfacesRemoved(path(device.address, characteristic), ["org.bluez.GattCharacteristic1"]))
            }
        }
        report(.interfacesRemoved(Self.path(device.address), ["org.bluez.Device1"]))
    }

    /// - Parameter failure: `nil`: it is connected.
    private mutating func endConnecting(_ address: BluetoothAddress, _ failure: String?) {
        guard let call = connecting.removeValue(forKey: address) else { return }
        deadlines.cancel(.connect(address))
        guard let failure else { return answer(call) }
        if let call { refuse(call, "org.bluez.Error.Failed", failure) }
    }

    // MARK: Discovery

    private mutating func heard(_ advertisement: AdvertisingReport, at now: Instant) {
        guard isDiscovering, hasAdapter, let filter else { return }
        let address = advertisement.address
        let structures = ADStructure.parse(advertisement.data)
        let service = structures.serviceUUIDs.first { Self.services.contains($0) }
        let isKnown = devices[address] != nil
        switch (advertisement.kind, filter) {
        // BlueZ joins an advertisement with its scan response.
        case (.scanResponse, _): guard isKnown else { return }
        case (_, .all): break
        case (_, .flicServices): guard service != nil else { return }
        case (_, .addressPrefix(let prefix)): guard address.description.hasPrefix(prefix) else { return }
        }
        guard devices[address]?.handle == nil else { return }
        var properties: [String: BusValue] = ["RSSI": .integer(Int64(advertisement.rssi ?? -80))]
        if let service { properties["UUIDs"] = .list([.string(service.description)]) }
        if let name = structures.localName { properties["Name"] = .string(name) }
        if let data = structures.manufacturerData {
            properties["ManufacturerData"] = .dictionary([String(data.company): .octets(data.data)])
        }
        devices[address, default: Device(address: address)].service = service ?? devices[address]?.service
        if isKnown {
            change(address, properties)
        } else {
            report(
                .interfacesAdded(
                    Self.path(address),
                    ["org.bluez.Device1": self.properties(of: address).merging(properties) { $1 }]))
        }
        if devices[address]?.isTemporary == true { deadlines.set(.vanish(address), at: now + Self.temporaryLimit) }
    }

    private mutating func setDiscovering(_ isOn: Bool, at now: Instant) {
        isDiscovering = isOn
        run(.perform(isOn ? .startScanning(active: true) : .stopScanning), at: now)
    }
}

// MARK: - Objects

extension SimulatedBluetoothd {
    private static func path(_ address: BluetoothAddress) -> String {
        adapterPath + "/dev_" + address.description.split(separator: ":").joined(separator: "_")
    }

    private func path(_ address: BluetoothAddress, _ characteristic: RemoteService.Characteristic) -> String {
        Self.path(address) + "/service0001/char" + String(characteristic.valueHandle.rawValue, radix: 16)
    }

    private static func interfaces(_ characteristic: RemoteService.Characteristic) -> BusInterfaces {
        ["org.bluez.GattCharacteristic1": ["UUID": .string(characteristic.uuid.description)]]
    }

    private func properties(of address: BluetoothAddress) -> [String: BusValue] {
        guard let device = devices[address] else { return [:] }
        return [
            "Address": .string(address.description),
            "AddressType": .string(address.kind == .random ? "random" : "public"),
            "Trusted": .bool(device.isTrusted), "Blocked": .bool(device.isBlocked),
            "Connected": .bool(device.handle != nil), "ServicesResolved": .bool(device.isResolved),
            "UUIDs": .list([device.service].compactMap(\.self).map { .string($0.description) }),
        ]
    }

    private var adapterInterfaces: BusInterfaces {
        ["org.bluez.Adapter1": ["Address": .string(ownAddress.description), "Powered": .bool(isPowered)]]
    }

    private var objects: [String: BusInterfaces] {
        var objects: [String: BusInterfaces] = ["/org/bluez": ["org.bluez.AgentManager1": [:]]]
        guard hasAdapter else { return objects }
        objects[Self.adapterPath] = adapterInterfaces
        if hasManager { objects[Self.adapterPath]?["org.bluez.GattManager1"] = [:] }
        for device in known {
            objects[Self.path(device.address)] = ["org.bluez.Device1": properties(of: device.address)]
            guard device.isExported else { continue }
            for characteristic in device.characteristics {
                objects[path(device.address, characteristic)] = Self.interfaces(characteristic)
            }
        }
        return objects
    }

    private mutating func report(_ input: BusInput) {
        if isOpen { effects.append(.bus(input)) }
    }

    private mutating func change(_ address: BluetoothAddress, _ properties: [String: BusValue]) {
        guard devices[address] != nil, hasAdapter else { return }
        report(
            .propertiesChanged(Self.path(address), interface: "org.bluez.Device1", properties, invalidated: []))
    }

    private mutating func answer(_ call: BusCallID?) {
        if let call { report(.answered(call)) }
    }

    private mutating func refuse(_ call: BusCallID, _ name: String, _ message: String = "") {
        report(.refused(call, BusError(name: name, message: message)))
    }

    // MARK: Calls

    private mutating func asked(_ effect: BusEffect, at now: Instant) {
        if stalled != nil { stalled?.append(.call(effect)) } else { perform(effect, at: now) }
    }

    private mutating func perform(_ effect: BusEffect, at now: Instant) {
        switch effect {
        case .call(let id, let call):
            guard isRunning else { return refuse(id, "org.freedesktop.DBus.Error.NameHasNoOwner") }
            perform(call, id, at: now)
        case .write(let link, let value):
            guard let channel = channels[link], channel.hasWrite, let device = devices[channel.address],
                let handle = device.handle,
                let characteristic = device.characteristics.first(where: { !Self.notifies($0) })
            else { break }
            run(.perform(.write(handle, characteristic.valueHandle, value)), at: now)
        case .closeChannels(let link):
            if let channel = channels.removeValue(forKey: link) { release(channel, at: now) }
        }
    }

    private static func notifies(_ characteristic: RemoteService.Characteristic) -> Bool {
        characteristic.configurationHandle != nil
    }

    private mutating func release(_ channel: Channel, at now: Instant) {
        guard let device = devices[channel.address], let handle = device.handle else { return }
        for characteristic in device.characteristics {
            if let configuration = characteristic.configurationHandle, channel.hasNotify {
                run(.perform(.setNotifications(handle, configuration: configuration, enabled: false)), at: now)
                released("NotifyAcquired", device.address, characteristic)
            } else if !Self.notifies(characteristic), channel.hasWrite {
                released("WriteAcquired", device.address, characteristic)
            }
        }
    }

    private mutating func released(
        _ property: String, _ address: BluetoothAddress, _ characteristic: RemoteService.Characteristic
    ) {
        report(
            .propertiesChanged(
                path(address, characteristic), interface: "org.bluez.GattCharacteristic1", [property: .bool(false)],
                invalidated: []))
    }

    private var known: [Device] { devices.values.sorted { $0.address.rawValue < $1.address.rawValue } }

    private func device(at path: String) -> Device? { devices.values.first { Self.path($0.address) == path } }

    private mutating func perform(_ call: BlueZCall, _ id: BusCallID, at now: Instant) {
        switch call {
        case .getManagedObjects: report(.objects(id, objects))
        case .registerApplication:
            guard hasAdapter else { return refuse(id, "org.freedesktop.DBus.Error.UnknownObject") }
            guard hasManager else { return refuse(id, "org.freedesktop.DBus.Error.UnknownMethod") }
            guard !isRegistered else { return refuse(id, "org.bluez.Error.AlreadyExists") }
            isRegistered = true
            report(.answered(id))
            for device in known where !device.isTemporary { arm(device.address) }
        case .setDiscoveryFilter(_, let filter):
            self.filter = filter
            report(.answered(id))
        case .startDiscovery:
            guard hasAdapter, isPowered else { return refuse(id, "org.bluez.Error.NotReady") }
            guard !isDiscovering else { return refuse(id, "org.bluez.Error.InProgress") }
            report(.answered(id))
            setDiscovering(true, at: now)
        case .stopDiscovery:
            guard isDiscovering else { return refuse(id, "org.bluez.Error.Failed", "No discovery started") }
            setDiscovering(false, at: now)
            report(.answered(id))
        case .connect(let path), .disconnect(let path), .setTrusted(let path, _), .setBlocked(let path, _),
            .removeDevice(_, let path):
            guard hasAdapter, let device = device(at: path) else {
                return refuse(id, "org.freedesktop.DBus.Error.UnknownObject")
            }
            perform(call, on: device, id, at: now)
        case .acquireNotify(let path, let link), .acquireWrite(let path, let link):
            acquire(path, link, id, at: now)
        }
    }

    private mutating func perform(_ call: BlueZCall, on device: Device, _ id: BusCallID, at now: Instant) {
        let address = device.address
        switch call {
        case .connect: connect(device, id, at: now)
        case .disconnect:
            if !device.isTrusted { disarm(address) }
            if device.handle != nil {
                disconnecting[address] = id
                deadlines.set(.disconnect(address), at: now + Self.disconnectDelay)
            } else {
                endConnecting(address, "le-connection-canceled")
                report(.answered(id))
            }
        case .setTrusted(_, let isTrusted):
            devices[address]?.isTrusted = isTrusted
            report(.answered(id))
            change(address, ["Trusted": .bool(isTrusted)])
            if isTrusted {
                devices[address]?.isTemporary = false
                deadlines.cancel(.vanish(address))
            }
        case .setBlocked(_, let isBlocked):
            devices[address]?.isBlocked = isBlocked
            report(.answered(id))
            change(address, ["Blocked": .bool(isBlocked)])
            if isBlocked {
                devices[address]?.isTemporary = false
                deadlines.cancel(.vanish(address))
                endConnecting(address, "le-connection-canceled")
                if let handle = device.handle {
                    run(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
                }
            } else {
                arm(address)
                becomeTemporary(address, at: now)
            }
        case .removeDevice:
            guard let handle = device.handle else {
                report(.answered(id))
                return remove(address)
            }
            removing[address] = id
            run(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
        case .getManagedObjects, .registerApplication, .setDiscoveryFilter, .startDiscovery, .stopDiscovery,
            .acquireNotify, .acquireWrite:
            break
        }
    }

    private mutating func connect(_ device: Device, _ id: BusCallID?, at now: Instant) {
        let address = device.address
        let failure: String? =
            if !isPowered || device.isBlocked {
                "le-connection-refused"
            } else if kernelLinks.count >= maximumLinks {
                "le-connection-concurrent-connection-limit"
            } else {
                nil
            }
        if device.isResolved {
            answer(id)
        } else if connecting.keys.contains(address) {
            if let id { refuse(id, "org.bluez.Error.InProgress") }
        } else if let failure, device.handle == nil {
            if let id { refuse(id, "org.bluez.Error.Failed", failure) }
        } else {
            devices[address]?.isTemporary = false
            deadlines.cancel(.vanish(address))
            if device.isDisarmed { arm(address) }
            connecting[address] = .some(id)
            deadlines.set(.connect(address), at: now + Self.connectLimit)
        }
    }

    private func characteristic(at path: String) -> (Device, RemoteService.Characteristic)? {
        for device in devices.values {
            for characteristic in device.characteristics where self.path(device.address, characteristic) == path {
                return (device, characteristic)
            }
        }
        return nil
    }

    private mutating func acquire(_ path: String, _ link: LinkID, _ id: BusCallID, at now: Instant) {
        guard let (device, characteristic) = characteristic(at: path), device.isExported else {
            return refuse(id, "org.freedesktop.DBus.Error.UnknownObject")
        }
        guard let handle = device.handle, device.isResolved else {
            return refuse(id, "org.bluez.Error.Failed", "Not connected")
        }
        let others = channels.values.filter { $0.address == device.address }
        guard let configuration = characteristic.configurationHandle else {
            guard !device.isHeld, !others.contains(where: \.hasWrite) else {
                return refuse(id, "org.bluez.Error.NotPermitted", "Write acquired")
            }
            channels[link, default: Channel(address: device.address)].hasWrite = true
            return report(.acquired(id, attMTU: Self.attMTU))
        }
        guard !device.isHeld, !others.contains(where: \.hasNotify), !acquiring.contains(where: { $0.handle == handle })
        else { return refuse(id, "org.bluez.Error.NotPermitted", "Notify acquired") }
        // The answer comes when the subscription is in force.
        acquiring.append((handle, id, link))
        run(.perform(.setNotifications(handle, configuration: configuration, enabled: true)), at: now)
    }

    private mutating func notificationsSet(_ handle: ConnectionHandle) {
        guard let place = acquiring.firstIndex(where: { $0.handle == handle }), let address = device(handle)?.address
        else { return }
        let (_, id, link) = acquiring.remove(at: place)
        channels[link, default: Channel(address: address)].hasNotify = true
        report(.acquired(id, attMTU: Self.attMTU))
    }

    /// The hub's connection to the bus has ended. Links stay, and devices stay armed.
    private mutating func hubLeft(at now: Instant) {
        isOpen = false
        isRegistered = false
        if isDiscovering { setDiscovering(false, at: now) }
        let left = channels.values
        channels = [:]
        acquiring = []
        for address in connecting.keys { connecting[address] = .some(nil) }
        for address in disconnecting.keys { disconnecting[address] = .some(nil) }
        for address in removing.keys { removing[address] = .some(nil) }
        stalled?.removeAll { if case .call = $0 { true } else { false } }
        for channel in left { release(channel, at: now) }
    }
}

// MARK: - Time and trouble

extension SimulatedBluetoothd {
    private mutating func expire(_ key: Key, at now: Instant) {
        switch key {
        case .kernel: run(.timerFired, at: now)
        case .kernelTriesAgain:
            // The answer may be another refusal, which the kernel does not report.
            deadlines.set(.kernelTriesAgain, at: now + Self.kernelPause)
            run(.perform(.setAcceptList(acceptList)), at: now)
        case .stallEnds: continueAll(at: now)
        case .start, .adapterAppears, .managerAppears, .down, .powerOn, .plugIn: passed(key, at: now)
        case .connect, .disconnect, .vanish, .release:
            if stalled != nil { stalled?.append(.key(key)) } else { passed(key, at: now) }
        }
    }

    private mutating func continueAll(at now: Instant) {
        let waiting = stalled ?? []
        stalled = nil
        for held in waiting {
            switch held {
            case .event(let event): saw(event, at: now)
            case .call(let effect): perform(effect, at: now)
            case .key(let key): passed(key, at: now)
            }
        }
    }

    private mutating func passed(_ key: Key, at now: Instant) {
        switch key {
        case .kernel, .kernelTriesAgain, .stallEnds: break
        case .start: start(at: now)
        case .plugIn:
            isPlugged = true
            run(.transportOpened, at: now)
            if isRunning { deadlines.set(.adapterAppears, at: now + .milliseconds(200)) }
        case .adapterAppears:
            guard isRunning, isPlugged else { break }
            hasAdapter = true
            isPowered = true
            report(.interfacesAdded(Self.adapterPath, adapterInterfaces))
            deadlines.set(.managerAppears, at: now + .milliseconds(100))
        case .managerAppears:
            guard hasAdapter else { break }
            hasManager = true
            report(.interfacesAdded(Self.adapterPath, ["org.bluez.GattManager1": [:]]))
        case .down: wentDown(at: now)
        case .powerOn:
            guard isPlugged, isRunning, hasAdapter, !isPowered else { break }
            isPowered = true
            run(.transportOpened, at: now)
            powerChanged()
        case .connect(let address): endConnecting(address, "le-connection-abort-by-local")
        case .disconnect(let address):
            guard let handle = devices[address]?.handle else { break }
            run(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
        case .vanish(let address):
            guard let device = devices[address], device.isTemporary, device.handle == nil else { break }
            if connecting.keys.contains(address) {
                deadlines.set(.vanish(address), at: now + Self.temporaryLimit)
            } else {
                remove(address)
            }
        case .release(let address):
            guard let device = devices[address], device.isHeld else { break }
            devices[address]?.isHeld = false
            for characteristic in device.characteristics {
                let property = Self.notifies(characteristic) ? "NotifyAcquired" : "WriteAcquired"
                released(property, address, characteristic)
            }
        }
    }

    private mutating func powerChanged() {
        report(
            .propertiesChanged(
                Self.adapterPath, interface: "org.bluez.Adapter1", ["Powered": .bool(isPowered)], invalidated: []))
    }

    /// The links have been ended, and now the adapter is switched off.
    private mutating func wentDown(at now: Instant) {
        guard isRunning, isPlugged else { return }
        if isDiscovering { setDiscovering(false, at: now) }
        switchOff(at: now)
        isPowered = false
        powerChanged()
        if isEnding { end(at: now) }
    }

    private mutating func end(at now: Instant) {
        for link in channels.keys.sorted() { report(.ended(link)) }
        report(.ownerLost)
        isEnding = false
        isRunning = false
        isRegistered = false
        hasAdapter = false
        hasManager = false
        stalled = nil
        channels = [:]
        acquiring = []
        connecting = [:]
        disconnecting = [:]
        removing = [:]
        wanted = [:]
        filter = nil
        if isDiscovering { setDiscovering(false, at: now) }
        devices = devices.filter { !$0.value.isTemporary }
        for key in deadlines.keys {
            switch key {
            case .connect, .disconnect, .vanish, .release, .stallEnds, .adapterAppears, .managerAppears, .down,
                .powerOn:
                deadlines.cancel(key)
            case .kernel, .kernelTriesAgain, .start, .plugIn: break
            }
        }
    }

    /// bluetoothd knows what it has stored, and empties the kernel's list. Links of the kernel have no services.
    private mutating func start(at now: Instant) {
        isRunning = true
        if isPlugged, !isPowered { run(.transportOpened, at: now) }
        for address in devices.keys {
            devices[address]?.isArmed = false
            devices[address]?.isDisarmed = false
            devices[address]?.isResolved = false
            devices[address]?.isExported = false
            devices[address]?.isHeld = false
            devices[address]?.handle = nil
        }
        for (handle, address) in kernelLinks {
            devices[address, default: Device(address: address)].handle = handle
            devices[address]?.isLinkOlder = true
        }
        deadlines.set(.adapterAppears, at: now + .milliseconds(200))
    }

    private mutating func strike(_ trouble: Trouble, at now: Instant) {
        switch trouble {
        case .restart(let delay):
            guard isRunning, !isEnding else { break }
            if stalled != nil { continueAll(at: now) }
            isEnding = true
            deadlines.set(.start, at: now + delay + .seconds(1))
            guard isPlugged, isPowered else { return end(at: now) }
            leaveAll(at: now)
        case .kill(let delay):
            guard isRunning, !isEnding else { break }
            deadlines.set(.start, at: now + delay)
            end(at: now)
        case .powerOff(let duration):
            guard isRunning, isPlugged, isPowered, hasAdapter, stalled == nil else { break }
            leaveAll(at: now)
            deadlines.set(.powerOn, at: now + duration + .milliseconds(100))
        case .pull(let duration):
            guard isPlugged else { break }
            isPlugged = false
            if isDiscovering { setDiscovering(false, at: now) }
            switchOff(at: now)
            deadlines.cancel(.down)
            deadlines.set(.plugIn, at: now + duration)
            guard isRunning else { break }
            if stalled != nil { continueAll(at: now) }
            isRegistered = false
            for device in known { removeObjects(of: device) }
            devices = devices.filter { !$0.value.isTemporary }
            for address in devices.keys {
                devices[address]?.isArmed = false
                devices[address]?.isDisarmed = false
                devices[address]?.isExported = false
            }
            hasAdapter = false
            hasManager = false
            report(.interfacesRemoved(Self.adapterPath, ["org.bluez.GattManager1", "org.bluez.Adapter1"]))
            if isEnding { end(at: now) }
        case .stall(let duration):
            guard isRunning, !isEnding, stalled == nil else { break }
            stalled = []
            deadlines.set(.stallEnds, at: now + duration)
        case .hold(let address, let duration): wanted[address] = now + duration
        case .disconnect(let address):
            guard isRunning, let handle = devices[address]?.handle else { break }
            run(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
        case .connect(let address):
            guard isRunning, hasAdapter, let device = devices[address] else { break }
            connect(device, nil, at: now)
        case .remove(let address):
            guard isRunning, hasAdapter, let device = devices[address] else { break }
            if let handle = device.handle {
                removing[address] = .some(nil)
                run(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
            } else {
                remove(address)
            }
        }
    }

    private mutating func leaveAll(at now: Instant) {
        for handle in kernelLinks.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            run(.perform(.disconnect(handle, reason: .remoteUserTerminated)), at: now)
        }
        deadlines.set(.down, at: now + .milliseconds(50))
    }
}
