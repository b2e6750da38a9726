import { createTokenizer } from '../adapters/tokenizer/tokenizer.ts'
import { minuteMs } from '../base/clock.ts'
import type { FreeRequests } from '../domain/identity/free-request.ts'
import { totalTokens } from '../domain/inference/events.ts'
import { createUpstreamHealth } from '../domain/inference/health.ts'
import { createLearnedFactors } from '../domain/inference/learned-factor.ts'
import { createCountTokens, createFactorLearner } from '../pipeline/count-tokens.ts'
import type { Enforce } from '../pipeline/enforcement/enforce.ts'
import type { CheckBeforeCounting } from '../pipeline/enforcement/check-before-counting.ts'
import { createInfer, type InferParts } from '../pipeline/infer.ts'
import type { Administration } from './administration.ts'
import { openCounters } from './limit-counters.ts'
import { openCredits } from './billing.ts'
import type { Infrastructure } from './infrastructure.ts'
import type { ServedModels } from './models.ts'
import { longestRequestMs } from './upstreams.ts'

const leaseMs = 30_000
/** How much longer than the longest request its credits and quotas are held. */
const holdMarginMs = 5 * minuteMs

export type PipelineParts = {
  readonly freeRequests: FreeRequests
  readonly overrides: Administration['reads']['overrides']
  readonly govern: Enforce
  readonly sendable: CheckBeforeCounting
  readonly served: ServedModels
}

/** After this time a request has ended, or its process has died. */
export const holdMsOf = (
  { upstreams }: Pick<Infrastructure, 'upstreams'>,
  { models }: Pick<ServedModels, 'models'>,
): number => longestRequestMs(models, upstreams) + holdMarginMs

/** An upstream that counts wrongly is worth a line for each answer: somebody pays for it. */
function createUsageAlarm({ log, metrics }: Infrastructure): InferParts['onImplausibleUsage'] {
  const answers = metrics.counter(
    'gatehouse_implausible_usage_total',
    'Answers whose upstream reported tokens that cannot be true; our own count was charged.',
    { upstream: 'closed-by-caller' },
  )
  return ({ requestId, upstream, model, usage }) => {
    answers.add({ upstream })
    const counts = { reported_tokens: usage.reportedTokens, charged_tokens: totalTokens(usage) }
    log.warn({ request_id: requestId, upstream, model, ...counts }, 'the upstream reports tokens that cannot be true')
  }
}

/** All that an inference request passes on its way: models and upstreams, limits and credits, and the road itself. */
export async function openPipeline(
  ground: Infrastructure,
  { freeRequests, overrides, govern, sendable, served }: PipelineParts,
) {
  const { built, config, clock, random, log, storage } = ground
  const { catalogue, providers } = served
  const holdMs = holdMsOf(ground, served)
  const settings = { leaseMs, holdMs, countRejectedIn: config.limits.count_refused }
  const counters = built.use(await openCounters({ ...ground, settings }))
  const credits = built.use(await openCredits({ ...ground, counters, overrides, holdMs }))
  const { count } = built.use(createTokenizer(clock))
  const counting = { catalogue, providers, factors: createLearnedFactors(), count, clock, sendable }
  const infer = createInfer({
    catalogue,
    storage,
    providers,
    health: createUpstreamHealth(clock),
    clock,
    random,
    admission: credits.admission,
    enforce: govern,
    ratesOf: credits.ratesOf,
    creditUsd: config.credits.credit_usd,
    freeRequests,
    freeOutputTokens: config.free_tier.max_output_tokens,
    learnFactor: createFactorLearner(counting),
    onImplausibleUsage: createUsageAlarm(ground),
    onFailedCall: ({ upstream }, fault) =>
      log.warn({ upstream, code: fault.code, error: String(fault.cause ?? '') }, fault.message),
  })
  return { catalogue, counters, credits, infer, countTokens: createCountTokens(counting) }
}
