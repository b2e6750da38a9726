import { createSpanExporter } from '../src/adapters/traces/span-exporter.ts'
import { requestSpans } from '../src/adapters/traces/request-spans.ts'
import { systemClock } from '../src/base/clock.ts'
import { systemRandom } from '../src/base/random.ts'
import { RequestTiming } from '../src/domain/audit/event/request-timing.ts'
import type { InferenceEnd } from '../src/domain/inference/events.ts'
import type { InferenceRequest } from '../src/domain/inference/request.ts'
import { noFieldRoles } from '../src/domain/inference/field-roles.ts'
import type { RequestTrace } from '../src/domain/tracing/request-trace.ts'
import { createStartTrace } from '../src/domain/tracing/start-trace.ts'

/**
 * What a traced request costs without its network: `node bench/traces.ts`. It collects, makes and encodes the five spans of an
 * answered request, and joins them to exports. CPU time, so that a busy machine changes little.
 */
const requests = 20_000
const rounds = 7

const exporter = createSpanExporter(
  {
    url: new URL('http://127.0.0.1/v1/traces'),
    headers: () => ({}),
    compression: 'none',
    timeoutMs: 1_000,
    resource: { 'service.name': 'gatehouse' },
    version: '0',
  },
  {
    request: async () => ({ status: 200, headers: {}, body: Buffer.from('{}') }),
    clock: systemClock,
    onResult: () => {},
  },
)
const parts = {
  newSpanId: () => Buffer.from(systemRandom.bytes(8)).toString('hex'),
  upstreams: new Map([['up', { provider: 'openai', address: 'api.openai.com', port: 443 }]]),
  redact: (text: string) => text,
  scheme: 'http',
}
const startTrace = (ratio: number) =>
  createStartTrace(
    { parent: 'continue', ratio, followsCaller: true },
    {
      random: systemRandom,
      clock: systemClock,
      hasContent: false,
      onFinished: (trace) => exporter.add(requestSpans(trace, parts)),
    },
  )

const request: InferenceRequest = {
  model: 'm',
  stream: false,
  messages: [],
  stop: [],
  tools: [],
  flaggedCategories: [],
  raw: { dialect: 'chat', body: {}, headers: {}, roles: noFieldRoles },
}
const usage = {
  inputTokens: 10,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 20,
  reasoningTokens: 0,
  source: 'reported',
} as const
const end: InferenceEnd = { type: 'end', stopReason: 'end', usage }
const window = { limit: 60, remaining: 59, resetMs: 1_000 }
const scope = { rpm: window, rpd: window, tpm: window, tpd: window, concurrent: { limit: 4, remaining: 3 } }
const origin = { endpoint: { method: 'POST', path: '/v1/chat/completions', status: 200 }, address: '127.0.0.1' }
const operation = { name: 'chat' } as const
const call = {
  requestId: 'req_1',
  operation,
  caller: { kind: 'free', client: 'x', aliases: [] } as const,
  request,
  origin,
}

/** The hooks that the pipeline calls for an answered request. */
function runRequest(trace: RequestTrace): void {
  const timing = new RequestTiming(systemClock, trace.receivedMs)
  trace.onLimits({ key: scope, project: scope, organization: scope }, { tokens: 30, micro: 40 })
  timing.admitted()
  trace.onVerdict(() => ({ decision: 'allow', isEnforced: true, direction: 'request' }))
  timing.checked()
  timing.called('up')
  trace.onAttempt({ upstream: 'up', model: 'upstream-model' })
  timing.firstByte()
  trace.onChunk({ events: [{ type: 'start', model: 'upstream-model-1' }, end] })
  timing.answered()
  trace.onVerdict(() => ({ decision: 'allow', isEnforced: true, direction: 'response' }))
  trace.onEnded({ call, timing, end })
  trace.onResponded(200)
}

async function microsPerRequest(ratio: number): Promise<number> {
  const start = startTrace(ratio)
  const before = process.cpuUsage()
  for (let count = 0; count < requests; count++) {
    const { trace } = start(undefined, undefined)
    if (trace) runRequest(trace)
    if (count % 100 === 99) await exporter.flush()
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / requests
}

for (const ratio of [0, 0.1, 1]) {
  const figures: number[] = []
  for (let round = 0; round < rounds; round++) figures.push(await microsPerRequest(ratio))
  const median = figures.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0
  console.log(`${ratio * 100} % of the requests traced: ${median.toFixed(2)} us of CPU time per request`)
}
