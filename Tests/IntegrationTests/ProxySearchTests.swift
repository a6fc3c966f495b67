import Foundation
import JSON
import Testing

/// `tryck radios --find` with a program in place of `avahi-browse`.
@Suite("tryck radios --find", .serialized, .ownThread)
struct ProxySearchTests {
    private let workshop: Workshop

    init() throws { workshop = try Workshop() }

    /// - Parameter script: what `avahi-browse` does; `nil`: there is none.
    private func find(_ script: String?, _ more: [String] = []) throws -> (text: String, status: Int32) {
        let programs = workshop.directory.appending(path: "programs")
        try FileManager.default.createDirectory(at: programs, withIntermediateDirectories: true)
        if let script {
            try workshop.write("programs/avahi-browse", "#!/bin/sh\n\(script)\n")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o755], ofItemAtPath: workshop.path("programs/avahi-browse"))
        }
        let program = try workshop.start(
            Workshop.built("tryck"), ["radios", "--find"] + more,
            environment: ["NO_COLOR": "1", "PATH": programs.path])
        let status = try program.status()
        return (program.text, status)
    }

    @Test("what it finds can be pasted, and read as JSON")
    func found() throws {
        let script = """
            [ "$*" = "--parsable --resolve --terminate --no-db-lookup _esphomelib._tcp" ] || exit 3
            echo '=;eth0;IPv4;hall;_esphomelib._tcp;local;hall-proxy.local;192.0.2.7;6053;"version=2026.6.5"'
            """
        let (text, status) = try find(script)
        #expect(status == 0)
        #expect(text.contains("radios:\n  - {esphome: hall-proxy.local}  # hall, ESPHome 2026.6.5, 192.0.2.7"))
        let json = try find(script, ["--json"])
        #expect(try JSONValue(parsing: json.text).arrayValue?[0]["entry"] == "{esphome: hall-proxy.local}")
    }

    @Test("without avahi-browse, and without the daemon that it asks, there is advice")
    func advice() throws {
        let missing = try find(nil)
        #expect(missing.status == 69 && missing.text.contains("sudo apt install avahi-utils"))
        let down = try find("echo 'Failed to create client object: Daemon not running' >&2; exit 1")
        #expect(down.status == 69 && down.text.contains("sudo systemctl start avahi-daemon"))
    }

    @Test("output without end is cut off, and processes that the program leaves behind are ended")
    func flood() throws {
        let (_, status) = try find(
            """
            (while :; do :; done) &
            echo $! > \(workshop.path("left"))
            while :; do echo '=;eth0;IPv4;x;_esphomelib._tcp;local;x.local;192.0.2.7;6053;'; done
            """)
        #expect(status == 0)
        let left = try #require(
            Int32(
                try String(contentsOfFile: workshop.path("left"), encoding: .utf8).trimmingCharacters(
                    in: .whitespacesAndNewlines)))
        try workshop.wait { kill(left, 0) != 0 }
    }
}
