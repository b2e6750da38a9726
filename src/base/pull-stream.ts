import { isPromise, type MaybePromise } from './maybe-promise.ts'

/** Returned by `poll` if no item is buffered yet. */
export const pending = Symbol('pending')

/**
 * A single-consumer pull stream. Buffered items pass through every stage synchronously; a promise is created only when a
 * stage has to wait.
 */
export type PullStream<T> = {
  /** The next item, `pending` if none is buffered, or undefined at the end. Throws the error that ended the stream. */
  poll(): MaybePromise<T | typeof pending | undefined>
  /** Calls back, once or more often, when polling is worthwhile again. Use it after `poll` returned `pending`. */
  onReadable(wake: () => void): void
  /** Ends the stream before its end, because the consumer needs no more items. */
  readonly stop?: (() => Promise<unknown>) | undefined
}

/** A pull stream that can also be read with `for await`. */
export type IterablePullStream<T> = AsyncIterable<T> & PullStream<T>

const finished = { done: true, value: undefined } as const

/** A class, so that no iterator is allocated for the many streams that are only polled. */
class IterableStream<T> implements IterablePullStream<T> {
  readonly poll: PullStream<T>['poll']
  readonly onReadable: PullStream<T>['onReadable']
  readonly stop: PullStream<T>['stop']

  constructor({ poll, onReadable, stop }: PullStream<T>) {
    this.poll = poll
    this.onReadable = onReadable
    this.stop = stop
  }

  [Symbol.asyncIterator](): AsyncIterator<T, undefined> {
    return {
      next: async () => {
        const value = await nextOf(this)
        return value === undefined ? finished : { done: false, value }
      },
      return: async () => {
        await this.stop?.()
        return finished
      },
    }
  }
}

export const iterable = <T>(stream: PullStream<T>): IterablePullStream<T> => new IterableStream(stream)

export const pullStreamOf = <T>(items: AsyncIterable<T>): PullStream<T> =>
  items instanceof IterableStream ? items : pullStreamFrom(items[Symbol.asyncIterator]())

function pullStreamFrom<T>(iterator: AsyncIterator<T>): PullStream<T> {
  let requested: Promise<unknown> | undefined
  let result: (() => T | undefined) | undefined
  return {
    poll() {
      if (result !== undefined) {
        const take = result
        requested = result = undefined
        return take()
      }
      requested ??= iterator.next().then(
        (step) => (result = () => (step.done === true ? undefined : step.value)),
        (error: unknown) =>
          (result = () => {
            throw error
          }),
      )
      return pending
    },
    onReadable: (wake) => void requested?.then(wake),
    stop: iterator.return === undefined ? undefined : async () => iterator.return?.(),
  }
}

/** Resolves when polling is worthwhile again. */
export const readable = (stream: Pick<PullStream<unknown>, 'onReadable'>): Promise<void> =>
  new Promise((resolve) => stream.onReadable(resolve))

/** Waits for the next item; undefined at the end. */
export async function nextOf<T>(stream: PullStream<T>): Promise<T | undefined> {
  for (;;) {
    const taken = stream.poll()
    const item = isPromise(taken) ? await taken : taken
    if (item !== pending) return item
    await readable(stream)
  }
}

/** The same stream with an item in front, for example one that was polled from it to look ahead. */
export function prepend<T>(first: T, rest: PullStream<T>): IterablePullStream<T> {
  let isFirst = true
  const poll = (): ReturnType<typeof rest.poll> => {
    if (!isFirst) return rest.poll()
    isFirst = false
    return first
  }
  return iterable({ poll, onReadable: rest.onReadable })
}

/** Passes each item through `watch`, which may replace it. `onFailure` handles the error that ends the stream early. */
export function tap<T>(
  items: AsyncIterable<T>,
  watch: (item: T) => MaybePromise<T>,
  onFailure: (error: unknown) => Promise<never>,
): IterablePullStream<T> {
  const source = pullStreamOf(items)
  const watchItem = (taken: T | typeof pending | undefined): MaybePromise<T | typeof pending | undefined> =>
    taken === pending || taken === undefined ? taken : watch(taken)
  const poll = (): MaybePromise<T | typeof pending | undefined> => {
    let taken
    try {
      taken = source.poll()
    } catch (error) {
      return onFailure(error)
    }
    return isPromise(taken) ? taken.then(watchItem, onFailure) : watchItem(taken)
  }
  return iterable({ poll, onReadable: source.onReadable })
}
