"""What can be said of the built files without a browser."""

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tinyhtml5.parser import HTMLParser

from tests.site.conftest import run_in

HTML = "{http://www.w3.org/1999/xhtml}"


def parse(page: Path) -> tuple[ElementTree.Element, list[tuple[object, ...]]]:
    parser = HTMLParser()
    return parser.parse(page.read_text("utf-8")), parser.errors


def test_site_builds_where_jax_cannot_be_imported(project: Path, tmp_path: Path) -> None:
    for name in ("jax", "jaxlib"):
        (tmp_path / f"{name}.py").write_text("raise ImportError('there is no JAX on this machine')\n")
    site = tmp_path / "site"
    run_in(project, "-m", "mkdocs", "build", "--strict", "-d", str(site), PYTHONPATH=str(tmp_path))
    assert (site / "lessons" / "kernels-01.html").is_file()


def test_strict_build_refuses_what_mkdocs_would_let_pass(project: Path, tmp_path: Path) -> None:
    shutil.copy(project / "mkdocs.yml", tmp_path)
    for name in ("overrides", "pallas_course", "docs"):
        shutil.copytree(project / name, tmp_path / name)
    faults = "[a](nowhere.md) [b](index.md#nowhere) [c](/absolute.html) [d](folder/)\n"
    (tmp_path / "docs" / "stray.md").write_text(faults)
    with pytest.raises(AssertionError) as refusal:
        run_in(tmp_path, "-m", "mkdocs", "build", "--strict")
    for fault in ("stray.md", "nowhere.md", "'index.md#nowhere'", "/absolute.html", "folder/"):
        assert fault in str(refusal.value)
    assert "Aborted with 5 warnings in strict mode" in str(refusal.value)


def test_every_link_and_anchor_leads_somewhere(site: Path) -> None:
    lychee = shutil.which("lychee", path=Path(sys.executable).parent)
    assert lychee, "lychee is missing\nnext: install the packages of requirements.lock"
    command = [lychee, "--offline", "--include-fragments", "--no-progress", "--root-dir", site, site]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr


def test_every_page_is_well_formed_html(site: Path, pages: list[str]) -> None:
    errors = [f"{name}: {error}" for name in pages for error in parse(site / name)[1]]
    assert not errors, "\n".join(errors)


def test_no_markdown_is_left_for_the_reader(site: Path, pages: list[str]) -> None:
    for name in pages:
        tree, _ = parse(site / name)
        assert not [element.tag for element in tree.iter() if element.get("markdown")], name
        prose = [element for element in tree.iter() if element.tag in {f"{HTML}p", f"{HTML}li", f"{HTML}figcaption"}]
        assert not [text for element in prose for text in element.itertext() if text.startswith(("///", "```"))], name


def test_no_id_is_used_twice_on_a_page(site: Path, pages: list[str]) -> None:
    for name in pages:
        ids = Counter(element.get("id") for element in parse(site / name)[0].iter() if element.get("id"))
        assert not [id for id, count in ids.items() if count > 1], name


@pytest.mark.parametrize(
    ("id", "kind", "title", "code"),
    [
        ("ask", "run", "Ask the map · pallas_course/kernels/axpy.py", "owner = (4 // 2) * 3 + 10 // 4\n"),
        ("nested-code", "run", None, "assert 1 < 2 & 3\n"),
        ("in-list", "run", None, 'for i in range(2):\n\tprint(i, "\\n", r"\\t", \'<b>&amp;</b>\')\n'),
        (
            "tabs",
            "step",
            "Tabs, blank lines and a fence's own marks",
            'if True:\n\ttext = """\n\n\n\t```text\n\t# not a heading\n\t/// not a block\n\t"""\n',
        ),
    ],
)
def test_code_arrives_with_its_id_class_title_and_every_byte(
    site: Path, id: str, kind: str, title: str | None, code: str
) -> None:
    tree, _ = parse(site / "specimen.html")
    [cell] = [element for element in tree.iter() if element.get("id") == id]
    assert (cell.get("class") or "").split() == [kind, "highlight"]
    titles = [span.text for span in cell.iter(f"{HTML}span") if span.get("class") == "filename"]
    assert titles == ([title] if title else [])
    [shown] = cell.iter(f"{HTML}code")
    assert "".join(shown.itertext()) == code


def test_search_index_holds_every_page_of_the_navigation(site: Path, pages: list[str]) -> None:
    index = (site / "search" / "search_index.json").read_text("utf-8")
    assert [name for name in pages if f'"{name}"' not in index and name not in ("404.html", "index.html")] == []
