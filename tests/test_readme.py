"""The README's Python runs as it stands, and its links lead somewhere."""

import re
from pathlib import Path

import pytest

from fsbench_kit.launch import read_plan

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_python_runs_and_says_what_the_text_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 2
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)  # noqa: S102
    table = names["table"]
    (ratio,) = table.filter(pattern="seqwr", metric="bandwidth")["ratio"]  # type: ignore[attr-defined]
    assert f"{ratio:.2f} times as fast" in README
    assert table["ci_low"].null_count() == table.height  # type: ignore[attr-defined,index]


def test_the_plan_is_one(tmp_path: Path) -> None:
    (block,) = re.findall(r"```toml\n(.*?)```", README, re.DOTALL)
    path = tmp_path / "plan.toml"
    path.write_text(block)
    assert read_plan(path).repeats == 10
    # and so is one with all that the table of keys says
    keys = [
        key
        for cell in re.findall(r"^\| (`.*?`) \|", README, re.MULTILINE)
        for key in re.findall(r"`(\w+ = .*?)`", cell)
    ]
    assert len(keys) == 7
    path.write_text("\n".join(keys) + "\n" + block)
    assert read_plan(path).warm_up == 2


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((?!http)([^)#]+)\)", README))))
def test_links_lead_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


@pytest.mark.parametrize("path", sorted(set(re.findall(r"\b(?:plans|notebooks|raw_results)/[\w./-]*\w", README))))
def test_paths_are_there(path: str) -> None:
    assert (ROOT / path).exists() or path == "raw_results/runs"
