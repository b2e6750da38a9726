import {
  outputItemsOf,
  type StoredItem,
  type StoredResponse,
  type StoredResponses,
} from '../../../domain/inference/stored-responses.ts'
import type { Database, Statement } from './database.ts'

type ResponseRow = {
  id: string
  organization_id: string
  project_id: string
  previous_id: string | null
  input: string
  document: string
  created_at: number
  expires_at: number
  is_deleted: number
}

const columns = 'id, organization_id, project_id, previous_id, input, document, created_at, expires_at'

const selectResponse = `select ${columns}, is_deleted from stored_response
  where project_id = $1 and id = $2 and expires_at > $3`

export function storedResponses(database: Database): StoredResponses {
  return {
    async save(response) {
      await database.write([
        insertion(response),
        ...outputItemsOf(response.document).flatMap((item) => itemInsertion(response, item)),
      ])
    },
    async find(projectId, id, nowMs) {
      const [row] = await database.read<ResponseRow>(selectResponse, [projectId, id, nowMs])
      return row === undefined || row.is_deleted === 1 ? undefined : responseOf(row)
    },
    async findTurn(projectId, id, nowMs) {
      const [row] = await database.read<ResponseRow>(selectResponse, [projectId, id, nowMs])
      return row && { ...responseOf(row), isDeleted: row.is_deleted === 1 }
    },
    async findItems(projectId, ids, nowMs) {
      const placeholders = ids.map((_, at) => `$${at + 3}`).join(', ')
      const sql = `select id, item from stored_item where project_id = $1 and expires_at > $2 and id in (${placeholders})`
      const rows = await database.read<{ id: string; item: string }>(sql, [projectId, nowMs, ...ids])
      return new Map(rows.map(({ id, item }) => [id, JSON.parse(item) as StoredItem]))
    },
    async remove(projectId, id) {
      const [, removed] = await database.write([
        { sql: 'delete from stored_item where project_id = $1 and response_id = $2', params: [projectId, id] },
        {
          sql: `update stored_response set input = '[]', document = '{}', is_deleted = 1
            where project_id = $1 and id = $2 and is_deleted = 0`,
          params: [projectId, id],
        },
      ])
      return removed?.changed === 1
    },
    async removeExpired(nowMs) {
      await database.write([
        { sql: 'delete from stored_item where expires_at <= $1', params: [nowMs] },
        { sql: 'delete from stored_response where expires_at <= $1', params: [nowMs] },
      ])
    },
  }
}

/** Keeps an existing row, because an earlier attempt with an unknown outcome may have saved it. */
function insertion(response: StoredResponse): Statement {
  const { id, organizationId, projectId, previousId, input, document, createdAtMs, expiresAtMs } = response
  return {
    sql: `insert into stored_response (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (id) do nothing`,
    params: [
      id,
      organizationId,
      projectId,
      previousId,
      JSON.stringify(input),
      JSON.stringify(document),
      createdAtMs,
      expiresAtMs,
    ],
  }
}

/** Upstreams choose item ids freely, so an item with an existing id replaces the earlier one. */
function itemInsertion({ id, projectId, expiresAtMs }: StoredResponse, item: StoredItem): Statement[] {
  if (typeof item['id'] !== 'string') return []
  const sql = `insert into stored_item (project_id, id, response_id, item, expires_at) values ($1, $2, $3, $4, $5)
    on conflict (project_id, id) do update set response_id = excluded.response_id, item = excluded.item, expires_at = excluded.expires_at`
  return [{ sql, params: [projectId, item['id'], id, JSON.stringify(item), expiresAtMs] }]
}

const responseOf = (row: ResponseRow): StoredResponse => ({
  id: row.id,
  organizationId: row.organization_id,
  projectId: row.project_id,
  previousId: row.previous_id,
  input: JSON.parse(row.input) as StoredItem[],
  document: JSON.parse(row.document) as StoredResponse['document'],
  createdAtMs: row.created_at,
  expiresAtMs: row.expires_at,
})
