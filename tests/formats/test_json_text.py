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


BINS = {"read": {"N": 9, "bins": {"700": 4, "1234": 0, "5000": 5}}, "write": {"bins": {"7": 1, "80": 22}, "N": 23}}


def printed(content: object) -> str:
    """Print JSON as fio does, with text around it."""
    return f"fio: 1 job\n{json.dumps(content, indent=2, separators=(',', ' : '))}\nfio exited with 0\n"


def test_bins_are_columns() -> None:
    chars = printed(BINS)
    document = decode(chars, chars.index("{"))
    assert document.is_whole
    assert chars[document.end :] == "\nfio exited with 0\n"
    assert numbers(document) == ["9", "23"]
    for block, bins in zip(("read", "write"), document.bins, strict=True):
        assert document.content[block]["bins"] is bins
        known = {str(name): count for name, count in zip(bins.names.tolist(), bins.counts.tolist(), strict=True)}
        assert known == BINS[block]["bins"]
        for start, (name, count) in zip(bins.starts.tolist(), known.items(), strict=True):
            assert chars.startswith(f'"{name}" : {count}', start - len(f'"{name}" : '))


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ('"1234" : 0', '"1234" : 00'),
        ('"1234" : 0', '"1234" : '),
        ('"1234" : 0', '"" : 0'),
        ('"1234" : 0', '"1234" : 0.5'),
        ('"1234" : 0', '"1234" : -1'),
        ('"1234" : 0', '"12 34" : 0'),
        ('"1234" : 0', '"700" : 0'),
        ('"1234" : 0', '900"1234" : '),
        ('"1234" : 0', '"1234" : 1234567890123456789'),
        ('"1234"', '"FIO_IO_U_PLAT_BITS"'),
        ('"80" : 22', '"80" : 22,'),
    ],
)
def test_bins_that_are_printed_otherwise_are_decoded_like_all_else(right: str, wrong: str) -> None:
    chars = printed(BINS).replace(right, wrong)
    assert wrong in chars
    start = chars.index("{")
    document, loose = decode(chars, start), loose_json.decode(chars, start)
    assert document.bins == []
    assert (numbers(document), document.content) == (numbers(loose), loose.content)


def test_bins_may_stand_in_a_text_that_holds_not_a_number() -> None:
    chars = printed({"share": float("nan"), **BINS})
    document = decode(chars, chars.index("{"))
    assert document.content == loose_json.decode(chars, chars.index("{")).content
