"""What ``fsbench init`` and ``fsbench audit PAGE`` write down for people to complete."""

import html
import re
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner, Result

import fsbench_kit as fsb
from fsbench_kit.cli import app
from fsbench_kit.data.study import read_study
from fsbench_kit.model.errors import InputError, RequestError

LOG = "real\t0m1.{number}50s\nuser\t0m0.250s\nsys\t0m0.100s\n"


def _fsbench(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, [*map(str, arguments)], catch_exceptions=False)


def _logs(folder: Path, *names: str) -> Path:
    for number, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(LOG.format(number=number))
    return folder


def test_init_writes_what_names_say_and_what_is_unknown(tmp_path: Path) -> None:
    folder = _logs(tmp_path / "my logs", *(f"{fs}_qd{q}_run1.log" for fs in ("xfs", "ext4") for q in (1, 32)))
    said = _fsbench("init", folder).output
    assert "Still unknown: host; os; kernel; cpu; memory; device; how ext4, xfs were made and mounted." in said
    written = (folder / "study.toml").read_text()
    assert '\nnames = "{filesystem}_qd{iodepth}_run1.log"\n' in written
    assert "#   ext4_qd1_run1.log: filesystem ext4, iodepth 1\n" in written
    data = fsb.read(folder)
    assert (
        sorted(data.runs.select("study", "filesystem").rows())
        == [("my-logs", "ext4")] * 2 + [("my-logs", "xfs")] * 2
    )
    assert "warning" not in data.diagnostics["severity"].cast(pl.String).to_list()

    (folder / "study.toml").write_text("# mine\n" + written)
    assert "exists already and was not changed" in _fsbench("init", folder).output
    assert (folder / "study.toml").read_text() == "# mine\n" + written
    (folder / "study.toml").unlink()
    _fsbench("init", folder)
    assert (folder / "study.toml").read_text() == written


def test_names_of_several_patterns_get_a_template_each(tmp_path: Path) -> None:
    names = [f"{fs}_run{n}.log" for fs in ("ext4", "xfs") for n in (1, 2)]
    names += [f"sysbench-{fs}-{n}.log" for fs in ("ext4", "xfs") for n in (1, 2)]
    folder = _logs(tmp_path / "two", *names, "notes.log")
    _fsbench("init", folder)
    study = read_study(folder)
    assert study.study.names == ("sysbench-{filesystem}-{round}.log", "{filesystem}_run{round}.log")
    assert [log.file for log in study.log] == ["notes.log"]  # which none of them fits
    runs = fsb.read(folder).runs.filter(pl.col("filesystem").is_not_null())
    assert (
        sorted(runs.select("filesystem", "round").rows())
        == [("ext4", 1)] * 2 + [("ext4", 2)] * 2 + [("xfs", 1)] * 2 + [("xfs", 2)] * 2
    )
    written = (folder / "study.toml").read_text()
    (folder / "study.toml").unlink()
    _fsbench(
        "init", folder, "--names", "sysbench-{filesystem}-{round}.log", "--names", "{filesystem}_run{round}.log"
    )
    assert (folder / "study.toml").read_text() == written


def test_names_that_are_not_alike_get_a_table_each(tmp_path: Path) -> None:
    names = ("2024-03-01/xfs/a.log", "run_3 (copy).txt", 'say "ext4".log', "xfs-and-ext4.log")
    folder = _logs(tmp_path, *names)
    with pytest.raises(RequestError, match=re.escape(f"fsbench init {folder}")):
        _fsbench("compare", folder)
    assert "the filesystem of 2 of 4 runs" in _fsbench("init", folder).output
    study = read_study(folder)
    said = {log.file: log.filesystem for log in study.log}
    assert said == dict(zip(names, ("xfs", None, "ext4", None), strict=True))
    assert 'filesystem = "xfs"  # by its name' in (folder / "study.toml").read_text()
    data = fsb.read(folder)
    assert data.runs["study"].null_count() == 0
    assert data.diagnostics.is_empty()


def test_a_label_that_names_a_filesystem_is_proposed(tmp_path: Path, root: Path) -> None:
    lines = (root / "tests" / "data" / "bonnie" / "2.00a-two-runs.csv").read_text().splitlines()[1:]
    for line, label in zip(lines, ("bench-xfs", "bench-ext4"), strict=True):
        (tmp_path / f"r{len(label)}.csv").write_text(line.replace(",box,", f",{label},") + "\n")
    _fsbench("init", tmp_path)
    assert 'filesystem = "xfs"  # by the label "bench-xfs"' in (tmp_path / "study.toml").read_text()
    assert sorted(fsb.read(tmp_path).runs["filesystem"]) == ["ext4", "xfs"]


def test_a_template_that_is_given_is_written_down(tmp_path: Path) -> None:
    folder = _logs(tmp_path, "a-xfs.log", "b-ext4.log")
    _fsbench("init", folder, "--names", "{host}-{filesystem}.log")
    assert sorted(fsb.read(folder).runs.select("host", "filesystem").rows()) == [("a", "xfs"), ("b", "ext4")]


def test_init_without_logs_starts_a_project(tmp_path: Path) -> None:
    new = tmp_path / "my [/b] project"
    assert f"Next: cd '{new}'; fsbench report It measures this machine" in " ".join(
        _fsbench("init", new).output.split()
    )
    assert (new / "notebooks" / "03_compare.ipynb").is_file()
    assert not (new / "study.toml").exists()
    with pytest.raises(RequestError, match="notebooks"):
        _fsbench("init", new)


def test_commands_to_copy_quote_what_a_folder_is_called(tmp_path: Path) -> None:
    folder = _logs(tmp_path / "[/b] of mine", "xfs.log")
    assert f"Next: fsbench report '{folder}'" in " ".join(_fsbench("init", folder).output.split())
    (folder / "study.toml").unlink()
    assert f"Then: fsbench audit '{folder}'\n" in _fsbench("audit", folder / "xfs.log").output


def _article(published: Path) -> str:
    """Return a page with six logs, three of them under headings that name their filesystem."""
    logs = published / "raid1-hdd-2020"
    parts = ["<h1>EXT4, <b>XFS</b> &amp; ZFS compared</h1>\n"]
    for filesystem in ("zfs", "ext4", "xfs"):
        bonnie, fio = (
            html.escape((logs / f"{name}-{filesystem}.txt").read_text()) for name in ("bonnie", "fio-randrw-128k")
        )
        parts.append(f"<h2>{filesystem.upper()}</h2>\n<pre>{bonnie}</pre>\n<h3>Requests</h3>\n<pre>{fio}</pre>\n")
    return "".join(parts)


@pytest.fixture
def page(tmp_path: Path, published: Path) -> Path:
    (tmp_path / "article").mkdir()
    page = tmp_path / "article" / "page.html"
    page.write_text(_article(published))
    return page


def _filled(text: str) -> str:
    """Fill in the first stub, as its comments say."""
    before, stub, after = re.split(r"(?=\[\[claim\]\])", text, maxsplit=2)
    lines = [line.removeprefix("# ") for line in stub.splitlines() if not line.startswith("unjudged")]
    return before + "\n".join(lines) + "\n\n" + after


def test_an_article_alone_becomes_a_study_with_claims_to_fill_in(page: Path) -> None:
    said = _fsbench("audit", page).output
    assert re.findall(r"run (\d) of 6, line \d+: (\S+), (\w+), by the heading", said) == [
        (str(number), tool, filesystem)
        for number, (filesystem, tool) in enumerate(
            ((filesystem, tool) for filesystem in ("zfs", "ext4", "xfs") for tool in ("bonnie++", "fio")), 1
        )
    ]
    assert read_study(page.parent).study.title == "EXT4, XFS & ZFS compared"
    data = fsb.read(page.parent)
    assert data.runs.sort("start")["filesystem"].to_list() == ["zfs", "zfs", "ext4", "ext4", "xfs", "xfs"]
    assert not {"NO_SUCH_RUN", "UNNAMED_RUN", "BAD_STUDY"} & set(data.diagnostics["code"])

    again = _fsbench("audit", page)
    assert again.output.count("not judged") == 3
    study = page.parent / "study.toml"
    study.write_text(_filled(study.read_text()))
    (claim,) = fsb.audit(page.parent).filter(pl.col("verdict") != "not judged").rows(named=True)
    assert (claim["claim"], claim["size"], claim["evidence"]) == ("claim-1", "reproduces", "single figures")
    assert _fsbench("audit", page).output == _fsbench("audit", study).output


def test_a_page_among_others_gets_a_folder_of_its_own(page: Path, tmp_path: Path) -> None:
    other = page.with_name("other.txt")
    other.touch()
    said = _fsbench("audit", page).output
    copy = page.with_suffix("") / "page.html"
    assert said.startswith(f"Copied {page} to {copy}; the copy will be audited.\n")
    assert {path.name for path in copy.parent.iterdir()} == {"page.html", "study.toml"}
    _fsbench("audit", page, "--to", tmp_path / "there")
    assert (tmp_path / "there" / "page.html").read_bytes() == page.read_bytes()
    with pytest.raises(InputError):
        _fsbench("audit", other)
    assert not page.with_name("other").exists()
    with pytest.raises(RequestError, match="a single page"):
        _fsbench("audit", page.parent, "--to", tmp_path / "elsewhere")


def test_a_page_that_changed_is_told_from_its_copy(page: Path, tmp_path: Path) -> None:
    page.with_name("other.txt").touch()
    _fsbench("audit", page)
    copy = page.with_suffix("") / "page.html"
    changed = f"{page} has changed since it was copied; auditing the copy, {copy}."
    assert changed not in _fsbench("audit", page).output
    page.write_text(page.read_text() + " ")
    assert changed in _fsbench("audit", page).output
    copy.unlink()
    with pytest.raises(RequestError, match=f"the study there belongs to a page other than {page}"):
        _fsbench("audit", page)
    (there := tmp_path / "there").mkdir()
    (there / "page.html").write_text("something else")
    with pytest.raises(RequestError, match="a different file with the name of"):
        _fsbench("audit", page, "--to", there)
    assert [path.name for path in there.iterdir()] == ["page.html"]


def test_a_page_is_not_written_over_once_it_has_a_copy(page: Path) -> None:
    """Its runs are those of the copy, in the study."""
    page = page.rename(page.with_suffix(".json"))
    page.with_name("other.txt").touch()
    before = page.read_bytes()
    _fsbench("audit", page)
    data = fsb.read(page.parent)
    assert set(data.runs["source"]) == {str(page.with_suffix("") / page.name)}
    with pytest.raises(RequestError, match="it is one of the logs"):
        data.write(page)
    for command in ("read", "compare", "repeats"):
        with pytest.raises(RequestError, match="it is one of the logs"):
            _fsbench(command, page.parent, "--to", page)
    for log in (page, page.with_suffix("") / page.name):
        with pytest.raises(RequestError, match="it is one of the logs"):
            _fsbench("audit", page.with_suffix(""), page, "--to", log)
    assert page.read_bytes() == before


def test_a_page_counts_once(page: Path, tmp_path: Path) -> None:
    copy = page.with_name("copy of page.html")
    copy.write_bytes(page.read_bytes())
    said = _fsbench("audit", page, copy, "--to", tmp_path / "there").output
    assert f"{copy} is a copy of {page}, and counts once." in said
    assert not copy.with_suffix("").exists()


def test_a_study_beside_a_page_is_its_own_whatever_else_is_there(page: Path) -> None:
    _fsbench("audit", page)
    page.with_name("other.html").write_bytes(page.read_bytes())
    assert "not judged" in _fsbench("audit", page).output
    assert not page.with_suffix("").exists()


@pytest.mark.parametrize("text", ['"]\n[system]\nhost = "x', "\x01\x7f", "'''"])
def test_no_name_or_heading_can_write_into_the_description(tmp_path: Path, text: str) -> None:
    folder = _logs(tmp_path, f"{text}-a.log", "else.log")
    (folder / "page.md").write_text(f"# {text} xfs\n\n{LOG.format(number=7)}")
    _fsbench("init", folder)
    assert {f"{text}-a.log", "else.log"} <= {log.file for log in read_study(folder).log}
    assert read_study(folder).system == {}
