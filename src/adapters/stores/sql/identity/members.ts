import type { Member, MemberPage, MemberStore, RoleSource } from '../../../../domain/members/member-store.ts'
import { isRoleName } from '../../../../domain/identity/roles.ts'
import type { Transaction } from '../database.ts'
import { selectPage, type Condition } from '../page.ts'
import { createNameSearch } from '../../../../domain/identity/names.ts'
import { finder } from './rows.ts'

const columns =
  'id, organization_id, email, issuer, subject, name, role, role_source, created_at, last_seen_at, suspended_at, removed_at'

/** Members in SQL, in the given transaction. */
export function memberStore(tx: Transaction): MemberStore {
  const one = finder(tx)
  const find = (condition: string, params: string[]): Promise<Member | undefined> =>
    one(
      memberOf,
      `select ${columns} from member where organization_id = $1 and removed_at is null ${condition}`,
      params,
    )
  return {
    async lockMembers(organizationId) {
      await tx.run('update organization set name = name where id = $1', [organizationId])
    },
    async insertMember(member) {
      await tx.run(
        `insert into member (${columns}) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
        valuesOf(member),
      )
    },
    async updateMember(member) {
      await tx.run(
        `update member set email = $3, issuer = $4, subject = $5, name = $6, role = $7, role_source = $8, created_at = $9,
         last_seen_at = $10, suspended_at = $11, removed_at = $12 where id = $1 and organization_id = $2`,
        valuesOf(member),
      )
    },
    findMember: (organizationId, id) => find('and id = $2', [organizationId, id]),
    listMembers: (organizationId, page) =>
      selectPage(
        tx,
        {
          table: 'member',
          columns,
          where: { organization_id: organizationId },
          only: conditionsOf(page),
          matches: matchesOf(page),
          map: memberOf,
        },
        page,
      ),
    findByEmail: (organizationId, email) => find('and email = $2', [organizationId, email]),
    findBySubject: (organizationId, { issuer, subject }) =>
      issuer === undefined
        ? find('and subject = $2', [organizationId, subject])
        : find("and coalesce(issuer, '') = $2 and subject = $3", [organizationId, issuer ?? '', subject]),
    async hasOtherOwner(organizationId, id) {
      const [other] = await tx.query(
        `select id from member where organization_id = $1 and id <> $2 and role = 'owner' and removed_at is null
         and suspended_at is null and last_seen_at is not null limit 1`,
        [organizationId, id],
      )
      return other !== undefined
    },
  }
}

const statusConditions: Readonly<Record<NonNullable<MemberPage['status']>, string>> = {
  invited: 'suspended_at is null and last_seen_at is null',
  active: 'suspended_at is null and last_seen_at is not null',
  suspended: 'suspended_at is not null',
}

const conditionsOf = ({ role, status }: MemberPage): Condition[] => [
  ['removed_at is null'],
  ...(role === undefined ? [] : [['role = ?', role] as const]),
  ...(status === undefined ? [] : [[statusConditions[status]] as const]),
]

/** The engines fold letters beyond ASCII differently, so names are compared here. */
function matchesOf({ search }: MemberPage): ((row: MemberRow) => boolean) | undefined {
  const isMatch = createNameSearch(search)
  return (
    isMatch && (({ name, email, subject }) => [name, email, subject].some((text) => text !== null && isMatch(text)))
  )
}

type MemberRow = {
  id: string
  organization_id: string
  email: string | null
  issuer: string | null
  subject: string | null
  name: string | null
  role: string
  role_source: string
  created_at: number
  last_seen_at: number | null
  suspended_at: number | null
  removed_at: number | null
}

const memberOf = (row: MemberRow): Member => ({
  id: row.id,
  organizationId: row.organization_id,
  email: row.email,
  issuer: row.issuer,
  subject: row.subject,
  name: row.name,
  // A role that this version does not know changes nothing, and reads no texts of requests.
  role: isRoleName(row.role) ? row.role : 'auditor',
  roleSource: row.role_source as RoleSource,
  createdAtMs: row.created_at,
  lastSeenAtMs: row.last_seen_at,
  suspendedAtMs: row.suspended_at,
  removedAtMs: row.removed_at,
})

const valuesOf = (member: Member) => [
  member.id,
  member.organizationId,
  member.email,
  member.issuer,
  member.subject,
  member.name,
  member.role,
  member.roleSource,
  member.createdAtMs,
  member.lastSeenAtMs,
  member.suspendedAtMs,
  member.removedAtMs,
]

/** The columns of `member m`, renamed so that they can stand beside those of another table. */
export const joinedMemberColumns = columns.replace(/\w+/g, 'm.$& as m_$&')

/** All null if there is no member. */
export type JoinedMember = { [Column in keyof MemberRow as `m_${Column}`]: MemberRow[Column] }

export const joinedMember = (row: JoinedMember): Member =>
  memberOf({
    id: row.m_id,
    organization_id: row.m_organization_id,
    email: row.m_email,
    issuer: row.m_issuer,
    subject: row.m_subject,
    name: row.m_name,
    role: row.m_role,
    role_source: row.m_role_source,
    created_at: row.m_created_at,
    last_seen_at: row.m_last_seen_at,
    suspended_at: row.m_suspended_at,
    removed_at: row.m_removed_at,
  })
