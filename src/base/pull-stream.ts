import { isPromise, type MaybePromise } from './maybe-promise.ts'

/** Stands for an item that is still to come. */
export const pending = Symbol('later')

/**
 * What comes item by item, for one reader. An item that is at hand is taken in a plain call, through however many hands
 * it goes; a promise is made only where somebody has to wait.
 */
export type PullStream<T> = {
  /** The next item; `later` where it is still to come, undefined once there is none. Throws what ended it early. */
  poll(): MaybePromise<T | typeof pending | undefined>
  /** Calls, once or more often, when it is worth taking again. To be asked where there was nothing to poll. */
  onReadable(wake: () => void): void
  /** Nobody wants the rest. */
  readonly stop?: (() => Promise<unknown>) | undefined
}

/** A flow that can be read like any other iterable too. */
export type IterablePullStream<T> = AsyncIterable<T> & PullStream<T>

const finished = { done: true, value: undefined } as const

/** A class: every answer passes several of them, and only the few that are read as iterables need an iterator. */
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

export const iterable = <T>(flow: PullStream<T>): IterablePullStream<T> => new IterableStream(flow)

export const pullStreamOf = <T>(items: AsyncIterable<T>): PullStream<T> =>
  items instanceof IterableStream ? items : pullStreamFrom(items[Symbol.asyncIterator]())

function pullStreamFrom<T>(iterator: AsyncIterator<T>): PullStream<T> {
  let asked: Promise<unknown> | undefined
  let answer: (() => T | undefined) | undefined
  return {
    poll() {
      if (answer !== undefined) {
        const given = answer
        asked = answer = undefined
        return given()
      }
      asked ??= iterator.next().then(
        (step) => (answer = () => (step.done === true ? undefined : step.value)),
        (error: unknown) =>
          (answer = () => {
            throw error
          }),
      )
      return pending
    },
    onReadable: (wake) => void asked?.then(wake),
    stop: iterator.return === undefined ? undefined : async () => iterator.return?.(),
  }
}

/** Settles when it is worth taking again. */
export const readable = (flow: Pick<PullStream<unknown>, 'onReadable'>): Promise<void> =>
  new Promise((resolve) => flow.onReadable(resolve))

/** The next item, waited for where it is still to come; undefined once there is none. */
export async function nextOf<T>(flow: PullStream<T>): Promise<T | undefined> {
  for (;;) {
    const taken = flow.poll()
    const item = isPromise(taken) ? await taken : taken
    if (item !== pending) return item
    await readable(flow)
  }
}

/** The same flow with an item in front that was taken from it before. */
export function prepend<T>(first: T, rest: PullStream<T>): IterablePullStream<T> {
  let isFirst = true
  const poll = (): ReturnType<typeof rest.poll> => {
    if (!isFirst) return rest.poll()
    isFirst = false
    return first
  }
  return iterable({ poll: poll, onReadable: rest.onReadable })
}

/** The same flow, each item changed or looked at as it is taken; `onFailure` answers to what ends it early. */
export function tap<T>(
  items: AsyncIterable<T>,
  watch: (item: T) => MaybePromise<T>,
  onFailure: (error: unknown) => Promise<never>,
): IterablePullStream<T> {
  const source = pullStreamOf(items)
  const look = (taken: T | typeof pending | undefined): MaybePromise<T | typeof pending | undefined> =>
    taken === pending || taken === undefined ? taken : watch(taken)
  const poll = (): MaybePromise<T | typeof pending | undefined> => {
    let taken
    try {
      taken = source.poll()
    } catch (error) {
      return onFailure(error)
    }
    return isPromise(taken) ? taken.then(look, onFailure) : look(taken)
  }
  return iterable({ poll: poll, onReadable: source.onReadable })
}
