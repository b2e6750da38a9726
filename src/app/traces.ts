import { Agent } from 'undici'
import { createRequest } from '../adapters/network/request.ts'
import { redactIrreversibly } from '../domain/scan/detect/personal-data/redact.ts'
import type { Config } from '../config/config.ts'
import { originsOf } from '../config/origins.ts'
import type { RequestTrace } from '../domain/tracing/request-trace.ts'
import { createStartTrace, passOn, type StartTrace } from '../domain/tracing/start-trace.ts'
import type { UpstreamFacts } from '../adapters/traces/gen-ai.ts'
import type { Infrastructure } from './infrastructure.ts'
import { factsOfKind, type EffectiveUpstream } from './upstreams/upstreams.ts'

/** Starts to export traces if a collector is configured. Undefined if neither it nor an upstream needs trace contexts. */
export async function openTraces(infrastructure: Infrastructure, version: string): Promise<StartTrace | undefined> {
  const { config, upstreams, log } = infrastructure
  const { traces } = config
  for (const warning of originsOf(config).warnings) log.warn(warning)
  const url = tracesUrl(config)
  if (url !== undefined) return openExporter(infrastructure, url, version)
  return traces.parent === 'continue' && upstreams.some(({ trace }) => trace) ? passOn : undefined
}

/** The address of a collector's traces. OpenTelemetry defines that the variable for traces alone has the whole address. */
export function tracesUrl(config: Config): URL | undefined {
  const { endpoint } = config.traces
  if (endpoint === undefined) return undefined
  const url = new URL(endpoint)
  const isWhole = originsOf(config).variables.get('traces.endpoint') === 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'
  if (!isWhole && !url.pathname.endsWith('/v1/traces')) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`
  return url
}

/** Imported here, so that a server without traces does not load the code. */
async function openExporter(infrastructure: Infrastructure, url: URL, version: string): Promise<StartTrace> {
  const { built, config, nodeName, clock, random, metrics, jobs, upstreams, warn } = infrastructure
  const { traces } = config
  const { createSpanExporter, spanResults } = await import('../adapters/traces/span-exporter.ts')
  const { requestSpans } = await import('../adapters/traces/request-spans.ts')
  const spans = metrics.counter(
    'gatehouse_trace_spans_total',
    'Spans of traces, by what became of them. If queue_full rises, the collector is down or too slow; with rejected, look at its log.',
    { result: spanResults },
  )
  for (const result of spanResults) spans.add({ result }, 0)
  const agent = new Agent({ connect: { timeout: traces.timeout_ms }, allowH2: false })
  built.defer(() => agent.destroy())
  const exporter = built.use(
    createSpanExporter(
      {
        url,
        headers: () => headersOf(infrastructure),
        compression: traces.compression,
        timeoutMs: traces.timeout_ms,
        resource: {
          'service.name': traces.service_name,
          'service.version': version,
          'service.instance.id': nodeName,
          ...traces.resource_attributes,
        },
        version,
      },
      { request: createRequest(agent), clock, onResult: (result, count) => spans.add({ result }, count) },
    ),
  )
  built.use(jobs.start('send-traces', exporter.flush))
  const parts = {
    newSpanId: () => Buffer.from(random.bytes(8)).toString('hex'),
    upstreams: new Map(upstreams.map((upstream) => [upstream.name, factsOf(upstream)])),
    redact: redactIrreversibly,
    scheme: config.server.tls === undefined ? 'http' : 'https',
  }
  const warnOfSpans = warn('the spans of a request could not be made')
  // Called at the end of a request, which must not fail because of its trace.
  const onFinished = (trace: RequestTrace): void => {
    try {
      exporter.add(requestSpans(trace, parts))
    } catch (error) {
      warnOfSpans(error)
    }
  }
  return createStartTrace(
    { parent: traces.parent, ratio: traces.sample_ratio, followsCaller: traces.follow_caller },
    { random, clock, hasContent: traces.content, onFinished },
  )
}

const headersOf = ({ config, live }: Infrastructure): Record<string, string> =>
  Object.fromEntries(
    Object.entries(config.traces.headers).map(([name, value]) => [
      name.toLowerCase(),
      live.read(`traces.headers.${name}`, value),
    ]),
  )

/** A server without OpenTelemetry's name of a vendor is named by its software or by the upstream. */
function factsOf(upstream: EffectiveUpstream): UpstreamFacts {
  const { name, server, base_url: baseUrl } = upstream
  const provider = factsOfKind(upstream).systemName ?? server ?? name
  if (baseUrl === undefined) return { provider }
  const { hostname: address, port, protocol } = new URL(baseUrl)
  return {
    provider: providerAt(address) ?? provider,
    address,
    port: Number(port) || (protocol === 'https:' ? 443 : 80),
  }
}

function providerAt(address: string): string | undefined {
  if (address.endsWith('.openai.azure.com') || address.endsWith('.services.ai.azure.com')) return 'azure.ai.openai'
  return address === 'api.openai.com' ? 'openai' : undefined
}
