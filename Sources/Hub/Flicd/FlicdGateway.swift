import ButtonModel
import FlicdProtocol
import JSON

/// Everything that speaks flicd's protocol: the server for flicd's clients, and the flicds from which buttons come.
///
/// The hub asks for one turn after another, and carries out the effects of a turn before it asks for the next. The names and
/// states that flicd's protocol uses are derived in `FlicdServer+Hub.swift` and `FlicdWizardStep+Names.swift`.
struct FlicdGateway: Sendable {
    /// The delays between attempts to listen.
    static let listenDelays = Duration.seconds(1)...Duration.seconds(60)

    /// The server for flicd's clients.
    private struct Service: Sendable {
        /// The address in the configuration.
        let configuredAddress: String
        var server: FlicdServer
        /// The address on which the edge listens; `nil` while it does not.
        var address: String?
        /// Why the edge does not listen; a sentence for users.
        var fault: String?
        var backOff = BackOff(FlicdGateway.listenDelays)
    }

    /// `nil`: flicd's clients are not served.
    private var service: Service?
    /// Inputs of the server, and the number of those that are handled. What the effects of one input lead to waits its turn.
    private var inputs: [FlicdServer.Input] = []
    private var handledCount = 0

    /// The flicds from which buttons come, in the order of the configuration.
    private(set) var upstreams: [FlicdUpstream] { didSet { hasChanged = true } }
    private var upstreamDeadlines = Deadlines<Int>()
    /// True if something that the metrics show may have changed since `takeHasChanged`.
    private var hasChanged = false

    init(_ configuration: HubConfiguration) {
        service = configuration.flicdListen.map {
            Service(configuredAddress: $0, server: FlicdServer(maximumLinks: configuration.maximumConnections))
        }
        upstreams = configuration.sources.map { FlicdUpstream(name: $0) }
    }

    /// True if something that the metrics show may have changed since the last call.
    mutating func takeHasChanged() -> Bool {
        defer { hasChanged = false }
        return hasChanged
    }

    // MARK: The server

    var isServing: Bool { service != nil }
    /// True if the edge listens for clients; `nil` if they are not served.
    var isListening: Bool? { service.map { $0.address != nil } }
    var serverFault: String? { service?.fault }
    var server: FlicdServer? { service?.server }

    /// Adds an input of the server.
    ///
    /// - Returns: whether `takeTurn` has to be called until it returns `nil`, because no other turn is being carried out.
    mutating func add(_ input: FlicdServer.Input) -> Bool {
        guard service != nil else { return false }
        inputs.append(input)
        return inputs.count == 1
    }

    /// Handles the next input of the server.
    ///
    /// - Returns: what to carry out before the next call; `nil` if no input waits.
    mutating func takeTurn(at now: Instant) -> [FlicdServer.Effect]? {
        guard handledCount < inputs.count else {
            inputs.removeAll(keepingCapacity: true)
            handledCount = 0
            return nil
        }
        defer { handledCount += 1 }
        return service?.server.handle(inputs[handledCount], at: now) ?? []
    }

    /// The edge has reported something about the listening socket or a client's connection.
    mutating func wasReported() { hasChanged = true }

    /// The edge listens.
    mutating func listens(at address: String) {
        service?.address = address
        service?.fault = nil
        service?.backOff.reset()
    }

    /// The edge cannot listen.
    ///
    /// - Parameter reason: a sentence for users.
    /// - Returns: when to try again, and whether the reason is another than before; `nil` if clients are not served.
    mutating func listeningFailed(_ reason: String) -> (delay: Duration, isNew: Bool)? {
        guard let delay = service?.backOff.next() else { return nil }
        defer {
            service?.address = nil
            service?.fault = reason
        }
        return (delay, service?.fault != reason)
    }

    /// The part `flicd` of `status`. Without an address if clients are not served.
    var status: JSONValue {
        [
            "address": service.map { .string($0.configuredAddress) } ?? .null,
            "listening": .bool(service?.address != nil), "fault": service?.fault.map { .string($0) } ?? .null,
            "clients": .integer(Int64(service?.server.clientCount ?? 0)),
            "channels": .integer(Int64(service?.server.channelCount ?? 0)),
        ]
    }

    // MARK: Upstreams

    /// Hands an input to a flicd from which buttons come.
    mutating func handle(_ input: FlicdSource.Input, of index: Int, at now: Instant) -> [FlicdSource.Effect] {
        upstreams[index].handle(input, at: now)
    }

    func index(of name: String?) -> Int? { upstreams.firstIndex { $0.name == name } }

    /// True if buttons with this source come from one of the flicds.
    func has(_ name: String) -> Bool { upstreams.contains { $0.name == name } }

    mutating func setTimer(of index: Int, at deadline: Instant?) { upstreamDeadlines.set(index, at: deadline) }

    mutating func takeDue(at now: Instant) -> [Int] { upstreamDeadlines.takeDue(at: now) }

    /// The change of the timer of all flicds together; `nil` if there is none.
    mutating func rearm() -> Deadlines<Int>.Change? { upstreamDeadlines.rearm() }

    /// The state of a flicd's controller has changed.
    ///
    /// - Parameter state: `nil`: there is no connection.
    /// - Returns: whether it is to be logged, because the flicd works and did not before, or the reverse.
    mutating func controllerChanged(of index: Int, _ state: FlicdControllerState?) -> Bool {
        upstreams[index].controllerChanged(to: state)
    }

    /// The connection to a flicd could not be made, or has ended.
    ///
    /// - Parameter reason: a sentence for users.
    /// - Returns: whether the reason is another than before.
    mutating func lost(_ index: Int, _ reason: String) -> Bool {
        upstreams[index].lost(reason)
    }

    /// Leaves a button of a flicd alone, because it belongs to the own adapter or to another flicd, or is one too many.
    ///
    /// - Returns: whether it was not left alone before.
    mutating func leaveAlone(_ button: ButtonID, of index: Int) -> Bool {
        upstreams[index].leaveAlone(button)
    }

    var isAnyConnected: Bool { upstreams.contains(where: \.isConnected) }
    var isSearching: Bool { upstreams.contains(where: \.isSearching) }
    /// Why flicds are not connected, in the order of the configuration; sentences for users.
    var upstreamFaults: [String] { upstreams.compactMap(\.fault) }

    // MARK: Consistency

    #if DEBUG
        /// The invariants that the state violates between two inputs; empty unless this type has a bug.
        func problems() -> [String] {
            var problems: [String] = []
            if !inputs.isEmpty { problems.append("inputs for the server of flicd's clients are left") }
            for upstream in upstreams where upstream.controller != nil && !upstream.isConnected {
                problems.append("\(upstream.name) has an adapter without a connection")
            }
            if let service, service.address != nil, service.fault != nil {
                problems.append("clients of flicd are served in spite of a fault")
            }
            return problems + upstreamDeadlines.problems()
        }
    #endif
}
