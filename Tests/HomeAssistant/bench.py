"""Measures the time from a press to its message, for a rule of tryckd and for automations of Home Assistant."""
import statistics
import time
from collections.abc import Iterable
from pathlib import Path

import automations
from bridge import Control
from house import House

PRESSES = 200
BUTTON = '80e4da000001'
RAW = f'tryck/{BUTTON}/raw'
SIMULATOR = 'buttons: {kitchen: {address: "80:E4:DA:00:00:01", public: true}}\n'
# With only `click` in the rules, a click is reported on `down`, without waiting for a second press.
RULES = """\
version: 1
buttons:
  kitchen: {address: "80:E4:DA:00:00:01"}
rules:
  - id: bench
    triggers: {button: kitchen, event: click}
    actions:
      - publish: {topic: acceptance/rule, payload: click}
"""


async def measure(directory: Path) -> int:
    house = House(directory)
    try:
        await house.start()
        simulator = directory / 'simulator.yaml'
        simulator.write_text(SIMULATOR)
        house.bridge = await house.add_bridge('tryck', f'simulated:{simulator}', rules=RULES, build='release')
        await house.bridge.ask('permit_join', time=60)
        await house.bridge.ready(BUTTON)
        await house.announced(f'tryck_{BUTTON}')
        device = await house.home.device(f'tryck_{BUTTON}')
        entities = await house.home.entities(f'tryck_{BUTTON}_')
        [trigger] = [each for each in await house.home.triggers(device['id']) if each['type'] == 'button_short_press']
        by_trigger = await presses(house, automations.on_device_trigger('bench', trigger), 'action')
        by_entity = await presses(house, automations.guarded('bench', entities['event']['entity_id']), 'event')
    finally:
        await house.end()

    print('.build/release/tryckd, a button in a simulated air, mosquitto, Home Assistant 2025.4.4; '
          f'{PRESSES} presses for each automation')
    print(f'{"ms: min / median / p99":36}{"from the press":>24}{"after the rule":>24}')
    rules = [rule for rule, _ in by_trigger + by_entity]
    print(f'{"rule -> MQTT":36}{row(rules):>24}')
    for name, times in (('device trigger', by_trigger), ('event entity', by_entity)):
        whole, beside = [late for _, late in times], [late - rule for rule, late in times]
        print(f'{f"{name} -> automation -> MQTT":36}{row(whole):>24}{row(beside):>24}')
    return 0


def row(seconds: Iterable[float]) -> str:
    times = sorted(1000 * each for each in seconds)
    return f'{times[0]:.2f} / {statistics.median(times):.2f} / {times[int(0.99 * len(times))]:.2f}'


async def presses(house: House, automation: automations.Automation, topic: str) -> list[tuple[float, float]]:
    """Seconds from each press to the message of the rule and to that of the automation."""
    await house.home.add_automation('bench', automation)
    await house.broker.subscribed(f'tryck/{BUTTON}/{topic}')
    async with house.bridge.control() as control:
        times = [await press(house, control) for _ in range(PRESSES)]
    await house.home.remove_automation('bench')
    return times


async def press(house: House, control: Control) -> tuple[float, float]:
    mark, start = house.heard.tape.mark, time.perf_counter()
    await control.ask('simulator/press', button='kitchen', press='down')
    rule = await house.heard.wait('acceptance/rule', since=mark)
    ran = await house.heard.wait(automations.RAN, since=mark)
    await control.ask('simulator/press', button='kitchen', press='up')
    await house.heard.tape.wait(
        lambda message: message.topic == RAW and message.json['event_type'] == 'up', 'up', since=mark)
    return rule.at - start, ran.at - start
