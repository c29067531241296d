"""iozone's tables and reports as other people copy them; figures by eye."""

import os
import re
from pathlib import Path

import pytest

from fsbench_kit.documents import read_document
from fsbench_kit.formats import iozone
from fsbench_kit.model.records import Run
from tests.formats.reading import Reading

DATA = Path(__file__).parents[1] / "data" / "iozone"
SUBSET = (DATA / "3.327-subset.txt").read_text()
MARKDOWN = (DATA / "3.x-tables-in-markdown.txt").read_text()

Cell = tuple[str, int, int]

ROWS = {
    (64, 65536): {"write": "41207", "rewrite": "43318", "random_read": "12345678", "random_write": "38114"},
    (1024, 65536): {"write": "47555", "rewrite": "48012", "random_read": "2380156", "random_write": "47911"},
    (64, 131072): {"write": "40190", "rewrite": "42277", "random_read": "871235", "random_write": "37402"},
    (1024, 131072): {"write": "46228", "rewrite": "47006", "random_read": "13579246", "random_write": "46015"},
}
STRIDES = {(64, 65536): "2210477", (1024, 65536): "2417233", (64, 131072): "10934871", (1024, 131072): "2390118"}
SUBSET_FIGURES = {
    (operation, *sizes): text
    for sizes, row in ROWS.items()
    for operation, text in (row | {"stride_read": STRIDES[sizes]}).items()
}


READING = Reading(iozone)
_parse = READING.parsed
_run = READING.run_of
_codes = READING.codes


def _cells(run: Run) -> dict[Cell, str]:
    """Primary figures by operation, record size and file size, both in kB."""
    return {
        (m.operation, (m.block_size or 0) // 1024, (m.file_size or 0) // 1024): m.text
        for m in run.measurements
        if m.primary
    }


# Versions that cannot be installed


def test_columns_that_were_left_out_of_an_older_version() -> None:
    assert _cells(_run(SUBSET)) == SUBSET_FIGURES
    assert _codes(SUBSET) == []


AUTO = {
    "3.397-auto": {
        ("write", 4, 64): "283412",
        ("freread", 4, 64): "1492919",
        ("reread", 8, 64): "3057153",
        ("random_write", 16, 64): "1163036",  # the next figure follows it without a space
        ("backward_read", 16, 64): "12779447",
        ("record_rewrite", 16, 64): "1304314",
        ("stride_read", 32, 64): "3057153",
        ("frewrite", 64, 64): "1304314",
    },
    "3.424-subset": {
        ("write", 4096, 1048576): "145112",
        ("rewrite", 4096, 1048576): "244871",
        ("random_read", 4096, 1048576): "163402",
        ("random_write", 4096, 1048576): "221733",
        ("fread", 4096, 1048576): "1990211",
        ("freread", 4096, 1048576): "2010456",
        ("write", 4096, 2097152): "143808",
        ("freread", 4096, 2097152): "2003918",
    },
    "3.493-auto": {
        ("write", 64, 128): "498",
        ("rewrite", 64, 128): "371",
        ("read", 128, 128): "2035711",
        ("reread", 64, 256): "12311728",
        ("read", 128, 256): "14170264",
        ("backward_read", 128, 256): "5006351",
        ("fwrite", 128, 256): "952",
        ("frewrite", 256, 256): "6571",
    },
    "3.506-macos-auto": {
        ("write", 4, 1048576): "666148",
        ("rewrite", 4, 1048576): "188602",
        ("random_read", 4, 1048576): "4415112",
        ("random_write", 4, 1048576): "915493",
        ("stride_read", 4, 1048576): "3120447",
        ("fread", 4, 1048576): "8232716",
        ("freread", 4, 1048576): "8301994",
        ("random_read", 1024, 1048576): "15936527",
        ("stride_read", 1024, 1048576): "14022873",
        ("freread", 1024, 1048576): "16530202",
    },
}
COUNTS = {"3.397-auto": 5 * 13, "3.424-subset": 2 * 6, "3.493-auto": 5 * 7, "3.506-macos-auto": 2 * 7}


@pytest.mark.parametrize("name", AUTO)
@pytest.mark.parametrize("has_command", [True, False])
def test_tables_of_versions_with_other_widths(name: str, has_command: bool) -> None:
    log = (DATA / f"{name}.txt").read_text()
    run = _run(log if has_command else re.sub(r"\tCommand line used.*\n", "", log))
    assert run.tool_version == name.partition("-")[0]
    cells = _cells(run)
    assert {cell: cells.get(cell) for cell in AUTO[name]} == AUTO[name]
    assert len(cells) == COUNTS[name]
    assert [m.value for m in run.measurements] == [int(m.text) * 1024 for m in run.measurements]


def test_what_the_options_of_those_versions_say() -> None:
    logs = {name: (DATA / f"{name}.txt").read_text() for name in AUTO}
    direct = {name: [s.value for s in _run(log).settings if s.key == "direct"] for name, log in logs.items()}
    assert direct.pop("3.506-macos-auto") == ["true", "true"]  # from its line, and from the command
    assert set(map(tuple, direct.values())) == {("false",)}
    assert {name: _codes(log) for name, log in logs.items()} == {
        "3.397-auto": [],
        "3.424-subset": [],
        "3.493-auto": [],
        "3.506-macos-auto": ["NOT_DIRECT"],
    }


def test_an_interrupted_run_prints_its_report_all_the_same() -> None:
    log = (DATA / "3.430-interrupted-ops-report.txt").read_text()
    run = _run(log)
    assert (run.status, {m.metric for m in run.measurements}, len(run.measurements)) == ("partial", {"iops"}, 12)
    assert _cells(run)["rewrite", 8, 2048] == "433221"
    assert _codes(log) == ["INCOMPLETE_LOG"]


def test_a_file_that_cannot_be_opened_fails_the_run() -> None:
    log = (DATA / "3.489-no-temp-file.txt").read_text()
    assert (_run(log).status, _run(log).measurements) == ("failed", ())
    assert "RUN_FAILED" in _codes(log)


# What copies do


def _one_line(log: str) -> str:
    return " ".join(log.split())


def _newlines_to_spaces(log: str) -> str:
    return log.replace("\n", " ")


def _empty_lines(log: str) -> str:
    return log.replace("\n", "\n\n")


def _quoted(log: str) -> str:
    return re.sub("^", "> ", log, flags=re.MULTILINE)


def _commented(log: str) -> str:
    return re.sub("^", "# ", log, flags=re.MULTILINE)


def _hard_spaces(log: str) -> str:
    return log.replace(" ", "\N{NO-BREAK SPACE}")


def _from_pdsh(log: str) -> str:
    return re.sub("^", "node-7: ", log, flags=re.MULTILINE)


COPIES = [_one_line, _newlines_to_spaces, _empty_lines, _quoted, _commented, _hard_spaces, _from_pdsh]


@pytest.mark.parametrize("copy", COPIES)
def test_copies_of_a_table_with_blank_columns(copy: object) -> None:
    assert _cells(_run(copy(SUBSET))) == SUBSET_FIGURES  # type: ignore[operator]


@pytest.mark.parametrize("copy", COPIES)
@pytest.mark.parametrize("name", ["3.489-ops", "3.489-mmap-cpu", "3.489-extended"])
def test_copies_of_a_table_and_its_reports(name: str, copy: object) -> None:
    log = (DATA / f"{name}.txt").read_text()
    assert _cells(_run(copy(log))) == _cells(_run(log))  # type: ignore[operator]


ONE_LINE = (
    "random random KB reclen write rewrite read reread read write "
    "64 4 101 102 103 104 105 106 64 8 111 112 113 114 115 116 128 4 121 122 123 124 125 126"
)


def test_tables_on_one_line() -> None:
    """Also where the last row of one of them is cut off."""
    second = ONE_LINE.replace(" 1", " 2").replace(" 228 4", " 128 4")
    runs, said = _parse(f"{ONE_LINE} 128 8 131 132\n and then {second}")
    assert [_cells(run)["write", 4, 128] for run in runs] == ["121", "221"]
    assert [_cells(run)["random_write", 8, 64] for run in runs] == ["116", "216"]
    assert [len(run.measurements) for run in runs] == [18, 18]
    assert [d.excerpt for d in said if d.code == "UNREAD_FIGURE"] == ["128 8 131 132"]


def test_sizes_on_one_line_are_powers_of_two() -> None:
    """Read as rows of three or of four, the pairs would ascend as well; only record sizes tell."""
    table = "KB reclen write rewrite 64 4 100 101 128 8 200 202 256 16 300 303"
    assert _cells(_run(table))["write", 8, 128] == "200"
    other = table.replace(" 8 ", " 9 ").replace(" 4 ", " 5 ").replace(" 16 ", " 17 ")
    assert all(not run.measurements for run in _parse(other)[0])


def test_measurements_that_iozone_calls_invalid() -> None:
    log = SUBSET.replace("Output is in", "Performance measurements are invalid in this mode.\n\tOutput is in", 1)
    assert _cells(_run(log)) == SUBSET_FIGURES
    assert _codes(log).count("QUALIFIED") == 1


def test_without_spacing_and_command_blank_columns_are_not_guessed_at() -> None:
    log = re.sub(".*Command line.*\n", "", SUBSET)
    assert _parse(re.sub("[ \t]+", " ", log))[0][0].measurements == ()
    assert _codes(re.sub("[ \t]+", " ", log)).count("UNREAD_FIGURE") == 4


def test_figures_in_columns_that_were_not_asked_for_are_not_believed() -> None:
    row = next(line for line in SUBSET.splitlines() if "12345678" in line)
    shifted = SUBSET.replace(row, f"{row[:42]}{row[50:]}")  # random read stands under reread
    assert _cells(_run(shifted)) == SUBSET_FIGURES
    assert _codes(shifted) == ["REPAIRED"]


def test_a_layout_of_its_own_is_read_by_the_names_above() -> None:
    table = (
        "      KB  reclen      write    rewrite       read     reread\n"
        "   64000       4       7133       7204                 19055\n"
    )
    assert _cells(_run(table)) == {
        ("write", 4, 64000): "7133",
        ("rewrite", 4, 64000): "7204",
        ("reread", 4, 64000): "19055",
    }


def test_tables_in_markdown() -> None:
    piped, labelled = _parse(MARKDOWN)[0]
    assert _cells(piped) == {
        ("write", 4, 102400): "8251",
        ("rewrite", 4, 102400): "10611",
        ("random_read", 4, 102400): "8315",
        ("random_write", 4, 102400): "10549",
        ("write", 1024, 102400): "33508",
        ("rewrite", 1024, 102400): "33498",
        ("random_read", 1024, 102400): "34148",
        ("random_write", 1024, 102400): "33558",
    }
    assert [s.value for s in labelled.settings if s.key == "description"] == ["Card B / adapter 2"]
    assert _cells(labelled)["random_write", 1024, 102400] == "40031"
    assert _codes(MARKDOWN).count("UNIT_ASSUMED") == 2


def test_a_row_that_comes_again_with_other_figures_is_of_another_run() -> None:
    table = (
        "     kB  reclen    write  rewrite\n"
        "  64000       4     7133     7204\n"
        "\n # the other disk\n"
        "  64000       4     9133     9204\n"
        "  64000       4     9133     9204\n"
    )
    runs, diagnostics = _parse(table)
    assert [_cells(run)["write", 4, 64000] for run in runs] == ["7133", "9133"]
    assert [d.code for d in diagnostics].count("DUPLICATE_FIGURE") == 1


@pytest.mark.parametrize(
    ("command", "metric"),
    [
        ("$ iozone -a -O -s 64m", "iops"),
        ("./iozone -a -N -s 64m", "latency"),
        ("# sudo iozone -a -s 64m", "bandwidth"),
    ],
)
def test_a_command_before_a_table_tells_its_unit(command: str, metric: str) -> None:
    log = f"{command}\n     kB  reclen    write  rewrite\n  64000       4     7133     7204\n"
    assert [m.metric for m in _run(log).measurements] == [metric, metric]
    assert "UNIT_ASSUMED" not in _codes(log)
    assert {s.origin for s in _run(log).settings} == {"command"}


def test_words_between_a_command_and_a_table_make_it_a_statement() -> None:
    log = (
        "iozone -a -s 64m\n\nwas faster:\n\n     kB  reclen    write  rewrite\n  64000       4     7133     7204\n"
    )
    assert {s.origin for s in _run(log).settings} == {"stated"}


def test_commands_alone_are_no_runs() -> None:
    log = f"iozone -a -O\n$ iozone -t 4\n\n{SUBSET}"
    assert len(_parse(log)[0]) == 1


def test_a_row_that_stops_after_its_sizes_before_a_report() -> None:
    log = (
        "              kB  reclen    write  rewrite\n"
        '          262144       4"Writer report"\n        "4"  "8"\n"64"   581273  743988\n"128"   757430\n'
    )
    assert _cells(_run(log)) == {
        ("write", 4, 64): "581273",
        ("write", 8, 64): "743988",
        ("write", 4, 128): "757430",
    }
    assert "INCOMPLETE_LOG" in _codes(log)


# Rows that were broken


def _broken_at(log: str, width: int) -> str:
    """Break lines as a mail does: at the last blank before a width, which goes."""
    return re.sub(rf"(?m)^(?=.{{{width}}})(.{{0,{width}}}\S)(?!\S)[ \t]+(?=\S)", r"\1\n", log)


@pytest.mark.parametrize("width", [50, 60, 70, 76])
@pytest.mark.parametrize("name", ["3.424-subset", "3.493-auto", "3.506-macos-auto"])
def test_rows_that_a_mail_broke(name: str, width: int) -> None:
    log = _broken_at(_broken_at((DATA / f"{name}.txt").read_text(), width), width)
    run = _run(log)
    assert _cells(run) == _cells(_run((DATA / f"{name}.txt").read_text()))
    assert "REPAIRED" in _codes(log)
    assert "UNREAD_FIGURE" not in _codes(log)


FULL = [(64, 4), (64, 8), (64, 16), (64, 32), (64, 64)]


def test_a_row_in_which_figures_run_together_is_lost_if_it_is_broken() -> None:
    log = _broken_at((DATA / "3.397-auto.txt").read_text(), 66)
    assert {(file, record) for _, record, file in _cells(_run(log))} == set(FULL) - {(64, 16)}
    lost = next(d for d in _parse(log)[1] if d.code == "UNREAD_FIGURE")
    assert (lost.excerpt or "").startswith("64 16 380940")


PLAIN = """\
kB reclen write rewrite read reread
64 4 11 12 13 14
64 8 21 22
{rest}
128 4 41 42 43 44
"""


def test_a_row_whose_end_stands_on_a_line_of_its_own() -> None:
    run = _run(PLAIN.format(rest="774034 812086"))
    assert {c: t for c, t in _cells(run).items() if c[1:] == (8, 64)} == {
        ("write", 8, 64): "21",
        ("rewrite", 8, 64): "22",
        ("read", 8, 64): "774034",
        ("reread", 8, 64): "812086",
    }
    assert len(run.measurements) == 12


@pytest.mark.parametrize("rest", ["774034", "774034 812086 5", "774034 81 2086", "and 774034 812086"])
def test_a_line_that_does_not_complete_the_row_above_is_said(rest: str) -> None:
    log = PLAIN.format(rest=rest)
    assert {c[1:] for c in _cells(_run(log))} == {(4, 64), (4, 128)}
    assert "UNREAD_FIGURE" in _codes(log)


def test_a_line_of_figures_below_a_whole_table_is_not_taken_into_it() -> None:
    table = PLAIN.format(rest="").replace("64 8 21 22\n\n", "64 8 21 22 23 24\n")
    assert len(_run(f"{table}17 18 19\n").measurements) == 12
    assert "UNREAD_FIGURE" in _codes(f"{table}17 18 19\n")


def test_a_row_that_was_broken_inside_a_figure_has_no_other_figures() -> None:
    """As by a terminal: the halves of a figure could stand for a column that was left out."""
    whole = re.sub(r".*Command line.*\n", "", (DATA / "3.397-auto.txt").read_text())
    table = "\n".join(f"{line[:87]}{line[96:]}" for line in whole.split("\n"))  # without record rewrite
    intact = _cells(_run(whole)).items()
    for width in range(26, 110):
        log, less = (re.sub(rf"(?m)^( {{8}}.{{{width - 8}}})(?=.)", r"\1\n", chars) for chars in (whole, table))
        assert _cells(_run(log)).items() <= intact, width
        assert all(("stride_read", *cell) not in _cells(_run(less)) for cell in ((4, 64), (8, 64))), width


COMMAND = """\
\tAuto Mode
\tCommand line used: iozone -a -n 64 -g 128 -i 0 -i
{rest}
\tOutput is in kBytes/sec
\tTime Resolution = 0.000001 seconds.
     kB  reclen    write  rewrite
  64000       4     7133     7204
"""


def test_a_command_that_a_mail_broke() -> None:
    run = _run(COMMAND.format(rest="6 -I -R -f\n/mnt/data/iozone.tmp"))
    known = {s.key: s.value for s in run.settings if s.origin == "command"}
    assert known["command"] == "iozone -a -n 64 -g 128 -i 0 -i 6 -I -R -f /mnt/data/iozone.tmp"
    assert (known["iozone.-i"], known["directory"]) == ("0,6", "/mnt/data/iozone.tmp")


def test_a_command_that_was_broken_inside_a_word() -> None:
    log = COMMAND.format(rest="6 -I -R -s 1\n024 -f /mnt/data/iozone.tmp")
    assert [s.key for s in _run(log).settings if s.origin == "command"] == ["command"]
    assert [d.excerpt for d in _parse(log)[1] if d.code == "UNREAD_FIGURE"] == [
        "Command line used: iozone -a -n 64 -g 128 -i 0 -i 6 -I -R -s 1 024 -f /mnt/data/iozone.tmp"
    ]


# Other people's logs

CORPUS = Path(os.environ.get("FSBENCH_CORPUS", "/nonexistent")) / "iozone"

FOUND = {
    "auto/emmc_Rb_az_direct_truncated.txt": [65],
    "auto/ilkermanap_srptarget_07.txt": [1638],
    "auto/joyfeel_3.430_567.txt": [16],
    "auto/rovanion_ext2_3.327.txt": [2119],
    "auto/tk_neo4_tables.txt": [30, 30, 30, 36, 36],
    "auto/tk_odroid_h2_tables_in_markdown.txt": [36, 36, 36],
    "auto/tk_rock5b_4columns.txt": [8, 8, 8],
    "auto/tk_zero2w_whole_article.md.txt": [30, 30],
    "excel/ffs_fs_R_macos_3.493.txt": [642],
    "excel/gcsf_R_macos.txt": [570],
    "excel/gcsf_short_error.txt": [0],
    "excel/toby1984_report_only.txt": [728],
    "other/ricsanfre_pibench_sdcard_ansi_locale.txt": [6],
    "other/ricsanfre_pibench_ssd.txt": [6],
    "throughput/azure_pdsh_prefixed_lines.txt": [1] * 10,
    "throughput/rcore_tmp_iozone_partial_t4.txt": [6],
}
"""File -> the numbers of figures of its runs, counted in the files: rows times columns, lines, matrix cells."""


@pytest.mark.skipif(not CORPUS.is_dir(), reason="FSBENCH_CORPUS names no folder with iozone logs")
@pytest.mark.parametrize("name", FOUND)
def test_other_peoples_logs(name: str) -> None:
    records = list(read_document((CORPUS / name).read_bytes(), name))
    runs = [r for r in records if isinstance(r, Run)]
    assert [sum(m.primary for m in run.measurements) for run in runs] == FOUND[name]


WRITES = "              kB  reclen    write  rewrite\n            4096       4   538523  1032766\n"


@pytest.mark.parametrize(
    "row",
    [
        "            2048 4096   538523  1032766",  # a record that is larger than its file
        "            2048       0   538523  1032766",
        "            4096       6   538523  1032766",  # no power of two, and nobody asked for it
        "         1416802  804722   538523  1032766",
    ],
)
def test_a_row_whose_sizes_cannot_be_is_reported(row: str) -> None:
    assert [(m.file_size, m.block_size) for m in _run(f"{WRITES}{row}\n").measurements] == [(4194304, 4096)] * 2
    assert "UNREAD_FIGURE" in _codes(f"{WRITES}{row}\n")


def test_a_row_has_the_sizes_that_iozone_says_it_was_given() -> None:
    given = f"\tFile size set to 4096 kB\n\tRecord Size 4 kB\n\tOutput is in kBytes/sec\n{WRITES}"
    other = "            8192       4   638523  1132766\n            4096       8   638523  1132766\n"
    assert [m.text for m in _run(given + other).measurements] == ["538523", "1032766"]
    assert _codes(given + other).count("UNREAD_FIGURE") == 2


def test_a_record_size_that_was_asked_for_need_be_no_power_of_two() -> None:
    asked = "\tUsing Minimum Record Size 3 kB\n\tOutput is in kBytes/sec\n" + WRITES.replace(
        "       4 ", "       6 "
    )
    assert {m.block_size for m in _run(asked).measurements} == {6144}


def test_a_report_with_a_record_larger_than_its_file_is_reported() -> None:
    report = '"Writer report"\n        "4"  "4096"\n"2048"   538523  638523\n"4096"   538524  638524\n'
    assert [m.text for m in _run(report).measurements] == ["538524", "638524"]
    assert "UNREAD_FIGURE" in _codes(report)


@pytest.mark.parametrize("missing", range(1, 6))
def test_a_figure_that_was_cut_off_is_none(missing: int) -> None:
    cut = WRITES.rstrip()[:-missing]
    assert not any(run.measurements for run in READING.runs(cut))
    assert "UNREAD_FIGURE" in _codes(cut)
