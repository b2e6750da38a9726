"""LiteLLM, with each of its routes to the gateway's dialects."""

import json
import os

# Otherwise it downloads a price list when it is imported.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm  # noqa: E402

import responses  # noqa: E402
from city import City  # noqa: E402

litellm.suppress_debug_info = True


async def send(conversation):
    asked = conversation.asked
    if asked["dialect"] == "responses":
        return await responses.converse(Responses(asked), conversation)
    history = [{"role": "user", "content": asked["text"]}]
    for _ in range(3):
        message, choice, usage = await turn(conversation, history)
        if not message.tool_calls or "tool" not in asked:
            return result_of(message, choice, usage)
        history.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            result = await conversation.run_tool(json.loads(call.function.arguments))
            history.append({"role": "tool", "tool_call_id": call.id, "content": result})
    raise RuntimeError("The tool was called again and again.")


async def turn(conversation, history):
    asked = conversation.asked
    answer = await litellm.acompletion(messages=history, **options_of(asked))
    if asked["mode"] != "whole":
        chunks = []
        async for chunk in answer:
            chunks.append(chunk)
            if chunk.choices and chunk.choices[0].delta.content:
                conversation.on_text()
        answer = litellm.stream_chunk_builder(chunks, messages=history)
    choice = answer.choices[0]
    return choice.message, choice, answer.usage


def options_of(asked):
    is_messages = asked["dialect"] == "messages"
    options = {
        "model": ("anthropic/" if is_messages else "openai/") + asked["model"],
        "api_base": asked["url"] if is_messages else asked["url"] + "/v1",
        "api_key": asked["api_key"],
        "max_retries": 0,
    }
    if asked["mode"] != "whole":
        options |= {"stream": True, "stream_options": {"include_usage": True}}
    if asked["wants_thinking"]:
        thinking = {"thinking": {"type": "enabled", "budget_tokens": 1024}} if is_messages else {"reasoning_effort": "high"}
        # It does not know the model, and would reject the parameter.
        options |= {**thinking, "max_tokens": 4000, "allowed_openai_params": list(thinking)}
    if tool := asked.get("tool"):
        function = {"name": tool["name"], "description": tool["description"], "parameters": tool["schema"]}
        options["tools"] = [{"type": "function", "function": function}]
    if asked["wants_object"]:
        options["response_format"] = City
    return options


def result_of(message, choice, usage):
    calls = [call.function for call in message.tool_calls or []]
    return {
        "text": message.content or "",
        "thinking": getattr(message, "reasoning_content", None) or "",
        "calls": [{"name": call.name, "input": json.loads(call.arguments)} for call in calls],
        "isRefusal": choice.finish_reason == "content_filter" or bool(getattr(message, "refusal", None)),
        "outputTokens": usage.completion_tokens,
    }


class Responses:
    """`litellm.aresponses` with the interface of OpenAI's client, so that the conversation is the same."""

    def __init__(self, asked):
        self.address = {"api_base": asked["url"] + "/v1", "api_key": asked["api_key"], "max_retries": 0}
        self.responses = self

    async def create(self, model, **body):
        return await litellm.aresponses(model="openai/" + model, **body, **self.address)
