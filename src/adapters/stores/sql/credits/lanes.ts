import { endOfTurn } from '../../../../base/end-of-turn.ts'
import { DatabaseError } from '../database.ts'

/** Writes what arrived together in one go, and answers each in its place. */
export type WriteAll<In, Out> = (inputs: readonly In[]) => Promise<Out[]>

type Waiting<In, Out> = { readonly input: In; resolve(output: Out): void; reject(error: unknown): void }

/** Bounds how long one step can take. */
const maxTogether = 500

/**
 * Group commit by lane: while a lane's group is being written, what arrives for it forms the next one. Lanes do not wait for
 * one another.
 */
export function createLanes<In, Out>(writeAll: WriteAll<In, Out>) {
  const lanes = new Map<number, Waiting<In, Out>[]>()

  async function drain(lane: number, queue: Waiting<In, Out>[]): Promise<void> {
    while (queue.length > 0) {
      await endOfTurn() // what is ready comes along
      await writeGroup(writeAll, queue.splice(0, maxTogether))
    }
    lanes.delete(lane)
  }

  return (lane: number, input: In): Promise<Out> => {
    const { promise, resolve, reject } = Promise.withResolvers<Out>()
    const waiting = { input, resolve, reject }
    const queue = lanes.get(lane)
    if (queue !== undefined) {
      queue.push(waiting)
    } else {
      const opened = [waiting]
      lanes.set(lane, opened)
      void drain(lane, opened)
    }
    return promise
  }
}

/** One that cannot be written must not take the others with it; where nothing can be, trying each is in vain. */
async function writeGroup<In, Out>(writeAll: WriteAll<In, Out>, group: readonly Waiting<In, Out>[]): Promise<void> {
  try {
    const outputs = await writeAll(group.map(({ input }) => input))
    group.forEach(({ resolve }, at) => resolve(outputs[at] as Out))
  } catch (error) {
    const isEachToBlame = error instanceof DatabaseError && !isOutage(error) && group.length > 1
    if (!isEachToBlame) return group.forEach(({ reject }) => reject(error))
    for (const one of group) await writeGroup(writeAll, [one])
  }
}

const isOutage = ({ reason }: DatabaseError): boolean => reason === 'unavailable' || reason === 'full'
