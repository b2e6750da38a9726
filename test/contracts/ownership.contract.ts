import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Database } from '../../src/adapters/stores/sql/database.ts'
import { directoryStore } from '../../src/adapters/stores/sql/identity/directory.ts'
import { ownershipStore } from '../../src/adapters/stores/sql/identity/ownership.ts'
import type { OwnedRemoval, OwnershipClaim } from '../../src/domain/mutations/ownership.ts'
import type { Engine } from '../support/engines.ts'

const claim: OwnershipClaim = { organizationId: 'org_1', resourceId: 'proj_1', owner: 'a', isTakeOver: false }

/** The contract of every store of owners. */
export function ownershipContract({ name: engine, skip, open }: Engine): void {
  describe(`owners of resources: ${engine}`, { skip }, () => {
    it('are set once, and changed by a take-over only', async () => {
      await using scene = await openScene(open)
      assert.deepEqual(await scene.ownersOf('org_1', ['proj_1']), [])
      assert.equal(await scene.claim(claim), true)
      assert.equal(await scene.claim(claim), true)
      assert.equal(await scene.claim({ ...claim, owner: 'b' }), false)
      assert.deepEqual(await scene.ownersOf('org_1', ['proj_1', 'proj_2']), [['proj_1', 'a']])
      assert.equal(await scene.claim({ ...claim, owner: 'b', isTakeOver: true }), true)
      assert.deepEqual(await scene.ownersOf('org_1', ['proj_1']), [['proj_1', 'b']])
    })

    it('are removed with the resource, by a request of another owner not', async () => {
      await using scene = await openScene(open)
      const removal = { organizationId: 'org_1', resourceId: 'proj_1' }
      await scene.claim(claim)
      assert.equal(await scene.release({ ...removal, owner: 'b' }), false)
      assert.equal(await scene.release({ ...removal, organizationId: 'org_2', owner: undefined }), true)
      assert.deepEqual(await scene.ownersOf('org_1', ['proj_1']), [['proj_1', 'a']])
      assert.equal(await scene.release({ ...removal, owner: 'a' }), true)
      assert.deepEqual(await scene.ownersOf('org_1', ['proj_1']), [])
      assert.equal(await scene.release({ ...removal, owner: 'a' }), false)
      assert.equal(await scene.release({ ...removal, owner: undefined }), true)
    })

    it('belong to one organization', async () => {
      await using scene = await openScene(open)
      await scene.claim(claim)
      assert.deepEqual(await scene.ownersOf('org_2', ['proj_1']), [])
      assert.equal(await scene.claim({ ...claim, organizationId: 'org_2', owner: 'b' }), true)
      assert.deepEqual(await scene.ownersOf('org_1', ['proj_1']), [['proj_1', 'a']])
    })

    it('of several that claim a resource at the same time, one gets it', async () => {
      await using scene = await openScene(open)
      const claims = ['a', 'b', 'c', 'd'].map((owner) => scene.claim({ ...claim, owner }))
      assert.deepEqual((await Promise.all(claims)).filter(Boolean), [true])
    })
  })
}

async function openScene(open: () => Promise<Database>) {
  const database = await open()
  const organization = { plan: 'free', lifetimePaidMicroUsd: 0, metered: true, createdAtMs: 1 } as const
  for (const id of ['org_1', 'org_2'])
    await database.transaction((tx) => directoryStore(tx).insertOrganization({ ...organization, id, name: id }))
  return {
    claim: (wanted: OwnershipClaim) => database.transaction((tx) => ownershipStore(tx).claim(wanted)),
    release: (removal: OwnedRemoval) => database.transaction((tx) => ownershipStore(tx).release(removal)),
    ownersOf: (organizationId: string, ids: readonly string[]) =>
      database.transaction(async (tx) => [...(await ownershipStore(tx).ownersOf(organizationId, ids))]),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
