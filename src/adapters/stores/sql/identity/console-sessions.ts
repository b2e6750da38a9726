import type {
  ConsoleLink,
  ConsoleSession,
  ConsoleSessionReads,
  ConsoleSessionStore,
  ListedSession,
  SessionTimes,
} from '../../../../domain/members/console-session-store.ts'
import type { Database, Transaction } from '../database.ts'
import { selectPage, type Condition } from '../page.ts'
import { joinedColumns, joinedOrganization, type JoinedOrganization } from './joined-organization.ts'
import { joinedMember, joinedMemberColumns, type JoinedMember } from './members.ts'
import { adminKeyOf, columns, prefixed, type AdminKeyRow } from './rows.ts'

/** The console's sessions for authentication. */
export function consoleSessionReads(database: Database): ConsoleSessionReads {
  return {
    async findSession(digest) {
      const [row] = await database.read<FoundSessionRow>(selectSession, [digest])
      if (row === undefined) return undefined
      const holder = row.member_id === null ? { key: adminKeyOf(row) } : { member: joinedMember(row) }
      return { session: sessionOf(row), holder, organization: joinedOrganization(row) }
    },
    async findLink(digest) {
      const [row] = await database.read<LinkRow & KeyRow>(selectLink, [digest])
      return row && { link: linkOf(row), key: adminKeyOf(row), organization: joinedOrganization(row) }
    },
    async touchSession(id, atMs) {
      await database.write([
        { sql: 'update console_session set last_seen_at = $2 where id = $1', params: [id, atMs] },
        {
          sql: 'update member set last_seen_at = $2 where id = (select member_id from console_session where id = $1)',
          params: [id, atMs],
        },
      ])
    },
    async claimSignIn(digest, expiresAtMs) {
      const sql = 'insert into used_sign_in (digest, expires_at) values ($1, $2) on conflict (digest) do nothing'
      const [result] = await database.write([{ sql, params: [digest, expiresAtMs] }])
      return result?.changed === 1
    },
    async removeExpired({ nowMs, idleSinceMs }) {
      await database.write([
        {
          sql: 'delete from console_session where expires_at <= $1 or last_seen_at <= $2',
          params: [nowMs, idleSinceMs],
        },
        { sql: 'delete from console_link where expires_at <= $1', params: [nowMs] },
        { sql: 'delete from used_sign_in where expires_at <= $1', params: [nowMs] },
      ])
    },
  }
}

export function consoleSessionStore(tx: Transaction): ConsoleSessionStore {
  return {
    async insertSession(session, digest) {
      await tx.run(
        `insert into console_session (id, organization_id, admin_key_id, member_id, digest, address, user_agent, created_at,
           last_seen_at, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [
          session.id,
          session.organizationId,
          session.holder.type === 'admin_key' ? session.holder.id : null,
          session.holder.type === 'member' ? session.holder.id : null,
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
    listSessions: (organizationId, page) =>
      selectPage<ListedSessionRow, ListedSession>(
        tx,
        {
          table: sessionTables,
          columns: `${sessionColumns}, coalesce(k.name, m.name, m.email, m.subject) as holder_name`,
          where: { 's.organization_id': organizationId },
          only: usableConditions(page),
          id: 's.id',
          map: (row) => ({ ...sessionOf(row), holderName: row.holder_name }),
        },
        page,
      ),
    async removeSessionsOf(organizationId, memberId) {
      await tx.run('delete from console_session where organization_id = $1 and member_id = $2', [
        organizationId,
        memberId,
      ])
    },
    async insertLink({ organizationId, adminKeyId, expiresAtMs }, digest) {
      await tx.run(
        'insert into console_link (digest, organization_id, admin_key_id, expires_at) values ($1, $2, $3, $4)',
        [digest, organizationId, adminKeyId, expiresAtMs],
      )
    },
    takeLink: async (digest) => (await tx.run('delete from console_link where digest = $1', [digest])) === 1,
  }
}

const sessionTables = `console_session s
   left join admin_key k on k.id = s.admin_key_id
   left join member m on m.id = s.member_id`

const sessionColumns = `s.id as session_id, s.organization_id as session_organization_id, s.admin_key_id, s.member_id,
  s.address, s.user_agent, s.created_at as session_created_at, s.last_seen_at, s.expires_at as session_expires_at`

/** The key's columns have their plain names; those of the session or link are renamed where both tables have them. */
const selectSession = `select ${sessionColumns}, ${prefixed('k', columns.adminKey)}, ${joinedMemberColumns}, ${joinedColumns}
   from ${sessionTables} join organization o on o.id = s.organization_id where s.digest = $1`

const selectLink = `select t.expires_at as link_expires_at, ${prefixed('k', columns.adminKey)}, ${joinedColumns}
   from console_link t join admin_key k on k.id = t.admin_key_id join organization o on o.id = t.organization_id
   where t.digest = $1`

const usableConditions = ({ nowMs, idleSinceMs }: SessionTimes): Condition[] => [
  ['s.expires_at > ?', nowMs],
  ['s.last_seen_at > ?', idleSinceMs],
  ['(k.id is null or (k.revoked_at is null and (k.expires_at is null or k.expires_at > ?)))', nowMs],
  ['m.removed_at is null'],
  ['m.suspended_at is null'],
]

type KeyRow = AdminKeyRow & JoinedOrganization

type SessionRow = {
  session_id: string
  session_organization_id: string
  admin_key_id: string | null
  member_id: string | null
  address: string
  user_agent: string | null
  session_created_at: number
  last_seen_at: number
  session_expires_at: number
}

/** Either the columns of the key or those of the member are null. */
type FoundSessionRow = SessionRow & KeyRow & JoinedMember
type ListedSessionRow = SessionRow & { holder_name: string }

const sessionOf = (row: SessionRow): ConsoleSession => ({
  id: row.session_id,
  organizationId: row.session_organization_id,
  holder:
    row.member_id === null ? { type: 'admin_key', id: row.admin_key_id ?? '' } : { type: 'member', id: row.member_id },
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
