"""Instructor, which returns objects, with each of its clients for the gateway's dialects."""

import instructor
from anthropic import AsyncAnthropic
from openai import AsyncOpenAI

from city import City


async def send(conversation):
    asked = conversation.asked
    body = {
        "model": asked["model"],
        "messages": [{"role": "user", "content": asked["text"]}],
        "response_model": City,
        "max_retries": 1,
    }
    client = client_of(asked)
    if asked["mode"] == "create":
        return result_of(await client.create(**body))
    last = None
    async for last in client.create_partial(**body):
        conversation.on_text()
    return result_of(last)


def client_of(asked):
    key = asked["api_key"]
    if asked["dialect"] == "messages":
        client = AsyncAnthropic(base_url=asked["url"], api_key=key, max_retries=0)
        return instructor.from_anthropic(client, mode=instructor.Mode.ANTHROPIC_TOOLS, max_tokens=1000)
    client = AsyncOpenAI(base_url=asked["url"] + "/v1", api_key=key, max_retries=0)
    if asked["dialect"] == "responses":
        return instructor.from_openai(client, mode=instructor.Mode.RESPONSES_TOOLS)
    return instructor.from_openai(client, mode=instructor.Mode.TOOLS)


def result_of(city):
    return {"text": city.model_dump_json(), "thinking": "", "calls": [], "isRefusal": False, "outputTokens": 0}
