"""Whatever is done to a log of any format: what is read of it keeps what holds for all records."""

from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.robustness import logs
from tests.invariants import LONGEST, violations

LOGS = {name: path.read_bytes() for name, path in logs().items() if path.stat().st_size <= LONGEST}
FORMATS = sorted({name.split("/")[0] for name in LOGS})

NOISE = st.one_of(
    st.binary(max_size=20),
    st.text('0123456789.,;:=/|()[]{}<>+-%\\"\n\t kMGiBsnu', max_size=20).map(str.encode),
    st.sampled_from(
        [b"nan", b"-nan", b"+++++", b"-1", b"99999999999999999999", b"1e999", b"0", b"\r", b"\xc2\xa0"]
    ),
)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_noise_in_place_of_any_stretch(data: st.DataObject) -> None:
    log_format = data.draw(st.sampled_from(FORMATS))
    log = LOGS[data.draw(st.sampled_from([name for name in LOGS if name.startswith(f"{log_format}/")]))]
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(log)))
        end = min(len(log), start + data.draw(st.integers(0, 200)))
        log = log[:start] + data.draw(NOISE) + log[end:]
    assert violations(log) == []
