"""How Sphinx makes the site of the pages that build.py collected: no script, font or counter of another host, no date."""

import os
import sys

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "python", "src"))

project = html_title = "Graphmill"
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
root_doc = "index"
language = "en"
smartquotes = False  # --flag stays --flag

# Headings have the anchors that a forge gives them.
myst_heading_anchors = 6
# Examples of configuration are fragments, and a forge's colours are as forgiving.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "static/mark.svg"
html_copy_source = False
html_show_copyright = False
html_last_updated_fmt = None
html_use_index = False
html_domain_indices = False

# Docstrings: Google's sections, and a name in single backquotes is a name of the package.
default_role = "py:obj"
napoleon_numpy_docstring = False
napoleon_use_rtype = False
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": "BaseException,tuple,dict"}
autodoc_mock_imports = ["torch", "torch_geometric", "lightning", "pytorch_lightning"]
add_module_names = False
python_maximum_signature_line_length = 100
