"""Colours are the same in every chart."""

from fsbench_kit.charts.style import told_apart


def test_a_filesystem_has_the_same_colour_everywhere() -> None:
    def colours(*levels: str) -> dict[str, str]:
        scale = told_apart(levels)["color"].to_dict()["scale"]
        return dict(zip(scale["domain"], scale["range"], strict=True))

    assert colours("xfs", "ext4")["ext4"] == colours("ext4", "zfs", "mine")["ext4"] == colours("EXT4")["EXT4"]
    strangers = colours("a", "b", "c", "ext4", "xfs")
    assert len(set(strangers.values())) == 5
