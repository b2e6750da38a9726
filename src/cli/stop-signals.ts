import { repeat, systemClock, type Clock } from '../base/clock.ts'
import type { Environment } from '../config/config.ts'
import packageFile from '../../package.json' with { type: 'json' }

/** A terminal and a service manager signal all processes, and npm passes on what it got: what comes so soon is the same. */
const sameSignalMs = 1_000

/** Read before the start: npm may end while the storage is opened. */
const parentAtStart = process.ppid

export type StopSignals = {
  /** Resolves when the server is asked to stop. */
  readonly first: Promise<void>
  /** Resolves when it is asked again, which means at once. */
  readonly second: Promise<void>
}

/** The first SIGTERM or Ctrl-C asks to stop, and so does the end of the npm that started the server. */
export function listenForStop(env: Environment): StopSignals {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  let firstAtMs: number | undefined
  const onSignal = (): void => {
    if (firstAtMs !== undefined && performance.now() - firstAtMs > sameSignalMs) second.resolve()
    firstAtMs ??= performance.now()
    first.resolve()
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  watchNpm(env, { clock: systemClock, isGone: () => process.ppid !== parentAtStart, onGone: () => first.resolve() })
  return { first: first.promise, second: second.promise }
}

export type ParentWatch = {
  readonly clock: Clock
  readonly isGone: () => boolean
  readonly onGone: () => void
}

const watchEveryMs = 500

/**
 * npm passes SIGTERM and SIGINT on, but it cannot pass on what kills it. The system then gives the server another parent.
 * Only the scripts of this package are watched, because their `exec` makes npm itself the parent. Any other parent may be
 * a shell that starts a service and ends, as a deployment script does that npm runs.
 */
export function watchNpm(env: Environment, { clock, isGone, onGone }: ParentWatch): void {
  const { start, gatehouse } = packageFile.scripts
  const script = env['npm_lifecycle_script']
  if (script !== start && script !== gatehouse) return
  const watch = repeat(clock, async () => isGone() && end(), watchEveryMs)
  const end = (): void => {
    watch[Symbol.dispose]()
    onGone()
  }
}
