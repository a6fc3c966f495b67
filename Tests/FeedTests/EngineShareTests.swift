import Testing

@testable import Feed

@Suite("Shares of sites")
struct EngineShareTests {
    /// - Source: FIPS 180-4, examples of the algorithms; the last one has two blocks of padding.
    @Test(
        "the digest is that of the standard",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ])
    func digest(message: String, digest: String) {
        let digits = SiteDigest.sha256(Array(message.utf8)).map { octet in
            let text = String(octet, radix: 16)
            return octet < 16 ? "0" + text : text
        }
        #expect(digits.joined() == digest)
    }

    @Test("each site falls to one share, and the shares are about equal")
    func equal() {
        let shares = (1...4).compactMap { EngineShare(index: $0, count: 4) }
        var counts = [0, 0, 0, 0]
        for number in 0..<400 {
            let owners = shares.indices.filter { shares[$0].has(site: "tryck/site\(number)") }
            #expect(owners.count == 1)
            for owner in owners { counts[owner] += 1 }
        }
        #expect(counts.allSatisfy { (70...130).contains($0) }, "\(counts)")
        #expect(EngineShare.whole.has(site: "tryck/berlin7"))
    }

    @Test("with one share more, no site moves between the others")
    func stable() {
        for number in 0..<100 {
            let site = "tryck/site\(number)"
            func owner(of count: Int) -> Int? {
                (1...count).first { EngineShare(index: $0, count: count)?.has(site: site) == true }
            }
            #expect(owner(of: 5) == owner(of: 4) || owner(of: 5) == 5)
        }
    }
}
