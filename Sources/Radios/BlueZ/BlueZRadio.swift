package import ButtonModel

/// A radio on an adapter that bluetoothd drives and other programs use at the same time.
///
/// bluetoothd connects by itself to each *trusted* device that has a service of a profile of ours, so a paired button
/// needs nothing between two presses. The radio itself passes through these states:
///
/// | state           | on                                       | becomes         | and we                             |
/// |-----------------|------------------------------------------|-----------------|------------------------------------|
/// | closed          | opened                                   | loading         | ask for all objects                |
/// | loading         | the objects, with the adapter            | registering     | register our profile               |
/// | loading         | the adapter cannot register profiles yet | waiting         | wait for 10 s                      |
/// | waiting         | it can                                   | registering     | register our profile               |
/// | registering     | registered                               | ready           | report `ready`                     |
/// | loading, …      | refused; no adapter; it is off           | failed          | report `failed`                    |
/// | ready           | bluetoothd or the adapter is gone or off | failed          | end all links, report `failed`     |
/// | any             | closed                                   | closed          | end all links                      |
///
/// Each expected button passes through these states, and its link through the later ones:
///
/// | button          | on                                       | becomes         | and we                             |
/// |-----------------|------------------------------------------|-----------------|------------------------------------|
/// | absent          | its object appears                       | untrusted       | connect; trust it, unless it advertises |
/// | untrusted       | connected, and its services are resolved | waiting         | trust it                           |
/// | untrusted       | refused, or not reached for 40 s         | untrusted       | connect again, after 5 s or when a link ends |
/// | any             | another radio looks for it, or users disconnected it | parked | park it, when its link has ended |
/// | parked          | expected                                 | waiting         | connect it, and cancel that        |
/// | parked          | connected, and another radio looks for it | resolving      | report `connected`                 |
/// | parked          | connected, and users disconnected it     | parked          | park it                            |
/// | blocked         | expected, or to be parked                | waiting, parked | unblock it                         |
/// | waiting         | connected                                | resolving       | report `connected`                 |
/// | resolving       | its services are resolved                | acquiring       | acquire both characteristics       |
/// | resolving, acquiring | 10 s                                | ending          | disconnect                         |
/// | acquiring       | both are acquired                        | open            | report `attached`                  |
/// | acquiring       | refused, or no Flic service              | ending          | report `attachFailed`              |
/// | acquiring       | another program has the characteristics  | –               | report `disconnected`              |
/// | open            | `disconnect`                             | ending          | close the descriptors, disconnect  |
/// | open            | a descriptor has ended                   | ending          | wait for the device's state        |
/// | any             | disconnected, or its object is gone      | waiting, absent | report `disconnected`              |
///
/// A device that bluetoothd has stored with its services is *waiting* when our profile is registered, if it is trusted. One that
/// becomes trusted later must have been connected once. bluetoothd knows a *parked* device and does not connect to it by itself. It may
/// have begun to connect to a device before it is told to park it, and other programs could connect to it. If another radio looks for
/// the button, its link is kept, because the button has no other one and would be silent after its end until the next press.
/// Earlier versions of Tryck *blocked* devices.
///
/// bluetoothd does not say how many links the adapter can have, and does not report trusted buttons that it fails to connect. The
/// limit is therefore the configured one, or is learned when bluetoothd refuses to connect a new button because of it.
///
/// - Source: BlueZ 5.66, doc/device-api.txt, adapter-api.txt and gatt-api.txt.
package struct BlueZRadio: Sendable {
    enum State: Hashable, Sendable {
        case closed
        case loading
        /// The adapter has no GATT manager yet.
        case waiting
        case registering
        case ready
        case failed
    }

    enum TimerKey: Hashable, Sendable {
        case start
        /// A link must have come to its next phase.
        case link(LinkID)
        /// A button may be connected again after a refusal.
        case connectAgain(BluetoothAddress)
        /// bluetoothd may be asked again to remove a forgotten button, because its adapter was off.
        case removeAgain(BluetoothAddress)
        /// Another program has the characteristics of a connected button. They are asked for again when it has released them,
        /// when the button has a new link, and after a while.
        case heldElsewhere(BluetoothAddress, HeldCharacteristic)
        case discoverAgain
        /// The search for expected buttons that BlueZ does not know ends.
        case searchForAbsent
    }

    /// The characteristic of a button that BlueZ refused because another program has acquired it.
    enum HeldCharacteristic: Hashable, Sendable, CaseIterable {
        case notify
        case write

        /// The properties of the characteristic that become false when the other program releases it.
        var properties: [String] {
            switch self {
            case .notify: ["NotifyAcquired", "Notifying"]
            case .write: ["WriteAcquired"]
            }
        }
    }

    struct BlueZLink: Hashable, Sendable {
        enum Phase: Hashable, Sendable {
            case resolving
            case acquiring
            case open
            case ending
        }

        let id: LinkID
        let address: BluetoothAddress
        let path: String
        var phase = Phase.resolving
        var service = FlicService.flic2
        /// The ATT_MTU that each of the two characteristics was acquired with.
        var notifyMTU, writeMTU: Int?
        /// True if we asked for the end.
        var isDisconnecting = false
    }

    /// The time limit for the adapter to be able to register profiles.
    static let startLimit = Duration.seconds(10)
    /// The time limit for the services of a new link. bluetoothd never resolves those of a link that is older than itself.
    static let resolveLimit = Duration.seconds(10)
    /// The time limit for the end of a link.
    static let endLimit = Duration.seconds(10)
    /// How long a device may stay connected after its descriptors have ended.
    static let endedLimit = Duration.seconds(2)
    static let retryDelay = Duration.seconds(5)
    /// How long bluetoothd may take from an advertisement of a button until it reports the link. The kernel listens half of the time,
    /// and then connects.
    static let connectionTime = Duration.milliseconds(500)
    static let heldElsewhereDelay = Duration.seconds(20)
    /// How long expected buttons that BlueZ does not know are searched for. A discovery costs everybody's radio time.
    static let absentSearch = Duration.seconds(60)
    /// The kernel scans without a filter if the controller's list is too short.
    static let acceptListSize = 255
    /// The maximum number of devices that are remembered besides known buttons; others are ignored.
    static let maximumDevices = 512
    /// The maximum number of forgotten buttons that wait to be removed from BlueZ; others stay there.
    static let maximumForgotten = 256

    var state = State.closed
    var choice = BlueZAdapterChoice.any
    var adapter: BlueZAdapter?
    var devices: [String: BlueZDevice] = [:]
    var links: [BlueZLink] = []
    /// The configured number of links of the adapter; `nil` if it is not configured.
    private let maximumLinks: Int?
    /// The number of links when bluetoothd refused another one; `nil` if it has not.
    private var refusedLinks: Int?
    private var isFullReported = false
    /// The numbers differ from those of an `HCIRadio` with the same `RadioID`.
    var lastLink: LinkID
    var expected: [ExpectedButton] = []
    var unwanted: [BluetoothAddress] = []
    /// The buttons that another radio looks for. BlueZ must not connect to them by itself, and keeps their objects.
    var elsewhere: [BluetoothAddress] = []
    /// The forgotten buttons that are to be removed from BlueZ, which otherwise connects them whenever they are pressed. They wait while
    /// bluetoothd or the adapter is not there, and until bluetoothd has answered.
    var forgotten: [BluetoothAddress] = []
    var listening = RadioListening.off
    /// The discovery that bluetoothd performs for us.
    var discovery: DiscoveryFilter?
    /// The discovery that is being started.
    var nextDiscovery: DiscoveryFilter?
    var calls: [BusCallID: BlueZCall] = [:]
    var lastCall = BusCallID(rawValue: 0)
    var deadlines = Deadlines<TimerKey>()
    var effects: [RadioEffect] = []

    /// - Parameter maximumLinks: the configured number of links of the adapter; `nil` if it is not configured.
    package init(_ id: RadioID = .first, maximumLinks: Int? = nil) {
        lastLink = LinkID(id, 1 << 31)
        self.maximumLinks = maximumLinks
    }

    package mutating func handle(_ input: RadioInput, at now: Instant) -> [RadioEffect] {
        switch input {
        case .busOpened(let choice):
            reset()
            self.choice = choice
            state = .loading
            call(.getManagedObjects)
        case .bus(.received(let id, let value)):
            if links.contains(where: { $0.id == id && $0.phase == .open }) { report(.notified(id, value)) }
        case .bus(let input) where concernsUs(input):
            handle(input, at: now)
            update(at: now)
        case .bus: break
        case .closed: reset()
        case .timerFired:
            for key in deadlines.takeDue(at: now) { expire(key, at: now) }
            update(at: now)
        case .perform(let command):
            perform(command, at: now)
            update(at: now)
        case .transportOpened, .received: break
        }
        deadlines.appendChange(to: &effects)
        defer { effects = [] }
        return effects
    }

    /// The notification that `handle` will report for a value; `nil` if only `handle` knows it.
    package func preview(_ id: LinkID, _ value: [UInt8]) -> (link: LinkID, value: ArraySlice<UInt8>)? {
        links.contains { $0.id == id && $0.phase == .open } ? (id, value[...]) : nil
    }

    /// True if the input may concern a button. Changes of other devices are ignored early, because a discovery causes many of them.
    private func concernsUs(_ input: BusInput) -> Bool {
        guard case .propertiesChanged(let path, BlueZName.device, _, _) = input else { return true }
        return devices[path] != nil
    }

    private mutating func perform(_ command: RadioCommand, at now: Instant) {
        switch command {
        case .listen(let listening): self.listening = listening
        case .expect(let buttons, let unwanted, let elsewhere):
            let before = Set(expected.map(\.address)).subtracting(self.elsewhere)
            expected = buttons
            self.unwanted = unwanted
            self.elsewhere = elsewhere
            forgotten = forgotten.filter { !isPaired($0) }
            let isNewAbsent = absent.contains { !before.contains($0) }
            guard state == .ready, isNewAbsent else { break }
            // BlueZ may know it, as a device that was not remembered because it might not have been a button.
            call(.getManagedObjects)
            deadlines.set(.searchForAbsent, at: now + Self.absentSearch)
        case .write(let id, let value):
            guard links.contains(where: { $0.id == id && $0.phase == .open }) else { break }
            effects.append(.bus(.write(id, value)))
        case .disconnect(let id):
            if let place = links.firstIndex(where: { $0.id == id }) { disconnect(place, at: now) }
        case .forget(let address, wasKnown: true):
            guard !forgotten.contains(address), forgotten.count < Self.maximumForgotten else { break }
            forgotten.append(address)
        case .forget(let address, wasKnown: false):
            // It is not removed later, because another program may use it by then.
            if state == .ready, let device = device(address), !device.wasTrusted { remove(device) }
        // BlueZ measures no signal of a link. It keeps by itself what it found out about services, and answers by itself
        // when a button requests parameters.
        case .update, .measureSignal, .keepDiscovery, .discardDiscovery, .attempt, .pin, .restoreHome, .goodbye: break
        }
    }

    private mutating func expire(_ key: TimerKey, at now: Instant) {
        switch key {
        case .start:
            fail(
                "BlueZ does not let programs use the adapter. Restart it: `sudo systemctl restart bluetooth`.", .failed)
        case .link(let id): linkTimedOut(id, at: now)
        case .searchForAbsent:
            let absent = absent.map(\.description)
            guard !absent.isEmpty else { break }
            report(
                .anomaly(
                    "BlueZ does not know \(absent.joined(separator: ", ")): press these buttons while `tryck pair` runs"
                ))
        case .connectAgain, .removeAgain, .heldElsewhere, .discoverAgain: break
        }
    }

    // MARK: The adapter

    private mutating func handle(_ input: BusInput, at now: Instant) {
        switch input {
        case .ownerLost:
            fail("BlueZ has ended. Start it: `sudo systemctl start bluetooth`.", .absent)
        case .interfacesAdded(let path, let interfaces):
            guard state != .closed, state != .failed, state != .loading else { break }
            if path == adapter?.path, interfaces[BlueZName.gattManager] != nil {
                adapter?.hasGATTManager = true
                if state == .waiting { register(at: now) }
            }
            added(path, interfaces, isNew: true)
        case .interfacesRemoved(let path, let interfaces):
            removed(path, interfaces, at: now)
        case .propertiesChanged(let path, let interface, let properties, _):
            changed(path, interface, properties, at: now)
        case .objects(let id, let objects):
            guard calls.removeValue(forKey: id) != nil else { break }
            if state == .loading { loaded(objects, at: now) } else if state == .ready { addDevices(objects) }
        case .answered(let id):
            if let call = calls.removeValue(forKey: id) { answered(call, at: now) }
        case .acquired(let id, let attMTU):
            if let call = calls.removeValue(forKey: id) { acquired(call, attMTU: attMTU, at: now) }
        case .refused(let id, let error):
            if let call = calls.removeValue(forKey: id) { refused(call, error, at: now) }
        case .ended(let id):
            guard let place = links.firstIndex(where: { $0.id == id && $0.phase != .ending }) else { break }
            close(place, for: Self.endedLimit, at: now)
        case .received: break
        }
    }

    private mutating func loaded(_ objects: [String: BusInterfaces], at now: Instant) {
        let fault = Self.fault(of: choice, among: objects)
        guard fault == nil, let found = BlueZAdapter.find(choice, among: objects) else {
            return fail(fault ?? "", .absent)
        }
        adapter = found
        addDevices(objects)
        guard found.hasGATTManager else {
            state = .waiting
            return deadlines.set(.start, at: now + Self.startLimit)
        }
        register(at: now)
    }

    /// A sentence that says what a user can do about an adapter that cannot be used; `nil` if it can be used.
    package static func fault(of choice: BlueZAdapterChoice, among objects: [String: BusInterfaces]) -> String? {
        guard let adapter = BlueZAdapter.find(choice, among: objects) else {
            return "BlueZ has no such adapter. Plug it in; `bluetoothctl list` shows the adapters."
        }
        return adapter.isPowered ? nil : poweredOff
    }

    /// The error while the adapter is off.
    private static let notReady = "org.bluez.Error.NotReady"
    private static let poweredOff = "The adapter is off. Switch it on: `bluetoothctl power on`."

    private mutating func register(at now: Instant) {
        guard let adapter else { return }
        state = .registering
        deadlines.set(.start, at: now + Self.startLimit)
        call(.registerApplication(adapter: adapter.path))
    }

    private mutating func answered(_ call: BlueZCall, at now: Instant) {
        switch call {
        case .registerApplication:
            guard state == .registering, let adapter else { break }
            state = .ready
            deadlines.cancel(.start)
            deadlines.set(.searchForAbsent, at: now + Self.absentSearch)
            report(
                .ready(
                    RadioInfo(
                        address: adapter.address, acceptListSize: Self.acceptListSize,
                        connectionTime: Self.connectionTime, isShared: true)))
        case .setDiscoveryFilter(let adapter, _): self.call(.startDiscovery(adapter: adapter))
        case .startDiscovery:
            discovery = nextDiscovery
            nextDiscovery = nil
        case .stopDiscovery: discovery = nil
        case .setTrusted(let path, let isTrusted):
            devices[path]?.update(["Trusted": .bool(isTrusted)])
            if isTrusted, !isCalling(.setTrusted(device: path)) { devices[path]?.isTrustDue = false }
        case .setBlocked(let path, let isBlocked): devices[path]?.update(["Blocked": .bool(isBlocked)])
        case .connect(let path): connectSucceeded(path, at: now)
        case .removeDevice(_, let path): removalAnswered(path)
        // The device's properties tell what has become of it.
        case .disconnect, .getManagedObjects, .acquireNotify, .acquireWrite: break
        }
    }

    private mutating func refused(_ call: BlueZCall, _ error: BusError, at now: Instant) {
        if let path = call.device, let address = devices[path]?.address, error.isForWantOfObject {
            // The report that the object is gone was missed, or will come. The button may have another object. If bluetoothd
            // lists this object still, it may refuse again.
            deadlines.set(.connectAgain(address), at: now + Self.retryDelay)
            removed(path, [BlueZName.device], at: now)
            return self.call(.getManagedObjects)
        }
        switch call {
        case .getManagedObjects, .registerApplication:
            guard state != .ready else { break }
            let (advice, fault) = Self.advice(error)
            fail(advice, fault)
        case .setDiscoveryFilter, .startDiscovery, .stopDiscovery:
            discovery = nil
            nextDiscovery = nil
            deadlines.set(.discoverAgain, at: now + Self.retryDelay)
            report(.anomaly("BlueZ refused to search: \(error)"))
        case .connect(let path):
            guard let device = devices[path] else { break }
            // BlueZ 5.87 refuses `Connect` with this error while another program pairs the device. It then
            // does not connect to a parked device by itself.
            let isUnheeded = error.name == "org.bluez.Error.InProgress" && device.isDisarmed
            guard isUnheeded || !arm(path), !device.connectsByItself else { break }
            deadlines.set(.connectAgain(device.address), at: now + Self.retryDelay)
            // A button that was not heard usually does not answer, and gives way to others.
            if device.wasHeard { report(.anomaly("\(device.address): BlueZ could not connect: \(error)")) }
            devices[path]?.failureCount += 1
            guard error.isForWantOfLinks else {
                devices[path]?.wasHeard = false
                break
            }
            devices[path]?.wantsLink = true
            if !links.isEmpty { refusedLinks = links.count }
        case .acquireNotify(_, let id): acquiringFailed(.notify, id, error, at: now)
        case .acquireWrite(_, let id): acquiringFailed(.write, id, error, at: now)
        case .setTrusted(let path, _), .setBlocked(let path, _):
            guard let address = devices[path]?.address else { break }
            devices[path]?.isParked = false
            deadlines.set(.connectAgain(address), at: now + Self.retryDelay)
            report(.anomaly("\(address): BlueZ refused a setting: \(error)"))
        case .disconnect(let path):
            // Usually BlueZ refuses because the link has ended already. Then the next connection need not wait.
            guard let device = devices[path], device.isConnected else { break }
            devices[path]?.isParked = false
            deadlines.set(.connectAgain(device.address), at: now + Self.retryDelay)
        case .removeDevice(_, let path):
            if error.name == Self.notReady, let address = devices[path]?.address {
                deadlines.set(.removeAgain(address), at: now + Self.retryDelay)
            } else {
                removalAnswered(path)
            }
        }
    }

    /// A sentence that says what a user can do about an error that prevents the start, and the fault.
    package static func advice(_ error: BusError) -> (String, AdapterFault) {
        switch error.name {
        case "org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner":
            (
                "BlueZ is not running. Start it: `sudo systemctl start bluetooth`; or let Tryck have the adapter: transport: hci:0.",
                .absent
            )
        case "org.freedesktop.DBus.Error.AccessDenied":
            ("This account may not speak to BlueZ. Add it to the group bluetooth.", .unauthorized)
        case notReady: (poweredOff, .absent)
        default: ("BlueZ refuses to work: \(error).", .failed)
        }
    }

    /// bluetoothd has answered that it removes a device, or refused to, perhaps because the object is gone already.
    private mutating func removalAnswered(_ path: String) {
        forgotten = forgotten.filter { $0 != devices[path]?.address }
    }

    private mutating func changed(
        _ path: String, _ interface: String, _ properties: [String: BusValue], at now: Instant
    ) {
        switch interface {
        case BlueZName.adapter:
            guard path == adapter?.path, let isPowered = properties["Powered"]?.bool else { break }
            adapter?.isPowered = isPowered
            if !isPowered { fail(Self.poweredOff, .absent) }
        case BlueZName.device: deviceChanged(path, properties, at: now)
        case BlueZName.characteristic:
            // Only a release of the refused characteristic counts. Tryck itself releases the other one after the refusal.
            for held in HeldCharacteristic.allCases
            where held.properties.contains(where: { properties[$0]?.bool == false }) {
                for device in devices.values where path.hasPrefix(device.path + "/") {
                    deadlines.cancel(.heldElsewhere(device.address, held))
                }
            }
        default: break
        }
    }

    private mutating func removed(_ path: String, _ interfaces: [String], at now: Instant) {
        if path == adapter?.path, interfaces.contains(BlueZName.adapter) {
            return fail("The adapter is gone. Plug it in again.", .absent)
        }
        if interfaces.contains(BlueZName.device), let device = devices.removeValue(forKey: path) {
            if let place = links.firstIndex(where: { $0.address == device.address }) { linkEnded(place) }
            // bluetoothd does not answer a call that waits for a device which it removes.
            calls = calls.filter { $0.value != .connect(device: path) && $0.value != .disconnect(device: path) }
            if state == .ready, expected.contains(where: { $0.address == device.address }) {
                deadlines.set(.searchForAbsent, at: now + Self.absentSearch)
            }
        }
        if interfaces.contains(BlueZName.characteristic) {
            for device in devices.keys where path.hasPrefix(device + "/") {
                devices[device]?.forget(characteristic: path)
            }
        }
    }

    /// Ends everything that depends on bluetoothd, and reports the failure. Nothing is done until the radio is opened again.
    private mutating func fail(_ advice: String, _ fault: AdapterFault) {
        guard state != .closed, state != .failed else { return }
        endAllLinks()
        for key in deadlines.keys { deadlines.cancel(key) }
        state = .failed
        report(.failed(advice, fault))
    }

    private mutating func reset() {
        endAllLinks()
        for key in deadlines.keys { deadlines.cancel(key) }
        state = .closed
        adapter = nil
        devices = [:]
        calls = [:]
        discovery = nil
        nextDiscovery = nil
        refusedLinks = nil
    }

    /// Reports that an expected button has no link because the adapter has no other one, once until there is room.
    mutating func reportRoom() {
        if let refused = refusedLinks, links.count > refused { refusedLinks = nil }
        guard let limit = [maximumLinks, refusedLinks].compactMap(\.self).min(), links.count >= limit else {
            return isFullReported = false
        }
        let isMissing = expected.contains { button in
            !elsewhere.contains(button.address) && !links.contains { $0.address == button.address }
        }
        guard isMissing, !isFullReported else { return }
        isFullReported = true
        report(.linkLimitReached(links.count))
    }

    private mutating func endAllLinks() {
        isFullReported = false
        for link in links {
            effects.append(.bus(.closeChannels(link.id)))
            report(.disconnected(link.id, .connectionTimeout))
        }
        links = []
    }

    mutating func report(_ event: RadioEvent) { effects.append(.event(event)) }

    mutating func call(_ call: BlueZCall) {
        lastCall.rawValue &+= 1
        calls[lastCall] = call
        effects.append(.bus(.call(lastCall, call)))
    }

    func isCalling(_ call: BlueZCall) -> Bool { calls.values.contains(call) }
}

extension BusError: CustomStringConvertible {
    package var description: String { message.isEmpty ? name : "\(name), \(message)" }

    /// True if the device has no object any more.
    fileprivate var isForWantOfObject: Bool {
        name == "org.freedesktop.DBus.Error.UnknownObject" || name == "org.freedesktop.DBus.Error.UnknownMethod"
    }

    /// True for the refusal of a link because the controller has as many as it can.
    ///
    /// - Source: BlueZ 5.66, src/error.h, ERR_LE_CONN_SYNC_CONNECT_LIMIT and ERR_LE_CONN_MEMORY_ALLOC.
    fileprivate var isForWantOfLinks: Bool {
        message == "le-connection-concurrent-connection-limit" || message == "le-connection-memory-allocation"
    }
}

extension BlueZCall {
    /// The device that the call is about, unless it is removed; `nil` for other calls.
    fileprivate var device: String? {
        switch self {
        case .connect(let path), .disconnect(let path), .setTrusted(let path, _), .setBlocked(let path, _): path
        case .getManagedObjects, .registerApplication, .setDiscoveryFilter, .startDiscovery, .stopDiscovery,
            .removeDevice, .acquireNotify, .acquireWrite:
            nil
        }
    }
}
