"""The object that the tests request."""

from pydantic import BaseModel


class City(BaseModel):
    """A city."""

    city: str
