import BluetoothHost
package import ButtonModel

/// A radio on a controller that the program drives itself, over HCI.
///
/// Each link to an expected button passes through these phases:
///
/// | link           | on                                    | becomes        | and we                                    |
/// |----------------|---------------------------------------|----------------|-------------------------------------------|
/// | –              | connected                             | exchangingMTU  | report `connected`, exchange the MTU      |
/// | exchangingMTU  | MTU exchanged                         | discovering    | discover the expected service             |
/// | exchangingMTU  | MTU exchanged, handles known          | subscribing    | enable notifications                      |
/// | discovering    | service not found                     | discovering    | discover the other service, once          |
/// | discovering    | service found                         | subscribing    | enable notifications                      |
/// | subscribing    | refused, with handles known before    | discovering    | discover the expected service             |
/// | subscribing    | notifications enabled                 | attached       | report `attached`                         |
/// | attached       | a notification                        | attached       | report `notified`                         |
/// | not attached   | another procedure failed              | ending         | report `attachFailed`                     |
/// | any            | `disconnect`                          | ending         | disconnect                                |
/// | any            | disconnected                          | –              | report `disconnected`                     |
///
/// A link may come up while its connection is being cancelled. If another radio looks for the button now, it is reported as usual,
/// because the button would be silent after its end until the next press. If none does, it is ended at once and not reported.
package struct HCIRadio: Sendable {
    private enum Phase: Hashable, Sendable {
        case exchangingMTU
        case discovering
        case subscribing
        case attached
        case ending
    }

    private struct HCILink: Sendable {
        let id: LinkID
        let handle: ConnectionHandle
        let peer: BluetoothAddress
        /// The service that the button is believed to have.
        let expected: FlicService
        var phase = Phase.exchangingMTU
        var attMTU = 23
        var attributes: FlicAttributes?
        /// The service to discover if the expected service is missing; `nil` after that attempt.
        var otherService: FlicService?
    }

    private var host: LEHost
    /// A controller has room for few links, so a search reads them in turn.
    private var links: [HCILink] = []
    private var lastLink: LinkID
    private var expected: [ExpectedButton] = []
    /// The buttons that were expected and that another radio looks for now, with their services.
    private var moved: [BluetoothAddress: FlicService] = [:]
    /// The attribute handles of buttons on earlier links.
    private var attributes: [BluetoothAddress: FlicAttributes] = [:]
    private var effects: [RadioEffect] = []

    /// - Parameter maximumLinks: `nil`: as many as the controller supports.
    package init(_ id: RadioID = .first, maximumLinks: Int? = nil, resetTimeout: Duration = .seconds(2)) {
        lastLink = LinkID(id, 0)
        host = LEHost(.init(maximumLinks: maximumLinks, resetTimeout: resetTimeout))
    }

    package mutating func handle(_ input: RadioInput, at now: Instant) -> [RadioEffect] {
        switch input {
        case .transportOpened: advance(.transportOpened, at: now)
        case .received(let packet): advance(.received(packet), at: now)
        case .closed: advance(.transportClosed, at: now)
        case .timerFired: advance(.timerFired, at: now)
        case .perform(let command): perform(command, at: now)
        case .busOpened, .bus: break
        }
        defer { effects = [] }
        return effects
    }

    /// True while the controller holds back packets to the button of a link.
    package func holdsBackData(for id: LinkID) -> Bool {
        links.first { $0.id == id }.map { host.holdsBackData(for: $0.handle) } ?? false
    }

    /// The notification that `handle` will report for an HCI packet, without changing the radio; `nil` if only `handle`
    /// knows it.
    package mutating func preview(_ packet: [UInt8]) -> (link: LinkID, value: ArraySlice<UInt8>)? {
        guard let notification = host.preview(packet), let place = place(of: notification.handle) else { return nil }
        // A span gives access to the properties of the link without a copy of all of it.
        let links = links.span
        guard links[place].phase == .attached, links[place].attributes?.notify == notification.attribute else {
            return nil
        }
        return (links[place].id, notification.value)
    }

    private func place(of handle: ConnectionHandle) -> Int? { links.firstIndex { $0.handle == handle } }

    private mutating func perform(_ command: RadioCommand, at now: Instant) {
        switch command {
        case .listen(.off): advance(.perform(.stopScanning), at: now)
        case .listen(.background): advance(.perform(.startBackgroundScanning), at: now)
        case .listen(.active): advance(.perform(.startScanning(active: true)), at: now)
        case .expect(let buttons, _, let elsewhere):
            let elsewhere = Set(elsewhere)
            for button in expected where elsewhere.contains(button.address) { moved[button.address] = button.service }
            moved = moved.filter { elsewhere.contains($0.key) }
            expected = buttons
            advance(.perform(.setAcceptList(buttons.map(\.address))), at: now)
        case .write(let id, let value):
            guard let link = links.first(where: { $0.id == id }), let attributes = link.attributes else { break }
            advance(.perform(.write(link.handle, attributes.write, value)), at: now)
        case .disconnect(let id):
            guard let place = links.firstIndex(where: { $0.id == id }) else { break }
            links[place].phase = .ending
            advance(.perform(.disconnect(links[place].handle, reason: .remoteUserTerminated)), at: now)
        case .measureSignal(let id):
            guard let link = links.first(where: { $0.id == id }) else { break }
            advance(.perform(.readRSSI(link.handle)), at: now)
        case .keepDiscovery(let id):
            guard let link = links.first(where: { $0.id == id }) else { break }
            attributes[link.peer] = link.attributes
        case .discardDiscovery(let address), .forget(let address, _):
            attributes[address] = nil
        // The controller connects by itself, and the host grants the parameters that the button requests.
        case .update, .attempt, .pin, .restoreHome, .goodbye: break
        }
    }

    /// Passes an input to the host and carries out its effects. An event may lead to further inputs, which wait until all
    /// earlier effects are carried out, so that packets stay in order.
    private mutating func advance(_ input: LEHost.Input, at now: Instant) {
        var next: [LEHost.Command] = []
        carryOut(host.handle(input, at: now), &next)
        var place = 0
        while place < next.count {
            carryOut(host.handle(.perform(next[place]), at: now), &next)
            place += 1
        }
    }

    private mutating func carryOut(_ answers: [LEHost.Effect], _ next: inout [LEHost.Command]) {
        for answer in answers {
            switch answer {
            case .send(let packet): effects.append(.send(packet))
            case .setTimer(let deadline): effects.append(.setTimer(deadline))
            case .cancelTimer: effects.append(.cancelTimer)
            case .event(let event): happened(event, &next)
            }
        }
    }

    private mutating func happened(_ event: LEHost.Event, _ next: inout [LEHost.Command]) {
        switch event {
        case .ready(let info):
            report(.ready(RadioInfo(address: info.address, acceptListSize: info.acceptListSize)))
        case .failed(let failure):
            report(.failed(failure.advice, failure == .notLowEnergy ? .unsupported : .failed))
        case .advertised(let advertisement):
            report(.heard(HeardAdvertisement(advertisement)))
        case .connected(let connection):
            connected(connection, &next)
        case .connectionFailed(let status):
            report(.anomaly("the controller could not connect: status \(status)"))
        case .disconnected(let connection, let reason):
            guard let place = place(of: connection.handle) else { break }
            report(.disconnected(links.remove(at: place).id, DisconnectReason(reason)))
        case .rssiRead(let handle, let rssi):
            if let place = place(of: handle) { report(.signal(links[place].id, rssi)) }
        case .mtuExchanged(let handle, let attMTU):
            mtuExchanged(handle, attMTU: Int(attMTU), &next)
        case .serviceDiscovered(let handle, let service):
            serviceDiscovered(handle, service, &next)
        case .notificationsSet(let handle, _, _):
            if let place = place(of: handle), links[place].phase == .subscribing { attached(place) }
        case .procedureFailed(let handle, _, let failure):
            procedureFailed(handle, failure, &next)
        case .notified(let handle, let attribute, let value):
            guard let place = place(of: handle), links[place].attributes?.notify == attribute else { break }
            report(.notified(links[place].id, value))
        case .anomaly(let text):
            report(.anomaly(text))
        case .acceptListShared(let peers):
            report(.takingTurns(peers))
        case .linkLimitReached(let count):
            report(.linkLimitReached(count))
        case .connectionUpdateFailed(let handle, let status):
            report(.anomaly("the connection parameters of link \(handle.rawValue) were not changed: status \(status)"))
        case .scanningFailed(let status):
            report(.anomaly("the controller refused to scan: status \(status)"))
        case .servicesChanged(let handle, _):
            if let place = place(of: handle) { attributes[links[place].peer] = nil }
        case .parametersUpdated, .advertisingStarted, .advertisingFailed, .written, .subscribed,
            .servicesDiscovered, .descriptorsDiscovered, .read, .writeCompleted, .indicationsSet, .indicated,
            .subscribedToIndications, .indicationConfirmed, .indicationFailed, .channelOpened,
            .channelOpenFailed, .channelClosed, .sduReceived, .sduRefused, .channelWritable:
            break
        }
    }

    private mutating func report(_ event: RadioEvent) { effects.append(.event(event)) }

    // MARK: The phases of a link

    private mutating func connected(_ connection: LEConnection, _ next: inout [LEHost.Command]) {
        let service = expected.first { $0.address == connection.peer }?.service ?? moved[connection.peer]
        guard let service else {
            return next.append(.disconnect(connection.handle, reason: .remoteUserTerminated))
        }
        lastLink.rawValue += 1
        links.append(
            HCILink(id: lastLink, handle: connection.handle, peer: connection.peer, expected: service))
        report(.connected(lastLink, connection.peer))
        next.append(.exchangeMTU(connection.handle))
    }

    private mutating func mtuExchanged(_ handle: ConnectionHandle, attMTU: Int, _ next: inout [LEHost.Command]) {
        guard let place = place(of: handle), links[place].phase == .exchangingMTU else { return }
        links[place].attMTU = attMTU
        if let attributes = attributes[links[place].peer] {
            subscribe(place, to: attributes, &next)
        } else {
            discover(place, &next)
        }
    }

    private mutating func discover(_ place: Int, _ next: inout [LEHost.Command]) {
        let expected = links[place].expected
        links[place].otherService = expected.other
        discover(place, expected, &next)
    }

    private mutating func discover(_ place: Int, _ service: FlicService, _ next: inout [LEHost.Command]) {
        links[place].phase = .discovering
        next.append(.discoverService(links[place].handle, service.uuid))
    }

    private mutating func serviceDiscovered(
        _ handle: ConnectionHandle, _ service: RemoteService, _ next: inout [LEHost.Command]
    ) {
        guard let place = place(of: handle), links[place].phase == .discovering else { return }
        guard let attributes = FlicAttributes(service) else {
            return procedureFailed(handle, .serviceNotFound, &next)
        }
        subscribe(place, to: attributes, &next)
    }

    private mutating func subscribe(
        _ place: Int, to attributes: FlicAttributes, _ next: inout [LEHost.Command]
    ) {
        links[place].attributes = attributes
        links[place].phase = .subscribing
        guard let configuration = attributes.configuration else { return attached(place) }
        next.append(.setNotifications(links[place].handle, configuration: configuration, enabled: true))
    }

    private mutating func attached(_ place: Int) {
        guard let attributes = links[place].attributes else { return }
        links[place].phase = .attached
        report(.attached(links[place].id, attributes.service, attMTU: links[place].attMTU))
    }

    private mutating func procedureFailed(
        _ handle: ConnectionHandle, _ failure: ATTFailure, _ next: inout [LEHost.Command]
    ) {
        guard let place = place(of: handle), links[place].phase != .ending, failure != .linkLost else { return }
        let (peer, phase) = (links[place].peer, links[place].phase)
        report(.anomaly("\(peer): \(failure) while \(phase)"))
        if phase == .subscribing, attributes.removeValue(forKey: peer) != nil, failure != .transactionTimedOut {
            // The attributes from an earlier link are outdated.
            return discover(place, &next)
        }
        if phase == .discovering, failure == .serviceNotFound, let other = links[place].otherService {
            links[place].otherService = nil
            return discover(place, other, &next)
        }
        links[place].phase = .ending
        report(.attachFailed(links[place].id))
    }
}

extension DisconnectReason {
    init(_ status: HCIStatus) {
        switch status {
        case .connectionTimeout: self = .connectionTimeout
        case .remoteUserTerminated: self = .remoteUserTerminated
        case .localHostTerminated: self = .localHostTerminated
        case .failedToBeEstablished: self = .failedToBeEstablished
        default: self = .other(status.rawValue)
        }
    }
}

extension HeardAdvertisement {
    init(_ report: AdvertisingReport) {
        let structures = ADStructure.parse(report.data)
        let services = structures.serviceUUIDs
        self.init(
            kind: report.kind == .connectable ? .connectable : report.kind == .scanResponse ? .scanResponse : .other,
            address: report.address, rssi: report.rssi,
            service: FlicService.allCases.first { services.contains($0.uuid) },
            name: structures.localName ?? "", isConnectedElsewhere: structures.saysConnectedElsewhere)
    }

    /// True if the manufacturer data of a Flic button say that it is connected to another device: bit 1 of the octet
    /// after the product type and three octets of the address.
    static func saysConnectedElsewhere(_ data: [UInt8]) -> Bool {
        data.dropFirst(4).first.map { $0 & 0b10 != 0 } ?? false
    }
}

extension [ADStructure] {
    fileprivate var saysConnectedElsewhere: Bool {
        guard let content = manufacturerData, content.company == 0x030F else { return false }
        return HeardAdvertisement.saysConnectedElsewhere(content.data)
    }
}

#if DEBUG
    extension HCIRadio {
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        package func problems() -> [String] {
            var problems: [String] = []
            func expect(_ holds: Bool, _ problem: @autoclosure () -> String) {
                if !holds { problems.append("radio: " + problem()) }
            }
            expect(effects.isEmpty, "an effect was not returned")
            expect(Set(links.map(\.id)).count == links.count, "two links have the same number")
            expect(Set(links.map(\.handle)).count == links.count, "two links have the same connection handle")
            for link in links {
                expect(link.id <= lastLink, "link \(link.id.rawValue) has a number that will be used again")
                switch link.phase {
                case .subscribing, .attached:
                    expect(link.attributes != nil, "\(link.peer): no attributes in phase \(link.phase)")
                case .exchangingMTU, .discovering, .ending: break
                }
            }
            return problems
        }

        /// The links that were reported as connected and not yet as disconnected.
        package var reportedLinks: Set<LinkID> { Set(links.map(\.id)) }
    }
#endif
