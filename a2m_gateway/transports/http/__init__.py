"""HTTP, on FastAPI and uvicorn (spec 8.3)."""
