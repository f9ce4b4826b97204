"""The query of a list that goes on by a cursor."""

from ninja import Schema
from pydantic import Field


class Paging(Schema):
    """`?cursor=&limit=`."""

    cursor: str = Field("", description="The `next_cursor` of the page before.")
    limit: int = Field(100, ge=1, le=200)
