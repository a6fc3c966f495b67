import ButtonModel
import Buttons
import Flic
import Radios
import Testing

/// Conversations of `ButtonManager` from the controller's reset to the end of a link, octet for octet.
///
/// The button's packets are those of the protocol notes' transcript `transcript-pair-events`. Their signatures, and those
/// that are expected of the manager, were computed by a program of its own, which the notes' vectors have verified.
///
/// - Source: Bluetooth Core 5.4, Vol 4, Part E, 5.4 and 7; protocol notes, 5 to 9.
@Suite("Conversations of the button manager")
struct ConversationTests {
    static let hall = ButtonID(BluetoothAddress(rawValue: 0x9088_A900_0001))
    static let second = ButtonID(BluetoothAddress(rawValue: 0x9088_A900_0002))
    static let third = ButtonID(BluetoothAddress(rawValue: 0x9088_A900_0003))

    static func cursor(_ eventCount: UInt32) -> EventCursor {
        EventCursor(bootID: 305_441_741, eventCount: eventCount)
    }

    /// - Parameter age: `nil` for a live event.
    static func event(
        _ counter: UInt32, _ step: PressStep, ticks: UInt64, age: Duration? = nil, wasQueuedLast: Bool = false
    ) -> ButtonEvent {
        ButtonEvent(
            button: hall, bootID: 305_441_741, counter: counter, step: step, ticks: ticks, wasQueued: age != nil,
            wasQueuedLast: wasQueuedLast, age: age ?? .zero)
    }

    /// The report of a live event.
    static func live(
        _ counter: UInt32, _ step: PressStep, ticks: UInt64, needsAcknowledgement: Bool = false
    ) -> ButtonManager.Effect {
        .events(
            hall, [event(counter, step, ticks: ticks)], cursor(counter), needsAcknowledgement: needsAcknowledgement)
    }

    /// The manager knows some buttons.
    static func known(buttonCount: Int = 1, maximumLinks: Int? = nil) throws -> Conversation {
        var talk = Conversation(maximumLinks: maximumLinks)
        talk.when(.entropy(octets("72ba28d5 aa85ba74a9df4e00") + [UInt8](repeating: 7, count: 1056)))
        let key = try #require(PairingKey(octets("2e4e1257f3ded873bf841f1558a0ce80")))
        let buttons = [hall, second, third].prefix(buttonCount).map { id in
            KnownButton(
                identity: ButtonIdentity(
                    address: BluetoothAddress(rawValue: id.rawValue), uuid: "5aa61c5615eba33f02eb79b9402cba0a",
                    serial: "BA00-A00001", nickname: "Hall", firmwareVersion: 11),
                pairing: Pairing(identifier: 0xBEC1_56BD, key: key), cursor: cursor(7), advertisingConfigured: true)
        }
        talk.when(.restored(buttons))
        return talk
    }

    /// The adapter is opened, and its accept list has room for two addresses. The manager knows some buttons.
    static func opened(buttonCount: Int = 1, maximumLinks: Int? = nil) throws -> Conversation {
        var talk = try known(buttonCount: buttonCount, maximumLinks: maximumLinks)
        talk.when(.transportOpened())
        talk.sends("Reset", "01 030c 00")
        talk.receives("Reset: complete", "04 0e 04 01 030c 00")
        talk.sends("Read Local Version Information", "01 0110 00")
        talk.receives("Read Local Version Information: complete", "04 0e 0c 01 0110 00 0c00000c0f000000")
        talk.sends("Read Local Supported Features", "01 0310 00")
        talk.receives("Read Local Supported Features: complete", "04 0e 0c 01 0310 00 0000000040000000")
        talk.sends("Read BD_ADDR", "01 0910 00")
        talk.receives("Read BD_ADDR: complete", "04 0e 0a 01 0910 00 554433221100")
        talk.sends("Set Event Mask", "01 010c 08 1080000200000020")
        talk.receives("Set Event Mask: complete", "04 0e 04 01 010c 00")
        talk.sends("LE Set Event Mask", "01 0120 08 2700000000000000")
        talk.receives("LE Set Event Mask: complete", "04 0e 04 01 0120 00")
        talk.sends("LE Read Buffer Size", "01 0220 00")
        talk.receives("LE Read Buffer Size: complete", "04 0e 07 01 0220 00 1b0008")
        talk.sends("LE Read Supported States", "01 1c20 00")
        talk.receives("LE Read Supported States: complete", "04 0e 0c 01 1c20 00 ffffffffff030000")
        talk.sends("LE Read Filter Accept List Size", "01 0f20 00")
        talk.receives("LE Read Filter Accept List Size: complete", "04 0e 05 01 0f20 00 02")
        talk.sends("LE Clear Filter Accept List", "01 1020 00")
        talk.receives("LE Clear Filter Accept List: complete", "04 0e 04 01 1020 00")
        return talk
    }

    /// The manager connects to the only button that it knows.
    static func listening() throws -> Conversation {
        var talk = try opened()
        talk.reports(.controllerReady(BluetoothAddress(rawValue: 0x0011_2233_4455)))
        talk.reports(.capacity(acceptListSize: 2, linkLimit: nil))
        talk.reports(.state(Self.hall, .connecting))
        talk.sends("LE Add Device To Filter Accept List", "01 1120 07 00010000a98890")
        talk.receives("LE Add Device To Filter Accept List: complete", "04 0e 04 01 1120 00")
        talk.sends("LE Create Connection", "01 0d20 19 600060000100000000000000000c000e000000580200000000")
        talk.receives("LE Create Connection: status", "04 0f 04 00010d20")
        return talk
    }

    /// The link to the button comes up, and the button is verified by its pairing key.
    static func verify(
        _ talk: inout Conversation, initialisation: String = "021707000000cdab3412ffffffff0309fcb6d536"
    ) {
        talk.sends("Exchange MTU Request", "02 4000 0700 0300 0400 02 8c00")
        talk.receives("Exchange MTU Response", "02 4020 0700 0300 0400 03 8c00")
        talk.sends(
            "Find By Type Value Request",
            "02 4000 1b00 1700 0400 06 0100ffff002893e417b6f3840d872044598f00004200")
        talk.receives("Find By Type Value Response", "02 4020 0900 0500 0400 07 10001500")
        talk.sends("Read By Type Request", "02 4000 0b00 0700 0400 08 100015000328")
        talk.receives("Read By Type Response", "02 4020 1b00 1700 0400 09 15110004120093e417b6f3840d872044598f01004200")
        talk.sends("Read By Type Request", "02 4000 0b00 0700 0400 08 130015000328")
        talk.receives("Read By Type Response", "02 4020 1b00 1700 0400 09 15130010140093e417b6f3840d872044598f02004200")
        talk.sends("Read By Type Request", "02 4000 0b00 0700 0400 08 150015000328")
        talk.receives("Error Response", "02 4020 0900 0500 0400 01 0815000a")
        talk.sends("Find Information Request", "02 4000 0900 0500 0400 04 15001500")
        talk.receives("Find Information Response", "02 4020 0a00 0600 0400 05 0115000229")
        talk.sends("Write Request", "02 4000 0900 0500 0400 12 1500 0100")
        talk.receives("Write Response", "02 4020 0500 0100 0400 13")
        talk.sends("QuickVerifyRequest", "02 4000 1900 1500 0400 52 1200 0005aa85ba74a9df4e4072ba28d5bd56c1be")
        talk.receives("QuickVerifyResponse", "02 4020 1b00 1700 0400 1b 1400 220831cbcea1af56503a72ba28d500d48d96b2ff")
        talk.sends(
            "InitButtonEventsLightRequest",
            "02 4000 1b00 1700 0400 52 1200 " + initialisation)
        talk.receives(
            "InitButtonEventsResponseWithoutBootId",
            "02 4020 1800 1400 0400 1b 1400 020bb1c9d70000000800000012b8ca329f")
        talk.reports(.state(Self.hall, .ready))
        talk.sends("Read RSSI", "01 0514 02 4000")
    }

    /// The button sends the events that it stored, and answers the first questions of a session.
    static func beginSession(_ talk: inout Conversation) {
        talk.receives(
            "ButtonEventNotification",
            "02 4020 4300 3f00 0400 1b 1400 "
                + "020c13000000d8645500000011a47155000000183e8b55000000119a9a550000001bd864 "
                + "5a00000011d8e45a00000013d8a45b0000003ec160b7ad2e")
        talk.reports(
            .events(
                Self.hall,
                [
                    Self.event(9, .down, ticks: 5_596_376, age: .seconds(45)),
                    Self.event(
                        11, .up(.open), ticks: 5_599_652,
                        age: Duration(secondsComponent: 44, attosecondsComponent: 900_024_414_062_500_000)),
                    Self.event(
                        13, .down, ticks: 5_606_206,
                        age: Duration(secondsComponent: 44, attosecondsComponent: 700_012_207_031_250_000)),
                    Self.event(
                        15, .up(.doubleClick), ticks: 5_610_138,
                        age: Duration(secondsComponent: 44, attosecondsComponent: 580_017_089_843_750_000)),
                    Self.event(17, .down, ticks: 5_924_056, age: .seconds(35)),
                    Self.event(18, .hold(ofSecondPress: false), ticks: 5_956_824, age: .seconds(34)),
                    Self.event(
                        19, .up(.afterHoldClick), ticks: 6_005_976, age: .milliseconds(32500), wasQueuedLast: true),
                ], Self.cursor(19), needsAcknowledgement: true))
        talk.when(.synced(Self.hall, Self.cursor(19)))
        talk.sends("AckButtonEventsInd", "02 4000 1200 0e00 0400 52 1200 021013000000b44e2445bf")
        talk.sends("SetConnectionParametersInd", "02 4000 1600 1200 0400 52 1200 020c50005a0011002003188ca2a5bf")
        talk.sends("GetBatteryLevelRequest", "02 4000 0e00 0a00 0400 52 1200 0214bb0b243c3f")
        talk.sends("GetNameRequest", "02 4000 0e00 0a00 0400 52 1200 020bcfc7970803")
        talk.receives("GetBatteryLevelResponse", "02 4020 1000 0c00 0400 1b 1400 02145c03091c2b8f5d")
        talk.reports(.battery(Self.hall, millivolts: 3023))
        talk.sends("GetFirmwareVersionRequest", "02 4000 0e00 0a00 0400 52 1200 0208af5dd2dfb5")
        talk.receives("GetNameResponse", "02 4020 1800 1400 0400 1b 1400 021000000000000048616c6c55653efe2d")
        talk.reports(.nickname(Self.hall, "Hall"))
        talk.receives("GetFirmwareVersionResponse", "02 4020 1200 0e00 0400 1b 1400 02050b000000f941d948b7")
        talk.reports(.firmware(Self.hall, version: 11))
        talk.receives("Read RSSI: complete", "04 0e 07 01 0514 00 4000c4")
        talk.reports(.signal(Self.hall, rssi: -60))
    }

    static func ready() throws -> Conversation {
        var talk = try listening()
        talk.receives("LE Connection Complete", "04 3e 13 0100 4000 00 00 010000a98890 1800 0000 4800 00")
        talk.reports(.state(hall, .connected))
        verify(&talk)
        beginSession(&talk)
        return talk
    }

    @Test("a known button is connected, found, verified and asked what it stored")
    func verified() throws {
        var talk = try Self.ready()
        talk.ends()
    }

    @Test("each step of a press is reported at once, and only the last one is acknowledged")
    func pressed() throws {
        var talk = try Self.ready()
        talk.wait(.seconds(3))
        talk.receives("ButtonEventNotification", "02 4020 1900 1500 0400 1b 1400 020c15000000d8646d000000017bdc32971d")
        talk.reports(Self.live(21, .down, ticks: 7_169_240))
        talk.receives("ButtonEventNotification", "02 4020 1900 1500 0400 1b 1400 020c17000000a4716d000000080dba1d149c")
        talk.reports(Self.live(23, .up(.open), ticks: 7_172_516))
        talk.receives("ButtonEventNotification", "02 4020 1900 1500 0400 1b 1400 020c190000003d8b6d00000001f800574c7e")
        talk.reports(Self.live(25, .down, ticks: 7_179_069))
        talk.receives("ButtonEventNotification", "02 4020 1900 1500 0400 1b 1400 020c1a0000003d0b6e00000007ca8457aff7")
        talk.reports(Self.live(26, .hold(ofSecondPress: true), ticks: 7_211_837))
        talk.receives("ButtonEventNotification", "02 4020 1900 1500 0400 1b 1400 020c1b0000003d4b6e0000000f9ccef40343")
        talk.reports(Self.live(27, .up(.afterHoldDoubleClick), ticks: 7_228_221, needsAcknowledgement: true))
        talk.when(.synced(Self.hall, Self.cursor(27)))
        talk.sends("AckButtonEventsInd", "02 4000 1200 0e00 0400 52 1200 02101b000000f6770e19f6")
        talk.ends()
    }

    @Test("a link that comes up after the button was forgotten is ended, and nothing is said of it")
    func unexpected() throws {
        var talk = try Self.listening()
        talk.when(.forget(Self.hall))
        talk.reports(.forgotten(Self.hall))
        talk.sends("LE Create Connection Cancel", "01 0e20 00")
        talk.receives("LE Connection Complete", "04 3e 13 0100 4000 00 00 010000a98890 1800 0000 4800 00")
        talk.receives("LE Create Connection Cancel: complete", "04 0e 04 01 0e20 0b")
        talk.sends("Disconnect", "01 0604 03 4000 13")
        talk.passOver()
    }

    @Test("a button whose link was lost is connected again without a change of the accept list")
    func linkLost() throws {
        var talk = try Self.ready()
        talk.receives("Disconnection Complete", "04 05 04 00400008")
        talk.reports(.disconnected(Self.hall, .connectionTimeout))
        talk.reports(.state(Self.hall, .connecting))
        talk.sends("LE Create Connection", "01 0d20 19 600060000100000000000000000c000e000000580200000000")
        talk.receives("LE Create Connection: status", "04 0f 04 00010d20")
        talk.ends()
    }

    /// The link to a button that was ready before is lost, and comes up again until the MTU is exchanged.
    static func reconnected() throws -> Conversation {
        var talk = try ready()
        talk.receives("Disconnection Complete", "04 05 04 00400008")
        talk.reports(.disconnected(hall, .connectionTimeout))
        talk.reports(.state(hall, .connecting))
        talk.sends("LE Create Connection", "01 0d20 19 600060000100000000000000000c000e000000580200000000")
        talk.receives("LE Create Connection: status", "04 0f 04 00010d20")
        talk.receives("LE Connection Complete", "04 3e 13 0100 4100 00 00 010000a98890 1800 0000 4800 00")
        talk.reports(.state(hall, .connected))
        talk.sends("Exchange MTU Request", "02 4100 0700 0300 0400 02 8c00")
        talk.receives("Exchange MTU Response", "02 4120 0700 0300 0400 03 8c00")
        return talk
    }

    @Test("a button that was ready before is subscribed to without another discovery")
    func handlesKnown() throws {
        var talk = try Self.reconnected()
        talk.sends("Write Request", "02 4100 0900 0500 0400 12 1500 0100")
        talk.ends()
    }

    @Test("a button that refuses the subscription by known handles is discovered again, and then subscribed to")
    func handlesOutdated() throws {
        var talk = try Self.reconnected()
        talk.sends("Write Request", "02 4100 0900 0500 0400 12 1500 0100")
        talk.receives("Error Response", "02 4120 0900 0500 0400 01 12150001")
        talk.reports(.anomaly("90:88:A9:00:00:01: errorResponse(code: 1, attributeHandle: 21) while subscribing"))
        talk.sends(
            "Find By Type Value Request",
            "02 4100 1b00 1700 0400 06 0100ffff002893e417b6f3840d872044598f00004200")
        talk.receives("Find By Type Value Response", "02 4120 0900 0500 0400 07 20002500")
        talk.sends("Read By Type Request", "02 4100 0b00 0700 0400 08 200025000328")
        talk.receives("Read By Type Response", "02 4120 1b00 1700 0400 09 15210004220093e417b6f3840d872044598f01004200")
        talk.sends("Read By Type Request", "02 4100 0b00 0700 0400 08 230025000328")
        talk.receives("Read By Type Response", "02 4120 1b00 1700 0400 09 15230010240093e417b6f3840d872044598f02004200")
        talk.sends("Read By Type Request", "02 4100 0b00 0700 0400 08 250025000328")
        talk.receives("Error Response", "02 4120 0900 0500 0400 01 0825000a")
        talk.sends("Find Information Request", "02 4100 0900 0500 0400 04 25002500")
        talk.receives("Find Information Response", "02 4120 0a00 0600 0400 05 0125000229")
        talk.sends("Write Request", "02 4100 0900 0500 0400 12 2500 0100")
        talk.ends()
    }

    @Test("a button without its service is searched for the other service once, and then disconnected for a while")
    func serviceMissing() throws {
        var talk = try Self.listening()
        talk.receives("LE Connection Complete", "04 3e 13 0100 4000 00 00 010000a98890 1800 0000 4800 00")
        talk.reports(.state(Self.hall, .connected))
        talk.sends("Exchange MTU Request", "02 4000 0700 0300 0400 02 8c00")
        talk.receives("Exchange MTU Response", "02 4020 0700 0300 0400 03 8c00")
        talk.sends(
            "Find By Type Value Request",
            "02 4000 1b00 1700 0400 06 0100ffff002893e417b6f3840d872044598f00004200")
        talk.receives("Error Response", "02 4020 0900 0500 0400 01 0601000a")
        talk.reports(.anomaly("90:88:A9:00:00:01: serviceNotFound while discovering"))
        talk.sends(
            "Find By Type Value Request",
            "02 4000 1b00 1700 0400 06 0100ffff00287dfb0f96cd5c25a72a4fbd2c0000c900")
        talk.receives("Error Response", "02 4020 0900 0500 0400 01 0601000a")
        talk.reports(.anomaly("90:88:A9:00:00:01: serviceNotFound while discovering"))
        talk.reports(.state(Self.hall, .disconnecting))
        talk.sends("Disconnect", "01 0604 03 400013")
        talk.receives("Disconnect: status", "04 0f 04 00010604")
        talk.receives("Disconnection Complete", "04 05 04 00400016")
        talk.reports(.disconnected(Self.hall, .localHostTerminated))
        talk.reports(.state(Self.hall, .disconnected))
        talk.wait(.seconds(19))
        talk.ends()
        talk.wait(.seconds(1))
        talk.sends("LE Create Connection", "01 0d20 19 600060000100000000000000000c000e000000580200000000")
        talk.reports(.state(Self.hall, .connecting))
        talk.ends()
    }

    @Test("three buttons take turns of two seconds in an accept list of two, which is said once")
    func rotated() throws {
        var talk = try Self.opened(buttonCount: 3)
        talk.reports(.controllerReady(BluetoothAddress(rawValue: 0x0011_2233_4455)))
        talk.reports(.capacity(acceptListSize: 2, linkLimit: nil))
        talk.reports(.state(Self.hall, .connecting))
        talk.reports(.state(Self.second, .connecting))
        talk.reports(.state(Self.third, .connecting))
        talk.reports(.buttonsWithoutLink([Self.second, Self.third]))
        talk.sends("LE Add Device To Filter Accept List", "01 1120 07 00010000a98890")
        talk.receives("LE Add Device To Filter Accept List: complete", "04 0e 04 01 1120 00")
        talk.sends("LE Add Device To Filter Accept List", "01 1120 07 00020000a98890")
        talk.receives("LE Add Device To Filter Accept List: complete", "04 0e 04 01 1120 00")
        talk.sends("LE Create Connection", "01 0d20 19 600060000100000000000000000c000e000000580200000000")
        talk.receives("LE Create Connection: status", "04 0f 04 00010d20")
        talk.wait(.seconds(2))
        talk.sends("LE Create Connection Cancel", "01 0e20 00")
        talk.receives("LE Create Connection Cancel: complete", "04 0e 04 01 0e20 00")
        talk.receives("LE Connection Complete", "04 3e 13 01020000000000000000000000000000000000")
        talk.sends("LE Remove Device From Filter Accept List", "01 1220 07 00020000a98890")
        talk.receives("LE Remove Device From Filter Accept List: complete", "04 0e 04 01 1220 00")
        talk.sends("LE Add Device To Filter Accept List", "01 1120 07 00030000a98890")
        talk.receives("LE Add Device To Filter Accept List: complete", "04 0e 04 01 1120 00")
        talk.sends("LE Create Connection", "01 0d20 19 600060000100000000000000000c000e000000580200000000")
        talk.receives("LE Create Connection: status", "04 0f 04 00010d20")
        talk.wait(.seconds(2))
        talk.sends("LE Create Connection Cancel", "01 0e20 00")
        talk.receives("LE Create Connection Cancel: complete", "04 0e 04 01 0e20 00")
        talk.receives("LE Connection Complete", "04 3e 13 01020000000000000000000000000000000000")
        talk.sends("LE Remove Device From Filter Accept List", "01 1220 07 00030000a98890")
        talk.receives("LE Remove Device From Filter Accept List: complete", "04 0e 04 01 1220 00")
        talk.sends("LE Add Device To Filter Accept List", "01 1120 07 00020000a98890")
        talk.receives("LE Add Device To Filter Accept List: complete", "04 0e 04 01 1120 00")
        talk.sends("LE Create Connection", "01 0d20 19 600060000100000000000000000c000e000000580200000000")
        talk.receives("LE Create Connection: status", "04 0f 04 00010d20")
        talk.wait(.seconds(2))
        talk.sends("LE Create Connection Cancel", "01 0e20 00")
        talk.receives("LE Create Connection Cancel: complete", "04 0e 04 01 0e20 00")
        talk.receives("LE Connection Complete", "04 3e 13 01020000000000000000000000000000000000")
        talk.sends("LE Remove Device From Filter Accept List", "01 1220 07 00020000a98890")
        talk.receives("LE Remove Device From Filter Accept List: complete", "04 0e 04 01 1220 00")
        talk.sends("LE Add Device To Filter Accept List", "01 1120 07 00030000a98890")
        talk.receives("LE Add Device To Filter Accept List: complete", "04 0e 04 01 1120 00")
        talk.sends("LE Create Connection", "01 0d20 19 600060000100000000000000000c000e000000580200000000")
        talk.receives("LE Create Connection: status", "04 0f 04 00010d20")
        talk.ends()
    }

    @Test("with one link for two buttons, the idle one is asked to disconnect, and the other one connects")
    func linkShortage() throws {
        var talk = try Self.opened(buttonCount: 2, maximumLinks: 1)
        talk.reports(.controllerReady(BluetoothAddress(rawValue: 0x0011_2233_4455)))
        talk.reports(.capacity(acceptListSize: 2, linkLimit: nil))
        talk.reports(.state(Self.hall, .connecting))
        talk.reports(.state(Self.second, .connecting))
        talk.sends("LE Add Device To Filter Accept List", "01 1120 07 00010000a98890")
        talk.receives("LE Add Device To Filter Accept List: complete", "04 0e 04 01 1120 00")
        talk.sends("LE Add Device To Filter Accept List", "01 1120 07 00020000a98890")
        talk.receives("LE Add Device To Filter Accept List: complete", "04 0e 04 01 1120 00")
        talk.sends("LE Create Connection", "01 0d20 19 600060000100000000000000000c000e000000580200000000")
        talk.receives("LE Create Connection: status", "04 0f 04 00010d20")
        talk.receives("LE Connection Complete", "04 3e 13 010040000000010000a9889018000000480000")
        talk.reports(.state(Self.hall, .connected))
        talk.reports(.capacity(acceptListSize: 2, linkLimit: 1))
        talk.reports(.buttonsWithoutLink([Self.second]))
        // The button gets an auto-disconnect time of 40 s, because the radio has too few links.
        Self.verify(&talk, initialisation: "021707000000cdab341228feffff0392da554ec0")
        Self.beginSession(&talk)
        talk.wait(.seconds(1))
        talk.sends("ForceBtDisconnectInd", "02 4000 0f00 0b00 0400 52 1200 0206006b9ff8c19e")
        talk.reports(.state(Self.hall, .disconnecting))
        talk.receives("Disconnection Complete", "04 05 04 00400013")
        talk.reports(.disconnected(Self.hall, .remoteUserTerminated))
        talk.reports(.state(Self.hall, .connecting))
        talk.reports(.capacity(acceptListSize: 2, linkLimit: nil))
        talk.reports(.buttonsWithoutLink([Self.hall, Self.second]))
        talk.sends("LE Create Connection", "01 0d20 19 600060000100000000000000000c000e000000580200000000")
        talk.receives("LE Create Connection: status", "04 0f 04 00010d20")
        talk.receives("LE Connection Complete", "04 3e 13 010041000000020000a9889018000000480000")
        talk.reports(.state(Self.second, .connected))
        talk.reports(.buttonsWithoutLink([Self.hall]))
        talk.reports(.capacity(acceptListSize: 2, linkLimit: 1))
        talk.sends("Exchange MTU Request", "02 4100 0700 0300 0400 02 8c00")
        talk.ends()
    }

    @Test("a button that is forgotten is disconnected, and nothing is connected any more")
    func forgotten() throws {
        var talk = try Self.ready()
        talk.when(.forget(Self.hall))
        talk.reports(.forgotten(Self.hall))
        talk.sends("Disconnect", "01 0604 03 400013")
        talk.receives("Disconnect: status", "04 0f 04 00010604")
        talk.receives("Disconnection Complete", "04 05 04 00400016")
        talk.ends()
        talk.wait(.seconds(3600))
        talk.ends()
    }

    @Test("firmware is sent after the button has accepted it, and the button is disconnected to start it")
    func firmware() throws {
        var talk = try Self.ready()
        talk.when(.request(Self.hall, .updateFirmware(octets("3821814dfa3a6e06") + Array(0..<64))))
        talk.sends(
            "StartFirmwareUpdateRequest",
            "02 4000 1a00 1600 0400 52 1200 021110003821814dfa3a6e063c00c9410d8dc4")
        talk.receives("StartFirmwareUpdateResponse", "02 4020 1200 0e00 0400 1b 1400 02120000000040e4d271cb")
        talk.reports(.firmwareUpdate(Self.hall, .transferring(percentage: 0)))
        talk.sends("FirmwareUpdateDataInd", "02 4000 1b00 4a00 0400 52 1200 0212000102030405060708090a0b0c0d0e0f1011")
        talk.sends("a further fragment", "02 4010 1b00 12131415161718191a1b1c1d1e1f202122232425262728292a2b2c")
        talk.sends("a further fragment", "02 4010 1800 2d2e2f303132333435363738393a3b3c3d3e3f3e3106bf56")
        talk.receives("FirmwareUpdateNotification", "02 4020 1200 0e00 0400 1b 1400 0213100000002e4cf8b6cb")
        talk.reports(.firmwareUpdate(Self.hall, .finished))
        talk.sends("ForceBtDisconnectInd", "02 4000 0f00 0b00 0400 52 1200 0206017d4ea23d57")
        talk.receives("Disconnection Complete", "04 05 04 00400013")
        talk.reports(.disconnected(Self.hall, .remoteUserTerminated))
        talk.reports(.state(Self.hall, .connecting))
        talk.sends("LE Create Connection", "01 0d20 19 600060000100000000000000000c000e000000580200000000")
        talk.ends()
    }

    @Test("a shutdown asks the button to disconnect, and ends when the link has ended")
    func shutDown() throws {
        var talk = try Self.ready()
        talk.when(.shutDown)
        talk.sends("ForceBtDisconnectInd", "02 4000 0f00 0b00 0400 52 1200 0206010c80b8e4ea")
        talk.reports(.state(Self.hall, .disconnecting))
        talk.receives("Disconnection Complete", "04 05 04 00400013")
        talk.reports(.disconnected(Self.hall, .remoteUserTerminated))
        talk.reports(.state(Self.hall, .disconnected))
        talk.reports(.allDisconnected)
        talk.ends()
        talk.wait(.seconds(3600))
        talk.ends()
    }
}

/// The same button through BlueZ: the packets of the session are those above, without HCI, L2CAP and ATT around them.
@Suite("Conversations of the button manager through BlueZ")
struct SharedConversationTests {
    private static let adapter = "/org/bluez/hci0"
    private static let device = adapter + "/dev_90_88_A9_00_00_01"
    private static let notify = device + "/service0010/char0013"
    private static let write = device + "/service0010/char0011"
    private static let objects: [String: BusInterfaces] = [
        adapter: [
            "org.bluez.Adapter1": ["Address": .string("00:11:22:33:44:55"), "Powered": .bool(true)],
            "org.bluez.GattManager1": [:],
        ],
        device: [
            "org.bluez.Device1": [
                "Address": .string("90:88:A9:00:00:01"), "AddressType": .string("public"), "Trusted": .bool(true),
                "UUIDs": .list([.string("00420000-8f59-4420-870d-84f3b617e493")]),
            ]
        ],
        notify: ["org.bluez.GattCharacteristic1": ["UUID": .string("00420002-8f59-4420-870d-84f3b617e493")]],
        write: ["org.bluez.GattCharacteristic1": ["UUID": .string("00420001-8f59-4420-870d-84f3b617e493")]],
    ]

    private static func changed(_ property: String) -> ButtonManager.Input {
        .bus(
            .propertiesChanged(
                device, interface: "org.bluez.Device1", [property: .bool(true)], invalidated: []))
    }

    /// A session that is ready, and its link.
    private static func ready() throws -> (Conversation, LinkID) {
        var talk = try ConversationTests.known()
        talk.when(.busOpened(.any))
        talk.calls(.getManagedObjects)
        talk.when(.bus(.objects(BusCallID(rawValue: 1), objects)))
        talk.calls(.registerApplication(adapter: adapter))
        talk.when(.bus(.answered(BusCallID(rawValue: 2))))
        talk.reports(.controllerReady(BluetoothAddress(rawValue: 0x0011_2233_4455)))
        talk.reports(.capacity(acceptListSize: 255, linkLimit: nil))
        talk.reports(.state(ConversationTests.hall, .connecting))
        talk.when(changed("Connected"))
        talk.reports(.state(ConversationTests.hall, .connected))
        talk.when(changed("ServicesResolved"))
        let id = LinkID(rawValue: 1 << 31 + 1)
        talk.calls(.acquireNotify(characteristic: notify, id))
        talk.calls(.acquireWrite(characteristic: write, id))
        talk.when(.bus(.acquired(BusCallID(rawValue: 4), attMTU: 140)))
        talk.when(.bus(.acquired(BusCallID(rawValue: 3), attMTU: 140)))
        talk.writes("QuickVerifyRequest", "0005aa85ba74a9df4e4072ba28d5bd56c1be", on: id)
        talk.notifies("QuickVerifyResponse", "220831cbcea1af56503a72ba28d500d48d96b2ff", on: id)
        talk.writes("InitButtonEventsLightRequest", "021707000000cdab3412ffffffff0309fcb6d536", on: id)
        talk.notifies("InitButtonEventsResponseWithoutBootId", "020bb1c9d70000000800000012b8ca329f", on: id)
        talk.reports(.state(ConversationTests.hall, .ready))
        return (talk, id)
    }

    @Test("a known button is verified, and a press is reported at once")
    func pressed() throws {
        var (talk, id) = try Self.ready()
        talk.notifies(
            "ButtonEventNotification",
            "020c13000000d8645500000011a47155000000183e8b55000000119a9a550000001bd864 "
                + "5a00000011d8e45a00000013d8a45b0000003ec160b7ad2e", on: id)
        guard case .events(ConversationTests.hall, let events, ConversationTests.cursor(19), true)? = talk.next else {
            Issue.record("\(String(describing: talk.next))")
            return
        }
        #expect(events.count == 7)
        talk.passOver()
        talk.when(.synced(ConversationTests.hall, ConversationTests.cursor(19)))
        talk.writes("AckButtonEventsInd", "021013000000b44e2445bf", on: id)
    }

    @Test("what a press will report is known before it is handled, as with an adapter of our own")
    func previewed() throws {
        var (talk, id) = try Self.ready()
        talk.notifies(
            "ButtonEventNotification",
            "020c13000000d8645500000011a47155000000183e8b55000000119a9a550000001bd864 "
                + "5a00000011d8e45a00000013d8a45b0000003ec160b7ad2e", on: id)
        talk.passOver()
        talk.when(.synced(ConversationTests.hall, ConversationTests.cursor(19)))
        talk.passOver()
        for (name, text) in [
            ("GetBatteryLevelResponse", "02145c03091c2b8f5d"),
            ("GetNameResponse", "021000000000000048616c6c55653efe2d"),
            ("GetFirmwareVersionResponse", "02050b000000f941d948b7"),
        ] {
            talk.notifies(name, text, on: id)
            talk.passOver()
        }
        let down = octets("020c15000000d8646d000000017bdc32971d")
        let preview = talk.preview(.bus(.received(id, down)))
        #expect(preview?.event == ConversationTests.event(21, .down, ticks: 7_169_240))
        #expect(preview?.cursor == ConversationTests.cursor(21))
        talk.notifies("ButtonEventNotification", "020c15000000d8646d000000017bdc32971d", on: id)
        talk.reports(ConversationTests.live(21, .down, ticks: 7_169_240))
        let other = talk.preview(.bus(.received(LinkID(rawValue: 1), down)))
        #expect(other == nil)
        talk.ends()
    }

    @Test("the end of bluetoothd ends the session, and the button is connected again after the next start")
    func lost() throws {
        var (talk, id) = try Self.ready()
        talk.when(.bus(.ownerLost))
        talk.closes(id)
        talk.reports(.disconnected(ConversationTests.hall, .connectionTimeout))
        talk.reports(.state(ConversationTests.hall, .connecting))
        talk.reports(
            .controllerFailed("BlueZ has ended. Start it: `sudo systemctl start bluetooth`.", .absent))
        talk.when(.transportClosed())
        talk.reports(.state(ConversationTests.hall, .disconnected))
        talk.ends()
    }

    /// BlueZ is ready, and has these objects besides the adapter's.
    private static func open(_ talk: inout Conversation, _ devices: [String: BusInterfaces] = [:]) throws {
        talk.when(.busOpened(.any))
        talk.calls(.getManagedObjects)
        let own = try #require(objects[adapter])
        talk.when(.bus(.objects(BusCallID(rawValue: 1), [adapter: own].merging(devices) { $1 })))
        talk.calls(.registerApplication(adapter: adapter))
        talk.when(.bus(.answered(BusCallID(rawValue: 2))))
        talk.reports(.controllerReady(BluetoothAddress(rawValue: 0x0011_2233_4455)))
        talk.reports(.capacity(acceptListSize: 255, linkLimit: nil))
    }

    @Test(
        "a button that could not be paired, or not in time, is removed from BlueZ, which would connect to it for ever",
        arguments: [false, true])
    func notPaired(isStopped: Bool) throws {
        var talk = Conversation()
        talk.when(.entropy([UInt8](repeating: 7, count: 1056)))
        try Self.open(&talk)
        talk.when(.permitJoin(.seconds(300)))
        talk.reports(.pairing(.searching))
        talk.calls(.setDiscoveryFilter(adapter: Self.adapter, .all))
        talk.when(
            .bus(
                .interfacesAdded(
                    Self.device,
                    [
                        "org.bluez.Device1": [
                            "Address": .string("90:88:A9:00:00:01"), "AddressType": .string("public"),
                            "UUIDs": .list([.string("00420000-8f59-4420-870d-84f3b617e493")]),
                        ]
                    ])))
        talk.passOver()
        talk.wait(.seconds(1))
        talk.passOver()
        let address = BluetoothAddress(rawValue: 0x9088_A900_0001)
        if isStopped {
            talk.when(.stopJoin)
            talk.reports(.abandoned(address))
        } else {
            talk.wait(.seconds(31))
            talk.reports(.pairing(.failed(.connectionTimeout, address)))
        }
        talk.calls(.removeDevice(adapter: Self.adapter, device: Self.device))
        talk.passOver()
    }

    @Test("a button with a random address that users disconnected is parked in BlueZ")
    func unwantedRandomAddress() throws {
        let address = BluetoothAddress(rawValue: 0xC0E4_DA00_0001, kind: .random)
        let key = try #require(PairingKey([UInt8](repeating: 1, count: 16)))
        var button = KnownButton(
            identity: ButtonIdentity(
                address: address, uuid: "5aa61c5615eba33f02eb79b9402cba0a", serial: "BA00-A00001", nickname: "Hall",
                firmwareVersion: 11), pairing: Pairing(identifier: 1, key: key))
        button.settings.isConnectionWanted = false
        let path = Self.adapter + "/dev_C0_E4_DA_00_00_01"
        var talk = Conversation()
        talk.when(.entropy([UInt8](repeating: 7, count: 1056)))
        talk.when(.restored([button]))
        try Self.open(
            &talk,
            [
                path: [
                    "org.bluez.Device1": [
                        "Address": .string("C0:E4:DA:00:00:01"), "AddressType": .string("random"),
                        "Trusted": .bool(true),
                    ]
                ]
            ])
        talk.calls(.setTrusted(device: path, false))
        talk.calls(.disconnect(device: path))
        talk.calls(.setTrusted(device: path))
        talk.ends()
    }
}
