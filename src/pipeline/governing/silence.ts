import type { Clock } from '../../base/clock.ts'

/** Stands between two pieces where nothing came for a while. */
export const silence = Symbol('silence')

/** Short enough not to be noticed by a reader, long enough not to be met between two tokens. */
const silenceMs = 100

/** The same pieces, with word of a silence wherever somebody is waiting for more. */
export async function* withSilences<T>(
  pieces: AsyncIterable<T>,
  isAwaited: () => boolean,
  clock: Clock,
): AsyncGenerator<T | typeof silence, void> {
  const source = pieces[Symbol.asyncIterator]()
  let next = source.next()
  for (;;) {
    if (isAwaited() && (await isSilent(next, clock))) yield silence
    const step = await next
    if (step.done === true) return
    yield step.value
    next = source.next()
  }
}

function isSilent(next: Promise<unknown>, clock: Clock): Promise<boolean> {
  return new Promise((resolve) => {
    const cancel = clock.after(silenceMs, () => resolve(true))
    const arrived = (): void => {
      cancel()
      resolve(false)
    }
    next.then(arrived, arrived)
  })
}
