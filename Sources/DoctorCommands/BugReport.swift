import CommandSupport
import Glibc
import JSON
import Platform
import Rules

/// A text for people who help: the findings, the system, the daemon's status and the end of its log.
///
/// It contains no secrets: sentences of findings quote no file, the daemon has removed the secrets from its answer and
/// its log, and the values that this command has read are removed once more. Home directories in paths become `~`.
struct BugReport: Hashable, Sendable {
    /// The most octets of the log, from its end.
    static let maximumLog = 64 * 1024

    var version = Version.string
    /// The kernel, such as `Linux 6.12.1 aarch64`, and the name of the distribution.
    var system: String
    var findings: [Finding]
    var status: JSONValue?
    /// The file to which the daemon writes all Bluetooth traffic, if it does.
    var capture: String? { status?["capture"]?.stringValue }
    /// The end of the daemon's log; empty without a journal.
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
                + (capture.map {
                    "\($0); send it with the report: it contains presses, and names and addresses of buttons, but no keys"
                }
                    ?? "none"),
            log.isEmpty ? "log: none" : "log:\n" + lastLines,
        ]
        return redaction(sections.joined(separator: "\n\n") + "\n").withoutHomes(home)
    }

    /// Whole lines, because a part of a secret would not be recognised as secret.
    private var lastLines: String {
        guard log.utf8.count > Self.maximumLog else { return log }
        let rest = log.utf8.suffix(Self.maximumLog).drop { $0 != UInt8(ascii: "\n") }
        return String(decoding: rest.dropFirst(), as: UTF8.self)
    }
}

extension BugReport {
    /// Adds the system and the service's log, as this machine has them.
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
        // 200 lines may be long: all of them are read, and only the end is kept.
        while case let count = fread(&chunk, 1, chunk.count, pipe), count > 0 {
            octets = (octets + chunk.prefix(count)).suffix(Self.maximumLog + 1)
        }
        return String(decoding: octets, as: UTF8.self)
    }
}

extension String {
    /// Replaces home directories by `~`: `/home/ada/tryck` becomes `~/tryck`, and so does `/srv/ada/tryck` where that
    /// is Ada's home.
    fileprivate func withoutHomes(_ home: String?) -> String {
        var text = self
        if let home, home.count > 1 { text = text.replacing(home, with: "~") }
        let parts = text.split(separator: "/home/", omittingEmptySubsequences: false)
        guard let first = parts.first else { return text }
        return first + parts.dropFirst().map { part in "~" + part.drop { !"/ :,;'\"`()\n".contains($0) } }.joined()
    }
}
