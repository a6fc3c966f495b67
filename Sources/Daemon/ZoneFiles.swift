import Glibc

/// The system's time zones, as compiled files (RFC 8536).
package struct ZoneFiles: Sendable {
    package struct Zone: Hashable, Sendable {
        /// `Europe/Amsterdam`
        package var name: String
        package var octets: [UInt8]
    }

    /// The largest of them has 3.5 KiB.
    package static let maximumLength = 64 * 1024

    let directory, localTime, timeZone: String

    /// - Parameters:
    ///   - localTime: the system's own zone, a link into `directory` or a copy.
    ///   - timeZone: a file that has its name where it is a copy.
    package init(
        directory: String = "/usr/share/zoneinfo", localTime: String = "/etc/localtime",
        timeZone: String = "/etc/timezone"
    ) {
        self.directory = directory
        self.localTime = localTime
        self.timeZone = timeZone
    }

    /// `nil`: there is no such zone. A name that leads out of the directory is none.
    package func zone(_ name: String) -> [UInt8]? {
        guard ZoneFiles.isName(name) else { return nil }
        return read("\(directory)/\(name)")
    }

    /// What local time is here: by `TZ`, else `/etc/localtime`. `nil`: UTC, as for everybody else.
    ///
    /// - Parameter variable: the value of `TZ`: a name, the path of a file, or a rule (POSIX.1-2017, 8.3), each perhaps after
    ///   a colon; `nil` where it is not set.
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

    /// What the link says: the zone it leads to may be a link to another one itself.
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

    /// Letters, digits, `_`, `-` and `+`, in steps that do not lead upward.
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

    /// A compiled file that has nothing but a rule.
    private static func file(rule: String) -> [UInt8] {
        // No leap seconds, no changes, one type of local time, one octet of names.
        let header = Array("TZif2".utf8) + [UInt8](repeating: 0, count: 15 + 4 * 4) + [0, 0, 0, 1, 0, 0, 0, 1]
        let block = header + [UInt8](repeating: 0, count: 6 + 1)
        return block + block + Array("\n\(rule)\n".utf8)
    }
}
