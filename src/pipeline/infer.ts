import type { Catalogue, Model } from '../domain/inference/catalogue.ts'
import type { InferenceEvent, Piece, Receipt, Usage } from '../domain/inference/events.ts'
import { costMicroUsd } from '../domain/inference/price.ts'
import type { InferenceRequest } from '../domain/inference/request.ts'
import { estimateInputTokens } from '../domain/inference/count.ts'
import type { FreeRequests } from '../domain/identity/free-request.ts'
import type { Caller } from '../domain/identity/principal.ts'
import { permittedModel } from './permitted-model.ts'
import { route, type RouteParts } from './route.ts'

export type InferParts = RouteParts & {
  readonly catalogue: Catalogue
  readonly creditUsd: number
  readonly freeRequests: FreeRequests
  readonly freeOutputTokens: number
  /** Told what the upstream counted, so that our own counts get better. */
  readonly learnFactor: (model: string, request: InferenceRequest, usage: Usage) => void
}

export type Asking = {
  readonly requestId: string
  readonly caller: Caller
  readonly request: InferenceRequest
  /** Where the request came from. */
  readonly origin?: { readonly address: string; readonly userAgent?: string | undefined }
  /** Aborted when the caller hangs up. */
  readonly signal: AbortSignal
}

/** An answer on its way. It owns what was borrowed for it: dispose of it, read or unread, and all goes back. */
export type Answer = AsyncDisposable & {
  readonly model: string
  readonly upstream: string
  readonly pieces: AsyncIterable<Piece>
  /** What could not be carried over to the upstream, in the caller's words. */
  readonly dropped: ReadonlySet<string>
}

export type Infer = (asking: Asking) => Promise<Answer>

/** The road of an inference request, from a known caller to an answer that has begun. */
export function createInfer(parts: InferParts): Infer {
  return async ({ requestId, caller, request, signal }) => {
    const model = permittedModel(parts.catalogue, caller, request.model)
    const dropped = new Set<string>()
    await using owned = new AsyncDisposableStack()
    const freePlace = caller.kind === 'free' ? owned.use(await parts.freeRequests.claim(caller)) : undefined
    const begun = owned.use(
      await route(parts, model, {
        request,
        maxOutputTokens: outputCap(request, model, caller, parts.freeOutputTokens),
        requestId,
        signal,
        onDropped: (what) => dropped.add(what),
      }),
    )
    freePlace?.keep()
    const inputEstimate = estimateInputTokens(request)
    const pieces = mapEvents(begun.pieces, (event) => {
      if (event.type === 'start') return { ...event, usage: event.usage ?? expected(inputEstimate) }
      if (event.type !== 'end') return event
      parts.learnFactor(model.name, request, event.usage)
      return { ...event, receipt: receiptOf(event.usage, model, parts.creditUsd) }
    })
    const kept = owned.move()
    return {
      model: model.name,
      upstream: begun.target.upstream,
      pieces,
      dropped,
      [Symbol.asyncDispose]: () => kept.disposeAsync(),
    }
  }
}

function outputCap(request: InferenceRequest, model: Model, caller: Caller, freeOutputTokens: number): number {
  const asked = request.maxOutputTokens ?? model.maxOutputTokens
  return caller.kind === 'free' ? Math.min(asked, freeOutputTokens) : asked
}

/** Clients show the input count from the first event, long before the upstream has counted. */
const expected = (inputTokens: number): Usage => ({
  inputTokens,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  outputTokens: 0,
  reasoningTokens: 0,
  source: 'estimated',
})

function receiptOf(usage: Usage, model: Model, creditUsd: number): Receipt {
  const microUsd = costMicroUsd(usage, model.price)
  return { creditsUsed: Math.ceil(microUsd / (creditUsd * 1e6)), costUsd: microUsd / 1e6, remainingCredits: null }
}

function mapEvents(pieces: AsyncIterable<Piece>, map: (event: InferenceEvent) => InferenceEvent): AsyncIterable<Piece> {
  const mapped = (piece: Piece): Piece => ({ ...piece, events: piece.events.map(map) })
  return {
    [Symbol.asyncIterator]() {
      const iterator = pieces[Symbol.asyncIterator]()
      return {
        async next() {
          const step = await iterator.next()
          return step.done === true ? step : { done: false, value: mapped(step.value) }
        },
      }
    },
  }
}
