"""The exploration as a page of its own: ``fsbench explore``."""

import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from unittest import mock

import psutil
import pytest
from typer.testing import CliRunner

from fsbench_kit.cli import app
from tests.ports import free_port

NAMES = "{filesystem}_{}.log"


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "logs").mkdir()
    for name in ("ext4_1", "ext4_2", "xfs_1", "xfs_2"):
        log = f"real\t0m1.{len(name)}{name[-1]}0s\nuser\t0m0.250s\nsys\t0m0.100s\n"
        (tmp_path / "logs" / f"{name}.log").write_text(log)
    monkeypatch.chdir(tmp_path)
    return "logs"


def test_the_page_shows_the_logs_that_were_named(logs: str, root: Path) -> None:
    served: dict[str, Any] = {}

    def serve(arguments: list[str], config: dict[str, dict[str, object]]) -> None:
        served["notebook"] = Path(arguments[0]).read_text()
        served["address"] = str(config["Voila"]["ip"])
        served["left alone"] = config["MappingKernelManager"]["cull_idle_timeout"]

    with mock.patch("voila.app.Voila.launch_instance", serve):
        result = CliRunner().invoke(app, ["explore", logs, "--names", NAMES, "--factor", "host"])
    assert result.exit_code == 0, result.output
    assert served["address"] == "127.0.0.1"
    assert served["left alone"] == 120
    for parameter in (rf"data = [\"{Path(logs).absolute()}\"]", rf"names = [\"{NAMES}\"]", r"factor = \"host\""):
        assert parameter in served["notebook"]
    # cells have been run, and there is nobody to run those that would follow the panel
    assert "Choose from the lists" in served["notebook"]
    for of_the_notebook in ("Run all cells", "Run the cells below", "panel.view.table"):
        assert of_the_notebook in (root / "notebooks" / "07_explore.ipynb").read_text()
        assert of_the_notebook not in served["notebook"]


def test_what_cannot_be_read_opens_no_page(tmp_path: Path) -> None:
    with mock.patch("voila.app.Voila.launch_instance") as serve:
        result = CliRunner().invoke(app, ["explore", str(tmp_path / "nowhere")])
    assert "nowhere" in str(result.exception)
    assert not serve.called


@pytest.fixture
def port() -> int:
    return free_port()


@contextmanager
def _served(logs: str, port: int, home: Path, before: str = "") -> Iterator["subprocess.Popen[bytes]"]:
    (home / "tmp").mkdir()
    program = f"{before}\nfrom fsbench_kit.cli import main\nmain()"
    command = [sys.executable, "-c", program, "explore", logs, "--names", NAMES]
    with subprocess.Popen(
        [*command, "--port", str(port)],
        env={"PATH": "/usr/bin", "HOME": str(home), "TMPDIR": str(home / "tmp")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as server:
        try:
            _await_port(port)
            yield server
        finally:
            if server.poll() is None:
                server.send_signal(signal.SIGINT)
            try:
                server.wait(30)
            finally:
                server.kill()


@pytest.mark.slow
@pytest.mark.browser
def test_controls_stay_in_sight_and_what_is_chosen_is_an_address(
    logs: str, port: int, tmp_path: Path, chromium: Any
) -> None:
    asked: list[str] = []
    with _served(logs, port, tmp_path):
        page = chromium.new_page(viewport={"width": 1200, "height": 420})
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"http://127.0.0.1:{port}/", timeout=90_000)
        link = page.get_by_text("Link to what is shown")
        link.wait_for(timeout=90_000)
        controls = page.locator(".fsbench-explore > :first-child")
        page.locator(".fsbench-explore textarea").first.evaluate("area => area.scrollIntoView()")
        top, bottom, left = controls.evaluate(
            "e => (({top, bottom, left}) => [top, bottom, left])(e.getBoundingClientRect())"
        )
        assert top < bottom > 200
        chart = page.get_by_role("button", name="Ratios")
        chart.scroll_into_view_if_needed()
        assert chart.bounding_box()["x"] > left + 300
        metric = page.get_by_label("Metric")
        metric.select_option(index=1)
        link.filter(visible=True).and_(page.locator("[href*=metrics]")).click(timeout=30_000)
        page.wait_for_url("**/?state=*metrics*")
        metric.wait_for(timeout=90_000)
        assert metric.evaluate("list => list.selectedIndex") == 1
        page.set_viewport_size({"width": 400, "height": 800})
        assert chart.bounding_box()["x"] < 100  # below the controls, not beside them
        page.wait_for_function(
            "document.querySelector('.fsbench-explore svg.marks').viewBox.baseVal.width <= 400", timeout=30_000
        )
        page.locator(".fsbench-explore textarea").first.evaluate("area => area.scrollIntoView()")
        top, bottom = controls.evaluate("e => (({top, bottom}) => [top, bottom])(e.getBoundingClientRect())")
        assert 0 == top < bottom <= 0.4 * 800 + 10  # nothing scrolls past above them
        page.close()
    here = (f"http://127.0.0.1:{port}/", f"ws://127.0.0.1:{port}/", "data:", "blob:")
    assert [url for url in asked if not url.startswith(here)] == []


@pytest.mark.slow
@pytest.mark.browser
def test_the_page_and_its_charts_are_dark_while_the_system_is(
    logs: str, port: int, tmp_path: Path, chromium: Any
) -> None:
    with _served(logs, port, tmp_path):
        page = chromium.new_page(color_scheme="dark")
        page.goto(f"http://127.0.0.1:{port}/", timeout=90_000)
        page.locator(".fsbench-explore svg.marks text").first.wait_for(timeout=90_000)

        def lightness(selector: str, part: str) -> int:
            colour = page.locator(selector).first.evaluate(f"element => getComputedStyle(element).{part}")
            return min(map(int, re.findall(r"\d+", colour)[:3]))

        for scheme, is_dark in (("dark", True), ("light", False), ("dark", True)):
            page.emulate_media(color_scheme=scheme)
            assert (lightness("body", "backgroundColor") < 50) == is_dark
            assert (lightness(".fsbench-explore select", "color") > 200) == is_dark
            assert (lightness(".fsbench-explore svg.marks .role-title-text text", "fill") > 200) == is_dark
        page.close()


@pytest.mark.slow
@pytest.mark.browser
def test_the_kernel_of_a_closed_page_ends(logs: str, port: int, tmp_path: Path, chromium: Any) -> None:
    with _served(logs, port, tmp_path, "from fsbench_kit.explore import page; page._LEFT_ALONE = 15") as server:
        page = chromium.new_page()
        lost: list[str] = []
        page.on("websocket", lambda connection: connection.on("close", lambda: lost.append(connection.url)))
        page.goto(f"http://127.0.0.1:{port}/", timeout=90_000)
        page.get_by_text("Link to what is shown").wait_for(timeout=90_000)
        page.wait_for_timeout(35_000)  # a server that pings its pages does so after 30 seconds
        kernels = [one for one in psutil.Process(server.pid).children() if "ipykernel_launcher" in one.cmdline()]
        assert kernels  # nobody touched the page, which is open
        assert lost == []
        page.close()
        _, alive = psutil.wait_procs(kernels, 60)
        assert alive == []
        assert server.poll() is None


@pytest.mark.slow
@pytest.mark.browser
def test_the_kernel_of_a_page_that_is_left_ends_at_once(
    logs: str, port: int, tmp_path: Path, chromium: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    with _served(logs, port, tmp_path) as server:
        page = chromium.new_page()
        page.goto(f"http://127.0.0.1:{port}/", timeout=90_000)
        page.get_by_text("Link to what is shown").wait_for(timeout=90_000)
        kernels = [one for one in psutil.Process(server.pid).children() if "ipykernel_launcher" in one.cmdline()]
        (kernel,) = kernels
        kernel_id = page.evaluate("JSON.parse(document.getElementById('jupyter-config-data').text).kernelId")
        foreign = HTTPConnection("127.0.0.1", port, timeout=30)
        foreign.request("POST", f"/voila/api/shutdown/{kernel_id}", headers={"Origin": "http://else.where"})
        assert foreign.getresponse().status in {403, 404}
        foreign.close()
        assert kernel.is_running()
        page.goto("about:blank")
        _, alive = psutil.wait_procs(kernels, 30)
        assert alive == []
        page.close()
    printed = capfd.readouterr().err
    for needless in ("_xsrf", "ping"):
        assert needless not in printed


def _await_port(port: int) -> None:
    for _ in range(120):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
        except OSError:
            time.sleep(0.5)
        else:
            return
    pytest.fail("nothing was served within a minute")


@pytest.mark.slow
def test_the_page_is_served_here_alone_and_ends_with_ctrl_c(logs: str, port: int, tmp_path: Path) -> None:
    with _served(logs, port, tmp_path) as server:
        # Each request for the page starts a kernel: there is one.
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
            page, policy = answer.read().decode(), answer.headers["Content-Security-Policy"]
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 0
    assert "<h1" in page
    assert "xfs" in page
    assert policy.startswith("default-src 'self'")
    assert not list((tmp_path / "tmp").glob("fsbench-explore-*"))
