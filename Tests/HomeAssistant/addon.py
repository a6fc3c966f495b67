"""Checks the add-on's config.yaml and apparmor.txt with the Supervisor's own code; Tests/HomeAssistant/check-addon starts this.

The first argument is a checkout of the Supervisor.
"""
import logging
import re
import sys
import types
from importlib.machinery import FileFinder, SourceFileLoader
from pathlib import Path

import voluptuous
import yaml

ADDON = Path(__file__).resolve().parents[2] / 'deploy/homeassistant/addon'
# The schema imports these modules for its types only; the modules themselves need a running Supervisor.
UNUSED = {
    'coresys': ('CoreSys', 'CoreSysAttributes'), 'hardware.const': ('UdevSubsystem',), 'hardware.data': ('Device',),
    'exceptions': ('HardwareNotFound', 'AppArmorFileError', 'AppArmorInvalidError')}


class OlderPython(SourceFileLoader):
    """Adds the parentheses that Python before 3.14 needs in `except A, B:`."""

    def source_to_code(self, data: bytes, path: str, **options: object) -> types.CodeType:
        text = re.sub(rb'except ([\w.]+(?:, [\w.]+)+):', rb'except (\1):', data)
        return super().source_to_code(text, path, **options)


def load(checkout: str) -> None:
    """Makes the Supervisor's modules importable without running the code of its packages."""
    def add(name: str) -> types.ModuleType:
        module = sys.modules[name] = types.ModuleType(name)
        module.__path__ = [str(Path(checkout, *name.split('.')))]
        return module

    sys.dont_write_bytecode = True

    def finder(path: str) -> FileFinder:
        if not path.startswith(checkout):
            raise ImportError
        return FileFinder(path, (OlderPython, ['.py']))

    sys.path_hooks.insert(0, finder)
    for package in ('', '.apps', '.docker', '.hardware', '.jobs', '.utils'):
        add(f'supervisor{package}')
    for name, types_of_it in UNUSED.items():
        module = add(f'supervisor.{name}')
        for each in types_of_it:
            setattr(module, each, type(each, (Exception,), {}))


def main() -> int:
    load(sys.argv[1])
    from supervisor.apps.validate import SCHEMA_APP_CONFIG, _LOGGER
    from supervisor.utils.apparmor import get_profile_name

    advice: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: advice.append(record.getMessage())
    _LOGGER.addHandler(handler)
    config = yaml.safe_load((ADDON / 'config.yaml').read_text())
    try:
        accepted = SCHEMA_APP_CONFIG(config)
    except voluptuous.Invalid as refusal:
        print(f'config.yaml: the Supervisor refuses it: {refusal}', file=sys.stderr)
        return 1
    # The schema removes keys that it does not know.
    advice += [f'the Supervisor does not know {key}' for key in config if key not in accepted]
    if get_profile_name(ADDON / 'apparmor.txt') != config['slug']:
        advice.append('the profile in apparmor.txt has another name than the slug')
    for line in advice:
        print(f'the add-on: {line}', file=sys.stderr)
    if not advice:
        print('The Supervisor accepts the add-on.')
    return 1 if advice else 0


sys.exit(main())
