"""Sphinx's settings for the book: MyST-NB, the Book theme, nothing executed, nothing from the network."""

project = author = html_title = "lrnnlab"
language = "en"
extensions = ["myst_nb", "sphinx.ext.autodoc", "numpydoc", "sphinxcontrib.bibtex", "lrnnbook.machinery.book.site.extension"]
exclude_patterns = ["_static"]
nitpicky = True

nb_execution_mode = "off"  # the pages show what is committed
nb_merge_streams = True
nb_render_markdown_format = "myst"  # outputs in Markdown, with links and formulas
nb_code_prompt_show, nb_code_prompt_hide = "Show the code", "Hide the code"
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "html_image"]
myst_dmath_double_inline = True  # a displayed formula need not begin a paragraph, as in JupyterLab
myst_heading_anchors, myst_heading_slug_func = 4, "lrnnbook.machinery.book.site.extension.slug"
suppress_warnings = ["myst.header"]  # a chapter's folded hints begin below its headings
bibtex_bibfiles, bibtex_default_style = ["references.bib"], "unsrt"

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints_format = "short"
add_module_names = False
numpydoc_show_class_members = False

html_theme = "sphinx_book_theme"
html_math_renderer = "mathml"
html_static_path, html_css_files, html_js_files = ["_static"], ["book.css"], [("book.js", {"defer": "defer"})]
html_show_search_summary = False  # excerpts are fetched, which a page that was opened from a disk may not
html_context, html_sidebars = {"default_mode": "auto"}, {"**": ["search-button-field.html", "sbt-sidebar-nav.html"]}
html_copy_source, html_show_copyright, html_use_index, html_domain_indices = True, False, False, False
html_theme_options = {
    "use_download_button": True,
    "use_fullscreen_button": False,
    "navbar_persistent": [],
    "home_page_in_toc": True,
    "collapse_navbar": True,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
