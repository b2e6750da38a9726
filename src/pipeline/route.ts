import type { Clock } from '../base/clock.ts'
import { Fault, isUpstreamFault } from '../base/fault.ts'
import { pullStreamOf, nextOf, prepend } from '../base/pull-stream.ts'
import type { Random } from '../base/random.ts'
import type { Model, ModelTarget } from '../domain/inference/catalogue.ts'
import type { Chunk } from '../domain/inference/events.ts'
import type { UpstreamHealth } from '../domain/inference/health.ts'
import type { Provider, ProviderCall } from '../domain/inference/provider.ts'

export type RouteParts = {
  readonly providers: ReadonlyMap<string, Provider>
  readonly health: UpstreamHealth
  readonly clock: Clock
  readonly random: Random
  /** Told of each call that failed, whether or not another target then answered. */
  readonly onFailedCall: (target: ModelTarget, fault: Fault) => void
}

/** An upstream that has begun to answer. Disposing of it stops the call. */
export type StartedAnswer = AsyncDisposable & { readonly target: ModelTarget; readonly pieces: AsyncIterable<Chunk> }

const retryPauseMs = 250

/**
 * Tries the model's targets in order until one has begun to answer: its first piece is in hand, so that a failure
 * before it is still a clean status. Resting upstreams are left out unless all rest. The last one gets a second chance.
 */
export async function route(
  parts: RouteParts,
  model: Model,
  call: Omit<ProviderCall, 'model'>,
): Promise<StartedAnswer> {
  const awake = model.targets.filter((target) => !parts.health.isCoolingDown(target.upstream))
  const targets = awake.length > 0 ? awake : model.targets
  let last: Fault | undefined
  for (const [at, target] of targets.entries()) {
    const isLast = at === targets.length - 1
    for (let chance = isLast ? 2 : 1; chance > 0; chance--) {
      try {
        return await begin(parts, target, call)
      } catch (error) {
        if (!isUpstreamFault(error) || call.signal.aborted) throw error
        last = error
        parts.onFailedCall(target, error)
        if (chance > 1 && !worthRetrying(error)) break
        if (chance > 1) await pause(parts, call.signal)
      }
    }
  }
  throw last ?? new Fault('upstream_failed', 'upstream_error', `No upstream serves ${model.name}.`)
}

async function begin(
  parts: RouteParts,
  target: ModelTarget,
  call: Omit<ProviderCall, 'model'>,
): Promise<StartedAnswer> {
  const provider = parts.providers.get(target.upstream)
  if (!provider) throw new Fault('upstream_failed', 'upstream_error', 'The upstream of this model is not configured.')
  const pieces = pullStreamOf(provider.infer({ ...call, model: target.model }))
  try {
    const first = await nextOf(pieces)
    if (first === undefined) throw new Fault('upstream_failed', 'upstream_error', 'The upstream gave no answer.')
    parts.health.succeeded(target.upstream)
    const stop = async (): Promise<void> => void (await pieces.stop?.())
    return { target, pieces: prepend(first, pieces), [Symbol.asyncDispose]: stop }
  } catch (error) {
    if (isUpstreamFault(error)) parts.health.failed(target.upstream)
    throw error
  }
}

/** Waiting out an overload or a time-out is the caller's choice, not ours. */
const worthRetrying = ({ kind }: Fault): boolean => kind === 'upstream_failed'

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
