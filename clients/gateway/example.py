"""A conversation through the gateway, with OpenAI's own client: a tool call, its result, a streamed answer.

Run it against a running gateway, whose base URL is in the environment:

    OPENAI_BASE_URL=http://127.0.0.1:8400/v1 OPENAI_API_KEY=unused python example.py
"""

from uuid import uuid4

from openai import OpenAI
from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam

WEATHER: ChatCompletionFunctionToolParam = {
    "type": "function",
    "function": {
        "name": "weather",
        "description": "Tell the weather.",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}

conversation = f"example-{uuid4()}"
messages: list[ChatCompletionMessageParam] = [
    {"role": "system", "content": "You answer briefly."},
    {"role": "user", "content": "What is the weather in Aarhus?"},
]

with OpenAI(default_headers={"x-antiphon-conversation": conversation}) as client:
    model = client.models.list().data[0].id
    answer = client.chat.completions.create(model=model, messages=messages, tools=[WEATHER])
    message = answer.choices[0].message
    messages.append(message.to_dict())  # type: ignore[arg-type]

    # The whole conversation is sent each time, as always; the gateway adds what is new.
    for call in message.tool_calls or ():
        if call.type == "function":
            print(f"the model calls {call.function.name}: {call.function.arguments}")
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "sunny, 21 degrees"})
    print("the model says: ", end="")
    for chunk in client.chat.completions.create(model=model, messages=messages, stream=True):
        print(chunk.choices[0].delta.content or "", end="", flush=True)
    print()

    # A turn that is sent again is answered from what is kept; the model is not asked twice.
    again = client.chat.completions.with_raw_response.create(model=model, messages=messages)
    print(f"sent again, answered from what is kept: {again.headers['x-antiphon-replayed']}")

print(f"conversation: {conversation}")
