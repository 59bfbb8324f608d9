"""What every kind of part becomes for every target: the adapter table, cell by cell."""

from __future__ import annotations

from typing import Any

import pytest

from antiphon.message.v1 import content_block_pb2
from compiler_service.native.turns import CacheMark, JsonPart, OpaquePart, ThinkingPart
from tests.support.projection import (
    MODEL,
    PNG_BASE64,
    TARGETS,
    Projected,
    assistant,
    call,
    conversation,
    linked,
    png,
    project_for,
    result,
    results,
    text,
    user,
)

ANTHROPIC, GEMINI, OLLAMA, CHAT, RESPONSES = TARGETS
PROVIDERS = {ANTHROPIC: "anthropic", GEMINI: "gemini", OLLAMA: "ollama", CHAT: "openai", RESPONSES: "openai"}
SIGNATURE = "c2lnbmVk"
DATA_URL = f"data:image/png;base64,{PNG_BASE64}"


def thinking(
    provider: str | None = "anthropic",
    signature: str | None = SIGNATURE,
    *,
    said: str = "hm",
    model: str | None = None,
) -> ThinkingPart:
    return ThinkingPart(said, signature, provider, model, "th")


def last(target: str, *parts: Any, **fields: Any) -> tuple[Any, Projected]:
    """Project a history whose second turn is an assistant's of these parts; return it and all."""
    projected = project_for(
        target, conversation(user("hi"), assistant(*parts), user("go", id="u2")), **fields
    )
    return projected.turns[1], projected


def asked(target: str, *parts: Any, **fields: Any) -> tuple[Any, Projected]:
    """Project a user's turn of these parts; return it and all."""
    projected = project_for(target, conversation(user(*parts)), **fields)
    return projected.turns[0], projected


def answered(target: str, *content: Any, is_error: bool = False) -> tuple[list[Any], Projected]:
    """Project a call and its result; return what comes after the call, and all."""
    projected = project_for(
        target,
        conversation(user("hi"), assistant(call()), results(result("call_1", *content, is_error=is_error))),
    )
    return projected.turns[2:], projected


class TestSystemText:
    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            (ANTHROPIC, {"system": [{"type": "text", "text": "be ü"}]}),
            (GEMINI, {"systemInstruction": {"parts": [{"text": "be ü"}]}}),
            (RESPONSES, {"instructions": "be ü"}),
        ],
    )
    def test_stands_beside_the_turns(self, target: str, expected: dict[str, Any]) -> None:
        body = project_for(target, conversation(user("hi"), system="be ü")).body
        assert {key: body[key] for key in expected} == expected

    @pytest.mark.parametrize("target", [CHAT, OLLAMA])
    def test_is_the_first_message(self, target: str) -> None:
        body = project_for(target, conversation(user("hi"), system="be ü")).body
        assert body["messages"][0] == {"role": "system", "content": "be ü"}

    @pytest.mark.parametrize("target", TARGETS)
    def test_absent_leaves_no_trace(self, target: str) -> None:
        projected = project_for(target, conversation(user("hi")))
        assert not {"system", "systemInstruction", "instructions"} & set(projected.body)
        assert len(projected.turns) == 1

    def test_empty_is_sent_by_openai_only(self) -> None:
        given = conversation(user("hi"), system="")
        assert project_for(CHAT, given).body["messages"][0] == {"role": "system", "content": ""}
        assert project_for(RESPONSES, given).body["instructions"] == ""
        assert project_for(OLLAMA, given).body["messages"][0]["role"] == "user"
        for target in (ANTHROPIC, GEMINI):
            projected = project_for(target, given)
            assert not {"system", "systemInstruction"} & set(projected.body)
            assert projected.about("EMPTY_PART_DROPPED") == [(("s",), "")]


class TestUserTurns:
    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            (ANTHROPIC, {"role": "user", "content": "hi"}),
            (GEMINI, {"role": "user", "parts": [{"text": "hi"}]}),
            (OLLAMA, {"role": "user", "content": "hi"}),
            (CHAT, {"role": "user", "content": "hi"}),
            (RESPONSES, {"type": "message", "role": "user", "content": "hi"}),
        ],
    )
    def test_text(self, target: str, expected: dict[str, Any]) -> None:
        assert asked(target, "hi")[0] == expected

    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            (ANTHROPIC, {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}),
            (GEMINI, {"parts": [{"text": "a"}, {"text": "b"}]}),
            (OLLAMA, {"content": "a\nb"}),
            (CHAT, {"content": "a\nb"}),
            (
                RESPONSES,
                {
                    "type": "message",
                    "content": [{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}],
                },
            ),
        ],
    )
    def test_several_texts(self, target: str, expected: dict[str, Any]) -> None:
        assert asked(target, "a", "b")[0] == {"role": "user", **expected}

    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            (
                ANTHROPIC,
                {
                    "content": [
                        {"type": "text", "text": "a"},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": PNG_BASE64},
                        },
                        {"type": "text", "text": "b"},
                    ]
                },
            ),
            (
                GEMINI,
                {
                    "parts": [
                        {"text": "a"},
                        {"inlineData": {"mimeType": "image/png", "data": PNG_BASE64}},
                        {"text": "b"},
                    ]
                },
            ),
            (OLLAMA, {"content": "a\nb", "images": [PNG_BASE64]}),
            (
                CHAT,
                {
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "image_url", "image_url": {"url": DATA_URL}},
                        {"type": "text", "text": "b"},
                    ]
                },
            ),
            (
                RESPONSES,
                {
                    "type": "message",
                    "content": [
                        {"type": "input_text", "text": "a"},
                        {"type": "input_image", "image_url": DATA_URL, "detail": "auto"},
                        {"type": "input_text", "text": "b"},
                    ],
                },
            ),
        ],
    )
    @pytest.mark.parametrize("image", [png(), linked(DATA_URL)], ids=["bytes", "data-url"])
    def test_image_between_texts(self, target: str, expected: dict[str, Any], image: Any) -> None:
        turn, projected = asked(target, "a", image, "b")
        assert turn == {"role": "user", **expected}
        assert projected.kinds <= {"DEFAULT_APPLIED"}

    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            (ANTHROPIC, {"type": "image", "source": {"type": "url", "url": "https://e.org/i.png"}}),
            (GEMINI, {"fileData": {"fileUri": "https://e.org/i.png"}}),
            (CHAT, {"type": "image_url", "image_url": {"url": "https://e.org/i.png"}}),
            (RESPONSES, {"type": "input_image", "image_url": "https://e.org/i.png", "detail": "auto"}),
        ],
    )
    def test_image_at_an_address(self, target: str, expected: dict[str, Any]) -> None:
        turn, _ = asked(target, "a", linked("https://e.org/i.png"))
        assert (turn.get("content") or turn["parts"])[1] == expected

    def test_ollama_takes_no_address(self) -> None:
        turn, projected = asked(OLLAMA, "a", linked("https://e.org/i.png", id="i9"))
        assert turn == {"role": "user", "content": "a"}
        assert projected.about("PART_DROPPED") == [(("i9",), "image at an address")]

    def test_gemini_is_told_a_known_type_of_an_address(self) -> None:
        turn, _ = asked(GEMINI, linked("https://e.org/i", type="image/png"))
        assert turn["parts"] == [{"fileData": {"mimeType": "image/png", "fileUri": "https://e.org/i"}}]

    @pytest.mark.parametrize(
        ("target", "refused"),
        [(ANTHROPIC, "image/tiff"), (GEMINI, "image/gif"), (CHAT, "image/tiff"), (RESPONSES, "image/tiff")],
    )
    def test_image_of_another_type_is_dropped(self, target: str, refused: str) -> None:
        _, projected = asked(target, "a", png("i9", type=refused))
        assert projected.about("PART_DROPPED") == [(("i9",), f"image of type {refused}")]
        assert PNG_BASE64 not in projected.text

    @pytest.mark.parametrize(
        ("target", "takes"), [(CHAT, True), (RESPONSES, True), (ANTHROPIC, False), (GEMINI, False)]
    )
    def test_detail_asked_of_an_image(self, target: str, takes: bool) -> None:
        _, projected = asked(target, "a", png("i9", detail=content_block_pb2.IMAGE_DETAIL_HIGH))
        assert ('"detail":"high"' in projected.text) == takes
        assert projected.about("PART_CONVERTED") == ([] if takes else [(("i9",), "image detail left out")])
        _, projected = asked(target, "a", png("i9", detail=content_block_pb2.IMAGE_DETAIL_AUTO))
        assert projected.about("PART_CONVERTED") == []

    @pytest.mark.parametrize("target", TARGETS)
    def test_other_parts_are_dropped(self, target: str) -> None:
        turn, projected = asked(
            target,
            "a",
            JsonPart('{"secret":1}', "j"),
            thinking(PROVIDERS[target], said="secret"),
            call("call_9"),
        )
        assert turn == asked(target, "a")[0]
        assert projected.about("PART_DROPPED") == [
            (("j",), "JSON in a user's turn"),
            (("th",), "thinking in a user's turn"),
            (("q-call_9",), "call in a user's turn"),
        ]

    @pytest.mark.parametrize("target", TARGETS)
    @pytest.mark.parametrize("blank", ["", " \n\t"])
    def test_blank_text_is_dropped(self, target: str, blank: str) -> None:
        turn, projected = asked(target, "a", text(blank, "b9"))
        assert turn == asked(target, "a")[0]
        assert projected.about("EMPTY_PART_DROPPED") == [(("b9",), "")]


class TestAssistantTurns:
    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            (ANTHROPIC, {"role": "assistant", "content": [{"type": "text", "text": "yes"}]}),
            (GEMINI, {"role": "model", "parts": [{"text": "yes"}]}),
            (OLLAMA, {"role": "assistant", "content": "yes"}),
            (CHAT, {"role": "assistant", "content": "yes"}),
            (RESPONSES, {"type": "message", "role": "assistant", "content": "yes"}),
        ],
    )
    def test_text(self, target: str, expected: dict[str, Any]) -> None:
        assert last(target, "yes")[0] == expected

    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            (
                ANTHROPIC,
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "a"},
                        {"type": "tool_use", "id": "call_1", "name": "look", "input": {"n": 1}},
                        {"type": "text", "text": "b"},
                    ],
                },
            ),
            (
                GEMINI,
                {
                    "role": "model",
                    "parts": [
                        {"text": "a"},
                        {"functionCall": {"id": "call_1", "name": "look", "args": {"n": 1}}},
                        {"text": "b"},
                    ],
                },
            ),
            (
                OLLAMA,
                {
                    "role": "assistant",
                    "content": "a\nb",
                    "tool_calls": [{"function": {"name": "look", "arguments": {"n": 1}}}],
                },
            ),
            (
                CHAT,
                {
                    "role": "assistant",
                    "content": "a\nb",
                    "tool_calls": [
                        {
                            "id": "call_1",
                            "type": "function",
                            "function": {"name": "look", "arguments": '{"n":1}'},
                        }
                    ],
                },
            ),
        ],
    )
    def test_text_and_call(self, target: str, expected: dict[str, Any]) -> None:
        given = conversation(
            user("hi"), assistant("a", call(arguments='{"n":1}'), "b"), results(result("call_1", "r"))
        )
        assert project_for(target, given).turns[1] == expected

    def test_text_and_call_as_items(self) -> None:
        given = conversation(
            user("hi"), assistant("a", call(arguments='{"n":1}'), "b"), results(result("call_1", "r"))
        )
        assert project_for(RESPONSES, given).turns[1:4] == [
            {"type": "message", "role": "assistant", "content": "a"},
            {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": '{"n":1}'},
            {"type": "message", "role": "assistant", "content": "b"},
        ]

    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            (ANTHROPIC, [{"type": "tool_use", "id": "call_1", "name": "look", "input": {}}]),
            (GEMINI, None),
            (OLLAMA, ""),
            (CHAT, None),
        ],
    )
    def test_call_without_text(self, target: str, expected: Any) -> None:
        given = conversation(user("hi"), assistant(text(""), call()), results(result("call_1", "r")))
        projected = project_for(target, given)
        assert projected.turns[1].get("content") == expected
        assert projected.about("EMPTY_PART_DROPPED") == [(("t",), "")]

    @pytest.mark.parametrize("target", TARGETS)
    def test_image_and_json_are_dropped(self, target: str) -> None:
        turn, projected = last(target, "yes", png("i9"), JsonPart("[1]", "j"))
        assert turn == last(target, "yes")[0]
        assert projected.about("PART_DROPPED") == [
            (("i9",), "image in an assistant's turn"),
            (("j",), "JSON in an assistant's turn"),
        ]

    @pytest.mark.parametrize("target", TARGETS)
    def test_empty_turn_is_skipped(self, target: str) -> None:
        given = conversation(user("hi"), assistant(text(" ", "a"), id="a"), user("go", id="u2"))
        projected = project_for(target, given)
        assert "assistant" not in projected.text
        assert "model" not in {turn.get("role") for turn in projected.turns}
        assert projected.about("EMPTY_DROPPED") == [(("a",), "")]


class TestReasoning:
    def test_anthropic_replays_its_own_signed_verbatim(self) -> None:
        turn, projected = last(ANTHROPIC, thinking(said=" hm \u2028"), "yes")
        assert turn["content"] == [
            {"type": "thinking", "thinking": " hm \u2028", "signature": SIGNATURE},
            {"type": "text", "text": "yes"},
        ]
        assert projected.about("THINKING_DROPPED") == []

    def test_anthropic_replays_an_empty_text_with_its_signature(self) -> None:
        turn, _ = last(ANTHROPIC, thinking(said=""), "yes")
        assert turn["content"][0] == {"type": "thinking", "thinking": "", "signature": SIGNATURE}

    def test_gemini_replays_its_own_signed(self) -> None:
        turn, _ = last(GEMINI, thinking("gemini"), "yes", thinking("gemini", said=""))
        assert turn["parts"] == [
            {"text": "hm", "thought": True, "thoughtSignature": SIGNATURE},
            {"text": "yes"},
            {"text": "", "thoughtSignature": SIGNATURE},
        ]

    @pytest.mark.parametrize("target", [ANTHROPIC, GEMINI])
    @pytest.mark.parametrize(
        ("part", "detail"),
        [
            (thinking(None), "of another issuer or of none"),
            (thinking("openai"), "of another issuer or of none"),
            (thinking("anthropic", None), "unsigned"),
            (thinking("anthropic", ""), "unsigned"),
        ],
    )
    def test_what_is_not_its_own_signed_is_dropped(
        self, target: str, part: ThinkingPart, detail: str
    ) -> None:
        turn, projected = last(target, part, "yes")
        assert turn == last(target, "yes")[0]
        assert projected.about("THINKING_DROPPED") == [(("th",), detail)]

    @pytest.mark.parametrize("target", [ANTHROPIC, GEMINI])
    def test_another_model_never_sees_it(self, target: str) -> None:
        provider = PROVIDERS[target]
        turn, projected = last(target, thinking(provider, model="another"), "yes")
        assert turn == last(target, "yes")[0]
        assert projected.about("THINKING_DROPPED") == [(("th",), "of another model")]
        assert SIGNATURE in last(target, thinking(provider, model=MODEL), "yes")[1].text
        unknown = project_for(
            target,
            conversation(user("hi"), assistant(thinking(provider, model="another"), "yes"), user("go")),
            options={"model": None},
            check=False,
        )
        assert SIGNATURE in unknown.text

    @pytest.mark.parametrize("target", [ANTHROPIC, GEMINI])
    def test_signatures_are_left_out_when_asked(self, target: str) -> None:
        part = OpaquePart(
            "anthropic", "", "redacted_thinking", '{"type":"redacted_thinking","data":"zz"}', "o"
        )
        turn, projected = last(
            target, thinking(PROVIDERS[target]), part, "yes", options={"strip_signatures": True}
        )
        assert turn == last(target, "yes")[0]
        assert "THINKING_DROPPED" in projected.kinds

    @pytest.mark.parametrize("target", [CHAT, RESPONSES, OLLAMA])
    def test_others_take_none(self, target: str) -> None:
        turn, projected = last(target, thinking(PROVIDERS[target]), "yes")
        assert turn == last(target, "yes")[0]
        assert projected.about("THINKING_DROPPED") == [(("th",), "the target takes none")]

    def test_gemini_refuses_a_signature_that_is_not_base64(self) -> None:
        _, projected = last(GEMINI, thinking("gemini", "not base64!"), "yes")
        assert projected.about("THINKING_DROPPED") == [(("th",), "signature not in base64")]

    def test_anthropic_turn_never_ends_with_reasoning(self) -> None:
        turn, projected = last(ANTHROPIC, "yes", thinking())
        assert turn["content"] == [{"type": "text", "text": "yes"}]
        assert projected.about("THINKING_DROPPED") == [(("th",), "nothing follows it")]

    def test_anthropic_turn_of_reasoning_alone_is_skipped(self) -> None:
        projected = project_for(ANTHROPIC, conversation(user("a"), assistant(thinking()), user("b", id="u2")))
        assert projected.turns == [
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
        ]
        assert {"THINKING_DROPPED", "EMPTY_DROPPED", "USERS_MERGED"} <= projected.kinds


class TestCallSignatures:
    def test_gemini_gets_it_beside_the_call(self) -> None:
        given = conversation(
            user("hi"), assistant(call(thought_signature=SIGNATURE)), results(result("call_1", "r"))
        )
        assert project_for(GEMINI, given).turns[1]["parts"][0]["thoughtSignature"] == SIGNATURE

    @pytest.mark.parametrize("target", [target for target in TARGETS if target != GEMINI])
    def test_nobody_else_does(self, target: str) -> None:
        given = conversation(
            user("hi"), assistant(call(thought_signature=SIGNATURE)), results(result("call_1", "r"))
        )
        projected = project_for(target, given)
        assert SIGNATURE not in projected.text
        assert projected.about("SIGNATURE_DROPPED") == [(("q-call_1",), "the target takes none")]

    def test_gemini_without_signatures_when_asked(self) -> None:
        given = conversation(
            user("hi"), assistant(call(thought_signature=SIGNATURE)), results(result("call_1", "r"))
        )
        projected = project_for(GEMINI, given, options={"strip_signatures": True})
        assert "thoughtSignature" not in projected.text
        assert "SIGNATURE_DROPPED" in projected.kinds


OPAQUE = {
    ANTHROPIC: ("redacted_thinking", '{"type": "redacted_thinking","data":"zz=="}'),
    GEMINI: (
        "executableCode",
        '{"executableCode": {"language":"PYTHON","code":"1"},"thoughtSignature":"enp6"}',
    ),
    CHAT: ("refusal", '{"type": "refusal","refusal":"no"}'),
    RESPONSES: ("reasoning", '{"type": "reasoning","id":"rs_1","summary":[],"encrypted_content":"zz=="}'),
}


class TestOpaqueParts:
    @pytest.mark.parametrize("target", sorted(OPAQUE))
    def test_issuer_gets_them_byte_for_byte(self, target: str) -> None:
        kind, data = OPAQUE[target]
        part = OpaquePart(PROVIDERS[target], "", kind, data, "o")
        _, projected = last(target, part, "yes")
        assert data in projected.text
        assert not projected.kinds & {"PART_DROPPED", "THINKING_DROPPED"}

    @pytest.mark.parametrize("target", sorted(OPAQUE))
    @pytest.mark.parametrize(
        ("changed", "reason"),
        [
            ({"provider": "another"}, "of another issuer or of none"),
            ({"model": "another"}, "of another model"),
            ({"data_json": "[]"}, "it is not what its kind says"),
            ({"data_json": '{"type":"text"}'}, "it is not what its kind says"),
        ],
    )
    def test_nobody_else_does(self, target: str, changed: dict[str, str], reason: str) -> None:
        kind, data = OPAQUE[target]
        part = OpaquePart(PROVIDERS[target], "", kind, data, "o")._replace(**changed)
        turn, projected = last(target, part, "yes")
        assert turn == last(target, "yes")[0]
        noted = projected.about("PART_DROPPED") + projected.about("THINKING_DROPPED")
        assert noted == [(("o",), f"{kind}: {reason}")]

    @pytest.mark.parametrize("target", TARGETS)
    def test_unknown_kinds_are_dropped(self, target: str) -> None:
        part = OpaquePart(PROVIDERS[target], "", "novel", '{"type":"novel","novel":{}}', "o")
        _, projected = last(target, part, "yes")
        assert projected.about("PART_DROPPED") == [(("o",), "novel: the target takes none here")]

    def test_openai_user_parts_come_back(self) -> None:
        data = '{"type":"input_audio","input_audio":{"data":"aQ==","format":"wav"}}'
        turn, _ = asked(CHAT, "a", OpaquePart("openai", "", "input_audio", data, "o"))
        assert turn["content"][1] == {"type": "input_audio", "input_audio": {"data": "aQ==", "format": "wav"}}


class TestResults:
    @pytest.mark.parametrize(
        ("target", "expected"),
        [
            (
                ANTHROPIC,
                [
                    {
                        "role": "user",
                        "content": [
                            {"type": "tool_result", "tool_use_id": "call_1", "content": 'r\n{"a": 1}'}
                        ],
                    }
                ],
            ),
            (
                GEMINI,
                [
                    {
                        "role": "user",
                        "parts": [
                            {
                                "functionResponse": {
                                    "id": "call_1",
                                    "name": "look",
                                    "response": {"result": 'r\n{"a": 1}'},
                                }
                            }
                        ],
                    }
                ],
            ),
            (OLLAMA, [{"role": "tool", "tool_name": "look", "content": 'r\n{"a": 1}'}]),
            (CHAT, [{"role": "tool", "tool_call_id": "call_1", "content": 'r\n{"a": 1}'}]),
            (RESPONSES, [{"type": "function_call_output", "call_id": "call_1", "output": 'r\n{"a": 1}'}]),
        ],
    )
    def test_text_and_json(self, target: str, expected: list[Any]) -> None:
        assert answered(target, "r", JsonPart('{"a": 1}', "r"))[0] == expected

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ('{"big": 9007199254740993}', '"response":{"big": 9007199254740993}'),
            ("[1]", '"response":{"result":"[1]"}'),
            ("null", '"response":{"result":"null"}'),
        ],
    )
    def test_gemini_passes_a_lone_object_through(self, value: str, expected: str) -> None:
        assert expected in answered(GEMINI, JsonPart(value, "r"))[1].text

    @pytest.mark.parametrize("target", TARGETS)
    @pytest.mark.parametrize("blank", ["", " \n"])
    def test_blank_text_stays(self, target: str, blank: str) -> None:
        turns, projected = answered(target, blank)
        assert repr(blank) in repr(turns)
        assert projected.about("EMPTY_PART_DROPPED") == []

    def test_failure_is_flagged_for_anthropic(self) -> None:
        turns, projected = answered(ANTHROPIC, "why", is_error=True)
        assert turns[0]["content"][0]["is_error"] is True
        assert projected.about("ERROR_FLAG_DROPPED") == []

    @pytest.mark.parametrize("target", [target for target in TARGETS if target != ANTHROPIC])
    def test_failure_is_noted_for_others(self, target: str) -> None:
        turns, projected = answered(target, "why", is_error=True)
        assert turns == answered(target, "why")[0]
        assert projected.about("ERROR_FLAG_DROPPED") == [(("r-call_1",), "")]

    def test_anthropic_puts_images_after_all_results(self) -> None:
        given = conversation(
            user("hi"),
            assistant(call("c1"), call("c2")),
            results(result("c1", "one", png()), result("c2", "two")),
            user("and?", id="u2"),
        )
        assert [block["type"] for block in project_for(ANTHROPIC, given).turns[2]["content"]] == [
            "tool_result",
            "tool_result",
            "image",
            "text",
        ]

    def test_gemini_puts_images_in_the_next_content(self) -> None:
        given = conversation(
            user("hi"), assistant(call()), results(result("call_1", "one", png())), user("and?", id="u2")
        )
        contents = project_for(GEMINI, given).turns
        assert [list(part) for part in contents[2]["parts"]] == [["functionResponse"]]
        assert contents[3]["parts"] == [
            {"inlineData": {"mimeType": "image/png", "data": PNG_BASE64}},
            {"text": "and?"},
        ]

    def test_responses_puts_images_into_the_output(self) -> None:
        turns, _ = answered(RESPONSES, "one", JsonPart("[1]", "r"), png())
        assert turns[0]["output"] == [
            {"type": "input_text", "text": "one"},
            {"type": "input_text", "text": "[1]"},
            {"type": "input_image", "image_url": DATA_URL, "detail": "auto"},
        ]

    @pytest.mark.parametrize("target", [CHAT, OLLAMA])
    def test_others_drop_images(self, target: str) -> None:
        turns, projected = answered(target, "one", png("i9"))
        assert turns == answered(target, "one")[0]
        assert projected.about("PART_DROPPED") == [(("i9",), "image of a result")]


class TestCacheMarks:
    @pytest.mark.parametrize("ttl", [None, "5m", "1h"])
    def test_anthropic_keeps_mark_and_ttl(self, ttl: str | None) -> None:
        turn, projected = asked(ANTHROPIC, text("a", mark=CacheMark("ephemeral", ttl)))
        expected = {"type": "ephemeral"} | ({} if ttl is None else {"ttl": ttl})
        assert turn["content"] == [{"type": "text", "text": "a", "cache_control": expected}]
        assert projected.about("CACHE_MARK_DROPPED") == []

    @pytest.mark.parametrize("mark", [CacheMark("persistent", None), CacheMark("ephemeral", "2h")])
    def test_anthropic_drops_marks_it_does_not_know(self, mark: CacheMark) -> None:
        turn, projected = asked(ANTHROPIC, text("a", "m9", mark=mark))
        assert turn == {"role": "user", "content": "a"}
        assert projected.about("CACHE_MARK_DROPPED") == [(("m9",), "")]

    @pytest.mark.parametrize("target", [target for target in TARGETS if target != ANTHROPIC])
    def test_others_take_none(self, target: str) -> None:
        turn, projected = asked(target, text("a", "m9", mark=CacheMark("ephemeral", None)))
        assert turn == asked(target, "a")[0]
        assert projected.about("CACHE_MARK_DROPPED") == [(("m9",), "")]

    def test_anthropic_marks_a_result(self) -> None:
        turns, _ = answered(ANTHROPIC, text("r", mark=CacheMark("ephemeral", "1h")))
        assert turns[0]["content"][0]["cache_control"] == {"type": "ephemeral", "ttl": "1h"}

    def test_newest_four_stay(self) -> None:
        marked = [text(str(number), f"m{number}", mark=CacheMark("ephemeral", None)) for number in range(6)]
        turn, projected = asked(ANTHROPIC, *marked)
        assert ["cache_control" in block for block in turn["content"]] == [False] * 2 + [True] * 4
        assert projected.about("CACHE_MARK_DROPPED") == [(("m0", "m1"), "")]

    def test_a_longer_mark_never_follows_a_shorter_one(self) -> None:
        turn, projected = asked(
            ANTHROPIC,
            text("0", "m0", mark=CacheMark("ephemeral", "1h")),
            text("1", "m1", mark=CacheMark("ephemeral", None)),
            text("2", "m2", mark=CacheMark("ephemeral", "1h")),
            text("3", "m3", mark=CacheMark("ephemeral", "5m")),
        )
        assert [block.get("cache_control", {}).get("ttl") for block in turn["content"]] == [
            "1h",
            None,
            "1h",
            "5m",
        ]
        assert projected.about("CACHE_MARK_DROPPED") == [(("m1",), "")]
