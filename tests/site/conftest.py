"""The site, built as `make site` builds it plus one page with every construct, in a real browser that is watched."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.site.chromium import find
from tools.site_server import Served, serve

ROOT = Path(__file__).parents[2]
SOURCES = ("docs", "lessons_src", "figures", "overrides", "pallas_course", "mkdocs.yml", "build_figures.py")
LOCAL = ("data:", "blob:", "about:")  # requests that leave no machine

Open = Callable[..., Page]


def run_in(folder: Path, *command: str, **environment: str) -> None:
    """Run a Python command in `folder`, or fail with what it printed."""
    result = subprocess.run(
        [sys.executable, *command],
        cwd=folder,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", **environment},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}{result.stderr}"


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the sources with the pages built, and the specimen in the navigation."""
    project = tmp_path_factory.mktemp("project")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, project / name, ignore=shutil.ignore_patterns("lessons", "generated", "__pycache__")
            )
        else:
            shutil.copy(ROOT / name, project / name)
    run_in(project, "build_figures.py", JAX_PLATFORMS="cpu")
    shutil.copy(Path(__file__).with_name("specimen.txt"), project / "docs" / "specimen.md")
    settings = (project / "mkdocs.yml").read_text("utf-8")
    assert settings.count("\nnav:\n") == 1
    (project / "mkdocs.yml").write_text(settings.replace("\nnav:\n", "\nnav:\n  - specimen.md\n"), "utf-8")
    return project


@pytest.fixture(scope="session")
def site(project: Path) -> Path:
    run_in(project, "-m", "mkdocs", "build", "--strict")
    return project / "site"


@pytest.fixture(scope="session")
def pages(site: Path) -> list[str]:
    """Every page, as a path inside the site."""
    pages = sorted(path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    assert {"index.html", "404.html", "specimen.html", "lessons/kernels-01.html"} <= set(pages)
    return pages


@pytest.fixture(scope="session")
def served(site: Path) -> Iterator[Served]:
    with serve(site) as served:
        yield served


@pytest.fixture(params=["http", "file"])
def address(request: pytest.FixtureRequest, site: Path, served: Served) -> str:
    """Where the site begins: on a web host, then as files opened from a disk."""
    return served.url if request.param == "http" else site.as_uri()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        browser = playwright.chromium.launch(executable_path=find(), args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def open_page(browser: Browser, site: Path, served: Served) -> Iterator[Open]:
    """Open an address in a fresh browser profile, and watch it.

    At the end the test fails if a page wrote an error to the console, did not get a file, or asked another host.
    """
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def watch(context: BrowserContext) -> None:
        def request(url: str) -> None:
            if not url.startswith((served.url, site.as_uri(), *LOCAL)):
                complaints.append(f"asked for {url}")

        def failed(url: str, why: str | None) -> None:
            if why != "net::ERR_ABORTED":  # that is the reader leaving the page
                complaints.append(f"did not get {url}: {why}")

        context.on("request", lambda request_: request(request_.url))
        context.on("requestfailed", lambda request_: failed(request_.url, request_.failure))
        context.on("console", lambda line: complaints.append(line.text) if line.type in ("error", "warning") else None)
        context.on("weberror", lambda error: complaints.append(str(error.error)))

    def open_page(url: str, *, width: int = 1280, **options: object) -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, **options)  # type: ignore[arg-type]
        contexts.append(context)
        watch(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.goto(url)
        return page

    yield open_page
    heard = "\n".join(complaints)  # before closing, which cuts off whatever still loads
    for context in contexts:
        context.close()
    assert not heard, heard
