import Daemon
import Glibc
import JSON
import Rules

/// One text for those who are to help: what was found, on what system, and what the daemon said last.
///
/// Nothing secret: sentences of findings quote no file, the daemon's answer and log have had their secrets taken out,
/// and the values this command has met are taken out once more. Of paths in somebody's home only `~` is left.
struct BugReport: Hashable, Sendable {
    /// Octets of the log's last lines.
    static let maximumLog = 64 * 1024

    var version = Version.string
    /// `Linux 6.12.1 aarch64`, and what the distribution calls itself.
    var system: String
    var findings: [Finding]
    var status: JSONValue?
    /// Where the daemon writes all Bluetooth traffic to, when it does.
    var capture: String? { status?["capture"]?.stringValue }
    /// The daemon's last lines; empty where there is no journal.
    var log: String
    var home: String?
    var redaction: Redaction

    var text: String {
        let judged = findings.map { finding in
            "\(finding.state.rawValue.padded(to: 8)) \(finding.check.rawValue.padded(to: 14)) \(finding.sentence)"
        }
        let sections = [
            "tryck \(version)\n\(system)", judged.joined(separator: "\n"),
            "status: " + (status.map { redaction($0).description } ?? "none"),
            "capture: "
                + (capture.map { "\($0), to be sent along: names and addresses of buttons and presses, no keys" }
                    ?? "none"),
            log.isEmpty ? "log: none" : "log:\n" + lastLines,
        ]
        return redaction(sections.joined(separator: "\n\n") + "\n").withoutHomes(home)
    }

    /// Whole ones: half a secret would not be known for one.
    private var lastLines: String {
        guard log.utf8.count > Self.maximumLog else { return log }
        let rest = log.utf8.suffix(Self.maximumLog).drop { $0 != UInt8(ascii: "\n") }
        return String(decoding: rest.dropFirst(), as: UTF8.self)
    }
}

extension BugReport {
    /// What this machine says of itself, and of the service.
    init(_ findings: [Finding], _ observations: Observations, redaction: Redaction, home: String?) {
        let status: JSONValue? = if case .status(let status) = observations.daemon { status } else { nil }
        self.init(
            system: Self.system, findings: findings, status: status, log: Self.log, home: home, redaction: redaction)
    }

    private static var system: String {
        var names = utsname()
        uname(&names)
        func text<T>(_ field: T) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        let kernel = [text(names.sysname), text(names.release), text(names.machine)].joined(separator: " ")
        guard let release = try? FileText(reading: "/etc/os-release") else { return kernel }
        let line = String(decoding: release.octets, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix("PRETTY_NAME=") }
        return kernel + (line.map { "\n" + $0.dropFirst("PRETTY_NAME=".count).replacing("\"", with: "") } ?? "")
    }

    private static var log: String {
        let command = "timeout 10 journalctl -u tryck -n 200 -q --no-pager --no-hostname -o short-iso 2>/dev/null"
        guard let pipe = popen(command, "r") else { return "" }
        defer { pclose(pipe) }
        var octets: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 * 1024)
        // Lines of 200 may each be long: the rest is read, and not kept.
        while case let count = fread(&chunk, 1, chunk.count, pipe), count > 0 {
            octets = (octets + chunk.prefix(count)).suffix(Self.maximumLog + 1)
        }
        return String(decoding: octets, as: UTF8.self)
    }
}

extension String {
    /// `/home/ada/tryck` and, where that is Ada's home, `/srv/ada/tryck` become `~/tryck`.
    fileprivate func withoutHomes(_ home: String?) -> String {
        var text = self
        if let home, home.count > 1 { text = text.replacing(home, with: "~") }
        let parts = text.split(separator: "/home/", omittingEmptySubsequences: false)
        guard let first = parts.first else { return text }
        return first + parts.dropFirst().map { part in "~" + part.drop { !"/ :,;'\"`()\n".contains($0) } }.joined()
    }
}
