import { isPending, type Eventually } from './eventually.ts'

/** Stands for an item that is still to come. */
export const later = Symbol('later')

/**
 * What comes item by item, for one reader. An item that is at hand is taken in a plain call, through however many hands
 * it goes; a promise is made only where somebody has to wait.
 */
export type Flow<T> = {
  /** The next item; `later` where it is still to come, undefined once there is none. Throws what ended it early. */
  take(): Eventually<T | typeof later | undefined>
  /** Calls, once or more often, when it is worth taking again. To be asked where there was nothing to take. */
  whenMore(wake: () => void): void
  /** Nobody wants the rest. */
  readonly stop?: (() => Promise<unknown>) | undefined
}

/** A flow that can be read like any other iterable too. */
export type Flowing<T> = AsyncIterable<T> & Flow<T>

const finished = { done: true, value: undefined } as const

/** A class: every answer passes several of them, and only the few that are read as iterables need an iterator. */
class FlowIterable<T> implements Flowing<T> {
  readonly take: Flow<T>['take']
  readonly whenMore: Flow<T>['whenMore']
  readonly stop: Flow<T>['stop']

  constructor({ take, whenMore, stop }: Flow<T>) {
    this.take = take
    this.whenMore = whenMore
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

export const flowing = <T>(flow: Flow<T>): Flowing<T> => new FlowIterable(flow)

export const flowOf = <T>(items: AsyncIterable<T>): Flow<T> =>
  items instanceof FlowIterable ? items : flowFrom(items[Symbol.asyncIterator]())

function flowFrom<T>(iterator: AsyncIterator<T>): Flow<T> {
  let asked: Promise<unknown> | undefined
  let answer: (() => T | undefined) | undefined
  return {
    take() {
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
      return later
    },
    whenMore: (wake) => void asked?.then(wake),
    stop: iterator.return === undefined ? undefined : async () => iterator.return?.(),
  }
}

/** Settles when it is worth taking again. */
export const more = (flow: Pick<Flow<unknown>, 'whenMore'>): Promise<void> =>
  new Promise((resolve) => flow.whenMore(resolve))

/** The next item, waited for where it is still to come; undefined once there is none. */
export async function nextOf<T>(flow: Flow<T>): Promise<T | undefined> {
  for (;;) {
    const taken = flow.take()
    const item = isPending(taken) ? await taken : taken
    if (item !== later) return item
    await more(flow)
  }
}

/** The same flow with an item in front that was taken from it before. */
export function startingWith<T>(first: T, rest: Flow<T>): Flowing<T> {
  let isFirst = true
  const take = (): ReturnType<typeof rest.take> => {
    if (!isFirst) return rest.take()
    isFirst = false
    return first
  }
  return flowing({ take, whenMore: rest.whenMore })
}

/** The same flow, each item changed or looked at as it is taken; `onFailure` answers to what ends it early. */
export function watched<T>(
  items: AsyncIterable<T>,
  watch: (item: T) => Eventually<T>,
  onFailure: (error: unknown) => Promise<never>,
): Flowing<T> {
  const source = flowOf(items)
  const look = (taken: T | typeof later | undefined): Eventually<T | typeof later | undefined> =>
    taken === later || taken === undefined ? taken : watch(taken)
  const take = (): Eventually<T | typeof later | undefined> => {
    let taken
    try {
      taken = source.take()
    } catch (error) {
      return onFailure(error)
    }
    return isPending(taken) ? taken.then(look, onFailure) : look(taken)
  }
  return flowing({ take, whenMore: source.whenMore })
}
