import { Agent } from 'undici'
import { createRequest, Unreachable } from '../../adapters/network/request.ts'
import { messageOf } from '../../base/fault.ts'
import type { Config } from '../../config/config.ts'
import { originsOf } from '../../config/origins.ts'
import { connectTimeoutMs, type Diagnosis } from './diagnosis.ts'
import { tracesUrl } from '../traces.ts'

const part = 'traces'

/** Sends an empty export, which a collector accepts. Requests do not need it, so a failure is only a warning. */
export async function checkTraces(
  config: Config,
  { isOffline }: { readonly isOffline: boolean },
): Promise<Diagnosis[]> {
  const ignored = originsOf(config).warnings.map((message): Diagnosis => ({ part, state: 'warning', message }))
  const url = tracesUrl(config)
  return url === undefined ? ignored : [...ignored, await checkCollector(url, config.traces, isOffline)]
}

async function checkCollector(url: URL, traces: Config['traces'], isOffline: boolean): Promise<Diagnosis> {
  const collector = `the collector at ${url.origin}${url.pathname}`
  if (isOffline) return { part, state: 'ok', message: `${collector} was not called` }
  const agent = new Agent({ connect: { timeout: connectTimeoutMs }, allowH2: false })
  const headers = { ...traces.headers, 'content-type': 'application/json' }
  const signal = AbortSignal.timeout(connectTimeoutMs)
  try {
    const outgoing = { method: 'POST', url, headers, body: '{"resourceSpans":[]}', signal } as const
    const { status } = await createRequest(agent)(outgoing)
    if (status >= 200 && status < 300) return { part, state: 'ok', message: collector }
    return { part, state: 'warning', message: `${collector} answered with status ${status}`, fix }
  } catch (error) {
    const reason = messageOf(error instanceof Unreachable ? error.cause : error)
    return { part, state: 'warning', message: `${collector} cannot be reached (${reason})`, fix }
  } finally {
    await agent.destroy()
  }
}

const fix =
  'Requests are answered without it, but their traces are lost. Is traces.endpoint the HTTP port of the collector (usually 4318), and are traces.headers right?'
