import Testing

/// What builds and tests take from the network.
@Suite("Supply chain")
struct SupplyTests {
    @Test("a container's image is named by an argument, for which a digest can be given, or by its digest")
    func images() throws {
        let files = Repository.paths(under: "deploy").filter {
            $0.hasSuffix("/Containerfile") || $0.hasSuffix("/Dockerfile")
        }
        #expect(files.count >= 2)
        for file in files {
            let lines = try Repository.text(file).split(separator: "\n").map { $0.split(separator: " ") }
            let arguments = Set(lines.filter { $0.first == "ARG" }.compactMap { $0.last?.prefix { $0 != "=" } })
            var stages: Set<Substring> = []
            let images = lines.filter { $0.first == "FROM" }
            #expect(!images.isEmpty, "\(file)")
            for words in images {
                let image = try #require(words.dropFirst().first)
                #expect(
                    image.first == "$" && arguments.contains(image.dropFirst()) || image.contains("@sha256:")
                        || stages.contains(image), "\(file): \(image)")
                if words.count == 4, words[2] == "AS" { stages.insert(words[3]) }
            }
        }
    }

    @Test("scripts let pip install nothing but what a list names by its hash")
    func hashes() throws {
        let files = Repository.paths(under: "deploy") + Repository.paths(under: "Tests")
        let scripts = files.filter { !$0.contains("/Corpus/") && $0.split(separator: "/").last?.contains(".") == false }
            .compactMap { file in (try? Repository.text(file)).map { (file, $0) } }
        var installations = 0
        for (file, text) in scripts where text.hasPrefix("#!") {
            for line in text.split(separator: "\n") where line.contains("pip\" install") || line.contains("pip install")
            {
                installations += 1
                #expect(line.contains("--require-hashes"), "\(file): \(line)")
            }
        }
        #expect(installations >= 6)

        let lists = files.filter { $0.hasSuffix("requirements.txt") }
        #expect(lists.count >= 6)
        for list in lists {
            let lines = try Repository.text(list).split(separator: "\n").filter { !$0.hasPrefix("#") }
            let requirements = lines.joined(separator: "\n").replacing("\\\n", with: " ").split(separator: "\n")
            #expect(!requirements.isEmpty, "\(list)")
            for requirement in requirements {
                #expect(
                    requirement.contains(/^[A-Za-z0-9._\[\]-]+==\S+ .*--hash=sha256:[0-9a-f]{64}/),
                    "\(list): \(requirement)")
            }
        }
    }
}
