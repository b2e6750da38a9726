import { afterIo } from './after-io.ts'

export type GroupCommitParts<Name, Item> = {
  /** Bounds how long one group can take. */
  readonly mostAtOnce: number
  /** Must not reject: it answers to whoever waits for an item. */
  readonly write: (name: Name, group: readonly Item[]) => Promise<void>
}

/**
 * Turns of the event loop between the end of a group and the next one, also where nothing waits yet: those whose group has
 * just ended come again soon. An idle loop passes them at once; under load more becomes ready in them.
 */
const turnsBetween = 3

/**
 * Group commit, by name: while a group is being written, what arrives under its name forms the next one. The first does not
 * wait for company. The slower the disk and the greater the load, the larger the groups, and the less each item in them
 * costs. Names do not wait for one another.
 */
export function createGroupCommit<Name, Item>({ mostAtOnce, write }: GroupCommitParts<Name, Item>) {
  const queues = new Map<Name, Item[]>()

  async function drain(name: Name, queue: Item[]): Promise<void> {
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
      const begun = [item]
      queues.set(name, begun)
      void drain(name, begun)
    }
  }
}
