"""The OpenAI client on /v1/responses."""

import json

from openai import AsyncOpenAI


def connect(asked):
    return AsyncOpenAI(base_url=asked["url"] + "/v1", api_key=asked["api_key"], max_retries=0)


async def send(conversation):
    async with connect(conversation.asked) as client:
        return await converse(client, conversation)


async def converse(client, conversation):
    asked = conversation.asked
    turn = {"input": [{"role": "user", "content": asked["text"]}]}
    for _ in range(3):
        response = await TURNS[asked["mode"]](client, conversation, {**body_of(asked), **turn})
        calls = [item for item in response.output if item.type == "function_call"]
        if not calls or "tool" not in asked:
            return result_of(response)
        results = [
            {
                "type": "function_call_output",
                "call_id": call.call_id,
                "output": await conversation.run_tool(json.loads(call.arguments)),
            }
            for call in calls
        ]
        # With thinking the client sends the history itself; otherwise it refers to the stored response.
        if asked.get("wants_thinking"):
            items = [item.model_dump(exclude_none=True) for item in response.output]
            turn = {"input": turn["input"] + items + results}
        else:
            turn = {"input": results, "previous_response_id": response.id}
    raise RuntimeError("The tool was called again and again.")


def body_of(asked):
    body = {"model": asked["model"]}
    if asked.get("wants_thinking"):
        body |= {"store": False, "include": ["reasoning.encrypted_content"]}
        body["reasoning"] = {"effort": "high", "summary": "auto"}
    if tool := asked.get("tool"):
        function = {"name": tool["name"], "description": tool["description"], "parameters": tool["schema"]}
        body["tools"] = [{"type": "function", "strict": False, **function}]
    return body


def result_of(response):
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    thoughts = [part.text for item in response.output if item.type == "reasoning" for part in item.summary]
    calls = [item for item in response.output if item.type == "function_call"]
    cut = response.incomplete_details
    return {
        "text": response.output_text,
        "thinking": "".join(thoughts),
        "calls": [{"name": call.name, "input": json.loads(call.arguments)} for call in calls],
        "isRefusal": any(part.type == "refusal" for part in parts) or (cut is not None and cut.reason == "content_filter"),
        "outputTokens": response.usage.output_tokens if response.usage else 0,
    }


async def whole(client, _conversation, body):
    return await client.responses.create(**body)


async def raw_stream(client, conversation, body):
    last = None
    async for event in await client.responses.create(**body, stream=True):
        if event.type == "response.output_text.delta":
            conversation.on_text()
        last = getattr(event, "response", last)
    return last


async def stream_helper(client, conversation, body):
    async with client.responses.stream(**body) as stream:
        async for event in stream:
            if event.type == "response.output_text.delta":
                conversation.on_text()
        return await stream.get_final_response()


TURNS = {"whole": whole, "raw stream": raw_stream, "stream helper": stream_helper}
