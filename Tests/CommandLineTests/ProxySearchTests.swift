import ConfigurationLoader
import JSON
import Settings
import Testing
import YAMLFiles

@testable import CommandSupport
@testable import DaemonCommands

/// The output is in the format of avahi-browse 0.8.
@Suite("Looking for proxies")
struct ProxySearchTests {
    private static func line(
        _ host: String, name: String = "hall", address: String = "192.0.2.7", port: String = "6053",
        interface: String = "eth0;IPv4", txt: String = #""version=2026.6.5""#
    ) -> String { "=;\(interface);\(name);_esphomelib._tcp;local;\(host);\(address);\(port);\(txt)\n" }

    private static func search(_ lines: String...) -> ProxySearch { ProxySearch(Array(lines.joined().utf8)) }

    @Test("each device is one entry with its description as a comment, however many interfaces it answered on")
    func entries() {
        let txt =
            #""api_encryption=Noise_NNpsk0_25519_ChaChaPoly_SHA256" "mac=0635695e0001" "version=2026.6.5" "friendly_name=K\195\188che; \"x\" \\ y""#
        let search = Self.search(
            "+;eth0;IPv4;hall;_esphomelib._tcp;local\n",
            Self.line("hall-proxy.local", address: "fd00::2", interface: "eth0;IPv6", txt: txt),
            Self.line("hall-proxy.local", txt: txt),
            Self.line("hall-proxy.local", address: "127.0.0.1", interface: "lo;IPv4", txt: txt),
            Self.line("Attic.local", address: "192.0.2.8", port: "6054"))
        #expect(
            search.lines == [
                "# 2 ESPHome devices answered. They do not tell which of them have a Bluetooth proxy.",
                "# Paste the lines of your proxies into tryck.yaml. An adapter in transport: becomes another entry of radios:.",
                "# A proxy's key is api: encryption: key: in its ESPHome file. Write it into secrets.yaml, after the name behind !secret.",
                "radios:",
                #"  - {esphome: Attic.local:6054, name: "attic"}            # hall, ESPHome 2026.6.5, 192.0.2.8"#,
                #"  - {esphome: hall-proxy.local, key: !secret hall_proxy}  # Küche; "x" \ y, ESPHome 2026.6.5, 192.0.2.7"#,
            ])
        #expect(search.json.arrayValue?[1]["friendly_name"] == #"Küche; "x" \ y"#)
        #expect(search.json.arrayValue?[1]["mac"] == "0635695e0001")
        #expect(search.json.arrayValue?[1]["encrypted"] == true)
    }

    @Test(
        "a hostile device cannot add a line or an entry, and cannot send a control sequence to the terminal")
    func hostile() {
        let search = Self.search(
            Self.line("x}\\010  - {command: [reboot]}.local", name: #"a\010b"#, address: "192.0.2.9"),
            Self.line("-x.local", address: "not an address"), Self.line("a b.local", address: "::1"),
            Self.line("one.local", port: "0"), Self.line("one.local", port: "6053 }"),
            Self.line(
                "two.local", address: #"1\010- {}"#,
                txt: #""friendly_name=a\010  - {command: [reboot]}\027[31m\226\128\168b" "version=\010\255" "open"#),
            Self.line("two.lan"))
        let lines = search.lines.filter { !$0.hasPrefix("#") }
        #expect(lines.count == 4 && lines.allSatisfy { !$0.contains { $0.isNewline } && !$0.contains("\u{1B}") })
        #expect(lines[1].hasPrefix(#"  - {esphome: 192.0.2.9, name: "a-b"}"#))
        #expect(lines[2].hasPrefix("  - {esphome: two.lan} "))
        #expect(lines[3].hasPrefix(#"  - {esphome: two.local, name: "two-2"}"#))
        #expect(lines[3].contains(#"# a\n  - {command: [reboot]}\u{1b}[31m\u{2028}b"#))
    }

    @Test("the configuration takes what is pasted, whatever devices call themselves")
    func pasted() throws {
        let hosts = [
            "hall.local", "null.local", "NULL.lan", "007.local", "1e5.local", "Yes.lan", "a.b", "0x1.local",
            "x_y.local",
        ]
        let lines =
            hosts.map { Self.line($0, txt: #""api_encryption=x" "friendly_name=}\010: #""#) } + [Self.line("z.local")]
        // A device that answers with another spelling of its name is one device.
        let search = ProxySearch(Array((lines + [Self.line("HALL.local")]).joined().utf8))
        #expect(search.entries.count == hosts.count + 1)
        let key = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
        let secrets = search.entries.compactMap { entry in
            entry.entry.split(separator: "!secret ").dropFirst().first.map { $0.prefix { $0 != "," && $0 != "}" } }
        }
        let loaded = FileLoader.configuration(
            SourceFile(name: "tryck.yaml", text: Array(search.lines.joined(separator: "\n").utf8)),
            in: FileInputs(
                secrets: SourceFile(
                    name: "secrets.yaml", text: Array(secrets.map { "\"\($0)\": \(key)\n" }.joined().utf8))))
        #expect(loaded.diagnostics.isEmpty)
        #expect(loaded.value?.usedRadios.count == search.entries.count)
    }

    @Test("octets of any kind are read, and at most 64 devices are listed", arguments: [1, 2, 3] as [UInt64])
    func bounds(seed: UInt64) {
        var state = seed
        let alphabet = Array(#"=;\"0123456789.ab_esphomelib._tcp"#.utf8) + [10, 255]
        let octets = (0..<20_000).map { _ in
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return alphabet[Int(state >> 33) % alphabet.count]
        }
        #expect(ProxySearch(octets).entries.count <= 64)
        let many = (0..<70).map { Self.line("p\($0).local") }.joined()
        let search = ProxySearch(Array(many.utf8))
        #expect(search.entries.count == 64)
        #expect(search.lines.contains("# There are more devices than these."))
        #expect(ProxySearch([]).lines.allSatisfy { $0.hasPrefix("#") })
    }
}
