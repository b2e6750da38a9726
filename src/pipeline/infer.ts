import { createDisposables } from '../base/disposables.ts'
import { isPromise, type MaybePromise } from '../base/maybe-promise.ts'
import { isFault } from '../base/fault.ts'
import type { StorageHealth } from '../base/storage-health.ts'
import type { Rates } from '../domain/credits/rates.ts'
import type { FreeRequests } from '../domain/identity/free-request.ts'
import type { Caller } from '../domain/identity/principal.ts'
import type { Catalogue, Model, Price, ModelTarget } from '../domain/inference/catalogue.ts'
import { estimateInputTokens } from '../domain/inference/count.ts'
import type { Chunk, Quote, Receipt, Usage } from '../domain/inference/events.ts'
import { usageBounds } from '../domain/inference/plausible-usage.ts'
import type { InferenceRequest } from '../domain/inference/request.ts'
import type { Admitted } from '../domain/limits/admission.ts'
import { withLimitStatus } from '../domain/limits/limited-fault.ts'
import type { Admission, AdmissionCall } from './billing/admission.ts'
import type { InferenceCall } from './inference-call.ts'
import { countRejected } from './billing/count-rejected.ts'
import type { Estimate, Enforce, EnforcedRequest } from './enforcement/enforce.ts'
import { freeLease, type Charged, type Lease } from './billing/lease.ts'
import { meter } from './billing/meter.ts'
import { permittedModel } from './permitted-model.ts'
import { route, type RouteParts } from './route.ts'

export type InferParts = RouteParts & {
  readonly catalogue: Catalogue
  readonly storage: Pick<StorageHealth, 'refusal'>
  readonly admission: Admission
  readonly enforce: Enforce
  readonly ratesOf: (price: Price) => Rates
  readonly creditUsd: number
  readonly freeRequests: FreeRequests
  readonly freeOutputTokens: number
  /** Told what the upstream counted, so that our own counts get better. */
  readonly learnFactor: (model: string, request: InferenceRequest, usage: Usage) => void
  /** Told of an upstream that reports more than a request can have used. */
  readonly onImplausibleUsage: (report: ImplausibleReport) => void
}

export type ImplausibleReport = ModelTarget & { readonly requestId: string; readonly usage: Usage }

/** An answer on its way. It owns what was borrowed for it: dispose of it, read or unread, and all goes back. */
export type InferenceAnswer = AsyncDisposable & {
  readonly model: string
  readonly upstream: string
  /** Whoever lets the end out pays for it first: it has no receipt yet. */
  readonly pieces: AsyncIterable<Chunk>
  readonly bill: Bill
  /** What could not be carried over to the upstream, in the caller's words. */
  readonly dropped: ReadonlySet<string>
  /** Where its caller's limits stand; null for the free request. */
  readonly verdict: Admitted | null
}

/** What an answer costs, and how it is paid for. */
export type Bill = {
  quote(usage: Usage): Quote
  pay(usage: Usage): Promise<Receipt>
  /** Instead of paying, for an answer whose end is kept back: it costs nothing, whatever its caller does next. */
  waive(usage: Usage): Promise<void>
  /** What was charged for an answer that is over, also one that was interrupted. */
  charged(): Charged | undefined
}

export type Infer = (asking: InferenceCall) => Promise<InferenceAnswer>

const done = Promise.resolve()

/** The road of an inference request, from a known caller to an answer that has begun. */
export function createInfer(parts: InferParts): Infer {
  return async (asking) => {
    const { requestId, caller, request, signal } = asking
    // An answer whose charge and event can be kept nowhere is not given out, so its upstream is not paid for it either.
    const refusal = parts.storage.refusal()
    if (refusal) throw refusal
    const found = countRejected(parts.admission, caller, () => permittedModel(parts.catalogue, caller, request.model))
    const model = isPromise(found) ? await found : found
    const dropped = new Set<string>()
    const expected = expectedUsage(request)
    const askedOutputTokens = outputCap(asking, model, parts.freeOutputTokens)
    const borrowed = createDisposables()
    let verdict: Admitted | null = null
    try {
      const freePlace = caller.kind === 'free' ? borrowed.use(await parts.freeRequests.claim(caller)) : undefined
      const lease = borrowed.use(
        await leaseFor(parts, caller, { requestId, model, expected, maxOutputTokens: askedOutputTokens, signal }),
      )
      verdict = lease.verdict
      const ready = asking.beforeModels?.()
      if (isPromise(ready)) await ready
      const estimate = { expected, maxOutputTokens: Math.min(askedOutputTokens, model.contextTokens) }
      const enforced = borrowed.use(await permitted(parts.enforce, asking, { ...estimate, lease }))
      const maxOutputTokens = Math.min(askedOutputTokens, enforced.maxOutputTokens)
      const onDropped = (what: string): void => void dropped.add(what)
      const call = { request: enforced.request, maxOutputTokens, requestId, signal, onDropped }
      const begun = borrowed.use(await route(parts, model, call).catch(enforced.fail))
      freePlace?.keep()
      const onEnd = (usage: Usage): void => parts.learnFactor(model.name, request, usage)
      const onImplausible = (usage: Usage): void => parts.onImplausibleUsage({ requestId, ...begun.target, usage })
      const bounds = usageBounds({ model, request, expected, maxOutputTokens })
      const metered = borrowed.use(meter(begun.pieces, { lease, expected, bounds, signal, onEnd, onImplausible }))
      let isPaid = false
      const pay = async (usage: Usage): Promise<Receipt> => {
        const receipt = await lease.settle('answered', usage)
        isPaid = true
        return receipt
      }
      // An answer that is paid for has given everything back by itself.
      const giveBack = (): Promise<void> => (isPaid ? done : borrowed.dispose())
      return {
        model: model.name,
        upstream: begun.target.upstream,
        pieces: enforced.guard(metered, async () => begun[Symbol.asyncDispose]()),
        bill: { quote: lease.quote, pay, waive: (usage) => lease.giveUp('broken_off', usage), charged: lease.charged },
        dropped,
        verdict,
        [Symbol.asyncDispose]: giveBack,
      }
    } catch (error) {
      await borrowed.dispose()
      throw verdict !== null && isFault(error) ? withLimitStatus(error, verdict.limitStatus) : error
    }
  }
}

/** A request that the checks stop has used nothing but its place and its input. */
async function permitted(
  enforce: Enforce,
  asking: InferenceCall,
  { lease, expected, maxOutputTokens }: Estimate & { lease: Lease },
): Promise<EnforcedRequest> {
  try {
    return await enforce(asking, { expected, maxOutputTokens })
  } catch (error) {
    if (isFault(error) && (error.kind === 'moderation' || error.kind === 'policy'))
      await lease.giveUp('blocked', expected)
    throw error
  }
}

function leaseFor(
  { admission, ratesOf, creditUsd }: InferParts,
  caller: Caller,
  asked: Omit<AdmissionCall, 'principal'>,
): MaybePromise<Lease> {
  if (caller.kind === 'free') return freeLease(ratesOf(asked.model.price), creditUsd)
  return admission.admit({ ...asked, principal: caller })
}

function outputCap({ request, caller }: InferenceCall, model: Model, freeOutputTokens: number): number {
  const asked = request.maxOutputTokens ?? model.maxOutputTokens
  return caller.kind === 'free' ? Math.min(asked, freeOutputTokens) : asked
}

/** What is held for a request, and what clients show from its first event, long before the upstream has counted. */
const expectedUsage = (request: InferenceRequest): Usage => ({
  inputTokens: estimateInputTokens(request),
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  source: 'estimated',
})
