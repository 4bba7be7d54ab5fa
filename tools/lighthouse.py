"""Run Lighthouse over site/: accessibility, best practices and SEO must be perfect; performance is only shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.site.chromium import find
from tools.site_server import serve

PERFECT = ("accessibility", "best-practices", "seo")
DEVICES = {"phone": (), "desk": ("--preset=desktop",)}


def audit(url: str, chromium: str, *options: str) -> dict[str, float]:
    """Score by category, each from 0 to 1, and under `bytes` what Lighthouse saw on the wire."""
    command = ["node_modules/.bin/lighthouse", url, "--quiet", "--output=json", *options]
    flags = "--chrome-flags=--headless=new --no-sandbox --disable-gpu"
    result = subprocess.run(
        [*command, flags], env={**os.environ, "CHROME_PATH": chromium}, stdout=subprocess.PIPE, text=True, check=True
    )
    report = json.loads(result.stdout)
    scores = {name: category["score"] for name, category in report["categories"].items()}
    failed = [name for name, audit in report["audits"].items() if audit["score"] == 0 and name in _counting(report)]
    if failed:
        print(f"  failed: {', '.join(failed)}")
    return {**scores, "bytes": report["audits"]["total-byte-weight"]["numericValue"]}


def _counting(report: dict[str, dict[str, dict[str, list[dict[str, str]]]]]) -> set[str]:
    """Ids of the audits that count towards the categories that must be perfect."""
    return {entry["id"] for name in PERFECT for entry in report["categories"][name]["auditRefs"]}


def main() -> int:
    site = Path("site")
    chromium = find()
    pages = ["index.html", *sorted(page.relative_to(site).as_posix() for page in site.glob("lessons/*.html"))]
    imperfect = False
    with serve(site) as served:
        for page in pages:
            for device, options in DEVICES.items():
                scores = audit(f"{served.url}/{page}", chromium, *options)
                weight = scores.pop("bytes")
                shown = " · ".join(f"{name} {score * 100:.0f}" for name, score in scores.items())
                print(f"{page} on a {device}: {shown} · {weight / 1000:.0f} kB", flush=True)
                imperfect |= any(scores[name] < 1 for name in PERFECT)
    if imperfect:
        print("Lighthouse: a page is not perfect\nnext: mend the audits named above", file=sys.stderr)
    return int(imperfect)


if __name__ == "__main__":
    sys.exit(main())
