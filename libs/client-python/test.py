"""The tests of the Python client, with one command: `python3 libs/client-python/test.py`.

Makes libs/client-python/.venv with pinned packages the first time, and runs pytest; further arguments are pytest's.

    --prepare  only the packages, no test
    --prepare-hosted  the published clients of the hosted service, in an environment of their own, which it prints
    --prepare-hosted-suites  the same with what their own tests need
    --all      also: mypy, pyright, every other interpreter from 3.9 on that is found, wheel and sdist,
               and the wheel in an empty environment with the README's first example
    --edges    as --all, of the interpreters only the newest, and the oldest with the oldest packages

Where Python 3.9 or the package index is missing, it says so and ends with 0; with REQUIRE_PYTHON_CLIENT=1 it ends
with 1. Needs no package itself.
"""

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

PACKAGE = os.path.dirname(os.path.abspath(__file__))
OLDEST = (3, 9)
OLDEST_NAME = "3.9"
INTERPRETERS = ("3.9", "3.10", "3.11", "3.12", "3.13")
# Seconds between attempts at the index: a connection that broke is no reason to end.
PAUSES = (5, 15)
FIRST_EXAMPLE = "test/first_example.py"


class Unavailable(Exception):
    """Something that is no part of the project is missing; the message says what."""


class Failed(Exception):
    """A check failed; its output stands above."""


def main(arguments):
    edges = "--edges" in arguments
    everything = edges or "--all" in arguments
    pytest_arguments = [argument for argument in arguments if argument not in ("--all", "--edges", "--prepare")]
    try:
        if sys.version_info < OLDEST:
            raise Unavailable("Python 3.9 or later; this is {}.{}".format(*sys.version_info[:2]))
        if "--prepare" in arguments:
            environment(".venv", sys.executable, "test.txt")
            return 0
        if "--prepare-hosted" in arguments:
            print("python: " + environment(".venv-hosted", sys.executable, "hosted.txt"))
            return 0
        if "--prepare-hosted-suites" in arguments:
            print("python: " + environment(".venv-hosted-suites", sys.executable, "hosted-suites.txt"))
            return 0
        return summary(run(everything, edges, pytest_arguments))
    except Unavailable as missing:
        return skipped(missing)
    except Failed as failure:
        print("FAIL {}".format(failure))
        return 1


def skipped(missing):
    print("SKIPPED: the tests of the Python client did not run: missing is {}".format(missing), flush=True)
    return 1 if os.environ.get("REQUIRE_PYTHON_CLIENT") == "1" else 0


def run(everything, edges, pytest_arguments):
    """Every check as (name, what came of it, whether it is fine)."""
    python = environment(".venv", sys.executable, "test.txt")
    if everything:
        environment(".venv", sys.executable, "tools.txt")
    checks = [] if edges else [("pytest on Python " + version_of(python), lambda: tests(python, pytest_arguments))]
    if everything:
        checks += [
            ("mypy --strict", lambda: tool(python, ["-m", "mypy"])),
            ("mypy --strict on the examples", lambda: examples(python)),
            ("pyright", lambda: tool(python, ["-m", "pyright", "--pythonpath", python])),
        ]
        checks += [("pytest on Python " + name, other(path, name, pytest_arguments)) for name, path in (other_interpreters()[-1:] if edges else other_interpreters())]
        checks += [("pytest with the oldest packages, on Python " + OLDEST_NAME, lambda: lowest(pytest_arguments))]
        checks += [("wheel and sdist, installed in an empty environment", lambda: packages(python))]
    return [attempt(name, check) for name, check in checks]


def attempt(name, check):
    began = time.monotonic()
    print("-- " + name, flush=True)
    try:
        outcome, fine = check(), True
    except Failed as failure:
        outcome, fine = str(failure), False
    return name, "{} ({:.0f} s)".format(outcome, time.monotonic() - began), fine


def summary(results):
    print()
    for name, outcome, fine in results:
        print("{:<4} {}: {}".format("ok" if fine else "FAIL", name, outcome))
    return 0 if all(fine for _, _, fine in results) else 1


# --- environments ------------------------------------------------------------------------------------------------


def environment(folder, interpreter, requirements):
    """The Python of an environment that holds these packages; made once for each list, by one process at a time."""
    home = os.path.join(PACKAGE, folder)
    with alone(home):
        return made_environment(home, interpreter, requirements)


@contextlib.contextmanager
def alone(home):
    """Others that want the same environment at once wait here, and find it made."""
    name = "millwright-{}.lock".format(hashlib.sha256(home.encode("utf-8")).hexdigest()[:16])
    with open(os.path.join(tempfile.gettempdir(), name), "a") as file:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def made_environment(home, interpreter, requirements):
    python = python_in(home)
    wanted = fingerprint(interpreter, requirements)
    marker = os.path.join(home, ".millwright-" + requirements)
    if text_of(marker) == wanted and os.path.exists(python):
        return python
    print("millwright: installing what the tests need into {} (once) …".format(os.path.relpath(home)), flush=True)
    if not os.path.exists(python) or version_of(python) != version_of(interpreter):
        make_environment(interpreter, home)
    install(python, ["-r", os.path.join(PACKAGE, "requirements", requirements)])
    with open(marker, "w") as file:
        file.write(wanted)
    return python


def make_environment(interpreter, home):
    made = subprocess.run([interpreter, "-m", "venv", "--clear", home], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if made.returncode != 0:
        print(made.stdout.decode("utf-8", "replace"))
        raise Unavailable("the module venv of {} (Debian: python3-venv)".format(interpreter))


def install(python, what):
    """Installs packages. Where the index cannot be reached, that is not the fault of the client."""
    command = [python, "-m", "pip", "install", "--disable-pip-version-check", "--quiet", "--retries", "5", "--timeout", "60"]
    for pause in (*PAUSES, None):
        done = subprocess.run(command + list(what), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode == 0:
            return
        if pause is not None:
            time.sleep(pause)
    output = done.stdout.decode("utf-8", "replace")
    print(output)
    if re.search("Retrying|Connection|Max retries|resolution|ProxyError|timed out", output):
        raise Unavailable("the package index")
    raise Failed("pip could not install what is needed")


def fingerprint(interpreter, requirements):
    listed = text_of(os.path.join(PACKAGE, "requirements", requirements))
    return hashlib.sha256((version_of(interpreter) + listed).encode("utf-8")).hexdigest()


def python_in(home):
    return os.path.join(home, "Scripts", "python.exe") if os.name == "nt" else os.path.join(home, "bin", "python")


def version_of(python):
    code = "import sys; print('%d.%d' % sys.version_info[:2])"
    try:
        return subprocess.check_output([python, "-c", code], stderr=subprocess.DEVNULL).decode().strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def other_interpreters():
    """(version, path) of each interpreter that is found and is not this one."""
    own = "%d.%d" % sys.version_info[:2]
    found = []
    for name in INTERPRETERS:
        path = next((path for path in places_of(name) if version_of(path) == name), None)
        if name != own and path is not None:
            found.append((name, path))
        elif name != own:
            print("SKIPPED: Python {} is not here".format(name), flush=True)
    return found


def places_of(name):
    """Where an interpreter may be: on the PATH, and where pyenv and uv keep theirs."""
    on_path = shutil.which("python" + name)
    homes = [os.path.expanduser("~/.pyenv/versions"), os.path.expanduser("~/.local/share/uv/python")]
    kept = [
        os.path.join(home, entry, "bin", "python")
        for home in homes
        if os.path.isdir(home)
        for entry in sorted(os.listdir(home), reverse=True)
        if re.match(r"(cpython-)?{}\.".format(re.escape(name)), entry)
    ]
    return ([on_path] if on_path else []) + kept


# --- checks ------------------------------------------------------------------------------------------------------


def tests(python, pytest_arguments):
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.xml")
        command = [python, "-m", "pytest", "-q", "--junitxml", report] + list(pytest_arguments)
        code = subprocess.run(command, cwd=PACKAGE, env=own_environment()).returncode
        counted = counts(report)
    if code != 0:
        raise Failed(counted)
    return counted


def counts(report):
    if not os.path.exists(report):
        return "pytest did not come to its end"
    suite = next(xml.etree.ElementTree.parse(report).getroot().iter("testsuite"))
    total, failed, skipped_ones = (int(suite.get(name, "0")) for name in ("tests", "failures", "skipped"))
    failed += int(suite.get("errors", "0"))
    return "{} passed, {} failed, {} skipped".format(total - failed - skipped_ones, failed, skipped_ones)


def own_environment():
    """Of the variables of the client itself only those that tell the tests where a service is."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("MILLWRIGHT_") or name.startswith("MILLWRIGHT_TEST_")}
    return dict(kept, PYTHONPATH=os.path.join(PACKAGE, "src"), PYTHONDONTWRITEBYTECODE="1")


def tool(python, arguments):
    if subprocess.run([python] + arguments, cwd=PACKAGE, env=own_environment()).returncode != 0:
        raise Failed("problems, see above")
    return "no problems"


def examples(python):
    """The programs of the folder examples, and the examples of the README."""
    with tempfile.TemporaryDirectory() as folder:
        tool(python, [os.path.join("test", "readme_examples.py"), folder])
        for place in ("examples", folder):
            tool(python, ["-m", "mypy", "--strict", "--python-executable", python, place])
    return "no problems"


def other(path, name, pytest_arguments):
    return lambda: tests(environment(".venv-" + name, path, "test.txt"), pytest_arguments)


def lowest(pytest_arguments):
    path = next((path for path in places_of(OLDEST_NAME) if version_of(path) == OLDEST_NAME), None)
    if path is None:
        return "SKIPPED, Python {} is not here".format(OLDEST_NAME)
    return tests(environment(".venv-lowest", path, "lowest.txt"), pytest_arguments)


def packages(python):
    """Builds both, and runs the README's first example where nothing but one of them is installed."""
    with tempfile.TemporaryDirectory() as folder:
        tool(python, ["-m", "build", "--no-isolation", "--outdir", folder])
        made = sorted(name for name in os.listdir(folder) if name.endswith((".whl", ".tar.gz")))
        if len(made) != 2:
            raise Failed("made were {}, not one wheel and one sdist".format(made or "no files"))
        for name in made:
            empty = os.path.join(folder, "empty-" + name)
            make_environment(sys.executable, empty)
            install(python_in(empty), [os.path.join(folder, name)])
            command = [python, FIRST_EXAMPLE, python_in(empty)]
            if subprocess.run(command, cwd=PACKAGE, env=own_environment()).returncode != 0:
                raise Failed("the first example of the README failed with {}".format(name))
    return " and ".join(made)


def text_of(path):
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
