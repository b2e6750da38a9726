"""The Anthropic client on /v1/messages."""

import json

from anthropic import AsyncAnthropic


def connect(asked):
    return AsyncAnthropic(base_url=asked["url"], api_key=asked["api_key"], max_retries=0)


async def send(conversation):
    async with connect(conversation.asked) as client:
        return await converse(client, conversation)


async def converse(client, conversation):
    asked = conversation.asked
    history = [{"role": "user", "content": asked["text"]}]
    for _ in range(3):
        answer = await TURNS[asked["mode"]](client, conversation, body_of(asked, history))
        calls = [block for block in answer["content"] if block["type"] == "tool_use"]
        if not calls or "tool" not in asked:
            return result_of(answer, calls)
        results = [
            {"type": "tool_result", "tool_use_id": call["id"], "content": await conversation.run_tool(call["input"])}
            for call in calls
        ]
        history += [{"role": "assistant", "content": answer["content"]}, {"role": "user", "content": results}]
    raise RuntimeError("The tool was called again and again.")


def body_of(asked, history):
    body = {"model": asked["model"], "max_tokens": 4000, "messages": history}
    if asked.get("wants_thinking"):
        body["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    if tool := asked.get("tool"):
        body["tools"] = [{"name": tool["name"], "description": tool["description"], "input_schema": tool["schema"]}]
    return body


def result_of(answer, calls):
    def joined(kind):
        return "".join(block[kind] for block in answer["content"] if block["type"] == kind)

    return {
        "text": joined("text"),
        "thinking": joined("thinking"),
        "calls": [{"name": call["name"], "input": call["input"]} for call in calls],
        "isRefusal": answer["stop"] == "refusal",
        "outputTokens": answer["output_tokens"],
    }


def answer_of(message):
    return {
        "content": [block.model_dump(exclude_none=True) for block in message.content],
        "stop": message.stop_reason,
        "output_tokens": message.usage.output_tokens,
    }


async def whole(client, _conversation, body):
    return answer_of(await client.messages.create(**body))


async def raw_stream(client, conversation, body):
    answer = {"content": [], "stop": None, "output_tokens": 0}
    async for event in await client.messages.create(**body, stream=True):
        if event.type == "content_block_start":
            answer["content"].append({**event.content_block.model_dump(exclude_none=True), "json": ""})
        elif event.type == "content_block_delta":
            add(answer["content"][event.index], event.delta)
            if event.delta.type == "text_delta":
                conversation.on_text()
        elif event.type == "message_delta":
            answer["stop"] = event.delta.stop_reason
            answer["output_tokens"] = event.usage.output_tokens
    for block in answer["content"]:
        arguments = block.pop("json")
        if block["type"] == "tool_use":
            block["input"] = json.loads(arguments or "{}")
    return answer


def add(block, delta):
    if delta.type == "input_json_delta":
        block["json"] += delta.partial_json
    else:
        kind = delta.type.removesuffix("_delta")
        block[kind] += getattr(delta, kind)


async def stream_helper(client, conversation, body):
    async with client.messages.stream(**body) as stream:
        async for _ in stream.text_stream:
            conversation.on_text()
        return answer_of(await stream.get_final_message())


TURNS = {"whole": whole, "raw stream": raw_stream, "stream helper": stream_helper}
