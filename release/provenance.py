"""Where a release comes from, as an in-toto statement with the predicate of SLSA. Nobody has signed it; who publishes does."""
import hashlib
import json
import subprocess
from pathlib import Path


def answer(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit():
    """The commit of the sources, where it tells what they are: nothing is changed beside it."""
    try:
        return "" if answer("git", "status", "--porcelain", "--untracked-files=no") else answer("git", "rev-parse", "HEAD")
    except (OSError, subprocess.CalledProcessError):
        return ""


def statement(version, repository, digests):
    """`digests`: the SHA-256 of all that is published, by file or image."""
    source, lock = commit(), hashlib.sha256(Path("Cargo.lock").read_bytes()).hexdigest()
    sources = [{"uri": f"git+{repository}", "digest": {"gitCommit": source}}] if source else []
    told = {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(digests.items())],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": f"{repository}/make-release",
                "externalParameters": {"VERSION": version},
                "internalParameters": {"rustc": answer("rustc", "--version")},
                "resolvedDependencies": [*sources, {"name": "Cargo.lock", "digest": {"sha256": lock}}],
            },
            "runDetails": {"builder": {"id": repository}},
        },
    }
    return json.dumps(told, indent=1) + "\n"
