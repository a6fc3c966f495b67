import Foundation
import Testing

/// Replays the corpus of the fuzzers in every test run: seeds and findings. `run` extends the corpus.
@Suite("Corpus")
struct ReplayTests {
    static let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

    @Test("every file of the corpus keeps the promises", arguments: FuzzTarget.all)
    func replay(target: FuzzTarget) throws {
        let folder = Self.corpus.appending(path: target.name)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let octets = [UInt8](try Data(contentsOf: file))
            #expect(throws: Never.self, "\(file.lastPathComponent)") { try target.run(octets) }
        }
    }

    @Test("every folder of the corpus has a target")
    func folders() throws {
        let folders = try FileManager.default.contentsOfDirectory(atPath: Self.corpus.path)
        #expect(Set(folders) == Set(FuzzTarget.all.map(\.name)))
    }
}

extension FuzzTarget: CustomTestStringConvertible {
    var testDescription: String { name }
}
