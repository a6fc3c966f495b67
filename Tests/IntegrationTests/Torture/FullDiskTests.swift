import Foundation
import JSON
import Testing

/// tryckd with its state directory on a small file system in memory that is really full.
@Suite("A real full disk", .serialized, .ownThread)
struct FullDiskTests {
    /// A file system in a mount namespace of its own, which ends with the process.
    private struct Disk {
        let workshop: Workshop
        private let holder: Program

        init(_ workshop: Workshop, size: String) throws {
            self.workshop = workshop
            try FileManager.default.createDirectory(atPath: workshop.path("disk"), withIntermediateDirectories: true)
            let script = "mount -t tmpfs -o size=\(size),mode=700 disk \"$0\" && echo mounted && exec sleep 3600"
            // An ordinary user is root in a user namespace of their own.
            holder = try workshop.start(
                "/usr/bin/unshare",
                ["--user", "--map-root-user", "--mount", "/bin/sh", "-c", script, workshop.path("disk")])
            try holder.line(containing: "mounted")
        }

        func run(_ arguments: [String]) throws -> Program {
            try workshop.start(
                "/usr/bin/nsenter",
                ["--target", "\(holder.processIdentifier)", "--user", "--mount", "--preserve-credentials"] + arguments)
        }

        func daemon() throws -> Program {
            let daemon = try run([
                Workshop.built("tryckd"), "--config", workshop.path("tryck.yaml"), "--state-directory",
                workshop.path("disk/state"), "--control-socket", workshop.controlSocket,
            ])
            try daemon.line(containing: "commands reach it at")
            return daemon
        }

        func fill() throws {
            let fill = try run(["/bin/sh", "-c", "cat /dev/zero >\"$0\"", workshop.path("disk/fill")])
            #expect(try fill.status() != 0)
        }

        func makeRoom() throws { #expect(try run(["/bin/rm", workshop.path("disk/fill")]).status() == 0) }

        func remount(_ mode: String) throws {
            let mount = try run(["/bin/mount", "-o", "remount,\(mode)", workshop.path("disk")])
            #expect(try mount.status() == 0, "\(mount.text)")
        }
    }

    /// - Parameter isRingMapped: whether the record ring is on a tmpfs.
    private static func house(isRingMapped: Bool, size: String = "2m") throws -> (workshop: Workshop, disk: Disk) {
        let workshop = try Workshop()
        if isRingMapped { try workshop.putControlSocketInMemory() }
        try workshop.write("simulator.yaml", "buttons:\n  kitchen: {public: true}\n")
        try workshop.write(
            "rules.yaml",
            """
            version: 1
            variables: {count: 0}
            rules:
              - id: count
                triggers: {button: any, event: click}
                actions: [{set: {count: "{{ variables.count + 1 }}"}}, {log: "pressed {{ variables.count }}"}]

            """)
        try workshop.write(
            "tryck.yaml",
            """
            bluetooth: {transport: "simulated:simulator.yaml"}
            mqtt: {broker: none}
            rules: rules.yaml

            """)
        return (workshop, try Disk(workshop, size: size))
    }

    private static func press(_ workshop: Workshop, _ daemon: Program, expecting count: Int) throws {
        let request = #"{"request":"simulator/press","data":{"button":"kitchen","press":"click"}}"#
        let client = try workshop.start("/usr/bin/python3", ["-c", RuleHouse.client, workshop.controlSocket])
        client.write(request)
        try client.line(containing: #""status":"ok""#)
        client.stop()
        try daemon.line(containing: "pressed \(count)")
    }

    private static func kill(_ daemon: Program) throws {
        daemon.signal(SIGKILL)
        _ = try daemon.status()
    }

    @Test(
        "presses on a full disk are handled, survive kill -9, and are in the database when there is room",
        arguments: [true, false])
    func full(isRingMapped: Bool) throws {
        let (workshop, disk) = try Self.house(isRingMapped: isRingMapped)
        var daemon = try disk.daemon()
        if isRingMapped { #expect(!daemon.text.contains("is not on a tmpfs")) }
        #expect(try workshop.tryck(["pair", "--time", "60"]).status() == 0)
        try Self.press(workshop, daemon, expecting: 1)
        try disk.fill()
        // Fills the disk until SQLite has used the space inside its files, and beyond.
        for count in 2...30 { try Self.press(workshop, daemon, expecting: count) }
        try workshop.wait { try workshop.tryck(["status", "--json"]).failing("no space left") }
        try Self.kill(daemon)
        // The button is simulated by the daemon and loses its state with it, so only the daemon's stored state counts.
        daemon = try disk.daemon()
        #expect(try workshop.tryck(["status", "--json"]).failing("no space left"))
        #expect(try Self.count(workshop) == 30)
        try Self.kill(daemon)
        try disk.makeRoom()
        daemon = try disk.daemon()
        #expect(try Self.count(workshop) == 30)
        #expect(try workshop.tryck(["status"]).status() == 0)
        daemon.stop()
    }

    @Test("a daemon that starts on a read-only disk runs, and recovers without a restart")
    func readOnly() throws {
        let (workshop, disk) = try Self.house(isRingMapped: true)
        var daemon = try disk.daemon()
        #expect(try workshop.tryck(["pair", "--time", "60"]).status() == 0)
        try Self.press(workshop, daemon, expecting: 1)
        try Self.kill(daemon)
        // A copy that was restored has no lock file.
        #expect(try disk.run(["/bin/rm", workshop.path("disk/state/tryck.lock")]).status() == 0)
        try disk.remount("ro")
        daemon = try disk.daemon()
        #expect(try workshop.tryck(["status", "--json"]).failing("cannot be written"))
        #expect(try Self.count(workshop) == 1)
        try disk.remount("rw")
        try daemon.line(containing: "what could not be recorded is on the disk now")
        #expect(try workshop.tryck(["status"]).status() == 0)
        daemon.stop()
    }

    @Test(
        "a daemon whose first start finds a read-only or full disk runs, and pairs when the disk can be written",
        arguments: [true, false])
    func firstStart(isReadOnly: Bool) throws {
        let (workshop, disk) = try Self.house(isRingMapped: true)
        #expect(try disk.run(["/bin/mkdir", "--mode=700", workshop.path("disk/state")]).status() == 0)
        try isReadOnly ? disk.remount("ro") : disk.fill()
        let daemon = try disk.daemon()
        let fault = isReadOnly ? "cannot be written" : "no space left"
        #expect(try workshop.tryck(["status", "--json"]).failing(fault))
        // A button whose key is on no disk would be lost to its owner with the next restart.
        let refused = try workshop.tryck(["pair", "--time", "60"])
        #expect(try refused.status() == 69, "\(refused.text)")
        #expect(refused.text.contains(fault), "\(refused.text)")
        try isReadOnly ? disk.remount("rw") : disk.makeRoom()
        try workshop.wait { try workshop.tryck(["status"]).status() == 0 }
        #expect(try workshop.tryck(["pair", "--time", "60"]).status() == 0)
        try Self.press(workshop, daemon, expecting: 1)
        try Self.kill(daemon)
        let again = try disk.daemon()
        #expect(try Self.count(workshop) == 1)
        again.stop()
    }

    @Test(
        "a daemon runs if the control socket has a read-only or full file system, and creates it when that can be written",
        arguments: [true, false])
    func controlSocket(isReadOnly: Bool) throws {
        let (workshop, disk) = try Self.house(isRingMapped: true)
        // A full file system is one with no file left to create.
        let change = isReadOnly ? "ro" : "nr_inodes=1"
        try disk.remount(change)
        let daemon = try disk.run([
            Workshop.built("tryckd"), "--config", workshop.path("tryck.yaml"), "--state-directory",
            workshop.path("state"), "--control-socket", workshop.path("disk/control.sock"),
        ])
        try daemon.line(containing: "is running without it")
        #expect(daemon.text.contains(isReadOnly ? "Read-only file system" : "No space left on device"))
        try disk.remount(isReadOnly ? "rw" : "nr_inodes=0")
        try daemon.line(containing: "commands reach tryckd at")
        daemon.stop()
    }

    @Test("a state directory that is mounted after the start is not written, and status says to restart")
    func mountedLate() throws {
        let (workshop, disk) = try Self.house(isRingMapped: true)
        var daemon = try disk.daemon()
        #expect(try workshop.tryck(["pair", "--time", "60"]).status() == 0)
        try Self.press(workshop, daemon, expecting: 1)
        daemon.stop()
        // Until the disk is mounted, its place is an empty directory on another one.
        let place = workshop.path("disk")
        #expect(try disk.run(["/bin/mount", "-t", "tmpfs", "-o", "mode=700", "empty", place]).status() == 0)
        #expect(try disk.run(["/bin/mkdir", "--mode=700", workshop.path("disk/state")]).status() == 0)
        try disk.remount("ro")
        daemon = try disk.daemon()
        #expect(try workshop.tryck(["status", "--json"]).failing("cannot be written"))
        #expect(try disk.run(["/bin/umount", "--lazy", place]).status() == 0)
        try workshop.wait { try workshop.tryck(["status", "--json"]).failing("or restart Tryck to use it") }
        try Self.kill(daemon)
        daemon = try disk.daemon()
        #expect(try workshop.tryck(["status"]).status() == 0)
        #expect(try Self.count(workshop) == 1)
        daemon.stop()
    }

    @Test("on a full disk the history ends and no press does; status says so, and after kill -9 the history goes on")
    func history() throws {
        // The history leaves a mebibyte to others, and needs a disk with more.
        let (workshop, disk) = try Self.house(isRingMapped: true, size: "16m")
        var daemon = try disk.daemon()
        #expect(try workshop.tryck(["pair", "--time", "60"]).status() == 0)
        try Self.press(workshop, daemon, expecting: 1)
        try workshop.wait { try Self.history(workshop, disk).contains { $0["event"] == "click" } }
        #expect(try Self.historyWarnings(workshop) == [])
        try disk.fill()
        for count in 2...5 { try Self.press(workshop, daemon, expecting: count) }
        // Lines are written a second later.
        try workshop.wait { try Self.historyWarnings(workshop).count == 1 }
        for count in 6...8 { try Self.press(workshop, daemon, expecting: count) }
        try Self.kill(daemon)
        try disk.makeRoom()
        daemon = try disk.daemon()
        #expect(try workshop.tryck(["status"]).status() == 0)
        #expect(try Self.historyWarnings(workshop) == [])
        let before = try Self.history(workshop, disk)
        #expect(before.contains { $0["event"] == "click" })
        #expect(try workshop.tryck(["rule", "count", "run", "--wait"]).status() == 0)
        try workshop.wait { try Self.history(workshop, disk).count > before.count }
        daemon.stop()
    }

    /// What `tryck history` reads on the disk.
    private static func history(_ workshop: Workshop, _ disk: Disk) throws -> [JSONValue] {
        let history = try disk.run([
            Workshop.built("tryck"), "history", "--json", "--config", workshop.path("tryck.yaml"), "--state-directory",
            workshop.path("disk/state"),
        ])
        // There may be no history yet.
        guard try history.status() == 0 else { return [] }
        return try history.lines.map { try JSONValue(parsing: $0) }
    }

    private static func historyWarnings(_ workshop: Workshop) throws -> [String] {
        let status = try workshop.tryck(["status", "--json"])
        _ = try status.status()
        return (try JSONValue(parsing: status.text)["warnings"]?.arrayValue ?? []).compactMap(\.stringValue)
            .filter { $0.contains("history") }
    }

    private static func count(_ workshop: Workshop) throws -> Int64? {
        let buttons = try workshop.tryck(["buttons", "--json"])
        #expect(try buttons.status() == 0)
        return try JSONValue(parsing: buttons.text).arrayValue?.first?["press_count"]?.integerValue
    }
}

extension Program {
    /// `status` reports a fault with this text.
    fileprivate func failing(_ words: String) throws -> Bool { try status() == 1 && text.contains(words) }
}
