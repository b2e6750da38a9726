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

/** The streams of a request are classes, because an object with closures of its own costs a request ten times the memory. */
export abstract class IterableStream<T> implements IterablePullStream<T> {
  abstract poll(): MaybePromise<T | typeof pending | undefined>
  abstract onReadable(wake: () => void): void
  stop?(): Promise<unknown>

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

class WrappedStream<T> extends IterableStream<T> {
  readonly stream: PullStream<T>

  constructor(stream: PullStream<T>) {
    super()
    this.stream = stream
  }

  override poll(): MaybePromise<T | typeof pending | undefined> {
    return this.stream.poll()
  }

  override onReadable(wake: () => void): void {
    this.stream.onReadable(wake)
  }

  override async stop(): Promise<unknown> {
    return this.stream.stop?.()
  }
}

export const iterable = <T>(stream: PullStream<T>): IterablePullStream<T> => new WrappedStream(stream)

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
export const prepend = <T>(first: T, rest: PullStream<T>): IterablePullStream<T> => new PrependedStream(first, rest)

class PrependedStream<T> extends IterableStream<T> {
  first: T | undefined
  readonly rest: PullStream<T>

  constructor(first: T, rest: PullStream<T>) {
    super()
    this.first = first
    this.rest = rest
  }

  override poll(): MaybePromise<T | typeof pending | undefined> {
    const { first } = this
    if (first === undefined) return this.rest.poll()
    this.first = undefined
    return first
  }

  override onReadable(wake: () => void): void {
    this.rest.onReadable(wake)
  }
}

/** Passes each item through `watch`, which may replace it. `onFailure` handles the error that ends the stream early. */
export const tap = <T>(items: AsyncIterable<T>, watch: Watch<T>, onFailure: OnFailure): IterablePullStream<T> =>
  new TappedStream(pullStreamOf(items), watch, onFailure)

type Watch<T> = (item: T) => MaybePromise<T>
type OnFailure = (error: unknown) => Promise<never>

class TappedStream<T> extends IterableStream<T> {
  readonly source: PullStream<T>
  readonly watch: Watch<T>
  readonly onFailure: OnFailure

  constructor(source: PullStream<T>, watch: Watch<T>, onFailure: OnFailure) {
    super()
    this.source = source
    this.watch = watch
    this.onFailure = onFailure
  }

  override poll(): MaybePromise<T | typeof pending | undefined> {
    let taken
    try {
      taken = this.source.poll()
    } catch (error) {
      return this.onFailure(error)
    }
    return isPromise(taken) ? taken.then((item) => this.#watchItem(item), this.onFailure) : this.#watchItem(taken)
  }

  override onReadable(wake: () => void): void {
    this.source.onReadable(wake)
  }

  #watchItem(taken: T | typeof pending | undefined): MaybePromise<T | typeof pending | undefined> {
    return taken === pending || taken === undefined ? taken : this.watch(taken)
  }
}
