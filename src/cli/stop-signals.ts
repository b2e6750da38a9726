import { repeat, systemClock, type Clock } from '../base/clock.ts'
import type { Environment } from '../config/config.ts'
import type { OwnWorker } from './workers/join.ts'
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

/** SIGTERM, Ctrl-C and the end of the npm or of the supervisor that started the server stop it. */
export function listenForStop(env: Environment, worker?: Pick<OwnWorker, 'onSupervisorGone'>): StopSignals {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  let firstAtMs: number | undefined
  const onSignal = (): void => {
    if (firstAtMs !== undefined && performance.now() - firstAtMs > duplicateWithinMs) second.resolve()
    firstAtMs ??= performance.now()
    first.resolve()
  }
  process.on('SIGTERM', onSignal).on('SIGINT', onSignal)
  worker?.onSupervisorGone(onSignal)
  watchNpm(env, { clock: systemClock, isGone: () => process.ppid !== parentAtStart, onGone: () => first.resolve() })
  return { first: first.promise, second: second.promise }
}

export type ParentWatch = {
  readonly clock: Clock
  readonly isGone: () => boolean
  readonly onGone: () => void
}

const checkEveryMs = 500

/** The npm package has no scripts. */
const scripts: readonly string[] =
  'scripts' in packageFile ? [packageFile.scripts.start, packageFile.scripts.gatehouse] : []

/** npx starts the command in a shell, and a signal to npx ends only the shell. npm quotes the name of the command. */
function isStartedByNpm({ npm_lifecycle_event: event, npm_lifecycle_script: script }: Environment): boolean {
  if (script === undefined) return false
  return event === 'npx' ? script.replaceAll(/['"]/g, '') === 'gatehouse' : scripts.includes(script)
}

/**
 * Detects that npm was killed. npm forwards SIGTERM and SIGINT, but it cannot forward SIGKILL; the kernel then gives the
 * server another parent. Only npx and the scripts of this project are watched: their parent is npm or a shell that npm waits for.
 * Any other parent may be a shell that starts the service and ends, such as a deployment script that npm runs.
 */
export function watchNpm(env: Environment, { clock, isGone, onGone }: ParentWatch): void {
  if (!isStartedByNpm(env)) return
  const watch = repeat(clock, async () => isGone() && end(), checkEveryMs)
  const end = (): void => {
    watch[Symbol.dispose]()
    onGone()
  }
}
