"""Links of the pages to other files of the repository: a public header is its page of the reference, any other
file a page with its text.
"""

import pathlib
import posixpath

from docutils import nodes
from pygments import highlight, lexers
from pygments.formatters import HtmlFormatter
from sphinx import addnodes
from sphinx.transforms import SphinxTransform
from sphinx.util.osutil import relative_uri

LONGEST = 200_000  # bytes of a file that gets a page


class RepositoryLinks(SphinxTransform):
    default_priority = 5  # before files to download are collected

    def apply(self, **kwargs) -> None:
        for link in list(self.document.findall(addnodes.download_reference)):
            source = pathlib.Path(self.env.srcdir)
            path = posixpath.normpath(posixpath.join(posixpath.dirname(self.env.docname), link["reftarget"]))
            path = pathlib.PurePosixPath(path)
            page = f"source/{path}"
            if path.parent.name == "heed" and (source / "reference" / f"{path.stem}.md").exists():
                page = f"reference/{path.stem}"
            elif not (source / path).is_file() or (source / path).stat().st_size > LONGEST:
                continue
            else:
                if not hasattr(self.env, "repository_files"):
                    self.env.repository_files = set()
                self.env.repository_files.add(str(path))
            uri = self.app.builder.get_relative_uri(self.env.docname, page)
            reference = nodes.reference("", "", *link.children, refuri=uri, internal=True)
            link.replace_self(reference)


def pages(app):
    for path in sorted(getattr(app.env, "repository_files", ())):
        text = (pathlib.Path(app.srcdir) / path).read_text(encoding="utf-8")
        try:
            lexer = lexers.get_lexer_for_filename(path)
        except lexers.ClassNotFound:
            lexer = lexers.get_lexer_by_name("text")
        body = highlight(text, lexer, HtmlFormatter(cssclass="highlight"))
        yield f"source/{path}", {"title": path, "body": f"<h1>{path}</h1>{body}", "parents": []}, "page.html"


def setup(app):
    app.add_transform(RepositoryLinks)
    app.connect("html-collect-pages", pages)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
