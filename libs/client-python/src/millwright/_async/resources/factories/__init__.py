"""Factories and what belongs to them."""

from .factories import AsyncFactories as AsyncFactories
