"""How the jobs of a folder of examples go on simulated nodes, which run nothing, and how they end: its story.yaml."""
from pathlib import Path

import yaml

EXPECT = "trainyard.dev/expect-phase"


def script_of(folder):
    """{job name: {"ends": phase, role: {what: value}}}"""
    path = Path(folder) / "story.yaml"
    return yaml.safe_load(path.read_text()) or {} if path.exists() else {}


def follow(script, obj):
    """Writes it into the job, as the annotations that simulated kubelets and the demo read; the same object."""
    parts = script.get(obj["metadata"]["name"]) if obj["kind"] == "TrainingJob" else None
    if not parts:
        return obj
    if "ends" in parts:
        _note(obj, EXPECT, parts["ends"])
    for role in obj["spec"]["roles"]:
        for what, value in parts.get(role["name"], {}).items():
            _note(role["template"], f"sim.trainyard.dev/{what}", value)
    return obj


def _note(obj, key, value):
    obj.setdefault("metadata", {}).setdefault("annotations", {}).setdefault(key, value)
