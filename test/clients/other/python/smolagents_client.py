"""Agents of smolagents. Its model speaks chat completions; everything is synchronous."""

import asyncio
import json

from smolagents import LogLevel, OpenAIModel, Tool, ToolCallingAgent


async def send(conversation):
    return await asyncio.to_thread(run, conversation)


def run(conversation):
    asked = conversation.asked
    model = OpenAIModel(
        asked["model"],
        api_base=asked["url"] + "/v1",
        api_key=asked["api_key"],
        client_kwargs={"max_retries": 0},
        **({"reasoning_effort": "high"} if asked["wants_thinking"] else {}),
    )
    model.retryer.max_attempts = 1
    if "tool" in asked:
        return run_agent(model, conversation)
    messages = [{"role": "user", "content": [{"type": "text", "text": asked["text"]}]}]
    if asked["mode"] == "generate":
        message = model.generate(messages)
        return result_of(message.content or "", message.token_usage.output_tokens)
    text, output_tokens = "", 0
    for delta in model.generate_stream(messages):
        text += delta.content or ""
        if delta.content:
            conversation.on_text()
        if delta.token_usage:
            output_tokens = delta.token_usage.output_tokens
    return result_of(text, output_tokens)


def run_agent(model, conversation):
    """The agent goes on until its model calls `final_answer`. The echo model does what the result of the tool says."""
    asked = conversation.asked

    class Wrapped(Tool):
        name = asked["tool"]["name"]
        description = asked["tool"]["description"]
        inputs = {"city": {"type": "string", "description": "The city."}}
        output_type = "string"

        def forward(self, city):
            answer = {"answer": "The tool answered: " + conversation.run_tool_now({"city": city})}
            return "Please call final_answer " + json.dumps(answer)

    agent = ToolCallingAgent(
        tools=[Wrapped()],
        model=model,
        stream_outputs=asked["mode"] == "generate_stream",
        verbosity_level=LogLevel.OFF,
        max_steps=3,
    )
    result = agent.run(asked["text"], return_full_result=True)
    return result_of(result.output, result.token_usage.output_tokens)


def result_of(text, output_tokens):
    return {"text": text, "thinking": "", "calls": [], "isRefusal": False, "outputTokens": output_tokens}
