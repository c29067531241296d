"""What a gate found: as a table, as sentences, and as JUnit's XML for continuous integration."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from fsbench_kit.analysis.gate import OBSTACLES
from fsbench_kit.tables.cells import cell_label, metric_text, varying
from fsbench_kit.tables.layout import Column, Group, Table
from fsbench_kit.tables.messages import one_line, percent
from fsbench_kit.tables.verdicts import sentence

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl


def worse_text(tolerance: float) -> str:
    """Say what a gate does not let pass."""
    return "worse" if tolerance == 1 else f"worse by more than {percent(tolerance - 1)}"


def gate_table(found: pl.DataFrame, tolerance: float) -> Table:
    """Make the table of what keeps a comparison from passing, the gravest first.

    Parameters
    ----------
    found
        What `fsbench_kit.analysis.gate.gate` returned.
    tolerance
        The factor by which a figure may be worse.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.gate import gate
    >>> data = fsb.read("raw_results/recorded/ext4-xfs-loop-2026")
    >>> found = gate(fsb.compare(data, metrics=["file_rate"]), 1.05)
    >>> gate_table(found, 1.05).caption
    'The gate is closed'
    """
    names = varying(found)
    groups = []
    for outcome in OBSTACLES:
        rows = found.filter(outcome=outcome)
        head = worse_text(tolerance) if outcome == "worse" else outcome
        shown = tuple((_name(row, names), sentence(row)) for row in rows.iter_rows(named=True))
        groups.append(Group(f"{rows.height} of {found.height} comparisons are {head}", shown))
    stopped = any(group.rows for group in groups)
    passed = f"none of {found.height} comparisons is {worse_text(tolerance)}"
    caption = "The gate is closed" if stopped else f"The gate is open: {passed}"
    return Table(caption, (Column("figure"), Column("what these runs show")), tuple(groups))


def junit(found: pl.DataFrame, tolerance: float) -> bytes:
    """Return what a gate found as JUnit's XML: one test for each comparison.

    What is worse or undecided is a failure, and what is not comparable an error.

    Parameters
    ----------
    found, tolerance
        As in `gate_table`.

    Notes
    -----
    It keeps the rules of the strictest schema in use, Ant's, which asks for a time and a host of each suite.

    Examples
    --------
    >>> import fsbench_kit as fsb
    >>> from fsbench_kit.analysis.gate import gate
    >>> data = fsb.read("raw_results/recorded/ext4-xfs-loop-2026")
    >>> text = junit(gate(fsb.compare(data, metrics=["iops"]), 1.05), 1.05).decode()
    >>> text.count("<testcase"), text.count("<failure")
    (1, 0)
    """
    suites = Element("testsuites")
    names = [name for name in varying(found) if name not in {"study", "tool"}]
    suite_of = found.group_by("study", "tool", maintain_order=True)
    for number, ((study, tool), rows) in enumerate(suite_of):
        outcomes = rows["outcome"]
        package = ".".join(one_line(str(part)) for part in (study, tool) if part)
        suite = SubElement(
            suites,
            "testsuite",
            package=package,
            id=str(number),
            name=package,
            timestamp=f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%S}",
            hostname="localhost",
            tests=str(rows.height),
            failures=str(outcomes.is_in(["worse", "undecided"]).sum()),
            errors=str((outcomes == "not comparable").sum()),
            time="0",
        )
        properties = SubElement(suite, "properties")
        SubElement(properties, "property", name="tolerance", value=f"{tolerance:g}")
        for row in rows.iter_rows(named=True):
            _add_test(suite, row, names, package)
        SubElement(suite, "system-out")
        SubElement(suite, "system-err")
    indent(suites)
    text: bytes = tostring(suites, encoding="UTF-8", xml_declaration=True)
    return text


_ELEMENT: Final = {"worse": "failure", "undecided": "failure", "not comparable": "error"}


def _add_test(suite: Element, row: Mapping[str, Any], names: Sequence[str], package: str) -> None:
    groups = f"{one_line(row['level'])} against {one_line(row['baseline'])}"
    test = SubElement(suite, "testcase", name=f"{_name(row, names)}: {groups}", classname=package, time="0")
    if row["outcome"] in _ELEMENT:
        SubElement(test, _ELEMENT[row["outcome"]], type=row["outcome"], message=sentence(row))


def _name(row: Mapping[str, Any], names: Sequence[str]) -> str:
    return ", ".join(filter(None, [cell_label(row, names), metric_text(row["metric"], row["statistic"])]))
