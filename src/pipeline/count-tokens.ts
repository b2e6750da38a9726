import type { Clock } from '../base/clock.ts'
import { isFault } from '../base/fault.ts'
import type { Catalogue, Model } from '../domain/inference/catalogue.ts'
import { countableOf, type CountCaller, type CountTexts, type TextCount } from '../domain/inference/count.ts'
import { totalInputTokens, type Usage } from '../domain/inference/events.ts'
import type { LearnedFactors } from '../domain/inference/learned-factor.ts'
import type { Provider } from '../domain/inference/provider.ts'
import type { InferenceRequest } from '../domain/inference/request.ts'
import type { Principal } from '../domain/identity/principal.ts'
import type { CheckBeforeCounting } from './enforcement/check-before-counting.ts'
import { permittedModel } from './permitted-model.ts'

export type CountTokensParts = {
  readonly catalogue: Catalogue
  readonly providers: ReadonlyMap<string, Provider>
  readonly factors: LearnedFactors
  readonly count: CountTexts
  readonly clock: Clock
  readonly sendable: CheckBeforeCounting
}

/** How many tokens a request would have, and how that is known. */
export type TokenCount = { readonly inputTokens: number; readonly source: TokenCountSource }

/** The upstream's own count, that of our tokenizer, or an estimate: from a sample of the texts, or from their length. */
export type TokenCountSource = 'upstream' | 'tokenizer' | 'sample' | 'length'

export type CountTokensCall = {
  readonly request: InferenceRequest
  readonly principal: Principal
  readonly signal: AbortSignal
}

export type CountTokens = (counting: CountTokensCall) => Promise<TokenCount>

/**
 * Asks the model's first upstream where it can count, and may see the request; an upstream that cannot, or is down, is
 * no reason to fail.
 */
export function createCountTokens(parts: CountTokensParts): CountTokens {
  return async (counting) => {
    const { request, principal } = counting
    const model = permittedModel(parts.catalogue, principal, request.model)
    const byUpstream = await askUpstream(parts, model, counting)
    if (byUpstream !== undefined) return { inputTokens: byUpstream, source: 'upstream' }
    const countCaller = { queueKey: principal.organization.id, signal: counting.signal }
    const { tokens, method } = await countLocally(parts.count, request, countCaller)
    const inputTokens = Math.ceil(tokens * parts.factors.of(model.name))
    return { inputTokens, source: method === 'whole' ? 'tokenizer' : method }
  }
}

async function askUpstream(
  { providers, sendable }: CountTokensParts,
  { targets: [target] }: Model,
  { request, principal, signal }: CountTokensCall,
): Promise<number | undefined> {
  const counter = target && providers.get(target.upstream)?.countTokens
  // To examine a request costs more than to count it here.
  if (target === undefined || counter === undefined) return undefined
  const sent = await sendable(principal, request)
  return sent && counter({ request: sent, model: target.model, signal }).catch(orNothing)
}

/** An upstream that has no counter, or is in trouble, need not trouble the caller: we can count ourselves. */
function orNothing(error: unknown): undefined {
  if (isFault(error) && error.code !== 'unsupported_parameter') return undefined
  throw error
}

async function countLocally(
  count: CountTexts,
  request: InferenceRequest,
  countCaller: CountCaller,
): Promise<TextCount> {
  const { texts, extraTokens } = countableOf(request)
  const { tokens, method } = await count(texts, countCaller)
  return { tokens: extraTokens + tokens, method }
}

/** Comparisons wait for one another, and take turns with the organizations as one more caller. */
const learner = { queueKey: 'learner' }

/** Now and then what an upstream reported is held against our own count, off the road of the request. */
export function createFactorLearner({ factors, count, clock }: Pick<CountTokensParts, 'factors' | 'count' | 'clock'>) {
  return (model: string, request: InferenceRequest, usage: Usage): void => {
    if (usage.source !== 'reported' || !factors.wantsSample(model, clock.nowMs())) return
    countLocally(count, request, learner).then(
      ({ tokens, method }) => method !== 'length' && factors.learn(model, tokens, totalInputTokens(usage)),
      () => {}, // a sample that failed teaches nothing
    )
  }
}
