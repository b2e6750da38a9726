import { DatabaseError } from './database.ts'

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
  const lanes = new Map<string, Waiting<In, Out>[]>()

  async function drain(name: string, lane: Waiting<In, Out>[]): Promise<void> {
    while (lane.length > 0) await writeGroup(writeAll, lane.splice(0, maxTogether))
    lanes.delete(name)
  }

  return (name: string, input: In): Promise<Out> => {
    const { promise, resolve, reject } = Promise.withResolvers<Out>()
    const waiting = { input, resolve, reject }
    const lane = lanes.get(name)
    if (lane !== undefined) {
      lane.push(waiting)
    } else {
      const opened = [waiting]
      lanes.set(name, opened)
      queueMicrotask(() => void drain(name, opened)) // whatever is ready in this turn comes along
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
