import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Fault } from '../../base/fault.ts'
import { systemRandom } from '../../base/random.ts'
import { createAuthFailures } from './auth-failures.ts'
import { createAuthenticator } from './authenticate.ts'
import { createChanges, secretName } from '../mutations/changes.ts'
import { createKeyDigests } from './key-digests.ts'
import { createKeyring } from '../server-secret/keyring.ts'
import { mintSecret } from './key-format.ts'
import type { ApiKey, Organization } from './principal.ts'
import type { CredentialStore, FoundKey } from './store.ts'
import type { Claims } from './token-reader.ts'

const organization: Organization = {
  id: 'org_1',
  name: 'One',
  plan: 'free',
  lifetimePaidMicroUsd: 0,
  metered: true,
  createdAtMs: 0,
}
const project = { id: 'proj_1', organizationId: 'org_1', name: 'P', createdAtMs: 0, archivedAtMs: null }

function createScene(overrides: Partial<ApiKey> = {}, verifyToken?: (token: string) => Promise<Claims>) {
  let nowMs = 1_000_000
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs, after: () => () => {} }
  const secret = mintSecret('ak', systemRandom)
  const keyring = createKeyring({ current: 'the server secret' })
  const digests = createKeyDigests(keyring)
  const key: ApiKey = {
    id: 'key_1',
    organizationId: 'org_1',
    projectId: 'proj_1',
    name: 'K',
    redactedValue: '',
    permissions: [],
    allowedIps: null,
    models: null,
    createdAtMs: 0,
    expiresAtMs: null,
    revokedAtMs: null,
    lastUsedAtMs: null,
    previousExpiresAtMs: null,
    ...overrides,
  }
  const storage: { isReady: Promise<void>; outage?: Fault } = { isReady: Promise.resolve() }
  const { digest, secretId } = digests.current(secret)
  const found = { key, organization, secretId, secretNumber: 1, secretExpiresAtMs: null }
  const rows = new Map<string, FoundKey<ApiKey>>([[digest, found]])
  const log = { lookUps: 0, touches: 0, denied: new Array<string>() }
  const store: CredentialStore = {
    async findApiKeys(wanted) {
      log.lookUps++
      await storage.isReady
      if (storage.outage) throw storage.outage
      return new Map([...rows].filter(([each]) => wanted.includes(each)))
    },
    findAdminKeys: async () => new Map(),
    async findProject(organizationId, id) {
      if (storage.outage) throw storage.outage
      return organizationId === 'org_1' && id === 'proj_1' ? { project, organization } : undefined
    },
    async touchKey() {
      log.touches++
    },
    async replaceDigest({ from }, to) {
      const row = rows.get(from)
      if (row && rows.delete(from)) rows.set(to.digest, { ...row, secretId: to.secretId })
    },
    claimFreeRequest: async () => false,
    releaseFreeRequest: async () => {},
  }
  const changes = createChanges(clock)
  const authenticator = createAuthenticator({
    store,
    digests,
    clock,
    changes,
    failures: createAuthFailures(clock, 3),
    verifyToken,
    onDenied: (credential, { address, reason }) => void log.denied.push(`${credential.id} ${address} ${reason}`),
    onTouchFailed: () => {},
  })
  const revoke = (): void => void rows.set(digest, { ...found, key: { ...key, revokedAtMs: nowMs } })
  /** The new secret of the key. The one before works for this long. */
  const rotate = (graceMs: number): string => {
    const next = mintSecret('ak', systemRandom)
    rows.set(digests.current(next).digest, { ...found, secretNumber: 2 })
    rows.set(digest, { ...found, secretExpiresAtMs: nowMs + graceMs })
    return next
  }
  return {
    authenticator,
    secret,
    changes,
    log,
    revoke,
    rotate,
    rows,
    keyring,
    storage,
    advance: (ms: number) => void (nowMs += ms),
    authenticate: async (text = secret) => authenticator.principal(text, '192.0.2.1'),
  }
}

const isThrottled = (error: unknown): boolean =>
  error instanceof Fault && error.code === 'too_many_auth_failures' && (error.details.retryAfterSeconds ?? 0) > 0
const isRejected = (error: unknown): boolean => error instanceof Fault && error.kind === 'auth'

describe('authentication', () => {
  it('looks a key up once and caches it', async () => {
    const { authenticate, log } = createScene()
    assert.equal((await authenticate()).id, 'key_1')
    await authenticate()
    assert.equal(log.lookUps, 1)
  })
  it('rejects unknown, expired and revoked keys with the same message', async () => {
    const messages = await Promise.all(
      [createScene({ expiresAtMs: 1 }), createScene({ revokedAtMs: 1 })]
        .map(({ authenticate }) => authenticate())
        .concat(createScene().authenticate(mintSecret('ak', systemRandom)), createScene().authenticate('ak_nonsense'))
        .map((attempt) =>
          attempt.then(
            () => 'accepted',
            (error: Error) => error.message,
          ),
        ),
    )
    assert.deepEqual(new Set(messages), new Set(['The API key is invalid, expired or revoked.']))
  })
  it('rejects a wrong checksum without a lookup', async () => {
    const { authenticator, secret, log } = createScene()
    await assert.rejects(async () => authenticator.principal(`${secret.slice(0, -1)}_`, 'a'), isRejected)
    assert.equal(log.lookUps, 0)
  })
  it('rejects an administrator key in place of an API key', async () => {
    await assert.rejects(createScene().authenticate(mintSecret('adm', systemRandom)), isRejected)
  })
  it('rejects a cached key once its revocation is announced', async () => {
    const { authenticate, revoke, changes } = createScene()
    await authenticate()
    revoke()
    changes.announce('org_1')
    await assert.rejects(authenticate(), isRejected)
  })
  it('does not cache a key if a change was announced while it was read', async () => {
    const scene = createScene()
    const pending = scene.authenticate()
    scene.revoke()
    scene.changes.announce('org_1')
    await pending.catch(() => {})
    await assert.rejects(scene.authenticate(), isRejected)
  })
  it('rejects a cached key once it has expired', async () => {
    const { authenticate, advance } = createScene({ expiresAtMs: 1_005_000 })
    await authenticate()
    advance(5_000)
    await assert.rejects(authenticate(), isRejected)
  })
  it('accepts a key again after the clock that found it expired was set back', async () => {
    const { authenticate, advance } = createScene({ expiresAtMs: 1_005_000 })
    advance(3_600_000)
    await assert.rejects(authenticate(), isRejected)
    advance(-3_600_000)
    assert.equal((await authenticate()).id, 'key_1')
  })
  it('rejects a key from an address that it does not allow, cached or not, and does not update its last use', async () => {
    const { authenticator, secret, authenticate, log } = createScene({ allowedIps: ['192.0.2.0/24'] })
    const isDenied = (error: unknown): boolean => error instanceof Fault && error.code === 'ip_not_allowed'
    await assert.rejects(async () => authenticator.principal(secret, '198.51.100.1'), isDenied)
    assert.equal(log.touches, 0)
    assert.equal((await authenticate()).id, 'key_1')
    await assert.rejects(async () => authenticator.principal(secret, '198.51.100.1'), isDenied)
    assert.deepEqual(
      [log.lookUps, log.denied],
      [1, ['key_1 198.51.100.1 ip_not_allowed', 'key_1 198.51.100.1 ip_not_allowed']],
    )
  })
  it('updates the last use of a key at most once a minute', async () => {
    const { authenticate, advance, log } = createScene()
    for (let count = 0; count < 5; count++) await authenticate()
    advance(59_999)
    await authenticate()
    assert.equal(log.touches, 1)
    advance(1)
    await authenticate()
    assert.equal(log.touches, 2)
  })
  it('accepts a valid key that is not cached, even if its address has too many failures', async () => {
    const { authenticate, log, advance } = createScene()
    for (let count = 0; count < 3; count++)
      await assert.rejects(authenticate(mintSecret('ak', systemRandom)), isRejected)
    for (let count = 0; count < 3; count++)
      await assert.rejects(authenticate(mintSecret('ak', systemRandom)), isThrottled)
    assert.equal((await authenticate()).id, 'key_1')
    assert.equal(log.lookUps, 7)
    advance(60_000)
    await assert.rejects(authenticate(mintSecret('ak', systemRandom)), isRejected)
  })
  it('throttles an address with too many failures even for a key that was rejected before', async () => {
    const { authenticate } = createScene()
    const bad = mintSecret('ak', systemRandom)
    await assert.rejects(authenticate(bad), isRejected)
    for (let count = 0; count < 3; count++) await assert.rejects(authenticate(mintSecret('ak', systemRandom)))
    await assert.rejects(authenticate(bad), isThrottled)
  })
  it('bounds concurrent queries however many unknown keys arrive, and accepts a valid key among them', async () => {
    const { authenticate, authenticator, log, storage, secret } = createScene()
    const read = Promise.withResolvers<void>()
    storage.isReady = read.promise
    const flood = Array.from({ length: 2_000 }, () => authenticate(mintSecret('ak', systemRandom)))
    const fromTheSameAddress = authenticate()
    const fromElsewhere = authenticator.principal(secret, '192.0.2.2')
    assert.equal(log.lookUps, 4)
    read.resolve()
    assert.equal((await fromElsewhere).id, 'key_1')
    assert.equal((await fromTheSameAddress).id, 'key_1')
    const outcomes = await Promise.allSettled(flood)
    assert.ok(outcomes.every(({ status }) => status === 'rejected'))
    assert.ok(log.lookUps <= 4 + Math.ceil(2_000 / 512), `${log.lookUps} queries for 2,000 keys`)
  })
  it('looks up the key of another address with the next query, before thousands of unknown keys of the first address', async () => {
    const { authenticate, authenticator, log, storage, secret } = createScene()
    const pendingReads: PromiseWithResolvers<void>[] = []
    Object.defineProperty(storage, 'isReady', {
      get() {
        const read = Promise.withResolvers<void>()
        pendingReads.push(read)
        return read.promise
      },
    })
    for (let count = 0; count < 5_000; count++) authenticate(mintSecret('ak', systemRandom)).catch(() => {})
    const fromElsewhere = authenticator.principal(secret, '192.0.2.2')
    pendingReads[0]?.resolve()
    await new Promise((resolve) => void setImmediate(resolve))
    assert.equal(log.lookUps, 5)
    pendingReads[4]?.resolve()
    assert.equal((await fromElsewhere).id, 'key_1')
    assert.equal(log.lookUps, 6)
  })
  it('counts the failures of an IPv6 /64 together, because it belongs to one client', async () => {
    const { authenticator } = createScene()
    const guess = async (host: number) => authenticator.principal(mintSecret('ak', systemRandom), `2001:db8::${host}`)
    for (let host = 1; host <= 3; host++) await assert.rejects(guess(host), isRejected)
    await assert.rejects(guess(4), isThrottled)
  })
  it('counts no failure for malformed and missing keys, because they need no lookup', async () => {
    const { authenticate, authenticator, log } = createScene()
    for (let count = 0; count < 10; count++) {
      await assert.rejects(authenticate(`ak_nonsense${count}`), isRejected)
      await assert.rejects(async () => authenticator.principal(undefined, '192.0.2.1'), isRejected)
    }
    assert.equal(log.lookUps, 0)
    assert.equal((await authenticate()).id, 'key_1')
  })
  it('looks up an invalid key once, however often it is sent, and accepts valid keys of the same address', async () => {
    const { authenticate, log } = createScene()
    const bad = mintSecret('ak', systemRandom)
    for (let count = 0; count < 10; count++) await assert.rejects(authenticate(bad), isRejected)
    assert.equal(log.lookUps, 1)
    assert.equal((await authenticate()).id, 'key_1')
  })
  it('accepts a token for the project in its claims, and rejects a project of another organization', async () => {
    const claims = {
      subject: 'u1',
      organizationId: 'org_1',
      projectId: 'proj_1',
      scope: ['gateway:read', 'nonsense'],
      expiresAtMs: 2_000_000,
    }
    const known = await createScene({}, async () => claims).authenticate('a.b.c')
    assert.deepEqual([known.kind, known.projectId, [...known.permissions]], ['jwt', 'proj_1', ['gateway:read']])
    await assert.rejects(
      createScene({}, async () => ({ ...claims, organizationId: 'org_2' })).authenticate('a.b.c'),
      isRejected,
    )
  })
})

describe('a denied key', () => {
  it('is reported at every use, with the reason, if it is revoked or expired', async () => {
    for (const [fields, reason] of [
      [{ revokedAtMs: 1 }, 'revoked'],
      [{ expiresAtMs: 1 }, 'expired'],
    ] as const) {
      const { authenticate, log } = createScene(fields)
      for (let count = 0; count < 2; count++) await assert.rejects(authenticate(), isRejected)
      assert.deepEqual(log.denied, [`key_1 192.0.2.1 ${reason}`, `key_1 192.0.2.1 ${reason}`])
    }
  })
  it('is not reported if it is unknown, because it belongs to no organization', async () => {
    const { authenticate, log } = createScene()
    await assert.rejects(authenticate(mintSecret('ak', systemRandom)), isRejected)
    assert.deepEqual(log.denied, [])
  })
})

describe('a key after its rotation', () => {
  it('is accepted with both secrets until the end of the grace time, and then with the new one only', async () => {
    const { authenticate, rotate, changes, advance } = createScene()
    await authenticate()
    const next = rotate(60_000)
    changes.announce('org_1')
    advance(59_999)
    assert.deepEqual([(await authenticate()).id, (await authenticate(next)).id], ['key_1', 'key_1'])
    advance(1)
    await assert.rejects(authenticate(), isRejected)
    assert.equal((await authenticate(next)).id, 'key_1')
  })
  it('expires at its own time with both secrets, if that is before the end of the grace time', async () => {
    const { authenticate, rotate, advance } = createScene({ expiresAtMs: 1_005_000 })
    const next = rotate(60_000)
    assert.deepEqual([(await authenticate()).id, (await authenticate(next)).id], ['key_1', 'key_1'])
    advance(5_000)
    await assert.rejects(authenticate(), isRejected)
    await assert.rejects(authenticate(next), isRejected)
  })
})

describe('a change that is followed by an outage', () => {
  const outage = new Fault('unavailable', 'storage_unavailable', 'unreachable')
  const isOutage = (error: unknown): boolean => error === outage

  it('leaves cached keys of its organization usable for five minutes', async () => {
    const { authenticate, changes, storage, advance } = createScene()
    await authenticate()
    changes.announce('org_1')
    storage.outage = outage
    assert.equal((await authenticate()).id, 'key_1')
    advance(5 * 60_000 - 1)
    assert.equal((await authenticate()).id, 'key_1')
    advance(1)
    await assert.rejects(authenticate(), isOutage)
  })
  it('makes the revoked key and the keys of an archived project unusable at once', async () => {
    for (const revoked of ['key_1', 'proj_1']) {
      const { authenticate, changes, storage } = createScene()
      await authenticate()
      changes.announce('org_1', [revoked])
      storage.outage = outage
      await assert.rejects(authenticate(), isRejected)
      await assert.rejects(authenticate(), isRejected)
    }
  })
  it('makes the secret unusable that a rotation ended, and not the new one', async () => {
    const { authenticate, rotate, changes, storage } = createScene()
    await authenticate()
    const next = rotate(0)
    assert.equal((await authenticate(next)).id, 'key_1')
    changes.announce('org_1', [secretName('key_1', 1)])
    storage.outage = outage
    await assert.rejects(authenticate(), isRejected)
    assert.equal((await authenticate(next)).id, 'key_1')
  })
  it('makes a key unusable that was revoked while it was read', async () => {
    const { authenticate, changes, storage } = createScene()
    const pending = authenticate()
    changes.announce('org_1', ['key_1'])
    await pending.catch(() => {})
    storage.outage = outage
    await assert.rejects(authenticate(), isRejected)
  })
  it('does not make an expired key usable', async () => {
    const { authenticate, changes, storage, advance } = createScene({ expiresAtMs: 1_005_000 })
    await authenticate()
    changes.announce('org_1')
    storage.outage = outage
    advance(5_000)
    await assert.rejects(authenticate(), isOutage)
  })
  it('does not make a key usable that was rejected as revoked before', async () => {
    const { authenticate, changes, storage, revoke } = createScene()
    await authenticate()
    revoke()
    changes.announce('org_1')
    await assert.rejects(authenticate(), isRejected)
    storage.outage = outage
    await assert.rejects(authenticate(), isRejected)
  })
  it('does not make a key usable that was not cached', async () => {
    const { authenticate, storage } = createScene()
    storage.outage = outage
    await assert.rejects(authenticate(), isOutage)
  })
  it('leaves tokens of a cached project usable, because they are verified without the database', async () => {
    const claims = { subject: 's', organizationId: 'org_1', projectId: 'proj_1', scope: [], expiresAtMs: 9_000_000 }
    const { authenticate, changes, storage, advance } = createScene({}, async () => claims)
    await authenticate('a.b.c')
    changes.announce('org_1')
    storage.outage = outage
    advance(120_000)
    assert.equal((await authenticate('a.b.c')).projectId, 'proj_1')
    assert.equal((await authenticate('d.e.f')).projectId, 'proj_1')
    changes.announce('org_1', ['proj_1'])
    await assert.rejects(authenticate('a.b.c'), isRejected)
  })
})

describe('a key while the server secret is rotated', () => {
  const settle = () => new Promise((resolve) => setImmediate(resolve))

  it('is found under the previous secret, and stored under the current one at its first use', async () => {
    const { keyring, rows, authenticate } = createScene()
    const [[oldDigest, old] = ['', undefined]] = rows
    keyring.use({ current: 'the new server secret', previous: 'the server secret' })
    assert.equal((await authenticate()).id, 'key_1')
    await settle()
    const [[digest, found] = ['', undefined]] = rows
    assert.notEqual(digest, oldDigest)
    assert.deepEqual([old?.secretId === found?.secretId, found?.secretId], [false, keyring.current().id])
    keyring.use({ current: 'the new server secret' })
    assert.equal((await authenticate()).id, 'key_1')
  })

  it('that was cached is stored under the current secret as well', async () => {
    const { keyring, rows, authenticate } = createScene()
    await authenticate()
    keyring.use({ current: 'the new server secret', previous: 'the server secret' })
    await authenticate()
    await settle()
    assert.equal([...rows.values()][0]?.secretId, keyring.current().id)
  })

  it('is found under the next secret, and its digest is left unchanged', async () => {
    const { keyring, rows, authenticate } = createScene()
    const before = [...rows.keys()]
    keyring.use({ current: 'the secret of this node', next: 'the server secret' })
    assert.equal((await authenticate()).id, 'key_1')
    await settle()
    assert.deepEqual([...rows.keys()], before)
  })

  it('stops working when the secret of its digest is no longer accepted', async () => {
    const { keyring, authenticate } = createScene()
    keyring.use({ current: 'the new server secret' })
    await assert.rejects(authenticate(), { code: 'invalid_api_key' })
  })

  it('without a stored secret id gets one at its first use', async () => {
    const { keyring, rows, authenticate } = createScene()
    for (const [digest, found] of rows) rows.set(digest, { ...found, secretId: null })
    await authenticate()
    await settle()
    assert.equal([...rows.values()][0]?.secretId, keyring.current().id)
  })
})
