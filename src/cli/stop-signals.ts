import { repeat, systemClock, type Clock } from '../base/clock.ts'
import type { Environment } from '../config/config.ts'
import packageFile from '../../package.json' with { type: 'json' }

/** Signals within this time count as one: a terminal signals every process of its group, and npm forwards its own copy. */
const duplicateWithinMs = 1_000

/** Read when the module loads, because npm may end while the storage is opened. */
const parentAtStart = process.ppid

export type StopSignals = {
  /** Resolves at the first signal. */
  readonly first: Promise<void>
  /** Resolves at a second signal, which stops the server immediately. */
  readonly second: Promise<void>
}

/** SIGTERM, Ctrl-C and the end of the npm that started the server stop it. */
export function listenForStop(env: Environment): StopSignals {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  let firstAtMs: number | undefined
  const onSignal = (): void => {
    if (firstAtMs !== undefined && performance.now() - firstAtMs > duplicateWithinMs) second.resolve()
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

const checkEveryMs = 500

/**
 * Detects that npm was killed. npm forwards SIGTERM and SIGINT, but it cannot forward SIGKILL; the kernel then gives the
 * server another parent. Only the scripts of this package are watched, because their `exec` makes npm itself the parent.
 * Any other parent may be a shell that starts the service and ends, such as a deployment script that npm runs.
 */
export function watchNpm(env: Environment, { clock, isGone, onGone }: ParentWatch): void {
  const { start, gatehouse } = packageFile.scripts
  const script = env['npm_lifecycle_script']
  if (script !== start && script !== gatehouse) return
  const watch = repeat(clock, async () => isGone() && end(), checkEveryMs)
  const end = (): void => {
    watch[Symbol.dispose]()
    onGone()
  }
}
