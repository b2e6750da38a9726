import { Value } from 'typebox/value'
import type { ExportChoice, Sink, SinkKind, SinkType } from '../../domain/audit/export/sink.ts'
import type { AddressGuard } from '../network/address-guard.ts'
import { createGuardedAgent } from '../network/guarded-agent.ts'
import { createRequest, type SendRequest } from '../network/request.ts'
import { azureMonitor } from './azure-monitor.ts'
import { datadogLogs } from './datadog-logs.ts'
import type { SinkParts } from './define.ts'
import { elastic } from './elastic.ts'
import { CommonConfig } from './fields.ts'
import { otlpLogs } from './otlp-logs.ts'
import { s3 } from './s3.ts'
import { splunkHec } from './splunk-hec.ts'
import { webhook } from './webhook.ts'

/** Every kind of sink. */
const kindByType: Readonly<Record<SinkType, SinkKind<SinkParts>>> = {
  splunk_hec: splunkHec,
  datadog_logs: datadogLogs,
  elastic,
  s3,
  azure_monitor: azureMonitor,
  webhook,
  otlp_logs: otlpLogs,
}

export const sinkKinds: readonly SinkKind<SinkParts>[] = Object.values(kindByType)

export const findSinkKind = (type: string): SinkKind<SinkParts> | undefined =>
  sinkKinds.find((kind) => kind.type === type)

export type OpenParts = Omit<SinkParts, 'request'> & {
  readonly guard: AddressGuard
  /** Wraps the network calls of the sink. */
  readonly network?: (request: SendRequest) => SendRequest
}

/** Opens a sink with connections of its own, which are closed with it. Two sinks never share a connection. */
export function openSink(kind: SinkKind<SinkParts>, config: unknown, parts: OpenParts): Sink & AsyncDisposable {
  const { guard, network = (request) => request, ...others } = parts
  const caPem = Value.Check(CommonConfig, config) ? config.tls_ca_pem : undefined
  const agent = createGuardedAgent({ guard, caPem })
  const sink = kind.open(config, { ...others, request: network(createRequest(agent)) })
  return { ...sink, [Symbol.asyncDispose]: () => agent.destroy() }
}

/** The part of a configuration that the sender applies before it calls the sink. */
export function choiceOf(config: unknown): ExportChoice {
  if (!Value.Check(CommonConfig, config)) return {}
  const { content, filter } = config
  return { content, filter }
}
