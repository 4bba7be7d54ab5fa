#!/usr/bin/env bash
# The checks of site/ that need Node.js and Java: HTML validity with vnu, then Lighthouse.
set -euo pipefail
cd "$(dirname "$0")/.."

for tool in npm java; do
    command -v "$tool" >/dev/null || {
        echo "audit-site needs $tool, which is not on this machine." >&2
        echo "next: apt-get install -y npm default-jre-headless   (or your system's names for them)" >&2
        exit 2
    }
done

if [[ ! node_modules/.package-lock.json -nt package-lock.json ]]; then
    echo "Installing the audit tools of package-lock.json."
    npm ci --loglevel=error
    touch node_modules/.package-lock.json
fi

echo "HTML validity (vnu)."
# The theme writes autocomplete="off" on its two hidden checkboxes. The standard allows it on no checkbox, and Firefox
# needs it: without it, a reload brings the menu back open. Nothing else is let through.
java -jar node_modules/vnu-jar/build/dist/vnu.jar --errors-only --skip-non-html \
    --filterpattern '.*Attribute “autocomplete” is only allowed when the input type is.*' site

echo "Lighthouse, on a phone and on a desk (about a minute)."
.venv/bin/python -m tools.lighthouse
