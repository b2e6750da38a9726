"""The OpenAI Agents SDK, over chat completions and Responses."""

import json

from agents import Agent, FunctionTool, ModelSettings, OpenAIChatCompletionsModel, OpenAIResponsesModel, Runner
from agents import set_tracing_disabled
from openai import AsyncOpenAI
from openai.types.shared import Reasoning

from city import City

set_tracing_disabled(True)


async def send(conversation):
    asked = conversation.asked
    async with AsyncOpenAI(base_url=asked["url"] + "/v1", api_key=asked["api_key"], max_retries=0) as client:
        model = OpenAIChatCompletionsModel if asked["dialect"] == "chat" else OpenAIResponsesModel
        settings = ModelSettings(include_usage=True)
        if asked["wants_thinking"]:
            settings.reasoning = Reasoning(effort="high", summary="auto")
        agent = Agent(
            name="Tester",
            model=model(model=asked["model"], openai_client=client),
            model_settings=settings,
            tools=tools_of(conversation),
            output_type=City if asked["wants_object"] else None,
        )
        if asked["mode"] == "run":
            return result_of(await Runner.run(agent, asked["text"], max_turns=3))
        result = Runner.run_streamed(agent, asked["text"], max_turns=3)
        async for event in result.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                conversation.on_text()
        return result_of(result)


def tools_of(conversation):
    tool = conversation.asked.get("tool")
    if tool is None:
        return []

    async def run(_context, arguments):
        return await conversation.run_tool(json.loads(arguments))

    return [FunctionTool(tool["name"], tool["description"], tool["schema"], run)]


def result_of(result):
    output = result.final_output
    items = [item for response in result.raw_responses[-1:] for item in response.output]
    thoughts = [part.text for item in items if item.type == "reasoning" for part in item.summary]
    parts = [part for item in items if item.type == "message" for part in item.content]
    return {
        "text": output if isinstance(output, str) else output.model_dump_json(),
        "thinking": "".join(thoughts),
        "calls": [],
        "isRefusal": any(part.type == "refusal" for part in parts),
        "outputTokens": result.raw_responses[-1].usage.output_tokens,
    }
