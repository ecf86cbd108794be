"""What an image is made of, as an SPDX 2.3 document: the program, the Debian packages of the libraries that it loads,
and of those that are compiled into it.

    from lib import sbom

    sbom.write(image, program, libraries, "operator.spdx.json")

The same image gives the same bytes. Licences are not read out of Debian's copyright files, which are for people:
they are NOASSERTION, and the package's own file is named instead.
"""
import hashlib
import json
import subprocess
from pathlib import Path

from .errors import E2EError

_EPOCH = "1970-01-01T00:00:00Z"
# What leaves no library to load: headers, and what a static program takes in.
_COMPILED_IN = ("libboost1.74-dev", "libcli11-dev", "libexpected-dev", "nlohmann-json3-dev")
_COMPILED_INTO_STATIC = ("libc6-dev", "libstdc++-12-dev")


def write(image, program, libraries, out, root=None):
    """image: ociimage.Image. program: the file before it was stripped. libraries: {name: path}, empty for a static one.
    root: the folder of tools/sysroot where they are, unless they are this machine's own."""
    program = Path(program)
    query = ["dpkg-query", *([f"--admindir={root}/var/lib/dpkg"] if root else [])]
    compiled = _installed(query, _COMPILED_IN if libraries else _COMPILED_INTO_STATIC)
    packages = {owner: "DYNAMIC_LINK" for owner in _owners(query, libraries.values(), str(root or ""))}
    packages.update({name: "STATIC_LINK" for name in compiled})
    facts = _facts(query, packages)
    name, tag = image.names[0].rpartition(":")[::2]
    own = {"name": program.name, "SPDXID": "SPDXRef-program", "versionInfo": tag, "downloadLocation": "NOASSERTION",
           "filesAnalyzed": False, "primaryPackagePurpose": "CONTAINER", "licenseConcluded": "NOASSERTION",
           "licenseDeclared": "NOASSERTION", "copyrightText": "NOASSERTION",
           "checksums": [{"algorithm": "SHA256", "checksumValue": image.digest.removeprefix("sha256:")}],
           "externalRefs": [_purl(f"pkg:oci/{program.name}@{image.digest.replace(':', '%3A')}?repository_url={name}")]}
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": image.names[0],
        "documentNamespace": f"https://trainyard.dev/spdx/{program.name}/{image.digest.removeprefix('sha256:')}",
        "creationInfo": {"created": _EPOCH, "creators": ["Tool: tools/images"]},
        "packages": [own, *(_package(facts[each]) for each in sorted(packages))],
        "relationships": [
            {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-program"},
            *({"spdxElementId": "SPDXRef-program", "relationshipType": kind, "relatedSpdxElement": _id(each)}
              for each, kind in sorted(packages.items()))],
    }
    Path(out).write_text(json.dumps(document, indent=1) + "\n")
    return Path(out)


def _owners(query, paths, root):
    """The packages that these files come from."""
    owners = set()
    for path in paths:
        real = Path(path).resolve()
        # Some are known to dpkg below /lib, which is a link by now.
        inside = str(real).removeprefix(str(Path(root).resolve()) if root else "")
        for known in (path.removeprefix(root), inside, inside.removeprefix("/usr")):
            done = subprocess.run([*query, "--search", known], capture_output=True, text=True, check=False)
            if done.returncode == 0:
                owners.add(done.stdout.split(": ")[0].split(":")[0])
                break
        else:
            raise E2EError(f"no package owns {path}: the contents of the image are unknown")
    return owners


def _installed(query, names):
    done = subprocess.run([*query, "-W", "-f", "${db:Status-Status} ${Package}\n", *names],
                          capture_output=True, text=True, check=False)
    return [line.split()[1] for line in done.stdout.splitlines() if line.startswith("installed ")]


def _facts(query, names):
    form = "${Package}\t${Version}\t${source:Package}\t${Architecture}\t${Homepage}\n"
    done = subprocess.run([*query, "-W", "-f", form, *sorted(names)], capture_output=True, text=True, check=False)
    keys = ("name", "version", "source", "architecture", "homepage")
    return {line.split("\t")[0]: dict(zip(keys, line.split("\t"))) for line in done.stdout.splitlines()}


def _package(fact):
    package = {"name": fact["name"], "SPDXID": _id(fact["name"]), "versionInfo": fact["version"],
               "supplier": "Organization: Debian", "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
               "sourceInfo": f"built from the source package {fact['source']}",
               "licenseConcluded": "NOASSERTION", "licenseDeclared": "NOASSERTION",
               "licenseComments": f"/usr/share/doc/{fact['name']}/copyright of the package",
               "copyrightText": "NOASSERTION",
               "externalRefs": [_purl(f"pkg:deb/debian/{fact['name']}@{_quoted(fact['version'])}?arch={fact['architecture']}")]}
    return package | ({"homepage": fact["homepage"]} if fact["homepage"] else {})


def _id(name):
    # Letters, digits, dots and hyphens only.
    return "SPDXRef-deb-" + name.replace("+", "-plus").replace("_", "-")


def _purl(locator):
    return {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator}


def _quoted(version):
    return version.replace("+", "%2B").replace(":", "%3A")
