"""The settings of Sphinx for the documentation site; `build` runs it."""

import pathlib
import re

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

project = "authd"
extensions = ["myst_parser"]
root_doc = "index"

# The pages are written for CommonMark with GitHub's tables and names of anchors.
myst_heading_anchors = 6
smartquotes = False
highlight_language = "text"
# Some blocks of TOML, JSON and HTTP leave something out.
suppress_warnings = ["misc.highlighting_failure"]

html_theme = "furo"
html_title = "authd"
html_favicon = "../desktop/org.authd.agent.svg"
html_static_path = ["site.css"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_use_index = False
html_show_copyright = False
# A summary is read from the page that was found, which browsers do not allow for file://.
html_show_search_summary = False

# furo.js of Debian imports a module, which browsers do not load from file://. Without it, pages have no button for light and
# dark, and follow the browser. Nothing that is left uses the other three.
UNUSED = {"furo.js", "gumshoe-patched.js", "jquery.js", "underscore.js", "_sphinx_javascript_frameworks_compat.js"}
# Debian's style sheet gets this one from the root of a web server; site.css has what is needed of it.
FOREIGN = re.compile(r"^@import url\(/javascript/[^)]*\);\n", re.M)

MANUAL = re.compile(r"\b([a-z][a-z.-]*\(\d\))")


class ManualReferences(SphinxPostTransform):
    """Makes links of names such as authc(1), if the site has that page."""

    default_priority = 900
    LEFT_ALONE = (nodes.literal, nodes.literal_block, nodes.raw, nodes.reference, nodes.title)

    def run(self, **_):
        manuals = {}
        for document in self.env.found_docs:
            page = pathlib.PurePath(document)
            if page.parent.name == "man":
                manuals[f"{page.stem}({page.suffix[1:]})"] = document
        for text in list(self.document.findall(nodes.Text)):
            if any(isinstance(parent, self.LEFT_ALONE) for parent in parents(text)):
                continue
            parts = [part for part in MANUAL.split(text.astext()) if part]
            if any(part in manuals for part in parts):
                text.parent.replace(text, [self.node(part, manuals.get(part)) for part in parts])

    def node(self, text, document):
        if document is None or document == self.env.docname:
            return nodes.Text(text)
        address = self.app.builder.get_relative_uri(self.env.docname, document)
        return nodes.reference("", text, internal=True, refuri=address)


def parents(node):
    while node := node.parent:
        yield node


def leave_out_scripts(app, page, template, context, doctree):
    context["script_files"] = [
        script for script in context["script_files"] if script.split("?")[0].split("/")[-1] not in UNUSED
    ]


def finish(app, error):
    if error:
        return
    static = pathlib.Path(app.outdir) / "_static"
    for file in static.rglob("*.js"):
        if file.name in UNUSED:
            file.unlink()
    style = static / "styles/furo.css"
    style.write_text(FOREIGN.sub("", style.read_text()))


def setup(app):
    app.add_post_transform(ManualReferences)
    # After the theme, which looks for its script.
    app.connect("html-page-context", leave_out_scripts, priority=900)
    app.connect("build-finished", finish, priority=900)
