import BluetoothHost
import ButtonModel

/// Finds a thermometer, reads it once and disconnects.
struct ThermometerReader {
    private var host = LEHost()
    private(set) var temperature: [UInt8]?

    mutating func handle(_ input: LEHost.Input, at now: Instant) -> [LEHost.Effect] {
        var effects: [LEHost.Effect] = []
        var inputs = [input]
        while !inputs.isEmpty {
            for effect in host.handle(inputs.removeFirst(), at: now) {
                guard case .event(let event) = effect else {
                    effects.append(effect)
                    continue
                }
                // A command in response to an event waits until all effects of the current input are handled.
                inputs += commands(after: event).map { .perform($0) }
            }
        }
        return effects
    }

    private mutating func commands(after event: LEHost.Event) -> [LEHost.Command] {
        switch event {
        case .ready:
            return [.startScanning(active: false)]
        case .advertised(let report) where ADStructure.parse(report.data).serviceUUIDs.contains(.short(0x1809)):
            return [.stopScanning, .setAcceptList([report.address])]
        case .connected(let connection):
            return [.exchangeMTU(connection.handle), .discoverService(connection.handle, .short(0x1809))]
        case .serviceDiscovered(let link, let service):
            let measurement = service.characteristics.first { $0.uuid == .short(0x2A1C) }
            return measurement.map { [.read(link, $0.valueHandle)] } ?? []
        case .read(let link, _, let value):
            temperature = value
            return [.setAcceptList([]), .disconnect(link, reason: .remoteUserTerminated)]
        default:
            return []
        }
    }
}

/// Serves a temperature as a readable characteristic.
struct Thermometer {
    private var host = LEHost()
    private(set) var temperature: [UInt8]

    init(_ temperature: [UInt8]) { self.temperature = temperature }

    mutating func handle(_ input: LEHost.Input, at now: Instant) -> [LEHost.Effect] {
        var effects = host.handle(input, at: now)
        if effects.contains(where: { if case .event(.ready) = $0 { true } else { false } }) {
            effects += host.handle(.perform(.setServices([service])), at: now)
            effects += host.handle(.perform(.startAdvertising(advertisement)), at: now)
        }
        return effects
    }

    private var service: LocalService {
        LocalService(
            uuid: .short(0x1809),
            // 0x02: readable.
            characteristics: [.init(uuid: .short(0x2A1C), properties: 0x02, value: temperature)])
    }

    private var advertisement: Advertisement {
        let data = [ADStructure.flags(0x06), .completeServiceUUIDs([.short(0x1809)])]
        return Advertisement(
            data: data.encoded, scanResponse: [ADStructure.completeLocalName("cellar")].encoded, interval: 160)
    }
}
