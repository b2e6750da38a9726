import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { credentialStore } from '../../src/adapters/stores/sql/identity/credentials.ts'
import { directoryStore } from '../../src/adapters/stores/sql/identity/directory.ts'
import type { AdminKey, ApiKey, Organization } from '../../src/domain/identity/principal.ts'
import type { DirectoryStore, FoundKey } from '../../src/domain/identity/store.ts'
import type { Engine } from '../support/engines.ts'

const organization: Organization = {
  id: 'org_1',
  name: 'One',
  plan: 'free',
  lifetimePaidMicroUsd: 0,
  metered: true,
  createdAtMs: 1,
}
const project = { id: 'proj_1', organizationId: 'org_1', name: 'P', createdAtMs: 1, archivedAtMs: null }

const adminKey = (id: string): AdminKey => ({
  id,
  organizationId: 'org_1',
  name: id,
  redactedValue: 'adm_…0000',
  permissions: ['*'],
  allowedIps: null,
  createdAtMs: 1,
  expiresAtMs: null,
  revokedAtMs: null,
  lastUsedAtMs: null,
  previousExpiresAtMs: null,
})
const apiKey = (id: string): ApiKey => ({ ...adminKey(id), projectId: 'proj_1', permissions: [], models: null })

const found = <K>(key: K) => ({
  key,
  organization,
  secretId: 'secret_1',
  secretNumber: 1,
  secretExpiresAtMs: null,
})

const stored = (digest: string) => ({ digest, secretId: 'secret_1' })

/** The contract of every credential store. */
export function credentialContract({ name, skip, open }: Engine): void {
  describe(`credential store: ${name}`, { skip }, () => {
    for (const length of [1, 2, 9, 65, 512, 600]) {
      it(`finds the keys among ${length} digests, and nothing for unknown digests`, async () => {
        await using scene = await openScene(open)
        await scene.work(async (store) => {
          await store.insertApiKey(apiKey('key_a'), stored('a'))
          await store.insertApiKey(apiKey('key_b'), stored('b'))
          await store.insertAdminKey(adminKey('adk_c'), stored('c'))
        })
        const digests = Array.from({ length }, (_, at) => ['a', 'b', 'c'][at] ?? `invented ${at}`)
        const apiKeys = await scene.credentials.findApiKeys(digests)
        const expected = ['a', 'b'].slice(0, length)
        assert.deepEqual([...apiKeys.keys()].toSorted(), expected)
        assert.deepEqual(
          expected.map((digest) => apiKeys.get(digest)),
          expected.map((digest) => found(apiKey(`key_${digest}`))),
        )
        const adminKeys = await scene.credentials.findAdminKeys(digests)
        assert.deepEqual([...adminKeys], length < 3 ? [] : [['c', found(adminKey('adk_c'))]])
      })
    }

    it('stores the allowed addresses of a key, and updates its mutable fields', async () => {
      await using scene = await openScene(open)
      const limited = { ...apiKey('key_a'), allowedIps: ['10.0.0.0/8', '2001:db8::/32'], models: ['m'] }
      const admin = { ...adminKey('adk_b'), allowedIps: ['192.0.2.1/32'] }
      const changes = { name: 'Renamed', permissions: ['gateway:read'], allowedIps: null, expiresAtMs: 9 } as const
      await scene.work(async (store) => {
        await store.insertApiKey(limited, stored('a'))
        await store.insertAdminKey(admin, stored('b'))
      })
      assert.deepEqual((await scene.credentials.findApiKeys(['a'])).get('a')?.key, limited)
      assert.deepEqual((await scene.credentials.findAdminKeys(['b'])).get('b')?.key, admin)
      await scene.work(async (store) => {
        assert.equal(await store.updateApiKey({ ...limited, ...changes, models: null }), true)
        assert.equal(await store.updateAdminKey({ ...admin, ...changes }), true)
        assert.deepEqual(await store.findApiKey('org_1', 'key_a'), { ...limited, ...changes, models: null })
        assert.deepEqual(await store.findAdminKey('org_1', 'adk_b'), { ...admin, ...changes })
        assert.equal(await store.updateApiKey({ ...limited, organizationId: 'org_2' }), false)
        await store.revokeAdminKey('org_1', 'adk_b', 5)
        assert.equal(await store.updateAdminKey(admin), false)
      })
    })

    it('finds a rotated key by its new digest and by the one before, and by no older one', async () => {
      await using scene = await openScene(open)
      const { credentials } = scene
      await scene.work(async (store) => {
        await store.insertApiKey(apiKey('key_a'), stored('a1'))
        await store.insertAdminKey(adminKey('adk_b'), stored('b1'))
      })
      for (const round of [2, 3]) {
        const fields = { redactedValue: `…${round}`, previousExpiresAtMs: round * 1000 }
        await scene.work(async (store) => {
          await store.lockApiKey('org_1', 'key_a')
          assert.equal(await store.rotateApiKey({ ...apiKey('key_a'), ...fields }, stored(`a${round}`)), true)
          assert.equal(await store.rotateAdminKey({ ...adminKey('adk_b'), ...fields }, stored(`b${round}`)), true)
        })
        const rows = new Map<string, FoundKey<AdminKey>>([
          ...(await credentials.findApiKeys(['a1', 'a2', 'a3'])),
          ...(await credentials.findAdminKeys(['b1', 'b2', 'b3'])),
        ])
        const seen = [...rows]
          .toSorted(([one], [other]) => (one < other ? -1 : 1))
          .map(([digest, { secretNumber, secretExpiresAtMs, key }]) => [
            digest,
            secretNumber,
            secretExpiresAtMs,
            key.redactedValue,
          ])
        assert.deepEqual(
          seen,
          ['a', 'b'].flatMap((kind) => [
            [`${kind}${round - 1}`, round - 1, round * 1000, `…${round}`],
            [`${kind}${round}`, round, null, `…${round}`],
          ]),
        )
      }
      await credentials.replaceDigest({ kind: 'api_key', id: 'key_a', from: 'a2' }, stored('a2 again'))
      assert.equal((await credentials.findApiKeys(['a2 again'])).get('a2 again')?.secretNumber, 2)
      await scene.work(async (store) => {
        await store.revokeApiKey('org_1', 'key_a', 9)
        assert.equal(await store.rotateApiKey(apiKey('key_a'), stored('late')), false)
      })
      const afterwards = await credentials.findApiKeys(['a2 again', 'a3', 'late'])
      assert.deepEqual(
        [...afterwards.values()].map(({ key }) => key.revokedAtMs),
        [9, 9],
      )
    })

    it('marks a key of an archived project, until it is unarchived', async () => {
      await using scene = await openScene(open)
      await scene.work(async (store) => {
        await store.insertApiKey(apiKey('key_a'), stored('a'))
        await store.archiveProject('org_1', 'proj_1', 2)
      })
      const isArchived = async () => (await scene.credentials.findApiKeys(['a'])).get('a')?.isArchived
      assert.equal(await isArchived(), true)
      await scene.work((store) => store.unarchiveProject('org_1', 'proj_1'))
      assert.equal(await isArchived(), undefined)
    })

    it('stores a digest under another server secret, unless another process has already stored it', async () => {
      await using scene = await openScene(open)
      await scene.work(async (store) => {
        await store.insertApiKey(apiKey('key_a'), stored('a'))
        await store.insertAdminKey(adminKey('adk_c'), stored('c'))
      })
      const { credentials } = scene
      const again = { digest: 'again', secretId: 'secret_2' }
      await credentials.replaceDigest({ kind: 'api_key', id: 'key_a', from: 'a' }, again)
      await credentials.replaceDigest({ kind: 'api_key', id: 'key_a', from: 'a' }, stored('late'))
      await credentials.replaceDigest({ kind: 'admin_key', id: 'adk_c', from: 'c' }, again)
      const [apiKeys, adminKeys] = [
        await credentials.findApiKeys(['a', 'again', 'late']),
        await credentials.findAdminKeys(['c', 'again']),
      ]
      assert.deepEqual(
        [[...apiKeys.keys()], apiKeys.get('again')?.secretId, [...adminKeys.keys()]],
        [['again'], 'secret_2', ['again']],
      )
    })

    it('takes a free request that was not answered out of the count of its day', async () => {
      await using scene = await openScene(open)
      const claim = (client: string) =>
        scene.credentials.claimFreeRequest({ client, aliases: [], atMs: 2_000, rememberMs: 500, dailyCap: 1 })
      const release = (client: string, isUsedUp: boolean) =>
        scene.credentials.releaseFreeRequest({ client, atMs: 2_000, isUsedUp })
      assert.deepEqual([await claim('blocked'), await claim('next')], [true, false])
      await release('blocked', true)
      assert.deepEqual([await claim('blocked'), await claim('next')], [false, true])
      await release('next', false)
      assert.deepEqual([await claim('next'), await claim('last')], [true, false])
    })

    it('gives a client one free request, whichever server secret its hash was made with', async () => {
      await using scene = await openScene(open)
      const claim = (client: string, aliases: string[]) =>
        scene.credentials.claimFreeRequest({ client, aliases, atMs: 1_000, rememberMs: 500, dailyCap: 10 })
      const [old, now, other] = ['hash a', 'hash b', 'hash c'].map((each) => `${name} ${each}`)
      assert.ok(old !== undefined && now !== undefined && other !== undefined)
      assert.deepEqual(
        [await claim(old, []), await claim(now, [old]), await claim(other, ['never seen'])],
        [true, false, true],
      )
    })
  })
}

async function openScene(open: Engine['open']) {
  const database = await open()
  const work = <T>(change: (store: DirectoryStore) => Promise<T>): Promise<T> =>
    database.transaction((tx) => change(directoryStore(tx)))
  await work(async (store) => {
    await store.insertOrganization(organization)
    await store.insertProject(project)
  })
  return {
    work,
    credentials: credentialStore(database),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}
