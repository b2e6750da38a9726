"""LlamaIndex, with each of its models for the gateway's dialects. A function agent runs the tool."""

from llama_index.core.agent.workflow import AgentOutput, AgentStream, FunctionAgent
from llama_index.core.llms import ChatMessage, LLMMetadata
from llama_index.core.tools import FunctionTool, ToolMetadata
from llama_index.llms.anthropic import Anthropic
from llama_index.llms.openai import OpenAIResponses
from llama_index.llms.openai_like import OpenAILike
from pydantic import create_model

from city import City

CONTEXT_WINDOW = 100_000


async def send(conversation):
    asked = conversation.asked
    model = model_of(asked)
    if "tool" in asked:
        return await run_agent(model, conversation)
    if asked["wants_object"]:
        model = model.as_structured_llm(City)
    messages = [ChatMessage(role="user", content=asked["text"])]
    if asked["mode"] == "chat":
        return result_of(await model.achat(messages))
    last = None
    async for last in await model.astream_chat(messages):
        if last.message.content:
            conversation.on_text()
    return result_of(last)


def model_of(asked):
    url, name, key = asked["url"], asked["model"], asked["api_key"]
    if asked["dialect"] == "messages":
        thinking = {"type": "enabled", "budget_tokens": 1024} if asked["wants_thinking"] else None
        return KnownAnthropic(name, base_url=url, api_key=key, max_retries=0, max_tokens=4000, thinking_dict=thinking)
    if asked["dialect"] == "responses":
        options = {"reasoning": {"effort": "high", "summary": "auto"}} if asked["wants_thinking"] else {}
        return OpenAIResponses(
            name, api_base=url + "/v1", api_key=key, max_retries=0, additional_kwargs=options, context_window=CONTEXT_WINDOW
        )
    return OpenAILike(
        name,
        api_base=url + "/v1",
        api_key=key,
        max_retries=0,
        is_chat_model=True,
        is_function_calling_model=True,
        context_window=CONTEXT_WINDOW,
        additional_kwargs={"reasoning_effort": "high"} if asked["wants_thinking"] else {},
    )


class KnownAnthropic(Anthropic):
    """It looks up the context window by the model's name, and raises an error for names that it does not know."""

    @property
    def metadata(self):
        return LLMMetadata(
            context_window=CONTEXT_WINDOW,
            num_output=self.max_tokens,
            is_chat_model=True,
            is_function_calling_model=True,
            model_name=self.model,
        )


async def run_agent(model, conversation):
    asked = conversation.asked
    handler = FunctionAgent(llm=model, tools=[tool_of(conversation)], streaming=asked["mode"] == "stream").run(
        user_msg=asked["text"], max_iterations=3
    )
    async for event in handler.stream_events():
        if isinstance(event, AgentStream) and event.delta:
            conversation.on_text()
    return result_of(await handler)


def tool_of(conversation):
    tool = conversation.asked["tool"]

    async def run(**arguments):
        return await conversation.run_tool(arguments)

    fields = {name: (str, ...) for name in tool["schema"]["properties"]}
    metadata = ToolMetadata(tool["description"], tool["name"], create_model(tool["name"], **fields))
    return FunctionTool(async_fn=run, metadata=metadata)


def result_of(response):
    """Of a model or an agent. LlamaIndex has no common field for the usage or a refusal."""
    message = response.response if isinstance(response, AgentOutput) else response.message
    thoughts = [block.content or "" for block in message.blocks if block.block_type == "thinking"]
    return {
        "text": message.content or "",
        "thinking": "".join(thoughts),
        "calls": [],
        "isRefusal": False,
        "outputTokens": 0,
    }
