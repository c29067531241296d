"""Data for others to see name neither homes, users nor hosts."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl

import fsbench_kit as fsb
from fsbench_kit.data.masking import Mask
from tests.data.test_launched import launched

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_masked_data_name_no_home_user_or_host(tmp_path: Path, smallfiles_log: Callable[..., str]) -> None:
    for number, host in enumerate(("lab-7.example.org", "ext4"), 1):
        launched(
            tmp_path / f"00{number}",
            smallfiles_log(rate=1000.0 * number),
            host=host,
            settings={"directory": "/home/ada/disk", "os": f"Debian on {host}"},
            conditions=[{"code": "MACHINE_LOADED", "message": f"ada@{host} was busy in /home/ada."}],
        )
    data = fsb.read(tmp_path)
    masked = data.masked()
    texts = [
        text
        for frame in masked.frames.values()
        for name, kind in frame.schema.items()
        if kind == pl.String and name not in {"filesystem", "run_id"}
        for text in frame[name].drop_nulls().unique()
    ]
    assert [text for text in texts if "lab-7" in text or "ada" in text or "ext4" in text] == []
    assert masked.runs["filesystem"].to_list() == ["ext4", "ext4"]  # a word, which happens to be a host's name
    assert masked.runs["host"].n_unique() == 2
    directory = masked.settings.filter(key="directory")["value"].unique().to_list()
    assert directory == ["~/disk"]
    assert masked.measurements.drop("run_id").equals(data.measurements.drop("run_id"))
    assert len(masked.frames) == 6


def test_a_name_is_masked_where_it_stands_before_what_tells_it_and_no_other_folder_is(tmp_path: Path) -> None:
    page = tmp_path / "page.json"
    page.write_text(json.dumps(["on bench9", "Linux bench9 6.1.0-13-amd64 #1 SMP", "/root/x, /mnt/root/x"]))
    Mask([], []).rewrite(page)
    assert json.loads(page.read_text()) == ["on host", "Linux host 6.1.0-13-amd64 #1 SMP", "~/x, /mnt/root/x"]
