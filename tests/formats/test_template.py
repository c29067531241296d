"""The template is a format that works, and a copy of it is all that a new format takes."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

from fsbench_kit.formats import FORMATS, _template, name
from fsbench_kit.formats.text import Text
from fsbench_kit.model.records import Diagnostic, Run
from tests.formats.reading import Reading

ROOT = Path(__file__).parents[2]
LOG = "example 1.2: 4 threads\nwrite: 123.4 MB/s, 0.81 s\nread: 0.0 MB/s, 12.50 s\ndone\n"

TEMPLATE = Reading(_template)


def test_it_reads_its_own_example() -> None:
    (example,) = (block for block in (_template.__doc__ or "").split("\n\n") if block.startswith("    example"))
    (run,) = [record for record in _template.parse(Text(example)) if isinstance(record, Run)]
    assert (run.tool_version, run.status) == ("1.2", "ok")
    figures = [(m.operation, m.metric, m.value, m.low, m.high, m.state) for m in run.measurements]
    assert figures == [
        ("write", "bandwidth", 123.4e6, 123.35e6, 123.45e6, "measured"),
        ("write", "elapsed", 0.81, 0.81, 0.82, "measured"),
        ("read", "bandwidth", None, None, 0.05e6, "censored"),
        ("read", "elapsed", 12.5, 12.5, 12.51, "measured"),
    ]


def test_what_is_odd_is_said() -> None:
    assert TEMPLATE.codes(LOG) == []
    assert TEMPLATE.codes(LOG.replace("done\n", "")) == ["INCOMPLETE_LOG"]
    assert TEMPLATE.codes(LOG.replace("read: 0.0", "read: 0,0")) == ["UNREAD_FIGURE"]
    assert TEMPLATE.codes(LOG.replace("read:", "write:")) == ["DUPLICATE_FIGURE"]
    assert [run.status for run in TEMPLATE.runs(LOG + LOG.replace("done\n", ""))] == ["ok", "partial"]
    assert all(isinstance(record, Diagnostic) for record in TEMPLATE.records("read: 1.0 MB/s, 1.00 s\n"))


def test_it_is_no_format_itself() -> None:
    assert "_template" not in map(name, FORMATS)


CODE = """
import json, sys
import fsbench_kit as fsb
from fsbench_kit.formats.commands import command_settings
data = fsb.read(sys.argv[1])
print(json.dumps({
    "runs": data.runs.select("study", "tool", "filesystem", "status").rows(),
    "figures": data.measurements.height,
    "settings": sorted(data.settings.select("key", "value", "origin").rows()),
    "diagnostics": data.diagnostics["code"].to_list(),
}))
"""


def test_a_copy_of_it_is_a_format(tmp_path: Path) -> None:
    """It is read, ``study.toml`` knows its tool, its command line is found, and messages name it."""
    package = tmp_path / "package" / "fsbench_kit"
    shutil.copytree(ROOT / "fsbench_kit", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "formats" / "example.py").write_bytes((package / "formats" / "_template.py").read_bytes())
    study = tmp_path / "study"
    study.mkdir()
    (study / "log.txt").write_text(f"$ example -s 4k -q 4\n{LOG}", encoding="utf-8")
    (study / "study.toml").write_text(
        '[study]\nid = "mine"\ntitle = "Mine"\n[[log]]\nfile = "log.txt"\ntool = "example"\nfilesystem = "ext4"\n',
        encoding="utf-8",
    )
    (tmp_path / "none.txt").write_text("XFS is fast.\n", encoding="utf-8")

    def read(path: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", CODE, path]
        return subprocess.run(
            command,
            cwd=tmp_path,
            env={"PYTHONPATH": str(package.parent)},
            capture_output=True,
            text=True,
            check=False,
        )

    assert json.loads(read(study).stdout) == {
        "runs": [["mine", "example", "ext4", "ok"]],
        "figures": 4,
        "settings": sorted(
            [
                ["command", "example -s 4k -q 4", "command"],
                ["example.-q", "true", "command"],
                ["file_size", "4096", "command"],
                ["threads", "4", "command"],
                ["threads", "4", "log"],
            ]
        ),
        "diagnostics": [],
    }
    assert "No log of bonnie++, example, filetree, fio" in read(tmp_path / "none.txt").stderr
