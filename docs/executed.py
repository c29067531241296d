"""Two directives of the manual: code that is run when the site is made, and what comes out of it.

``{python}`` runs code, all blocks of a page in one namespace and in the project's root, and shows the value of its
last expression: a chart as an image, anything else as text. ``{shell}`` runs commands, all blocks of a page in one
folder, which is empty at first and the home of whoever runs them. Code that fails ends the making of the site.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

import altair as alt
from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from fsbench_kit.charts import save
from fsbench_kit.launch.locks import LOCKS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sphinx.application import Sphinx

ROOT: Final = Path(__file__).parents[1]
CHARTS: Final = "_charts"

_LONGEST: Final = 300
"""The most seconds that the commands of a page may take: the manual promises five minutes."""

_AT_THE_END: Final = "\npwd > ~/.folder"


class Executed(SphinxDirective):
    """What both directives share: ``:hidden:`` runs code that readers need not see."""

    has_content = True
    option_spec: ClassVar = {"hidden": directives.flag}

    def shown(self, code: str, language: str) -> nodes.literal_block:
        """Return code as a block."""
        block = nodes.literal_block(code, code, language=language)
        self.set_source_info(block)
        return block

    def output(self, text: str) -> list[nodes.Node]:
        """Return what was printed as a block of its own."""
        return [nodes.container("", self.shown(text, "text"), classes=["output"])] if text.strip() else []

    def kept(self, name: str, first: Any) -> Any:
        """Return what the earlier blocks of the page have left."""
        pages = self.env.temp_data.setdefault("executed", {})
        return pages.setdefault(name, first)


class Python(Executed):
    """``{python}``."""

    def run(self) -> Sequence[nodes.Node]:
        """Run the block, and return it with its value."""
        code = "\n".join(self.content)
        value = evaluated(code, self.kept("names", {}))
        shown: list[nodes.Node] = [] if "hidden" in self.options else [self.shown(code, "python")]
        if value is None:
            return shown
        if isinstance(value, alt.TopLevelMixin):
            return [*shown, self._chart(value)]
        return [*shown, *self.output(repr(value))]

    def _chart(self, chart: Any) -> nodes.container:
        folder = Path(self.env.srcdir, CHARTS)
        folder.mkdir(exist_ok=True)
        name = f"{self.env.docname.replace('/', '-')}-{self.lineno}.svg"
        save(chart, folder / name)
        text = chart.to_dict().get("description", "")
        return nodes.container("", nodes.image(uri=f"/{CHARTS}/{name}", alt=text), classes=["chart"])


def evaluated(code: str, names: dict[str, Any]) -> Any:
    """Run code in the project's root, and return the value of its last expression."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        exec(compile(tree, "manual", "exec"), names)  # noqa: S102
        return eval(compile(ast.Expression(last.value), "manual", "eval"), names) if last else None  # noqa: S307
    finally:
        os.chdir(before)


class Shell(Executed):
    """``{shell}``; a block whose last command fails on purpose says its ``:status:``."""

    option_spec: ClassVar = {**Executed.option_spec, "status": directives.nonnegative_int}

    def run(self) -> Sequence[nodes.Node]:
        """Run the commands, and return them with what they print."""
        code = "\n".join(self.content)
        home = self.kept("home", tempfile.TemporaryDirectory(prefix="fsbench-manual-"))
        times = self.kept("times", [])
        began = time.monotonic()
        printed = ran(code, Path(home.name), self.options.get("status", 0))
        times.append(time.monotonic() - began)
        if sum(times) > _LONGEST:
            raise ExtensionError(f"the commands of {self.env.docname} took {sum(times):.0f} s")
        return [] if "hidden" in self.options else [self.shown(code, "sh"), *self.output(printed)]


def ran(code: str, home: Path, status: int = 0) -> str:
    """Run commands with a home of their own, and return what they print.

    Raises
    ------
    ExtensionError
        If they end with another status; the message has what they printed.
    """
    folder = home / ".folder"
    environment = {
        **os.environ,
        "HOME": str(home),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "XDG_CACHE_HOME": str(home / ".cache"),
        "FSBENCH_ROOT": str(ROOT),
        "COLUMNS": "110",
        "FSBENCH_NO_INSTALL": "1",
        LOCKS: str(home),
    }
    result = subprocess.run(
        ["bash", "-eu", "-c", code + _AT_THE_END],
        cwd=folder.read_text().strip() if folder.exists() else home,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=_LONGEST,
        check=False,
    )
    printed = result.stdout.replace(str(home), "~").rstrip()
    if result.returncode != status:
        raise ExtensionError(f"{code}\nended with {result.returncode} and not with {status}:\n{printed}")
    return printed


def setup(app: Sphinx) -> dict[str, bool]:
    """Enter the directives."""
    app.add_directive("python", Python)
    app.add_directive("shell", Shell)
    return {"parallel_read_safe": True}
