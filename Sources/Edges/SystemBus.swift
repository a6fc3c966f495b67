import CLinux
import CSystemBus
import Glibc
package import Radios
package import Reactor

/// The connection to the D-Bus system bus, over which BlueZ is used. It translates messages into values and back, keeps the
/// descriptors of links, and decides nothing.
@ReactorActor
package final class SystemBus {
    package enum Event: Hashable, Sendable {
        case reported(BusInput)
        /// The connection has failed and is closed; a sentence for users without a full stop.
        case failed(String)
    }

    /// The events that callbacks of sd-bus have reported, and the calls that are not answered yet. The events are
    /// collected here, because callbacks must not call into the hub.
    private final class Inbox {
        final class Call {
            let id: BusCallID
            let call: BlueZCall
            unowned let inbox: Inbox

            init(_ id: BusCallID, _ call: BlueZCall, _ inbox: Inbox) {
                self.id = id
                self.call = call
                self.inbox = inbox
            }
        }

        let functions: UnsafePointer<csystembus>
        var inputs: [BusInput] = []
        var calls: [BusCallID: Call] = [:]
        /// Descriptors for links, which the edge takes over.
        var acquired: [(link: LinkID, isNotify: Bool, descriptor: Int32)] = []

        init(_ functions: UnsafePointer<csystembus>) { self.functions = functions }
    }

    /// The seconds after which a call is considered as not answered. bluetoothd gives up connecting after about 41 s.
    nonisolated private static let callLimit: UInt64 = 25
    nonisolated private static let connectLimit: UInt64 = 60
    /// The path of our objects. bluetoothd asks for the objects below it.
    nonisolated private static let ownPath = "/tryck"

    private let loop: EventLoop
    private var inbox: Inbox?
    private var bus: OpaquePointer?
    private var watch: Watch?
    private var timer: Timer?
    private var isSettlingRequested = false
    private var channels: [LinkID: BusChannels] = [:]
    private var handler: (@ReactorActor (Event) -> Void)?
    /// Changes with every `open` and `close`.
    private var generation: UInt64 = 0

    package init(loop: EventLoop) { self.loop = loop }

    /// Connects to the system bus. sd-bus authenticates while the loop runs, and sends calls afterwards.
    ///
    /// - Returns: why this is not possible, as a sentence for users without a full stop; `nil` if it is.
    package func open(_ handler: @escaping @ReactorActor (Event) -> Void) -> String? {
        close()
        var failure: UnsafePointer<CChar>?
        guard let functions = csystembus_open(&failure) else {
            return failure.map { String(cString: $0) } ?? "libsystemd cannot be opened"
        }
        var bus: OpaquePointer?
        let result = functions.pointee.open_system(&bus)
        guard result >= 0, let bus else {
            return
                "there is no system bus (\(String(cString: strerror(-result)))): install dbus, or set `transport: hci:0`"
        }
        let inbox = Inbox(functions)
        self.bus = bus
        self.inbox = inbox
        self.handler = handler
        let context = Unmanaged.passUnretained(inbox).toOpaque()
        for rule in Self.matches {
            _ = functions.pointee.add_match_async(
                bus, nil, rule, { message, context, _ in SystemBus.signalled(message, context) }, nil, context)
        }
        _ = functions.pointee.add_fallback(
            bus, nil, Self.ownPath, { message, context, _ in SystemBus.called(message, context) }, context)
        timer = loop.timer { [unowned self] in settle() }
        watch = loop.watch(functions.pointee.get_fd(bus), .read) { [unowned self] _ in settle() }
        requestSettling()
        return nil
    }

    nonisolated private static let matches = [
        "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged',"
            + "arg0='org.bluez'",
        "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.ObjectManager'",
        "type='signal',sender='org.bluez',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',"
            + "path_namespace='/org/bluez'",
    ]

    package func close() {
        generation += 1
        handler = nil
        for channel in channels.values { channel.close() }
        channels = [:]
        watch?.cancel()
        watch = nil
        timer?.cancel()
        timer = nil
        if let bus, let inbox {
            _ = inbox.functions.pointee.flush_close_unref(bus)
            for acquired in inbox.acquired { Glibc.close(acquired.descriptor) }
        }
        bus = nil
        inbox = nil
    }

    package func perform(_ effect: BusEffect) {
        switch effect {
        case .call(let id, let call): perform(call, as: id)
        case .write(let id, let value): channels[id]?.write(value)
        case .closeChannels(let id): channels.removeValue(forKey: id)?.close()
        }
    }

    // MARK: The loop

    /// Lets sd-bus work in the next turn of the loop, because a call may not have been written completely.
    private func requestSettling() {
        guard !isSettlingRequested else { return }
        isSettlingRequested = true
        let generation = generation
        loop.onNextTurn { [weak self] in
            self?.isSettlingRequested = false
            guard let self, generation == self.generation else { return }
            settle()
        }
    }

    /// Lets sd-bus read, write and call back; then reports, and arms the watch and the timer as sd-bus requires.
    private func settle() {
        guard let bus, let inbox else { return }
        let functions = inbox.functions.pointee
        var result: Int32 = 0
        // A flood of messages must not hold the loop.
        for _ in 0..<64 {
            result = functions.process(bus, nil)
            if result <= 0 { break }
        }
        deliver()
        guard self.bus == bus else { return }
        guard result >= 0 else {
            return fail("the system bus has closed the connection (\(String(cString: strerror(-result))))")
        }
        if result > 0 { requestSettling() }
        let events = functions.get_events(bus)
        watch?.set(events & Int32(POLLOUT) != 0 ? [.read, .write] : .read)
        var deadline: UInt64 = 0
        guard functions.get_timeout(bus, &deadline) > 0, deadline != .max else {
            timer?.cancel()
            return
        }
        timer?.set(
            at: loop.nanosecondsSinceBoot + max(0, Int64(clamping: deadline) - Self.monotonicMicroseconds) * 1000)
    }

    private static var monotonicMicroseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    private func deliver() {
        guard let inbox else { return }
        for acquired in inbox.acquired { adopt(acquired.descriptor, of: acquired.link, isNotify: acquired.isNotify) }
        inbox.acquired = []
        let inputs = inbox.inputs
        inbox.inputs = []
        let generation = generation
        for input in inputs where generation == self.generation { handler?(.reported(input)) }
    }

    private func adopt(_ descriptor: Int32, of link: LinkID, isNotify: Bool) {
        let channel =
            channels[link]
            ?? BusChannels(loop: loop) { [weak self] report in
                guard let self else { return }
                switch report {
                case .received(let value): handler?(.reported(.received(link, value)))
                case .ended:
                    channels.removeValue(forKey: link)?.close()
                    handler?(.reported(.ended(link)))
                }
            }
        channels[link] = channel
        if isNotify { channel.notifies(on: descriptor) } else { channel.writes(to: descriptor) }
    }

    private func fail(_ reason: String) {
        let handler = handler
        close()
        handler?(.failed(reason))
    }

    // MARK: Calls

    private func perform(_ call: BlueZCall, as id: BusCallID) {
        guard let bus, let inbox else { return }
        let request = call.request
        let functions = inbox.functions.pointee
        var created: OpaquePointer?
        var result = functions.message_new_method_call(
            bus, &created, "org.bluez", request.path, request.interface, request.member)
        if result >= 0, let created {
            // Otherwise the bus would start a bluetoothd that a user has stopped.
            _ = functions.message_set_auto_start(created, 0)
            request.write(BusMessage(functions: inbox.functions, message: created))
            let pending = Inbox.Call(id, call, inbox)
            inbox.calls[id] = pending
            let limit = if case .connect = call { Self.connectLimit } else { Self.callLimit }
            result = functions.call_async(
                bus, nil, created, { message, context, _ in SystemBus.answered(message, context) },
                Unmanaged.passUnretained(pending).toOpaque(),
                limit * 1_000_000)
            _ = functions.message_unref(created)
        }
        if result < 0 {
            inbox.calls[id] = nil
            let text = String(cString: strerror(-result))
            inbox.inputs.append(.refused(id, BusError(name: "org.freedesktop.DBus.Error.Failed", message: text)))
        }
        requestSettling()
    }

    nonisolated private static func answered(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
        guard let message, let context else { return 0 }
        let pending = Unmanaged<Inbox.Call>.fromOpaque(context).takeUnretainedValue()
        let inbox = pending.inbox
        let id = pending.id
        let answer = BusMessage(functions: inbox.functions, message: message)
        defer { inbox.calls[id] = nil }
        if let error = answer.error {
            inbox.inputs.append(.refused(id, error))
            return 1
        }
        switch pending.call {
        case .getManagedObjects:
            guard case .dictionary(let objects)? = answer.read() else { break }
            inbox.inputs.append(.objects(id, objects.mapValues(\.interfaces)))
            return 1
        case .acquireNotify(_, let link), .acquireWrite(_, let link):
            // The message closes its own descriptor.
            guard let descriptor = answer.descriptor.map({ fcntl($0, F_DUPFD_CLOEXEC, 0) }), descriptor >= 0 else {
                break
            }
            guard case .integer(let mtu)? = answer.read() else {
                Glibc.close(descriptor)
                break
            }
            let isNotify = if case .acquireNotify = pending.call { true } else { false }
            inbox.acquired.append((link, isNotify, descriptor))
            inbox.inputs.append(.acquired(id, attMTU: Int(mtu)))
            return 1
        case .registerApplication, .setDiscoveryFilter, .startDiscovery, .stopDiscovery, .connect, .disconnect,
            .setTrusted, .setBlocked, .removeDevice:
            inbox.inputs.append(.answered(id))
            return 1
        }
        let error = BusError(
            name: "org.freedesktop.DBus.Error.InvalidSignature", message: "an answer that BlueZ does not define")
        inbox.inputs.append(.refused(id, error))
        return 1
    }

    nonisolated private static func signalled(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
        guard let message, let context else { return 0 }
        let inbox = Unmanaged<Inbox>.fromOpaque(context).takeUnretainedValue()
        let signal = BusMessage(functions: inbox.functions, message: message)
        if signal.isSignal("org.freedesktop.DBus", "NameOwnerChanged") {
            _ = signal.read()
            let former = signal.read()
            // The objects of a former owner are gone, also if another one follows at once.
            if former != .string("") { inbox.inputs.append(.ownerLost) }
        } else if signal.isSignal("org.freedesktop.DBus.ObjectManager", "InterfacesAdded") {
            guard case .string(let path)? = signal.read(), let interfaces = signal.read()?.interfaces else { return 0 }
            inbox.inputs.append(.interfacesAdded(path, interfaces))
        } else if signal.isSignal("org.freedesktop.DBus.ObjectManager", "InterfacesRemoved") {
            guard case .string(let path)? = signal.read(), case .list(let names)? = signal.read() else { return 0 }
            inbox.inputs.append(.interfacesRemoved(path, names.texts))
        } else if signal.isSignal("org.freedesktop.DBus.Properties", "PropertiesChanged") {
            guard case .string(let interface)? = signal.read(), let properties = signal.read()?.properties else {
                return 0
            }
            var invalidated: [String] = []
            if case .list(let names)? = signal.read() { invalidated = names.texts }
            inbox.inputs.append(
                .propertiesChanged(signal.path, interface: interface, properties, invalidated: invalidated))
        }
        return 0
    }

    // MARK: Our objects

    nonisolated private static let profilePath = ownPath + "/profile"
    nonisolated private static let profileInterface = "org.bluez.GattProfile1"

    /// Answers bluetoothd, which asks for our objects. Returns 0 for calls that are not known.
    nonisolated private static func called(_ message: OpaquePointer?, _ context: UnsafeMutableRawPointer?) -> Int32 {
        guard let message, let context else { return 0 }
        let functions = Unmanaged<Inbox>.fromOpaque(context).takeUnretainedValue().functions
        let call = BusMessage(functions: functions, message: message)
        if call.isCall("org.freedesktop.DBus.ObjectManager", "GetManagedObjects"), call.path == ownPath {
            return reply(to: call) { answer in
                answer.append("a", of: "{oa{sa{sv}}}") {
                    answer.append("e", of: "oa{sa{sv}}") {
                        answer.append(path: profilePath)
                        answer.append("a", of: "{sa{sv}}") {
                            answer.append("e", of: "sa{sv}") {
                                answer.append(string: profileInterface)
                                appendProfile(to: answer)
                            }
                        }
                    }
                }
            }
        }
        guard call.path == profilePath else { return 0 }
        if call.isCall("org.freedesktop.DBus.Properties", "GetAll") {
            return reply(to: call) { appendProfile(to: $0) }
        }
        if call.isCall(profileInterface, "Release") { return reply(to: call) { _ in } }
        return 0
    }

    nonisolated private static func appendProfile(to answer: BusMessage) {
        answer.append("a", of: "{sv}") {
            answer.append("e", of: "sv") {
                answer.append(string: "UUIDs")
                answer.append("v", of: "as") {
                    answer.append("a", of: "s") {
                        for uuid in FlicService.uuidTexts { answer.append(string: uuid) }
                    }
                }
            }
        }
    }

    nonisolated private static func reply(to call: BusMessage, _ body: (BusMessage) -> Void) -> Int32 {
        let functions = call.functions.pointee
        var created: OpaquePointer?
        guard functions.message_new_method_return(call.message, &created) >= 0, let created else { return 0 }
        body(BusMessage(functions: call.functions, message: created))
        let result = functions.send(nil, created, nil)
        _ = functions.message_unref(created)
        return result >= 0 ? 1 : result
    }
}

extension [BusValue] {
    fileprivate var texts: [String] { compactMap { if case .string(let text) = $0 { text } else { nil } } }
}

extension BlueZCall {
    /// The message of the call, without its arguments, and a closure that writes them.
    fileprivate var request: (path: String, interface: String, member: String, write: (BusMessage) -> Void) {
        switch self {
        case .getManagedObjects: ("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", { _ in })
        case .registerApplication(let adapter):
            (
                adapter, "org.bluez.GattManager1", "RegisterApplication",
                {
                    $0.append(path: "/tryck")
                    $0.append("a", of: "{sv}")
                }
            )
        case .setDiscoveryFilter(let adapter, let filter):
            (adapter, "org.bluez.Adapter1", "SetDiscoveryFilter", { filter.write(to: $0) })
        case .startDiscovery(let adapter): (adapter, "org.bluez.Adapter1", "StartDiscovery", { _ in })
        case .stopDiscovery(let adapter): (adapter, "org.bluez.Adapter1", "StopDiscovery", { _ in })
        case .connect(let device): (device, "org.bluez.Device1", "Connect", { _ in })
        case .disconnect(let device): (device, "org.bluez.Device1", "Disconnect", { _ in })
        case .setTrusted(let device, let isTrusted): Self.set("Trusted", of: device, isTrusted)
        case .setBlocked(let device, let isBlocked): Self.set("Blocked", of: device, isBlocked)
        case .removeDevice(let adapter, let device):
            (adapter, "org.bluez.Adapter1", "RemoveDevice", { $0.append(path: device) })
        case .acquireNotify(let characteristic, _):
            (characteristic, "org.bluez.GattCharacteristic1", "AcquireNotify", { $0.append("a", of: "{sv}") })
        case .acquireWrite(let characteristic, _):
            (characteristic, "org.bluez.GattCharacteristic1", "AcquireWrite", { $0.append("a", of: "{sv}") })
        }
    }

    private static func set(
        _ property: String, of device: String, _ value: Bool
    ) -> (path: String, interface: String, member: String, write: (BusMessage) -> Void) {
        (
            device, "org.freedesktop.DBus.Properties", "Set",
            { message in
                message.append(string: "org.bluez.Device1")
                message.append(string: property)
                message.append("v", of: "b") { message.append(bool: value) }
            }
        )
    }
}

extension DiscoveryFilter {
    fileprivate func write(to message: BusMessage) {
        message.append("a", of: "{sv}") {
            message.append("e", of: "sv") {
                message.append(string: "Transport")
                message.append("v", of: "s") { message.append(string: "le") }
            }
            switch self {
            case .all: break
            case .flicServices:
                message.append("e", of: "sv") {
                    message.append(string: "UUIDs")
                    message.append("v", of: "as") {
                        message.append("a", of: "s") {
                            for uuid in FlicService.uuidTexts { message.append(string: uuid) }
                        }
                    }
                }
            case .addressPrefix(let prefix):
                message.append("e", of: "sv") {
                    message.append(string: "Pattern")
                    message.append("v", of: "s") { message.append(string: prefix) }
                }
            }
        }
    }
}
