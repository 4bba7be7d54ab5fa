#!/bin/sh
# Runs its arguments under the first Python that is 3.11, 3.12 or 3.13 and can make environments.
# Candidates are asked by running them: a name on the PATH may be a shim that leads nowhere.
set -u

# Any Python since 2.7 can run this: it prints its version even where the imports then fail.
ask='import sys; print(".".join(map(str, sys.version_info[:3]))); import ensurepip, venv'
seen=
next='install one of them, or add one that is not on the PATH to the same command: PYTHON=/path/to/python3.12'

for candidate in "${PYTHON:-}" .venv/bin/python python3.13 python3.12 python3.11 python3 python; do
    [ -n "$candidate" ] || continue
    lacks=
    version=$("$candidate" -c "$ask" 2>/dev/null </dev/null) || lacks=' without its venv module'
    case $version in
    3.11.* | 3.12.* | 3.13.*)
        [ -n "$lacks" ] || exec "$candidate" "$@"
        next="add that module and run the same command again (on Debian and Ubuntu: apt-get install python${version%.*}-venv)"
        ;;
    *) lacks= ;;
    esac
    [ -z "$version" ] || seen="${seen:+$seen, }$candidate is $version$lacks"
    [ -z "${PYTHON:-}" ] || break
done

echo "The course needs Python 3.11, 3.12 or 3.13: ${seen:-${PYTHON:-python} does not run}." >&2
echo "next: $next" >&2
exit 2
