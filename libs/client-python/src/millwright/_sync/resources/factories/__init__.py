# Generated from _async/resources/factories/__init__.py by scripts/unasync.py; do not edit.
"""Factories and what belongs to them."""

from .factories import Factories as Factories
