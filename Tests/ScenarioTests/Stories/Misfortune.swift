import BluetoothHost
import Hub
import JSON
import Simulator

/// An event in a house, good or bad.
enum Misfortune: Hashable, Sendable {
    case press(String, SimulatedPress)
    /// A press of a small button, a swipe or a turn.
    case move(SimulatedWorld.Input)
    /// Both buttons at once, as for a chord.
    case pressTogether(String, String)
    case reach(String, Bool)
    case button(String, SimulatedFault)
    case battery(String, millivolts: Int)

    case unplug
    case adapter(ControllerFault)
    /// The adapter cannot be opened.
    case adapterIsAway(Bool)
    case unplugRadio(Int)
    /// One of several radios cannot be opened.
    case radioIsAway(Int, Bool)
    /// One of several radios stalls, or tells what is not so.
    case radioFault(Int, ControllerFault)
    /// The strength with which a button and a radio hear each other; `nil`: they do not.
    case signal(String, radio: Int, Int8?)
    /// The program between the hub and a controller is in trouble.
    case farEnd(Int, FarEndTrouble)

    case loseBroker
    case bringBrokerBack
    case brokerIsSilent(Bool)
    case say(String, on: String)
    case retain(String, on: String)

    case diskIsFull(Bool)
    /// Where records are kept while the disk is full.
    case refuge(RecordRefuge)
    case syncsAreSlow(Bool)
    case finishSyncs(Bool)

    /// The daemon stops in order, which takes some time, and starts again.
    case stop
    case crash(for: Duration)
    case cutPower(for: Duration)
    /// The process dies during the next effects, after this number of them.
    case dieWithin(effects: Int, isPowerCut: Bool)
    case setClock(forwardBy: Duration)

    case reload(StoryRules)
    case loadsAreSlow(Bool)
    case finishLoads

    case programsEnd(Bool)
    case endPrograms(exit: Int32, saying: String)
    case ask(String)
}

extension Misfortune {
    func strike(_ house: inout Household) {
        switch self {
        case .press(let button, let press): house.press(button, press)
        case .move(let input): house.move(input)
        case .pressTogether(let one, let other):
            house.press(one, .click)
            house.press(other, .click)
        case .reach(let button, let isReachable): house.reach(button, isReachable)
        case .button(let button, let fault): house.breakButton(button, fault)
        case .battery(let button, let millivolts): house.drain(button, millivolts: millivolts)
        case .unplug: house.unplugAdapter()
        case .adapter(let fault): house.breakAdapter(fault)
        case .adapterIsAway(let isAway):
            house.keepsAdapterAway = isAway
            if isAway { house.unplugAdapter() }
        case .unplugRadio(let radio): house.unplugAdapter(radio)
        case .radioIsAway(let radio, let isAway):
            if isAway { house.radiosAway.insert(radio) } else { house.radiosAway.remove(radio) }
            if isAway { house.unplugAdapter(radio) }
        case .radioFault(let radio, let fault): house.breakAdapter(fault, radio)
        case .signal(let button, let radio, let rssi): house.signal(button, radio, rssi)
        case .farEnd(let radio, let trouble): house.trouble(radio, trouble)
        case .loseBroker: if house.brokerIsUp { house.loseBroker() }
        case .bringBrokerBack: if !house.brokerIsUp { house.bringBrokerBack() }
        case .brokerIsSilent(let isSilent):
            house.brokerIsSilent = isSilent
            if !isSilent { house.acknowledge() }
        case .say(let payload, let topicName): house.say(payload, on: topicName)
        case .retain(let payload, let topicName): house.retain(payload, on: topicName)
        case .diskIsFull(let isFull): house.diskIsFull = isFull
        case .refuge(let refuge): house.refuge = refuge
        case .syncsAreSlow(let areSlow):
            house.syncsAreSlow = areSlow
            if !areSlow { house.finishSyncs() }
        case .finishSyncs(let success): house.finishSyncs(success: success)
        case .stop: house.tell(.stop)
        case .crash(let downtime): house.crash(for: downtime)
        case .cutPower(let downtime): house.cutPower(for: downtime)
        case .dieWithin(let effects, let isPowerCut): house.end = (effects, isPowerCut)
        case .setClock(let duration): house.setClock(forwardBy: duration)
        case .reload(let rules): house.reload(rules)
        case .loadsAreSlow(let areSlow):
            house.loadsAreSlow = areSlow
            if !areSlow { house.finishLoads() }
        case .finishLoads: house.finishLoads()
        case .programsEnd(let doEnd):
            house.programsEnd = doEnd
            if doEnd { house.endPrograms() }
        case .endPrograms(let status, let output): house.endPrograms(.exited(status), saying: output)
        case .ask(let request): house.ask(request)
        }
    }
}

extension Household {
    /// Repairs everything that is broken.
    mutating func mend() {
        for button in Story.buttons {
            breakButton(button.name, .ignoresRequests(false))
            reach(button.name, true)
            if radioCount > 1 { for radio in 0..<radioCount { signal(button.name, radio, -60) } }
        }
        for radio in 0..<radioCount {
            for trouble: SimulatedProxy.Trouble in [
                .hideEnds(0, freesSlots: true), .loseNotifications(0), .failAttempts(0),
            ] { self.trouble(radio, .proxy(trouble)) }
        }
        radiosAway = []
        end = nil
        keepsAdapterAway = false
        diskIsFull = false
        for mended: Misfortune in [
            .bringBrokerBack, .brokerIsSilent(false), .syncsAreSlow(false), .loadsAreSlow(false), .programsEnd(true),
            .reload(.usual),
        ] { mended.strike(&self) }
    }

    fileprivate mutating func reload(_ rules: StoryRules) {
        rulesAreBad = rules == .bad
        testsFail = rules == .failing
        if let set = rules.rules { rulesOnDisk = set }
        tell(.reloadRules)
    }
}
