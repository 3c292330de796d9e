"""The version of this library; the service has its own."""

__version__ = "0.1.0"
