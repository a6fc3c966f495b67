import Glibc

/// Whether a process of the group has not ended yet; its leader, unreaped, counts as long as it is alive.
///
/// A signal to the group would not tell: an ended process takes it as well. Those of other users may be hidden from us,
/// and we could not end them.
func isProcessGroupAlive(_ group: pid_t) -> Bool {
    guard let directory = opendir("/proc") else { return false }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        guard let process = pid_t(name), let fields = statusFields(process), fields.count > 2 else { continue }
        // State, parent, group.
        if fields[2] == Substring(String(group)), fields[0] != "Z", fields[0] != "X" { return true }
    }
    return false
}

/// What `/proc/PID/stat` has after the program's name, which may contain anything.
private func statusFields(_ process: pid_t) -> [Substring]? {
    let file = open("/proc/\(process)/stat", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    let text = withUnsafeTemporaryAllocation(byteCount: 1024, alignment: 1) { buffer in
        String(decoding: buffer.prefix(max(0, read(file, buffer.baseAddress, buffer.count))), as: UTF8.self)
    }
    guard let end = text.lastIndex(of: ")") else { return nil }
    return text[text.index(after: end)...].split(separator: " ", maxSplits: 3)
}
