"""How Sphinx makes the site of the manual; `make docs` runs it. Nothing here or in its pages needs a network."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

project = "fsbench_kit"
author = "The fsbench_kit developers"
extensions = ["myst_parser", "docs.executed"]
exclude_patterns = ["_site", "_charts", "generator"]
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist"]
nitpicky = True
smartquotes = False  # it makes a dash of the two hyphens before an option

html_theme = "furo"
html_title = "fsbench_kit"
html_static_path = ["manual.css"]
html_css_files = ["manual.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_search_summary = False  # a page that is opened as a file may not fetch others
pygments_style = "friendly"
pygments_dark_style = "monokai"
