"""Each test of a vendor runs for both."""

import pytest

from tests.llm.asking import ANTHROPIC, OPENAI, Vendor


@pytest.fixture(params=[OPENAI, ANTHROPIC], ids=lambda vendor: vendor.kind)
def vendor(request: pytest.FixtureRequest) -> Vendor:
    return request.param
