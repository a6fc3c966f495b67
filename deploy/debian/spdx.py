"""Lists the components of the programs of the package, as SPDX 2.3: the sources, the Swift packages, the linked runtime, and
the Debian packages of the shared libraries.

    spdx.py DEPENDENCIES VERSION COMMIT SECONDS PROGRAM...

The output depends only on these arguments and the installed packages, so that the build is reproducible.
"""
import json
import re
import subprocess
import sys
from datetime import datetime, timezone
from pathlib import Path
from urllib.parse import quote


def output(*command: str) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def identifier(name: str) -> str:
    return 'SPDXRef-' + re.sub(r'[^A-Za-z0-9.]', '-', name)


def package(name: str, version: str, location: str, declared: str, reference: str | None = None) -> dict:
    entry = {
        'SPDXID': identifier(name), 'name': name, 'versionInfo': version, 'downloadLocation': location,
        'filesAnalyzed': False, 'licenseConcluded': 'NOASSERTION', 'licenseDeclared': declared,
        'copyrightText': 'NOASSERTION'}
    if reference:
        entry['externalRefs'] = [
            {'referenceCategory': 'PACKAGE-MANAGER', 'referenceType': 'purl', 'referenceLocator': reference}]
    return entry


def swift_packages(file: str) -> list[dict]:
    """The packages that SwiftPM resolves. All have the Apache License, some with Swift's exception. tryck-web uses parts of them."""
    with_exception = {
        'swift-algorithms', 'swift-argument-parser', 'swift-async-algorithms', 'swift-atomics', 'swift-collections',
        'swift-numerics', 'swift-system'}
    found = []
    for pin in json.loads(Path(file).read_text())['pins']:
        name, state, location = pin['identity'], pin['state'], pin['location']
        licence = 'Apache-2.0' + (' WITH Swift-exception' if name in with_exception else '')
        found.append(package(
            name, state['version'], f'git+{location}@{state["revision"]}', licence,
            f'pkg:swift/{location.removeprefix("https://")}@{state["version"]}'))
    return found


def libraries(programs: list[str]) -> list[dict]:
    """The Debian packages of the libraries that the dynamic linker loads."""
    paths = set()
    for program in programs:
        paths.update(re.findall(r'=> (/\S+)', output('ldd', program)))
    # dpkg knows a file by its installed name, which differs if /usr is merged.
    names = set()
    for path in sorted(paths):
        for candidate in (path, str(Path(path).resolve()), path.removeprefix('/usr'), '/usr' + path):
            known = subprocess.run(['dpkg-query', '--search', candidate], capture_output=True, text=True)
            if known.returncode == 0:
                names.add(known.stdout.split(':')[0])
                break
        else:
            sys.exit(f'spdx.py: no installed package has {path}')
    found = []
    for name in sorted(names):
        version, architecture = output(
            'dpkg-query', '--show', '--showformat=${Version} ${Architecture}\n', name).splitlines()[0].split()
        found.append(package(
            name, version, 'NOASSERTION', 'NOASSERTION', f'pkg:deb/debian/{quote(name)}@{quote(version, safe="~")}?arch={architecture}'))
    return found


def main() -> None:
    dependencies, version, commit, seconds, *programs = sys.argv[1:]
    swift = re.search(r'Swift version (\S+)', output('swift', '--version'))
    tryck = package('tryck', version, 'NOASSERTION', 'Apache-2.0')
    tryck['sourceInfo'] = f'commit {commit}'
    inside = swift_packages(dependencies) + [
        package('swift-runtime', swift[1] if swift else 'NOASSERTION', 'https://www.swift.org/install/',
                'Apache-2.0 WITH Swift-exception'),
        package('libstdc++', output('gcc', '-dumpfullversion').strip(), 'NOASSERTION',
                'GPL-3.0-or-later WITH GCC-exception-3.1')]
    outside = libraries(programs)
    relations = [('SPDXRef-DOCUMENT', 'DESCRIBES', tryck['SPDXID'])]
    relations += [(tryck['SPDXID'], 'STATIC_LINK', entry['SPDXID']) for entry in inside]
    relations += [(tryck['SPDXID'], 'DYNAMIC_LINK', entry['SPDXID']) for entry in outside]
    print(json.dumps({
        'spdxVersion': 'SPDX-2.3', 'dataLicense': 'CC0-1.0', 'SPDXID': 'SPDXRef-DOCUMENT', 'name': f'tryck-{version}',
        'documentNamespace': f'https://spdx.org/spdxdocs/tryck-{version}-{commit}',
        'creationInfo': {
            'created': datetime.fromtimestamp(int(seconds), timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ'),
            'creators': ['Tool: deploy/debian/spdx.py']},
        'packages': [tryck, *inside, *outside],
        'relationships': [
            {'spdxElementId': one, 'relationshipType': kind, 'relatedSpdxElement': other}
            for one, kind, other in relations]}, indent=1))


main()
