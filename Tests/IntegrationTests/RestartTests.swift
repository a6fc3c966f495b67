import Foundation
import Testing

/// `bridge/request/restart` restarts the program in the same process.
@Suite("A restart on request", .serialized, .ownThread)
struct RestartTests {
    private static let rules = """
        version: 1
        buttons:
          \(RuleHouse.kitchen)
        rules:
          - id: press
            triggers: [{button: kitchen, event: click}]
            actions:
              - shell: 'echo "a program ran"'
              - publish: {topic: pressed, payload: "yes"}
        """

    @Test("a restart keeps the process, leaks no descriptor, publishes offline and online, and loses no state")
    func anew() throws {
        let tools = try Workshop()
        let shim = try tools.shim("dumpable_shim")
        let house = try RuleHouse(Self.rules, hasButton: true, environment: ["LD_PRELOAD": shim])
        let process = house.daemon.processIdentifier
        let messages = try #require(house.messages)
        try messages.line(containing: "tryck/bridge/state online")
        try house.press()
        try messages.line(containing: "pressed yes")
        var states = [try state(of: process)]
        for _ in 0..<3 {
            try house.executeAnew()
            try messages.line(containing: "tryck/bridge/state offline")
            try messages.line(containing: "tryck/bridge/state online")
            try house.press()
            try messages.line(containing: "pressed yes")
            states.append(try state(of: process))
        }
        // The simulated button needs `tryck daemon`, which has replaced `tryckd` in its process.
        #expect(states.map(\.name) == Array(repeating: "tryck", count: 4))
        #expect(states.map(\.children) == Array(repeating: states[0].children, count: 4))
        // Descriptors that the starting process left open are closed at the first restart.
        #expect(states[1].open.count <= states[0].open.count)
        #expect(states[2].open == states[1].open)
        #expect(states[3].open == states[1].open)
        house.daemon.signal(SIGTERM)
        #expect(try house.daemon.status() == 0)
    }

    @Test("a signal during a restart ends the daemon")
    func ended() throws {
        let house = try RuleHouse(Self.rules, hasButton: true)
        try house.ask("restart")
        house.daemon.signal(SIGTERM)
        #expect(try house.daemon.status() == 0)
    }

    private struct ProcessState: Equatable {
        var name: String
        /// The targets of the process's descriptors, without the numbers of sockets and pipes.
        var open: [String]
        var children: String
    }

    private func state(of process: Int32) throws -> ProcessState {
        let files = FileManager.default
        let place = "/proc/\(process)"
        let open = try files.contentsOfDirectory(atPath: place + "/fd").compactMap { descriptor in
            (try? files.destinationOfSymbolicLink(atPath: "\(place)/fd/\(descriptor)"))?.replacing(/:\[\d+\]/, with: "")
        }
        return ProcessState(
            name: try String(contentsOfFile: place + "/comm", encoding: .utf8).trimmingCharacters(in: .newlines),
            open: open.sorted(),
            children: try String(contentsOfFile: "\(place)/task/\(process)/children", encoding: .utf8))
    }
}
