"""What a launch has sampled beside a run becomes series, by the meaning of the kernel's counters."""

from __future__ import annotations

from fsbench_kit.formats.machine_samples import series
from fsbench_kit.model.records import Block, Diagnostic

HEAD = (
    "time,cpu.user,cpu.idle,cpu.iowait,cpu.steal,memory.Dirty,pressure.io.some,"
    "device.vda.read_bytes,device.vda.writes,device.vda.busy"
)
ROWS = (
    "0.5,100.0,1000.0,50.0,7.0,4096,30.0,1000,10,2.0",
    "1.5,101.5,1000.25,50.25,7.0,8192,30.5,3000,10,2.25",
    "3.5,101.5,1004.25,50.25,7.0,,32.5,3000,30,2.25",
)


def blocks(*rows: str) -> dict[tuple[str, str, str | None], list[tuple[float, float]]]:
    found = series("\n".join([HEAD, *rows, ""]).encode())
    return {
        (each.operation, each.metric, each.part): list(zip(each.times, each.values, strict=True))
        for each in found
        if isinstance(each, Block)
    }


def test_counters_become_rates_and_levels_stay() -> None:
    assert blocks(*ROWS) == {
        ("all", "cpu_busy", None): [(1.5, 0.75), (3.5, 0.0)],
        ("all", "cpu_iowait", None): [(1.5, 0.125), (3.5, 0.0)],
        ("all", "cpu_steal", None): [(1.5, 0.0), (3.5, 0.0)],
        ("all", "memory_dirty", None): [(0.5, 4096.0), (1.5, 8192.0)],
        ("all", "pressure_some", "io"): [(1.5, 0.5), (3.5, 1.0)],
        ("read", "device_bandwidth", "vda"): [(1.5, 2000.0), (3.5, 0.0)],
        ("write", "device_iops", "vda"): [(1.5, 0.0), (3.5, 10.0)],
        ("all", "disk_utilisation", "vda"): [(1.5, 0.25), (3.5, 0.0)],
    }


def test_what_is_no_sample_is_told_and_the_rest_is_read() -> None:
    damaged = ROWS[1].replace("3000", "3o00")
    (said,) = (
        each
        for each in series("\n".join([HEAD, ROWS[0], damaged, ROWS[2]]).encode())
        if isinstance(each, Diagnostic)
    )
    assert (said.code, said.line, "3o00" in str(said.excerpt)) == ("UNREAD_FIGURE", 3, True)
    found = blocks(ROWS[0], damaged, ROWS[2])
    assert ("read", "device_bandwidth", "vda") not in found
    assert found["write", "device_iops", "vda"] == [(1.5, 0.0), (3.5, 10.0)]
    for cut in (f"{ROWS[1]},9", ROWS[1].rpartition(",")[0]):
        (said,) = (
            each
            for each in series("\n".join([HEAD, ROWS[0], cut, ROWS[2]]).encode())
            if isinstance(each, Diagnostic)
        )
        assert (said.line, said.excerpt) == (3, cut)
        assert ("read", "device_bandwidth", "vda") not in blocks(ROWS[0], cut, ROWS[2])
        assert blocks(ROWS[0], cut, ROWS[2])["all", "memory_dirty", None] == [(0.5, 4096.0)]
    for text in (b"", b"\x00\xff", b"a,b\n1,2\n"):
        (said,) = series(text)
        assert isinstance(said, Diagnostic)
