import Glibc
import Platform

/// The system's time zone files, in the compiled format of RFC 8536.
package struct ZoneFiles: Sendable {
    package struct Zone: Hashable, Sendable {
        /// Such as `Europe/Amsterdam`.
        package var name: String
        package var octets: [UInt8]
    }

    /// The limit in octets. The largest zone file has 3.5 KiB.
    package static let maximumLength = 64 * 1024

    package let directory, localTime, timeZone: String

    /// - Parameters:
    ///   - localTime: the file of the system's time zone: a link into `directory`, or a copy.
    ///   - timeZone: a file with the name of the system's time zone, for systems on which `localTime` is a copy.
    package init(
        directory: String = "/usr/share/zoneinfo", localTime: String = "/etc/localtime",
        timeZone: String = "/etc/timezone"
    ) {
        self.directory = directory
        self.localTime = localTime
        self.timeZone = timeZone
    }

    /// The file of a zone; `nil` if there is none, or the name leads out of the directory.
    package func zone(_ name: String) -> [UInt8]? {
        guard ZoneFiles.isName(name) else { return nil }
        return read("\(directory)/\(name)")
    }

    /// The system's time zone: that of `TZ`, or else of `/etc/localtime`. `nil` means UTC, as in the C library.
    ///
    /// - Parameter variable: the value of `TZ`, or `nil` if it is not set: the name of a zone, the path of a file, or a
    ///   rule (POSIX.1-2017, 8.3), each with an optional leading colon.
    package func system(_ variable: String?) -> Zone? {
        guard let variable else { return local() }
        let text = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
        if text == localTime { return local() }
        if text.hasPrefix("/") {
            let name = text.hasPrefix(directory + "/") ? text.dropFirst(directory.count + 1) : text[...]
            return read(text).map { Zone(name: String(name), octets: $0) }
        }
        if let octets = zone(text) { return Zone(name: text, octets: octets) }
        guard text.utf8.contains(where: { (0x30...0x39).contains($0) }) else { return nil }
        return Zone(name: text, octets: ZoneFiles.file(rule: text))
    }

    private func local() -> Zone? {
        guard let octets = read(localTime) else { return nil }
        return Zone(name: linkedName() ?? writtenName() ?? "localtime", octets: octets)
    }

    /// The zone's name in the target of the link. Further links are not resolved: the file of a zone may be
    /// a link to that of another zone.
    private func linkedName() -> String? {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(localTime, &buffer, buffer.count)
        guard count > 0 else { return nil }
        let target = String(decoding: buffer.prefix(count).lazy.map(UInt8.init(bitPattern:)), as: UTF8.self)
        let folder = directory.split(separator: "/").last.map { "/\($0)/" } ?? "/"
        guard let range = target.firstRange(of: folder) else { return nil }
        let name = String(target[range.upperBound...])
        return ZoneFiles.isName(name) ? name : nil
    }

    private func writtenName() -> String? {
        guard let octets = read(timeZone) else { return nil }
        let name = String(decoding: octets.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
        return ZoneFiles.isName(name) ? name : nil
    }

    private func read(_ path: String) -> [UInt8]? {
        guard !path.utf8.contains(0), let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return try? RegularFile(String(cString: text), maximumLength: ZoneFiles.maximumLength).octets
    }

    /// True if a name has at most 64 octets, and no component that is empty or contains other characters than letters,
    /// digits, `_`, `-` and `+`. So it cannot lead out of the directory.
    private static func isName(_ name: String) -> Bool {
        let isAllowed = { (octet: UInt8) in
            switch octet {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "+"): true
            default: false
            }
        }
        let steps = name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return name.utf8.count <= 64 && steps.allSatisfy { !$0.isEmpty && $0.allSatisfy(isAllowed) }
    }

    /// A compiled file that consists of a POSIX rule only.
    private static func file(rule: String) -> [UInt8] {
        // No leap seconds, no transitions, one local time type, one octet of designations.
        let header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15 + 4 * 4) + [0, 0, 0, 1, 0, 0, 0, 1]
        let block = header + [UInt8](repeating: 0, count: 6 + 1)
        return block + block + Array("\n\(rule)\n".utf8)
    }
}
