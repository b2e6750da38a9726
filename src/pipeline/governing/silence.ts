import type { Clock } from '../../base/clock.ts'

/** Stands between two pieces where nothing came for a while. */
export const silence = Symbol('silence')

/** Short enough not to be noticed by a reader, long enough not to be met between two tokens. */
const silenceMs = 100

/** Somebody who wants to be called when nothing has come for the usual while. */
export type Waiting = { dueMs: number; readonly callback: () => void }

/** One timer for all who wait: they wait equally long, so whoever began first is the first to be called. */
export type Silences = {
  /** The wait begins now, or anew. */
  begin(waiting: Waiting): void
  end(waiting: Waiting): void
}

export function createSilences(clock: Clock): Silences {
  const all = new Set<Waiting>()
  let isArmed = false

  function arm(): void {
    const [first] = all
    if (first === undefined) return
    isArmed = true
    clock.after(Math.max(0, first.dueMs - clock.monotonicMs()), callDue)
  }

  function callDue(): void {
    isArmed = false
    const nowMs = clock.monotonicMs()
    for (const waiting of all) {
      if (waiting.dueMs > nowMs) break
      all.delete(waiting)
      waiting.callback()
    }
    arm()
  }

  return {
    begin(waiting) {
      waiting.dueMs = clock.monotonicMs() + silenceMs
      all.delete(waiting)
      all.add(waiting)
      if (!isArmed) arm()
    },
    end: (waiting) => void all.delete(waiting),
  }
}

/** The next of what is being read, or word of a silence before it where somebody waits for more. */
export type Heard<T> = IteratorResult<T> | typeof silence

export type Listener<T> = (isAwaited: boolean) => Promise<Heard<T>>

export function createListener<T>(pieces: AsyncIterable<T>, silences: Silences): Listener<T> {
  const source = pieces[Symbol.asyncIterator]()
  let asked: Promise<IteratorResult<T>>
  /** What was asked for before a silence is still to come. */
  let isLate = false
  let answer: (heard: Heard<T>) => void
  const waiting: Waiting = {
    dueMs: 0,
    callback() {
      isLate = true
      answer(silence)
    },
  }
  const arrive = (step: IteratorResult<T>): void => {
    silences.end(waiting)
    answer(step)
  }
  return (isAwaited) => {
    if (!isLate) asked = source.next()
    if (isLate || !isAwaited) {
      isLate = false
      return asked
    }
    return new Promise((resolve, reject) => {
      answer = resolve
      silences.begin(waiting)
      asked.then(arrive, reject)
    })
  }
}
