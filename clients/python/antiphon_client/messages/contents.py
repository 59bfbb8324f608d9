"""The contents of conversational records: only what lasts (ADR-0006 D2, ADR-0007 D1).

Each content is a slots dataclass whose mutable defaults are made per instance.
Construction normalizes what callers may give loosely; ``to_dict`` and
``from_dict`` are inverse. One-call data (tool schemas, response format,
structure) is no field of any content: ``from_dict`` accepts those keys from
older records and ignores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Self, TypeAlias

from antiphon_client.json_text import parse_json_text
from antiphon_client.messages.arguments import function_name, parse_arguments
from antiphon_client.messages.blocks import (
    IMAGE_DETAILS,
    Block,
    ImageBlock,
    ImageDetail,
    TextBlock,
    coerce_blocks,
)
from antiphon_client.messages.content_base import MessageContent
from antiphon_client.messages.content_fields import (
    check_optional_text,
    checked_images,
    checked_text,
    context_list,
    datetime_text,
    id_text,
)
from antiphon_client.messages.json_equality import same_json
from antiphon_client.messages.rendering import (
    DEFAULT_SYSTEM_MESSAGE,
    render_action_request,
    render_action_response,
    render_instruction,
    render_instruction_text,
    render_parts,
    render_summary,
    render_system,
    summarize_action_response,
)

ResponseState: TypeAlias = Literal["final", "interim"]
"""Whether an action response is the outcome or news on the way."""

RESPONSE_STATES: tuple[ResponseState, ...] = ("final", "interim")


@dataclass(slots=True)
class SystemContent(MessageContent):
    """System policy.

    Attributes:
        system_message: The policy. None means the default text; an empty text stays empty.
        system_datetime: A time shown before it. True means now, UTC, at minute
            precision; False and None mean none.
    """

    _always_written: ClassVar[frozenset[str]] = frozenset(("system_message",))

    system_message: str = DEFAULT_SYSTEM_MESSAGE
    system_datetime: str | None = None

    def __post_init__(self) -> None:
        given: Any = self.system_message
        self.system_message = (
            DEFAULT_SYSTEM_MESSAGE if given is None else checked_text("system_message", given)
        )
        self.system_datetime = datetime_text(self.system_datetime)

    @property
    def rendered(self) -> str:
        """The optional time and the text, as one text."""
        return render_system(self.system_message, self.system_datetime)


@dataclass(slots=True)
class InstructionContent(MessageContent):
    """A user's turn.

    Attributes:
        instruction: What is asked.
        guidance: How to go about it: text, or any JSON value.
        prompt_context: Context items, each any JSON value. A scalar or an
            object becomes a list of one.
        plain_content: When not empty, replaces the structured rendering.
        images: http(s) URLs, image data URLs, or raw base64 taken as JPEG.
        image_detail: low, high or auto; None means auto.
        blocks: Ordered or cache-marked parts; rendered where there is neither
            text nor image beside them.
    """

    _aliases: ClassVar[Mapping[str, str]] = {"context": "prompt_context"}

    instruction: str | None = None
    guidance: Any = None
    prompt_context: list[Any] = field(default_factory=list)
    plain_content: str | None = None
    images: list[str] = field(default_factory=list)
    image_detail: ImageDetail | None = None
    blocks: list[Block] = field(default_factory=list)

    def __post_init__(self) -> None:
        check_optional_text("instruction", self.instruction)
        check_optional_text("plain_content", self.plain_content)
        self.prompt_context = context_list(self.prompt_context)
        self.images = checked_images(self.images)
        if self.image_detail is not None and self.image_detail not in IMAGE_DETAILS:
            raise ValueError("image_detail must be low, high or auto")
        self.blocks = coerce_blocks(self.blocks)

    @property
    def rendered(self) -> str | list[dict[str, Any]]:
        """The sections Guidance, Instruction and Context, or the plain content; parts with images."""
        if self.blocks and not (self.instruction or self.plain_content or self.images):
            return self._rendered_blocks()
        return render_instruction(
            guidance=self.guidance,
            instruction=self.instruction,
            context=self.prompt_context,
            plain_content=self.plain_content,
            images=self.images,
            image_detail=self.image_detail or "auto",
        )

    def _rendered_blocks(self) -> str | list[dict[str, Any]]:
        """Return the blocks as a turn: texts joined by two newlines, then the images in order."""
        text = render_instruction_text(
            guidance=self.guidance,
            instruction="\n\n".join(block.text for block in self.blocks if isinstance(block, TextBlock)),
            context=self.prompt_context,
        )
        images = [(block.address, block.detail) for block in self.blocks if isinstance(block, ImageBlock)]
        return render_parts(text, images) if images else text


@dataclass(slots=True)
class AssistantResponseContent(MessageContent):
    """A model's turn: its display text and, verbatim, its parts."""

    _always_written: ClassVar[frozenset[str]] = frozenset(("assistant_response",))

    assistant_response: str = ""
    blocks: list[Block] = field(default_factory=list)

    def __post_init__(self) -> None:
        given: Any = self.assistant_response
        self.assistant_response = "" if given is None else checked_text("assistant_response", given)
        self.blocks = coerce_blocks(self.blocks)

    @property
    def rendered(self) -> str:
        """The display text."""
        return self.assistant_response


@dataclass(slots=True)
class ActionRequestContent(MessageContent):
    """A call of an action.

    Attributes:
        function: Name of the action; a callable or an object with ``function`` becomes one.
        arguments: The arguments; text is parsed and, if malformed, repaired.
        action_response_id: The final response, set by the history service.
        arguments_text: The text the arguments were given as, when it was not
            the JSON text of an object.
        provider_call_id: The id that the model provider gave the call.
        thought_signature: The provider's signature over the thought behind it.
    """

    _always_written: ClassVar[frozenset[str]] = frozenset(("function", "arguments"))

    function: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    action_response_id: str | None = None
    arguments_text: str | None = None
    provider_call_id: str | None = None
    thought_signature: str | None = None
    _object_text: str | None = field(default=None, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.function = function_name(self.function)
        parsed = parse_arguments(self.arguments)
        self.arguments = parsed.value
        # The text is kept for the wire, where number spelling and key order count.
        self._object_text = parsed.object_text
        if self.arguments_text is None:
            self.arguments_text = parsed.other_text
        self.action_response_id = id_text(self.action_response_id)
        check_optional_text("arguments_text", self.arguments_text)
        check_optional_text("provider_call_id", self.provider_call_id)
        check_optional_text("thought_signature", self.thought_signature)

    def updated(self, changes: Mapping[str, Any]) -> Self:
        """Return a new content; new arguments do not keep the text of the former ones."""
        renewed = "arguments" in changes
        if renewed and "arguments_text" not in changes:
            changes = {**changes, "arguments_text": None}
        # A slots dataclass is a second class, so the bare super() would not find it.
        content = super(ActionRequestContent, self).updated(changes)
        if not renewed:
            content._object_text = self._object_text
        return content

    @property
    def object_text(self) -> str | None:
        """The JSON text the arguments were given as, while they still have its value."""
        text = self._object_text
        if text is None or not same_json(parse_json_text(text), self.arguments):
            return None
        return text

    @property
    def rendered(self) -> str:
        """Function and arguments as minimal YAML."""
        return render_action_request(self.function, self.arguments)


@dataclass(slots=True)
class ActionResponseContent(MessageContent):
    """The outcome of a call: a success exactly when ``error`` is None.

    Attributes:
        function: Name of the action.
        arguments: The arguments of the call.
        output: The output, any JSON value; falsy values are outputs like any other.
        action_request_id: The request this answers; None is uncorrelated.
        error: Why the call failed.
        provider_call_id: The id that the model provider gave the call.
        state: final, or interim for news on the way.
        blocks: Rich output beside ``output``.
    """

    _aliases: ClassVar[Mapping[str, str]] = {"request_id": "action_request_id", "result": "output"}
    _always_written: ClassVar[frozenset[str]] = frozenset(("function", "arguments", "output"))

    function: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    output: Any = None
    action_request_id: str | None = None
    error: str | None = None
    provider_call_id: str | None = None
    state: ResponseState = "final"
    blocks: list[Block] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.function = function_name(self.function)
        self.arguments = parse_arguments(self.arguments).value
        self.action_request_id = id_text(self.action_request_id)
        check_optional_text("error", self.error)
        check_optional_text("provider_call_id", self.provider_call_id)
        if self.state not in RESPONSE_STATES:
            raise ValueError("state must be final or interim")
        self.blocks = coerce_blocks(self.blocks)

    @property
    def success(self) -> bool:
        """Whether the call succeeded."""
        return self.error is None

    @property
    def request_id(self) -> str | None:
        """The request this answers, under its compatibility name."""
        return self.action_request_id

    @property
    def result(self) -> Any:
        """The output, under its compatibility name."""
        return self.output

    @property
    def summary(self) -> str:
        """The outcome in a word or a line: "ok" for a successful null, "error: ..." for a failure."""
        return summarize_action_response(self.output, self.error)

    @property
    def rendered(self) -> str:
        """Function, arguments and output as minimal YAML."""
        return render_action_response(self.function, self.arguments, self.output)


@dataclass(slots=True)
class SummaryContent(MessageContent):
    """What stands for a compacted stretch of a branch.

    Attributes:
        text: The summary. The history service refuses a blank one.
        first_id: The first message of the stretch; a message is taken for its id.
        last_id: The last message of it.
        summary_ref: The writer's reference to where the summarized material is kept.
    """

    _always_written: ClassVar[frozenset[str]] = frozenset(("text", "first_id", "last_id"))

    text: str = ""
    first_id: str = ""
    last_id: str = ""
    summary_ref: str | None = None

    def __post_init__(self) -> None:
        self.text = checked_text("text", self.text)
        self.first_id = id_text(self.first_id) or ""
        self.last_id = id_text(self.last_id) or ""
        check_optional_text("summary_ref", self.summary_ref)

    @property
    def rendered(self) -> str:
        """The summary under a line that says what it is."""
        return render_summary(self.text)


@dataclass(slots=True)
class GenericContent(MessageContent):
    """Routed traffic: any JSON value. ``Message.content`` is the value itself."""

    value: Any = None
