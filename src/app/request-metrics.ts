import type { Metrics } from '../base/metrics.ts'
import { checks, decisions } from '../domain/audit/event/verdict.ts'
import type { FailedAttempt } from '../domain/audit/event/request-timing.ts'
import type { Decision } from '../domain/evaluation/verdict/combine.ts'
import type { Usage } from '../domain/inference/events.ts'
import { callerFormats } from '../domain/inference/formats.ts'
import { operationNames } from '../domain/inference/operations.ts'
import type { EndedRequest } from '../pipeline/record.ts'
import type { ServedModels } from './upstreams/models.ts'
import { modelLabel, organizationLabel } from './upstreams/labels.ts'

/** The metrics of inference requests. Everything is counted once per request, at its end, so a chunk costs nothing. */
export type RequestMetrics = {
  readonly countEnded: (ended: EndedRequest) => void
  readonly countDecisions: (decisions: readonly Decision[]) => void
}

type Sources = Pick<ServedModels, 'catalogue' | 'modelSetOf' | 'providers' | 'health'> & { readonly metrics: Metrics }

/** The formats of chats, and the operations that have one format. */
const dialects = [...new Set([...callerFormats, ...operationNames])]

/** How a request ended, by what an operator does about it. */
const outcomeOf: Readonly<Record<NonNullable<EndedRequest['failure']>, string>> = {
  caller_left: 'caller_left',
  timeout: 'caller_left',
  malformed: 'rejected',
  validation: 'rejected',
  auth: 'rejected',
  permission: 'rejected',
  not_found: 'rejected',
  method: 'rejected',
  conflict: 'rejected',
  too_large: 'rejected',
  encoding: 'rejected',
  billing: 'no_credits',
  rate_limit: 'limited',
  moderation: 'denied',
  policy: 'denied',
  upstream_failed: 'upstream_failed',
  upstream_timeout: 'upstream_failed',
  upstream_overloaded: 'upstream_failed',
  unavailable: 'unavailable',
  internal: 'internal_error',
}
const outcomes = ['answered', 'filtered', ...new Set(Object.values(outcomeOf))]

/** The outcome of an attempt that got no answer, by the code of its fault. */
const attemptOutcomes: Readonly<Record<string, string>> = {
  upstream_error: 'failed',
  upstream_timeout: 'timeout',
  upstream_overloaded: 'overloaded',
  upstream_busy: 'busy',
  upstream_quota_exhausted: 'quota_exhausted',
}
const callOutcomes = ['answered', 'interrupted', 'stopped', 'rejected', ...Object.values(attemptOutcomes)]

const tokenKinds = ['input', 'cache_read', 'cache_write', 'output', 'reasoning'] as const

const secondsBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300]
const firstByteBuckets = [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const holdBackBuckets = [0.001, 0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

const byUpstream = { upstream: 'closed-by-caller' } as const

/** Defines the metrics of requests. Models are the entries of the catalogue, upstreams those of the configuration. */
export function createRequestMetrics(sources: Sources): RequestMetrics {
  const { metrics } = sources
  const countRequest = defineRequests(metrics)
  const countUpstreamCalls = defineUpstreams(sources)
  const countUsage = defineUsage(metrics)
  const observeHoldBack = metrics
    .histogram(
      'gatehouse_hold_back_seconds',
      'Time that the longest-held part of an answer waited for its checks. If it grows, look for slow rules: streams feel it as pauses.',
      { labels: {}, buckets: holdBackBuckets },
    )
    .series({})
  return {
    countEnded(ended) {
      const model = modelLabel(sources, ended.call)
      countRequest(ended, model)
      countUpstreamCalls(ended)
      countUsage(ended, model)
      const { heldBackUs } = ended.timing
      if (heldBackUs !== undefined) observeHoldBack(seconds(heldBackUs))
    },
    countDecisions: defineDecisions(metrics),
  }
}

function defineRequests(metrics: Metrics): (ended: EndedRequest, model: string) => void {
  const requests = metrics.counter(
    'gatehouse_requests_total',
    'Inference requests of authenticated callers and free requests, by how they ended. Divide upstream_failed, unavailable and internal_error by all for the share of errors.',
    { dialect: dialects, model: 'closed-by-caller', outcome: outcomes },
  )
  const durations = metrics.histogram(
    'gatehouse_request_seconds',
    'Time from receiving a request to the end of its answer, of complete answers. Compare with gatehouse_upstream_seconds to see the part of the gateway.',
    { labels: { dialect: dialects, model: 'closed-by-caller' }, buckets: secondsBuckets },
  )
  const seriesOf = memoize((model: string) =>
    memoize((dialect: string) => ({
      count: memoize((outcome: string) => requests.series({ dialect, model, outcome })),
      observe: lazily(() => durations.series({ dialect, model })),
    })),
  )
  return ({ call, timing, end, failure = 'internal' }, model) => {
    const { count, observe } = seriesOf(model)(call.request.raw?.dialect ?? call.operation.name)
    if (end === undefined) return count(outcomeOf[failure])()
    count(end.stopReason === 'filtered' ? 'filtered' : 'answered')()
    observe()(seconds(timing.elapsedUs()))
  }
}

function defineUpstreams(sources: Sources): (ended: EndedRequest) => void {
  const { metrics, providers } = sources
  const calls = metrics.counter(
    'gatehouse_upstream_calls_total',
    'Calls to upstreams for requests, by how each attempt ended. failed, timeout, overloaded and interrupted are faults of the upstream; rejected points at the request or the configuration.',
    { ...byUpstream, outcome: callOutcomes },
  )
  const retries = metrics.counter(
    'gatehouse_upstream_retries_total',
    'Attempts that were repeated after a failure of this upstream: at the same upstream, or at the next target. Callers do not see these failures, so watch them here.',
    { ...byUpstream, to: ['same', 'next'] },
  )
  const firstBytes = metrics.histogram(
    'gatehouse_upstream_first_byte_seconds',
    'Time from calling an upstream to the first chunk of its answer, including its queue. Users of streams wait this long.',
    { labels: byUpstream, buckets: firstByteBuckets },
  )
  const durations = metrics.histogram(
    'gatehouse_upstream_seconds',
    'Time from calling an upstream to the end of its answer, of complete answers.',
    { labels: byUpstream, buckets: secondsBuckets },
  )
  const seriesOf = memoize((upstream: string) => ({
    // Every outcome exists from the start, because a series that starts at 0 shows its first failure as an increase.
    calls: new Map(callOutcomes.map((outcome) => [outcome, calls.series({ upstream, outcome })])),
    firstByte: lazily(() => firstBytes.series({ upstream })),
    duration: lazily(() => durations.series({ upstream })),
  }))
  for (const upstream of providers.keys()) seriesOf(upstream)
  addUpstreamReadings(sources)
  const labelOf = (upstream: string): string => (providers.has(upstream) ? upstream : organizationLabel)
  return ({ timing, failure }) => {
    const { calledUs = 0, firstByteUs, answeredUs } = timing
    if (timing.upstream === undefined) return
    const upstream = labelOf(timing.upstream)
    const failedAttempts = timing.failedAttempts?.map((failed) => ({ ...failed, upstream: labelOf(failed.upstream) }))
    if (failedAttempts !== undefined) {
      for (const { upstream: failed, code } of failedAttempts)
        seriesOf(failed).calls.get(attemptOutcomes[code] ?? 'failed')?.()
      countRetries(failedAttempts, { answeredBy: firstByteUs === undefined ? undefined : upstream, retries })
    }
    const series = seriesOf(upstream)
    if (firstByteUs !== undefined) series.firstByte()(seconds(firstByteUs - calledUs))
    if (answeredUs !== undefined) series.duration()(seconds(answeredUs - calledUs))
    const outcome = lastCallOutcome({ firstByteUs, answeredUs, failure })
    if (outcome !== undefined) series.calls.get(outcome)?.()
  }
}

function addUpstreamReadings({ metrics, providers, health }: Sources): void {
  const coolingDown = 'gatehouse_upstream_cooling_down'
  const inFlight = 'gatehouse_upstream_calls_in_flight'
  metrics.readings(
    [
      {
        name: coolingDown,
        help: '1 while this node avoids an upstream after repeated failures. Run gatehouse upstreams probe with its name to see why.',
        type: 'gauge',
      },
      {
        name: inFlight,
        help: 'Calls to an upstream that have not ended. Compare with its max_concurrent.',
        type: 'gauge',
      },
    ],
    () =>
      [...providers].flatMap(([upstream, provider]) => [
        { name: coolingDown, labels: { upstream }, value: health.isCoolingDown(upstream) ? 1 : 0 },
        { name: inFlight, labels: { upstream }, value: provider.inFlight?.() ?? 0 },
      ]),
  )
}

type Retries = {
  readonly answeredBy: string | undefined
  readonly retries: { add(labels: { upstream: string; to: string }): void }
}

/** Each failed attempt but the last one of a failed request was followed by another attempt. */
function countRetries(failed: readonly FailedAttempt[], { answeredBy, retries }: Retries): void {
  failed.forEach(({ upstream }, at) => {
    const next = failed[at + 1]?.upstream ?? answeredBy
    if (next === undefined) return
    retries.add({ upstream, to: next === upstream ? 'same' : 'next' })
  })
}

type LastCall = {
  readonly firstByteUs: number | undefined
  readonly answeredUs: number | undefined
  readonly failure: EndedRequest['failure']
}

/** Undefined if the last call is among the failed attempts. `stopped`: by the caller, a rule or a shutdown. */
function lastCallOutcome({ firstByteUs, answeredUs, failure }: LastCall): string | undefined {
  if (answeredUs !== undefined) return 'answered'
  const isUpstreamFailure = failure?.startsWith('upstream_') === true
  if (firstByteUs !== undefined) return isUpstreamFailure ? 'interrupted' : 'stopped'
  if (isUpstreamFailure) return undefined
  return failure === 'validation' ? 'rejected' : 'stopped'
}

function defineUsage(metrics: Metrics): (ended: EndedRequest, model: string) => void {
  const tokens = metrics.counter(
    'gatehouse_tokens_total',
    'Tokens of answers, also of interrupted ones. The kinds do not overlap: output is without reasoning, input without the cache. Their sum is what limits count.',
    { model: 'closed-by-caller', kind: tokenKinds },
  )
  const credits = metrics.counter(
    'gatehouse_credits_used_total',
    'Credits that requests cost. With metered="true" they were charged to a balance; with "false" they are what an organization without metering would have paid.',
    { model: 'closed-by-caller', metered: ['true', 'false'] },
  )
  const seriesOf = memoize((model: string) => ({
    tokens: tokenKinds.map((kind) => ({ kind, count: tokens.series({ model, kind }) })),
    credits: memoize((isMetered: boolean) => credits.series({ model, metered: String(isMetered) })),
  }))
  return ({ call: { caller }, end, charged }, model) => {
    const usage = end?.usage ?? charged?.usage
    if (usage === undefined) return
    const series = seriesOf(model)
    const counts = tokensByKind(usage)
    for (const { kind, count } of series.tokens) count(counts[kind])
    if (charged !== undefined && caller.kind !== 'free')
      series.credits(caller.organization.metered)(charged.cost.creditsUsed)
  }
}

const tokensByKind = (usage: Usage): Readonly<Record<(typeof tokenKinds)[number], number>> => ({
  input: usage.inputTokens,
  cache_read: usage.cacheReadTokens,
  cache_write: usage.cacheWriteTokens,
  output: usage.outputTokens - usage.reasoningTokens,
  reasoning: usage.reasoningTokens,
})

/** Every combination exists from the start, because a request may have as many decisions as there are policies. */
function defineDecisions(metrics: Metrics): RequestMetrics['countDecisions'] {
  const counter = metrics.counter(
    'gatehouse_decisions_total',
    'Decisions of checks on requests and their answers, one per rule. enforced="false" is shadow and monitoring mode. A rise of refuse needs a look at the policy, not_evaluated a look at the judge.',
    { check: checks, decision: decisions, enforced: ['true', 'false'] },
  )
  const seriesOf = (check: string, decision: string) => ({
    enforced: counter.series({ check, decision, enforced: 'true' }),
    observed: counter.series({ check, decision, enforced: 'false' }),
  })
  const series = new Map(
    checks.map((check) => [check, new Map(decisions.map((decision) => [decision, seriesOf(check, decision)]))]),
  )
  return (all) => {
    for (const { check, decision, isEnforced } of all) {
      const counts = series.get(check)?.get(decision)
      if (isEnforced) counts?.enforced()
      else counts?.observed()
    }
  }
}

/** Keeps what was made for each key: finding a series by its labels costs more than counting. */
function memoize<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, Value>()
  return (key) => {
    const cached = known.get(key)
    if (cached !== undefined) return cached
    const made = make(key)
    known.set(key, made)
    return made
  }
}

/** A histogram without observations is left out of the exposition. */
function lazily<Value>(make: () => Value): () => Value {
  let made: Value | undefined
  return () => (made ??= make())
}

const seconds = (us: number): number => us / 1e6
