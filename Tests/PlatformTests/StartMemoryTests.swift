import Platform
import Testing

@Suite("Memory of the start")
struct StartMemoryTests {
    @Test(
        "only unchanged code and constants of files are forgotten",
        arguments: [
            ("55d0a0000000-55d0a0021000 r-xp 00001000 fd:00 1234                       /usr/bin/tryckd", 0, true),
            ("55d0a0000000-55d0a0021000 r--p 00001000 fd:00 1234                       /usr/bin/tryckd", 0, true),
            ("55d0a0000000-55d0a0021000 r-xp 00001000 fd:00 1234    /opt/a b/tryckd (deleted)", 0, true),
            // The dynamic linker has written into these pages.
            ("55d0a0000000-55d0a0021000 r--p 00001000 fd:00 1234                       /usr/bin/tryckd", 4, false),
            ("55d0a0000000-55d0a0021000 r--p 00001000 fd:00 1234                       /usr/bin/tryckd", 100, false),
            ("55d0a0000000-55d0a0021000 rwxp 00001000 fd:00 1234 /usr/bin/tryckd", 0, false),
            ("55d0a0000000-55d0a0021000 rw-p 00001000 fd:00 1234 /usr/bin/tryckd", 0, false),
            ("55d0a0000000-55d0a0021000 r--s 00001000 fd:00 1234 /usr/bin/tryckd", 0, false),
            ("7f10c0000000-7f10c0001000 r-xp 00000000 00:00 0                          [vdso]", 0, false),
            ("7f10c0000000-7f10c0001000 r-xp 00000000 00:00 0", 0, false),
            ("55d0a0021000-55d0a0000000 r-xp 00001000 fd:00 1234 /usr/bin/tryckd", 0, false),
            ("zz-1 r-xp 00001000 fd:00 1234 /usr/bin/tryckd", 0, false), ("", 0, false),
        ])
    func mappings(line: String, written: Int, isForgotten: Bool) {
        let text = """
            7f10b0000000-7f10b0001000 rw-p 00000000 00:00 0                          [heap]
            Size:                  4 kB
            Anonymous:             0 kB
            \(line)
            Size:                132 kB
            Rss:                   8 kB
            Anonymous:           \(written) kB
            VmFlags: rd ex mr mw me
            7f10f0000000-7f10f0001000 r--p 00000000 fd:00 99                         /usr/lib/a.so
            Anonymous:             0 kB

            """
        let ranges = StartMemory.unchangedRanges(Array(text.utf8))
        let expected: [Range<UInt>] = isForgotten ? [0x55d0_a000_0000..<0x55d0_a002_1000] : []
        #expect(ranges == expected + [0x7f10_f000_0000..<0x7f10_f000_1000])
    }

    @Test("code and constants that were forgotten can be used again")
    func again() {
        StartMemory.release()
        #expect([3, 1, 2].sorted() == [1, 2, 3])
        #expect("\(1.5) \(Int8.min)" == "1.5 -128")
    }
}
