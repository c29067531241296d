"""The README fits on a screen, names the main commands, and its Python runs as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_it_is_one_screen_with_the_two_commands() -> None:
    assert len(README.splitlines()) <= 70
    assert re.search(r"^make report .*\nmake test ", README, re.MULTILINE)


def test_the_python_runs_and_says_what_the_text_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    (block,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    names: dict[str, object] = {}
    exec(block, names)  # noqa: S102
    table = names["table"]
    (ratio,) = table.filter(pattern="seqwr", metric="bandwidth")["ratio"]  # type: ignore[attr-defined]
    assert f"{ratio:.2f} times as fast" in README
    assert table["ci_low"].null_count() == table.height  # type: ignore[attr-defined,index]
