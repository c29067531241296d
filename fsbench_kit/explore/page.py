"""The exploration of files and folders as a page of its own in the browser: Voilà serves the notebook."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import nbformat
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook
from tornado.web import HTTPError
from traitlets.config import Config
from voila.app import Voila  # type: ignore[import-untyped]
from voila.shutdown_kernel_handler import VoilaShutdownKernelHandler  # type: ignore[import-untyped]

from fsbench_kit.data.project import found
from fsbench_kit.notebooks import check_parameters
from fsbench_kit.notebooks.sockets import kernel_sockets

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTEBOOK: Final = "notebooks/07_explore.ipynb"

_OF_THE_NOTEBOOK: Final = "of-the-notebook"
"""The tag of cells for those who run the notebook: in the page they would show what was chosen at first."""

_LEFT_ALONE: Final = 120
"""Seconds after which the kernel of a closed page ends: longer than a connection may be broken."""


def explore(
    paths: Sequence[str],
    *,
    names: Sequence[str] = (),
    factor: str = "filesystem",
    baseline: str = "",
    port: int = 0,
) -> None:
    """Serve the exploration on this machine until it is interrupted, and open it in a browser.

    Parameters
    ----------
    paths
        Files and folders, or patterns.
    names, factor, baseline
        As in `fsbench_kit.read` and `fsbench_kit.compare`; the latter two can be changed in the page.
    port
        Where to serve it; by default on any port that is free. With a port, no browser is opened.

    Examples
    --------
    It returns when it is interrupted, by Ctrl-C.

    >>> explore(["raw_results/recorded/ext4-xfs-loop-2026"], port=8866)  # doctest: +SKIP
    """
    notebook = found(NOTEBOOK)
    given = {
        # The notebook does not run where it was asked for.
        "data": [str(Path(path).absolute()) for path in paths],
        "names": list(names),
        "factor": factor,
        "baseline": baseline,
        "where": {},
    }
    check_parameters(notebook, given)
    with TemporaryDirectory(prefix="fsbench-explore-") as folder, kernel_sockets() as sockets:
        own = Path(folder, notebook.name)
        filled = parameterize_notebook(load_notebook_node(str(notebook)), given)
        filled.cells = [cell for cell in filled.cells if _OF_THE_NOTEBOOK not in cell.metadata.get("tags", ())]
        nbformat.write(filled, own)  # type: ignore[no-untyped-call]
        _Page.launch_instance([str(own)], config=Config(_settings(sockets, port)))


class _Page(Voila):  # type: ignore[misc]
    """Voilà with a template that asks no other host for style sheets."""

    def setup_template_dirs(self) -> None:
        super().setup_template_dirs()
        self.template_paths.insert(0, str(Path(__file__).with_name("templates")))

    def init_handlers(self) -> list[Any]:
        handlers = super().init_handlers()
        return [
            (path, _Closing if handler is VoilaShutdownKernelHandler else handler, *options)
            for path, handler, *options in handlers
        ]


class _Closing(VoilaShutdownKernelHandler):  # type: ignore[misc]
    """Ends the kernel of a page that closes. Its last request cannot carry a token; only the origin is checked."""

    def check_xsrf_cookie(self) -> None:
        if not self.check_origin():
            raise HTTPError(403)


def _settings(sockets: dict[str, Any], port: int) -> dict[str, dict[str, Any]]:
    return {
        "Voila": {
            "ip": "127.0.0.1",
            "log_level": "ERROR",
            "tornado_settings": {
                # Nothing here needs another host.
                "headers": {
                    "Content-Security-Policy": "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:"
                },
                # The browser is on this machine, which closes the connection of a page that is gone.
                "ws_ping_interval": 0,
            },
            **({"port": port, "open_browser": False} if port else {}),
        },
        # A page that could not say that it closes has no connection any more, and its kernel nobody to work for.
        "MappingKernelManager": {"cull_idle_timeout": _LEFT_ALONE, "cull_interval": _LEFT_ALONE // 4},
        "KernelManager": sockets,
    }
