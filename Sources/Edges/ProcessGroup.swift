import Glibc

/// True if a process of the group is alive. Zombies do not count, not even an unreaped leader.
///
/// Signal 0 cannot be used for this, because it also succeeds for zombies. Processes of other users may be hidden in
/// `/proc`; the daemon could not end them anyway.
func isProcessGroupAlive(_ group: pid_t) -> Bool {
    guard let directory = opendir("/proc") else { return false }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        guard let process = pid_t(name), let fields = statusFields(process), fields.count > 2 else { continue }
        // The fields are state, parent process and process group.
        if fields[2] == Substring(String(group)), fields[0] != "Z", fields[0] != "X" { return true }
    }
    return false
}

/// The fields of `/proc/PID/stat` after the program's name, which may contain any characters (proc(5)).
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
