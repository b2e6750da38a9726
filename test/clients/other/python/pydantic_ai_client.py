"""Agents of Pydantic AI, with each of its models for the gateway's dialects."""

from anthropic import AsyncAnthropic
from openai import AsyncOpenAI
from pydantic_ai import Agent, Tool, UsageLimits
from pydantic_ai.messages import ThinkingPart, ToolCallPart
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider

from city import City


async def send(conversation):
    asked = conversation.asked
    output_type = City if asked["wants_object"] else str
    agent = Agent(
        model_of(asked), output_type=output_type, tools=tools_of(conversation), model_settings=settings_of(asked)
    )
    limits = UsageLimits(request_limit=3)
    if asked["mode"] == "run":
        result = await agent.run(asked["text"], usage_limits=limits)
        return result_of(result.output, result.response)
    async with agent.run_stream(asked["text"], usage_limits=limits) as result:
        async for _ in result.stream_output() if asked["wants_object"] else result.stream_text(delta=True):
            conversation.on_text()
        return result_of(await result.get_output(), result.response)


def model_of(asked):
    name, key = asked["model"], asked["api_key"]
    if asked["dialect"] == "messages":
        client = AsyncAnthropic(base_url=asked["url"], api_key=key, max_retries=0)
        return AnthropicModel(name, provider=AnthropicProvider(anthropic_client=client))
    client = AsyncOpenAI(base_url=asked["url"] + "/v1", api_key=key, max_retries=0)
    model = OpenAIChatModel if asked["dialect"] == "chat" else OpenAIResponsesModel
    return model(name, provider=OpenAIProvider(openai_client=client))


def settings_of(asked):
    if not asked["wants_thinking"]:
        return {}
    if asked["dialect"] == "messages":
        return {"max_tokens": 4000, "anthropic_thinking": {"type": "enabled", "budget_tokens": 1024}}
    if asked["dialect"] == "chat":
        return {"openai_reasoning_effort": "high"}
    return {"openai_reasoning_effort": "high", "openai_reasoning_summary": "auto"}


def tools_of(conversation):
    tool = conversation.asked.get("tool")
    if tool is None:
        return []

    async def run(**arguments):
        return await conversation.run_tool(arguments)

    return [Tool.from_schema(run, tool["name"], tool["description"], tool["schema"])]


def result_of(output, response):
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    return {
        "text": output if isinstance(output, str) else output.model_dump_json(),
        "thinking": "".join(part.content for part in response.parts if isinstance(part, ThinkingPart)),
        "calls": [{"name": call.tool_name, "input": call.args_as_dict()} for call in calls],
        "isRefusal": response.finish_reason == "content_filter",
        "outputTokens": response.usage.output_tokens,
    }
