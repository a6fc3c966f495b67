import Platform
import Testing

@Suite("Memory of the start")
struct StartMemoryTests {
    @Test(
        "only code of files is forgotten",
        arguments: [
            ("55d0a0000000-55d0a0021000 r-xp 00001000 fd:00 1234                       /usr/bin/tryckd", 0x21000),
            ("7f10c0000000-7f10c0001000 r-xp 00000000 00:00 0                          [vdso]", nil),
            ("7f10c0000000-7f10c0001000 r-xp 00000000 00:00 0", nil),
            ("55d0a0000000-55d0a0021000 r--p 00001000 fd:00 1234 /usr/bin/tryckd", nil),
            ("55d0a0000000-55d0a0021000 rwxp 00001000 fd:00 1234 /usr/bin/tryckd", nil),
            ("55d0a0021000-55d0a0000000 r-xp 00001000 fd:00 1234 /usr/bin/tryckd", nil),
            ("55d0a0000000-55d0a0021000 r-xp 00001000 fd:00 1234    /opt/a b/tryckd (deleted)", 0x21000),
            ("zz-1 r-xp 00001000 fd:00 1234 /usr/bin/tryckd", nil), ("", nil),
        ])
    func lines(line: String, size: Int?) {
        #expect(StartMemory.codeRange(of: Array(line.utf8)[...])?.count == size)
    }

    @Test("code that was forgotten can be executed again")
    func again() {
        StartMemory.release()
        #expect([3, 1, 2].sorted() == [1, 2, 3])
    }
}
