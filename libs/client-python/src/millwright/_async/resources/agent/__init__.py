"""Agents and their runs."""

from .agent import AsyncAgent as AsyncAgent
