"""Where sluice is published, as the file `home` beside this one says."""
from pathlib import Path


def read(text):
    """The values by their keys."""
    lines = (line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#"))
    return {key: value for key, value in lines}


def own():
    return read(Path(__file__).with_name("home").read_text())
