import { createGroupCommit } from '../../../../base/group-commit.ts'
import { DatabaseError } from '../database.ts'

/** Writes the items that arrived together as one group. Results are in the order of the items. */
export type WriteAll<In, Out> = (inputs: readonly In[]) => Promise<Out[]>

type Waiting<In, Out> = { readonly input: In; resolve(output: Out): void; reject(error: unknown): void }

/** Maximum size of a group; bounds how long one step can take. */
const mostAtOnce = 500

/** Items that arrive together in one shard are written as one group. Shards do not wait for each other. */
export function createShardedWriter<In, Out>(writeAll: WriteAll<In, Out>) {
  const add = createGroupCommit<number, Waiting<In, Out>>({
    mostAtOnce,
    write: (_shard, group) => writeGroup(writeAll, group),
  })
  return (shard: number, input: In): Promise<Out> => {
    const { promise, resolve, reject } = Promise.withResolvers<Out>()
    add(shard, { input, resolve, reject })
    return promise
  }
}

/** If a group fails, each item is written alone, so that one bad item does not fail the others. During an outage all fail. */
async function writeGroup<In, Out>(writeAll: WriteAll<In, Out>, group: readonly Waiting<In, Out>[]): Promise<void> {
  try {
    const outputs = await writeAll(group.map(({ input }) => input))
    group.forEach(({ resolve }, at) => resolve(outputs[at] as Out))
  } catch (error) {
    const canWriteOthers = error instanceof DatabaseError && !isOutage(error) && group.length > 1
    if (!canWriteOthers) return group.forEach(({ reject }) => reject(error))
    for (const one of group) await writeGroup(writeAll, [one])
  }
}

const isOutage = ({ reason }: DatabaseError): boolean =>
  ['unavailable', 'full', 'rejected', 'locked', 'timeout'].includes(reason)
