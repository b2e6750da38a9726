import type { Clock } from '../../../base/clock.ts'
import type { ClusterMembership } from '../../../domain/limits/cluster-membership.ts'
import type { Database } from './database.ts'

export type NodesParts = {
  readonly database: Database
  readonly clock: Clock
  readonly ownId: string
  readonly onError: (error: unknown) => void
}

/** A node whose beat stood still for this long, while we could look, is dead. */
const deadAfterMs = 60_000
const forgetAfterMs = 60 * 60_000

type Pulse = { readonly beat: number; readonly sinceMs: number }

/** A member of the membership. Its own row goes when it is disposed of. */
export type NodeMember = ClusterMembership &
  AsyncDisposable & {
    /** Writes the heartbeat of this node, and reads those of the others. A job calls it every ten seconds. */
    look(): Promise<void>
  }

/** Takes part in the membership of nodes that share one database. */
export async function joinNodes(parts: NodesParts): Promise<NodeMember> {
  const { database, clock, ownId, onError } = parts
  const pulses = new Map<string, Pulse>()
  let lookedAtMs = clock.monotonicMs()

  async function look(): Promise<void> {
    const beat = `insert into node (id, beat) values ($1, 1) on conflict (id) do update set beat = node.beat + 1`
    await database.write([{ sql: beat, params: [ownId] }])
    const rows = await database.read<{ id: string; beat: number }>('select id, beat from node')
    lookedAtMs = clock.monotonicMs()
    const present = new Set(rows.map(({ id }) => id))
    for (const id of pulses.keys()) if (!present.has(id)) pulses.delete(id)
    for (const row of rows)
      if (pulses.get(row.id)?.beat !== row.beat) pulses.set(row.id, { ...row, sinceMs: lookedAtMs })
    await forgetLongDead()
  }

  async function forgetLongDead(): Promise<void> {
    for (const [id, { beat, sinceMs }] of pulses) {
      if (lookedAtMs - sinceMs < forgetAfterMs) continue
      await database.write([{ sql: 'delete from node where id = $1 and beat = $2', params: [id, beat] }])
    }
  }

  const isAlive = (nodeId: string): boolean => {
    const pulse = pulses.get(nodeId)
    return nodeId === ownId || (pulse !== undefined && lookedAtMs - pulse.sinceMs < deadAfterMs)
  }

  await look()
  return {
    count: () => Math.max(1, [...pulses.keys()].filter(isAlive).length),
    isAlive,
    look,
    async [Symbol.asyncDispose]() {
      await database.write([{ sql: 'delete from node where id = $1', params: [ownId] }]).catch(onError)
    },
  }
}
