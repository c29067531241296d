"""Claimed sizes beside those of the figures; what is expected was computed by hand from the printed figures."""

from __future__ import annotations

import polars as pl
import pytest

from fsbench_kit import charts
from tests.charts.specs import data_of, heading_of, spec_of


def test_a_size_is_drawn_as_a_multiple_of_the_claimed_one(audit: pl.DataFrame) -> None:
    # 842.88 / 348.48 = 2.4187 where 2 is claimed, and 1.75 to 2.25 counts as that: the middle of these is 1.984
    spec = spec_of(charts.claimed_sizes(audit.filter(claim="seqwr-twice")))
    (row,) = data_of(spec)
    middle = (1.75 * 2.25) ** 0.5
    assert row["place"] == pytest.approx(2.4187 / middle, abs=1e-4)
    assert (row["band_low"], row["band_high"]) == pytest.approx((1.75 / middle, 2.25 / middle))
    assert row["outcome"] == "differs"
    assert [layer["mark"]["type"] for layer in spec["layer"]] == ["bar", "rule", "rule", "point"]
    assert heading_of(spec) == "A figure contradicts 1 of 1 claim that state a size"


def test_every_comparison_of_a_claim_is_a_mark(audit: pl.DataFrame) -> None:
    # ReiserFS mounts in 2.3 s, the others in 0.2, 0.2 and 0.5 s; 5 to 15 is claimed
    rows = data_of(spec_of(charts.claimed_sizes(audit.filter(claim="reiserfs-mount-5-to-15"))))
    assert sorted(row["place"] * 75**0.5 for row in rows) == pytest.approx([4.6, 11.5, 11.5])
    assert {row["outcome"] for row in rows} == {"agrees", "undecided"}
    assert sum(row["from_here"] is not None for row in rows) == 1  # the claim has one band


def test_a_limit_has_no_end_on_its_other_side(audit: pl.DataFrame) -> None:
    rows = data_of(spec_of(charts.claimed_sizes(audit.filter(claim="mkfs-2-seconds"))))
    assert {(row["band_low"], row["band_high"]) for row in rows} == {(None, 1.0)}
    assert max(row["place"] for row in rows) == pytest.approx(1.1)  # 2.2 s


def test_claims_without_a_size_are_no_rows(audit: pl.DataFrame) -> None:
    spec = spec_of(charts.claimed_sizes(audit.filter(pl.col("claim").is_in(["same-host", "jfs-least-cpu"]))))
    assert spec["description"] == "None of these claims states a size."


def test_names_from_logs_are_data(audit: pl.DataFrame) -> None:
    says = "<script>alert(1)</script>' + datum.x\n" + "n" * 10_000
    named = audit.filter(claim="seqwr-twice").with_columns(says=pl.lit(says))
    (row,) = data_of(spec_of(charts.claimed_sizes(named)))
    assert len(row["claim"]) < 200
