"""A plugin of pytest: runs what a published client's own tests leave out because they want a server that answers.

    python -m pytest -p hosted_suites --outcomes FILE tests/api_resources

FILE gets a JSON object, test → `passed`, `failed` or `skipped`.
"""

import json

import pytest

LEFT_OUT = "Mock server tests are disabled"


def pytest_addoption(parser):
    parser.addoption("--outcomes", required=True)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        for node in item.listchain():
            node.own_markers = [mark for mark in node.own_markers if mark.kwargs.get("reason") != LEFT_OUT]


class Outcomes:
    def __init__(self):
        self.of = {}

    def pytest_runtest_logreport(self, report):
        before = self.of.get(report.nodeid)
        if before is None or report.outcome != "passed":
            self.of[report.nodeid] = report.outcome


def pytest_configure(config):
    config.pluginmanager.register(Outcomes(), "outcomes")


def pytest_unconfigure(config):
    found = config.pluginmanager.get_plugin("outcomes")
    with open(config.getoption("outcomes"), "w") as file:
        json.dump(found.of, file)
