import { DatabaseError, type StatementResult } from '../database.ts'
import type { Channel } from './channel.ts'
import { toError, type StepOutcome, type StatementList } from './protocol.ts'

export type Writers = {
  write(step: StatementList): Promise<StatementResult[]>
  /** No other write runs until `work` has ended. */
  exclusively<T>(work: () => Promise<T>): Promise<T>
}

type Waiting = { readonly step: StatementList; resolve(results: StatementResult[]): void; reject(error: unknown): void }

/** Bounds how long one commit can take, and how long a read can wait for it. */
const maxGroupSize = 500

/**
 * Orders the writers on the single connection that writes. Steps that arrive while a group is being written form the next group: the
 * slower the disk, the larger the groups.
 */
export function createWriters(channel: Channel): Writers {
  const jobs: (() => Promise<void>)[] = []
  let openGroup: Waiting[] | undefined // the last job, while it accepts more steps
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

  function close(group: readonly Waiting[]): StatementList[] {
    if (openGroup === group) openGroup = undefined
    return group.map(({ step }) => step)
  }

  async function runGroup(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await channel.call('group', () => close(group))
      group.forEach((waiting, index) => settle(waiting, outcomes[index]))
    } catch (error) {
      close(group)
      for (const { reject } of group) reject(error)
    }
  }

  return {
    write(step) {
      const { promise, resolve, reject } = Promise.withResolvers<StatementResult[]>()
      if (openGroup === undefined || openGroup.length === maxGroupSize) {
        const group: Waiting[] = []
        openGroup = group
        enqueue(() => runGroup(group))
      }
      openGroup.push({ step, resolve, reject })
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
