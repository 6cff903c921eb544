"""HTTP, on FastAPI and uvicorn (spec 8.3)."""

from a2m_gateway.transports.http.app import create_app
from a2m_gateway.transports.http.server import HttpServer
from a2m_gateway.transports.http.settings import HttpSettings, TokenHash

__all__ = ["HttpServer", "HttpSettings", "TokenHash", "create_app"]
