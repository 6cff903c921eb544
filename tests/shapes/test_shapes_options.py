"""Options as people write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from a2m_gateway.errors import ConfigurationError
from a2m_gateway.shapes import LayoutOptions
from a2m_gateway.shapes.fields import format_field, parse_field


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("body", ("body",)),
        ("metadata.ts", ("metadata", "ts")),
        ('metadata."a.b"', ("metadata", "a.b")),
        ('"a.b".c', ("a.b", "c")),
        (r'"say \"hi\" \\ "', ('say "hi" \\ ',)),
        ('""', ("",)),
        ("*", ()),
        ('"*"', ("*",)),
        ("#document", ("#document",)),
        ("名前.値", ("名前", "値")),
    ],
)
def test_fields(text: str, path: tuple[str, ...]) -> None:
    assert parse_field(text) == path


@pytest.mark.parametrize("text", ["", ".", "a.", ".a", "a..b", '"a', '"a"b', 'a"b"', '"a\\"'])
def test_no_fields(text: str) -> None:
    with pytest.raises(ValueError, match="not a field name at character"):
        parse_field(text)


@given(st.lists(st.text(), max_size=4))
def test_a_field_is_read_as_it_is_written(path: list[str]) -> None:
    assert parse_field(format_field(tuple(path))) == tuple(path)


def test_everything_together() -> None:
    options = LayoutOptions.parse(
        {
            "text_field": "body",
            "metadata_field": "*",
            "id_field": "doc.id",
            "created_at_field": "metadata.ts",
            "vector_name": "",
            "tenant": "org.id=a=b",
            "created_at_default": "2026-01-01T01:00:00+01:00",
        }
    )
    assert options == LayoutOptions(
        text_field=("body",),
        metadata_field=(),
        id_field=("doc", "id"),
        created_at_field=("metadata", "ts"),
        vector_name="",
        tenant_field=("org", "id"),
        tenant="a=b",
        created_at_default="2026-01-01T00:00:00.000Z",
    )


def test_a_tenant_beside_its_field_is_taken_whole() -> None:
    options = LayoutOptions.parse({"tenant_field": "org", "tenant": "a=b"})
    assert (options.tenant_field, options.tenant) == (("org",), "a=b")


def test_nothing_given() -> None:
    assert LayoutOptions.parse({}) == LayoutOptions()


@pytest.mark.parametrize(
    ("given", "setting", "says"),
    [
        ({"text_feild": "body"}, "text_feild", "text_field, metadata_field, id_field"),
        ({"text_field": ""}, "text_field", "not a field name"),
        ({"text_field": "*"}, "text_field", "only metadata_field"),
        ({"id_field": "a..b"}, "id_field", "not a field name"),
        ({"tenant": ""}, "tenant", "FIELD=VALUE"),
        ({"tenant": "org="}, "tenant", "FIELD=VALUE"),
        ({"tenant": "=a"}, "tenant", "not a field name"),
        ({"tenant_field": "org"}, "tenant_field", "needs `tenant`"),
        ({"created_at_default": "now"}, "created_at_default", "2026-07-28T10:15:30.123Z"),
        ({"created_at_default": "0"}, "created_at_default", "2026-07-28T10:15:30.123Z"),
    ],
)
def test_mistakes_are_named(given: dict[str, str], setting: str, says: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        LayoutOptions.parse(given)
    assert refused.value.setting == setting
    assert says in str(refused.value)
