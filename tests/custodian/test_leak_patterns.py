"""Patterns of confidential content: each is found in its forms, and plain texts pass."""

import struct
import zlib

import pytest
from formalsynth.custodian.leak_patterns import PNG, in_numbers, in_png, in_text, numbers_in, rounded


def chunk(kind, body=b""):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


PICTURE = PNG + chunk(b"IHDR", b"x" * 13) + chunk(b"IDAT", b"y") + chunk(b"IEND")


@pytest.mark.parametrize("text", ["/srv/data/file.csv", "~/data", r"C:\Users\jo", r"\\server\share", "file:///etc"])
def test_paths_are_found(text):
    assert list(in_text(f"Made from {text} today.", [], "")) == ["a path"]


@pytest.mark.parametrize("text", ["seed: 12", "root_seed = 7", '"weights": [0.5]', "alpha was 0.3", "Rhat_max: 1.02"])
def test_settings_of_a_run_are_found(text):
    assert "a seed, a weight, a bound or a draw" in list(in_text(text, [], ""))


@pytest.mark.parametrize(
    "text", ["and/or", "1/2 of them", "https://example.org/a/b", "a weighted mean", "version 1.2.3", "seeds of doubt"]
)
def test_plain_sentences_pass(text):
    assert list(in_text(text, [], "")) == []


def test_declared_texts_may_contain_anything():
    assert list(in_text("Questions to data@office.example", [], "data@office.example")) == []
    assert list(in_text("Questions to data@office.example", [], "")) == ["an e-mail address"]


def test_names_are_found_as_words_in_any_case():
    assert list(in_text("By JO on Monday", ["jo"], ""))
    assert not list(in_text("a joke", ["jo"], ""))
    assert not list(in_text("by Jo", ["jo"], "Published by Jo."))


@pytest.mark.parametrize("text", ["52341", "52,341", "52 341".replace(" ", "\u202f"), "52341.0", "5.2341e4", "-1 and +52341"])
def test_confidential_outcomes_are_found_in_every_notation(text):
    assert list(in_numbers(f"The value {text} is in the text.", {52341.0}, set(), set(), "")) == ["a confidential outcome"]


def test_short_and_declared_numbers_pass():
    assert list(in_numbers("In 2026 there were 412.", {412.0}, set(), set(), "")) == []
    assert list(in_numbers("The bound is 52341.", {52341.0}, set(), {52341.0}, "")) == []


def test_secrets_are_found_to_five_digits_whatever_their_sign():
    secrets = {rounded(-0.123456)}
    assert list(in_numbers("a factor of 0.123459", set(), secrets, set(), "")) == ["a weight, a bound or a draw"]
    assert list(in_numbers("a factor of 0.12999", set(), secrets, set(), "")) == []


def test_a_series_of_numbers_is_found():
    assert list(in_numbers("1, 2, 3, 4, 5, 6, 7, 8", set(), set(), set(), "")) == [
        "a series of numbers, which no text of a release has"
    ]


def test_numbers_of_a_text_are_read():
    assert numbers_in("From 1,000 to 5e5, or -3.5") == {1000.0, 500_000.0, -3.5}


def test_a_plain_picture_passes():
    assert list(in_png(PICTURE)) == []


@pytest.mark.parametrize(("content", "words"), [
    (b"GIF89a", "other data than a PNG"), (PICTURE + b"x", "data after the picture"),
    (PICTURE.replace(chunk(b"IDAT", b"y"), chunk(b"tEXt", b"by jo") + chunk(b"IDAT", b"y")), "image metadata"),
    (PICTURE.replace(b"x" * 13, b"z" * 13), "a damaged picture"),
])  # fmt: skip
def test_other_content_of_a_picture_is_found(content, words):
    assert list(in_png(content)) == [words]
