"""The tool runner of the Anthropic client, which sends its first request with a message thread."""

from anthropic import beta_async_tool

import messages


async def send(conversation):
    asked = conversation.asked
    body = messages.body_of(asked, [{"role": "user", "content": asked["text"]}])
    body["tools"] = [tool_of(conversation, tool) for tool in body.get("tools", [])]
    async with messages.connect(asked) as client:
        if asked["mode"] == "whole":
            message = await client.beta.messages.tool_runner(**body, max_iterations=3).until_done()
        else:
            message = await read_stream(client.beta.messages.tool_runner(**body, max_iterations=3, stream=True), conversation)
    answer = messages.answer_of(message)
    return messages.result_of(answer, [block for block in answer["content"] if block["type"] == "tool_use"])


def tool_of(conversation, tool):
    async def run(**arguments) -> str:
        return await conversation.run_tool(arguments)

    return beta_async_tool(run, **tool)


async def read_stream(runner, conversation):
    message = None
    async for stream in runner:
        async for _ in stream.text_stream:
            conversation.on_text()
        message = await stream.get_final_message()
    return message
