"""A plugin's manifest for krew (kubectl's package manager), which installs the archives of lib/cliarchive.py.

The fields are those that krew's own validation wants (sigs.k8s.io/krew, internal/index/validation, v0.4.3). krew's
public index also wants a licence file in each archive.
"""
_MANIFEST = """\
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: trainyard
spec:
  version: v{version}
  shortDescription: Shows why gangs of TrainingJobs wait and where they run
  description: |
    Looks at TrainingJobs, Queues and nodes of a cluster with Trainyard: why a job
    waits, with numbers, what became of it, what would become of one that is not
    there yet; suspends and resumes jobs, empties nodes of gangs.
  caveats: |
    Needs glibc {glibc} or later. What you see is what your rights in the cluster allow.
  platforms:
"""
_PLATFORM = """\
  - selector:
      matchLabels:
        os: {os}
        arch: {arch}
    uri: {uri}
    sha256: {sha256}
    files:
    - from: "{folder}/*"
      to: "."
    bin: trainyard
"""


def manifest(archives, version, url):
    """url: the folder in which the archives will be found."""
    text = _MANIFEST.format(version=version, glibc=max((each.glibc for each in archives), key=_numbers))
    for each in archives:
        system, _, arch = each.platform.partition("-")
        text += _PLATFORM.format(os=system, arch=arch, uri=f"{url.rstrip('/')}/{each.path.name}", sha256=each.sha256,
                                 folder=each.folder)
    return text


def _numbers(version):
    return tuple(map(int, version.split(".")))
