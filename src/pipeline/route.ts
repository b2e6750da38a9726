import type { Clock } from '../base/clock.ts'
import { Fault, isFault, isUpstreamFault } from '../base/fault.ts'
import { pullStreamOf, nextOf, prepend } from '../base/pull-stream.ts'
import type { Random } from '../base/random.ts'
import type { SpanContext } from '../base/span-context.ts'
import type { Model, ModelTarget } from '../domain/inference/catalogue.ts'
import type { Chunk } from '../domain/inference/events.ts'
import type { UpstreamHealth } from '../domain/inference/health.ts'
import type { Provider, ProviderCall } from '../domain/inference/provider.ts'
import type { ModelRequest } from '../domain/inference/request.ts'
import type { Operation } from './operation.ts'

export type RouteParts = {
  readonly providers: ReadonlyMap<string, Provider>
  readonly health: UpstreamHealth
  readonly clock: Clock
  readonly random: Random
  /**
   * Called for each failed call, also if another target then answers, and for a call that the upstream rejected without a
   * reason: the caller cannot see what is wrong, and it may be the configuration.
   */
  readonly onFailedCall: (target: ModelTarget, fault: Fault) => void
}

/** An answer whose first chunk has arrived. Disposing of it stops the upstream call. */
export type StartedAnswer = AsyncDisposable & { readonly target: ModelTarget; readonly chunks: AsyncIterable<Chunk> }

/** A call without the fields that depend on the target. */
export type RoutedCall = Omit<ProviderCall<ModelRequest>, 'model' | 'mayQueue' | 'span'> & {
  readonly operation: Operation
  /** Called before each attempt of this call. Returns the span that the upstream continues. */
  readonly onAttempt?: (target: ModelTarget) => SpanContext | undefined
  /** Called for each failed attempt of this call. */
  readonly onFailedAttempt?: (target: ModelTarget, fault: Fault) => void
}

const retryPauseMs = 250

/**
 * Tries the model's targets in order until one has sent its first chunk. A failure before that can still be answered with an
 * error status. Targets in cooldown are skipped unless all are in cooldown. The last target is called twice, and the call
 * may wait in its queue.
 */
export async function route(parts: RouteParts, model: Model, call: RoutedCall): Promise<StartedAnswer> {
  if (model.targets.length === 0) throw upstreamsPaused(model.name)
  const targets = availableTargets(parts.health, model)
  let last: Fault | undefined
  let left = targets.length
  for (const target of targets) {
    const isLast = --left === 0
    for (let attempts = isLast ? 2 : 1; attempts > 0; attempts--) {
      const span = call.onAttempt?.(target)
      try {
        return await start(parts, target, { ...call, model: target.model, mayQueue: isLast, span })
      } catch (error) {
        if (!isUpstreamFault(error) || call.signal.aborted) throw error
        last = error
        parts.onFailedCall(target, error)
        call.onFailedAttempt?.(target, error)
        if (attempts > 1 && !isWorthRetrying(error)) break
        if (attempts > 1) await pause(parts, call.signal)
      }
    }
  }
  throw last ?? new Fault('upstream_failed', 'upstream_error', `No upstream serves ${model.name}.`)
}

/** Targets of paused upstreams are left out of the catalogue. */
const upstreamsPaused = (name: string): Fault =>
  new Fault('unavailable', 'upstream_paused', `Every upstream of the model ${name} is paused. Use another model.`, {
    isPermanent: true,
  })

/** All targets if all are in cooldown. A model with one target needs no choice. */
function availableTargets(health: UpstreamHealth, { targets }: Model): readonly ModelTarget[] {
  if (targets.length === 1) return targets
  const available = targets.filter((target) => !health.isCoolingDown(target.upstream))
  return available.length > 0 ? available : targets
}

type TargetCall = ProviderCall<ModelRequest> & Pick<RoutedCall, 'operation'>

async function start(parts: RouteParts, target: ModelTarget, call: TargetCall): Promise<StartedAnswer> {
  const provider = parts.providers.get(target.upstream)
  if (!provider) throw new Fault('upstream_failed', 'upstream_error', 'The upstream of this model is not configured.')
  const startedAtMs = parts.clock.monotonicMs()
  const chunks = pullStreamOf(call.operation.start(provider, call))
  try {
    const first = await nextOf(chunks)
    if (first === undefined) throw new Fault('upstream_failed', 'upstream_error', 'The upstream gave no answer.')
    parts.health.succeeded(target.upstream, parts.clock.monotonicMs() - startedAtMs)
    const stop = async (): Promise<void> => void (await chunks.stop?.())
    return { target, chunks: prepend(first, chunks), [Symbol.asyncDispose]: stop }
  } catch (error) {
    if (isUpstreamFault(error)) parts.health.failed(target.upstream, error.code)
    else if (isFault(error) && error.details.isUnexplained) parts.onFailedCall(target, error)
    throw error
  }
}

/** Whether to wait for an upstream that is overloaded or timed out is left to the caller. */
const isWorthRetrying = ({ kind, details }: Fault): boolean => kind === 'upstream_failed' && !details.isPermanent

function pause({ clock, random }: RouteParts, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(random.fraction() * retryPauseMs, done)
    signal.addEventListener('abort', done)
  })
}
