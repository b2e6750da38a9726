"""Runs requests of the tests through clients for Python, with one JSON line per message.

In:  {"id", "request": {...}}, {"id", "result": text of a tool}, {"id", "abort": true}
Out: {"id", "text": true}, {"id", "call": input of a tool}, {"id", "response": {...}}, {"id", "error": {"status", "message"}}
"""

import asyncio
import importlib
import json
import sys


OUTPUT = sys.stdout
# Some clients print to the standard output.
sys.stdout = sys.stderr


class Conversation:
    """One running request, and its connection to the test."""

    def __init__(self, number, asked):
        self.number = number
        self.asked = asked
        self.result = None
        self.turn = asyncio.Lock()
        self.loop = asyncio.get_running_loop()

    def emit(self, **event):
        print(json.dumps({"id": self.number, **event}), file=OUTPUT, flush=True)

    def on_text(self):
        self.emit(text=True)

    async def run_tool(self, tool_input):
        # Some clients run the calls of one answer at the same time.
        async with self.turn:
            self.result = asyncio.get_running_loop().create_future()
            self.emit(call=tool_input)
            return await self.result

    def run_tool_now(self, tool_input):
        """For clients that run tools in another thread."""
        return asyncio.run_coroutine_threadsafe(self.run_tool(tool_input), self.loop).result()

    async def hold(self):
        try:
            client = importlib.import_module(self.asked["client"])
            self.emit(response=await client.send(self))
        except asyncio.CancelledError:
            self.emit(error={"status": None, "message": "stopped by the caller"})
        except Exception as error:
            # OpenAI's client shows the message of an error on /v1/responses only in the body.
            message = f"{error} {getattr(error, 'body', '')}"
            self.emit(error={"status": getattr(error, "status_code", None), "message": message})


async def main():
    lines = asyncio.StreamReader(limit=1 << 20)
    loop = asyncio.get_running_loop()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    running = {}
    while line := await lines.readline():
        message = json.loads(line)
        number = message["id"]
        if "request" in message:
            conversation = Conversation(number, message["request"])
            running[number] = (conversation, asyncio.create_task(conversation.hold()))
        elif "result" in message:
            running[number][0].result.set_result(message["result"])
        else:
            running[number][1].cancel()


asyncio.run(main())
