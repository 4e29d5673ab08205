"""The documentation site: README.md, CONTRIBUTING.md and docs/ as they are, and the references of C++, C and
Python. scripts/documentation calls Sphinx with this file, in a folder that links to the repository's.
"""

import importlib
import inspect
import pathlib
import shutil
import sys

from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

HERE = pathlib.Path(__file__).parent
SOURCE = HERE.parent.parent / "build/documentation/source"
sys.path[:0] = [str(HERE), str(SOURCE / "python")]

project = html_title = "heed"
extensions = ["myst_parser", "breathe", "sphinx.ext.autodoc", "sphinx_copybutton", "repository_links"]
root_doc = "README"
include_patterns = ["README.md", "CONTRIBUTING.md", "docs/*.md", "bench/results/README.md", "reference/*"]
nitpicky = False
myst_heading_anchors = 4
suppress_warnings = [
    "misc.highlighting_failure",  # examples in TOML or JSON may leave out parts with "..."
    "duplicate_declaration.cpp",  # the namespace, in the page of each header
]

breathe_projects = {"heed": str(SOURCE.parent / "doxygen/xml")}
breathe_default_project = "heed"
breathe_domain_by_file_pattern = {"*/c.h": "c", "*/c_*.h": "c"}
breathe_show_include = False
c_id_attributes = cpp_id_attributes = ["HEED_EXPORT"]

default_role = "literal"  # `name` in comments of Python
autodoc_default_options = {"members": True, "undoc-members": True}
autodoc_member_order = "bysource"
autodoc_class_signature = "mixed"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = maximum_signature_line_length = 100

html_theme = "furo"
html_static_path = [str(HERE / "style.css")]
html_css_files = ["style.css"]
html_show_sphinx = html_show_copyright = html_copy_source = html_show_sourcelink = False
toc_object_entries_show_parents = "hide"

CONTENTS = """
```{toctree}
:hidden:
:caption: Guides
docs/install
docs/usage
docs/models
docs/chat
docs/serving
docs/api
docs/training
docs/students
docs/cluster
docs/fine_tuning
docs/training_encoders
docs/quantization
docs/gpu
docs/tokenizers
docs/detect
docs/python
docs/c
```
```{toctree}
:hidden:
:caption: Reference
reference/cpp
reference/c
reference/python
```
```{toctree}
:hidden:
:caption: Background
docs/attention
docs/architecture
docs/distribute
docs/performance
docs/log
bench/results/README
docs/platforms
docs/adding_a_family
docs/adding_a_kernel
CONTRIBUTING
```
"""


def write_page(name: str, title: str, text: str) -> str:
    """A page of the reference; its name in a table of contents."""
    (SOURCE / "reference" / f"{name}.md").write_text(f"# {title}\n\n{text}\n", encoding="utf-8")
    return name


def contents(names: list[str]) -> str:
    return "```{toctree}\n:maxdepth: 1\n" + "\n".join(names) + "\n```"


def write_header_pages() -> None:
    """A page for each public header."""
    c, cpp = [], []
    for header in sorted((SOURCE / "include/heed").glob("*.h")):
        of_c = header.stem.startswith("c_")
        if header.stem in ("c", "heed", "export"):
            continue
        (c if of_c else cpp).append(
            write_page(header.stem, f"heed/{header.name}", f"```{{doxygenfile}} {header.name}\n```")
        )
    write_page("cpp", "C++", "`#include <heed/heed.h>` includes all of these headers. What goes wrong throws `heed::Error`.\n\n" + contents(cpp))
    write_page("c", "C", "`#include <heed/c.h>` includes all of these headers; "
               "[heed in C](../docs/c.md) has the conventions.\n\n" + contents(c))


def directives(module: str, names: list[str]) -> str:
    """What autodoc is to describe, in this order."""
    lines = []
    for name in names:
        value = getattr(importlib.import_module(module), name)
        if not inspect.isclass(value):
            lines.append(f".. autofunction:: {module}.{name}")
        elif issubclass(value, Exception):
            lines.append(f".. autoexception:: {module}.{name}")
        else:  # with what Model has of AsyncModel, without what Python's own classes give
            inherited = "object, dict, Sequence, Iterator"
            lines.append(f".. autoclass:: {module}.{name}\n   :inherited-members: {inherited}")
    return "```{eval-rst}\n" + "\n".join(lines) + "\n```"


def write_python_pages() -> None:
    """The package: what is written in Python, then what its functions return, then their options."""
    heed = importlib.import_module("heed")
    results = [name for name in heed.__all__ if getattr(heed, name).__module__ == "heed._heed"]
    others = [name for name in heed.__all__ if name not in results]
    options = importlib.import_module("heed.options")
    groups = [name for name, value in vars(options).items() if getattr(value, "__module__", "") == options.__name__]
    pages = [
        write_page("heed", "heed", directives("heed", sorted(others, key=str.lower))),
        write_page("results", "Results", "What the functions of heed return.\n\n" + directives("heed", results)),
        write_page("options", "Options", "The keyword arguments of heed's functions; brackets hold the default "
                   "where no file of the model says more.\n\n" + directives("heed.options", groups)),
        write_page("sklearn", "heed.sklearn", directives("heed.sklearn", ["Embedder"])),
    ]
    write_page("python", "Python", "`import heed`; [heed in Python](../docs/python.md) has examples.\n\n" +
               contents(pages))


class PlainDeclarations(SphinxTransform):
    """What stands in the namespace stands in the page; enumerations without a name are not in its contents."""

    default_priority = 5

    def apply(self, **kwargs) -> None:
        for node in list(self.document.findall(addnodes.desc)):
            if node[0].astext() == "namespace heed":
                entry = node.parent[node.parent.index(node) - 1]  # of the index of names
                if isinstance(entry, addnodes.index):
                    node.parent.remove(entry)
                node.replace_self(node[-1].children)
            elif node[0].get("_toc_name", "").startswith("@"):
                node[0]["_toc_name"] = ""


def add_contents(app, docname, source) -> None:
    if docname == root_doc:
        source[0] += CONTENTS


def require_docstring(app, what, name, obj, options, lines) -> None:
    if not any(lines) and not name.rpartition(".")[2].startswith("__"):
        logging.getLogger(__name__).warning("%s has no docstring", name)


def write_start_page(app, exception) -> None:
    if exception is None and app.builder.name == "html":
        shutil.copy(app.outdir / "README.html", app.outdir / "index.html")


def setup(app) -> None:
    (SOURCE / "reference").mkdir(exist_ok=True)
    write_header_pages()
    write_python_pages()
    app.add_transform(PlainDeclarations)
    app.connect("source-read", add_contents)
    app.connect("autodoc-process-docstring", require_docstring)
    app.connect("build-finished", write_start_page)
