import { chmodSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { toFault } from '../base/fault.ts'
import { parseJsonObject } from '../base/json.ts'

/** What can be done through the socket: names with a function of plain JSON each. */
export type ControlOperations = Readonly<Record<string, (input: never) => Promise<unknown>>>

const maxBodyBytes = 1024 * 1024

/**
 * The back door for the command line, while the server holds the embedded database: a socket file that only its
 * owner may open. `POST /NAME` with the input as JSON; the answer is `{ result }` or `{ error }`.
 */
export async function openControlSocket(path: string, operations: ControlOperations): Promise<AsyncDisposable> {
  const server = createServer((request, response) => void answer(request, response, operations))
  rmSync(path, { force: true }) // left behind by a killed process; the folder's lock says that it is ours
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  chmodSync(path, 0o600)
  return {
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  operations: ControlOperations,
): Promise<void> {
  const name = request.url?.slice(1) ?? ''
  try {
    const operation = Object.hasOwn(operations, name) ? operations[name] : undefined
    if (!operation) throw new Error(`there is no operation ${name}`)
    const input = parseJsonObject(await bodyOf(request))
    send(response, 200, { result: (await operation(input as never)) ?? null })
  } catch (error) {
    const { kind, code, message, cause } = toFault(error)
    send(response, 400, { error: { kind, code, message, cause: cause instanceof Error ? cause.message : undefined } })
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    if ((size += chunk.length) > maxBodyBytes) throw new Error('the input is too large')
  }
  return Buffer.concat(chunks)
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(JSON.stringify(body))
}
