"""The lock files pin what pyproject.toml asks for, by hashes alone."""

import re
import tomllib
from itertools import chain
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]


def _pins(name: str) -> dict[str, tuple[str, int]]:
    """Return the version of each package of a lock file, and the number of its hashes."""
    text = (ROOT / name).read_text(encoding="ascii")
    assert "://" not in text
    entries = re.split(r"\n(?=\S)", text.strip())
    parts = [re.match(r"([\w.-]+)==(\S+)", entry) for entry in entries]
    return {
        part[1]: (part[2], entry.count("--hash=sha256:"))
        for part, entry in zip(parts, entries, strict=True)
        if part is not None
    }


def _asked() -> dict[str, list[Requirement]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    groups = project["dependency-groups"]
    core = project["project"]["dependencies"]
    extras = {key: names for key, names in project["project"]["optional-dependencies"].items() if key != "all"}
    assert project["project"]["optional-dependencies"]["all"] == [f"fsbench-kit[{','.join(sorted(extras))}]"]
    texts = {
        "requirements.lock": [*core, *chain(*extras.values()), *groups["dev"]],
        "bench.lock": groups["bench"],
        "fuzz.lock": groups["fuzz"],
    }
    return {name: [Requirement(text) for text in asked] for name, asked in texts.items()}


def test_what_is_asked_for_is_pinned() -> None:
    for name, asked in _asked().items():
        pins = _pins(name)
        for requirement in asked:
            version, _ = pins[canonicalize_name(requirement.name)]
            assert requirement.specifier.contains(version), f"{name}: {requirement}, run: make lock"


def test_each_pin_has_hashes() -> None:
    for name in _asked():
        assert [package for package, (_, hashes) in _pins(name).items() if hashes == 0] == []
