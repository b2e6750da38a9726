import type {
  ConsoleLink,
  ConsoleSession,
  ConsoleSessionReads,
  ConsoleSessionStore,
} from '../../../../domain/identity/console-session-store.ts'
import type { Database, Transaction } from '../database.ts'
import { joinedColumns, joinedOrganization, type JoinedOrganization } from './joined-organization.ts'
import { adminKeyOf, columns, prefixed, type AdminKeyRow } from './rows.ts'

/** The console's sessions for authentication. */
export function consoleSessionReads(database: Database): ConsoleSessionReads {
  return {
    async findSession(digest) {
      const [row] = await database.read<SessionRow & KeyRow>(selectWithKey(sessionColumns, 'console_session'), [digest])
      return row && { session: sessionOf(row), key: adminKeyOf(row), organization: joinedOrganization(row) }
    },
    async findLink(digest) {
      const [row] = await database.read<LinkRow & KeyRow>(selectWithKey(linkColumns, 'console_link'), [digest])
      return row && { link: linkOf(row), key: adminKeyOf(row), organization: joinedOrganization(row) }
    },
    async touchSession(id, atMs) {
      await database.write([{ sql: 'update console_session set last_seen_at = $2 where id = $1', params: [id, atMs] }])
    },
    async removeExpired({ nowMs, idleSinceMs }) {
      await database.write([
        {
          sql: 'delete from console_session where expires_at <= $1 or last_seen_at <= $2',
          params: [nowMs, idleSinceMs],
        },
        { sql: 'delete from console_link where expires_at <= $1', params: [nowMs] },
      ])
    },
  }
}

export function consoleSessionStore(tx: Transaction): ConsoleSessionStore {
  return {
    async insertSession(session, digest) {
      await tx.run(
        `insert into console_session (id, organization_id, admin_key_id, digest, address, user_agent, created_at,
           last_seen_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
        [
          session.id,
          session.organizationId,
          session.adminKeyId,
          digest,
          session.address,
          session.userAgent,
          session.createdAtMs,
          session.lastSeenAtMs,
          session.expiresAtMs,
        ],
      )
    },
    removeSession: async (organizationId, id) =>
      (await tx.run('delete from console_session where organization_id = $1 and id = $2', [organizationId, id])) === 1,
    async insertLink({ organizationId, adminKeyId, expiresAtMs }, digest) {
      await tx.run(
        'insert into console_link (digest, organization_id, admin_key_id, expires_at) values ($1, $2, $3, $4)',
        [digest, organizationId, adminKeyId, expiresAtMs],
      )
    },
    takeLink: async (digest) => (await tx.run('delete from console_link where digest = $1', [digest])) === 1,
  }
}

const sessionColumns = `t.id as session_id, t.address, t.user_agent, t.created_at as session_created_at, t.last_seen_at,
  t.expires_at as session_expires_at`
const linkColumns = 't.expires_at as link_expires_at'

/** The key's columns have their plain names; those of the session or link are renamed where both tables have them. */
const selectWithKey = (own: string, table: string): string =>
  `select ${own}, ${prefixed('k', columns.adminKey)}, ${joinedColumns} from ${table} t
   join admin_key k on k.id = t.admin_key_id
   join organization o on o.id = t.organization_id
   where t.digest = $1`

type KeyRow = AdminKeyRow & JoinedOrganization

type SessionRow = {
  session_id: string
  address: string
  user_agent: string | null
  session_created_at: number
  last_seen_at: number
  session_expires_at: number
}

const sessionOf = (row: SessionRow & AdminKeyRow): ConsoleSession => ({
  id: row.session_id,
  organizationId: row.organization_id,
  adminKeyId: row.id,
  address: row.address,
  userAgent: row.user_agent,
  createdAtMs: row.session_created_at,
  lastSeenAtMs: row.last_seen_at,
  expiresAtMs: row.session_expires_at,
})

type LinkRow = { link_expires_at: number }

const linkOf = (row: LinkRow & AdminKeyRow): ConsoleLink => ({
  organizationId: row.organization_id,
  adminKeyId: row.id,
  expiresAtMs: row.link_expires_at,
})
