import { DatabaseError, type StatementResult, type WriteOptions } from '../database.ts'
import type { Channel } from './channel.ts'
import { toError, type StepOutcome, type StatementList } from './protocol.ts'

export type Writers = {
  write(step: StatementList, options?: WriteOptions): Promise<StatementResult[]>
  /** No other write runs until `work` has ended. */
  exclusively<T>(work: () => Promise<T>): Promise<T>
}

type Waiting = { readonly step: StatementList; resolve(results: StatementResult[]): void; reject(error: unknown): void }

type Group = { readonly kind: 'group' | 'relaxed group'; readonly waiting: Waiting[] }

/** Bounds how long one commit can take, and how long a read can wait for it. */
const maxGroupSize = 500

/**
 * Orders the writers on the single connection that writes. Steps that arrive while a group is being written form the next group: the
 * slower the disk, the larger the groups.
 */
export function createWriters(channel: Channel): Writers {
  const jobs: (() => Promise<void>)[] = []
  let openGroup: Group | undefined // the last job, while it accepts more steps
  let isDraining = false

  function enqueue(job: () => Promise<void>): void {
    jobs.push(job)
    if (!isDraining) void drain()
  }

  async function drain(): Promise<void> {
    isDraining = true
    for (let job = jobs.shift(); job !== undefined; job = jobs.shift()) await job()
    isDraining = false
  }

  function close(group: Group): StatementList[] {
    if (openGroup === group) openGroup = undefined
    return group.waiting.map(({ step }) => step)
  }

  async function runGroup(group: Group): Promise<void> {
    try {
      const outcomes = await channel.call(group.kind, () => close(group))
      group.waiting.forEach((waiting, index) => settle(waiting, outcomes[index]))
    } catch (error) {
      close(group)
      for (const { reject } of group.waiting) reject(error)
    }
  }

  /** A step that need not wait for the disk joins a group that does, but not the other way round. */
  const accepts = ({ kind, waiting }: Group, waitsForDisk: boolean): boolean =>
    waiting.length < maxGroupSize && (kind === 'group' || !waitsForDisk)

  return {
    write(step, { waitsForDisk = true } = {}) {
      const { promise, resolve, reject } = Promise.withResolvers<StatementResult[]>()
      if (openGroup === undefined || !accepts(openGroup, waitsForDisk)) {
        const group: Group = { kind: waitsForDisk ? 'group' : 'relaxed group', waiting: [] }
        openGroup = group
        enqueue(() => runGroup(group))
      }
      openGroup.waiting.push({ step, resolve, reject })
      return promise
    },
    exclusively<T>(work: () => Promise<T>) {
      const { promise, resolve } = Promise.withResolvers<T>()
      openGroup = undefined
      enqueue(async () => {
        const running = work()
        resolve(running)
        await running.catch(() => undefined)
      })
      return promise
    },
  }
}

function settle({ resolve, reject }: Waiting, outcome: StepOutcome | undefined): void {
  if (outcome === undefined) reject(new DatabaseError('other', 'the database thread returned no outcome for a step'))
  else if ('failure' in outcome) reject(toError(outcome.failure))
  else resolve(outcome.results)
}
