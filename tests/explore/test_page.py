"""The exploration as a page of its own: ``fsbench explore``."""

import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from unittest import mock

import pytest
from typer.testing import CliRunner

from fsbench_kit.cli import app

NAMES = "{filesystem}_{}.log"


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (tmp_path / "logs").mkdir()
    for name in ("ext4_1", "ext4_2", "xfs_1", "xfs_2"):
        log = f"real\t0m1.{len(name)}{name[-1]}0s\nuser\t0m0.250s\nsys\t0m0.100s\n"
        (tmp_path / "logs" / f"{name}.log").write_text(log)
    monkeypatch.chdir(tmp_path)
    return "logs"


def test_the_page_shows_the_logs_that_were_named(logs: str) -> None:
    served = {}

    def serve(arguments: list[str], config: dict[str, dict[str, object]]) -> None:
        served["notebook"] = Path(arguments[0]).read_text()
        served["address"] = str(config["Voila"]["ip"])

    with mock.patch("voila.app.Voila.launch_instance", serve):
        result = CliRunner().invoke(app, ["explore", logs, "--names", NAMES, "--factor", "host"])
    assert result.exit_code == 0, result.output
    assert served["address"] == "127.0.0.1"
    for parameter in (rf"data = [\"{Path(logs).absolute()}\"]", rf"names = [\"{NAMES}\"]", r"factor = \"host\""):
        assert parameter in served["notebook"]


def test_what_cannot_be_read_opens_no_page(tmp_path: Path) -> None:
    with mock.patch("voila.app.Voila.launch_instance") as serve:
        result = CliRunner().invoke(app, ["explore", str(tmp_path / "nowhere")])
    assert "nowhere" in str(result.exception)
    assert not serve.called


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
def test_the_page_is_served_here_alone_and_ends_with_ctrl_c(logs: str, tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (tmp_path / "tmp").mkdir()
    command = [sys.executable, "-c", "from fsbench_kit.cli import main; main()", "explore", logs, "--names", NAMES]
    with subprocess.Popen(
        [*command, "--port", str(port)],
        env={"PATH": "/usr/bin", "HOME": str(tmp_path), "TMPDIR": str(tmp_path / "tmp")},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    ) as server:
        try:
            _await_port(port)
            # Each request for the page starts a kernel: there is one.
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=60) as answer:
                page, policy = answer.read().decode(), answer.headers["Content-Security-Policy"]
            server.send_signal(signal.SIGINT)
            assert server.wait(30) == 0
        finally:
            server.kill()
    assert "<h1" in page
    assert "xfs" in page
    assert policy.startswith("default-src 'self'")
    assert not list((tmp_path / "tmp").glob("fsbench-explore-*"))
