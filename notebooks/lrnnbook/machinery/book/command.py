"""``lrnnlab book build | check | drift | site | playground | atlas | golf [NAME ...]``."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from lrnnbook.machinery.arguments import Parser
from lrnnbook.machinery.book.building import build_notebook
from lrnnbook.machinery.book.cpu_presets import NATIVE, SETTINGS
from lrnnbook.machinery.book.nbval_plugin import check_notebook
from lrnnbook.machinery.book.running import BookError
from lrnnbook.machinery.book.sync import drift, source_of, twin_of
from lrnnbook.machinery.copies import chapters_in, meant
from lrnnlab.files import put

VERBS = {
    "build": "execute the source and write the notebook, or say why not and write nothing",
    "check": "execute the notebook afresh and compare with what is committed",
    "drift": "say where source and notebook differ (runs nothing)",
    "site": "write the notebooks as static pages that need no network (runs what the widgets need)",
    "playground": "write the page in which trained networks run, break and are proved, as one file that needs nothing else",
    "atlas": "write the page of all small machines, likewise",
    "golf": "write the game of holding a machine in few numbers, likewise",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Give ``parser`` the arguments of ``lrnnlab book``."""
    parser.add_argument("verb", choices=VERBS, help="; ".join(f"{verb}: {what}" for verb, what in VERBS.items()))
    parser.add_argument("names", nargs="*", metavar="NAME", help="00_start_here, or just 00; default: every notebook")
    parser.add_argument("--root", type=Path, help="the repository; default: the nearest folder above with notebooks/py")
    parser.add_argument("--timeout", type=float, default=600, metavar="SECONDS", help="for one cell (default 600)")
    parser.add_argument("--arithmetic", choices=[*SETTINGS, "all"], default=NATIVE, help="of check: run the chapters "
                        "with " + "; ".join(f"{name}: {one.says}" for name, one in SETTINGS.items()) + "; all: each of "
                        f"these in turn (default {NATIVE})")  # fmt: skip
    parser.add_argument("--out", type=Path, help="of site, playground, atlas and golf: where to (default build/site, build/playground.html)")
    parser.add_argument("--wheel", type=Path, help="of site: the package as a file (pip wheel --no-deps .), which the first page offers")
    parser.add_argument("--repository", metavar="OWNER/NAME", help="of site: where the book lies on GitHub; then every "
                        "page has buttons that open its notebook in Colab and on Binder")  # fmt: skip
    parser.add_argument("--check", action="store_true", help="of site: look at every page in a browser, at the widths of a "
                        "telephone and of a laptop: boxes cut without a sign, unset formulas, columns that touch, dead links")  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``lrnnlab book ...``; 0 where all is well, 1 where a notebook has a problem, 2 where the call has."""
    parser = Parser(prog="lrnnlab book", description=__doc__)
    add_arguments(parser)
    options = parser.parse_intermixed_args(argv)  # names may come after options, as the usage line has them
    try:
        if options.arithmetic != NATIVE and options.verb != "check":
            raise BookError(f"--arithmetic {options.arithmetic} is for check, and this is {options.verb}")
        if options.check and options.verb != "site":
            raise BookError(f"--check is for site, and this is {options.verb}")
        if options.verb in ("playground", "atlas", "golf"):  # from anywhere: they need no notebooks
            return _one_page(options.verb, options.out or Path(f"build/{options.verb}.html"))
        root = find_root(options.root)
        sources = find_sources(root, options.names)
    except ValueError as error:
        print(f"lrnnlab book: {error}", file=sys.stderr)
        return 2
    try:
        if options.verb == "site":
            return _site(sources, options.out or Path("build/site"), options.repository, options.check, options.wheel, whole=not options.names)
    except BookError as error:
        print(f"lrnnlab book {options.verb}: {error}", file=sys.stderr)
        return 1
    settings = list(SETTINGS) if options.arithmetic == "all" else [options.arithmetic]
    return max(_one(options.verb, source, root, options.timeout, name) for name in settings for source in sources)


def find_root(given: Path | None) -> Path:
    """The repository: ``given``, else the nearest folder from here upwards that holds ``notebooks/py``."""
    here = Path.cwd()
    for folder in [given.resolve()] if given else [here, *here.parents]:
        if (folder / "notebooks" / "py").is_dir():
            return folder
    raise BookError(f"no notebooks/py in {given or f'{here} or above it'}: go into the repository, or give --root")


def find_sources(root: Path, names: Sequence[str]) -> list[Path]:
    """The sources meant by ``names`` (a name, the start of one, or a path), or all of them."""
    folder = root / "notebooks" / "py"
    every = {file.stem: source_of(file) for file in chapters_in(root / "notebooks")}
    every |= {file.stem: file for file in chapters_in(folder, ".py")}
    if not every:
        raise BookError(f"there is no notebook in {folder}")
    stems = [Path(name).name.removesuffix(".py").removesuffix(".ipynb") for name in names] or sorted(every)
    return [every[meant(stem, every)] for stem in stems]


def _one(verb: str, source: Path, root: Path, timeout: float, arithmetic: str) -> int:
    title = source.stem if arithmetic == NATIVE else f"{source.stem}, arithmetic {arithmetic}"

    def say(line: str) -> None:
        print(f"{title}: {line}", flush=True)

    notebook = twin_of(source)
    try:
        if verb == "build":
            if not source.is_file():
                raise BookError(f"{source} does not exist")
            say(f"wrote {build_notebook(source, root, say=say, timeout=timeout).relative_to(root)}")
            return 0
        if verb == "check" and notebook.is_file():
            problems = [str(problem) for problem in check_notebook(notebook, say=say, timeout=timeout, arithmetic=arithmetic)]
        else:
            problems = drift(source_of(notebook), notebook)
    except BookError as error:
        print(f"{'' if source.stem in str(error) else f'{source.stem}, '}{error}", file=sys.stderr)
        return 1
    for problem in problems:
        print(problem)
    say(f"{len(problems)} problem{'s' * (len(problems) != 1)}" if problems else "no problem")
    return int(bool(problems))


def _site(sources: Sequence[Path], out: Path, repository: str | None, check: bool, wheel: Path | None, whole: bool) -> int:
    try:
        import myst_nb  # noqa: F401
    except ImportError:
        raise BookError("the pages are made by Sphinx: pip install -e '.[docs]'") from None
    from lrnnbook.machinery.book.site import build_site

    problems = build_site([twin_of(source) for source in sources], out, repository=repository, wheel=wheel, whole=whole, say=print)
    if check:
        from lrnnbook.machinery.book.site.rendered import look

        print("the pages in a browser")
        problems += look(out)
    print("\n".join([*problems, f"{out / 'index.html'}: {len(problems) or 'no'} problem{'s' * (len(problems) != 1)}"]))
    return int(bool(problems))


def _one_page(name: str, out: Path) -> int:
    from lrnnbook.machinery.book.site.moving import page_alone
    from lrnnbook.machinery.book.site.pages import moving_pages

    title, lead, picture = moving_pages()[name]
    page = page_alone(picture, title, lead).encode()
    if out.exists() and b"moving-picture" not in out.read_bytes():
        raise BookError(f"{out} is no page that this command wrote: choose another --out, or move it away")
    out.parent.mkdir(parents=True, exist_ok=True)
    put(out, page)
    print(f"{out}: {len(page):,} bytes")
    return 0
