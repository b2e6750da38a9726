import type { Clock } from '../../../base/clock.ts'
import type { ClusterMembership } from '../../../domain/limits/cluster-membership.ts'
import type { Database } from './database.ts'

export type NodesParts = {
  readonly database: Database
  readonly clock: Clock
  readonly ownId: string
  readonly onError: (error: unknown) => void
}

/** A node is dead if its heartbeat has not changed for this long while this node could read it. */
const deadAfterMs = 60_000
const removeAfterMs = 60 * 60_000

type Heartbeat = { readonly beat: number; readonly sinceMs: number }

/** This node in the cluster. Disposing removes its row. */
export type NodeMember = ClusterMembership &
  AsyncDisposable & {
    /** Writes the heartbeat of this node, and reads those of the others. A job calls it every ten seconds. */
    refresh(): Promise<void>
    /** The nodes that are alive, this one included. */
    ids(): readonly string[]
  }

/** Joins the cluster of nodes that share one database. */
export async function joinNodes(parts: NodesParts): Promise<NodeMember> {
  const { database, clock, ownId, onError } = parts
  const heartbeats = new Map<string, Heartbeat>()
  let readAtMs = clock.monotonicMs()

  async function refresh(): Promise<void> {
    const beat = `insert into node (id, beat, reads_blocks) values ($1, 1, 1)
      on conflict (id) do update set beat = node.beat + 1`
    await database.write([{ sql: beat, params: [ownId] }])
    const rows = await database.read<{ id: string; beat: number }>('select id, beat from node')
    readAtMs = clock.monotonicMs()
    const present = new Set(rows.map(({ id }) => id))
    for (const id of heartbeats.keys()) if (!present.has(id)) heartbeats.delete(id)
    for (const row of rows)
      if (heartbeats.get(row.id)?.beat !== row.beat) heartbeats.set(row.id, { ...row, sinceMs: readAtMs })
    await removeLongDead()
  }

  async function removeLongDead(): Promise<void> {
    for (const [id, { beat, sinceMs }] of heartbeats) {
      if (readAtMs - sinceMs < removeAfterMs) continue
      await database.write([{ sql: 'delete from node where id = $1 and beat = $2', params: [id, beat] }])
    }
  }

  const isAlive = (nodeId: string): boolean => {
    const heartbeat = heartbeats.get(nodeId)
    return nodeId === ownId || (heartbeat !== undefined && readAtMs - heartbeat.sinceMs < deadAfterMs)
  }

  await refresh()
  return {
    count: () => Math.max(1, [...heartbeats.keys()].filter(isAlive).length),
    ids: () => [...new Set([ownId, ...heartbeats.keys()])].filter(isAlive),
    isAlive,
    refresh,
    async [Symbol.asyncDispose]() {
      await database.write([{ sql: 'delete from node where id = $1', params: [ownId] }]).catch(onError)
    },
  }
}
