"""Wrong uses of the command: each has a message that says what to do, the right exit status, and no traceback."""

import errno
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from polars.exceptions import PanicException

import fsbench_kit as fsb
from fsbench_kit import cli
from fsbench_kit.model.errors import InputError, RangeError, RequestError
from tests.command import fsbench

LOG = """\
# datasize: 4k
-------------------------
# {filesystem}
file_create 1000
write: {rate}/sec, write/{elapsed} secs, write_sync/0.100 secs
"""

PATHS = "compare logs"
WRONG = {
    # no command, options that there are not
    "": "Usage",
    "comapre logs": "No such command",
    "--versoin": "No such option",
    "read": "Missing argument",
    "read logs --tow x.csv": "No such option",
    "compare": "Missing argument",
    # paths
    "read nowhere": "nowhere: No such file or directory. The current folder has bad.zip, binary,",
    "read ''": "one of the arguments is empty",
    "read nowhere/*.json": "No file matches this pattern. The current folder has bad.zip,",
    "read lgos/*.json": "No file matches this pattern. The current folder has no lgos. Did you mean logs?",
    "compare logs/*.json logs": "logs/*.json: No file matches this pattern. logs has ext4.txt, xfs.txt.",
    "audit */*.html": "*/*.html: No file matches this pattern. * has",
    "read --explain empty/*": "empty/*: No file matches this pattern. empty is empty.",
    "read logs/*.zip": "logs/*.zip: No file matches this pattern. logs has",
    "read empty": "There is no log",
    "read binary": "binary data",
    "read prose": "fsbench read --explain prose",
    "read bianry": "Did you mean binary?",
    "replicate fio-nvme": "Did you mean fio-nvme-2021?",
    "read /dev/null": "not",
    "read dangling": "dangling: The file cannot be read: No such file or directory. Give files",
    "read bad.zip": "the archive cannot be opened",
    "read many/*.txt --jobs 1": "And 2 more.",
    "read --explain empty": "there are no files in this folder",
    "read --explain nowhere": "No such file or directory",
    "read --explain logs --to x.csv": "Give either --explain or --to",
    "audit nowhere": "nowhere: No such file or directory. The current folder has",
    "audit empty": "empty",
    "repeats nowhere": "No such file or directory",
    "compare nowhere logs": "No such file or directory",
    # files to write
    "read logs --to x.xlsx": "ends in .parquet, .csv or .json",
    "read logs --to /proc/x.csv": "cannot write",
    "read logs --to ''": "Perhaps a variable in the command is not set.",
    "read log.json --to log.json": "it is one of the logs",
    "compare log.json logs --to log.json": "it is one of the logs",
    "repeats log.json --to log.json": "it is one of the logs",
    "audit log.json --to log.json": "it is one of the logs",
    "read logs --to /proc/x": "/proc/x",
    "read logs --wide": "Add --to",
    "read logs --wide --to folder": "six frames are not one wide table",
    f"{PATHS} --to x.docx": "ends in",
    f"{PATHS} --to /proc/x.md": "cannot write",
    f"{PATHS} --to gate.xml": "ends in",
    "repeats --cv 5 --to x": "ends in",
    "repeats --cv 5 --half-width 0": "a half width of 0 cannot be planned for",
    "repeats --cv nope --margin 5%": "'nope' is not a percentage; write 5%",
    "repeats --cv 5 --margin 0.95": "a margin of 0.95 is not a number above 1; write 1.05 for 5 %",
    "repeats unnamed --factor colour": "no colour is known for these runs",
    "read study": '"titel" in [study] is not a known key. Did you mean title?',
    "repeats unnamed": "fsbench repeats unnamed --names 'xfs_{round}.txt'",
    "audit -": "-: No such file or directory",
    "repeats --cv 5 --chart x.bmp": "x.bmp",
    "read logs --to prose/x.csv": "cannot write",
    # numbers
    f"{PATHS} --margin 0.95": "write 1.05 for 5 %",
    f"{PATHS} --margin many": "neither a percentage nor a ratio",
    f"{PATHS} --margin nan": "is not a number above 1",
    f"{PATHS} --margin inf": "is not a number above 1",
    f"{PATHS} --tolerance 5%": "Add --gate",
    f"{PATHS} --gate --tolerance 0.9": "Write 5% or 1.05",
    f"{PATHS} --confidence 95": "0.95",
    f"{PATHS} --confidence much": "not a percentage",
    "repeats --cv much": "not a percentage",
    "repeats --cv -5": "CV",
    "repeats": "pilot",
    "read logs --jobs 0": "greater than or equal to 1",
    "read logs --to data --jobs 2 --ssh hosts.txt": "--jobs cannot be combined with --ssh or --scheduler",
    # words
    f"{PATHS} --factor filesytem": "Did you mean filesystem?",
    f"{PATHS} --baseline ext5": "Did you mean ext4? The choices are: ext4, xfs.",
    f"{PATHS} --metric file_rat": "Did you mean file_rate?",
    f"{PATHS} --metric iops": "no run has a figure of iops",
    f"{PATHS} --where operatoin=read": "Did you mean operation?",
    f"{PATHS} --where operation=wirte": "Did you mean write?",
    f"{PATHS} --where operation": "is not KEY=VALUE",
    f"{PATHS} --rows colour": "names no part of a comparison",
    f"{PATHS} --rows operation --columns operation": "cannot be in both rows and columns",
    f"{PATHS} --labels a,b": "there are not as many labels (2) as paths (1)",
    f"{PATHS} --labels a --factor host": "cannot be combined",
    f"{PATHS} logs --labels a,": "a label is empty",
    f"{PATHS} --names '{{'": "is not a name template",
    f"{PATHS} --names run{{round}}.json": "One that matches: --names '{filesystem}.txt'",
    "compare unnamed logs --metric file_rate": "no run of unnamed has a figure that can be compared",
    "compare unnamed logs --baseline ext5": "'ext5' is not a group of these runs",
    f"{PATHS} --rows filesystem --columns filesystem": "'filesystem' cannot be in both rows and columns",
    f"{PATHS} --columns filesytem": "Did you mean filesystem?",
    "read logs --assume xfs": "is not KEY=VALUE",
    "read logs --assume block_size=banana": "'banana' cannot be assumed",
    # launches and reports
    "launch": "a plan is missing",
    "report log.json --to prose": "prose: cannot write it: File exists Name a place that you can",
    "report logs --to /proc/x": "/proc/x: cannot write it: No such file or directory Name a place that you can",
    "launch quikc --dry-run": "Did you mean quick?",
    "launch prose --dry-run": "prose",
    "launch logs --dry-run": "logs: there is no such plan The choices are:",
    "launch --retry-failed": "--retry-failed needs --resume",
    "launch --resume nothing": "nothing",
    "launch quick --ssh hosts.txt --retry-failed": "--retry-failed needs --resume",
    "launch quick --ssh nowhere.txt": "cannot read the hosts: No such file or directory Give a text file",
    "launch --resume --ssh hosts.txt": "--ssh needs a plan",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    here = tmp_path_factory.mktemp("wrong")
    (here / "logs").mkdir()
    (here / "empty").mkdir()
    (here / "folder").mkdir()
    for name, rate in (("ext4", 2000.0), ("xfs", 3000.0)):
        text = LOG.format(filesystem=name, rate=f"{rate:.3f}", elapsed=f"{1000 / rate:.3f}")
        (here / "logs" / f"{name}.txt").write_text(text)
    (here / "binary").write_bytes(b"\0\1\2\3")
    (here / "prose").write_text("root:$secret:19000\n")
    (here / "log.json").write_text(LOG.format(filesystem="xfs", rate="2500.000", elapsed="0.400"))
    (here / "dangling").symlink_to("nothing")
    (here / "study").mkdir()
    (here / "study" / "study.toml").write_text('[study]\nid = "s"\ntitel = "S"\n')
    (here / "unnamed").mkdir()
    for number in (1, 2):
        (here / "unnamed" / f"xfs_{number}.txt").write_text(
            f"real\t0m1.{number}00s\nuser\t0m0.250s\nsys\t0m0.100s\n"
        )
    (here / "bad.zip").write_bytes(b"PK")
    (here / "many").mkdir()
    for number in range(12):
        (here / "many" / f"{number}.txt").write_text("nothing\n")
    return here


def test_python_forgives_what_it_can_and_says_what_it_cannot(folder: Path) -> None:
    data = fsb.read(folder / "logs", assume={"threads": 4})
    one = fsb.compare(data, metrics="file_rate", where={"operation": "write"})
    assert one.equals(fsb.compare(data, metrics=["file_rate"], where={"operation": ["write"]}))
    logs = {6.1: folder / "logs" / "ext4.txt", 6.8: folder / "logs" / "xfs.txt"}
    assert set(fsb.compare(logs, baseline=6.8)["baseline"]) == {"6.8"}  # type: ignore[dict-item, arg-type]
    with pytest.raises(RequestError, match="str is not a dataset"):
        fsb.compare("logs")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="cannot filter runs: cannot compare string"):
        data.filter(filesystem=3)
    with pytest.raises(RequestError, match="/proc/x: cannot write it"):
        data.write("/proc/x")
    with pytest.raises(RequestError, match=r"a margin of 5% is not a number above 1; write 1.05 for 5 %"):
        fsb.compare(data, margin="5%")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=r"write 0.95 for 95 %"):
        fsb.compare(data, confidence="95%")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="'operation=read' chooses no cells"):
        fsb.compare(data, where="operation=read")  # type: ignore[arg-type]
    for names in (3, [3]):
        with pytest.raises(RequestError, match="3 is not a name template"):
            fsb.read(folder / "logs", names=names)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=r"'fio_version=3.1' cannot be assumed"):
        fsb.read(folder / "logs", assume="fio_version=3.1")  # type: ignore[arg-type]
    for target in ("/proc/x", folder / "log.json"):
        with pytest.raises(RequestError, match=f"{target}: cannot write it"):
            fsb.ingest(folder / "logs", to=target)
    for write in (data.write, fsb.scan, lambda to: fsb.ingest(folder / "logs", to=to)):
        with pytest.raises(RequestError, match="an empty string is not a path"):
            write("")  # type: ignore[operator]
        with pytest.raises(RequestError, match="int is not a path"):
            write(3)  # type: ignore[operator]
    with pytest.raises(RequestError, match=r"no metric was chosen\nThe choices are: elapsed"):
        fsb.compare(data, metrics=[])
    for read in (fsb.read, lambda *given: fsb.ingest(given, to=folder / "data")):
        with pytest.raises(InputError, match="no path was given"):
            read()
    with pytest.raises(RequestError, match=r"'?3'? is not a metric"):
        fsb.compare(data, metrics=3)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="cannot filter runs: invalid predicate"):
        data.filter(3)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="3 is not the key of a setting"):
        data.flat(3)  # type: ignore[arg-type]
    for read in (fsb.read, lambda path, executor: fsb.ingest(path, to=folder / "data", executor=executor)):
        with pytest.raises(RequestError, match="int is not an executor"):
            read(folder / "logs", executor=3)  # type: ignore[operator]
    with pytest.raises(RequestError, match="0 is not a number of processes"):
        fsb.ingest(folder / "logs", to=folder / "data", jobs=0)
    with (
        ThreadPoolExecutor(1) as executor,
        pytest.raises(RequestError, match="jobs and executor cannot be combined"),
    ):
        fsb.ingest(folder / "logs", to=folder / "data", jobs=2, executor=executor)


def test_charts_and_tables_say_what_they_are_made_from(folder: Path) -> None:
    data = fsb.read(folder / "logs")
    table = fsb.compare(data)
    for made in (fsb.charts.forest, fsb.charts.ratio_map, fsb.charts.ratio_maps, fsb.tables.comparison_table):
        with pytest.raises(RequestError, match=r"Dataset is not .* here\nGive what fsb.compare\(dataset\)"):
            made(data)  # type: ignore[operator]
        with pytest.raises(RequestError, match="there is no column"):
            made(data.runs)  # type: ignore[operator]
    names = ("claimed_sizes", "ecdf", "over_time", "percentiles", "replication", "replication_plane")
    for name in (*names, "runs_needed", "trend_lines", "variance_shares"):
        with pytest.raises(RequestError, match="Dataset is not what is needed here"):
            getattr(fsb.charts, name)(data)
    for name in ("run_order", "scaling", "cpu_cost"):
        with pytest.raises(RequestError, match=r"DataFrame is not what is needed here\nGive what fsb.read"):
            getattr(fsb.charts, name)(table)
    with pytest.raises(RequestError, match="The choices are: page, column"):
        fsb.charts.forest(table, width="wide")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="The choices are: page, paper"):
        fsb.charts.forest(table, style="web")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=r"write 1.05 for 5 %"):
        fsb.charts.forest(table, margin=0.95)
    with pytest.raises(RequestError, match="'all' is not a number of effects"):
        fsb.charts.forest(table, most="all")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match=r"'?3'? is not a metric"):
        fsb.charts.ratio_map(table, metric=3)  # type: ignore[arg-type]
    for draw in (fsb.charts.run_order, fsb.charts.scaling, fsb.charts.cpu_cost):
        with pytest.raises(RequestError, match='3 is not a factor\nWrite for example factor="filesystem"'):
            draw(data, factor=3)  # type: ignore[operator]
    with pytest.raises(RequestError, match="DataFrame is not what is needed here"):
        fsb.charts.save(table, folder / "x.svg")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="DataFrame is not what is needed here"):
        fsb.tables.contents(table)  # type: ignore[arg-type]
    for wrong in (data, None, [], [data]):
        with pytest.raises(RequestError, match=r"Give what fsb.scan_fio_histograms\(path\) returns"):
            fsb.merged_histogram(wrong)  # type: ignore[arg-type]
    for write in (partial(fsb.charts.save, fsb.charts.forest(table)), fsb.tables.comparison_table(table).save):
        with pytest.raises(RequestError, match="int is not a path"):
            write(3)  # type: ignore[operator]
    for scan in (fsb.scan_fio_log, fsb.scan_fio_histograms):
        with pytest.raises(RequestError, match="NoneType is not a path"):
            scan(None)  # type: ignore[operator]
    for cv in ("5%", ["5%"], [-0.1]):
        with pytest.raises(RangeError, match=r"is not 0 or more\nWrite 0.05 for 5 %"):
            fsb.sample_size(cv=cv)  # type: ignore[arg-type]


def _words(line: str) -> list[str]:
    return [word.strip("'") for word in line.split(" ")] if line else []


@pytest.mark.parametrize(("line", "sentence"), WRONG.items(), ids=list(WRONG))
def test_a_wrong_use(folder: Path, line: str, sentence: str) -> None:
    result = fsbench(*_words(line), cwd=folder)
    said = " ".join((result.stdout + result.stderr).replace("│", " ").replace("\N{NO-BREAK SPACE}", " ").split())
    assert result.returncode == 2, said
    assert sentence in said
    assert "Traceback" not in said
    assert "defect" not in said
    assert "secret" not in said


def test_there_are_fifty_of_them() -> None:
    assert len(WRONG) >= 50


def test_names_that_are_no_text_are_shown_and_read(folder: Path) -> None:
    (here := folder / "latin").mkdir()
    for name in (b"caf\xe9.txt", b"two\nlines.txt"):
        (here / os.fsdecode(name)).write_bytes((folder / "logs" / "xfs.txt").read_bytes())
        assert fsbench("read", here / os.fsdecode(name), "--jobs", "1").returncode == 0
    data = fsb.read(here)
    assert "caf\\udce9.txt" in data.diagnostics["message"].str.join("").item() + "".join(data.runs["source"])
    assert "nowhere\\udce9" in fsbench("read", os.fsdecode(b"nowhere\xe9")).stderr


def test_without_a_standard_output_there_is_no_traceback(folder: Path) -> None:
    said = subprocess.run(
        ["sh", "-c", f"'{sys.executable}' -c 'from fsbench_kit.cli import main; main()' read nowhere >&-"],
        capture_output=True, text=True, check=False, cwd=folder,
    )  # fmt: skip
    assert (said.returncode, "Traceback" in said.stderr) == (2, False), said.stderr


def test_what_nobody_foresaw_is_said_without_a_traceback(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    for error, status, said in (
        (OSError(errno.ENOSPC, "No space left on device", "/full"), 2, "fsbench: /full: No space left on device"),
        (OSError(errno.ENOSPC, "No space left on device"), 2, "fsbench: the output: No space left on device"),
        (ZeroDivisionError("by zero"), 1, "a bug in fsbench: ZeroDivisionError: by zero"),
        (KeyboardInterrupt(), 130, "Interrupted."),
        (ValueError("cannot build the model: KeyboardInterrupt: "), 130, ""),
        (PanicException("an `Err` value: PyErr { type: <class 'KeyboardInterrupt'> }"), 130, ""),
        (PanicException("index out of bounds"), 1, "a bug in fsbench: PanicException: index out of bounds"),
    ):

        def fail(*_: object, error: BaseException = error, **__: object) -> None:
            raise error

        monkeypatch.setattr(fsb, "read", fail)
        result = fsbench("read", "logs", "--jobs", "1", cwd=folder)
        assert (result.returncode, said in result.stderr) == (status, True), result.stderr


def test_ctrl_c_while_it_is_imported_ends_it_plainly(folder: Path) -> None:
    interrupted = """
import os, signal, sys
from importlib.metadata import entry_points
sys.addaudithook(lambda event, about: os.kill(os.getpid(), signal.SIGINT) if about[:1] == ("typer",) else None)
(fsbench,) = entry_points(group="console_scripts", name="fsbench")
fsbench.load()()
"""
    ended = subprocess.run(
        [sys.executable, "-c", interrupted], capture_output=True, text=True, check=False, cwd=folder
    )
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "")


def test_an_interrupted_launch_says_how_to_go_on(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("fsbench_kit.launch.launch", interrupted)
    result = fsbench("launch", "quick", "--to", "my results", cwd=folder)
    assert (result.returncode, "To resume: fsbench launch --resume --to 'my results'" in result.stderr) == (
        130,
        True,
    )


def test_every_command_has_an_example_in_its_help() -> None:
    for name in (command.name or "" for command in cli.app.registered_commands):
        assert f"fsbench {name}" in fsbench(name, "-h").stdout.split("Options")[0].replace("Usage: fsbench", "")


def test_the_version() -> None:
    assert fsbench("--version").stdout == f"fsbench {fsb.__version__}\n"
