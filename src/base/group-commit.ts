import { afterIo } from './after-io.ts'

export type GroupCommitParts<Name, Item> = {
  /** Bounds how long one group can take. */
  readonly mostAtOnce: number
  /** Must not reject: it has to settle the promises of the callers that wait for the items. */
  readonly write: (name: Name, group: readonly Item[]) => Promise<void>
}

/**
 * Iterations of the event loop between the end of a group and the next one, even if nothing waits yet, because callers whose
 * group has just ended often have a next item soon. An idle loop passes them immediately; under load more items arrive in them.
 */
const turnsBetween = 3

/**
 * Group commit by name: items that arrive while a group of their name is being written form the next group. The first item does
 * not wait for others. Slow disks and high load make larger groups, and the cost per item falls. Different names do not wait for
 * one another.
 */
export function createGroupCommit<Name, Item>({ mostAtOnce, write }: GroupCommitParts<Name, Item>) {
  const queues = new Map<Name, Item[]>()

  async function writeGroups(name: Name, queue: Item[]): Promise<void> {
    while (queue.length > 0) {
      await afterIo()
      await write(name, queue.splice(0, mostAtOnce))
      for (let turn = 1; turn < turnsBetween; turn++) await afterIo()
    }
    queues.delete(name)
  }

  return (name: Name, item: Item): void => {
    const queue = queues.get(name)
    if (queue !== undefined) {
      queue.push(item)
    } else {
      const started = [item]
      queues.set(name, started)
      void writeGroups(name, started)
    }
  }
}
