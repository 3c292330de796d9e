# Generated from _async/resources/agent/__init__.py by scripts/unasync.py; do not edit.
"""Agents and their runs."""

from .agent import Agent as Agent
