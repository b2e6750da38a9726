import type { Clock } from '../../base/clock.ts'
import { isFault } from '../../base/fault.ts'
import type { Model } from '../../domain/inference/catalogue.ts'
import {
  countableOf,
  type Countable,
  type CountCaller,
  type CountTexts,
  type TextCount,
} from '../../domain/inference/count.ts'
import { totalInputTokens, type Usage } from '../../domain/inference/events.ts'
import type { LearnedFactors } from '../../domain/inference/learned-factor.ts'
import type { ModelSetOf } from '../../domain/inference/model-set.ts'
import type { Provider } from '../../domain/inference/provider.ts'
import type { InferenceRequest } from '../../domain/inference/request.ts'
import type { CheckBeforeCounting } from '../enforcement/check-before-counting.ts'
import type { OperationCall } from '../operation-call.ts'
import { permittedModel } from '../permitted-model.ts'
import type { CountedCall, CountedOperation } from '../run-counted.ts'

export type CountTokensParts = {
  readonly modelSetOf: ModelSetOf
  readonly factors: LearnedFactors
  readonly count: CountTexts
  readonly clock: Clock
  readonly checkBeforeCounting: CheckBeforeCounting
}

/** The number of input tokens of a request, and the source of the number. */
export type TokenCount = {
  readonly inputTokens: number
  readonly source: TokenCountSource
  /** True if an upstream of the caller's format counted the request as it was sent. */
  readonly isPassthrough: boolean
}

/** The upstream's own count, the gateway's tokenizer, or an estimate from a sample of the texts or from their length. */
export type TokenCountSource = 'upstream' | 'tokenizer' | 'sample' | 'length'

export type CountTokens = CountedOperation<InferenceRequest, TokenCount>

/**
 * Uses the count of the model's first upstream, if it has a counter and may receive the request. If it has none or fails, the
 * gateway counts.
 */
export function createCountTokens(parts: CountTokensParts): CountTokens {
  return async (call) => {
    const { request, principal } = call
    const { catalogue, providers } = await parts.modelSetOf(principal.organization.id)
    const model = permittedModel(catalogue, principal, { operation: 'chat', name: request.model })
    const [target] = model.targets
    const provider = target && providers.get(target.upstream)
    const ownCount = provider?.inputTokensOf?.(request)
    if (ownCount !== undefined) return { inputTokens: ownCount, source: 'upstream', isPassthrough: false }
    const upstreamCount = provider && (await countUpstream(parts, { provider, model: target.model }, call))
    const isPassthrough = provider?.passthroughFor === request.raw.dialect
    if (upstreamCount !== undefined) return { inputTokens: upstreamCount, source: 'upstream', isPassthrough }
    const countCaller = { queueKey: principal.organization.id, signal: call.signal }
    const { tokens, method } = await countLocally(parts.count, countableOf(request), countCaller)
    const inputTokens = parts.factors.corrected(factorKeyOf(model), tokens)
    return { inputTokens, source: method === 'whole' ? 'tokenizer' : method, isPassthrough: false }
  }
}

async function countUpstream(
  { checkBeforeCounting }: CountTokensParts,
  { provider, model }: CountedTarget,
  { request, principal, signal }: CountedCall<InferenceRequest>,
): Promise<number | undefined> {
  const counter = provider.countTokens
  // Evaluating a request costs more than counting it, so it is evaluated only for an upstream counter.
  if (counter === undefined) return undefined
  const sent = await checkBeforeCounting(principal, request)
  return sent && counter({ request: sent, model, signal }).catch(ignoreFailure)
}

type CountedTarget = { readonly provider: Provider; readonly model: string }

/** Models of several organizations can have the same name. */
const factorKeyOf = ({ name, organizationId }: Model): string =>
  organizationId === undefined ? name : `${organizationId} ${name}`

/** A failure of the upstream's counter is not reported to the caller, because the gateway can count. */
function ignoreFailure(error: unknown): undefined {
  if (isFault(error) && error.code !== 'unsupported_parameter') return undefined
  throw error
}

async function countLocally(
  count: CountTexts,
  { texts, extraTokens }: Countable,
  countCaller: CountCaller,
): Promise<TextCount> {
  const { tokens, method } = await count(texts, countCaller)
  return { tokens: extraTokens + tokens, method }
}

/** Comparisons run one at a time, and share the tokenizer with the organizations as one more caller. */
const learner = { queueKey: 'learner' }

/** From time to time, compares the usage that an upstream reported with the gateway's count, outside of the request's path. */
export function createFactorLearner({ factors, count, clock }: Pick<CountTokensParts, 'factors' | 'count' | 'clock'>) {
  return (model: Model, { operation, request }: Pick<OperationCall, 'operation' | 'request'>, usage: Usage): void => {
    const key = factorKeyOf(model)
    if (usage.source !== 'reported' || !factors.wantsSample(key, clock.nowMs())) return
    countLocally(count, operation.countableOf(request), learner).then(
      ({ tokens, method }) => method !== 'length' && factors.learn(key, tokens, totalInputTokens(usage)),
      () => {}, // a failed sample is skipped
    )
  }
}
