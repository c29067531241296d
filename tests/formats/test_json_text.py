"""Numbers of JSON are found again where they are printed, whatever stands in the strings around them."""

import json

import pytest

from fsbench_kit.formats import loose_json
from fsbench_kit.formats.json_text import decode

ODD = {
    "a\\": {"1": 2, "x": [3.50, -4e-7, 0], "true": True, "e": None},
    '"5": 6, \\': 'quoted "7": 8',
    "größe µs 💾": {"9": 10.0},
    "empty": {},
}


def numbers(document: loose_json.Document) -> list[str]:
    return list(map(document.number, range(len(document.starts))))


@pytest.mark.parametrize("is_ascii", [True, False])
@pytest.mark.parametrize("indent", [None, 2])
def test_both_decoders_find_the_same_numbers_at_the_same_places(indent: int | None, is_ascii: bool) -> None:
    chars = "fio: {1} " + json.dumps(ODD, indent=indent, ensure_ascii=is_ascii) + " 11"
    start = chars.index("{", 6)
    strict, loose = decode(chars, start), loose_json.decode(chars, start)
    assert strict == loose
    assert numbers(strict) == ["2", "3.5", "-4e-07", "0", "10.0"]
    assert decode(chars, start, 7).content["a\\"]["1"] == 7


@pytest.mark.parametrize(
    ("chars", "texts"),
    [
        ('{"a": 1, "b": {"a": 2, "a": 3}}', ["1", "2", "3"]),  # a key twice, of which the first one counts
        ('{"a": 1, "b": NaN}', ["1", "NaN"]),
        ('{"a": 1, "b": 2', ["1"]),
        ('{"a": 01, "b": 2}', ["01", "2"]),
    ],
)
def test_what_is_no_json_goes_to_the_tolerant_decoder(chars: str, texts: list[str]) -> None:
    assert numbers(decode(chars, 0)) == texts
