"""The OpenAI client on /v1/chat/completions."""

import json

from openai import AsyncOpenAI


def connect(asked):
    return AsyncOpenAI(base_url=asked["url"] + "/v1", api_key=asked["api_key"], max_retries=0)


async def send(conversation):
    async with connect(conversation.asked) as client:
        return await converse(client, conversation)


async def converse(client, conversation):
    asked = conversation.asked
    history = [{"role": "user", "content": asked["text"]}]
    for _ in range(3):
        answer = await TURNS[asked["mode"]](client, conversation, body_of(asked, history))
        if not answer["calls"] or "tool" not in asked:
            return result_of(answer)
        calls = [{"id": call["id"], "type": "function", "function": call["function"]} for call in answer["calls"]]
        history.append({"role": "assistant", "content": answer["content"], "tool_calls": calls})
        for call in calls:
            result = await conversation.run_tool(json.loads(call["function"]["arguments"]))
            history.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    raise RuntimeError("The tool was called again and again.")


def body_of(asked, history):
    body = {"model": asked["model"], "messages": history}
    if asked.get("wants_thinking"):
        body["reasoning_effort"] = "high"
    if tool := asked.get("tool"):
        function = {"name": tool["name"], "description": tool["description"], "parameters": tool["schema"]}
        body["tools"] = [{"type": "function", "function": function}]
    return body


def result_of(answer):
    calls = [call["function"] for call in answer["calls"]]
    return {
        "text": answer["content"],
        "thinking": answer["reasoning"],
        "calls": [{"name": call["name"], "input": json.loads(call["arguments"])} for call in calls],
        "isRefusal": answer["refusal"] != "" or answer["finish"] == "content_filter",
        "outputTokens": answer["output_tokens"],
    }


def answer_of(completion):
    choice = completion.choices[0]
    message = choice.message
    return {
        "content": message.content or "",
        "refusal": message.refusal or "",
        "reasoning": getattr(message, "reasoning_content", None) or "",
        "calls": [
            {"id": call.id, "function": {"name": call.function.name, "arguments": call.function.arguments}}
            for call in message.tool_calls or []
        ],
        "finish": choice.finish_reason,
        "output_tokens": completion.usage.completion_tokens if completion.usage else 0,
    }


async def whole(client, _conversation, body):
    return answer_of(await client.chat.completions.create(**body))


async def raw_stream(client, conversation, body):
    answer = {"content": "", "refusal": "", "reasoning": "", "calls": [], "finish": None, "output_tokens": 0}
    stream = await client.chat.completions.create(**body, stream=True, stream_options={"include_usage": True})
    async for chunk in stream:
        if chunk.usage:
            answer["output_tokens"] = chunk.usage.completion_tokens
        for choice in chunk.choices:
            add(answer, choice)
            if choice.delta.content:
                conversation.on_text()
    return answer


def add(answer, choice):
    delta = choice.delta
    answer["content"] += delta.content or ""
    answer["refusal"] += delta.refusal or ""
    answer["reasoning"] += getattr(delta, "reasoning_content", None) or ""
    answer["finish"] = choice.finish_reason or answer["finish"]
    for call in delta.tool_calls or []:
        if call.index == len(answer["calls"]):
            answer["calls"].append({"id": call.id, "function": {"name": call.function.name, "arguments": ""}})
        answer["calls"][call.index]["function"]["arguments"] += call.function.arguments or ""


async def stream_helper(client, conversation, body):
    async with client.chat.completions.stream(**body, stream_options={"include_usage": True}) as stream:
        async for event in stream:
            if event.type == "content.delta":
                conversation.on_text()
        return answer_of(await stream.get_final_completion())


TURNS = {"whole": whole, "raw stream": raw_stream, "stream helper": stream_helper}
