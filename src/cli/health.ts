import { get as getPlain, type IncomingMessage } from 'node:http'
import { get as getSecure } from 'node:https'
import { json } from 'node:stream/consumers'
import { messageOf } from '../base/fault.ts'
import { askRunningServer } from '../app/client/running-server.ts'
import { isRecord } from '../base/record.ts'
import type { Config } from '../config/config.ts'
import { readArguments } from './arguments.ts'
import { UsageError, type Command } from './command.ts'

const timeoutMs = 5_000

export const health: Command = {
  summary: 'Ask a server whether it is ready',
  usage: `gatehouse health [--url URL] [--json]

  --url URL  the address of the server, such as http://127.0.0.1:8080; by default the server that runs on the data folder, on any port,
             and without one the configured host and port on this machine
  --json     print the server's answer

Exit code 0 if GET /health/ready says that requests are served, 1 if not or if there is no answer within 5 seconds. A container can use it as
its health check. The certificate is verified with --url only, because a local server is not called by the name in its certificate.`,
  async run({ args, config, print, printError }) {
    const { values } = readArguments(args, { url: { type: 'string' }, json: { type: 'boolean' } })
    const answer = values.url === undefined ? await askLocal(config()) : await askUrl(readUrl(values.url), true)
    const isReady = answer['status'] === 'ready'
    if (values.json === true) print(JSON.stringify(answer, null, 2))
    else if (isReady) print(`ready${partsText(', degraded: ', answer['degraded'])}`)
    else printError(`not ready${partsText(': ', answer['failing'])}`)
    return isReady ? 0 : 1
  },
}

/** The control socket belongs to the data folder, whatever the port of the server is. */
async function askLocal(config: Config): Promise<Answer> {
  const text = await askRunningServer(config, '/health/ready', timeoutMs)
  const answer: unknown = text === undefined ? undefined : JSON.parse(text)
  return isAnswer(answer) ? answer : askUrl(localUrl(config.server), false)
}

const askUrl = (server: URL, isVerified: boolean): Promise<Answer> =>
  readAnswer(new URL(`${server.href.replace(/\/+$/, '')}/health/ready`), { isVerified })

type Answer = Record<string, unknown>

const isAnswer = (answer: unknown): answer is Answer =>
  isRecord(answer) && (answer['status'] === 'ready' || answer['status'] === 'not_ready')

/** A server on all addresses is asked at the loopback one. */
function localUrl({ host, port, tls }: Config['server']): URL {
  if (port === 0) throw new UsageError('The server listens on any free port: name its address with --url.')
  const address = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  return new URL(
    `${tls === undefined ? 'http' : 'https'}://${address.includes(':') ? `[${address}]` : address}:${port}`,
  )
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new UsageError(`--url must be an address that begins with http:// or https://, and is ${text}.`)
}

async function readAnswer(url: URL, { isVerified }: { readonly isVerified: boolean }): Promise<Answer> {
  const answer = await request(url, isVerified).catch((error: unknown) => {
    throw new Error(`${url.href} cannot be reached: ${messageOf(error)}`)
  })
  if (isAnswer(answer)) return answer
  throw new Error(`What answers at ${url.href} is not Gatehouse: its answer has no status.`)
}

function request(url: URL, isVerified: boolean): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const get = url.protocol === 'https:' ? getSecure : getPlain
    const options = { agent: false as const, rejectUnauthorized: isVerified, signal: AbortSignal.timeout(timeoutMs) }
    const read = (response: IncomingMessage): void => void json(response).then(resolve, () => resolve(undefined))
    get(url, options, read).on('error', reject)
  })
}

function partsText(prefix: string, parts: unknown): string {
  if (!Array.isArray(parts) || parts.length === 0) return ''
  const names = parts.filter(isRecord).map(({ part, problem }) => `${String(part)}: ${String(problem)}`)
  return prefix + names.join('; ')
}
