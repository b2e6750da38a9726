import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { consoleSessionReads, consoleSessionStore } from '../../src/adapters/stores/sql/identity/console-sessions.ts'
import { directoryStore } from '../../src/adapters/stores/sql/identity/directory.ts'
import type { ConsoleSession } from '../../src/domain/members/console-session-store.ts'
import { memberStore } from '../../src/adapters/stores/sql/identity/members.ts'
import type { Member, MemberStore } from '../../src/domain/members/member-store.ts'
import { permissionsOf } from '../../src/domain/identity/roles.ts'
import type { Engine } from '../support/engines.ts'

const session: ConsoleSession = {
  id: 'ses_1',
  organizationId: 'org_1',
  holder: { type: 'admin_key', id: 'adk_1' },
  address: '192.0.2.1',
  userAgent: 'a browser',
  createdAtMs: 1_000,
  lastSeenAtMs: 1_000,
  expiresAtMs: 9_000,
}
const member: Member = {
  id: 'mem_1',
  organizationId: 'org_1',
  email: 'ada@example.com',
  issuer: null,
  subject: null,
  name: null,
  role: 'auditor',
  roleSource: 'invitation',
  createdAtMs: 1,
  lastSeenAtMs: null,
  suspendedAtMs: null,
  removedAtMs: null,
}
const link = { organizationId: 'org_1', adminKeyId: 'adk_1', expiresAtMs: 5_000 }

/** The contract of every store of console sessions. */
export function consoleSessionContract({ name, skip, open }: Engine): void {
  describe(`console sessions: ${name}`, { skip }, () => {
    it('are found by digest, with their key and organization', async () => {
      await using scene = await openScene(open)
      await scene.change((store) => store.insertSession(session, 'digest'))
      const found = await scene.reads.findSession('digest')
      assert.deepEqual(found?.session, session)
      assert.ok(found && 'key' in found.holder)
      assert.deepEqual([found.holder.key.id, found.organization.id], ['adk_1', 'org_1'])
      assert.equal(await scene.reads.findSession('other'), undefined)
    })

    it('of a member are found with the member, and set the time of the last use of the member', async () => {
      await using scene = await openScene(open)
      await scene.members((store) => store.insertMember(member))
      await scene.change((store) => store.insertSession({ ...session, holder: { type: 'member', id: 'mem_1' } }, 'd'))
      await scene.reads.touchSession('ses_1', 8_000)
      const found = await scene.reads.findSession('d')
      assert.ok(found && 'member' in found.holder)
      assert.deepEqual(found.holder.member, { ...member, lastSeenAtMs: 8_000 })
      await scene.change((store) => store.removeSessionsOf('org_1', 'mem_1'))
      assert.equal(await scene.reads.findSession('d'), undefined)
    })

    it('of a member whose role only a later version knows read no texts of requests', async () => {
      await using scene = await openScene(open)
      await scene.members((store) => store.insertMember({ ...member, role: 'analyst' as Member['role'] }))
      await scene.change((store) => store.insertSession({ ...session, holder: { type: 'member', id: 'mem_1' } }, 'd'))
      const found = await scene.reads.findSession('d')
      assert.ok(found && 'member' in found.holder)
      assert.ok(!permissionsOf(found.holder.member.role).includes('content:read'))
    })

    it('are listed while they work, with the name of the key or member', async () => {
      await using scene = await openScene(open)
      await scene.members((store) => store.insertMember(member))
      const ofMember = { ...session, id: 'ses_2', holder: { type: 'member', id: 'mem_1' } } as const
      await scene.change((store) => store.insertSession(session, 'a'))
      await scene.change((store) => store.insertSession(ofMember, 'b'))
      const namesAt = async (nowMs: number, idleSinceMs = 0) => {
        const page = { limit: 10, order: 'asc', nowMs, idleSinceMs } as const
        const { items } = await scene.change((store) => store.listSessions('org_1', page))
        return items.map(({ holderName }) => holderName)
      }
      assert.deepEqual(await namesAt(2_000), ['ops', 'ada@example.com'])
      assert.deepEqual([await namesAt(9_000), await namesAt(2_000, 1_000)], [[], []])
      await scene.members((store) => store.updateMember({ ...member, suspendedAtMs: 1_500 }))
      assert.deepEqual(await namesAt(2_000), ['ops'])
    })

    it('end once, and only for their organization', async () => {
      await using scene = await openScene(open)
      await scene.change((store) => store.insertSession(session, 'digest'))
      assert.equal(await scene.change((store) => store.removeSession('org_2', 'ses_1')), false)
      assert.equal(await scene.change((store) => store.removeSession('org_1', 'ses_1')), true)
      assert.equal(await scene.change((store) => store.removeSession('org_1', 'ses_1')), false)
      assert.equal(await scene.reads.findSession('digest'), undefined)
    })

    it('start from a link once, also if two browsers use it at the same time', async () => {
      await using scene = await openScene(open)
      await scene.change((store) => store.insertLink(link, 'digest'))
      assert.deepEqual((await scene.reads.findLink('digest'))?.link, link)
      const taken = await Promise.all([1, 2, 3].map(() => scene.change((store) => store.takeLink('digest'))))
      assert.equal(taken.filter(Boolean).length, 1)
      assert.equal(await scene.reads.findLink('digest'), undefined)
    })

    it('start from a sign-in once, also if two nodes finish it at the same time', async () => {
      await using scene = await openScene(open)
      const claim = (expiresAtMs: number) => scene.reads.claimSignIn('state', expiresAtMs)
      assert.deepEqual((await Promise.all([claim(9_000), claim(9_000)])).sort(), [false, true])
      await scene.reads.removeExpired({ nowMs: 8_999, idleSinceMs: 0 })
      assert.equal(await claim(9_000), false)
      await scene.reads.removeExpired({ nowMs: 9_000, idleSinceMs: 0 })
      assert.equal(await claim(20_000), true)
    })

    it('are removed when they expire or are idle, with expired links', async () => {
      await using scene = await openScene(open)
      await scene.change(async (store) => {
        await store.insertSession(session, 'expired')
        await store.insertSession({ ...session, id: 'ses_2', expiresAtMs: 99_000 }, 'idle')
        await store.insertSession({ ...session, id: 'ses_3', expiresAtMs: 99_000 }, 'used')
        await store.insertLink(link, 'old')
        await store.insertLink({ ...link, expiresAtMs: 99_000 }, 'new')
      })
      await scene.reads.touchSession('ses_3', 8_000)
      await scene.reads.removeExpired({ nowMs: 9_000, idleSinceMs: 7_000 })
      const sessions = await Promise.all(['expired', 'idle', 'used'].map((digest) => scene.reads.findSession(digest)))
      assert.deepEqual(
        sessions.map((found) => found?.session.lastSeenAtMs),
        [undefined, undefined, 8_000],
      )
      assert.equal(await scene.reads.findLink('old'), undefined)
      assert.ok(await scene.reads.findLink('new'))
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const key = {
    id: 'adk_1',
    organizationId: 'org_1',
    name: 'ops',
    redactedValue: 'adm_…',
    permissions: ['*' as const],
    allowedIps: null,
    createdAtMs: 1,
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
    previousExpiresAtMs: null,
  }
  await database.write([
    { sql: "insert into organization (id, name, changed_at, created_at) values ('org_1', 'x', 1, 1)", params: [] },
  ])
  await database.transaction((tx) => directoryStore(tx).insertAdminKey(key, { digest: 'd', secretId: 's' }))
  return {
    reads: consoleSessionReads(database),
    change: <T>(work: (store: ReturnType<typeof consoleSessionStore>) => Promise<T>): Promise<T> =>
      database.transaction((tx) => work(consoleSessionStore(tx))),
    members: <T>(work: (store: MemberStore) => Promise<T>): Promise<T> =>
      database.transaction((tx) => work(memberStore(tx))),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
