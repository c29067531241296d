"""Explores a dataset: whatever is chosen, a comparison follows, as a chart, a table and a sentence.

What is chosen is a `State`. An `Exploration` says what can be chosen next, and what a state shows; both are
functions of the state alone, and know no widget. A `Panel` puts them behind controls in a notebook. A state can be
taken away as Python, or as parameters of ``notebooks/03_compare.ipynb``, see `as_python` and `as_parameters`.
"""

from typing import TYPE_CHECKING

from fsbench_kit.model.lazy import lazily, skip_iri_grammar

if TYPE_CHECKING:
    from fsbench_kit.explore.exploration import Exploration, View, opened
    from fsbench_kit.explore.options import Choice, Options
    from fsbench_kit.explore.page import explore
    from fsbench_kit.explore.panel import Panel
    from fsbench_kit.explore.state import State, as_parameters, as_python

skip_iri_grammar()

__all__ = [
    "Choice",
    "Exploration",
    "Options",
    "Panel",
    "State",
    "View",
    "as_parameters",
    "as_python",
    "explore",
    "opened",
]

__getattr__, __dir__ = lazily(__name__)
