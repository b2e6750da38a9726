import { createTokenDecoder } from '../adapters/tokenizer/token-decoder.ts'
import { createTokenizer } from '../adapters/tokenizer/tokenizer.ts'
import { minuteMs } from '../base/clock.ts'
import type { FreeRequests } from '../domain/identity/free-request.ts'
import { totalTokens } from '../domain/inference/events.ts'
import { createLearnedFactors } from '../domain/inference/learned-factor.ts'
import { createCountTokens, createFactorLearner } from '../pipeline/operations/count-tokens.ts'
import type { ScanText } from '../domain/scan/scan.ts'
import type { Enforce } from '../pipeline/enforcement/enforce.ts'
import type { CheckBeforeCounting } from '../pipeline/enforcement/check-before-counting.ts'
import { createModerate } from '../pipeline/operations/moderate.ts'
import { createRun, type RunParts } from '../pipeline/run.ts'
import { createRunCounted } from '../pipeline/run-counted.ts'
import { openCounters } from './limit-counters.ts'
import { openCredits, type CreditParts } from './billing.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { ServedModels } from './upstreams/models.ts'
import { longestOfAllMs } from './upstreams/installation-entries.ts'
import { organizationLabel } from './upstreams/labels.ts'

const leaseMs = 30_000
/** Credits and quotas are held this much longer than the longest request can take. */
const holdMarginMs = 5 * minuteMs

export type PipelineParts = Pick<CreditParts, 'overrides' | 'budgets'> & {
  readonly freeRequests: FreeRequests
  readonly enforce: Enforce
  readonly checkBeforeCounting: CheckBeforeCounting
  readonly scanText: ScanText
  readonly served: ServedModels
}

/** Time after which a request has ended, or its process has died. */
export const holdMsOf = (
  { config, upstreams }: Pick<Infrastructure, 'config' | 'upstreams'>,
  { models }: Pick<ServedModels, 'models'>,
): number => longestOfAllMs({ config, models, upstreams }) + holdMarginMs

/**
 * Logs every answer whose upstream reports an implausible token count, because such an upstream may be faulty. The caller is
 * charged by the gateway's own count instead.
 */
function createUsageReport({ log, metrics, upstreams }: Infrastructure): RunParts['onImplausibleUsage'] {
  const shared = new Set(upstreams.map(({ name }) => name))
  const answers = metrics.counter(
    'gatehouse_implausible_usage_total',
    'Answers whose upstream reported an implausible token count; the count of the gateway was charged.',
    { upstream: 'closed-by-caller' },
  )
  return ({ requestId, upstream, model, usage }) => {
    answers.add({ upstream: shared.has(upstream) ? upstream : organizationLabel })
    const counts = { reported_tokens: usage.reportedTokens, charged_tokens: totalTokens(usage) }
    log.warn({ request_id: requestId, upstream, model, ...counts }, 'the upstream reported an implausible token count')
  }
}

/** The request pipeline with its limits and credits. */
export async function openPipeline(
  infrastructure: Infrastructure,
  { freeRequests, overrides, budgets, enforce, checkBeforeCounting, scanText, served }: PipelineParts,
) {
  const { built, config, clock, random, log, storage } = infrastructure
  const { modelSetOf } = served
  const holdMs = holdMsOf(infrastructure, served)
  const settings = { leaseMs, holdMs, countRejectedIn: config.limits.count_refused }
  const counters = built.use(await openCounters({ ...infrastructure, settings }))
  const credits = built.use(await openCredits({ ...infrastructure, counters, overrides, budgets, holdMs }))
  const { count } = built.use(createTokenizer(clock))
  const counting = { modelSetOf, factors: createLearnedFactors(), count, clock, checkBeforeCounting }
  const run = createRun({
    installation: served,
    modelSetOf,
    storage,
    clock,
    random,
    admission: credits.admission,
    enforce,
    ratesOf: credits.ratesOf,
    creditUsd: config.credits.credit_usd,
    freeRequests,
    freeOutputTokens: config.free_tier.max_output_tokens,
    learnFactor: createFactorLearner(counting),
    onImplausibleUsage: createUsageReport(infrastructure),
    onFailedCall: ({ upstream }, fault) =>
      log.warn({ upstream, code: fault.code, error: String(fault.cause ?? '') }, fault.message),
  })
  const runCounted = createRunCounted(credits.admission)
  const { decode: decodeTokens } = built.use(createTokenDecoder(clock))
  const tokenizer = { countTexts: count, decodeTokens }
  const moderate = createModerate(scanText)
  return {
    counters,
    credits,
    run,
    runCounted,
    countTokens: createCountTokens(counting),
    moderate,
    ...tokenizer,
  }
}
