"""Reports a training's progress to Trainyard in one line of the log: docs/progress.md. Copy this file beside your program.

    from trainyard_progress import report, checkpointed
    for step, batch in enumerate(loader):
        ...
        report(step=step, totalSteps=len(loader), samplesPerSecond=rate, loss=float(loss))
        if step % 1000 == 0:
            torch.save(...)
            checkpointed(step=step)
"""
import datetime
import json
import math
import sys
import threading
import time

_EVERY = 10.0  # seconds; calls in between cost nothing
_lock = threading.Lock()
_last = -math.inf
_held = {}  # what calls in between reported; it goes into the next line, unless that one replaces it


def _usable(value):
    if isinstance(value, dict):
        return {str(key): each for key, each in value.items() if _usable(each) is not None}
    if isinstance(value, str):
        return value
    number = float(value)  # also of tensors and arrays with one element
    if not math.isfinite(number):
        return None  # JSON knows neither NaN nor infinity
    return int(number) if number.is_integer() else number


def report(at_once=False, **fields):
    """Fields: step, totalSteps, samplesPerSecond, remainingSeconds, replicas, noiseSamples, checkpoint,
    ranks ({rank: seconds of a step}), and any figure of your own, such as loss."""
    global _last
    with _lock:
        now = time.monotonic()
        _held.update({name: dict(value) if isinstance(value, dict) else value
                      for name, value in fields.items() if value is not None})
        if not at_once and now - _last < _EVERY:
            return
        _last, said = now, dict(_held)
        _held.clear()  # before anything can go wrong: one bad figure spoils one line
        said = {name: _usable(value) for name, value in said.items()}
        line = json.dumps({name: value for name, value in said.items() if value is not None})
        sys.stdout.write(f"\ntrainyard-progress: {line}\n")  # its own line, whatever stands before
        sys.stdout.flush()


def checkpointed(**fields):
    """A checkpoint has been written, as far as it is needed to go on from it."""
    report(at_once=True, checkpoint=datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), **fields)
