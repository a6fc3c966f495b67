import Glibc
import Testing

/// A text that is pinned as a file in `Golden/`. With `UPDATE_GOLDEN=1` in the environment the file is rewritten.
func expectGolden(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) {
    let path = String(#filePath.prefix(upTo: #filePath.lastIndex(of: "/") ?? #filePath.endIndex)) + "/Golden/" + name
    if getenv("UPDATE_GOLDEN").map({ String(cString: $0) }) == "1" {
        #expect(write(text, to: path), "\(path) cannot be written", sourceLocation: sourceLocation)
    } else {
        #expect(read(path) == text, sourceLocation: sourceLocation)
    }
}

private func write(_ text: String, to path: String) -> Bool {
    guard let file = fopen(path, "w") else { return false }
    let isWritten = fputs(text, file) >= 0
    return fclose(file) == 0 && isWritten
}

private func read(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while case let count = fread(&chunk, 1, chunk.count, file), count > 0 { text += chunk.prefix(count) }
    return String(decoding: text, as: UTF8.self)
}
