import ButtonModel
import ESPHome
import Radios

/// A fleet of two radios behind proxies, which expects the button of the hall. The test decides what the proxies say.
struct TwoProxies {
    private var fleet = RadioFleet([.esphome(key: nil), .esphome(key: nil)])
    private var proxies = (0..<2).map { _ in
        ESPHomeConnection(role: .proxy(name: "proxy", mac: "0635695e0001"), key: nil)
    }
    private var now = Instant(sinceBoot: .seconds(1000))
    private var timer: Instant?
    /// What the fleet has reported of links.
    private(set) var events: [RadioEvent] = []
    /// The number of times that each proxy was asked to connect.
    private(set) var requests = [0, 0]
    /// What the proxies were told, in order.
    private(set) var told: [ESPHomeMessage] = []

    init() {
        for place in 0..<2 {
            _ = proxies[place].handle(.opened(entropy: []))
            feed(.transportOpened(entropy: []), place)
            say(.helloResponse(HelloResponse(major: 1, minor: 10, serverInfo: "", name: "")), place)
            say(.deviceInfo(ProxyTalk.device), place)
            say(.connectionsFree(free: 3, limit: 3, allocated: []), place)
            say(.scannerState(.running, mode: .passive, configuredMode: .passive), place)
        }
        feed(.perform(.expect([ExpectedButton(ProxyTalk.hall, .flic2)], unwanted: [])), 0)
    }

    var problems: [String] { fleet.problems() }

    /// The number of times that a proxy was told to end a link.
    var endedByUs: Int {
        told.count { if case .deviceRequest(_, .disconnect, _) = $0 { true } else { false } }
    }

    mutating func hear(_ place: Int, rssi: Int32) {
        say(.rawAdvertisements([RawAdvertisement(address: ProxyTalk.address, rssi: rssi, data: [2, 1, 6])]), place)
    }

    /// The proxy hears an advertisement and asks for a sign of life, in one packet.
    mutating func hearAndPing(_ place: Int) {
        say(
            [
                .rawAdvertisements([RawAdvertisement(address: ProxyTalk.address, rssi: -60, data: [2, 1, 6])]),
                .pingRequest,
            ], place)
    }

    /// Both proxies say something, so that neither is given up as silent.
    mutating func keepAlive() { for place in 0..<2 { say(.pingResponse, place) } }

    mutating func connect(_ place: Int) {
        say(.deviceConnection(address: ProxyTalk.address, isConnected: true, mtu: 131, error: 0), place)
    }

    /// The proxy connects, finds the services and enables the notifications.
    mutating func attach(_ place: Int) {
        connect(place)
        findService(place)
    }

    /// The proxy finds the services, and cannot enable the notifications.
    mutating func fail(_ place: Int, error: Int32) {
        say(.services(address: ProxyTalk.address, ProxyTalk.services), place)
        say(.servicesDone(address: ProxyTalk.address), place)
        say(.gattError(address: ProxyTalk.address, handle: 15, error: error), place)
    }

    mutating func findService(_ place: Int) {
        say(.services(address: ProxyTalk.address, ProxyTalk.services), place)
        say(.servicesDone(address: ProxyTalk.address), place)
        say(.writeResponse(address: ProxyTalk.address, handle: 15), place)
    }

    mutating func disconnect(_ place: Int) {
        say(.deviceConnection(address: ProxyTalk.address, isConnected: false, mtu: 0, error: 8), place)
    }

    /// How long ago the proxy was told to connect; `nil` if it was not, or if this was asked before.
    mutating func takeAttempt(_ place: Int) -> Duration? {
        fleet.takeAttempt(at: ProxyTalk.hall, by: RadioID(rawValue: UInt8(place))).map { now - $0 }
    }

    mutating func close(_ place: Int) { feed(.closed, place) }

    mutating func perform(_ command: RadioCommand) { feed(.perform(command), 0) }

    mutating func wait(_ duration: Duration) {
        let end = now + duration
        while let deadline = timer, deadline <= end {
            now = max(now, deadline)
            timer = nil
            feed(.timerFired, 0)
        }
        now = end
    }

    private mutating func say(_ message: ESPHomeMessage, _ place: Int) { say([message], place) }

    private mutating func say(_ messages: [ESPHomeMessage], _ place: Int) {
        for case .send(let octets) in proxies[place].handle(.send(messages)) { feed(.received(octets), place) }
    }

    private mutating func feed(_ input: RadioInput, _ place: Int) {
        for output in fleet.handle(input, of: RadioID(rawValue: UInt8(place)), at: now) {
            switch output.effect {
            case .setTimer(let deadline): timer = deadline
            case .cancelTimer: timer = nil
            case .send(let octets):
                for case .message(let message) in proxies[Int(output.radio.rawValue)].handle(.received(octets)) {
                    told.append(message)
                    guard case .deviceRequest(_, let kind, _) = message else { continue }
                    if kind == .connectWithCache || kind == .connectWithoutCache {
                        requests[Int(output.radio.rawValue)] += 1
                    }
                }
            case .event(.connected), .event(.attachFailed), .event(.disconnected):
                if case .event(let event) = output.effect { events.append(event) }
            case .event, .bus: break
            }
        }
    }
}
